//! A value together with where it came from.

use std::fmt;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// An argument of the program, by its name (`--heap`, `<pe_id>`).
    Argument(String),
    /// A variable of the environment, by its name (`SHMEM_HEAP_SIZE`).
    Environment(String),
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(name) => write!(f, "argument {name}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and its [`Source`]; displays as `2 GiB (environment SHMEM_HEAP_SIZE)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub source: Source,
}

impl<T> Setting<T> {
    /// A value that somebody gave.
    pub fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }

    /// A value that nobody gave.
    pub fn default_value(value: T) -> Self {
        Self::new(value, Source::Default)
    }

    /// The same source with another form of the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: f(self.value), source: self.source }
    }

    /// The same source with the value borrowed.
    pub fn as_ref(&self) -> Setting<&T> {
        Setting { value: &self.value, source: self.source.clone() }
    }
}

impl<T: fmt::Display> fmt::Display for Setting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.value, self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_is_told() {
        let of = |source| Setting::new(7, source).to_string();
        assert_eq!(of(Source::Argument("--x".into())), "7 (argument --x)");
        assert_eq!(of(Source::Environment("SHMEM_X".into())), "7 (environment SHMEM_X)");
        assert_eq!(of(Source::Default), "7 (default)");
    }
}
