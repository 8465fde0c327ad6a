//! However a job ends, no process of it stays.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::job::{Running, SHMRUN, eventually, marked, run, script};

/// A PE that starts two processes, one of them in a session of its own, both of which ignore all that can be ignored
/// and hold no pipe of the PE, then says "ready".
const WITH_OFFSPRING: &str = "for way in '' setsid; do
    $way sh -c 'trap \"\" TERM INT HUP; sleep 60; sleep 60' >/dev/null 2>&1 </dev/null & done; echo ready;";

/// A script made of [`WITH_OFFSPRING`] and what the PE does then.
fn with_offspring(then: &str) -> String {
    format!("{WITH_OFFSPRING} {then}")
}

/// Whether this process, and so all that it starts, ignores a signal: under `nohup`, in a shell's background.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << (signal.as_raw() - 1)) != 0
}

#[test]
fn what_pes_started_ends_with_the_job() {
    let job = run(script(2, "", &with_offspring("exit 0")));
    assert_eq!(job.code_and_err(), (0, ""));
    let job = run(script(2, "--settle 0.2", &with_offspring("[ $SHMEM_PE = 1 ] && exit 7; exec sleep 60")));
    assert_eq!(job.code_and_err(), (7, "shmrun: PE 1 exited with code 7; PE 0: ended by shmrun"));
}

#[test]
fn what_pes_started_may_finish_its_output_within_the_grace() {
    let job = run(script(2, "--grace 10", "(sleep 0.3; echo late) & exit 0"));
    assert_eq!(job.code_and_err(), (0, ""));
    assert_eq!(job.sorted(), ["[0] late", "[1] late"]);
    let job = run(script(1, "--grace 0.2", "sleep 60 & exit 0"));
    assert_eq!(job.code_and_err(), (0, ""));
    assert!(job.time < Duration::from_secs(10), "{:?}", job.time);
}

#[test]
fn killing_shmrun_leaves_nothing() {
    let then = "echo $SHMEM_JOB_ID; exec sleep 60";
    let mut job = Running::start(script(3, "", &with_offspring(then)));
    let lines: Vec<String> = (0..6).map(|_| job.line()).collect();
    let job_id =
        lines.iter().find(|line| !line.ends_with("ready")).unwrap().split_once(' ').unwrap().1.to_owned();
    let guards = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let lines =
            processes.map(|process| fs::read_to_string(process.path().join("cmdline")).unwrap_or_default());
        lines.filter(|line| line.contains("__guard") && line.contains(&job_id)).count()
    };
    // The launcher, and of each PE the shell and at least the two that it started.
    assert!(job.mark.processes().len() > 3 * 3);
    assert_eq!(guards(), 1);
    job.child.kill().unwrap();
    job.child.wait().unwrap();
    eventually("no process of the job", || job.mark.processes().is_empty());
    eventually("no guard", || guards() == 0);
}

#[test]
fn killing_shmrun_while_it_starts_leaves_nothing() {
    for pause in [1, 3, 6, 10, 15, 30] {
        let mut job = Running::start(script(32, "", "exec sleep 60"));
        std::thread::sleep(Duration::from_millis(pause));
        job.child.kill().unwrap();
        job.child.wait().unwrap();
        eventually("no process of the job", || job.mark.processes().is_empty());
    }
}

#[test]
fn ctrl_c_and_its_like_end_the_job() {
    for (signal, name) in [
        (Signal::INT, "SIGINT"),
        (Signal::TERM, "SIGTERM"),
        (Signal::HUP, "SIGHUP"),
        (Signal::QUIT, "SIGQUIT"),
    ] {
        if is_ignored(signal) {
            continue;
        }
        let mut job = Running::start(script(2, "", &with_offspring("ulimit -c 0; exec sleep 60")));
        job.wait_for(2, "ready");
        job.signal(signal);
        let (code, err) = job.end();
        assert_eq!(code, 128 + signal.as_raw());
        assert_eq!(err, format!("shmrun: ended by {name}; PEs 0, 1: killed by {name}"));
    }
}

#[test]
fn pes_get_the_signal_and_may_end_their_own_way() {
    let mut job = Running::start(script(
        2,
        "--grace 15",
        "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 60 >&- 2>&- & wait; done",
    ));
    job.wait_for(2, "ready");
    job.signal(Signal::TERM);
    job.wait_for(2, "bye");
    assert_eq!(job.end(), (143, "shmrun: ended by SIGTERM; PEs 0, 1: finished".to_owned()));
}

#[test]
fn a_second_signal_kills() {
    let start = Instant::now();
    let mut job = Running::start(script(
        2,
        "--grace 15",
        "trap 'echo no' TERM; echo ready; while :; do sleep 60 >&- 2>&- & wait; done",
    ));
    job.wait_for(2, "ready");
    job.signal(Signal::TERM);
    job.wait_for(2, "no");
    job.signal(Signal::TERM);
    assert_eq!(job.end(), (143, "shmrun: ended by SIGTERM; PEs 0, 1: ended by shmrun".to_owned()));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn other_signals_are_passed_on() {
    let mut job = Running::start(script(
        2,
        "",
        "trap 'echo got it; exit 0' USR1; echo ready; while :; do sleep 60 >&- 2>&- & wait; done",
    ));
    job.wait_for(2, "ready");
    job.signal(Signal::USR1);
    job.wait_for(2, "got it");
    assert_eq!(job.end(), (0, String::new()));
}

#[test]
fn ctrl_z_pauses_the_pes_too() {
    let mut job = Running::start(script(
        1,
        "",
        "trap 'exit 0' USR1; echo $$; while :; do sleep 60 >&- 2>&- & wait; done",
    ));
    let line = job.line();
    let pe = line.strip_prefix("[0] ").unwrap();
    let state = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.chars().next().unwrap()
    };
    let shmrun = job.child.id().to_string();
    job.signal(Signal::TSTP);
    eventually("both stopped", || state(pe) == 'T' && state(&shmrun) == 'T');
    job.signal(Signal::CONT);
    eventually("both go on", || state(pe) != 'T' && state(&shmrun) != 'T');
    job.signal(Signal::USR1);
    assert_eq!(job.end(), (0, String::new()));
}

#[test]
fn nohup_holds() {
    let job =
        format!("trap '' HUP; exec {SHMRUN} -n 2 --timeout 20 sh -c 'echo ready; sleep 0.5; echo done'");
    let mut job = Running::start(marked("sh", &["-c", &job]));
    job.wait_for(2, "ready");
    job.signal(Signal::HUP);
    job.wait_for(2, "done");
    assert_eq!(job.end(), (0, String::new()));
}

#[test]
fn a_job_within_a_job_ends_with_it() {
    let inner = format!("exec {SHMRUN} -n 2 sh -c 'echo ready; trap \"\" TERM; sleep 60; sleep 60'");
    let mut job = Running::start(script(2, "--grace 0.3", &inner));
    job.wait_for(4, "ready");
    job.child.kill().unwrap();
    job.child.wait().unwrap();
    eventually("no process of either job", || job.mark.processes().is_empty());
}

#[test]
fn a_blocked_sigchld_does_not_hide_the_end() {
    let blocked = |program: &[&str]| marked("env", &[&["--block-signal=CHLD"], program].concat());
    if !blocked(&["true"]).0.status().unwrap().success() {
        return; // an `env` that knows no signals
    }
    assert_eq!(run(blocked(&[SHMRUN, "-n", "2", "true"])).code_and_err(), (0, ""));
}
