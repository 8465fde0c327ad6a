//! Who this PE is, by launcher.

use transport_core::config::{ConfigError, Key, Source};

use crate::{assert_words, with};

/// Variables, and the local numbers that they give.
type Case<'a> = (&'a [(&'a str, &'a str)], Option<usize>, Option<usize>);

const MEET: (&str, &str) = ("SHMEM_UID_SESSION_ID", "10.0.0.1:8899");

#[test]
fn every_launcher_is_understood() {
    let shmrun =
        [("SHMEM_PE", "3"), ("SHMEM_N_PES", "8"), ("SHMEM_LOCAL_PE", "1"), ("SHMEM_LOCAL_N_PES", "4")];
    let ompi = [
        ("OMPI_COMM_WORLD_RANK", "3"),
        ("OMPI_COMM_WORLD_SIZE", "8"),
        ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
        ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
    ];
    let slurm = [("SLURM_PROCID", "3"), ("SLURM_NTASKS", "8"), ("SLURM_LOCALID", "1")];
    let torchrun = [("RANK", "3"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1"), ("LOCAL_WORLD_SIZE", "4")];
    let cases: [Case<'_>; 6] = [
        (&shmrun, Some(1), Some(4)),
        (&ompi, Some(1), Some(4)),
        (&[("PMI_RANK", "3"), ("PMI_SIZE", "8")], None, None),
        (&[("PMIX_RANK", "3"), ("PMIX_SIZE", "8")], None, None),
        (&slurm, Some(1), None),
        (&torchrun, Some(1), Some(4)),
    ];
    for (variables, local_pe, local_n_pes) in cases {
        let config = with(&[variables, &[MEET]].concat()).build().unwrap();
        assert_eq!((config.my_pe.value, config.n_pes.value), (3, 8), "{variables:?}");
        assert_eq!(
            (config.local_pe.value, config.local_n_pes.value),
            (local_pe, local_n_pes),
            "{variables:?}"
        );
        assert_eq!(config.my_pe.source, Source::Environment(variables[0].0.into()));
    }
}

#[test]
fn the_first_in_the_order_counts() {
    let config = with(&[
        ("RANK", "9"),
        ("WORLD_SIZE", "10"),
        ("SLURM_PROCID", "5"),
        ("SLURM_NTASKS", "6"),
        ("OMPI_COMM_WORLD_RANK", "1"),
        ("OMPI_COMM_WORLD_SIZE", "2"),
        MEET,
    ]);
    let config = config.build().unwrap();
    assert_eq!((config.my_pe.value, config.n_pes.value), (1, 2));
}

#[test]
fn arguments_come_before_all() {
    let config = with(&[("SHMEM_PE", "1"), ("SHMEM_N_PES", "2"), ("SHMEM_LOCAL_PE", "1"), MEET])
        .with_argument(Key::Pe, "<pe_id>", "4")
        .with_argument(Key::NPes, "<n_pes>", "5")
        .build()
        .unwrap();
    assert_eq!(config.my_pe.to_string(), "4 (argument <pe_id>)");
    assert_eq!(config.n_pes.to_string(), "5 (argument <n_pes>)");
    // The launcher's local number belongs to another identity.
    assert_eq!(config.local_pe.value, None);
}

#[test]
fn nobody_says_who_this_is() {
    let error = with(&[MEET]).build().unwrap_err();
    assert!(matches!(error, ConfigError::NoIdentity { .. }));
    assert_words(
        error,
        &[
            "SHMEM_PE",
            "OMPI_COMM_WORLD_RANK",
            "PMI_RANK",
            "PMIX_RANK",
            "SLURM_PROCID",
            "WORLD_SIZE",
            "shmrun",
        ],
    );
    let error = with(&[MEET]).with_argument(Key::NPes, "<n_pes>", "5").build().unwrap_err();
    assert_words(error, &["no pe_id"]);
}

#[test]
fn half_an_identity() {
    for (present, missing) in [
        ("SHMEM_PE", "SHMEM_N_PES"),
        ("SHMEM_N_PES", "SHMEM_PE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("RANK", "WORLD_SIZE"),
    ] {
        let error = with(&[(present, "1"), MEET]).build().unwrap_err();
        assert_words(error, &[present, "\"1\"", &format!("{missing} is not set")]);
    }
    let error = with(&[("PMIX_RANK", "1"), MEET]).build().unwrap_err();
    assert_words(error, &["PMIX_RANK", "SHMEM_N_PES"]);
    // Under Slurm the size is told in Slurm's words.
    let slurm = [("PMIX_RANK", "1"), ("SLURM_PROCID", "1"), ("SLURM_NTASKS", "2"), MEET];
    assert_eq!(with(&slurm).build().unwrap().n_pes.value, 2);
}

#[test]
fn impossible_numbers() {
    let build = |pe: &str, n_pes: &str| {
        with(&[("SHMEM_N_PES", n_pes), ("SHMEM_PE", pe), MEET]).build().unwrap_err().to_string()
    };
    assert_words(build("0", "0"), &["n_pes is 0", "environment SHMEM_N_PES", "1 to 65536"]);
    assert_words(build("0", "65537"), &["n_pes is 65537", "1 to 65536"]);
    assert_words(
        build("2", "2"),
        &["pe_id is 2 (environment SHMEM_PE)", "n_pes is 2 (environment SHMEM_N_PES)", "below 2"],
    );
    for text in ["abc", "-1", "+1", "1.5", " 1", "99999999999999999999999"] {
        assert_words(
            build(text, "2"),
            &["pe_id", &format!("{text:?}"), "environment SHMEM_PE", "whole number"],
        );
    }
    let error = with(&[("SHMEM_N_PES", "2"), ("SHMEM_PE", "0"), MEET])
        .with_argument(Key::LocalPe, "--local", "2")
        .with_argument(Key::LocalNPes, "--locals", "2")
        .build()
        .unwrap_err();
    assert_words(error, &["local pe_id is 2 (argument --local)", "local n_pes is 2"]);
}

#[test]
fn torchrun_tells_where_to_meet() {
    let torchrun = [("RANK", "0"), ("WORLD_SIZE", "2")];
    let at = |address: &str, port: &str| {
        with(&[&torchrun[..], &[("MASTER_ADDR", address), ("MASTER_PORT", port)]].concat()).build()
    };
    assert_eq!(at("10.0.0.7", "29500").unwrap().rendezvous.value.to_string(), "tcp://10.0.0.7:29501");
    assert_eq!(at("fe80::7", "29500").unwrap().rendezvous.value.to_string(), "tcp://[fe80::7]:29501");
    assert_words(at("10.0.0.7", "65535").unwrap_err(), &["MASTER_PORT", "65535", "SHMEM_UID_SESSION_ID"]);
    assert_words(at("10.0.0.7", "x").unwrap_err(), &["MASTER_PORT", "\"x\""]);
    // Our own name comes first.
    let own = [&torchrun[..], &[("MASTER_ADDR", "10.0.0.7"), ("MASTER_PORT", "1"), MEET]].concat();
    assert_eq!(with(&own).build().unwrap().rendezvous.value.to_string(), "tcp://10.0.0.1:8899");
    // Another launcher's PEs do not meet at torch's store.
    let other = [("PMI_RANK", "0"), ("PMI_SIZE", "2"), ("MASTER_ADDR", "10.0.0.7"), ("MASTER_PORT", "1")];
    assert_eq!(with(&other).build().unwrap_err(), ConfigError::NoRendezvous);
}
