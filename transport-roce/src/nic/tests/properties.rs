//! What holds for any facts.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn addresses() -> impl Strategy<Value = Gid> {
    prop_oneof![
        any::<[u8; 16]>().prop_map(Gid),
        any::<std::net::Ipv4Addr>().prop_map(|ip| Gid::from(IpAddr::V4(ip))),
        any::<u8>().prop_map(|last| gid(&format!("10.0.0.{last}"))),
        any::<u8>().prop_map(|last| gid(&format!("fe80::{last:x}"))),
        Just(gid("::")),
        Just(gid("127.0.0.1")),
    ]
}

fn entries() -> impl Strategy<Value = GidFacts> {
    let kinds = prop_oneof![Just(GidKind::InfiniBand), Just(GidKind::RoceV1), Just(GidKind::RoceV2)];
    (0..400_u32, addresses(), kinds, proptest::option::of("[a-z]{1,4}"))
        .prop_map(|(index, gid, kind, netdev)| GidFacts { index, gid, kind, netdev })
}

fn ports() -> impl Strategy<Value = PortFacts> {
    (0..4_u8, proptest::bool::weighted(0.7), proptest::bool::weighted(0.8), vec(entries(), 0..6)).prop_map(
        |(number, active, ethernet, gids)| {
            let state = if active { "ACTIVE" } else { "DOWN" }.to_owned();
            PortFacts { number, state, active, ethernet, mtu_bytes: 1024, gids }
        },
    )
}

fn all_devices() -> impl Strategy<Value = Vec<DeviceFacts>> {
    vec(("[ab]", vec(ports(), 0..3)).prop_map(|(name, ports)| DeviceFacts { name, ports }), 0..3)
}

#[derive(Debug, Clone)]
struct AnyWish {
    device: Option<(String, Option<u8>)>,
    gid_index: Option<u32>,
    allow: (bool, bool),
    local: Option<Gid>,
}

fn wishes() -> impl Strategy<Value = AnyWish> {
    (
        proptest::option::of(("[abc]", proptest::option::of(0..4_u8))),
        proptest::option::weighted(0.3, 0..400_u32),
        proptest::bool::ANY,
        proptest::bool::ANY,
        proptest::option::of(addresses()),
    )
        .prop_map(|(device, gid_index, v1, link_local, local)| AnyWish {
            device,
            gid_index,
            allow: (v1, link_local),
            local,
        })
}

proptest! {
    #[test]
    fn the_choice_is_one_of_the_list_and_fit_to_be_used(devices in all_devices(), wanted in wishes()) {
        let mut wish = any_nic();
        if let Some((name, port)) = &wanted.device {
            wish.want = Want::Device { name, port: *port, origin: &ORIGIN };
        }
        wish.gid_index = wanted.gid_index;
        (wish.gid_allow.v1, wish.gid_allow.link_local) = wanted.allow;
        if let Some(local) = wanted.local {
            wish.local = Local::Address(local.ip());
            wish.family = Some(Family::of(local.ip()));
        }
        match choose(&devices, &wish) {
            Ok(choice) => {
                let mut holders = devices.iter().filter(|device| device.name == choice.device);
                let there = holders.any(|device| device.ports.iter().any(|port| {
                    port.number == choice.port && port.active && port.ethernet && port.gids.contains(&choice.gid)
                }));
                prop_assert!(there, "{choice}");
                let gid = &choice.gid;
                prop_assert!(gid.index <= 255 && gid.gid.is_usable());
                prop_assert!(gid.kind == GidKind::RoceV2 || (gid.kind == GidKind::RoceV1 && wanted.allow.0));
                prop_assert!(!gid.gid.is_link_local() || wanted.allow.1);
                prop_assert!(wanted.gid_index.is_none_or(|index| index == gid.index));
                prop_assert!(!choice.reason.contains('\n'));
            }
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }
}
