//! Which network interface to use: `name[:inet4|:inet6]`.

use std::fmt;
use std::str::FromStr;

/// IPv4 or IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressFamily {
    /// IPv4.
    Inet4,
    /// IPv6.
    Inet6,
}

impl fmt::Display for AddressFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inet4 => "inet4",
            Self::Inet6 => "inet6",
        })
    }
}

/// A network interface of this host and, if it matters, the address family; `eth0`, `eth0:inet6`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Interface {
    /// The interface's name, as `ip link` shows it.
    pub name: String,
    /// The family to use there; any if `None`.
    pub family: Option<AddressFamily>,
}

/// Why a text names no [`Interface`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InterfaceError {
    /// No name before the colon, or one that no interface can have.
    #[error("{0:?} names no interface; write its name with an optional family, e.g. eth0 or eth0:inet6")]
    BadName(String),
    /// Something else than a family after the colon.
    #[error("{text:?} asks for the unknown address family {family:?}; write name:inet4 or name:inet6")]
    UnknownFamily {
        /// The text.
        text: String,
        /// What stands after the colon.
        family: String,
    },
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.family.map_or(Ok(()), |family| write!(f, ":{family}"))
    }
}

impl FromStr for Interface {
    type Err = InterfaceError;

    fn from_str(text: &str) -> Result<Self, InterfaceError> {
        let (name, family) = match text.split_once(':') {
            None => (text, None),
            Some((name, "inet4")) => (name, Some(AddressFamily::Inet4)),
            Some((name, "inet6")) => (name, Some(AddressFamily::Inet6)),
            Some((_, family)) => {
                return Err(InterfaceError::UnknownFamily {
                    text: text.to_owned(),
                    family: family.to_owned(),
                });
            }
        };
        if !is_interface_name(name) {
            return Err(InterfaceError::BadName(text.to_owned()));
        }
        Ok(Self { name: name.to_owned(), family })
    }
}

/// Whether Linux could have an interface of this name (at most 15 bytes, no blank, no slash).
pub(super) fn is_interface_name(name: &str) -> bool {
    (1..=15).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'/' | b'%' | b']' | b'['))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for text in ["eth0", "eth0:inet4", "ens1f0np0:inet6"] {
            assert_eq!(text.parse::<Interface>().unwrap().to_string(), text);
        }
        for text in ["", ":inet4", "a b", "averyveryverylongname"] {
            assert_eq!(text.parse::<Interface>(), Err(InterfaceError::BadName(text.into())));
        }
        assert!(matches!("eth0:ipv6".parse::<Interface>(), Err(InterfaceError::UnknownFamily { .. })));
    }
}
