//! The on-die NICs of Ascend A2 and A3: what `hccn_tool` tells of each NPU of this host.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use transport_core::checks::Section;

use crate::hccn::{HccnError, Health, NpuNic, Tool, npu_address};
use crate::nic::{DeviceFacts, Gid};

/// The usual number of NPUs, for a host that does not show how many it has.
const GUESSED: u32 = 8;
/// How long all answers together may take: three questions of ten seconds each, asked of all NPUs at once.
const LIMIT: Duration = Duration::from_secs(35);

/// An NPU by its number, and what the tool tells of its NIC.
pub(crate) type Answer = (u32, Result<NpuNic, HccnError>);

/// What `hccn_tool` tells of the NPUs of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Npus {
    /// Whether the kernel shows which NPUs there are; else the numbers were guessed.
    pub(crate) known: bool,
    /// By number; or why nobody can be asked.
    pub(crate) answers: Result<Vec<Answer>, HccnError>,
}

impl Npus {
    /// Asks for all of this host. Blocks while `hccn_tool` runs, at most for half a minute.
    pub(crate) fn ask() -> Self {
        Self::ask_of(Tool::find(), numbers(Path::new("/dev")), LIMIT)
    }

    /// Asks `tool` for the NPUs that the kernel shows, `files`, or if it shows none for the usual numbers.
    fn ask_of(tool: Result<Tool, HccnError>, files: Vec<u32>, limit: Duration) -> Self {
        let known = !files.is_empty();
        let npus = if known { files } else { (0..GUESSED).collect() };
        Self { known, answers: tool.map(|tool| ask_each(&tool, &npus, limit)) }
    }
}

/// The numbers of the files `davinciN` in `place`, in order.
fn numbers(place: &Path) -> Vec<u32> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let digits = name.to_str()?.strip_prefix("davinci")?;
        // `davinci_manager` is another thing, and `parse` would take a sign.
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let mut numbers: Vec<u32> = entries.filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// The answers for `npus`, asked all at once. Who has not answered within `limit` is given up.
fn ask_each(tool: &Tool, npus: &[u32], limit: Duration) -> Vec<Answer> {
    let deadline = Instant::now() + limit;
    let (sender, receiver) = mpsc::channel();
    let mut answers: Vec<Answer> = Vec::new();
    let mut asked = 0;
    for &npu in npus {
        let (own, sender) = (tool.clone(), sender.clone());
        // Nobody waits for its end: it has a limit of its own, and the answer may come too late to be of use.
        let ask = move || drop(sender.send((npu, npu_address(npu, &own))));
        match thread::Builder::new().name(format!("hccn_tool {npu}")).spawn(ask) {
            Ok(_) => asked += 1,
            Err(error) => {
                let error = HccnError::CannotRun { path: "hccn_tool".to_owned(), error: error.to_string() };
                answers.push((npu, Err(error)));
            }
        }
    }
    for _ in 0..asked {
        match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(answer) => answers.push(answer),
            Err(_) => break,
        }
    }
    let late = |npu: &u32| !answers.iter().any(|(answered, _)| answered == npu);
    let late: Vec<u32> = npus.iter().copied().filter(late).collect();
    answers.extend(late.into_iter().map(|npu| {
        let asked = format!("hccn_tool -i {npu} -ip -g");
        let output = "it printed nothing yet".to_owned();
        (npu, Err(HccnError::TimedOut { asked, seconds: limit.as_secs_f64().to_string(), output }))
    }));
    answers.sort_by_key(|(npu, _)| *npu);
    answers
}

/// Judges. What is wrong is a failure if a job is to use an NPU's NIC (`SHMEM_NIC=npu`), else a warning.
pub(crate) fn hccn(npus: &Npus, devices: &[DeviceFacts], wanted: bool) -> Section {
    let mut section = Section::new("hccn", "NICs of the NPUs (hccn_tool)");
    let answers = match &npus.answers {
        Ok(answers) => answers,
        Err(error) if wanted => {
            section.fail("tool", error.to_string(), error.remedy());
            return section;
        }
        Err(_) => {
            section.ok(
                "tool",
                "there is no hccn_tool: this is no Ascend A2 or A3 host, or the driver's tools are not in PATH",
            );
            return section;
        }
    };
    for (npu, answer) in shown(answers, npus.known) {
        match answer {
            Ok(nic) => well(&mut section, nic, devices, wanted),
            Err(error) => {
                let what = format!("NPU {npu}: {error}");
                if wanted {
                    section.fail("npu", what, error.remedy());
                } else {
                    section.warn("npu", what, error.remedy());
                }
            }
        }
    }
    section
}

/// Those to show: what is true of the tool and not of an NPU is shown once. With guessed numbers the first one that the
/// tool does not know ends the list, and is shown only if nothing else is.
fn shown(answers: &[Answer], known: bool) -> impl Iterator<Item = &Answer> {
    let ends = |(_, answer): &Answer| match answer {
        Err(HccnError::ToolMissing { .. } | HccnError::CannotRun { .. }) => true,
        Err(HccnError::Failed { .. } | HccnError::NotUnderstood { .. }) => !known,
        _ => false,
    };
    let end = answers.iter().position(ends).map_or(answers.len(), |at| {
        let of_the_tool = matches!(
            answers.get(at),
            Some((_, Err(HccnError::ToolMissing { .. } | HccnError::CannotRun { .. })))
        );
        if at == 0 || of_the_tool { at + 1 } else { at }
    });
    answers.iter().take(end)
}

/// An NPU whose NIC has an address and a link, and no bad health.
fn well(section: &mut Section, nic: &NpuNic, devices: &[DeviceFacts], wanted: bool) {
    let NpuNic { npu, address, netmask, health } = nic;
    let mask = netmask.as_ref().map_or_else(String::new, |mask| format!(", netmask {mask}"));
    let gid = Gid::from(*address);
    let holds = |device: &&DeviceFacts| {
        device.ports.iter().any(|port| port.gids.iter().any(|entry| entry.gid == gid))
    };
    let holders: Vec<&str> = devices.iter().filter(holds).map(|device| device.name.as_str()).collect();
    let reach = if holders.is_empty() {
        "no verbs device of the host has that address".to_owned()
    } else {
        format!("verbs device {}", holders.join(", "))
    };
    let what = format!(
        "NPU {npu}: {address}{mask}, its link is not down, net health {health}: {}; {reach}",
        health.meaning()
    );
    if wanted && holders.is_empty() {
        let error = HccnError::no_verbs_device(nic, devices);
        section.fail("npu", error.to_string(), error.remedy());
    } else if *health == Health::Success {
        section.ok("npu", what);
    } else {
        section.warn("npu", what, health.remedy(*npu));
    }
}

#[cfg(test)]
#[path = "hccn_tests.rs"]
mod tests;
