//! Addresses at which PE 0 cannot serve, and sockets that it is given.

use std::net::TcpListener;
use std::os::fd::IntoRawFd;

use transport_core::bootstrap::{Bootstrap, BootstrapError, JoinSpec};
use transport_core::config::{JobConfig, MapEnvironment};

use crate::support::*;

fn alone_at(address: &str) -> Result<Bootstrap, BootstrapError> {
    block_on(Bootstrap::join(JoinSpec::new(0, 1, address.parse().unwrap())))
}

#[test]
fn a_port_in_use_names_address_and_holder() {
    let (_listener, address) = listener();
    let error = alone_at(&address.to_string()).unwrap_err();
    assert!(matches!(error, BootstrapError::AddressInUse { .. }), "{error:?}");
    let at = address.to_string();
    assert_words(
        &error,
        &["PE 0", at.strip_prefix("tcp://").unwrap(), "in use", "ss -ltnp", "Is another job"],
    );
    if std::path::Path::new("/proc/net/tcp").exists() {
        assert_words(error, &[&format!("process {}", std::process::id())]);
    }
}

#[test]
fn an_address_of_another_host_shows_ours() {
    // Of a net that exists only in documents.
    let error = alone_at("192.0.2.1:0").unwrap_err();
    assert!(matches!(error, BootstrapError::AddressNotLocal { .. }), "{error:?}");
    assert_words(error, &["192.0.2.1", "not one of this host", "127.0.0.1 (lo)"]);
}

#[test]
fn an_interface_that_is_not_there() {
    let spec = |pe, rendezvous: &str| JoinSpec {
        ifname: Some("nosuch0".parse().unwrap()),
        timeout: PATIENCE,
        ..JoinSpec::new(pe, pe + 1, rendezvous.parse().unwrap())
    };
    for (pe, rendezvous) in [(0, "0.0.0.0:0"), (1, "192.0.2.1:8899"), (1, "[fe80::1]:8899")] {
        let error = block_on(Bootstrap::join(spec(pe, rendezvous))).unwrap_err();
        assert!(matches!(error, BootstrapError::Interface { .. }), "{error:?}");
        assert_words(error, &["nosuch0", "127.0.0.1 (lo)", "SHMEM_UID_SOCK_IFNAME"]);
    }
    let error = alone_at("[fe80::1]:8899").unwrap_err();
    assert_words(error, &["fe80::1", "%interface"]);
}

#[test]
fn an_address_can_be_used_again_at_once() {
    let first = alone_at("127.0.0.1:0").unwrap();
    let address = first.address().to_string();
    block_on(first.leave()).unwrap();
    drop(first);
    // Somebody else may have got the port in between, but that is not what this would fail with.
    match alone_at(&address) {
        Ok(again) => block_on(again.leave()).unwrap(),
        Err(error) => assert!(matches!(error, BootstrapError::AddressInUse { .. }), "{error}"),
    }
}

#[test]
fn an_inherited_listener_must_be_at_the_port_that_the_others_try() {
    let (listener, _) = listener();
    let spec = JoinSpec { listener: Some(listener), ..JoinSpec::new(0, 2, "127.0.0.1:1".parse().unwrap()) };
    let error = block_on(Bootstrap::join(spec)).unwrap_err();
    assert_words(error, &["inherited listener", "but the rendezvous' port is 1"]);
}

fn config_with_fd(fd: i32, address: &str) -> JobConfig {
    let environment = MapEnvironment::from([
        ("SHMEM_PE", "0"),
        ("SHMEM_N_PES", "1"),
        ("SHMEM_UID_SESSION_ID", address),
        ("SHMEM_RENDEZVOUS_FD", &fd.to_string()),
    ]);
    JobConfig::builder().with_environment(environment).build().unwrap()
}

#[test]
fn a_launchers_socket_is_taken_over_once() {
    let (listener, address) = listener();
    let at = listener.local_addr().unwrap();
    let config = config_with_fd(listener.into_raw_fd(), &address.to_string());
    let spec = JoinSpec::try_from(&config).unwrap();
    assert_words(JoinSpec::try_from(&config).unwrap_err(), &["SHMEM_RENDEZVOUS_FD", "was taken"]);
    let alone = block_on(Bootstrap::join(spec)).unwrap();
    assert_eq!(alone.address().port(), address.port);
    block_on(alone.leave()).unwrap();
    drop(alone);
    TcpListener::bind(at).expect("the inherited socket is closed with the job");
}

#[test]
fn what_is_no_listener_is_not_taken() {
    let file = tempfile::tempfile().unwrap().into_raw_fd();
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().into_raw_fd();
    for (fd, word) in
        [(1_000_000, "not open"), (file, "no socket"), (datagrams, "not of TCP"), (1, "standard")]
    {
        let error = JoinSpec::try_from(&config_with_fd(fd, "127.0.0.1:9")).unwrap_err();
        assert_words(error, &["SHMEM_RENDEZVOUS_FD", word]);
    }
}

#[test]
fn impossible_values_are_found_before_anything_is_opened() {
    let spec = |pe, n| JoinSpec::new(pe, n, "127.0.0.1:0".parse().unwrap());
    for (spec, words) in [
        (spec(0, 0), &["n_pes is 0"][..]),
        (spec(2, 2), &["PE 2", "pe_id must be below 2"]),
        (spec(0, 2), &["port 0", "SHMEM_RENDEZVOUS_FILE"]),
        (JoinSpec { job_id: "j".repeat(257), ..spec(0, 1) }, &["job id has 257 bytes"]),
        (JoinSpec { backend: "b".repeat(65), ..spec(0, 1) }, &["backend has 65 bytes"]),
        (JoinSpec { timeout: std::time::Duration::ZERO, ..spec(0, 1) }, &["timeout"]),
        (JoinSpec { timeout: std::time::Duration::MAX, ..spec(0, 1) }, &["timeout"]),
    ] {
        assert_words(block_on(Bootstrap::join(spec)).unwrap_err(), words);
    }
}

#[test]
fn a_file_that_cannot_be_written() {
    let spec = JoinSpec {
        rendezvous_file: Some("/nonexistent/rendezvous".into()),
        ..JoinSpec::new(0, 1, "127.0.0.1:0".parse().unwrap())
    };
    let error = block_on(Bootstrap::join(spec)).unwrap_err();
    assert_words(error, &["cannot publish", "/nonexistent/rendezvous", "SHMEM_RENDEZVOUS_FILE"]);
}

#[test]
fn a_name_that_nobody_knows() {
    // Never to be registered, by RFC 6761.
    let error = alone_at("no-such-host.invalid:8899").unwrap_err();
    assert!(matches!(error, BootstrapError::NameNotResolved { my_pe: 0, .. }), "{error:?}");
    assert_words(error, &["no-such-host.invalid", "cannot be resolved", "give its address"]);
}
