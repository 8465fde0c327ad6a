//! Jobs that cannot be, and strangers: every PE is told why, and soon.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use support::{Job, PATIENCE, assert_words, device, each, whole};
use transport_core::{SignalOp, Transport};
use transport_roce::{Roce, RoceError};

/// What each PE says of a job that must not start.
fn refused(job: &Job, special: impl Fn(usize, Job) -> Job) -> Vec<RoceError> {
    let start = Instant::now();
    let errors = job.start_each(special).into_iter().map(|started| started.map(drop).unwrap_err()).collect();
    assert!(start.elapsed() < PATIENCE / 2, "it took as long as the deadline: {errors:?}");
    errors
}

#[test]
fn settings_that_differ_are_named_on_every_pe_with_both_values() {
    let Some(device) = device() else { return };
    let job = Job::new(&device, 3);
    for (name, value, ours) in [("SHMEM_ROCE_QPS", "2", "1"), ("SHMEM_ROCE_CONNECT", "first-use", "start")] {
        let errors = refused(&job, |pe, job| if pe == 1 { job.set(name, value) } else { job });
        for (pe, error) in errors.iter().enumerate() {
            assert!(
                matches!(error, RoceError::SettingsDiffer { odd, .. } if odd.as_slice() == [1]),
                "{error}"
            );
            assert_words(error, &[&format!("PE {pe}: PE 1"), &format!("{name} {value}, PE 0 has {ours}")]);
        }
    }
    // What is a PE's own may differ.
    let own = |pe: usize, job: Job| match pe {
        0 => job.set("SHMEM_ROCE_QUEUE_DEPTH", "16"),
        1 => job.set("SHMEM_ROCE_SIGNAL_EVERY", "1").set("SHMEM_ROCE_TIMEOUT", "18"),
        _ => job,
    };
    let pes: Vec<Roce> = job.start_each(own).into_iter().map(Result::unwrap).collect();
    whole(pes, ring);
}

#[test]
fn a_device_that_is_not_there_is_refused_with_those_that_are() {
    let Some(device) = device() else { return };
    let job = Job::new(&device, 2);
    let name = format!("{}x", device.name);
    for error in refused(&job, |_, job| job.set("SHMEM_NIC", &name)) {
        assert_words(error, &[&format!("{name:?}"), &device.name, "SHMEM_NIC", "there are"]);
    }
    // One PE alone: the others hear of it, and why.
    let errors = refused(&job, |pe, job| if pe == 1 { job.set("SHMEM_NIC", &name) } else { job });
    assert!(matches!(errors[0], RoceError::Bootstrap(_)), "{}", errors[0]);
    assert_words(&errors[0], &["PE 1", &format!("{name:?}")]);
    assert_words(&errors[1], &["PE 1", &format!("{name:?}")]);
    for error in refused(&job, |_, job| job.set("SHMEM_NIC", &format!("{}:9", device.name))) {
        assert_words(error, &[&device.name, "no port 9"]);
    }
}

#[test]
fn a_gid_that_is_not_there_is_refused_with_those_that_are() {
    let Some(device) = device() else { return };
    for error in refused(&Job::new(&device, 2).set("SHMEM_GID_INDEX", "255"), |_, job| job) {
        assert!(matches!(error, RoceError::Nic { .. }), "{error}");
        assert_words(error, &[&device.name, "index 255", "SHMEM_GID_INDEX", "it has: "]);
    }
}

#[test]
fn heaps_that_cannot_be_are_refused() {
    let Some(device) = device() else { return };
    for size in [0, 65535, (40 << 30) + 1, u64::MAX] {
        for error in refused(&Job::new(&device, 2).heap(size), |_, job| job) {
            let own = matches!(&error, RoceError::HeapSize { size: said, .. } if *said == size);
            assert!(own || matches!(error, RoceError::Bootstrap(_)), "{error}");
            assert_words(error, &["65536", &size.to_string()]);
        }
    }
    // More than the machine has, of which each PE alone may ask.
    let [(machine, _), (group, _)] = transport_core::host::memory_limits();
    let most = machine.min(group);
    let pes = (most / (40 << 30) + 2) as usize;
    let each = most / pes as u64 + (1 << 20);
    for (pe, error) in refused(&Job::new(&device, pes).heap(each), |_, job| job).iter().enumerate() {
        let RoceError::HeapsLargerThanMemory { my_pe, pes: said, needed, available, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((*my_pe, *said, *available), (pe, pes, most));
        assert!(*needed > most);
        assert_words(error, &["SHMEM_HEAP_SIZE"]);
    }
}

#[test]
fn queues_and_connections_at_their_bounds_work() {
    let Some(device) = device() else { return };
    let job = Job::new(&device, 2);
    for variables in [
        [("SHMEM_ROCE_QUEUE_DEPTH", "32768"), ("SHMEM_ROCE_SIGNAL_EVERY", "16384")],
        [("SHMEM_ROCE_QUEUE_DEPTH", "16"), ("SHMEM_ROCE_SIGNAL_EVERY", "8")],
        [("SHMEM_ROCE_QPS", "16"), ("SHMEM_ROCE_QUEUE_DEPTH", "32768")],
        [("SHMEM_ROCE_QPS", "16"), ("SHMEM_ROCE_CONNECT", "first-use")],
        [("HCCL_RDMA_TC", "252"), ("HCCL_RDMA_SL", "7")],
        [("HCCL_RDMA_TC", "0"), ("HCCL_RDMA_SL", "0")],
        [("SHMEM_ROCE_TIMEOUT", "22"), ("SHMEM_ROCE_RNR_RETRY", "0")],
    ] {
        let job = variables.into_iter().fold(job.clone(), |job, (name, value)| job.set(name, value));
        whole(job.start(), ring);
    }
}

/// Puts to the right of more than a queue holds, with one signal for each; and checks what came from the left.
async fn ring(pe: &Roce) {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let (near, far) = (pe.calloc::<u64>(8192).await.unwrap(), pe.calloc::<u64>(8192).await.unwrap());
    let came = pe.calloc::<u64>(1).await.unwrap();
    pe.heap().fill(near, 1 + me as u64).unwrap();
    for piece in 0..64 {
        let (to, from) = (far.part(piece, 64).unwrap(), near.part(piece, 64).unwrap());
        pe.put_signal_nbi(to, from, came, SignalOp::Add(1), (me + 1) % n).unwrap();
    }
    pe.put_nbi(far, near, (me + 1) % n).unwrap();
    pe.barrier_all().await.unwrap();
    assert_eq!(pe.heap().load(came).unwrap(), 64);
    let expected = 1 + ((me + n - 1) % n) as u64;
    assert!(pe.heap().read_vec(far).unwrap().iter().all(|&value| value == expected));
}

/// Ports of 127.0.0.1 on which this process listens, as first-use connections do, but for `other`.
fn listening_ports(other: u16) -> Vec<u16> {
    let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let own: Vec<String> = links
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (address, port) = fields[1].split_once(':')?;
        // 0A: it listens.
        let found = fields[3] == "0A" && address == "0100007F" && own.iter().any(|inode| inode == fields[9]);
        found.then(|| u16::from_str_radix(port, 16).unwrap())
    };
    table.lines().skip(1).filter_map(port).filter(|&port| port != other).collect()
}

/// Nobody of the job has the right words for a stranger, and a stranger cannot keep others waiting.
#[test]
fn strangers_at_the_door_of_first_use_do_not_disturb() {
    let Some(device) = device() else { return };
    let job = Job::new(&device, 6).set("SHMEM_ROCE_CONNECT", "first-use");
    let rendezvous = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let served = rendezvous.local_addr().unwrap().port();
    let pes: Vec<_> = job.start_at(rendezvous, |_, job| job).into_iter().map(Result::unwrap).collect();
    let ports = listening_ports(served);
    assert_eq!(ports.len(), 6, "one for each PE: {ports:?}");
    let mut silent = Vec::new();
    for &port in &ports {
        let address: SocketAddr = ([127, 0, 0, 1], port).into();
        for rubbish in [&b""[..], b"G", b"GET / HTTP/1.1\r\nHost: example\r\n\r\n", &[0xFF; 4096]] {
            // One that goes at once, one that says no more, one that waits for an answer.
            let mut gone = TcpStream::connect(address).unwrap();
            let _ = gone.write_all(rubbish);
            drop(gone);
            let mut open = TcpStream::connect(address).unwrap();
            let _ = open.write_all(rubbish);
            if rubbish.len() > 17 {
                open.set_read_timeout(Some(PATIENCE)).unwrap();
                let mut answer = Vec::new();
                let _ = open.read_to_end(&mut answer);
                assert_eq!(answer, b"", "a stranger was answered");
            }
            silent.push(open);
        }
    }
    // The right first word, and nothing else that is right.
    for &port in &ports {
        let mut open = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut question = 0x5348_4d43_u32.to_le_bytes().to_vec();
        question.extend([0; 8]);
        question.extend(3_u32.to_le_bytes());
        question.push(1);
        question.extend([0; 8]);
        open.write_all(&question).unwrap();
        open.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut answer = Vec::new();
        let _ = open.read_to_end(&mut answer);
        assert_eq!(answer, b"", "a stranger was answered");
    }
    // Those that have not talked do it now, both ways at once, while the silent ones are still there.
    let start = Instant::now();
    each(&pes, async |pe| {
        let all = pe.calloc::<u64>(6).await.unwrap();
        let mine = all.part(pe.my_pe(), 6).unwrap();
        pe.heap().write(mine, &[1 + pe.my_pe() as u64]).unwrap();
        pe.barrier_all().await.unwrap();
        for distance in 1..6 {
            pe.put_nbi(mine, mine, (pe.my_pe() + distance) % 6).unwrap();
        }
        pe.barrier_all().await.unwrap();
        assert_eq!(pe.heap().read_vec(all).unwrap(), [1, 2, 3, 4, 5, 6]);
        pe.finalize().await.unwrap();
    });
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    drop(silent);
    drop(pes);
    // The doors close with the job: the threads behind them may need a moment.
    let limit = Instant::now() + PATIENCE;
    while !listening_ports(served).is_empty() {
        assert!(Instant::now() < limit, "still open: {:?}", listening_ports(served));
        std::thread::sleep(Duration::from_millis(5));
    }
}
