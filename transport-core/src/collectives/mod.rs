//! Collectives, written once over any [`Transport`](crate::Transport).

mod algorithm;
mod all_gather;
mod bruck;
mod direct;
mod eager;
mod pull;
mod ring;
mod run;
mod textbook;

pub use algorithm::AllGatherAlgorithm;
pub use all_gather::{AllGather, all_gather, all_gather_in_place};
