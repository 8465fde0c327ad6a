//! Several threads of one PE at its barrier: one has the turn, the others wait for it, and one that gives up leaves a barrier
//! that the next resumes.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use transport_core::wait::block_on;
use transport_core::{Transport, transport::Dissemination};

use super::{end, explore, job, memory, on_thread, word};
use crate::barrier::SharedFlags;
use crate::bell::Bell;
use crate::job_memory::JobMemory;
use transport_core::wait::Doorbell;

/// Two threads of the only PE: who finds the turn taken is woken when it is free.
#[test]
fn a_turn_is_handed_over() {
    explore("turn, 2 threads of 1 PE", None, || {
        let (pes, _) = job(1, 1);
        let pe = Arc::clone(&pes[0]);
        let other = on_thread(move || async move { pe.barrier_all().await.unwrap() });
        block_on(pes[0].barrier_all()).unwrap();
        other.join().unwrap();
        end(&pes);
    });
}

/// Two threads of PE 0, each with a barrier, against two barriers of PE 1.
#[test]
fn a_turn_is_handed_over_in_a_job_of_two() {
    explore("turn, 2 threads of PE 0 against PE 1", Some(2), || {
        let (pes, _) = job(2, 1);
        let (second, other) = (Arc::clone(&pes[0]), Arc::clone(&pes[1]));
        let second = on_thread(move || async move { second.barrier_all().await.unwrap() });
        let other = on_thread(move || async move {
            other.barrier_all().await.unwrap();
            other.barrier_all().await.unwrap();
        });
        block_on(pes[0].barrier_all()).unwrap();
        second.join().unwrap();
        other.join().unwrap();
        end(&pes);
    });
}

/// A thread of PE 0 looks once and gives up; another then takes the turn, and what is under way is resumed: both PEs count
/// one barrier, and the put before the first look is seen.
#[test]
fn a_cancelled_turn_is_resumed_by_another_thread() {
    explore("turn, cancelled and resumed", Some(3), || {
        let (pes, area) = job(2, 1);
        let (first, other) = (Arc::clone(&pes[0]), Arc::clone(&pes[1]));
        let other = on_thread(move || async move {
            other.barrier_all().await.unwrap();
            assert_eq!(super::read(&other, word(area, 0)), 5, "the put before the barrier is not seen");
        });
        let gives_up = loom::thread::spawn(move || {
            let data = bytes::Bytes::copy_from_slice(&5_u64.to_ne_bytes());
            first.put_bytes_nbi(word(area, 0).bytes(), data, 1).unwrap();
            // The probe that leaves no waker, as `block_on` begins with.
            let looked = block_on(once(first.barrier_all()));
            looked.is_ready()
        });
        let finished = gives_up.join().unwrap();
        if !finished {
            block_on(pes[0].barrier_all()).unwrap();
        }
        other.join().unwrap();
        end(&pes);
    });
}

/// One poll, with what came of it.
async fn once<F: Future>(future: F) -> Poll<F::Output> {
    let mut future = pin!(future);
    let mut polled = false;
    std::future::poll_fn(|cx| {
        assert!(!std::mem::replace(&mut polled, true));
        Poll::Ready(future.as_mut().poll(cx))
    })
    .await
}

mod mutants {
    use super::super::must_fail;
    use super::*;

    /// The turn is given back, but who sleeps for it is not looked for after a fence.
    #[test]
    fn a_turn_given_back_without_a_fence() {
        must_fail("deadlock", || {
            let memory = memory(1);
            struct NoFence(SharedFlags);
            impl transport_core::transport::BarrierFlags for NoFence {
                fn flag(&self, round: u32) -> u32 {
                    self.0.flag(round)
                }
                fn send(&self, round: u32, neighbour: usize, epoch: u32) -> bool {
                    self.0.send(round, neighbour, epoch)
                }
                fn entered(&self, epoch: u32) {
                    self.0.entered(epoch);
                }
                fn finished(&self, epoch: u32) {
                    self.0.finished(epoch);
                }
                fn turn_ended(&self) {
                    self.0.memory.wake(0);
                }
            }
            let flags = |memory: &JobMemory| {
                NoFence(SharedFlags { memory: memory.clone(), my_pe: 0, n_pes: 1, counted: None })
            };
            let barrier = Arc::new(Dissemination::new(0, 1, 0));
            let (taken, its) = (Arc::clone(&barrier), flags(&memory));
            let other = loom::thread::spawn(move || drop(taken.try_take(&its)));
            let bell = Bell::new(memory.clone(), 0);
            let mine = flags(&memory);
            while barrier.try_take(&mine).is_none() {
                bell.arm();
                let ticket = bell.ticket();
                let free = barrier.try_take(&mine).is_some();
                if !free {
                    bell.sleep(ticket, std::time::Duration::from_secs(3600));
                }
                bell.disarm();
            }
            other.join().unwrap();
        });
    }
}
