//! Which port.

use super::*;

#[test]
fn no_devices() {
    let error = refused(&[], &any_nic(), &["kernel module", "rdma-core", "/dev/infiniband"]);
    assert_eq!(error, NicError::NoDevices);
    assert_eq!(choose(&[], &named("mlx5_0", None)), Err(NicError::NoDevices));
}

#[test]
fn a_named_device() {
    let choice = choose(&two_nics(), &named("mlx5_1", None)).unwrap();
    assert_eq!((choice.device.as_str(), choice.port, choice.gid.index), ("mlx5_1", 1, 3));
    assert_eq!(choice.to_string(), "mlx5_1 port 1, GID 3 (10.0.1.1, RoCE v2, eth1): named by default");
    assert_eq!(choose(&two_nics(), &named("mlx5_0", Some(1))).unwrap().device, "mlx5_0");
    // It wins over what the rendezvous points to.
    let wish = Wish { local: Local::Address("10.0.0.1".parse().unwrap()), ..named("mlx5_1", None) };
    assert_eq!(choose(&two_nics(), &wish).unwrap().device, "mlx5_1");
}

#[test]
fn an_unknown_name_gets_the_list_and_a_near_name() {
    refused(
        &two_nics(),
        &named("mlx51", None),
        &["\"mlx51\"", "is mlx5_1 meant?", "mlx5_0:1 (ACTIVE", "10.0.1.1"],
    );
    let text = choose(&two_nics(), &named("hns_0", None)).unwrap_err().to_string();
    assert!(!text.contains("meant"), "{text}");
}

#[test]
fn a_named_port() {
    let devices = [device("mlx5_0", vec![down(1), port(2, usual_gids("10.0.0.1"))]), device("empty", vec![])];
    assert_eq!(choose(&devices, &named("mlx5_0", Some(2))).unwrap().port, 2);
    refused(&devices, &named("mlx5_0", Some(1)), &["mlx5_0 port 1", "is DOWN, not ACTIVE", "ip link set"]);
    refused(&devices, &named("mlx5_0", Some(7)), &["mlx5_0 has no port 7", "mlx5_0:1 (DOWN", "mlx5_0:2"]);
    refused(&devices, &named("empty", None), &["empty has no port at all"]);
    // Without a number the only active one is meant.
    let choice = choose(&devices, &named("mlx5_0", None)).unwrap();
    assert_eq!(choice.port, 2);
    assert!(choice.reason.contains("named by default; the only active Ethernet port"), "{choice}");
}

#[test]
fn a_named_device_with_several_ports() {
    let devices = [device("mlx4_0", vec![port(1, usual_gids("10.0.0.1")), port(2, usual_gids("10.0.1.1"))])];
    refused(&devices, &named("mlx4_0", None), &["2 ports", "SHMEM_NIC=mlx4_0:1"]);
    let wish = Wish { local: Local::Address("10.0.1.1".parse().unwrap()), ..named("mlx4_0", None) };
    assert_eq!(choose(&devices, &wish).unwrap().port, 2);
    let devices = [device("mlx4_0", vec![down(1), down(2)])];
    refused(&devices, &named("mlx4_0", None), &["mlx4_0:1 (DOWN", "mlx4_0:2 (DOWN"]);
}

#[test]
fn infiniband_ports() {
    let devices = [device("ib0", vec![infiniband(1)])];
    refused(&devices, &named("ib0", None), &["ib0 port 1", "RoCE (Ethernet)"]);
    refused(&devices, &any_nic(), &["RoCE (Ethernet)", "ib0:1 (ACTIVE, InfiniBand"]);
}

#[test]
fn the_rendezvous_points_to_a_port() {
    let choice = choose(&two_nics(), &towards_rendezvous("10.0.1.1")).unwrap();
    assert_eq!(
        choice.reason,
        "mlx5_1 port 1, GID 3 (10.0.1.1, RoCE v2, eth1): holds this PE's address towards the rendezvous"
    );
    let choice = choose(&two_nics(), &towards_rendezvous("::ffff:10.0.0.1")).unwrap();
    assert_eq!(choice.device, "mlx5_0");
    // A link-local address points to the port, though its GID is not used.
    let mut devices = two_nics();
    devices[1].ports[0].gids[1].gid = gid("fe80::2");
    let choice = choose(&devices, &towards_rendezvous("fe80::2")).unwrap();
    assert_eq!((choice.device.as_str(), choice.gid.index), ("mlx5_1", 3));
}

#[test]
fn several_and_nothing_tells_which() {
    refused(
        &two_nics(),
        &any_nic(),
        &["2 ports", "mlx5_0:1 (ACTIVE", "mlx5_1:1 (ACTIVE", "10.0.1.1", "--device", "SHMEM_NIC=mlx5_0:1"],
    );
    refused(&two_nics(), &Wish { local: Local::Loopback, ..any_nic() }, &["loopback"]);
    refused(&two_nics(), &towards_rendezvous("192.168.0.1"), &["no active one holds 192.168.0.1"]);
    let twins = [two_nics().remove(0), device("rxe_0", vec![port(1, usual_gids("10.0.0.1"))])];
    refused(&twins, &towards_rendezvous("10.0.0.1"), &["all hold 10.0.0.1", "rxe_0:1"]);
}

#[test]
fn the_only_one_that_can_be_used() {
    let devices = [device("a", vec![down(1)]), device("b", vec![infiniband(1)]), two_nics().remove(0)];
    let choice = choose(&devices, &Wish { local: Local::Loopback, ..any_nic() }).unwrap();
    assert!(
        choice.reason.contains("the only active Ethernet port (the rendezvous is on loopback"),
        "{choice}"
    );
    // One that is up but has no address does not count.
    let bare = device("bare", vec![port(1, vec![entry(0, "fe80::7", GidKind::RoceV2)])]);
    let choice = choose(&[bare.clone(), two_nics().remove(0)], &any_nic()).unwrap();
    assert_eq!(choice.device, "mlx5_0");
    assert!(choice.reason.contains("with a GID that can be used"), "{choice}");
    refused(
        &[bare.clone(), device("bare2", bare.ports.clone())],
        &any_nic(),
        &["2 ports", "bare:1", "bare2:1"],
    );
    refused(&[bare], &any_nic(), &["bare port 1", "SHMEM_GID_ALLOW"]);
}

#[test]
fn none_active() {
    let devices = [device("a", vec![down(1)]), device("b", vec![down(1), down(2)])];
    refused(&devices, &any_nic(), &["a:1 (DOWN, Ethernet, no GID)", "b:2 (DOWN", "ip link set"]);
}

#[test]
fn the_port_of_an_npu() {
    let wish = |address: &str| Wish {
        want: Want::NpuAddress { npu: 3, address: address.parse().unwrap() },
        ..towards_rendezvous("10.0.0.1")
    };
    let choice = choose(&two_nics(), &wish("10.0.1.1")).unwrap();
    assert!(choice.reason.contains("holds 10.0.1.1, the address of NPU 3"), "{choice}");
    refused(&two_nics(), &wish("10.9.9.9"), &["10.9.9.9", "NPU 3", "mlx5_1:1"]);
    let mut devices = two_nics();
    devices[1].ports[0].active = false;
    devices[1].ports[0].state = "INIT".to_owned();
    refused(&devices, &wish("10.0.1.1"), &["mlx5_1 port 1", "NPU 3", "is INIT"]);
}

#[test]
fn the_npus_address_is_the_gid_even_if_another_is_towards_the_rendezvous() {
    let gids = vec![entry(0, "10.0.0.1", GidKind::RoceV2), entry(1, "2001:db8::1", GidKind::RoceV2)];
    let wish = Wish {
        want: Want::NpuAddress { npu: 0, address: "2001:db8::1".parse().unwrap() },
        ..towards_rendezvous("10.0.0.1")
    };
    assert_eq!(choose(&[device("a", vec![port(1, gids)])], &wish).unwrap().gid.index, 1);
}
