//! `--algorithm`, of the programs that do AllGathers.

use clap::Args;
use transport_core::collectives::AllGatherAlgorithm;
use transport_core::config::{JobConfigBuilder, Key};

/// How AllGathers are done; what is not given comes from the environment.
#[derive(Debug, Clone, Args)]
pub struct AlgorithmOption {
    #[arg(long, value_name = "NAME", help = help())]
    algorithm: Option<AllGatherAlgorithm>,
}

/// By the list, so that none is forgotten.
fn help() -> String {
    let names = AllGatherAlgorithm::ALL.map(|(_, name)| name).join(", ");
    format!("How AllGathers are done: {names} [environment: {}; default: auto]", Key::AllGather.variable())
}

impl AlgorithmOption {
    /// A configuration in which it overrides the environment, if it is given.
    #[must_use]
    pub fn configure(&self, builder: JobConfigBuilder) -> JobConfigBuilder {
        let algorithm = self.algorithm.map(|algorithm| algorithm.to_string());
        builder.with_optional_argument(Key::AllGather, "--algorithm", algorithm)
    }
}
