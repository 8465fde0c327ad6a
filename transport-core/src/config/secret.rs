//! The job's secret, which is never shown.

use std::fmt;

/// What all PEs of a job know and strangers do not. `Debug` and `Display` show that it is there, never what it is.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// A secret of these bytes; `None` if there are none, since an empty secret keeps nobody out.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Option<Self> {
        let bytes = bytes.into();
        (!bytes.is_empty()).then_some(Self(bytes))
    }

    /// The bytes, for the one place that computes with them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("set, not shown")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_shows() {
        let secret = Secret::new("hunter2").unwrap();
        assert!(!format!("{secret} {secret:?} {:?}", Some(&secret)).contains("hunter2"));
        assert_eq!(Secret::new(""), None);
    }
}
