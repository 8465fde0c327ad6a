//! What the others do when a PE is killed.

use std::process::Child;
use std::time::{Duration, Instant};

use crate::harness::{demo, free_port, text, wait};

fn endless(n_pes: usize) -> Vec<Child> {
    let (n, address) = (n_pes.to_string(), format!("tcp://127.0.0.1:{}", free_port()));
    let pes = |pe: usize| {
        demo(&[&n, &pe.to_string(), &address, &n, "0", "0", "--loops", "1000000000"]).spawn().unwrap()
    };
    let children = (0..n_pes).map(pes).collect();
    // Into the rounds, on a slow machine too; before or in the rendezvous would have to end as well.
    std::thread::sleep(Duration::from_millis(500));
    children
}

/// Each in turn: PE 0, which serves the rendezvous, and one that does not.
#[test]
fn the_others_name_a_killed_pe_and_fail() {
    for victim in [0, 2] {
        let mut children = endless(4);
        let mut killed = children.remove(victim);
        let start = Instant::now();
        killed.kill().unwrap();
        killed.wait().unwrap();
        for child in children {
            let output = wait(child, Duration::from_secs(20));
            let (out, err) = text(&output);
            assert_eq!(output.status.code(), Some(1), "{out} {err}");
            assert!(err.contains(&format!("PE {victim} is gone")), "{err}");
            assert!(err.contains("[FAILED] demo run failed in relative pe"), "{err}");
            assert!(!out.contains("success"), "{out}");
        }
        // Two seconds are promised; a busy machine gets more before it is called a failure.
        assert!(start.elapsed() < Duration::from_secs(15), "the others took {:?}", start.elapsed());
    }
}

/// Nothing of a job has a name in the file system, so that nothing can be left.
#[test]
fn nothing_is_left_after_all_are_killed() {
    let names = || -> Vec<_> {
        ["/dev/shm", "/tmp"]
            .iter()
            .flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()))
            .filter(|path| path.to_string_lossy().contains("shmem"))
            .collect()
    };
    let before = names();
    for mut child in endless(3) {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(names(), before);
}
