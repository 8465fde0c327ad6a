//! The configuration: what is read from where, and what is wrong with it.

// Each module says that it is a test, since clippy lets only tests panic.
#[cfg(test)]
mod addresses;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod values;

use transport_core::config::{JobConfig, JobConfigBuilder, MapEnvironment};

/// Only these variables; nothing of the test's own environment.
pub(crate) fn with(variables: &[(&str, &str)]) -> JobConfigBuilder {
    let environment: MapEnvironment = variables.iter().copied().collect();
    JobConfig::builder().with_environment(environment)
}

pub(crate) fn assert_words(text: impl ToString, words: &[&str]) {
    let text = text.to_string();
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}
