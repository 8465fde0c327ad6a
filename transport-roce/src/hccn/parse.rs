//! Reads what `hccn_tool` prints: lines `name: value` among others.

use std::net::IpAddr;

use super::health::Health;

/// What `-ip -g` told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// The NIC has this one.
    Set {
        address: IpAddr,
        /// As the tool writes it; a length for IPv6.
        netmask: Option<String>,
    },
    /// The tool says that there is none.
    Unset,
    /// The tool says something else.
    NotUnderstood,
}

/// Reads what `-ip -g` prints: `ipaddr:192.168.9.10` and `netmask:255.255.255.0`.
pub(super) fn address(text: &str) -> Address {
    let mut seen = false;
    let mut misread = false;
    for value in values(text, "ipaddr") {
        seen = true;
        // IPv6 may come with the length of its prefix.
        let (ip, length) = match value.split_once('/') {
            Some((ip, length)) => (ip.trim(), Some(length.trim())),
            None => (value, None),
        };
        match ip.parse::<IpAddr>() {
            Ok(address) if !address.is_unspecified() => {
                let netmask = values(text, "netmask").find(|mask| !mask.is_empty()).or(length);
                return Address::Set { address, netmask: netmask.map(str::to_owned) };
            }
            Ok(_) => {}
            Err(_) => misread |= !ip.is_empty(),
        }
    }
    match (seen, misread) {
        (_, true) => Address::NotUnderstood,
        (true, false) => Address::Unset,
        // A NIC that was never set up may print nothing at all.
        (false, false) if text.trim().is_empty() => Address::Unset,
        (false, false) => Address::NotUnderstood,
    }
}

/// Reads what `-net_health -g` prints: `net health status: Success`.
pub(super) fn health(text: &str) -> Option<Health> {
    values(text, "net health status").find_map(Health::parse)
}

/// Reads what `-link -g` prints, `link status: DOWN`: whether the link is up.
pub(super) fn link_is_up(text: &str) -> Option<bool> {
    values(text, "link status").find_map(|value| {
        if value.eq_ignore_ascii_case("up") {
            Some(true)
        } else if value.eq_ignore_ascii_case("down") {
            Some(false)
        } else {
            None
        }
    })
}

/// The values of all lines `name: value`, in whatever case and with whatever blanks.
fn values<'t>(text: &'t str, name: &'static str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| {
        let (key, value) = line.split_once(':')?;
        // Blanks within the name count as one.
        let same = key.split_whitespace().map(str::to_ascii_lowercase).eq(name.split(' '));
        same.then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(address: &str, netmask: Option<&str>) -> Address {
        Address::Set { address: address.parse().unwrap(), netmask: netmask.map(str::to_owned) }
    }

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("ipaddr:192.168.9.10\nnetmask:255.255.255.0\n", set("192.168.9.10", Some("255.255.255.0"))),
            ("\r\n ipaddr : 10.0.0.1 \r\nnetmask: 255.0.0.0\r\n", set("10.0.0.1", Some("255.0.0.0"))),
            ("warning: old driver\nIPADDR:10.0.0.1", set("10.0.0.1", None)),
            ("ipaddr:2001:db8::7/64", set("2001:db8::7", Some("64"))),
            ("ipaddr:2001:db8::7\nnetmask:64", set("2001:db8::7", Some("64"))),
            ("ipaddr:0.0.0.0\nipaddr:10.0.0.1", set("10.0.0.1", None)),
            ("", Address::Unset),
            (" \n", Address::Unset),
            ("ipaddr:\nnetmask:", Address::Unset),
            ("ipaddr:0.0.0.0\nnetmask:0.0.0.0", Address::Unset),
            ("ipaddr:none", Address::NotUnderstood),
            ("hello", Address::NotUnderstood),
            ("netmask:255.0.0.0", Address::NotUnderstood),
        ] {
            assert_eq!(address(text), expected, "{text:?}");
        }
    }

    #[test]
    fn health_and_link() {
        assert_eq!(health("net health status: Success\r\n"), Some(Health::Success));
        assert_eq!(health("Net  health status :Detect ip set"), Some(Health::DetectIpSet));
        assert_eq!(health("note\nnet health status: 3\n"), Some(Health::Unreachable));
        assert_eq!(health("net health status: splendid"), None);
        assert_eq!(health("Success"), None);
        assert_eq!(link_is_up("link status: UP\n"), Some(true));
        assert_eq!(link_is_up("x\nlink status:down"), Some(false));
        assert_eq!(link_is_up("unknown option -link"), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(text in any::<String>(), value in any::<String>()) {
            for text in [text.clone(), format!("ipaddr:{value}\nnet health status:{value}\nlink status:{value}"), value] {
                address(&text);
                health(&text);
                link_is_up(&text);
            }
        }

        #[test]
        fn any_address_is_read(ip in any::<IpAddr>()) {
            prop_assume!(!ip.is_unspecified());
            prop_assert_eq!(address(&format!("ipaddr:{ip}\n")), Address::Set { address: ip, netmask: None });
        }
    }
}
