//! All other values.

use std::time::Duration;

use transport_core::collectives::AllGatherAlgorithm;
use transport_core::config::{ConfigError, Key, LogLevel, Source};

use crate::{assert_words, with};

const ONE_OF_TWO: [(&str, &str); 3] =
    [("SHMEM_PE", "1"), ("SHMEM_N_PES", "2"), ("SHMEM_UID_SESSION_ID", "tcp://h:1")];

fn and(more: &[(&str, &str)]) -> transport_core::config::JobConfigBuilder {
    with(&[&ONE_OF_TWO[..], more].concat())
}

#[test]
fn defaults() {
    let config = and(&[]).build().unwrap();
    assert_eq!(config.heap_size.to_string(), "1 GiB (default)");
    assert_eq!(
        (config.timeout.value, config.timeout.source.clone()),
        (Duration::from_secs(120), Source::Default)
    );
    assert_eq!(config.log_level.value, LogLevel::Warn);
    assert!(config.backend.value.is_none() && config.secret.value.is_none() && config.ifname.value.is_none());
    assert_eq!(config.all_gather.to_string(), "auto (default)");
    assert_eq!(config.job_id.value, "");
    assert!(config.unknown_names().is_empty());
}

#[test]
fn everything_from_the_environment() {
    let config = and(&[
        ("SHMEM_UID_SOCK_IFNAME", "eth0:inet6"),
        ("SHMEM_LOG_LEVEL", "DEBUG"),
        ("SHMEM_BACKEND", "loopback"),
        ("SHMEM_HEAP_SIZE", "2G"),
        ("SHMEM_ALLGATHER", "ring"),
        ("SHMEM_TIMEOUT", "0.25"),
        ("SHMEM_SECRET", "swordfish"),
        ("SHMEM_JOB_ID", "job 7"),
        ("SHMEM_RENDEZVOUS_FILE", "/tmp/meet"),
        ("SHMEM_HEAP_SIZ", "1"),
    ]);
    let config = config.build().unwrap();
    assert_eq!(config.heap_size.to_string(), "2 GiB (environment SHMEM_HEAP_SIZE)");
    assert_eq!(config.timeout.value, Duration::from_millis(250));
    let text = config.describe();
    for line in [
        "pe_id              1 (environment SHMEM_PE)",
        "local pe_id        none (default)",
        "rendezvous         tcp://h:1 (environment SHMEM_UID_SESSION_ID)",
        "interface          eth0:inet6 (environment SHMEM_UID_SOCK_IFNAME)",
        "log level          debug (environment SHMEM_LOG_LEVEL)",
        "backend            loopback (environment SHMEM_BACKEND)",
        "AllGather          ring (environment SHMEM_ALLGATHER)",
        "timeout            0.25 s (environment SHMEM_TIMEOUT)",
        "secret             set, not shown (environment SHMEM_SECRET)",
        "job id             \"job 7\" (environment SHMEM_JOB_ID)",
        "rendezvous file    /tmp/meet (environment SHMEM_RENDEZVOUS_FILE)",
    ] {
        assert!(text.lines().any(|found| found == line), "no line {line:?} in\n{text}");
    }
    assert_eq!(text.lines().count(), Key::ALL.len());
    assert!(!format!("{text}{config:?}").contains("swordfish"));
    assert_words(&config.unknown_names()[0], &["SHMEM_HEAP_SIZ ", "SHMEM_HEAP_SIZE"]);
}

#[test]
fn argument_environment_default() {
    let heap =
        |builder: transport_core::config::JobConfigBuilder| builder.build().unwrap().heap_size.to_string();
    let set = [("SHMEM_HEAP_SIZE", "2M")];
    assert_eq!(heap(and(&[]).with_default(Key::HeapSize, "1M")), "1 MiB (default)");
    assert_eq!(heap(and(&set).with_default(Key::HeapSize, "1M")), "2 MiB (environment SHMEM_HEAP_SIZE)");
    assert_eq!(heap(and(&set).with_argument(Key::HeapSize, "--heap", "3M")), "3 MiB (argument --heap)");
    let none: Option<&str> = None;
    assert_eq!(
        heap(and(&set).with_optional_argument(Key::HeapSize, "--heap", none)),
        "2 MiB (environment SHMEM_HEAP_SIZE)"
    );
    // A wrong value that is overridden does not matter.
    assert_eq!(
        heap(and(&[("SHMEM_HEAP_SIZE", "x")]).with_argument(Key::HeapSize, "--heap", "3M")),
        "3 MiB (argument --heap)"
    );
}

#[test]
fn every_all_gather_algorithm_can_be_set() {
    for (algorithm, name) in AllGatherAlgorithm::ALL {
        assert_eq!(and(&[("SHMEM_ALLGATHER", name)]).build().unwrap().all_gather.value, algorithm);
        let argued = and(&[("SHMEM_ALLGATHER", "x")]).with_argument(Key::AllGather, "--algorithm", name);
        assert_eq!(argued.build().unwrap().all_gather.to_string(), format!("{name} (argument --algorithm)"));
    }
    assert_eq!(and(&[("SHMEM_ALLGATHER", "")]).build().unwrap().all_gather.source, Source::Default);
}

#[test]
fn wrong_values_name_themselves_their_source_and_the_remedy() {
    for (name, value, words) in [
        ("SHMEM_HEAP_SIZE", "0", &["heap size is 0 B", "64 KiB to 40 GiB"][..]),
        ("SHMEM_HEAP_SIZE", "65535", &["65535 B", "64 KiB to 40 GiB"]),
        ("SHMEM_HEAP_SIZE", "41G", &["41 GiB", "64 KiB to 40 GiB"]),
        ("SHMEM_HEAP_SIZE", "1.5G", &["\"1.5G\"", "fraction"]),
        ("SHMEM_HEAP_SIZE", "-1", &["negative"]),
        ("SHMEM_ALLGATHER", "fast", &["AllGather (", "\"fast\"", "auto, textbook, eager"]),
        ("SHMEM_ALLGATHER", "Rings", &["\"Rings\"", ", ring, "]),
        ("SHMEM_TIMEOUT", "0", &["\"0\"", "for ever"]),
        ("SHMEM_TIMEOUT", "2m", &["\"2m\"", "without a unit"]),
        ("SHMEM_LOG_LEVEL", "loud", &["\"loud\"", "off, fatal, error"]),
        ("SHMEM_UID_SOCK_IFNAME", "eth0:ipv6", &["ipv6", "inet6"]),
        ("SHMEM_UID_SESSION_ID", "10.0.0.1", &["\"10.0.0.1\"", "no port", "tcp://IP:port"]),
    ] {
        let error = and(&[]).with_environment(
            [&ONE_OF_TWO[..2], &[("SHMEM_UID_SESSION_ID", "h:1")], &[(name, value)]]
                .concat()
                .into_iter()
                .collect::<transport_core::config::MapEnvironment>(),
        );
        assert_words(error.build().unwrap_err(), &[words, &[&format!("environment {name}")]].concat());
    }
    let long = "j".repeat(257);
    assert_words(
        and(&[("SHMEM_JOB_ID", &long)]).build().unwrap_err(),
        &["257", "at most 256", "SHMEM_JOB_ID"],
    );
    let error = and(&[]).with_argument(Key::HeapSize, "--heap", "1X").build().unwrap_err();
    assert_words(error, &["argument --heap", "\"X\""]);
}

#[test]
fn empty_means_unset_but_for_the_secret() {
    let config = and(&[("SHMEM_HEAP_SIZE", ""), ("SHMEM_BACKEND", "")]).build().unwrap();
    assert_eq!(config.heap_size.source, Source::Default);
    assert_eq!(config.backend.value, None);
    let error = and(&[("SHMEM_SECRET", "")]).build().unwrap_err();
    assert!(matches!(error, ConfigError::EmptySecret { .. }));
    assert_words(error, &["SHMEM_SECRET", "same text on every PE"]);
}

#[test]
fn the_inherited_listener_is_read_on_pe_0_only() {
    let zero = [
        ("SHMEM_PE", "0"),
        ("SHMEM_N_PES", "2"),
        ("SHMEM_UID_SESSION_ID", "h:1"),
        ("SHMEM_RENDEZVOUS_FD", "7"),
    ];
    assert_eq!(with(&zero).build().unwrap().listener_fd.value, Some(7));
    assert_eq!(and(&[("SHMEM_RENDEZVOUS_FD", "7")]).build().unwrap().listener_fd.value, None);
    let error = with(&[&zero[..3], &[("SHMEM_RENDEZVOUS_FD", "x")]].concat()).build().unwrap_err();
    assert_words(error, &["inherited listener", "\"x\"", "SHMEM_RENDEZVOUS_FD"]);
}

#[test]
fn where_to_meet_if_nobody_says() {
    let two = [("SHMEM_PE", "0"), ("SHMEM_N_PES", "2")];
    assert_words(with(&two).build().unwrap_err(), &["where do the PEs meet", "SHMEM_UID_SESSION_ID"]);
    let alone = with(&[("SHMEM_PE", "0"), ("SHMEM_N_PES", "1")]).build().unwrap();
    assert_eq!(alone.rendezvous.to_string(), "tcp://127.0.0.1:0 (default)");
    let by_file = with(&[&two[..], &[("SHMEM_RENDEZVOUS_FILE", "f")]].concat()).build().unwrap();
    assert_eq!(by_file.rendezvous.to_string(), "tcp://127.0.0.1:0 (default)");
}

#[test]
fn what_is_not_text() {
    use std::os::unix::ffi::OsStringExt;
    let odd = std::ffi::OsString::from_vec(vec![b'1', 0xff]);
    let error = and(&[]).with_argument(Key::HeapSize, "--heap", odd.clone()).build().unwrap_err();
    assert_words(error, &["heap size", "--heap", "not UTF-8"]);
    // A path may be anything.
    let config = and(&[]).with_argument(Key::RendezvousFile, "--file", odd.clone()).build().unwrap();
    assert_eq!(config.rendezvous_file.value.unwrap().into_os_string(), odd);
}

#[test]
fn names_that_a_backend_reads_are_known() {
    let set = [("SHMEM_SPIN", "1")];
    assert_eq!(and(&set).build().unwrap().unknown_names().len(), 1);
    assert_eq!(and(&set).with_known_names(&["SHMEM_SPIN"]).build().unwrap().unknown_names().len(), 0);
}
