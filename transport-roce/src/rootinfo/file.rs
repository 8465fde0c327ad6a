//! The shape of the file, as far as it is needed: other fields are passed over.
//!
//! Its generators differ in small ways: numbers come as numbers or as strings, lists may be left out.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde_json::Error as JsonError;

use super::shown::shown;

/// The whole file.
#[derive(Debug, serde::Deserialize)]
pub(super) struct File {
    pub(super) rank_list: Vec<Rank>,
}

/// What belongs to one NPU.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Rank {
    /// The physical NPU.
    pub(super) device_id: NpuNumber,
    #[serde(default)]
    level_list: Option<Vec<Level>>,
}

impl Rank {
    pub(super) fn into_levels(self) -> Vec<Level> {
        self.level_list.unwrap_or_default()
    }
}

/// One of the networks that an NPU is in.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Level {
    #[serde(default)]
    net_type: Text,
    #[serde(default)]
    rank_addr_list: Option<Vec<Address>>,
}

impl Level {
    /// `CLOS` for the one over switches, which the NIC is in; as the file writes it.
    pub(super) fn net_type(&self) -> &str {
        self.net_type.0.trim()
    }

    /// The NPU's addresses in it.
    pub(super) fn addresses(&self) -> &[Address] {
        self.rank_addr_list.as_deref().unwrap_or_default()
    }
}

/// An address of an NPU.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Address {
    #[serde(default)]
    addr_type: Text,
    #[serde(default)]
    addr: Text,
}

impl Address {
    /// `IPV4`, `IPV6` or what has nothing to do with a NIC; as the file writes it.
    pub(super) fn kind(&self) -> &str {
        self.addr_type.0.trim()
    }

    /// As the file writes it.
    pub(super) fn text(&self) -> &str {
        self.addr.0.trim()
    }
}

/// Reads a file's bytes.
pub(super) fn parse(bytes: &[u8]) -> Result<File, JsonError> {
    serde_json::from_slice(bytes)
}

/// The number of an NPU: a number, or a string with one.
#[derive(Debug, Clone, Copy)]
pub(super) struct NpuNumber(pub(super) u32);

impl<'de> Deserialize<'de> for NpuNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = NpuNumber;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of an NPU in device_id")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                let number = u32::try_from(value);
                number.map(NpuNumber).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
                let number = value.trim().parse();
                number.map(NpuNumber).map_err(|_| E::invalid_value(Unexpected::Other(&shown(value)), &self))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

/// A string, or a number that stands for one. Nothing and `null` are the empty string.
#[derive(Debug, Default)]
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyText;
        impl Visitor<'_> for AnyText {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Text, E> {
                Ok(Text(value.to_owned()))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Text, E> {
                Ok(Text(value.to_string()))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Text, E> {
                Ok(Text(value.to_string()))
            }

            fn visit_unit<E: Error>(self) -> Result<Text, E> {
                Ok(Text::default())
            }
        }
        deserializer.deserialize_any(AnyText)
    }
}
