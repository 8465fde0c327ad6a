//! Every value, every bound, every error.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use proptest::prelude::*;
use transport_core::config::{MapEnvironment, Source};

use super::*;

fn with<const N: usize>(variables: [(&str, &str); N]) -> Result<RoceSettings, SettingsError> {
    RoceSettings::builder().with_environment(MapEnvironment::from(variables)).build()
}

/// The error's text, which must name the variable, the value and every part.
#[track_caller]
fn refused(variable: &str, value: &str, parts: &[&str]) {
    let text = with([(variable, value)]).unwrap_err().to_string();
    for part in
        parts.iter().copied().chain([format!("environment {variable}").as_str(), &format!("{value:?}")])
    {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn defaults() {
    let expected = "\
NIC                auto (default)
NPU                none (default)
GID index          auto (default)
GID allow          none (default)
traffic class      132 (default)
service level      4 (default)
RoCE timeout       16 (268.435ms for each try) (default)
retry count        7 (default)
RNR retry          7 (default)
queue depth        1024 (default)
QPs per peer       1 (default)
signal every       16 (default)
connect            start (default)";
    assert_eq!(with([]).unwrap().to_string(), expected);
    assert_eq!(RoceSettings::default().to_string(), expected);
    assert_eq!((MIN_RNR_TIMER, MAX_RD_ATOMIC), (12, 16));
}

#[test]
fn every_variable() {
    let settings = with([
        ("SHMEM_NIC", "mlx5_0:1"),
        ("SHMEM_GID_INDEX", "3"),
        ("SHMEM_GID_ALLOW", "v1,link-local"),
        ("HCCL_RDMA_TC", "104"),
        ("HCCL_RDMA_SL", "3"),
        ("SHMEM_ROCE_TIMEOUT", "18"),
        ("SHMEM_ROCE_RETRY", "6"),
        ("SHMEM_ROCE_RNR_RETRY", "5"),
        ("SHMEM_ROCE_QUEUE_DEPTH", "2048"),
        ("SHMEM_ROCE_QPS", "2"),
        ("SHMEM_ROCE_SIGNAL_EVERY", "32"),
        ("SHMEM_ROCE_CONNECT", "first-use"),
    ])
    .unwrap();
    let expected = "\
NIC                mlx5_0:1 (environment SHMEM_NIC)
NPU                none (default)
GID index          3 (environment SHMEM_GID_INDEX)
GID allow          v1,link-local (environment SHMEM_GID_ALLOW)
traffic class      104 (environment HCCL_RDMA_TC)
service level      3 (environment HCCL_RDMA_SL)
RoCE timeout       18 (1.074s for each try) (environment SHMEM_ROCE_TIMEOUT)
retry count        6 (environment SHMEM_ROCE_RETRY)
RNR retry          5 (environment SHMEM_ROCE_RNR_RETRY)
queue depth        2048 (environment SHMEM_ROCE_QUEUE_DEPTH)
QPs per peer       2 (environment SHMEM_ROCE_QPS)
signal every       32 (environment SHMEM_ROCE_SIGNAL_EVERY)
connect            first-use (environment SHMEM_ROCE_CONNECT)";
    assert_eq!(settings.to_string(), expected);
    assert_eq!(settings.answer_time(), Duration::from_nanos(4096 << 18));
    // Every SHMEM_ name of it is told to those who look for slips.
    let names = expected.split("environment ").skip(1).filter_map(|rest| rest.split(')').next());
    let shmem: Vec<&str> = names.filter(|name| name.starts_with("SHMEM_")).collect();
    assert_eq!(RoceSettings::variables(), shmem);
}

#[test]
fn every_bound() {
    for (variable, min, max, default) in [
        ("SHMEM_GID_INDEX", 0, 255, "the best one is found"),
        ("HCCL_RDMA_TC", 0, 255, "132"),
        ("HCCL_RDMA_SL", 0, 7, "4"),
        ("SHMEM_ROCE_TIMEOUT", 1, 31, "16"),
        ("SHMEM_ROCE_RETRY", 0, 7, "7"),
        ("SHMEM_ROCE_RNR_RETRY", 0, 7, "7"),
        ("SHMEM_ROCE_QUEUE_DEPTH", 16, 32768, "1024"),
        ("SHMEM_ROCE_QPS", 1, 16, "1"),
    ] {
        let range = format!("from {min} to {max}");
        let unset = format!("unset it for the default ({default})");
        let most = if variable == "HCCL_RDMA_TC" { 252 } else { max };
        for good in [min, most] {
            with([(variable, good.to_string().as_str())]).unwrap();
        }
        let below = (min - 1).to_string();
        let above = (max + 1).to_string();
        for bad in [below.as_str(), &above, "x", "+1", "1 ", " 1", "0x10", "1.5", "99999999999999999999"] {
            refused(variable, bad, &[&range, &unset]);
        }
    }
    refused("HCCL_RDMA_TC", "133", &["multiple of 4", "from 0 to 255", "132"]);
    for odd in ["134", "255", "1"] {
        refused("HCCL_RDMA_TC", odd, &["multiple of 4"]);
    }
}

#[test]
fn nics() {
    let nic = |text| with([("SHMEM_NIC", text)]).map(|settings| settings.nic.value);
    let named = |device: &str, port| Ok(NicWish::Named { device: device.to_owned(), port });
    let longest = "a".repeat(64);
    assert_eq!(nic("npu"), Ok(NicWish::Npu));
    assert_eq!(nic("mlx5_0"), named("mlx5_0", None));
    assert_eq!(nic("hrn5-0.1:255"), named("hrn5-0.1", Some(255)));
    assert_eq!(nic("npu:1"), named("npu", Some(1)));
    assert_eq!(nic(&longest), named(&longest, None));
    for bad in [&"a".repeat(65), " ", "mlx 5", "m/x", "\u{e9}", "mlx5_0 ", ":1"] {
        refused("SHMEM_NIC", bad, &["mlx5_0:1", "npu"]);
    }
    for bad in ["mlx5_0:", "mlx5_0:0", "mlx5_0:256", "mlx5_0:+1", "mlx5_0:x", "mlx5_0:1:1"] {
        refused("SHMEM_NIC", bad, &["from 1 to 255", "mlx5_0:1"]);
    }
}

#[test]
fn an_argument_wins_over_the_environment() {
    let builder =
        || RoceSettings::builder().with_environment(MapEnvironment::from([("SHMEM_NIC", "mlx5_0")]));
    let settings = builder().device("--device", "rxe_0").npu("<f_npu>", 6).build().unwrap();
    assert_eq!(settings.nic.to_string(), "rxe_0 (argument --device)");
    assert_eq!((settings.npu.value, settings.npu.source), (Some(6), Source::Argument("<f_npu>".into())));
    // What somebody wrote on the command line counts even if it is empty.
    let text = builder().device("--device", "").build().unwrap_err().to_string();
    assert!(text.contains("\"\" (argument --device)"), "{text}");
}

#[test]
fn empty_counts_as_not_set() {
    let empty: MapEnvironment = RoceSettings::variables()
        .iter()
        .chain(&["HCCL_RDMA_TC", "HCCL_RDMA_SL"])
        .map(|name| (*name, ""))
        .collect();
    let settings = RoceSettings::builder().with_environment(empty).build().unwrap();
    assert_eq!(settings.to_string(), RoceSettings::default().to_string());
}

#[test]
fn what_is_allowed() {
    let allow = |text| with([("SHMEM_GID_ALLOW", text)]).unwrap().gid_allow.value.to_string();
    for (text, expected) in
        [("v1", "v1"), ("link-local", "link-local"), ("link-local, v1", "v1,link-local"), ("v1,v1", "v1")]
    {
        assert_eq!(allow(text), expected);
    }
    for (bad, item) in [("v2", "v2"), ("v1,", ""), ("V1", "V1"), ("v1 link-local", "v1 link-local")] {
        refused("SHMEM_GID_ALLOW", bad, &[&format!("{item:?} is not known"), "v1, link-local"]);
    }
}

#[test]
fn connect_modes() {
    let mode = |text| with([("SHMEM_ROCE_CONNECT", text)]).unwrap().connect.value;
    assert_eq!((mode("start"), mode("first-use")), (ConnectMode::AtStart, ConnectMode::OnFirstUse));
    for bad in ["Start", "lazy", "first use"] {
        refused("SHMEM_ROCE_CONNECT", bad, &["start or first-use"]);
    }
}

#[test]
fn signals_fit_in_the_queue() {
    let every = |depth, every| {
        with([("SHMEM_ROCE_QUEUE_DEPTH", depth), ("SHMEM_ROCE_SIGNAL_EVERY", every)])
            .map(|settings| settings.signal_every.value)
    };
    assert_eq!(every("64", "32"), Ok(32));
    assert_eq!(every("64", "1"), Ok(1));
    assert_eq!(every("", "512"), Ok(512));
    // The default gives way to a shallow queue.
    assert_eq!(every("16", ""), Ok(8));
    assert_eq!(every("32", ""), Ok(16));
    let text = every("64", "33").unwrap_err().to_string();
    for part in [
        "33",
        "64",
        "environment SHMEM_ROCE_SIGNAL_EVERY",
        "environment SHMEM_ROCE_QUEUE_DEPTH",
        "32 or less",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for bad in ["0", "x", "513", "4294967296"] {
        let text = every("", bad).unwrap_err().to_string();
        assert!(text.contains(bad) && text.contains("SHMEM_ROCE_SIGNAL_EVERY"), "{text}");
    }
}

#[test]
fn not_text() {
    let garbage = OsString::from_vec(vec![b'a', 0xff]);
    for name in RoceSettings::variables().iter().chain(&["HCCL_RDMA_TC", "HCCL_RDMA_SL"]) {
        let environment = MapEnvironment::from([(*name, garbage.clone())]);
        let text = RoceSettings::builder().with_environment(environment).build().unwrap_err().to_string();
        assert!(text.contains(name) && text.contains("UTF-8"), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(index in 0..12_usize, text in any::<String>()) {
        let names: Vec<&str> =
            RoceSettings::variables().iter().copied().chain(["HCCL_RDMA_TC", "HCCL_RDMA_SL"]).collect();
        if let Err(error) = with([(names[index], text.as_str())]) {
            prop_assert!(error.to_string().contains(names[index]));
        }
    }
}
