//! Which entry of the GID table.

use super::GidKind::{InfiniBand, RoceV1, RoceV2};
use super::*;

fn nic(gids: Vec<GidFacts>) -> Vec<DeviceFacts> {
    vec![device("rxe_0", vec![port(1, gids)])]
}

fn index(gids: Vec<GidFacts>, wish: &Wish<'_>) -> u32 {
    choose(&nic(gids), wish).unwrap().gid.index
}

fn allowing(v1: bool, link_local: bool) -> Wish<'static> {
    let mut gid_allow = GidAllow::default();
    (gid_allow.v1, gid_allow.link_local) = (v1, link_local);
    Wish { gid_allow, ..any_nic() }
}

fn at_index(index: u32, wish: Wish<'_>) -> Wish<'_> {
    Wish { gid_index: Some(index), ..wish }
}

#[test]
fn v2_and_routable_first() {
    assert_eq!(index(usual_gids("10.0.0.1"), &any_nic()), 3);
    // Allowing others does not prefer them.
    assert_eq!(index(usual_gids("10.0.0.1"), &allowing(true, true)), 3);
}

#[test]
fn indices_are_those_of_the_table_even_with_gaps() {
    let gids = vec![entry(17, "10.0.0.1", RoceV1), entry(42, "10.0.0.1", RoceV2)];
    assert_eq!(index(gids.clone(), &any_nic()), 42);
    assert_eq!(index(gids.clone(), &at_index(42, any_nic())), 42);
    refused(
        &nic(gids),
        &at_index(1, any_nic()),
        &["no GID at index 1", "GID 17 (10.0.0.1, RoCE v1, eth1)", "GID 42"],
    );
}

#[test]
fn the_order_among_good_ones() {
    let gids = vec![
        entry(1, "169.254.1.1", RoceV2),
        entry(2, "2001:db8::1", RoceV2),
        entry(3, "2001:db8::2", RoceV2),
        entry(4, "10.0.0.2", RoceV2),
        entry(5, "10.0.0.1", RoceV2),
    ];
    assert_eq!(index(gids.clone(), &any_nic()), 4, "IPv4 before IPv6, then the lowest");
    assert_eq!(index(gids.clone(), &towards_rendezvous("10.0.0.1")), 5, "the address itself");
    assert_eq!(index(gids.clone(), &towards_rendezvous("2001:db8::2")), 3, "the address itself");
    assert_eq!(index(gids.clone(), &towards_rendezvous("2001:db8:1::1")), 2, "the family");
    assert_eq!(index(gids, &towards_rendezvous("192.168.0.1")), 4, "the family");
    let only = vec![entry(0, "fe80::1", RoceV2), entry(9, "2001:db8::1", RoceV2)];
    assert_eq!(index(only, &towards_rendezvous("10.0.0.1")), 9, "another family rather than none");
}

#[test]
fn unusable_entries_are_never_taken() {
    let bad = vec![
        entry(0, "::", RoceV2),
        entry(1, "::1", RoceV2),
        entry(2, "127.0.0.1", RoceV2),
        entry(3, "10.0.0.1", InfiniBand),
        entry(300, "10.0.0.1", RoceV2),
    ];
    let wish = allowing(true, true);
    refused(&nic(bad.clone()), &wish, &["rxe_0 port 1", "GID 1 (::1", "ip addr add"]);
    for (index, part) in [(1, "no address"), (2, "no address"), (3, "InfiniBand's"), (300, "255")] {
        refused(&nic(bad.clone()), &at_index(index, wish.clone()), &[part, "unset the index"]);
    }
    // An entry that is not in use is not there.
    refused(&nic(bad), &at_index(0, wish), &["no GID at index 0"]);
    refused(&nic(vec![]), &any_nic(), &["it has: no GID", "--net=host"]);
}

#[test]
fn v1_and_link_local_must_be_allowed() {
    let gids = usual_gids("10.0.0.1");
    refused(
        &nic(gids[..2].to_vec()),
        &any_nic(),
        &["GID 0 (fe80::1, RoCE v1, eth1)", "SHMEM_GID_ALLOW=v1,link-local"],
    );
    assert_eq!(index(gids[..2].to_vec(), &allowing(false, true)), 1);
    assert_eq!(index(gids[..3].to_vec(), &allowing(true, false)), 2);
    assert_eq!(index(gids[..2].to_vec(), &allowing(true, true)), 1);
    assert_eq!(index(gids[..1].to_vec(), &allowing(true, true)), 0);
    // Still the last to be taken, even if the rendezvous itself is link-local.
    let v6 = vec![entry(0, "fe80::1", RoceV2), entry(1, "2001:db8::1", RoceV2)];
    let wish = Wish { local: Local::Address("fe80::1".parse().unwrap()), ..allowing(false, true) };
    assert_eq!(index(v6, &wish), 1);
    assert!(choose(&nic(gids[..1].to_vec()), &allowing(false, true)).is_err());
    assert!(choose(&nic(gids[..1].to_vec()), &allowing(true, false)).is_err());
    let choice = choose(&nic(gids[..2].to_vec()), &allowing(false, true)).unwrap();
    assert!(choice.reason.contains("SHMEM_GID_ALLOW allows it"), "{choice}");
}

#[test]
fn an_index_does_not_allow_what_is_refused() {
    let gids = usual_gids("10.0.0.1");
    refused(
        &nic(gids.clone()),
        &at_index(2, any_nic()),
        &["GID 2 (10.0.0.1", "RoCE v1", "add v1 to SHMEM_GID_ALLOW"],
    );
    refused(
        &nic(gids.clone()),
        &at_index(1, any_nic()),
        &["link-local", "add link-local to SHMEM_GID_ALLOW", "GID 3"],
    );
    assert_eq!(index(gids.clone(), &at_index(2, allowing(true, false))), 2);
    assert_eq!(index(gids.clone(), &at_index(1, allowing(false, true))), 1);
    let choice = choose(&nic(gids), &at_index(3, any_nic())).unwrap();
    assert!(choice.reason.contains("its GID index is set (default)"), "{choice}");
}

#[test]
fn long_tables_are_cut_in_errors() {
    let gids: Vec<GidFacts> = (0..200).map(|index| entry(index, "fe80::1", RoceV2)).collect();
    let text = choose(&nic(gids), &any_nic()).unwrap_err().to_string();
    assert!(text.contains("and 184 more") && text.len() < 2000, "{text}");
}
