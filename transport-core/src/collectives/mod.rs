//! Collectives, written once over any [`Transport`](crate::Transport).

mod algorithm;
mod all_gather;
mod bruck;
mod direct;
mod eager;
mod fetch;
mod marked;
mod marks;
mod pull;
mod ring;
mod run;
mod textbook;

pub(crate) use marks::MOST_WORDS as MOST_MARKED_WORDS;

pub use algorithm::AllGatherAlgorithm;
pub use all_gather::{AllGather, all_gather, all_gather_in_place};
