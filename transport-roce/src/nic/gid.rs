//! A GID: the 128 bits by which a RoCE port is addressed.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// A GID. Displays as the IP address that it stands for: `10.0.0.1` for `::ffff:10.0.0.1`, else as IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// The address that it stands for.
    pub(crate) fn ip(self) -> IpAddr {
        IpAddr::V6(Ipv6Addr::from(self.0)).to_canonical()
    }

    /// Whether it is an entry that nothing was written to.
    pub(crate) fn is_zero(self) -> bool {
        self.0 == [0; 16]
    }

    /// Whether it is of fe80::/10: known to this link only.
    pub(crate) fn is_link_local(self) -> bool {
        self.0[0] == 0xfe && self.0[1] & 0xc0 == 0x80
    }

    /// Whether it is an IPv4 address that the host gave itself for want of a better one (169.254.0.0/16).
    pub(crate) fn is_self_assigned(self) -> bool {
        matches!(self.ip(), IpAddr::V4(ip) if ip.is_link_local())
    }

    /// Whether any peer could ever answer to it: not unset, not loopback, not multicast.
    pub(crate) fn is_usable(self) -> bool {
        let ip = self.ip();
        !(ip.is_unspecified() || ip.is_loopback() || ip.is_multicast())
    }
}

impl From<IpAddr> for Gid {
    fn from(ip: IpAddr) -> Self {
        Self(match ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        })
    }
}

impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ip().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gid(text: &str) -> Gid {
        Gid::from(text.parse::<IpAddr>().unwrap())
    }

    #[test]
    fn displays_as_the_address_it_stands_for() {
        for text in ["10.0.0.1", "fe80::1", "2001:db8::2", "::"] {
            assert_eq!(gid(text).to_string(), text);
        }
        assert_eq!(gid("::ffff:10.0.0.1"), gid("10.0.0.1"));
    }

    #[test]
    fn kinds_of_address() {
        assert!(gid("fe80::1").is_link_local() && gid("febf::1").is_link_local());
        assert!(!gid("fec0::1").is_link_local() && !gid("169.254.1.1").is_link_local());
        assert!(gid("169.254.1.1").is_self_assigned() && !gid("10.0.0.1").is_self_assigned());
        for unusable in ["::", "0.0.0.0", "::1", "127.0.0.1", "ff02::1", "224.0.0.1"] {
            assert!(!gid(unusable).is_usable(), "{unusable}");
        }
        assert!(gid("10.0.0.1").is_usable() && gid("fe80::1").is_usable());
        assert!(gid("::").is_zero() && !gid("::1").is_zero());
    }
}
