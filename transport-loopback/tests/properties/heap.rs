//! Allocations and frees in any order, with puts in flight between them.

use proptest::prelude::*;
use transport_core::{Error, SymSlice, Transport};
use transport_loopback::Loopback;

use crate::{Verdict, config, end, on_pes};

#[derive(Debug, Clone)]
enum Step {
    Alloc {
        len: usize,
        align_power: u32,
        zero: bool,
    },
    Free(usize),
    /// Every PE fills the allocation of the PE so far to its right.
    Put {
        which: usize,
        distance: usize,
        value: u8,
    },
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    let len = prop_oneof![1 => Just(0_usize), 4 => 0..300_usize, 2 => 0..40_000_usize];
    prop_oneof![
        4 => (len, 0..14_u32, any::<bool>()).prop_map(|(len, align_power, zero)| Step::Alloc { len, align_power, zero }),
        3 => any::<usize>().prop_map(Step::Free),
        6 => (any::<usize>(), 0..6_usize, any::<u8>()).prop_map(|(which, distance, value)| Step::Put { which, distance, value }),
        1 => Just(Step::Look),
    ]
}

struct Live {
    slice: SymSlice<u8>,
    /// What is in it on this PE; unknown after an `alloc`.
    value: Option<u8>,
    /// Has been put into since the last barrier.
    in_flight: bool,
}

/// What the PE `from` puts with `value`.
fn of(from: usize, value: u8) -> u8 {
    value.wrapping_add(from as u8 * 41)
}

async fn barrier(pe: &Loopback, live: &mut [Live]) -> Result<(), Error> {
    pe.barrier_all().await?;
    live.iter_mut().for_each(|live| live.in_flight = false);
    Ok(())
}

async fn run(pe: Loopback, steps: &[Step]) -> Result<Verdict, Error> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let mut live: Vec<Live> = Vec::new();
    for step in steps {
        match *step {
            Step::Alloc { len, align_power, zero } => {
                let (slice, align) = if zero {
                    (pe.calloc(len).await?, 1)
                } else {
                    (pe.align::<u8>(1 << align_power, len).await?, 1 << align_power)
                };
                let end = slice.offset() + slice.byte_len();
                let apart = |other: &Live| {
                    other.slice.offset() >= end.max(slice.offset() + 1)
                        || other.slice.offset() + other.slice.byte_len().max(1) <= slice.offset()
                };
                if slice.offset() % align != 0 || !live.iter().all(apart) {
                    return Ok(Err(format!("PE {me}: {slice:?} is not aligned to {align}, or not apart")));
                }
                live.push(Live { slice, value: zero.then_some(0), in_flight: false });
            }
            Step::Free(which) if !live.is_empty() => {
                // With puts into it in flight: they end before the memory is anybody else's.
                let gone = live.swap_remove(which % live.len());
                pe.free(gone.slice).await?;
                live.iter_mut().for_each(|live| live.in_flight = false);
                if pe.put_bytes_nbi(gone.slice, vec![1; gone.slice.len()].into(), 0).is_ok() {
                    return Ok(Err(format!("PE {me}: {:?} was freed and can be put to", gone.slice)));
                }
            }
            Step::Put { which, distance, value } if !live.is_empty() => {
                let which = which % live.len();
                if live[which].in_flight {
                    barrier(&pe, &mut live).await?;
                }
                let Live { slice, value: holds, in_flight } = &mut live[which];
                let data = vec![of(me, value); slice.len()];
                pe.put_bytes_nbi(*slice, data.into(), (me + distance) % n)?;
                *holds = Some(of((me + n - distance % n) % n, value));
                *in_flight = true;
            }
            Step::Free(_) | Step::Put { .. } => {}
            Step::Look => {
                barrier(&pe, &mut live).await?;
                let verdict = look(&pe, &live)?;
                if verdict.is_err() {
                    return Ok(verdict);
                }
                pe.barrier_all().await?;
            }
        }
    }
    barrier(&pe, &mut live).await?;
    let verdict = look(&pe, &live)?;
    if verdict.is_err() {
        return Ok(verdict);
    }
    for live in live {
        pe.free(live.slice).await?;
    }
    let stats = pe.heap().stats();
    if (stats.allocations, stats.used, stats.largest_free) != (0, 0, stats.size) {
        return Ok(Err(format!("PE {me}: all is freed, and yet {stats:?}")));
    }
    end(pe).await
}

fn look(pe: &Loopback, live: &[Live]) -> Result<Verdict, Error> {
    for Live { slice, value, .. } in live {
        let found = pe.heap().read_vec(*slice)?;
        if let Some(value) = value
            && let Some(at) = found.iter().position(|byte| byte != value)
        {
            let (me, byte) = (pe.my_pe(), found[at]);
            return Ok(Err(format!("PE {me}: byte {at} of {slice:?} is {byte}, not {value}")));
        }
    }
    Ok(Ok(()))
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn allocations_keep_what_was_put(n in 1..=6_usize, steps in prop::collection::vec(step(), 1..60)) {
        let verdict = on_pes(n, |pe| run(pe, &steps));
        prop_assert!(verdict.is_ok(), "{}", verdict.unwrap_err());
    }
}
