//! Which backend a job runs on, and what it says of the others.

use std::time::Duration;

#[cfg(feature = "roce")]
use crate::harness::free_port;
use crate::harness::{demo, text, wait};

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn a_backend_that_is_not_built_in_is_refused_with_those_that_are() {
    let child = demo(&["1", "0", "tcp://127.0.0.1:0", "1", "0", "0", "--backend", "pigeon"]).spawn().unwrap();
    let output = wait(child, LIMIT);
    let (_, err) = text(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(err.contains("\"pigeon\" (argument --backend)") && err.contains("loopback"), "{err}");
}

/// Without a NIC, as on most hosts where this is tested; on one that has some, the testbed runs the real thing.
#[cfg(feature = "roce")]
#[test]
fn roce_without_a_nic_is_refused_when_asked_for_and_skipped_with_its_reason_when_not() {
    if std::fs::read_dir("/sys/class/infiniband").is_ok_and(|mut devices| devices.next().is_some()) {
        return;
    }
    let address = format!("tcp://127.0.0.1:{}", free_port());
    // PEs of several hosts, as it seems: a network would be better.
    let run = |options: &[&str]| {
        let pes: Vec<_> = ["0", "1"]
            .map(|pe| {
                let six = ["2", pe, &address, "1", "0", "0"];
                demo(&[&six[..], &["--heap", "1MiB"], options].concat()).spawn().unwrap()
            })
            .into();
        pes.into_iter().map(|pe| wait(pe, LIMIT)).collect::<Vec<_>>()
    };
    for output in run(&["--verbose"]) {
        let (out, err) = text(&output);
        assert!(out.contains("[SUCCESS]"), "{out}{err}");
        assert!(err.contains("backend loopback: 1 of 2 PEs are on this host"), "{err}");
        assert!(err.contains("backend roce is not used: "), "{err}");
    }
    let failed = run(&["--backend", "roce", "--timeout", "20"]);
    for output in &failed {
        assert_eq!(output.status.code(), Some(1));
    }
    let said: String = failed.iter().map(|output| text(output).1).collect();
    assert!(said.contains("libibverbs.so.1 cannot be loaded") || said.contains("no RDMA device"), "{said}");
}
