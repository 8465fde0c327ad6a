//! Sizes and deadlines on any text.

use proptest::prelude::*;
use transport_core::config::{ByteSize, Interface, parse_seconds};

proptest! {
    #[test]
    fn sizes_come_back(bytes in any::<u64>(), shift in 0..64_u32) {
        // Round ones too: those are shown in units.
        let size = ByteSize::new(bytes.checked_shl(shift).unwrap_or(0));
        prop_assert_eq!(size.to_string().parse(), Ok(size));
        prop_assert_eq!(size.bytes().to_string().parse(), Ok(size));
    }

    #[test]
    fn any_text_is_a_size_or_an_error_that_quotes_it(text in "[-+0-9.,eKMGTiB ]{0,24}|\\PC{0,30}") {
        if let Err(error) = text.parse::<ByteSize>() {
            prop_assert!(error.to_string().contains(&format!("{:?}", text)), "{}", error);
        }
    }

    #[test]
    fn any_text_is_a_deadline_or_an_error_that_quotes_it(text in "[-+0-9.eEinfNa]{0,12}|\\PC{0,30}") {
        if let Err(error) = parse_seconds(&text) {
            prop_assert!(error.to_string().contains(&format!("{:?}", text)), "{}", error);
        }
    }

    #[test]
    fn any_text_is_an_interface_or_an_error(text in "\\PC{0,30}|[a-z0-9]{0,18}(:inet[46])?") {
        if let Ok(interface) = text.parse::<Interface>() {
            prop_assert_eq!(interface.to_string(), text);
        }
    }
}
