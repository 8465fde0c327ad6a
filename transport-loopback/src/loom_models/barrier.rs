//! The barrier: nobody leaves before all have entered, all leave, and what was written before it is seen after it.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use transport_core::Transport;
use transport_core::transport::BarrierFlags;
use transport_core::wait::{WaitPolicy, Waiter};

use super::{end, explore, job, memory, on_thread, read, set_epoch, word};
use crate::Loopback;
use crate::barrier::{Counted, SharedFlags};
use crate::bell::Bell;
use crate::job_memory::JobMemory;
use crate::sync::atomic::Ordering;

/// What is wrong with the flags, on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slip {
    Nothing,
    /// A flag is set by a relaxed store and a fence after it: what was put before may come later.
    RelaxedSend,
    /// A flag is read by a relaxed load.
    RelaxedFlag,
    /// No fence between the flag and the look at the sleepers.
    NoFence,
    /// A neighbour that is one barrier ahead is not recognised.
    Equal,
    /// The numbers are compared as if they did not wrap.
    NoWrap,
}

struct Flags {
    inner: SharedFlags,
    slip: Slip,
    epoch: crate::sync::atomic::AtomicU32,
}

impl BarrierFlags for Flags {
    fn flag(&self, round: u32) -> u32 {
        let epoch = self.epoch.load(Ordering::Relaxed);
        let late = epoch.wrapping_sub(1);
        match (self.slip, self.inner.flag(round)) {
            (Slip::RelaxedFlag, _) => self.inner.memory.flag(self.inner.my_pe, round).load(Ordering::Relaxed),
            (Slip::Equal, flag) => {
                if flag == epoch {
                    epoch
                } else {
                    late
                }
            }
            (Slip::NoWrap, flag) => {
                if flag >= epoch {
                    epoch
                } else {
                    late
                }
            }
            (_, flag) => flag,
        }
    }

    fn send(&self, round: u32, neighbour: usize, epoch: u32) -> bool {
        let memory = &self.inner.memory;
        match self.slip {
            Slip::RelaxedSend => {
                memory.flag(neighbour, round).store(epoch, Ordering::Relaxed);
                JobMemory::full_fence();
                memory.wake(neighbour);
                true
            }
            Slip::NoFence => {
                memory.flag(neighbour, round).swap(epoch, Ordering::SeqCst);
                memory.wake(neighbour);
                true
            }
            _ => self.inner.send(round, neighbour, epoch),
        }
    }

    fn entered(&self, epoch: u32) {
        self.epoch.store(epoch, Ordering::Relaxed);
        self.inner.entered(epoch);
    }

    fn finished(&self, epoch: u32) {
        self.inner.finished(epoch);
    }

    fn turn_ended(&self) {
        self.inner.turn_ended();
    }
}

/// `epochs` barriers of `n_pes` PEs after number `first`. Between them each PE writes the number into its word, and looks at
/// those of the others, which have come to it, and are at most one further.
fn barriers(n_pes: usize, epochs: u32, first: u32, slip: Slip) {
    by_flags(n_pes, epochs, first, slip, false);
}

/// The same, counted in one word or not.
fn by_flags(n_pes: usize, epochs: u32, first: u32, slip: Slip, counted: bool) {
    let memory = memory(n_pes);
    _ = memory.arrived();
    if first != 0 {
        set_epoch(&memory, n_pes, first);
    }
    (0..n_pes).for_each(|pe| _ = memory.all().word(memory.heap_at(pe, 0)));
    let pe = move |my_pe: usize, memory: JobMemory| async move {
        let counted = counted.then(|| Counted::new(first));
        let inner = SharedFlags { memory: memory.clone(), my_pe, n_pes, counted };
        let barrier = inner.barrier(first);
        let flags = Flags { inner, slip, epoch: crate::sync::atomic::AtomicU32::new(first) };
        let policy = WaitPolicy { spin: 0, yields: 0, sleep: Duration::from_secs(3600) };
        let waiter = Waiter::new(Arc::new(Bell::new(memory.clone(), my_pe)), policy);
        let number = |pe| memory.all().word(memory.heap_at(pe, 0));
        for epoch in 1..=epochs {
            number(my_pe).store(epoch.into(), Ordering::Relaxed);
            let turn = barrier.try_take(&flags).unwrap();
            turn.enter();
            poll_fn(|cx| waiter.poll_until(cx, || turn.advance())).await;
            for pe in 0..n_pes {
                let seen = number(pe).load(Ordering::Relaxed);
                assert!(seen >= epoch.into(), "what PE {pe} wrote before is not seen");
                assert!(
                    seen <= u64::from(epoch) + 1,
                    "PE {pe} has left a barrier that this one has not entered"
                );
            }
        }
    };
    let others: Vec<_> = (1..n_pes)
        .map(|my_pe| (my_pe, memory.clone()))
        .map(|(my_pe, memory)| on_thread(move || pe(my_pe, memory)))
        .collect();
    transport_core::wait::block_on(pe(0, memory));
    others.into_iter().for_each(|other| other.join().unwrap());
}

#[test]
fn two_pes() {
    explore("barrier, 2 PEs, 1 epoch", None, || barriers(2, 1, 0, Slip::Nothing));
    explore("barrier, 2 PEs, 3 epochs", Some(2), || barriers(2, 3, 0, Slip::Nothing));
}

#[test]
fn two_pes_over_the_wrap() {
    explore("barrier, 2 PEs, the wrap", Some(2), || barriers(2, 3, u32::MAX - 1, Slip::Nothing));
}

#[test]
fn counted() {
    let of = |n_pes, epochs, first| move || by_flags(n_pes, epochs, first, Slip::Nothing, true);
    explore("counted barrier, 2 PEs, 3 epochs, the wrap", Some(2), of(2, 3, u32::MAX - 1));
    explore("counted barrier, 3 PEs, 2 epochs", Some(1), of(3, 2, 0));
}

#[test]
fn three_pes() {
    explore("barrier, 3 PEs, 1 epoch", Some(2), || barriers(3, 1, 0, Slip::Nothing));
    explore("barrier, 3 PEs, 2 epochs", Some(1), || barriers(3, 2, 0, Slip::Nothing));
}

/// `barrier_all` itself, with puts before it.
async fn puts_and_barriers(pe: Arc<Loopback>, area: transport_core::SymSlice<u64>, epochs: u64) {
    let (n_pes, my_pe) = (pe.n_pes(), pe.my_pe());
    for epoch in 1..=epochs {
        // Two places by turns: what the others still read is not written.
        let place = |of: usize| word(area, (epoch % 2) as usize * n_pes + of);
        for to in (0..n_pes).filter(|&to| to != my_pe) {
            let data = Bytes::copy_from_slice(&epoch.to_ne_bytes());
            pe.put_bytes_nbi(place(my_pe).bytes(), data, to).unwrap();
        }
        pe.barrier_all().await.unwrap();
        for from in (0..n_pes).filter(|&from| from != my_pe) {
            assert_eq!(read(&pe, place(from)), epoch, "from PE {from}");
        }
    }
}

#[test]
fn puts_are_seen_after_barrier_all() {
    explore("put, barrier_all, read, 2 PEs, 2 epochs", Some(2), || {
        let (pes, area) = job(2, 4);
        let other = Arc::clone(&pes[1]);
        let other = on_thread(move || puts_and_barriers(other, area, 2));
        transport_core::wait::block_on(puts_and_barriers(Arc::clone(&pes[0]), area, 2));
        other.join().unwrap();
        end(&pes);
    });
}

mod mutants {
    use super::super::must_fail;
    use super::*;

    #[test]
    fn a_relaxed_send() {
        must_fail("is not seen", || barriers(2, 1, 0, Slip::RelaxedSend));
    }

    #[test]
    fn a_relaxed_flag() {
        must_fail("is not seen", || barriers(2, 1, 0, Slip::RelaxedFlag));
    }

    #[test]
    fn no_fence_before_the_look_at_the_sleepers() {
        must_fail("deadlock", || barriers(2, 1, 0, Slip::NoFence));
    }

    #[test]
    fn a_neighbour_ahead_is_not_recognised() {
        must_fail("deadlock", || barriers(2, 2, 0, Slip::Equal));
    }

    #[test]
    fn numbers_that_do_not_wrap() {
        must_fail("is not seen", || barriers(2, 2, u32::MAX - 1, Slip::NoWrap));
    }
}
