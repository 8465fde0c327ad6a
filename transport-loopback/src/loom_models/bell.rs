//! The hand-over of the bell: arm, take a ticket, look, sleep; against write, fence, look who is armed, ring.

use std::sync::Arc;
use std::time::Duration;

use transport_core::wait::Doorbell;

use super::{explore, memory};
use crate::bell::Bell;
use crate::job_memory::JobMemory;
use crate::sync::atomic::{AtomicU32, Ordering};

/// What is wrong, on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slip {
    Nothing,
    /// The sleeper arms without a fence.
    ArmWithoutFence,
    /// It does not look again after it has armed.
    NoSecondLook,
    /// It takes its ticket only after the look.
    LateTicket,
    /// The writer makes no fence between the write and the look at the sleepers.
    WriteWithoutFence,
    /// It looks at the sleepers before it writes.
    LookBeforeWrite,
    /// It wakes without counting the ring.
    RingWithoutCount,
}

/// The word that is waited for.
const NEWS: u64 = 8;

fn sleep_until_news(bell: &Bell, news: &AtomicU32, slip: Slip) {
    let is_there = || news.load(Ordering::Acquire) != 0;
    while !is_there() {
        if slip == Slip::ArmWithoutFence {
            bell.memory.armed(bell.pe).fetch_add(1, Ordering::SeqCst);
        } else {
            bell.arm();
        }
        let mut ticket = bell.ticket();
        if slip == Slip::NoSecondLook || !is_there() {
            if slip == Slip::LateTicket {
                ticket = bell.ticket();
            }
            bell.sleep(ticket, Duration::from_secs(3600));
        }
        bell.disarm();
    }
}

fn tell(memory: &JobMemory, news: &AtomicU32, slip: Slip) {
    match slip {
        Slip::WriteWithoutFence => {
            news.store(1, Ordering::Release);
            memory.wake(0);
        }
        Slip::LookBeforeWrite => {
            let armed = memory.armed(0).load(Ordering::Relaxed) != 0;
            news.store(1, Ordering::Release);
            JobMemory::full_fence();
            if armed {
                memory.ring(0);
            }
        }
        Slip::RingWithoutCount => {
            news.store(1, Ordering::Release);
            JobMemory::full_fence();
            if memory.armed(0).load(Ordering::Relaxed) != 0 {
                crate::sync::futex_wake_all(memory.rings(0));
            }
        }
        _ => {
            news.store(1, Ordering::Release);
            JobMemory::full_fence();
            memory.wake(0);
        }
    }
}

/// `sleepers` threads of one PE wait for the news of all of `writers` threads.
fn news(sleepers: usize, writers: u64, slip: Slip) {
    let memory = memory(1);
    let place = |memory: &JobMemory, writer: u64| memory.heap_at(0, NEWS + 4 * writer);
    (0..writers).for_each(|writer| _ = memory.all().word32(place(&memory, writer)));
    let sleeper = move |bell: &Bell| {
        for writer in 0..writers {
            sleep_until_news(bell, bell.memory.all().word32(place(&bell.memory, writer)), slip);
        }
    };
    let bell = Arc::new(Bell::new(memory.clone(), 0));
    let mut threads = Vec::new();
    for writer in 0..writers {
        let memory = memory.clone();
        let tells = move || tell(&memory, memory.all().word32(place(&memory, writer)), slip);
        threads.push(loom::thread::spawn(tells));
    }
    for _ in 1..sleepers {
        let bell = Arc::clone(&bell);
        threads.push(loom::thread::spawn(move || sleeper(&bell)));
    }
    sleeper(&bell);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(memory.armed(0).load(Ordering::Relaxed), 0);
}

#[test]
fn no_ring_is_lost() {
    explore("bell, 1 sleeper, 1 writer", None, || news(1, 1, Slip::Nothing));
    explore("bell, 1 sleeper, 2 writers", Some(3), || news(1, 2, Slip::Nothing));
    explore("bell, 2 sleepers, 1 writer", Some(3), || news(2, 1, Slip::Nothing));
}

mod mutants {
    use super::super::must_fail;
    use super::*;

    #[test]
    fn arming_without_a_fence() {
        must_fail("deadlock", || news(1, 1, Slip::ArmWithoutFence));
    }

    #[test]
    fn no_second_look() {
        must_fail("deadlock", || news(1, 1, Slip::NoSecondLook));
    }

    #[test]
    fn a_ticket_after_the_look() {
        must_fail("deadlock", || news(1, 1, Slip::LateTicket));
    }

    #[test]
    fn a_write_without_a_fence() {
        must_fail("deadlock", || news(1, 1, Slip::WriteWithoutFence));
    }

    #[test]
    fn a_look_before_the_write() {
        must_fail("deadlock", || news(1, 1, Slip::LookBeforeWrite));
    }

    #[test]
    fn a_ring_that_is_not_counted() {
        must_fail("deadlock", || news(1, 1, Slip::RingWithoutCount));
    }
}
