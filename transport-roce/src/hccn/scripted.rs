//! Tests with shell scripts in the place of `hccn_tool`.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::health::Health;
use super::npu_nic::{NpuNic, npu_address};
use super::*;

/// A shell script that is asked as `hccn_tool` would be; gone when dropped.
pub(crate) struct Script {
    directory: tempfile::TempDir,
}

impl Script {
    /// One with this body.
    pub(crate) fn new(body: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let script = Self { directory };
        // Asked for nothing, it does nothing: see below.
        fs::write(script.path(), format!("#!/bin/sh\n[ $# = 0 ] && exit 0\n{body}\n")).unwrap();
        script.set_mode(0o755);
        // A process that another test starts at this moment may hold the file open for writing until it execs.
        let run = || Command::new(script.path()).stdin(Stdio::null()).status();
        while run().is_err_and(|error| error.kind() == ErrorKind::ExecutableFileBusy) {
            std::thread::sleep(Duration::from_millis(1));
        }
        script
    }

    /// One that answers each question as given.
    pub(crate) fn answering(ip: &str, link: &str, health: &str) -> Self {
        Self::new(&format!(
            "[ \"$1\" = -i ] && [ \"$4\" = -g ] || exit 9\n\
             case $3 in\n-ip) {ip} ;;\n-link) {link} ;;\n-net_health) {health} ;;\n*) exit 8 ;;\nesac"
        ))
    }

    /// One whose NIC is well and has this address.
    pub(crate) fn good(address: &str) -> Self {
        let ip = format!("echo ipaddr:{address}; echo netmask:255.255.255.0");
        Self::answering(&ip, "echo 'link status: UP'", "echo 'net health status: Success'")
    }

    pub(crate) fn tool(&self) -> Tool {
        // Generous: many tests may run at once on few cores.
        Tool::at(self.path()).with_limit(Duration::from_secs(60))
    }

    fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("hccn_tool")
    }

    fn set_mode(&self, mode: u32) {
        fs::set_permissions(self.path(), fs::Permissions::from_mode(mode)).unwrap();
    }
}

const GOOD_IP: &str = "echo ipaddr:192.168.9.10; echo netmask:255.255.255.0";
const UP: &str = "echo 'link status: UP'";
const SUCCESS: &str = "echo 'net health status: Success'";

#[track_caller]
fn fails(script: &Script, parts: &[&str]) -> HccnError {
    let error = npu_address(5, &script.tool()).unwrap_err();
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
    assert!(!text.contains('\n'), "{text}");
    error
}

#[test]
fn a_good_nic() {
    let nic = npu_address(5, &Script::good("192.168.9.10").tool()).unwrap();
    let netmask = Some("255.255.255.0".to_owned());
    let address = "192.168.9.10".parse().unwrap();
    assert_eq!(nic, NpuNic { npu: 5, address, netmask, health: Health::Success });
}

#[test]
fn the_number_of_the_npu_is_asked_for() {
    let script = Script::answering("echo ipaddr:10.0.0.$2", UP, SUCCESS);
    assert_eq!(npu_address(7, &script.tool()).unwrap().address.to_string(), "10.0.0.7");
}

#[test]
fn an_old_tool_without_link_is_good_enough() {
    let script = Script::answering(GOOD_IP, "echo 'unknown option -link' >&2; exit 1", SUCCESS);
    assert!(npu_address(5, &script.tool()).is_ok());
    let script = Script::answering(GOOD_IP, "echo what", SUCCESS);
    assert!(npu_address(5, &script.tool()).is_ok());
}

#[test]
fn no_address_no_link() {
    let script = Script::answering("echo ipaddr:; echo netmask:", UP, SUCCESS);
    let error =
        fails(&script, &["NPU 5", "hccn_tool -i 5 -ip -s address ADDRESS netmask MASK", "/etc/hccn.conf"]);
    assert_eq!(error, HccnError::NoAddress { npu: 5 });
    let script = Script::answering(GOOD_IP, "echo 'link status: DOWN'", "echo 'net health status: Fault'");
    fails(&script, &["NPU 5", "192.168.9.10", "is down", "-link -g"]);
}

#[test]
fn every_health() {
    for health in Health::ALL {
        let script = Script::answering(GOOD_IP, UP, &format!("echo 'net health status: {health}'"));
        match health {
            Health::Success | Health::Init | Health::DetectIpSet => {
                assert_eq!(npu_address(5, &script.tool()).unwrap().health, health);
            }
            _ => {
                fails(&script, &["NPU 5", "192.168.9.10", health.name(), health.meaning(), "-net_health -g"]);
            }
        }
    }
    let script = Script::answering(GOOD_IP, UP, "echo 'net health status: splendid'");
    fails(&script, &["-i 5 -net_health -g", "not understood", "splendid"]);
}

#[test]
fn a_failing_tool() {
    let script = Script::new("echo no such NPU >&2; exit 17");
    fails(&script, &["-i 5 -ip -g", "17", "no such NPU", "npu-smi info"]);
    let script = Script::new("kill -9 $$");
    fails(&script, &["signal: 9", "it printed nothing"]);
}

#[test]
fn output_that_makes_no_sense() {
    let error = fails(&Script::new("echo hello"), &["not understood", "hello", "SHMEM_NIC"]);
    assert!(matches!(error, HccnError::NotUnderstood { .. }));
    fails(&Script::new("printf 'a\\000\\377\\033[2J\\r\\nipaddr:\\376\\n'"), &["not understood"]);
    fails(&Script::new("head -c 1000 /dev/zero"), &["not understood", "it printed: ???"]);
}

#[test]
fn what_was_printed_before_the_end_is_read_to_its_end() {
    // More than one read, and less than a pipe holds: the tool is gone before we have read it.
    let script =
        Script::answering("head -c 50000 /dev/zero | tr '\\0' '\\n'; echo ipaddr:10.0.0.1", UP, SUCCESS);
    assert_eq!(npu_address(5, &script.tool()).unwrap().address.to_string(), "10.0.0.1");
}

#[test]
fn endless_output_is_cut() {
    let before = Instant::now();
    let error = fails(&Script::new("while :; do echo ipaddr:10.0.0.1; done"), &["not understood"]);
    assert!(error.to_string().len() < 1000);
    assert!(before.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_hanging_tool_is_killed_with_its_children() {
    let script = Script::new("echo asking; sleep 1000 & echo $! > \"$0.child\"; wait");
    let before = Instant::now();
    let error = npu_address(5, &script.tool().with_limit(Duration::from_millis(500))).unwrap_err();
    assert!(before.elapsed() < Duration::from_secs(20));
    let text = error.to_string();
    assert!(text.contains("within 0.5 s") && text.contains("it printed: asking"), "{text}");
    let child: i32 =
        fs::read_to_string(script.path().with_extension("child")).unwrap().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(child).unwrap();
    // Somebody else reaps it, if anybody: dead is enough.
    let dead = || match fs::read_to_string(format!("/proc/{child}/stat")) {
        Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')),
        Err(_) => rustix::process::test_kill_process(pid).is_err(),
    };
    while !dead() {
        assert!(before.elapsed() < Duration::from_secs(20), "{child} lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_hang_at_the_link_is_not_taken_for_an_old_tool() {
    let script = Script::answering(GOOD_IP, "sleep 1000", SUCCESS);
    let error = npu_address(5, &script.tool().with_limit(Duration::from_secs(2))).unwrap_err();
    assert!(matches!(error, HccnError::TimedOut { .. }) && error.to_string().contains("-link -g"), "{error}");
}

#[test]
fn a_child_that_keeps_the_output_open_is_not_waited_for() {
    let script = Script::new(
        "case $3 in -ip) echo ipaddr:10.0.0.1 ;; -link) exit 1 ;; *) echo net health status: 0 ;; esac\nsleep 3 &",
    );
    let before = Instant::now();
    assert!(npu_address(5, &script.tool()).is_ok());
    assert!(before.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_tool_that_cannot_be_run() {
    let script = Script::good("10.0.0.1");
    script.set_mode(0o644);
    fails(&script, &["cannot be run", "ls -l"]);
    fs::remove_file(script.path()).unwrap();
    let error = fails(&script, &["not there", "driver package"]);
    assert!(matches!(error, HccnError::ToolMissing { .. }));
}

#[test]
fn where_the_tool_is_looked_for() {
    let script = Script::good("10.0.0.1");
    let place = script.directory.path();
    let empty = tempfile::tempdir().unwrap();
    let path = std::env::join_paths([empty.path(), place]).unwrap();
    assert!(Tool::find_in(Some(&path), empty.path()).is_ok());
    assert!(Tool::find_in(None, place).is_ok());
    // One that may not be run is passed over for one that may, as a shell does.
    fs::write(empty.path().join("hccn_tool"), "").unwrap();
    assert!(npu_address(5, &Tool::find_in(Some(&path), empty.path()).unwrap()).is_ok());
    let error = npu_address(5, &Tool::find_in(None, empty.path()).unwrap()).unwrap_err();
    assert!(matches!(error, HccnError::CannotRun { .. }), "{error}");
    fs::remove_file(empty.path().join("hccn_tool")).unwrap();
    assert!(Tool::find_in(Some("".as_ref()), place).is_ok());
    let text = Tool::find_in(Some("/one:/two".as_ref()), empty.path()).unwrap_err().to_string();
    assert!(text.contains("/one:/two") && text.contains(&empty.path().display().to_string()), "{text}");
}
