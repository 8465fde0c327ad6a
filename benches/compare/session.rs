//! Measures pair by pair.

use benches::median;
use std::io::Write;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::child::{Ended, Running};
use crate::find::{Ours, last_lines};
use crate::handoff::Shared;
use crate::interrupt;
use crate::launch::{self, Settings};
use crate::measured::{of_ucx, values};
use crate::peers::{System, VARIANTS, Variant};
use crate::results::{Results, Row};
use crate::work::{Kind, Work, groups};

/// Launches whose median is a start-up's value.
const LAUNCHES: usize = 3;

/// What is there to measure with.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) ours: Ours,
    /// The systems that were found, each with its program if it is one of ours.
    pub(crate) peers: Vec<(System, Option<PathBuf>)>,
    pub(crate) settings: Settings,
}

/// Values of works, in their order, and why there are no more.
type Outcome = (Vec<f64>, Option<String>);

impl Session {
    /// Measures all works, so many pairs of them, or until a signal says that it is enough. `progress` is told of each group.
    pub(crate) fn measure(&self, works: &[Work], pairs: usize, progress: &mut dyn Write) -> Results {
        let mut results = Results::default();
        // A work that nobody can do has its row too.
        results.rows.extend(works.iter().map(|work| (*work, Row::default())));
        let groups = groups(works);
        for pair in 0..pairs {
            for (at, group) in groups.iter().enumerate() {
                let (Some(first), many) = (group.first(), group.len()) else { continue };
                if interrupt::signal().is_some() {
                    return results;
                }
                let more = if many > 1 { format!(" and {} more", many - 1) } else { String::new() };
                // That nobody looks is no reason to stop.
                let _ = writeln!(
                    progress,
                    "compare: pair {} of {pairs}, {} of {}: {first}{more}",
                    pair + 1,
                    at + 1,
                    groups.len()
                );
                self.measure_group(group, pair, &mut results);
            }
        }
        results
    }

    /// Ours and then each peer; every other pair the other way round.
    fn measure_group(&self, works: &[Work], pair: usize, results: &mut Results) {
        let mut sides: Vec<Option<(&Variant, &Option<PathBuf>)>> = vec![None];
        for variant in &VARIANTS {
            let found = self.peers.iter().find(|(system, _)| *system == variant.system);
            let does = works.first().is_some_and(|work| variant.does(work));
            sides.extend(found.filter(|_| does).map(|(_, program)| Some((variant, program))));
        }
        if pair % 2 == 1 {
            sides.reverse();
        }
        for side in sides {
            let (values, error) = match side {
                None => self.of_ours(works),
                Some((variant, program)) => self.of_peer(variant, program.as_ref(), works),
            };
            let name = side.map(|(variant, _)| variant.name);
            for (work, value) in works.iter().zip(values) {
                results.add(*work, name, pair, value);
            }
            if let Some(reason) = error {
                results.fail(name.unwrap_or("ours"), works, reason);
            }
        }
    }

    fn of_ours(&self, works: &[Work]) -> Outcome {
        self.launch(works, || launch::of_ours(&self.ours, works, &self.settings))
    }

    fn of_peer(&self, variant: &Variant, program: Option<&PathBuf>, works: &[Work]) -> Outcome {
        match (variant.system, program) {
            (System::Mpi | System::OpenShmem, Some(program)) => {
                self.launch(works, || launch::of_open_mpi(variant, program, works, &self.settings))
            }
            (System::Mpi | System::OpenShmem, None) => (Vec::new(), Some("it was not built".to_owned())),
            (System::Ucx, _) => {
                let mut values = Vec::new();
                for work in works {
                    match self.of_ucx(work) {
                        Ok(value) => values.push(value),
                        Err(reason) => return (values, Some(format!("{work}: {reason}"))),
                    }
                }
                (values, None)
            }
            (System::Bare, _) => match Shared::new() {
                Ok(shared) => {
                    self.launch(works, || launch::of_bare(&self.ours, works, &shared, &self.settings))
                }
                Err(error) => (Vec::new(), Some(format!("shared memory: {error}"))),
            },
        }
    }

    /// One launch for all works; of a start-up a few, whose own times are what is measured.
    fn launch(&self, works: &[Work], command: impl Fn() -> Command) -> Outcome {
        if !works.iter().any(|work| work.kind == Kind::StartUp) {
            return match self.run(command()) {
                Ok((ended, None)) => values(&ended.out, works),
                Ok((ended, failed)) => (values(&ended.out, works).0, failed),
                Err(error) => (Vec::new(), Some(error.to_string())),
            };
        }
        let mut times = Vec::with_capacity(LAUNCHES);
        for _ in 0..LAUNCHES {
            match self.run(command()) {
                Ok((ended, None)) => times.push(ended.took.as_secs_f64() * 1e6),
                Ok((_, failed)) => return (Vec::new(), failed),
                Err(error) => return (Vec::new(), Some(error.to_string())),
            }
        }
        (median(&times).into_iter().collect(), None)
    }

    fn of_ucx(&self, work: &Work) -> Result<f64, String> {
        let text = |error: std::io::Error| error.to_string();
        let [server, client] = launch::of_ucx(work, &self.settings).map_err(text)?;
        let server = Running::start(server).map_err(text)?;
        let deadline = self.settings.deadline;
        // Until the other one listens it finds nobody, and ends.
        let mut last = String::new();
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(50));
            let client = again(&client);
            let ended = Running::start(client).and_then(|client| client.wait(deadline)).map_err(text)?;
            if let Some(value) = of_ucx(&ended.out) {
                // Its end says nothing more: what it measured has been said.
                drop(server);
                return Ok(value);
            }
            last = failure(&ended, deadline).unwrap_or_else(|| "it printed no result".to_owned());
            if ended.status.is_none() {
                break;
            }
        }
        Err(last)
    }

    /// What became of it, and how it failed if it did.
    fn run(&self, command: Command) -> std::io::Result<(Ended, Option<String>)> {
        let deadline = self.settings.deadline;
        let ended = Running::start(command)?.wait(deadline)?;
        let failed = failure(&ended, deadline);
        Ok((ended, failed))
    }
}

/// The same command once more.
fn again(command: &Command) -> Command {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args());
    copy
}

/// How a launch failed, if it did, with the end of what it said.
fn failure(ended: &Ended, deadline: std::time::Duration) -> Option<String> {
    let how = match ended.status {
        Some(status) if status.success() => return None,
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with code {code}"),
            (None, signal) => format!("was killed by signal {}", signal.unwrap_or(0)),
        },
        None => format!("had not ended after {deadline:?} and was killed"),
    };
    // What a program of ours says of wrong data stands before what its launcher says.
    let wrong = ended.err.lines().find(|line| line.contains("moved wrong data"));
    let said = wrong.map_or_else(|| last_lines(&format!("{}\n{}", ended.out, ended.err)), str::to_owned);
    Some(if said.is_empty() { format!("{how}, without a word") } else { format!("{how}: {said}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn ended(script: &str, deadline: Duration) -> Ended {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Running::start(command).unwrap().wait(deadline).unwrap()
    }

    #[test]
    fn a_failure_says_how_and_with_which_words() {
        let long = Duration::from_secs(60);
        let said = |script, deadline| failure(&ended(script, deadline), deadline);
        assert_eq!(said("true", long), None);
        assert_eq!(said("exit 2", long).unwrap(), "ended with code 2, without a word");
        assert_eq!(said("echo why >&2; kill -9 $$", long).unwrap(), "was killed by signal 9: why");
        let wrong =
            "echo 'PE 1: get moved wrong data: byte 3' >&2; for i in 1 2 3 4 5; do echo $i >&2; done; exit 3";
        assert_eq!(said(wrong, long).unwrap(), "ended with code 3: PE 1: get moved wrong data: byte 3");
        let late = said("echo begun; exec sleep 60", Duration::from_millis(200)).unwrap();
        assert!(late.contains("had not ended after 200ms") && late.ends_with(": begun"), "{late}");
    }
}
