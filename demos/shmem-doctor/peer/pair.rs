//! The two PEs of the proof and what they do with each other, each step in both directions.

use std::time::Instant;

use transport_core::{AtomicOp, Cmp, Result, SignalOp, SymSlice, Transport};

/// One word; one page; many packets of any MTU.
const SIZES: [usize; 3] = [8, 4096, 65536];
const LARGEST: usize = 65536;
/// How often each PE adds to the word of each.
const ADDS: u64 = 16;
/// Until caches and connections are warm.
const WARM_UP: u64 = 20;
pub(super) const LAPS: u64 = 200;

/// The signal words.
const ROUND: usize = 0;
pub(super) const VERDICT: usize = 1;
const LAP: usize = 2;

/// This PE and the other, and the memory for all steps.
pub(super) struct Pair<'a, X> {
    pub(super) pe: &'a X,
    me: usize,
    other: usize,
    /// What this PE sends.
    source: SymSlice<u8>,
    /// Where the other's arrives.
    landing: SymSlice<u8>,
    signals: SymSlice<u64>,
    counter: SymSlice<u64>,
}

impl<'a, X: Transport> Pair<'a, X> {
    pub(super) async fn new(pe: &'a X) -> Result<Self> {
        Ok(Self {
            pe,
            me: pe.my_pe(),
            other: 1 - pe.my_pe().min(1),
            source: pe.calloc(LARGEST).await?,
            landing: pe.calloc(LARGEST).await?,
            signals: pe.calloc(3).await?,
            counter: pe.calloc(1).await?,
        })
    }

    fn word(&self, index: usize) -> Result<SymSlice<u64>> {
        self.signals.slice(index..=index)
    }

    pub(super) fn signal(&self, index: usize, value: u64) -> Result<()> {
        let nothing = self.source.slice(..0)?;
        self.pe.put_signal_nbi(nothing, nothing, self.word(index)?, SignalOp::Set(value), self.other)
    }

    pub(super) async fn wait(&self, index: usize, value: u64) -> Result<u64> {
        self.pe.signal_wait_until(self.word(index)?, Cmp::Ge, value).await
    }

    /// Sends each size with a signal, and looks at what has arrived when the other's signal is there.
    pub(super) async fn write(&self) -> Result<Option<String>> {
        let mut wrong = None;
        for (round, size) in (1_u64..).zip(SIZES) {
            let (source, landing) = (self.source.slice(..size)?, self.landing.slice(..size)?);
            self.pe.heap().write(source, &pattern(self.me, round, size))?;
            self.pe.put_signal_nbi(landing, source, self.word(ROUND)?, SignalOp::Set(round), self.other)?;
            self.wait(ROUND, round).await?;
            let arrived = self.pe.heap().read_vec(landing)?;
            wrong = wrong.or_else(|| difference(&arrived, &pattern(self.other, round, size)));
            // The next round writes over both.
            self.pe.barrier_all().await?;
        }
        Ok(wrong)
    }

    /// Reads what the other wrote into its own memory.
    pub(super) async fn get(&self) -> Result<Option<String>> {
        const ROUND: u64 = 99;
        self.pe.heap().write(self.source, &pattern(self.me, ROUND, LARGEST))?;
        self.pe.barrier_all().await?;
        self.pe.get_nbi(self.landing, self.source, self.other)?;
        self.pe.quiet().await?;
        let read = self.pe.heap().read_vec(self.landing)?;
        Ok(difference(&read, &pattern(self.other, ROUND, LARGEST)))
    }

    /// Both add to the word of each at the same time.
    pub(super) async fn atomic(&self) -> Result<Option<String>> {
        for _ in 0..ADDS {
            for target in [self.other, self.me] {
                self.pe.atomic(self.counter, AtomicOp::Add(1), target).await?;
            }
        }
        self.pe.barrier_all().await?;
        for target in [self.other, self.me] {
            let sum = self.pe.atomic(self.counter, AtomicOp::Fetch, target).await?;
            if sum != 2 * ADDS {
                return Ok(Some(format!("the word of PE {target} is {sum} after {} times 1", 2 * ADDS)));
            }
        }
        Ok(None)
    }

    /// Microseconds of one way there and back, on average.
    pub(super) async fn laps(&self) -> Result<f64> {
        let (source, landing) = (self.source.slice(..8)?, self.landing.slice(..8)?);
        let mut start = Instant::now();
        for lap in 1..=WARM_UP + LAPS {
            if self.me == 1 {
                self.wait(LAP, lap).await?;
            }
            self.pe.put_signal_nbi(landing, source, self.word(LAP)?, SignalOp::Set(lap), self.other)?;
            if self.me == 0 {
                self.wait(LAP, lap).await?;
            }
            if lap == WARM_UP {
                start = Instant::now();
            }
        }
        let all = start.elapsed();
        self.pe.quiet().await?;
        Ok(all.as_secs_f64() * 1e6 / LAPS as f64)
    }
}

/// What PE `pe` sends in a round: no two rounds, and not the two PEs, have the same byte in many places.
fn pattern(pe: usize, round: u64, size: usize) -> Vec<u8> {
    let seed = (pe as u64 * 101 + round * 17) as usize;
    (0..size).map(|i| (i * 31 + (i >> 8) * 7 + seed + 1) as u8).collect()
}

/// The first byte that is not as it should be.
fn difference(actual: &[u8], expected: &[u8]) -> Option<String> {
    let at = actual.iter().zip(expected).position(|(actual, expected)| actual != expected)?;
    let (is, should) = (actual.get(at)?, expected.get(at)?);
    Some(format!("byte {at} of {} is {is:#04x} and should be {should:#04x}", expected.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_byte_is_found_and_named() {
        for size in SIZES {
            let right = pattern(0, 1, size);
            assert_eq!(difference(&right, &right), None);
            let mut wrong = right.clone();
            wrong[size - 1] ^= 1;
            assert!(
                difference(&wrong, &right)
                    .unwrap()
                    .starts_with(&format!("byte {} of {size} is 0x", size - 1))
            );
            // What was there before, or the other PE's own, is not taken for it.
            for other in [pattern(1, 1, size), pattern(0, 2, size), vec![0; size]] {
                let same = other.iter().zip(&right).filter(|(a, b)| a == b).count();
                assert!(same * 50 <= size, "{same} of {size}");
            }
        }
    }
}
