//! What a case gets: the PE it runs on, its rounds and random numbers, and a place to note what is wrong.

use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use super::failure::{mismatch, short};
use super::options::Options;
use super::random::{Random, mix};
use crate::error::{Error, Result};
use crate::transport::Transport;

/// One case on one PE. It derefs to the transport.
///
/// Checks note what is wrong and go on: a case that returned early would leave the other PEs in their next barrier.
/// Only the transport's own errors, of calls that must succeed, end a case.
pub(super) struct Job<'a, X> {
    transport: &'a X,
    seed: u64,
    rounds_percent: usize,
    noted: Mutex<Noted>,
}

#[derive(Default)]
struct Noted {
    first: Option<String>,
    more: usize,
}

impl<'a, X: Transport> Job<'a, X> {
    pub(super) fn new(transport: &'a X, case: &str, options: &Options) -> Self {
        let name =
            case.bytes().fold(0, |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let seed = options.seed ^ Random::new(name).next();
        Self { transport, seed, rounds_percent: options.rounds_percent, noted: Mutex::default() }
    }

    /// `full` rounds, as scaled by the options.
    pub(super) fn rounds(&self, full: usize) -> usize {
        (full.saturating_mul(self.rounds_percent) / 100).max(1)
    }

    /// Random numbers that are the same on every PE.
    pub(super) fn shared_random(&self) -> Random {
        Random::new(self.seed)
    }

    /// Random numbers of this PE's own.
    pub(super) fn own_random(&self) -> Random {
        Random::new(self.seed ^ mix(&[1 + self.my_pe()]))
    }

    /// The PE `distance` further on, round the ring.
    pub(super) fn to_right(&self, distance: usize) -> usize {
        (self.my_pe() + distance) % self.n_pes()
    }

    /// The PE whose right neighbour at `distance` is this one.
    pub(super) fn to_left(&self, distance: usize) -> usize {
        (self.my_pe() + self.n_pes() - distance % self.n_pes()) % self.n_pes()
    }

    /// Notes a failure unless both are equal.
    pub(super) fn same<T: PartialEq + fmt::Debug>(&self, what: impl Fn() -> String, expected: T, found: T) {
        if expected != found {
            self.note(mismatch(&what(), &expected, &found));
        }
    }

    /// Notes a failure unless all bytes are equal; says where the first difference is.
    pub(super) fn same_bytes(&self, what: impl Fn() -> String, expected: &[u8], found: &[u8]) {
        if expected == found {
            return;
        }
        if expected.len() != found.len() {
            return self.note(mismatch(&what(), &expected.len(), &found.len()));
        }
        let differ = || expected.iter().zip(found).enumerate().filter(|(_, (a, b))| a != b);
        if let Some((first, (a, b))) = differ().next() {
            let (count, len) = (differ().count(), expected.len());
            let what = what();
            self.note(format!(
                "{what}: {count} of {len} bytes differ; expected {a:#04x} at {first}, found {b:#04x}"
            ));
        }
    }

    /// Notes a failure unless `holds`.
    pub(super) fn holds(&self, what: impl Fn() -> String, holds: bool) {
        if !holds {
            self.note(format!("{}: expected to be so, found that it is not", what()));
        }
    }

    /// Notes a failure unless `result` is an error that `fits`, which is one such as `kind`.
    pub(super) fn refused<T>(
        &self,
        what: impl Fn() -> String,
        kind: &str,
        result: Result<T>,
        fits: impl FnOnce(&Error) -> bool,
    ) {
        match result {
            Err(error) if fits(&error) => {}
            Err(error) => self.note(format!("{}: expected {kind}, found {}", what(), short(&error))),
            Ok(_) => self.note(format!("{}: expected {kind}, found that it was accepted", what())),
        }
    }

    /// Notes a failure.
    pub(super) fn note(&self, text: String) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        match noted.first {
            None => noted.first = Some(text),
            Some(_) => noted.more += 1,
        }
    }

    /// The first failure, and how many more there were.
    pub(super) fn into_noted(self) -> Option<String> {
        let noted = self.noted.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (noted.first, noted.more) {
            (Some(first), 0) => Some(first),
            (Some(first), more) => Some(format!("{first} (and {more} more)")),
            (None, _) => None,
        }
    }
}

impl<X> Deref for Job<'_, X> {
    type Target = X;

    fn deref(&self) -> &X {
        self.transport
    }
}
