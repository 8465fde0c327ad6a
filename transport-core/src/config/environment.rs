//! Where the environment is read from, so that a test need not change the process's own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// A set of variables.
pub trait EnvironmentSource {
    /// The value of a variable, if it is set.
    fn get(&self, name: &str) -> Option<OsString>;

    /// The names of all variables that are set.
    fn names(&self) -> Vec<OsString>;
}

/// The environment of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessEnvironment;

impl EnvironmentSource for ProcessEnvironment {
    fn get(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn names(&self) -> Vec<OsString> {
        std::env::vars_os().map(|(name, _)| name).collect()
    }
}

/// An environment that a program made up; empty by default.
#[derive(Debug, Clone, Default)]
pub struct MapEnvironment(BTreeMap<OsString, OsString>);

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for MapEnvironment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl<K: Into<OsString>, V: Into<OsString>, const N: usize> From<[(K, V); N]> for MapEnvironment {
    fn from(variables: [(K, V); N]) -> Self {
        variables.into_iter().collect()
    }
}

impl EnvironmentSource for MapEnvironment {
    fn get(&self, name: &str) -> Option<OsString> {
        self.0.get(OsStr::new(name)).cloned()
    }

    fn names(&self) -> Vec<OsString> {
        self.0.keys().cloned().collect()
    }
}
