//! What holds for any file.

use std::net::IpAddr;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Reads `bytes` and asks everything; all errors are one line.
fn ask(bytes: &[u8]) {
    let one_line = |error: &RootInfoError| {
        for text in [error.to_string(), error.remedy()] {
            assert!(!text.is_empty() && !text.chars().any(char::is_control), "{text:?}");
        }
    };
    match RootInfo::from_bytes(Path::new(crate::rootinfo::FILE), bytes) {
        Ok(info) => {
            for npu in info.npus().into_iter().chain([0, 1, u32::MAX]) {
                match info.nic_address(npu) {
                    Ok(address) => assert!(info.npus().contains(&npu) && !address.is_unspecified()),
                    Err(error) => one_line(&error),
                }
            }
        }
        Err(error) => one_line(&error),
    }
}

/// JSON that is made of the words of a real file, nested in any way.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let key = prop_oneof![
        Just("rank_list"),
        Just("device_id"),
        Just("level_list"),
        Just("net_type"),
        Just("rank_addr_list"),
        Just("addr_type"),
        Just("addr"),
    ];
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
        prop_oneof![Just("CLOS"), Just("IPV4"), Just("IPV6"), Just("10.0.0.1"), Just("3")]
            .prop_map(Into::into),
    ];
    leaf.prop_recursive(8, 64, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Into::into),
            vec((key.clone().prop_map(str::to_owned), inner), 0..6)
                .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_panics_on_bytes(bytes in vec(any::<u8>(), 0..300)) {
        ask(&bytes);
    }

    #[test]
    fn nothing_panics_on_json(value in json()) {
        ask(value.to_string().as_bytes());
        ask(format!(r#"{{"rank_list": [{{"device_id": 0, "level_list": [{value}]}}]}}"#).as_bytes());
        ask(format!(r#"{{"rank_list": [{{"device_id": {value}}}]}}"#).as_bytes());
    }

    #[test]
    fn nothing_panics_on_a_good_file_gone_bad(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in proptest::option::of(any::<prop::sample::Index>()),
        printable in any::<bool>(),
    ) {
        let mut bytes = GOOD.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = if printable { b' ' + byte % 95 } else { byte };
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        ask(&bytes);
    }

    #[test]
    fn any_address_of_any_npu_is_found(
        npu in any::<u32>(),
        ip in any::<IpAddr>(),
        as_text in any::<bool>(),
        upper in any::<bool>(),
    ) {
        let number = if as_text { format!("\"{npu}\"") } else { npu.to_string() };
        let kind = if ip.is_ipv4() { "IPV4" } else { "IPV6" };
        let level = clos(&[("EID", "1"), (kind, &ip.to_string())]);
        let level = if upper { level } else { level.replace("IPV", "ipv").replace("CLOS", "Clos") };
        let info = parsed(&format!(r#"{{"rank_list": [{{"level_list": [{level}], "device_id": {number}}}]}}"#)).unwrap();
        prop_assert_eq!(info.npus(), [npu]);
        match info.nic_address(npu) {
            Ok(address) => prop_assert_eq!(address, ip.to_canonical()),
            Err(RootInfoError::NoAddress { .. }) => prop_assert!(ip.to_canonical().is_unspecified()),
            Err(error) => prop_assert!(false, "{}", error),
        }
        let other = npu.wrapping_add(1);
        let missing = RootInfoError::NpuMissing { path: crate::rootinfo::FILE.into(), npu: other, known: vec![npu] };
        prop_assert_eq!(info.nic_address(other), Err(missing));
    }
}
