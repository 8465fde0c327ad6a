//! Nothing that is in a file or in the variable upsets the reader. What is damaged here is never given to the loader.

use std::ffi::OsStr;
use std::io::Cursor;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use proptest::prelude::*;

use super::super::contents::Contents;
use super::super::inspect::inspect;
use super::objects::{EXTEND, Objects, PROVIDER, numbered};
use super::{PlugInError, look};

/// A provider and extend plug-in with all that is looked at.
fn provider() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let objects = Objects::new();
        objects.libibverbs("libverbs-of-properties.so.1", 34);
        objects.libibv_extend("libextend-of-properties.so.4");
        let source = numbered(&[PROVIDER, EXTEND].concat(), 34);
        let linked = ["libverbs-of-properties.so.1", "libibv_extend.so"];
        std::fs::read(objects.build("libp-rdmav34.so", &source, &linked)).unwrap()
    })
}

fn read(bytes: &[u8]) -> Result<Contents, PlugInError> {
    inspect("libp.so", Cursor::new(bytes))
}

#[test]
fn the_whole_is_read_well() {
    let expected = Contents { registers: Some(34), extends: true, needs: Some(34), defines: None };
    assert_eq!(read(provider()), Ok(expected));
}

#[test]
fn cut_off_anywhere_it_is_cut_off() {
    let whole = provider();
    assert!(matches!(read(&[]), Err(PlugInError::NotElf { .. })));
    for length in 1..whole.len() {
        let error = read(&whole[..length]).unwrap_err();
        let PlugInError::Truncated { has, needs, .. } = error else { panic!("{length}: {error}") };
        assert_eq!(has, length as u64);
        // As soon as the header is there, the tables' ends are known.
        assert_eq!(needs, if length < 64 { 64 } else { whole.len() as u64 }, "at {length}");
    }
}

#[test]
fn any_byte_of_the_header_may_be_anything() {
    for at in 0..64 {
        for value in 0..=u8::MAX {
            let mut bytes = provider().to_vec();
            bytes[at] = value;
            if bytes[..4] != *b"\x7fELF" {
                assert!(matches!(read(&bytes), Err(PlugInError::NotElf { .. })), "{at}: {value}");
            } else if bytes[at] == provider()[at] {
                assert!(read(&bytes).is_ok());
            } else if let Err(error) = read(&bytes) {
                assert!(error.to_string().starts_with("libp.so "), "{error}");
            }
        }
    }
}

proptest! {
    #[test]
    fn flipped_bytes_give_an_answer(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let mut bytes = provider().to_vec();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Err(error) = read(&bytes) {
            prop_assert!(error.to_string().starts_with("libp.so "), "{error}");
            prop_assert!(!error.remedy().is_empty());
        }
    }

    #[test]
    fn flips_in_tables_and_a_cut_give_an_answer(
        flips in prop::collection::vec((0..1536_usize, any::<bool>(), any::<u8>()), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = provider().to_vec();
        let last = bytes.len() - 1;
        for (at, from_end, value) in flips {
            bytes[if from_end { last - at } else { at }] = value;
        }
        bytes.truncate(cut.index(2 * bytes.len()).max(1));
        if let Err(error) = read(&bytes) {
            prop_assert!(error.to_string().starts_with("libp.so "), "{error}");
        }
    }

    #[test]
    fn any_value_is_taken_apart(value in prop::collection::vec(any::<u8>(), 1..300)) {
        // Without places and libibverbs only absolute paths can lead to a file, and nothing is loaded.
        let plug_ins = look(OsStr::from_bytes(&value), Path::new("/nothing/here"));
        for entry in &plug_ins.entries {
            if let Err(error) = &entry.outcome {
                prop_assert!(!error.to_string().is_empty() && !error.remedy().is_empty());
            }
        }
    }
}
