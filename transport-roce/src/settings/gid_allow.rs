//! Kinds of GID that are refused unless the user allows them.

use std::fmt;

const V1: &str = "v1";
const LINK_LOCAL: &str = "link-local";

/// Which GIDs may be used although routers, or other hosts, may not know what to do with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct GidAllow {
    /// RoCE v1: not routable, and other NICs may not speak it.
    pub v1: bool,
    /// Link-local addresses (fe80::/10): not routable.
    pub link_local: bool,
}

impl GidAllow {
    /// Reads a list such as `v1,link-local`.
    ///
    /// # Errors
    /// The first item that is neither.
    pub(super) fn parse(text: &str) -> Result<Self, &str> {
        let mut allow = Self::default();
        for item in text.split(',').map(str::trim) {
            match item {
                V1 => allow.v1 = true,
                LINK_LOCAL => allow.link_local = true,
                unknown => return Err(unknown),
            }
        }
        Ok(allow)
    }
}

impl fmt::Display for GidAllow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.v1, self.link_local) {
            (false, false) => "none",
            (true, false) => V1,
            (false, true) => LINK_LOCAL,
            (true, true) => "v1,link-local",
        })
    }
}
