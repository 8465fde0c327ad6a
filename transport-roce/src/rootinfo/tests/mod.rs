//! Whole files, good and bad.

mod looking_up;
mod properties;
mod reading;

use std::path::Path;

use super::RootInfo;
use super::error::RootInfoError;

/// A host with two NPUs, as a generator writes it, with what the look-up passes over.
const GOOD: &str = r#"{
  "version": "2.0",
  "topo_file_path": "/etc/hccl_topo.json",
  "rank_count": "2",
  "rank_list": [
    {
      "device_id": 0,
      "local_id": 0,
      "level_list": [
        {
          "net_layer": 0,
          "net_instance_id": "rack0",
          "net_type": "TOPO_FILE_DESC",
          "net_attr": "",
          "rank_addr_list": [
            { "addr_type": "EID", "addr": "000000000000002000100000df001000", "ports": ["0/1"], "plane_id": "plane0" },
            { "addr_type": "IPV4", "addr": "10.9.9.9", "ports": ["0/2"], "plane_id": "plane0" }
          ]
        },
        {
          "net_layer": 3,
          "net_instance_id": "az0",
          "net_type": "CLOS",
          "net_attr": "",
          "rank_addr_list": [
            { "addr_type": "IPV4", "addr": "192.168.9.10", "ports": ["1/0"], "plane_id": "plane0" }
          ]
        }
      ]
    },
    {
      "device_id": "31",
      "local_id": "1",
      "level_list": [
        {
          "net_layer": 3,
          "net_instance_id": "az0",
          "net_type": "clos",
          "rank_addr_list": [
            { "addr_type": "EID", "addr": 17 },
            { "addr_type": "ipv6", "addr": "fd00::9:11" }
          ]
        }
      ]
    }
  ]
}
"#;

fn parsed(text: &str) -> Result<RootInfo, RootInfoError> {
    RootInfo::from_bytes(Path::new(super::FILE), text.as_bytes())
}

/// A file in which NPU 3 has these entries in its level_list.
fn npu_3(levels: &str) -> RootInfo {
    parsed(&format!(r#"{{"rank_list": [{{"device_id": 3, "level_list": [{levels}]}}]}}"#)).unwrap()
}

/// One entry of a level_list over switches, with these (addr_type, addr).
fn clos(addresses: &[(&str, &str)]) -> String {
    let entry = |(kind, text): &(&str, &str)| format!(r#"{{"addr_type": "{kind}", "addr": "{text}"}}"#);
    let entries: Vec<String> = addresses.iter().map(entry).collect();
    format!(r#"{{"net_type": "CLOS", "rank_addr_list": [{}]}}"#, entries.join(", "))
}
