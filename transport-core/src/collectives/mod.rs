//! Collectives, written once over any [`Transport`](crate::Transport).

mod all_gather;

pub use all_gather::{AllGather, AllGatherAlgorithm, all_gather, all_gather_in_place};
