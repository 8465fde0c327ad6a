//! Shell scripts in the place of `hccn_tool`, and what is said of their answers.

use transport_core::checks::{Finding, Level};

use super::*;
use crate::hccn::scripted::Script;
use crate::nic::{GidFacts, GidKind, PortFacts};

const UP: &str = "echo 'link status: UP'";
const SUCCESS: &str = "echo 'net health status: Success'";
const ADDRESS: &str = "echo ipaddr:192.168.9.1$2; echo netmask:255.255.255.0";
/// Generous: many tests may run at once on few cores.
const PATIENT: Duration = Duration::from_secs(120);

fn asked(script: &Script, files: &[u32]) -> Npus {
    Npus::ask_of(Ok(script.tool()), files.to_vec(), PATIENT)
}

fn findings(script: &Script, files: &[u32], wanted: bool) -> Vec<Finding> {
    hccn(&asked(script, files), &[device("hns_0", "192.168.9.12")], wanted).findings
}

fn device(name: &str, address: &str) -> DeviceFacts {
    let gid = address.parse::<std::net::IpAddr>().unwrap().into();
    let gids = vec![GidFacts { index: 3, gid, kind: GidKind::RoceV2, netdev: None }];
    let port =
        PortFacts { number: 1, state: "ACTIVE".into(), active: true, ethernet: true, mtu_bytes: 1024, gids };
    DeviceFacts { name: name.into(), ports: vec![port] }
}

/// The only finding, which must be of this level and hold all `parts`.
#[track_caller]
fn only(findings: &[Finding], level: Level, parts: &[&str]) {
    let [finding] = findings else { panic!("{findings:?}") };
    assert_eq!((finding.level, finding.remedy.is_none()), (level, level == Level::Ok), "{finding:?}");
    let text = format!("{} {}", finding.what, finding.remedy.as_deref().unwrap_or("-"));
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn every_npu_has_a_finding() {
    let script = Script::answering(ADDRESS, UP, SUCCESS);
    let all = findings(&script, &[], false);
    assert_eq!(all.len(), 8);
    for (npu, finding) in all.iter().enumerate() {
        assert_eq!((finding.id, finding.level), ("npu", Level::Ok));
        let start = format!("NPU {npu}: 192.168.9.1{npu}, netmask 255.255.255.0, ");
        assert!(finding.what.starts_with(&start), "{finding:?}");
        assert!(finding.what.contains("net health Success"), "{finding:?}");
        let reach = if npu == 2 { "; verbs device hns_0" } else { "; no verbs device" };
        assert!(finding.what.contains(reach), "{finding:?}");
    }
    let some = findings(&script, &[2, 11], false);
    assert!(some[0].what.starts_with("NPU 2:") && some[1].what.starts_with("NPU 11:"), "{some:?}");
}

#[test]
fn every_health_by_word_and_by_code() {
    for (code, health) in Health::ALL.into_iter().enumerate() {
        for said in [health.name().to_owned(), code.to_string()] {
            let script = Script::answering(ADDRESS, UP, &format!("echo 'net health status: {said}'"));
            let level = if health == Health::Success { Level::Ok } else { Level::Warn };
            let parts = ["NPU 2", "192.168.9.12", health.name(), health.meaning()];
            only(&findings(&script, &[2], false), level, &parts);
            // Two of them say nothing about the network, so that a job may try.
            let wanted = match health {
                Health::Success => Level::Ok,
                Health::Init | Health::DetectIpSet => Level::Warn,
                _ => Level::Fail,
            };
            only(&findings(&script, &[2], true), wanted, &parts);
        }
    }
}

#[test]
fn what_is_wrong_with_one_npu() {
    for (script, parts) in [
        (
            Script::answering("echo ipaddr:; echo netmask:", UP, SUCCESS),
            ["NPU 2", "no IP address", "hccn_tool -i 2 -ip -s address"],
        ),
        (Script::answering("true", UP, SUCCESS), ["NPU 2", "no IP address", "hccn_tool -i 2 -ip -s address"]),
        (
            Script::answering(ADDRESS, "echo 'link status: DOWN'", SUCCESS),
            ["192.168.9.12", "is down", "hccn_tool -i 2 -optical -g"],
        ),
        (
            Script::answering(ADDRESS, UP, "echo 'net health status: splendid'"),
            ["NPU 2", "splendid", "-i 2 -net_health -g"],
        ),
        (Script::new("echo hello"), ["NPU 2", "not understood", "-i 2 -ip -g"]),
        (Script::new("echo no such device >&2; exit 17"), ["no such device", "17", "npu-smi info"]),
        (Script::new("kill -9 $$"), ["NPU 2", "signal: 9", "npu-smi info"]),
    ] {
        only(&findings(&script, &[2], false), Level::Warn, &parts);
        only(&findings(&script, &[2], true), Level::Fail, &parts);
    }
}

#[test]
fn a_tool_that_hangs_is_given_up() {
    let script = Script::new("sleep 1000");
    let before = Instant::now();
    let slow = script.tool().with_limit(Duration::from_secs(1));
    let each = Npus::ask_of(Ok(slow), vec![0, 1], PATIENT);
    let section = hccn(&each, &[], false);
    assert_eq!((section.findings.len(), section.level()), (2, Level::Warn));
    assert!(section.findings.iter().all(|finding| finding.what.contains("within 1 s")), "{section:?}");
    // All together have a limit too, if the tool's own does not help.
    let patient = script.tool().with_limit(Duration::from_secs(3));
    let all = Npus::ask_of(Ok(patient), vec![4, 5], Duration::from_millis(200));
    let section = hccn(&all, &[], true);
    assert_eq!((section.findings.len(), section.level()), (2, Level::Fail));
    assert!(section.findings[1].what.contains("hccn_tool -i 5 -ip -g"), "{section:?}");
    assert!(before.elapsed() < Duration::from_secs(60));
}

#[test]
fn guessed_numbers_end_at_the_first_that_is_not_known() {
    let four = format!("[ $2 -lt 4 ] || {{ echo invalid device >&2; exit 1; }}; {ADDRESS}");
    let script = Script::answering(&four, UP, SUCCESS);
    let all = findings(&script, &[], false);
    assert_eq!((all.len(), all.iter().all(|finding| finding.level == Level::Ok)), (4, true));
    // What the kernel shows is there, so the tool should know it.
    assert_eq!(findings(&script, &[3, 4, 5], false).len(), 3);
    only(&findings(&Script::new("exit 1"), &[], false), Level::Warn, &["NPU 0"]);
    only(&findings(&Script::new("echo hello"), &[], false), Level::Warn, &["NPU 0", "hello"]);
    // An NPU without address is there.
    assert_eq!(findings(&Script::answering("echo ipaddr:", UP, SUCCESS), &[], false).len(), 8);
}

#[test]
fn a_tool_that_cannot_be_run_is_told_of_once() {
    let place = tempfile::tempdir().unwrap();
    let tool = || Tool::at(place.path().join("hccn_tool"));
    let gone = Npus::ask_of(Ok(tool()), vec![0, 1, 2], PATIENT);
    only(&hccn(&gone, &[], false).findings, Level::Warn, &["NPU 0", "find /usr/local/Ascend"]);
    fs::write(place.path().join("hccn_tool"), "").unwrap();
    let unfit = Npus::ask_of(Ok(tool()), vec![0, 1, 2], PATIENT);
    only(&hccn(&unfit, &[], true).findings, Level::Fail, &["cannot be run", "ls -l "]);
}

#[test]
fn a_host_without_the_tool_is_no_ascend_host() {
    let missing = || Err(HccnError::ToolMissing { looked_in: "PATH".into() });
    let none = Npus::ask_of(missing(), Vec::new(), PATIENT);
    only(&hccn(&none, &[], false).findings, Level::Ok, &["no Ascend A2 or A3 host"]);
    only(&hccn(&none, &[], true).findings, Level::Fail, &["Install the Ascend driver package", "find "]);
}

#[test]
fn an_npu_that_is_wanted_must_be_a_verbs_device() {
    let script = Script::good("192.168.9.10");
    only(&findings(&script, &[0], false), Level::Ok, &["no verbs device of the host has that address"]);
    only(&findings(&script, &[0], true), Level::Fail, &["NPU 0", "hns_0", "unset SHMEM_NIC"]);
    only(&findings(&Script::good("192.168.9.12"), &[0], true), Level::Ok, &["verbs device hns_0"]);
}

#[test]
fn the_npus_of_the_kernel() {
    let place = tempfile::tempdir().unwrap();
    for name in ["davinci10", "davinci2", "davinci_manager", "davinci+3", "davinci", "davincix", "null"] {
        fs::write(place.path().join(name), "").unwrap();
    }
    assert_eq!(numbers(place.path()), [2, 10]);
    assert_eq!(numbers(&place.path().join("nothing")), Vec::<u32>::new());
}
