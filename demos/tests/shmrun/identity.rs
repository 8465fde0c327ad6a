//! What each PE finds in its environment.

use std::collections::HashMap;
use std::net::TcpStream;

use rustix::process::Signal;

use crate::job::{Ended, Running, SHMRUN, marked, run, script};

/// The environment of each PE, from the output of `env`.
fn environments(job: &Ended, n: usize) -> Vec<HashMap<String, String>> {
    assert_eq!(job.code_and_err(), (0, ""));
    let of = |pe: usize| {
        let prefix = format!("[{pe}] ");
        let lines = job.sorted().into_iter();
        lines.filter_map(move |line| {
            let (name, value) = line.strip_prefix(&prefix)?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        })
    };
    (0..n).map(|pe| of(pe).collect()).collect()
}

#[test]
fn every_pe_sees_its_identity() {
    let environments = environments(&run(script(3, "", "env")), 3);
    for (pe, environment) in environments.iter().enumerate() {
        let get = |name: &str| environment.get(name).map(String::as_str);
        assert_eq!(get("SHMEM_PE"), Some(pe.to_string().as_str()));
        assert_eq!(get("SHMEM_LOCAL_PE"), Some(pe.to_string().as_str()));
        assert_eq!((get("SHMEM_N_PES"), get("SHMEM_LOCAL_N_PES")), (Some("3"), Some("3")));
        assert_eq!(get("SHMEM_RENDEZVOUS_FD").is_some(), pe == 0);
        assert_eq!((get("SHMEM_BACKEND"), get("SHMEM_HEAP_SIZE")), (None, None));
        for (name, length) in [("SHMEM_JOB_ID", 16), ("SHMEM_SECRET", 64)] {
            let value = get(name).unwrap();
            assert!(
                value.len() == length && value.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{name}={value}"
            );
        }
        for name in ["SHMEM_JOB_ID", "SHMEM_SECRET", "SHMEM_UID_SESSION_ID"] {
            assert_eq!(environment[name], environments[0][name]);
        }
        assert!(environment["SHMEM_UID_SESSION_ID"].starts_with("tcp://127.0.0.1:"));
    }
}

#[test]
fn options_and_the_callers_environment_reach_every_pe() {
    let options = "--backend threads --heap 64M --env A=b=c --env SHMEM_SECRET=mine";
    let (mut command, mark) = script(2, options, "env");
    command.env("OMPI_COMM_WORLD_RANK", "5").env("SHMEM_PE", "9").env("SHMEM_RENDEZVOUS_FD", "77");
    for (pe, environment) in environments(&run((command, mark)), 2).iter().enumerate() {
        for (name, value) in [
            ("SHMEM_BACKEND", "threads"),
            ("SHMEM_HEAP_SIZE", "64M"),
            ("A", "b=c"),
            ("SHMEM_SECRET", "mine"),
            ("OMPI_COMM_WORLD_RANK", "5"),
            ("SHMEM_PE", ["0", "1"][pe]),
        ] {
            assert_eq!(environment[name], value, "{name}");
        }
        assert_ne!(environment.get("SHMEM_RENDEZVOUS_FD").map(String::as_str), Some("77"));
    }
}

#[test]
fn a_secret_is_made_up_only_where_none_is_given_or_refused() {
    let secret = |options: &str, given: Option<&str>| {
        let (mut command, mark) = script(1, options, "env");
        command.envs(given.map(|value| ("SHMEM_SECRET", value)));
        let mut environment = environments(&run((command, mark)), 1).remove(0);
        (environment.remove("SHMEM_SECRET"), environment.remove("SHMEM_JOB_ID"))
    };
    let (first, second) = (secret("", None), secret("", None));
    assert!(first.0 != second.0 && first.1 != second.1, "{first:?} {second:?}");
    assert_eq!(secret("", Some("mine")).0.as_deref(), Some("mine"));
    assert_eq!(secret("--no-secret", None).0, None);
}

#[test]
fn pe_0_alone_inherits_the_listening_socket() {
    // Each PE shows its files; PE 0 then stays for the test to connect.
    let show = "files=$(for fd in /proc/$$/fd/*; do readlink $fd; done | sed 's/:.*//' | sort | tr '\\n' ' ')
        echo $files; [ $SHMEM_PE = 1 ] || { readlink /proc/$$/fd/$SHMEM_RENDEZVOUS_FD | sed 's/:.*//';
        echo $SHMEM_UID_SESSION_ID; exec sleep 60; }";
    let mut job = Running::start(script(2, "--port 0", show));
    let mut lines: Vec<String> = (0..4).map(|_| job.line()).collect();
    lines.sort_by_key(|line| line.as_bytes()[1]);
    assert_eq!(lines[1], "[0] socket");
    // What the caller of shmrun left open comes on top, for every PE alike.
    let files = |line: &String| line.split(' ').skip(1).map(str::to_owned).collect::<Vec<_>>();
    let mut expected = files(&lines[3]);
    expected.push("socket".to_owned());
    expected.sort();
    assert_eq!(files(&lines[0]), expected);
    let address = lines[2].strip_prefix("[0] tcp://").unwrap();
    TcpStream::connect(address).unwrap();
    job.signal(Signal::TERM);
    assert_eq!(
        job.end(),
        (143, "shmrun: ended by SIGTERM; PE 0: killed by SIGTERM; PE 1: finished".to_owned())
    );
    // PE 0 was the last that held it.
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn pes_may_meet_at_another_address() {
    for (host, start) in [
        ("localhost", "tcp://"),
        ("127.0.0.2", "tcp://127.0.0.2:"),
        ("0.0.0.0", "tcp://127.0.0.1:"),
        ("::1", "tcp://[::1]:"),
    ] {
        if host == "::1" && std::net::TcpListener::bind("[::1]:0").is_err() {
            continue; // a machine without IPv6
        }
        let environment = environments(&run(script(1, &format!("--host {host}"), "env")), 1).remove(0);
        assert!(environment["SHMEM_UID_SESSION_ID"].starts_with(start), "{environment:?}");
    }
}

#[test]
fn verbose_says_what_happens_and_not_the_secret() {
    let job = run(script(1, "--verbose --env SHMEM_SECRET=hush", "exit 0"));
    assert_eq!(job.code, Some(0));
    for text in ["the PEs meet at tcp://127.0.0.1:", "PE 0 is process ", "PE 0 exited with code 0"] {
        assert!(job.err.contains(text), "{}", job.err);
    }
    assert!(!job.err.contains("hush"));
}

#[test]
fn a_job_within_a_job_has_an_identity_of_its_own() {
    let inner = format!("exec {SHMRUN} -n 2 sh -c 'echo $SHMEM_PE/$SHMEM_N_PES $SHMEM_JOB_ID'");
    let job = run(marked(SHMRUN, &["-n", "2", "sh", "-c", &inner]));
    assert_eq!(job.code_and_err(), (0, ""));
    let lines = job.sorted();
    let ids: Vec<&str> = lines.iter().map(|line| line.rsplit_once(' ').unwrap().1).collect();
    let heads: Vec<&str> = lines.iter().map(|line| line.rsplit_once(' ').unwrap().0).collect();
    assert_eq!(heads, ["[0] [0] 0/2", "[0] [1] 1/2", "[1] [0] 0/2", "[1] [1] 1/2"]);
    assert!(ids[0] == ids[1] && ids[2] == ids[3] && ids[0] != ids[2], "{ids:?}");
}

/// The processors that each PE may use, as the system lists them.
fn processors(n: usize, options: &str) -> Vec<String> {
    let job = run(script(n, options, "grep Cpus_allowed_list /proc/self/status"));
    assert_eq!(job.code_and_err(), (0, ""));
    let lines = job.sorted();
    assert_eq!(lines.len(), n, "{lines:?}");
    lines.iter().map(|line| line.split_whitespace().last().unwrap().to_owned()).collect()
}

#[test]
fn pes_are_bound_to_one_processor_each_around_the_end_if_asked() {
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let own = own.lines().find(|line| line.starts_with("Cpus_allowed_list")).unwrap();
    let own = own.split_whitespace().last().unwrap();
    assert_eq!(processors(2, ""), [own, own]);
    assert_eq!(processors(2, "--bind none"), [own, own]);
    let allowed = rustix::thread::sched_getaffinity(None).unwrap().count() as usize;
    // At most nine, so that their lines are in the order of the PEs.
    let n = (allowed + 1).min(9);
    let bound = processors(n, "--bind core");
    assert!(bound.iter().all(|list| list.parse::<usize>().is_ok()), "{bound:?}");
    for (pe, processor) in bound.iter().enumerate() {
        assert_eq!(bound.iter().position(|other| other == processor), Some(pe % allowed), "{bound:?}");
    }
}
