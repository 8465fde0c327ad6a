//! Addresses of the rendezvous.

use proptest::prelude::*;
use transport_core::config::{AddressError, Host, RendezvousAddress};

use crate::assert_words;

fn parse(text: &str) -> Result<RendezvousAddress, AddressError> {
    text.parse()
}

#[test]
fn every_form_and_how_it_is_shown() {
    for (text, shown) in [
        ("tcp://127.0.0.1:8899", "tcp://127.0.0.1:8899"),
        ("TCP://127.0.0.1:8899", "tcp://127.0.0.1:8899"),
        ("10.0.0.1:0", "tcp://10.0.0.1:0"),
        ("tcp://[::1]:65535", "tcp://[::1]:65535"),
        ("tcp6://[2001:DB8::1]:80", "tcp://[2001:db8::1]:80"),
        ("[::]:1", "tcp://[::]:1"),
        ("[fe80::1%eth0]:8899", "tcp://[fe80::1%eth0]:8899"),
        ("[fe80::1%2]:8899", "tcp://[fe80::1%2]:8899"),
        ("localhost:1", "tcp://localhost:1"),
        ("tcp6://node-7.cluster_a.example.:1", "tcp6://node-7.cluster_a.example.:1"),
        ("7up.example:1", "tcp://7up.example:1"),
    ] {
        let address = parse(text).unwrap();
        assert_eq!(address.to_string(), shown);
        assert_eq!(parse(shown), Ok(address));
    }
    let scoped = parse("[fe80::1%eth0]:1").unwrap().host;
    assert_eq!(scoped, Host::V6 { address: "fe80::1".parse().unwrap(), scope: Some("eth0".into()) });
}

#[test]
fn errors_quote_the_text_and_show_the_right_form() {
    for (text, words) in [
        ("", &["empty", "tcp://IP:port"][..]),
        ("tcp://", &["empty", "tcp://IP:port"]),
        ("http://h:1", &["scheme \"http\"", "tcp://IP:port"]),
        ("127.0.0.1", &["no port", "tcp://IP:port"]),
        ("127.0.0.1:", &["no port"]),
        ("[::1]", &["no port"]),
        ("[::1]:", &["no port"]),
        ("h:65536", &["\"65536\"", "0 to 65535"]),
        ("h:-1", &["\"-1\"", "0 to 65535"]),
        ("h:+1", &["\"+1\""]),
        ("h:80/", &["\"80/\""]),
        ("::1:8899", &["without brackets", "tcp://[::1]:8899"]),
        ("tcp://fe80::1%eth0:8899", &["without brackets", "tcp://[fe80::1%eth0]:8899"]),
        ("2001:db8:0:0:0:0:0:1", &["without brackets", "tcp://[2001:db8:0:0:0:0:0:1]:port"]),
        ("a:b:c", &["\"a:b\"", "neither"]),
        ("[::1:8899", &["brackets", "[::1]:8899"]),
        ("::1]:8899", &["brackets"]),
        ("[::1]8899", &["brackets"]),
        ("[127.0.0.1]:1", &["\"127.0.0.1\" in brackets", "no IPv6"]),
        ("[]:1", &["no IPv6"]),
        ("[fe80::1%]:1", &["scope \"\"", "%eth0"]),
        ("[fe80::1%a b]:1", &["scope \"a b\""]),
        ("256.0.0.1:1", &["\"256.0.0.1\"", "no IPv4"]),
        ("1.2.3:1", &["no IPv4"]),
        ("tcp6://1.2.3.4:1", &["asks for IPv6", "1.2.3.4"]),
        ("ho st:1", &["\"ho st\"", "neither"]),
        (":1", &["neither"]),
        ("-h:1", &["neither"]),
        ("a..b:1", &["neither"]),
        ("user@h:1", &["neither"]),
    ] {
        let error = parse(text).expect_err(text);
        assert_words(&error, words);
        assert_words(&error, &[&format!("{text:?}"), "tcp://"]);
    }
}

proptest! {
    #[test]
    fn any_text_is_an_address_or_an_error(text in "\\PC{0,60}") {
        if let Ok(address) = parse(&text) {
            prop_assert_eq!(parse(&address.to_string()), Ok(address));
        }
    }

    #[test]
    fn texts_that_are_nearly_addresses(text in "(tcp|tcp6)?(://)?\\[?[0-9a-f:.%]{0,20}\\]?:?[0-9]{0,6}") {
        match parse(&text) {
            Ok(address) => prop_assert_eq!(parse(&address.to_string()), Ok(address)),
            Err(error) => prop_assert!(error.to_string().contains(&format!("{:?}", text)), "no quote: {}", error),
        }
    }

    #[test]
    fn socket_addresses_come_back(address in any::<std::net::SocketAddr>()) {
        // Flow labels have no form in text.
        let plain = match address {
            std::net::SocketAddr::V6(mut v6) => {
                v6.set_flowinfo(0);
                v6.into()
            }
            v4 => v4,
        };
        let rendezvous = RendezvousAddress::from(plain);
        prop_assert_eq!(parse(&rendezvous.to_string()), Ok(rendezvous));
    }
}
