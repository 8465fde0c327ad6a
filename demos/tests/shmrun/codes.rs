//! Exit codes and the message that goes with each.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::job::{SHMRUN, marked, run, script};

#[test]
fn all_good_is_zero_and_silent() {
    for n in [1, 2, 64] {
        let job = run(script(n, "", "echo PE"));
        assert_eq!(job.code_and_err(), (0, ""));
        assert_eq!(job.sorted().len(), n);
    }
}

#[test]
fn a_pe_may_finish_before_the_others() {
    let job = run(script(3, "", "[ $SHMEM_PE = 1 ] && exit 0; sleep 0.3; echo late"));
    assert_eq!(job.code_and_err(), (0, ""));
    assert_eq!(job.sorted(), ["[0] late", "[2] late"]);
}

#[test]
fn the_first_failure_gives_the_code_and_the_others_have_the_last_word() {
    let job = run(script(
        4,
        "--settle 15",
        "case $SHMEM_PE in 0) exit 0;; 2) sleep 0.2; exit 41;; esac; sleep 0.7; echo lost PE 2 >&2; exit 3",
    ));
    let (code, err) = job.code_and_err();
    assert_eq!(code, 41);
    let mut lines: Vec<&str> = err.lines().collect();
    let last = lines.pop();
    assert_eq!(last, Some("shmrun: PE 2 exited with code 41; PE 0: finished; PEs 1, 3: exited with code 3"));
    lines.sort_unstable();
    assert_eq!(lines, ["[1] lost PE 2", "[3] lost PE 2"]);
}

#[test]
fn a_killed_pe_gives_128_and_the_signal() {
    let job = run(script(3, "--settle 0.3", "[ $SHMEM_PE = 2 ] && kill -9 $$; exec sleep 60"));
    assert_eq!(job.code_and_err(), (137, "shmrun: PE 2 was killed by SIGKILL; PEs 0, 1: ended by shmrun"));
}

#[test]
fn survivors_that_ignore_sigterm_are_killed() {
    let job = run(script(
        3,
        "--settle 0.2 --grace 0.3",
        "[ $SHMEM_PE = 1 ] && exit 5; trap '' TERM; sleep 60; sleep 60",
    ));
    assert_eq!(job.code_and_err(), (5, "shmrun: PE 1 exited with code 5; PEs 0, 2: ended by shmrun"));
    assert!(job.time < Duration::from_secs(10), "{:?}", job.time);
}

#[test]
fn the_time_limit_ends_all_and_says_so() {
    let job = run(script(3, "--timeout 0.6", "[ $SHMEM_PE = 0 ] || exec sleep 60"));
    let expected =
        "shmrun: the job did not end within 600ms (--timeout); PE 0: finished; PEs 1, 2: ended by shmrun";
    assert_eq!(job.code_and_err(), (124, expected));
}

#[test]
fn a_program_that_cannot_be_run_is_told_once_and_starts_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let plain = directory.path().join("plain");
    std::fs::write(&plain, "text").unwrap();
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (plain, directory) = (plain.to_str().unwrap(), directory.path().to_str().unwrap());
    for (program, code, reason) in [
        ("no-such-program", 127, "there is no program \"no-such-program\" in PATH"),
        ("/no/such/program", 127, "there is no program \"/no/such/program\""),
        ("", 127, "there is no program \"\""),
        (directory, 126, "it is a directory"),
        (plain, 126, "chmod +x"),
    ] {
        let job = run(marked(SHMRUN, &["-n", "3", program]));
        let (real, err) = job.code_and_err();
        assert_eq!(real, code, "{err}");
        assert!(err.starts_with("shmrun: ") && err.contains(reason) && err.lines().count() == 1, "{err}");
    }
}

#[test]
fn a_script_whose_interpreter_is_missing_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("script");
    std::fs::write(&path, "#!/no/interpreter\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let job = run(marked(SHMRUN, &["-n", "64", path.to_str().unwrap()]));
    let (code, err) = job.code_and_err();
    assert_eq!(code, 127, "{err}");
    assert!(err.contains("cannot become") && err.contains("the interpreter or loader"), "{err}");
}

#[test]
fn bad_options_are_usage_errors() {
    for (arguments, reason) in [
        (&["true"][..], "-n"),
        (&["-n", "2"], "PROGRAM"),
        (&["-n", "0", "true"], "at least 1 PE"),
        (&["-n", "two", "true"], "number of PEs"),
        (&["-n", "2", "--env", "NOVALUE", "true"], "no `=`"),
        (&["-n", "2", "--env", "SHMEM_PE=7", "true"], "given by shmrun"),
        (&["-n", "2", "--timeout", "-1", "true"], "time in seconds"),
        (&["-n", "2", "--nonsense", "true"], "--nonsense"),
    ] {
        let job = run(marked(SHMRUN, arguments));
        let (code, err) = job.code_and_err();
        assert!(code == 2 && err.contains(reason), "{arguments:?}: {code}, {err}");
    }
    let help = run(marked(SHMRUN, &["--help"]));
    assert_eq!(help.code, Some(0));
    assert!(String::from_utf8(help.out).unwrap().contains("shmrun -n 4 rdma_aclgraph_demo"));
}

#[test]
fn an_address_that_cannot_be_had_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (arguments, reason) in [
        (&["--port", &port][..], "another process has this port"),
        (&["--host", "192.0.2.1"], "no address of this host"),
        (&["--host", "no host"], "give an IP address"),
    ] {
        let job = run(marked(SHMRUN, &[&["-n", "2"], arguments, &["true"]].concat()));
        let (code, err) = job.code_and_err();
        assert!(code == 1 && err.contains(reason) && err.contains(arguments[1]), "{code}, {err}");
    }
}

#[test]
fn the_limit_on_open_files_is_raised_for_shmrun_only_and_its_end_is_named() {
    let limited = |limit: &str, n: usize| {
        run(marked(
            "sh",
            &["-c", &format!("ulimit {limit} 64; exec {SHMRUN} -n {n} --no-prefix sh -c 'ulimit -Sn'")],
        ))
    };
    let job = limited("-Sn", 48);
    assert_eq!(job.code_and_err(), (0, ""));
    assert_eq!(job.sorted(), vec!["64"; 48]);
    let job = limited("-n", 48);
    let (code, err) = job.code_and_err();
    assert!(
        code == 1 && err.contains("48 PEs need 136 open files and the hard limit is 64"),
        "{code}, {err}"
    );
}
