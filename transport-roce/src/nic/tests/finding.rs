//! The whole way from settings to a choice.

use std::net::SocketAddr;

use transport_core::config::MapEnvironment;

use super::*;
use crate::hccn::scripted::Script;
use crate::hccn::{HccnError, Tool};
use crate::kind::NicKind;
use crate::settings::RoceSettings;

fn settings<const N: usize>(variables: [(&str, &str); N], npu: Option<u32>) -> RoceSettings {
    let builder = RoceSettings::builder().with_environment(MapEnvironment::from(variables));
    match npu {
        Some(npu) => builder.npu("<f_npu>", npu),
        None => builder,
    }
    .build()
    .unwrap()
}

fn find_roce(
    devices: &[DeviceFacts],
    settings: &RoceSettings,
    rendezvous: Option<SocketAddr>,
    lookup: NpuLookup,
) -> Result<Choice, NicError> {
    find_nic(&NicKind::ROCE, devices, settings, rendezvous, &lookup)
}

fn no_tool() -> NpuLookup {
    NpuLookup::Scripted(Tool::at("/nonexistent/hccn_tool"))
}

fn loopback() -> Option<SocketAddr> {
    Some("127.0.0.1:8899".parse().unwrap())
}

#[test]
fn a_name_from_the_environment() {
    let settings = settings([("SHMEM_NIC", "mlx5_1:1")], None);
    let choice = find_roce(&two_nics(), &settings, loopback(), no_tool()).unwrap();
    assert!(choice.reason.ends_with("named by environment SHMEM_NIC"), "{choice}");
}

#[test]
fn automatic_without_an_npu_never_asks_the_tool() {
    let one = [two_nics().remove(0)];
    let choice = find_roce(&one, &settings([], None), loopback(), no_tool()).unwrap();
    assert!(choice.reason.contains("loopback"), "{choice}");
    let choice = find_roce(&one, &settings([], None), None, no_tool()).unwrap();
    assert!(choice.reason.contains("not known"), "{choice}");
}

#[test]
fn automatic_with_an_npu() {
    let script = Script::good("10.0.1.1");
    let found =
        find_roce(&two_nics(), &settings([], Some(3)), loopback(), NpuLookup::Scripted(script.tool()));
    let choice = found.unwrap();
    assert_eq!(choice.device, "mlx5_1");
    assert!(choice.reason.contains("NPU 3"), "{choice}");
}

#[test]
fn automatic_goes_on_when_the_npu_tells_nothing() {
    let one = [two_nics().remove(0)];
    let broken = Script::new("echo broken >&2; exit 3");
    for tool in
        [no_tool(), NpuLookup::Scripted(broken.tool()), NpuLookup::Scripted(Script::good("10.9.9.9").tool())]
    {
        let choice = find_roce(&one, &settings([], Some(3)), loopback(), tool).unwrap();
        assert_eq!(choice.device, "mlx5_0");
        assert!(!choice.reason.contains("NPU"), "{choice}");
    }
}

#[test]
fn asking_for_the_npus_nic_makes_every_failure_an_error() {
    let settings = |npu| settings([("SHMEM_NIC", "npu")], npu);
    let find = |npu, tool| find_roce(&two_nics(), &settings(npu), loopback(), tool);
    let script = Script::good("10.0.1.1");
    assert_eq!(find(Some(3), NpuLookup::Scripted(script.tool())).unwrap().device, "mlx5_1");

    let text = find(None, no_tool()).unwrap_err().to_string();
    assert!(text.contains("environment SHMEM_NIC") && text.contains("g_npus"), "{text}");

    let error = find(Some(3), no_tool()).unwrap_err();
    assert!(matches!(error, NicError::Hccn(HccnError::ToolMissing { .. })), "{error}");

    let script = Script::good("10.9.9.9");
    let error = find(Some(3), NpuLookup::Scripted(script.tool())).unwrap_err();
    assert!(matches!(error, NicError::Hccn(HccnError::NoVerbsDevice { npu: 3, .. })), "{error}");
    let text = error.to_string();
    for part in ["10.9.9.9", "HCCP", "mlx5_0:1", "GID 3 (10.0.1.1, RoCE v2, eth1)"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Without any verbs device that is the answer too, as on a host of on-die NICs only.
    let error = find_roce(&[], &settings(Some(3)), None, NpuLookup::Scripted(script.tool())).unwrap_err();
    assert!(error.to_string().contains("Looked at: no verbs device"), "{error}");
}
