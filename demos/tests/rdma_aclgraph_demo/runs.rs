//! Runs that must succeed.

use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use crate::harness::{assert_success, demo, free_port, run_all};

const LIMIT: Duration = Duration::from_secs(60);

/// `n_pes` PEs of one host, at `host`, with `more` options.
fn pes(n_pes: usize, host: &str, more: &[&str]) -> Vec<Command> {
    let (n, address) = (n_pes.to_string(), format!("tcp://{host}:{}", free_port()));
    (0..n_pes)
        .map(|pe| {
            let mut command = demo(&[&n, &pe.to_string(), &address, &n, "0", "0"]);
            command.args(more);
            command
        })
        .collect()
}

#[test]
fn two_shells() {
    assert_success(&run_all(pes(2, "127.0.0.1", &[]), LIMIT));
}

#[test]
fn other_counts_and_addresses() {
    assert_success(&run_all(pes(1, "127.0.0.1", &[]), LIMIT));
    assert_success(&run_all(pes(3, "127.0.0.1", &[]), LIMIT));
    assert_success(&run_all(pes(2, "[::1]", &[]), LIMIT));
    assert_success(&run_all(pes(2, "localhost", &[]), LIMIT));
    assert_success(&run_all(pes(7, "127.0.0.1", &["--heap", "64KiB", "--elements", "1"]), LIMIT));
}

#[test]
fn forty_eight_pes() {
    assert_success(&run_all(pes(48, "127.0.0.1", &[]), LIMIT));
}

#[test]
fn other_sizes() {
    for elements in ["0", "1", "17", "1025", "262145"] {
        assert_success(&run_all(pes(3, "127.0.0.1", &["--elements", elements, "--loops", "5"]), LIMIT));
    }
}

/// Eight PEs as the reference starts them on two servers, and the device that each gets.
#[test]
fn eight_pes_as_two_servers() {
    let address = format!("tcp://127.0.0.1:{}", free_port());
    let server = |pe: usize| if pe < 4 { "0" } else { "4" };
    let commands = (0..8).map(|pe| demo(&["8", &pe.to_string(), &address, "4", server(pe), "0"])).collect();
    let outputs = run_all(commands, LIMIT);
    assert_success(&outputs);
    for (pe, output) in outputs.iter().enumerate() {
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(out.contains(&format!("device {}", pe % 4)), "{out}");
    }
}

/// PE 0 comes last.
#[test]
fn pes_may_start_in_any_order() {
    let mut commands = pes(3, "127.0.0.1", &[]);
    let mut first = commands.remove(0);
    let others: Vec<_> = commands.iter_mut().map(|command| command.spawn().unwrap()).collect();
    std::thread::sleep(Duration::from_millis(300));
    let first = first.spawn().unwrap();
    let outputs: Vec<_> =
        [first].into_iter().chain(others).map(|child| crate::harness::wait(child, LIMIT)).collect();
    assert_success(&outputs);
}

/// Fifty connections that say nothing and fifty that say rubbish, before PE 1 comes.
#[test]
fn strangers_at_the_rendezvous_change_nothing() {
    let mut commands = pes(2, "127.0.0.1", &[]);
    let address =
        commands[0].get_args().nth(2).unwrap().to_string_lossy().trim_start_matches("tcp://").to_owned();
    let mut second = commands.pop().unwrap();
    let first = commands.pop().unwrap().spawn().unwrap();
    let connect = || {
        for _ in 0..2000 {
            if let Ok(stream) = TcpStream::connect(&address) {
                return stream;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("PE 0 does not listen at {address}");
    };
    let silent: Vec<_> = (0..50).map(|_| connect()).collect();
    let rubbish: Vec<_> = (0..50)
        .map(|i| {
            let mut stream = connect();
            let bytes: Vec<u8> = (0..200_u32).map(|j| (j * 37 + i * 11) as u8).collect();
            // It may have been closed already: it is rubbish.
            let _ = stream.write_all(&bytes);
            stream
        })
        .collect();
    let second = second.spawn().unwrap();
    assert_success(&[crate::harness::wait(first, LIMIT), crate::harness::wait(second, LIMIT)]);
    drop((silent, rubbish));
}

/// Identity by the environment of each launcher that is known.
#[test]
fn launchers_are_recognised() {
    for (rank, size) in [
        ("SHMEM_PE", "SHMEM_N_PES"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("PMI_RANK", "PMI_SIZE"),
        ("SLURM_PROCID", "SLURM_NTASKS"),
        ("RANK", "WORLD_SIZE"),
    ] {
        let address = format!("127.0.0.1:{}", free_port());
        let command = |pe: usize| {
            let mut command = demo(&[]);
            command.env(rank, pe.to_string()).env(size, "2").env("SHMEM_UID_SESSION_ID", &address);
            command
        };
        assert_success(&run_all(vec![command(0), command(1)], LIMIT));
    }
}

/// A heap of 1 GiB costs what is touched of it, not a gibibyte.
#[test]
fn a_pe_with_a_heap_of_a_gibibyte_stays_small() {
    let children: Vec<_> = pes(2, "127.0.0.1", &["--loops", "1000000000", "--heap", "1GiB"])
        .into_iter()
        .map(|mut command| command.spawn().unwrap())
        .collect();
    std::thread::sleep(Duration::from_millis(500));
    let peaks: Vec<u64> = children
        .iter()
        .map(|child| {
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
            let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("it has ended");
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        })
        .collect();
    for mut child in children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(peaks.iter().all(|&kib| kib < 16 << 10), "{peaks:?} KiB");
}
