//! What to type when no NIC, port or GID can be chosen.

use transport_core::config::Source;

use super::error::NicError;
use super::refusal::Refusal;

/// Shows the devices that there are, with their ports and GIDs.
const SHOW_ALL: &str = "ibv_devinfo -v";

impl NicError {
    /// A command that puts it right, or that shows more.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::NoDevices | Self::NoneOfKind { .. } => {
                "rdma link show; lspci -k | grep -A 3 -i -E 'ethernet|infiniband'".to_owned()
            }
            Self::OtherKind { device, .. } => format!("export SHMEM_BACKEND=roce  # it takes {device} too"),
            Self::Provider(error) => error.remedy(),
            Self::RootInfo(error) => error.remedy(),
            Self::UnknownDevice { origin, hint, .. } => match meant(hint) {
                Some(name) => set(origin, name),
                None => "ibv_devices".to_owned(),
            },
            Self::PortMissing { device, port, .. } if port.parse::<u32>().is_err() => show(device),
            Self::PortMissing { device, origin, .. } => set(origin, device),
            Self::PortNotActive { device, port, .. } => format!("rdma link show {device}/{port}"),
            Self::NotEthernet { device, port, .. } if device.starts_with("mlx") => {
                format!("mlxconfig -d {device} set LINK_TYPE_P{port}=2")
            }
            Self::NotEthernet { .. } | Self::NoneActive { .. } => "rdma link show".to_owned(),
            Self::Several { example, .. } => format!("export SHMEM_NIC={example}"),
            Self::GidIndexMissing { device, origin, .. } => unset(origin, device),
            Self::GidRefused { device, origin, refusal, .. } => match refusal {
                Refusal::V1 => "export SHMEM_GID_ALLOW=v1".to_owned(),
                Refusal::LinkLocal => "export SHMEM_GID_ALLOW=link-local".to_owned(),
                Refusal::NoAddress | Refusal::BeyondIndices | Refusal::InfiniBand => unset(origin, device),
            },
            Self::NoRoutableGid { device, port, .. } => format!(
                "ip addr add ADDRESS/BITS dev \
                 $(cat /sys/class/infiniband/{device}/ports/{port}/gid_attrs/ndevs/0)"
            ),
            Self::NpuUnknown { origin: Source::Environment(name) } => format!("unset {name}"),
            Self::NpuUnknown { .. } => "ibv_devices".to_owned(),
            Self::NpuNicUnknown { .. } => "ls -l /etc/hccl_rootinfo.json; ibv_devices".to_owned(),
            Self::AddressNowhere { .. } | Self::UsualMissing { .. } => {
                format!("{SHOW_ALL}; ip -brief address")
            }
            Self::Hccn(error) => error.remedy(),
            Self::MixedKinds { .. } => "unset SHMEM_GID_INDEX".to_owned(),
            Self::MixedFamilies { .. } => format!("{SHOW_ALL} | grep GID"),
            Self::BadMtu { .. } => format!("{SHOW_ALL} | grep active_mtu"),
            Self::OwnEntryMissing { .. } => "env | grep -E '^(SHMEM|OMPI|PMI|SLURM)'".to_owned(),
        }
    }
}

/// The name in a hint of the form `: is NAME meant?`.
fn meant(hint: &str) -> Option<&str> {
    hint.strip_prefix(": is ")?.strip_suffix(" meant?")
}

/// Names the NIC in the place in which it was named.
fn set(origin: &Source, nic: &str) -> String {
    match origin {
        Source::Argument(name) => format!("{name} {nic}"),
        Source::Environment(name) => format!("export {name}={nic}"),
        Source::Default => format!("export SHMEM_NIC={nic}"),
    }
}

/// Takes back what was set, if it was by a variable; else shows what `device` has.
fn unset(origin: &Source, device: &str) -> String {
    match origin {
        Source::Environment(name) => format!("unset {name}"),
        Source::Argument(_) | Source::Default => show(device),
    }
}

fn show(device: &str) -> String {
    format!("{SHOW_ALL} -d {device}")
}

#[cfg(test)]
mod tests {
    use super::super::choose;
    use super::super::wish::{Local, Want, Wish};
    use super::super::{DeviceFacts, GidFacts, GidKind, PortFacts};
    use super::*;
    use crate::hccn::HccnError;
    use crate::settings::GidAllow;

    fn environment(name: &str) -> Source {
        Source::Environment(name.to_owned())
    }

    fn host() -> Vec<DeviceFacts> {
        let gid = |index, kind| {
            let gid = "10.0.0.1".parse::<std::net::IpAddr>().unwrap().into();
            GidFacts { index, gid, kind, netdev: Some("eth1".into()) }
        };
        let port = PortFacts {
            number: 1,
            state: "ACTIVE".into(),
            active: true,
            ethernet: true,
            mtu_bytes: 4096,
            gids: vec![gid(0, GidKind::RoceV1), gid(1, GidKind::RoceV2)],
        };
        let down = PortFacts { state: "DOWN".into(), active: false, gids: vec![], ..port.clone() };
        let bare = PortFacts { gids: vec![], ..port.clone() };
        let infiniband = PortFacts { ethernet: false, ..bare.clone() };
        let device =
            |name: &str, port: &PortFacts| DeviceFacts { name: name.into(), ports: vec![port.clone()] };
        vec![
            device("rxe_0", &port),
            device("rxe_1", &port),
            device("rxe_down", &down),
            device("rxe_bare", &bare),
            device("mlx5_0", &infiniband),
            device("qib0", &infiniband),
            DeviceFacts { name: "empty".into(), ports: vec![] },
        ]
    }

    fn remedy(want: Want<'_>, gid: Option<u32>) -> String {
        let origin = environment("SHMEM_GID_INDEX");
        let wish = Wish {
            want,
            gid_index: gid,
            gid_index_origin: &origin,
            usual_gid_index: None,
            gid_allow: GidAllow::default(),
            local: Local::Unknown,
            family: None,
        };
        choose(&host(), &wish).unwrap_err().remedy()
    }

    #[test]
    fn what_the_choice_refuses_has_a_command_with_names() {
        let by = environment("SHMEM_NIC");
        let argument = Source::Argument("--device".into());
        let named = |name, port, gid, origin| remedy(Want::Device { name, port, origin }, gid);
        assert_eq!(remedy(Want::Any, None), "export SHMEM_NIC=rxe_0:1");
        assert_eq!(named("rxe0", None, None, &by), "export SHMEM_NIC=rxe_0");
        assert_eq!(named("rxe0", None, None, &argument), "--device rxe_0");
        assert_eq!(named("xscale_0", None, None, &by), "ibv_devices");
        assert_eq!(named("rxe_0", Some(2), None, &by), "export SHMEM_NIC=rxe_0");
        assert_eq!(named("empty", None, None, &by), "ibv_devinfo -v -d empty");
        assert_eq!(named("rxe_down", None, None, &by), "rdma link show rxe_down/1");
        assert_eq!(named("mlx5_0", None, None, &by), "mlxconfig -d mlx5_0 set LINK_TYPE_P1=2");
        assert_eq!(named("qib0", None, None, &by), "rdma link show");
        assert_eq!(named("rxe_0", None, Some(9), &by), "unset SHMEM_GID_INDEX");
        assert_eq!(named("rxe_0", None, Some(0), &by), "export SHMEM_GID_ALLOW=v1");
        let bare = named("rxe_bare", None, None, &by);
        assert!(bare.contains("/sys/class/infiniband/rxe_bare/ports/1/gid_attrs"), "{bare}");
        let address = "10.9.9.9".parse().unwrap();
        assert!(remedy(Want::NpuAddress { npu: 1, address }, None).starts_with("ibv_devinfo -v"));
    }

    #[test]
    fn the_others_too() {
        let default = Source::Default;
        assert_eq!(set(&default, "rxe_0"), "export SHMEM_NIC=rxe_0");
        assert_eq!(unset(&default, "rxe_0"), "ibv_devinfo -v -d rxe_0");
        let devices = String::new;
        for (error, part) in [
            (NicError::NoDevices, "rdma link show; lspci"),
            (NicError::NoneOfKind { name: "XSCALE NIC", prefix: "xscale_", devices: devices() }, "lspci"),
            (
                NicError::OtherKind {
                    device: "mlx5_0".into(),
                    origin: default.clone(),
                    name: "XSCALE NIC",
                    prefix: "xscale_",
                },
                "export SHMEM_BACKEND=roce",
            ),
            (NicError::UsualMissing { npu: 1, name: "hrn5_1".into(), devices: devices() }, "ibv_devinfo"),
            (NicError::NoneActive { ports: devices() }, "rdma link show"),
            (NicError::NpuUnknown { origin: environment("SHMEM_NIC") }, "unset SHMEM_NIC"),
            (NicError::NpuUnknown { origin: default }, "ibv_devices"),
            (HccnError::NoAddress { npu: 4 }.into(), "hccn_tool -i 4 -ip"),
            (NicError::MixedKinds { one: devices(), other: devices() }, "unset SHMEM_GID_INDEX"),
            (NicError::BadMtu { peer: devices(), mtu_bytes: 5 }, "active_mtu"),
            (NicError::OwnEntryMissing { my_pe: 1, count: 1 }, "SLURM"),
        ] {
            assert!(error.remedy().contains(part), "{}: {error}", error.remedy());
        }
    }
}
