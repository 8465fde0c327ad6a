//! Connections that are not of the job, on either side.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use transport_core::bootstrap::BootstrapError;
use transport_core::bootstrap::frame::FrameDecoder;
use transport_core::bootstrap::message::{Details, ToClient, ToServer, VERSION};

use crate::support::*;

pub(crate) fn read_message(stream: &mut TcpStream) -> ToClient {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut decoder, mut chunk) = (FrameDecoder::new(1 << 16), [0; 512]);
    loop {
        if let Some(frame) = decoder.next_frame().unwrap() {
            return ToClient::decode(frame).unwrap();
        }
        let count = stream.read(&mut chunk).unwrap();
        assert_ne!(count, 0, "closed without a message");
        decoder.push(&chunk[..count]);
    }
}

fn silent(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).unwrap()
}

fn saying(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = silent(address);
    // PE 0 may have closed it before all is said.
    drop(stream.write_all(bytes));
    stream
}

#[test]
fn silent_rubbish_and_half_frames_do_not_matter() {
    let _alone = many_sockets();
    let mut meeting = Meeting::new();
    let (zero, one, address) = (meeting.spec(0, 2), meeting.spec(1, 2), meeting.socket_address());
    let zero = start(zero);
    let hello = ToServer::Hello { version: VERSION, nonce: [7; 32] }.encode().unwrap();
    let mut held = Vec::new();
    for index in 0..50_u8 {
        held.push(silent(address));
        held.push(saying(address, &[index.wrapping_mul(37); 300]));
        // Half a frame, then gone.
        drop(saying(address, &hello[..usize::from(index) % hello.len()]));
    }
    held.push(saying(address, b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"));
    held.push(saying(address, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"));
    held.push(saying(address, &hello));
    held.push(saying(address, &[hello.as_ref(), hello.as_ref()].concat()));
    held.push(saying(address, &ToServer::Abort { reason: "me".into() }.encode().unwrap()));
    let one = start(one);
    let job = in_order(vec![zero.join().unwrap(), one.join().unwrap()]);
    everywhere(&job, |pe| block_on(pe.barrier()).unwrap());
    leave_all(&job);
}

#[test]
fn a_flood_of_silent_connections_is_bounded() {
    let _alone = many_sockets();
    let mut meeting = Meeting::new();
    let (zero, one, address) = (meeting.spec(0, 2), meeting.spec(1, 2), meeting.socket_address());
    let zero = start(zero);
    let mut flood: Vec<TcpStream> = (0..200).map(|_| silent(address)).collect();
    // The limit is 128 and two for each PE: the oldest have to go, without waiting for their deadline.
    let oldest = &mut flood[0];
    oldest.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(matches!(oldest.read(&mut [0]), Ok(0) | Err(_)));
    let one = start(one);
    leave_all(&in_order(vec![zero.join().unwrap(), one.join().unwrap()]));
}

#[test]
fn a_pe_number_beyond_the_job_ends_it() {
    // No client of ours would say this: it speaks the protocol by hand.
    let mut meeting = Meeting::new();
    let (zero, address) = (meeting.spec(0, 2), meeting.socket_address());
    let zero = start(zero);
    let mut stream = saying(address, &ToServer::Hello { version: VERSION, nonce: [7; 32] }.encode().unwrap());
    assert!(matches!(read_message(&mut stream), ToClient::Challenge { secret_needed: false, .. }));
    let details = Details {
        pe: usize::MAX,
        n_pes: 2,
        heap_size: 1 << 30,
        timeout: Duration::MAX,
        job_id: meeting.job_id,
        backend: "test".into(),
        all_gather: "auto".into(),
    };
    let join = ToServer::Join { details, proof: None };
    stream.write_all(&join.encode().unwrap()).unwrap();
    let error = zero.join().unwrap().unwrap_err();
    assert_words(error, &["as PE 18446744073709551615", "has 2 PEs", "127.0.0.1:", "correct its pe_id"]);
}

#[test]
fn a_member_that_talks_nonsense_is_lost() {
    let mut meeting = Meeting::new();
    let (zero, address) = (meeting.spec(0, 2), meeting.socket_address());
    let zero = start(zero);
    let mut stream = saying(address, &ToServer::Hello { version: VERSION, nonce: [7; 32] }.encode().unwrap());
    read_message(&mut stream);
    let details = Details {
        pe: 1,
        n_pes: 2,
        heap_size: 1 << 30,
        timeout: PATIENCE,
        job_id: meeting.job_id,
        backend: "test".into(),
        all_gather: "auto".into(),
    };
    stream.write_all(&ToServer::Join { details, proof: None }.encode().unwrap()).unwrap();
    let zero = zero.join().unwrap().unwrap();
    stream.write_all(&u32::MAX.to_le_bytes()).unwrap();
    assert_words(block_on(zero.barrier()).unwrap_err(), &["PE 1 is gone", "4294967295 bytes"]);
}

#[test]
fn a_rendezvous_that_never_answers() {
    let (listener, address) = listener();
    let at = listener.local_addr().unwrap().to_string();
    let mut spec = Meeting::new().spec(1, 2);
    (spec.rendezvous, spec.timeout) = (address, Duration::from_millis(200));
    let error = start(spec).join().unwrap().unwrap_err();
    assert!(matches!(error, BootstrapError::NoAnswer { my_pe: 1, .. }), "{error:?}");
    assert_words(error, &["PE 1", &at, "does not answer", "is it stopped?"]);
}

#[test]
fn a_rendezvous_that_speaks_another_protocol() {
    let (listener, address) = listener();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        stream
    });
    let mut spec = Meeting::new().spec(1, 2);
    spec.rendezvous = address;
    let error = start(spec).join().unwrap().unwrap_err();
    assert!(matches!(error, BootstrapError::NotARendezvous { my_pe: 1, .. }), "{error:?}");
    drop(server.join());
}

#[test]
fn a_rendezvous_that_closes_every_connection() {
    let (listener, address) = listener();
    // It ends with the test's process.
    thread::spawn(move || listener.incoming().for_each(drop));
    let mut spec = Meeting::new().spec(1, 2);
    (spec.rendezvous, spec.timeout) = (address, Duration::from_millis(100));
    let error = start(spec).join().unwrap().unwrap_err();
    assert_words(error, &["PE 1: no connection", "Does PE 0 run"]);
}

#[test]
fn nobody_there() {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&own_address().into()).unwrap();
    let mut spec = Meeting::new().spec(3, 4);
    spec.rendezvous = socket.local_addr().unwrap().as_socket().unwrap().into();
    spec.timeout = Duration::from_millis(100);
    let error = start(spec).join().unwrap().unwrap_err();
    assert!(matches!(error, BootstrapError::Unreachable { my_pe: 3, .. }), "{error:?}");
    assert_words(error, &["PE 3", "connection refused", "Does PE 0 run", "firewall"]);
}

#[test]
fn an_address_without_a_route_is_told_long_before_the_deadline() {
    let mut spec = Meeting::new().spec(1, 2);
    // A group: nobody has a connection to one.
    spec.rendezvous = "224.0.0.1:8899".parse::<SocketAddr>().unwrap().into();
    spec.timeout = Duration::from_secs(60);
    let began = std::time::Instant::now();
    let error = start(spec).join().unwrap().unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_words(error, &["PE 1: no connection", "224.0.0.1:8899 within 5s", "unreachable"]);
}
