//! What is found for an NPU, and what is said if nothing is.

use super::*;

#[track_caller]
fn finds(info: &RootInfo, npu: u32, address: &str) {
    assert_eq!(info.nic_address(npu), Ok(address.parse().unwrap()));
}

#[track_caller]
fn fails(info: &RootInfo, text: &str, remedy: &str) {
    let error = info.nic_address(3).unwrap_err();
    assert_eq!(error.to_string(), text);
    assert_eq!(error.remedy(), remedy);
}

/// What shows the entry of NPU 3.
const SHOW_ENTRY: &str =
    r#"grep -nE -A 40 '"device_id"[[:space:]]*:[[:space:]]*"?3([^0-9]|$)' /etc/hccl_rootinfo.json"#;

#[test]
fn the_address_over_switches_belongs_to_the_nic() {
    let info = parsed(GOOD).unwrap();
    assert_eq!(info.npus(), [0, 31]);
    finds(&info, 0, "192.168.9.10");
    finds(&info, 31, "fd00::9:11");
}

#[test]
fn the_npus_come_in_ascending_order_and_once() {
    let info =
        parsed(r#"{"rank_list": [{"device_id": 7}, {"device_id": " 2 "}, {"device_id": 7}]}"#).unwrap();
    assert_eq!(info.npus(), [2, 7]);
    assert_eq!(parsed(r#"{"rank_list": []}"#).unwrap().npus(), [0_u32; 0]);
}

#[test]
fn other_ways_to_write_an_address() {
    finds(&npu_3(&clos(&[("IPV4", " 10.0.0.1/24 ")])), 3, "10.0.0.1");
    finds(&npu_3(&clos(&[("IPv6", "FD00:0::1/64")])), 3, "fd00::1");
    finds(&npu_3(&clos(&[(" ipv6 ", "::ffff:10.0.0.1")])), 3, "10.0.0.1");
}

#[test]
fn what_is_not_set_is_passed_over() {
    let addresses =
        [("IPV4", ""), ("IPV4", "0.0.0.0"), ("IPV6", "::"), ("IPV6", "/64"), ("IPV4", "10.0.0.1")];
    finds(&npu_3(&clos(&addresses)), 3, "10.0.0.1");
    let holes = r#"{"net_type": null}, {}, {"net_type": "CLOS", "rank_addr_list": null},
        {"net_type": "CLOS", "rank_addr_list": [{}, {"addr_type": 4, "addr": -1}]}"#;
    finds(&npu_3(&format!("{holes}, {}", clos(&[("IPV4", "10.0.0.1")]))), 3, "10.0.0.1");
}

#[test]
fn the_same_address_again_is_no_second_one() {
    let twice = clos(&[("IPV4", "10.0.0.1"), ("IPV4", "10.0.0.1/24"), ("IPV6", "::ffff:a00:1")]);
    finds(&npu_3(&format!("{twice}, {twice}")), 3, "10.0.0.1");
}

#[test]
fn several_addresses_are_listed_and_none_wins() {
    let text = "/etc/hccl_rootinfo.json gives NPU 3 3 NIC addresses (net_type CLOS) and nothing tells which: 10.0.0.1, \
                10.0.0.2, fd00::1. Leave only one of them in the file, or name the NIC with --device or SHMEM_NIC=name";
    let remedy = "ip -br addr | grep -wF -e 10.0.0.1 -e 10.0.0.2 -e fd00::1";
    let addresses = [("IPV6", "fd00::1"), ("IPV4", "10.0.0.2"), ("IPV4", "10.0.0.1"), ("IPV4", "10.0.0.2")];
    fails(&npu_3(&clos(&addresses)), text, remedy);
    // The same if they stand in several entries of the level_list.
    let [one, two, three, _] = addresses;
    let levels = [clos(&[one]), clos(&[two]), clos(&[three])];
    fails(&npu_3(&levels.join(", ")), text, remedy);
    // And if the NPU itself stands there several times.
    let ranks = levels.map(|level| format!(r#"{{"device_id": 3, "level_list": [{level}]}}"#));
    fails(&parsed(&format!(r#"{{"rank_list": [{}]}}"#, ranks.join(", "))).unwrap(), text, remedy);
}

#[test]
fn a_flood_of_addresses_is_cut_in_the_error() {
    let texts: Vec<String> = (0..200).map(|last| format!("10.0.0.{last}")).collect();
    let addresses: Vec<(&str, &str)> = texts.iter().map(|text| ("IPV4", text.as_str())).collect();
    let error = npu_3(&clos(&addresses)).nic_address(3).unwrap_err();
    assert!(
        error.to_string().contains("200 NIC addresses (net_type CLOS) and nothing tells which: 10.0.0.0, ")
    );
    assert!(error.to_string().contains(", 10.0.0.15 and 184 more. "));
    assert!(error.remedy().ends_with(" -e 10.0.0.15"));
}

#[test]
fn an_npu_that_is_not_there() {
    let info = parsed(GOOD).unwrap();
    fails(
        &info,
        "/etc/hccl_rootinfo.json has no entry for NPU 3 in its rank_list; the device_ids there are: 0, 31. They are \
         physical numbers, as npu-smi info -m maps them. Correct the file, or name the NIC with --device or \
         SHMEM_NIC=name",
        "npu-smi info -m",
    );
    fails(
        &parsed(r#"{"rank_list": []}"#).unwrap(),
        "/etc/hccl_rootinfo.json has no entry for NPU 3 in its rank_list; the device_ids there are: none. They are \
         physical numbers, as npu-smi info -m maps them. Correct the file, or name the NIC with --device or \
         SHMEM_NIC=name",
        "npu-smi info -m",
    );
}

#[test]
fn an_npu_without_address_shows_what_it_has_instead() {
    let fails_with = |levels: &str, found: &str| {
        let text = format!(
            "/etc/hccl_rootinfo.json gives NPU 3 no NIC address: its level_list has no entry of net_type CLOS with an \
             address of addr_type IPV4 or IPV6; it has: {found}. Correct the file, or name the NIC with --device or \
             SHMEM_NIC=name"
        );
        fails(&npu_3(levels), &text, SHOW_ENTRY);
    };
    fails_with("", "none");
    fails_with(r#"{"net_type": "CLOS"}"#, r#"net_type "CLOS" (none)"#);
    let mesh = r#"{"net_type": "1DMESH", "rank_addr_list": [{"addr_type": "IPV4", "addr": "10.0.0.1"}]}"#;
    fails_with(
        &format!("{mesh}, {}", clos(&[("EID", "00c0"), ("IPV4", "0.0.0.0")])),
        r#"net_type "1DMESH" ("IPV4" "10.0.0.1"), net_type "CLOS" ("EID" "00c0", "IPV4" "0.0.0.0")"#,
    );
    fails_with(
        &clos(&[("EID", "1"); 9]),
        &format!(r#"net_type "CLOS" ({}"EID" "1" and 5 more)"#, r#""EID" "1", "#.repeat(3)),
    );
    fails_with(
        &vec!["{}"; 20].join(","),
        &format!(r#"{}net_type "" (none) and 12 more"#, r#"net_type "" (none), "#.repeat(7)),
    );
}

#[test]
fn an_address_that_is_none() {
    let fails_with = |kind: &str, address: &str, shown: &str| {
        // A good one beside it does not hide it: it may be the other that was meant.
        let info = npu_3(&clos(&[("IPV4", "10.0.0.1"), (kind, address)]));
        let text = format!(
            "/etc/hccl_rootinfo.json gives NPU 3 the NIC address {shown}, which is no {} address. Correct the file, or \
             name the NIC with --device or SHMEM_NIC=name",
            kind.to_ascii_uppercase()
        );
        fails(&info, &text, SHOW_ENTRY);
    };
    fails_with("IPV4", "10.0.0.300", r#""10.0.0.300""#);
    fails_with("IPv4", "fd00::1", r#""fd00::1""#);
    fails_with("ipv6", "10.0.0.1", r#""10.0.0.1""#);
    fails_with("IPV6", "fe80::1%eth0", r#""fe80::1%eth0""#);
    fails_with("IPV4", r"10.0.0.1\n\u001b[2J", r#""10.0.0.1\n\u{1b}[2J""#);
    fails_with("IPV4", &"9".repeat(1000), &format!("\"{}...\"", "9".repeat(48)));
}

#[test]
fn the_fault_of_one_npu_does_not_spoil_the_others() {
    let good = clos(&[("IPV4", "10.0.0.4")]);
    let bad = clos(&[("IPV4", "?")]);
    let text = format!(
        r#"{{"rank_list": [{{"device_id": 3, "level_list": [{bad}]}}, {{"device_id": 4, "level_list": [{good}]}}]}}"#
    );
    let info = parsed(&text).unwrap();
    assert!(matches!(info.nic_address(3), Err(RootInfoError::BadAddress { .. })));
    finds(&info, 4, "10.0.0.4");
}
