//! The command line of `model`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use transport_core::collectives::AllGatherAlgorithm;
use transport_core::config::ByteSize;
use transport_loopback::sim::{CostModel, Link};

use crate::work::{Kind, ModelWork};

/// Predicts how long collectives take, by the LogGP model: the programs run as they are, in virtual time. PEs that share
/// switches are slower than it says, and those that share processors unless --cores says so.
#[derive(Debug, Parser)]
#[command(name = "model", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print predicted times, messages and bytes of a barrier and of each AllGather
    Predict {
        #[command(flatten)]
        sizes: Sizes,
        #[command(flatten)]
        costs: Costs,
        /// Predict what is measured in this file instead, and print both
        #[arg(long, value_name = "FILE", conflicts_with_all = ["pes", "bytes"])]
        measured: Option<PathBuf>,
    },
    /// Find latency, overhead, gap and time per byte that fit measurements best (and the acknowledgement, if put-quiet is among
    /// them; with --cores the time of a switch, if jobs of more PEs are); the rest is taken as given
    Fit {
        /// Lines of `perf --json`, of any of ping-pong, put, put-quiet, get, stream, barrier, all-gather
        #[arg(long, value_name = "FILE")]
        measured: PathBuf,
        #[command(flatten)]
        costs: Costs,
    },
    /// Draw time against PEs
    Plot {
        /// The file to write, an SVG
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        #[command(flatten)]
        sizes: Sizes,
        #[command(flatten)]
        costs: Costs,
        /// Draw what is measured in this file too: barriers, and AllGathers of --bytes
        #[arg(long, value_name = "FILE")]
        measured: Option<PathBuf>,
    },
}

/// What is predicted.
#[derive(Debug, Args)]
pub(crate) struct Sizes {
    /// PEs, e.g. 2,16,4096
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "2,4,8,16,32,64",
        value_parser = pes)]
    pub(crate) pes: Vec<usize>,

    /// Bytes of each PE in an AllGather
    #[arg(long, value_name = "BYTES", default_value = "64", value_parser = bytes)]
    bytes: usize,

    /// Only these AllGathers, e.g. textbook,bruck; all if none is named
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    algorithm: Vec<AllGatherAlgorithm>,
}

/// More than a heap has room for would only fail later.
fn pes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=65536).contains(&n) => Ok(n),
        _ => Err("give 1 to 65536 PEs".to_owned()),
    }
}

/// Sizes of which thousands fit in memory.
fn bytes(text: &str) -> Result<usize, String> {
    let bytes = text.parse::<ByteSize>().map_err(|error| error.to_string())?.bytes();
    match usize::try_from(bytes) {
        Ok(bytes) if (1..=1 << 30).contains(&bytes) => Ok(bytes),
        _ => Err("give 1 byte to 1 GiB".to_owned()),
    }
}

impl Sizes {
    /// A barrier, and an AllGather by each algorithm.
    pub(crate) fn works(&self) -> Vec<ModelWork> {
        let gathers =
            AllGatherAlgorithm::ALL.into_iter().filter(|(algorithm, _)| match &self.algorithm[..] {
                [] => *algorithm != AllGatherAlgorithm::Auto,
                some => some.contains(algorithm),
            });
        let gathers =
            gathers.map(|(algorithm, _)| ModelWork { kind: Kind::AllGather(algorithm), bytes: self.bytes });
        std::iter::once(ModelWork { kind: Kind::Barrier, bytes: 0 }).chain(gathers).collect()
    }
}

/// Costs to begin with.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Network {
    /// Shared memory, as measured on one machine
    SharedMemory,
    /// A NIC of 100 Gbit/s
    Roce,
}

/// What messages cost.
#[derive(Debug, Args)]
pub(crate) struct Costs {
    /// The costs that are not given below
    #[arg(long, value_enum, default_value = "roce")]
    network: Network,
    /// Latency, in nanoseconds
    #[arg(long, value_name = "NS")]
    latency: Option<u64>,
    /// What a message costs its sender, in nanoseconds
    #[arg(long, value_name = "NS")]
    overhead: Option<u64>,
    /// What a flag or a signal costs who takes it, in nanoseconds
    #[arg(long, value_name = "NS")]
    receive_overhead: Option<u64>,
    /// What a message occupies a NIC for beside its bytes, in nanoseconds
    #[arg(long, value_name = "NS")]
    gap: Option<u64>,
    /// Time of a byte, in picoseconds
    #[arg(long, value_name = "PS")]
    per_byte: Option<u64>,
    /// From when data has landed until its sender knows it, in nanoseconds
    #[arg(long, value_name = "NS")]
    acknowledge: Option<u64>,
    /// Time of a byte that a PE puts to itself, in picoseconds
    #[arg(long, value_name = "PS")]
    copy_per_byte: Option<u64>,
    /// A put is complete at its post, as in shared memory: the PE copies the bytes itself [given by --network shared-memory]
    #[arg(long)]
    complete_at_post: bool,
    /// Processors that the PEs of a node share; without --per-node, all PEs [default: one for each PE]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65536))]
    cores: Option<u64>,
    /// What it costs a processor to go over to another PE, in nanoseconds
    #[arg(long, value_name = "NS", requires = "cores")]
    switch: Option<u64>,
    /// PEs of a node, which have a latency of their own
    #[arg(long, value_name = "N", requires = "near_latency", value_parser = clap::value_parser!(u64).range(1..=65536))]
    per_node: Option<u64>,
    /// Latency between PEs of a node, in nanoseconds
    #[arg(long, value_name = "NS", requires = "per_node")]
    near_latency: Option<u64>,
    /// Time of a byte between PEs of a node, in picoseconds [default: as between nodes]
    #[arg(long, value_name = "PS", requires = "per_node")]
    near_per_byte: Option<u64>,
}

impl Costs {
    pub(crate) fn model(&self) -> CostModel {
        let mut model = match self.network {
            Network::SharedMemory => CostModel::shared_memory(),
            Network::Roce => CostModel::roce(),
        };
        for (given, field) in [
            (self.latency, &mut model.link.latency_ns),
            (self.overhead, &mut model.overhead_ns),
            (self.receive_overhead, &mut model.receive_overhead_ns),
            (self.gap, &mut model.gap_ns),
            (self.per_byte, &mut model.link.per_byte_ps),
            (self.acknowledge, &mut model.acknowledge_ns),
            (self.copy_per_byte, &mut model.copy_per_byte_ps),
            (self.switch, &mut model.switch_ns),
        ] {
            *field = given.unwrap_or(*field);
        }
        model.complete_at_post |= self.complete_at_post;
        model.cores = self.cores.map_or(model.cores, |cores| cores as usize);
        match (self.per_node, self.near_latency) {
            (Some(per_node), Some(latency_ns)) => {
                let per_byte_ps = self.near_per_byte.unwrap_or(model.link.per_byte_ps);
                model.nodes(per_node as usize, Link { latency_ns, per_byte_ps })
            }
            _ => model,
        }
    }
}
