//! The choice over made-up facts.

mod finding;
mod gids;
mod ports;
mod properties;

use std::net::IpAddr;

use transport_core::config::Source;

use super::wish::{Family, Local};
use super::*;
use crate::settings::GidAllow;

/// A GID entry: `entry(1, "10.0.0.1", GidKind::RoceV2)`.
fn entry(index: u32, address: &str, kind: GidKind) -> GidFacts {
    GidFacts { index, gid: gid(address), kind, netdev: Some("eth1".to_owned()) }
}

fn gid(address: &str) -> Gid {
    Gid::from(address.parse::<IpAddr>().unwrap())
}

/// What a NIC with one address shows: link-local and IPv4, each as v1 and v2.
fn usual_gids(address: &str) -> Vec<GidFacts> {
    vec![
        entry(0, "fe80::1", GidKind::RoceV1),
        entry(1, "fe80::1", GidKind::RoceV2),
        entry(2, address, GidKind::RoceV1),
        entry(3, address, GidKind::RoceV2),
    ]
}

fn port(number: u8, gids: Vec<GidFacts>) -> PortFacts {
    PortFacts { number, state: "ACTIVE".to_owned(), active: true, ethernet: true, mtu_bytes: 4096, gids }
}

fn down(number: u8) -> PortFacts {
    PortFacts { state: "DOWN".to_owned(), active: false, ..port(number, Vec::new()) }
}

fn infiniband(number: u8) -> PortFacts {
    PortFacts { ethernet: false, ..port(number, vec![entry(0, "fe80::9", GidKind::InfiniBand)]) }
}

fn device(name: &str, ports: Vec<PortFacts>) -> DeviceFacts {
    DeviceFacts { name: name.to_owned(), ports }
}

/// A host with two NICs that could both be used.
fn two_nics() -> Vec<DeviceFacts> {
    vec![
        device("mlx5_0", vec![port(1, usual_gids("10.0.0.1"))]),
        device("mlx5_1", vec![port(1, usual_gids("10.0.1.1"))]),
    ]
}

static ORIGIN: Source = Source::Default;

/// A wish for whatever there is.
fn any_nic() -> Wish<'static> {
    Wish {
        want: Want::Any,
        gid_index: None,
        usual_gid_index: None,
        gid_index_origin: &ORIGIN,
        gid_allow: GidAllow::default(),
        local: Local::Unknown,
        family: None,
    }
}

fn named(name: &str, port: Option<u8>) -> Wish<'_> {
    Wish { want: Want::Device { name, port, origin: &ORIGIN }, ..any_nic() }
}

fn towards_rendezvous(address: &str) -> Wish<'static> {
    let ip: IpAddr = address.parse().unwrap();
    Wish { local: Local::Address(ip), family: Some(Family::of(ip)), ..any_nic() }
}

/// The error's text, which must hold all `parts`.
#[track_caller]
fn refused(devices: &[DeviceFacts], wish: &Wish<'_>, parts: &[&str]) -> NicError {
    let error = choose(devices, wish).unwrap_err();
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
    error
}
