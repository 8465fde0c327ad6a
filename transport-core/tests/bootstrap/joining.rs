//! Jobs that come together.

use std::thread;
use std::time::Duration;

use bytes::Bytes;
use socket2::{Domain, Socket, Type};
use transport_core::bootstrap::JoinSpec;
use transport_core::config::RendezvousAddress;

use crate::support::*;

fn payload(pe: usize, round: usize) -> Bytes {
    Bytes::from(vec![(pe * 7 + round) as u8; (pe * 13 + round) % 50])
}

#[test]
fn any_number_of_pes_meets_gathers_and_leaves() {
    let _alone = many_sockets();
    for n_pes in [1, 2, 3, 5, 7, 8, 16, 33, 64] {
        let job = job(n_pes);
        everywhere(&job, |pe| {
            block_on(async {
                assert_eq!(pe.n_pes(), n_pes);
                assert_ne!(pe.address().port(), 0);
                for round in 0..3 {
                    let gathered = pe.allgather(payload(pe.my_pe(), round)).await.unwrap();
                    let expected: Vec<Bytes> = (0..n_pes).map(|other| payload(other, round)).collect();
                    assert_eq!(gathered, expected);
                    pe.barrier().await.unwrap();
                }
                pe.leave().await.unwrap();
            });
        });
    }
}

/// PE 0 binds port 0 of `host` and publishes; the others wait for the file.
fn meet_by_file(host: &str) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rendezvous");
    let rendezvous: RendezvousAddress = format!("{host}:0").parse().unwrap();
    let specs = (0..3).rev().map(|pe| JoinSpec {
        timeout: PATIENCE,
        rendezvous_file: Some(file.clone()),
        ..JoinSpec::new(pe, 3, rendezvous.clone())
    });
    let job = in_order(join_all(specs.collect()));
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.trim_end().parse::<RendezvousAddress>().unwrap(), job[0].address().into());
    assert_eq!(job[0].address(), job[2].address());
    leave_all(&job);
    drop(job);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "something was left behind");
}

#[test]
fn port_zero_is_published_in_a_file() {
    meet_by_file("tcp://127.0.0.1");
}

#[test]
fn host_names_work() {
    meet_by_file("tcp://localhost");
}

#[test]
fn ipv6_works() {
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        meet_by_file("tcp://[::1]");
    }
}

#[test]
fn a_named_interface_works() {
    let directory = tempfile::tempdir().unwrap();
    let specs = (0..2).map(|pe| JoinSpec {
        timeout: PATIENCE,
        ifname: Some("lo:inet4".parse().unwrap()),
        rendezvous_file: Some(directory.path().join("rendezvous")),
        // The wildcard stands for the interface's address.
        ..JoinSpec::new(pe, 2, "0.0.0.0:0".parse().unwrap())
    });
    let job = in_order(join_all(specs.collect()));
    assert!(job[0].address().ip().is_loopback());
    leave_all(&job);
}

#[test]
fn a_file_of_an_earlier_job_does_not_mislead() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rendezvous");
    // Held, so that nobody else listens there, but not listening.
    let stale = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    stale.bind(&own_address().into()).unwrap();
    let address = stale.local_addr().unwrap().as_socket().unwrap();
    std::fs::write(&file, format!("tcp://{address}\n")).unwrap();
    let spec = |pe| JoinSpec {
        timeout: PATIENCE,
        rendezvous_file: Some(file.clone()),
        ..JoinSpec::new(pe, 2, "127.0.0.1:0".parse().unwrap())
    };
    let one = start(spec(1));
    thread::sleep(Duration::from_millis(50));
    let zero = start(spec(0));
    leave_all(&in_order(vec![zero.join().unwrap(), one.join().unwrap()]));
}

#[test]
fn pes_that_come_before_pe_0_try_again() {
    // Bound but not listening: connections are refused, and no other test can take the port.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&own_address().into()).unwrap();
    let address: RendezvousAddress = socket.local_addr().unwrap().as_socket().unwrap().into();
    let spec = |pe| JoinSpec { timeout: PATIENCE, ..JoinSpec::new(pe, 3, address.clone()) };
    let early = [start(spec(1)), start(spec(2))];
    thread::sleep(Duration::from_millis(300));
    socket.listen(16).unwrap();
    let zero = start(JoinSpec { listener: Some(socket.into()), ..spec(0) });
    let job = [zero].into_iter().chain(early).map(|pe| pe.join().unwrap()).collect();
    leave_all(&in_order(job));
}
