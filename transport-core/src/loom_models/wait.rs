//! Waiting: `block_on` on a bell and without one, and the helper that wakes foreign futures.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use super::Sleeper;
use crate::model_run::{explore, must_fail};
use crate::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use crate::sync::{Condvar, Mutex, thread};
use crate::wait::{Doorbell, Ticket, WaitPolicy, Waiter, block_on};

/// What is wrong, on purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Slip {
    #[default]
    Nothing,
    /// Arming makes no fence.
    ArmWithoutFence,
    /// A sleep does not compare its ticket.
    SleepAnyhow,
    /// A peer that writes makes no fence before it looks who is armed.
    WriteWithoutFence,
}

/// A bell as a backend has it: a count of rings, and a sleep that begins only if the count is still that of the ticket.
#[derive(Default)]
struct Bell {
    armed: AtomicU32,
    rings: AtomicU32,
    lock: Mutex<()>,
    rung: Condvar,
    news: AtomicBool,
    slip: Slip,
}

impl Doorbell for Bell {
    fn arm(&self) {
        self.armed.fetch_add(1, Ordering::SeqCst);
        if self.slip != Slip::ArmWithoutFence {
            fence(Ordering::SeqCst);
        }
    }

    fn disarm(&self) {
        self.armed.fetch_sub(1, Ordering::Relaxed);
    }

    fn ticket(&self) -> Ticket {
        Ticket(self.rings.load(Ordering::Acquire))
    }

    fn sleep(&self, ticket: Ticket, _: Duration) {
        let mut lock = self.lock.lock().unwrap();
        if self.slip == Slip::SleepAnyhow {
            drop(self.rung.wait(lock));
            return;
        }
        // It ends by a ring and by nothing else, an unpark least of all.
        while self.rings.load(Ordering::Relaxed) == ticket.0 {
            lock = self.rung.wait(lock).unwrap();
        }
    }

    fn ring(&self) {
        self.rings.fetch_add(1, Ordering::Release);
        let _lock = self.lock.lock().unwrap();
        self.rung.notify_all();
    }
}

impl Bell {
    fn tell(&self) {
        self.news.store(true, Ordering::Release);
        if self.slip != Slip::WriteWithoutFence {
            fence(Ordering::SeqCst);
        }
        if self.armed.load(Ordering::Relaxed) != 0 {
            self.ring();
        }
    }

    fn there(&self) -> Option<()> {
        self.news.load(Ordering::Acquire).then_some(())
    }
}

/// A waiter on a bell that a second thread rings when it has written the news.
fn start(slip: Slip) -> (Arc<Bell>, Waiter, thread::JoinHandle<()>) {
    let bell = Arc::new(Bell { slip, ..Bell::default() });
    let policy = WaitPolicy { spin: 0, yields: 0, sleep: Duration::from_secs(3600) };
    let waiter = Waiter::new(bell.clone(), policy);
    let peer = Arc::clone(&bell);
    (bell, waiter, thread::spawn(move || peer.tell()))
}

fn on_the_thread(slip: Slip) {
    let (bell, waiter, peer) = start(slip);
    block_on(poll_fn(|cx| waiter.poll_until(cx, || bell.there())));
    peer.join().unwrap();
}

/// Under another executor: the helper sleeps on the bell and wakes the future, and ends with the waiter.
fn elsewhere(slip: Slip) {
    let (bell, waiter, peer) = start(slip);
    Sleeper::run(|cx| waiter.poll_until(cx, || bell.there()));
    peer.join().unwrap();
    drop(waiter);
}

/// A future that leaves its waker where another thread takes it, and may offer a bell too.
fn woken_by_waker(with_bell: bool) {
    let ready = Arc::new(AtomicBool::new(false));
    let place: Arc<Mutex<Option<Waker>>> = Arc::default();
    let (set, left) = (Arc::clone(&ready), Arc::clone(&place));
    let policy = WaitPolicy { spin: 0, yields: 0, sleep: Duration::from_secs(3600) };
    let waiter = Waiter::new(Arc::new(Bell::default()), policy);
    // On a thread that does nothing else: loom takes an unpark that comes late for the end of whatever blocks it then.
    let waits = thread::spawn(move || {
        block_on(poll_fn(|cx| {
            if with_bell {
                let never: Poll<()> = waiter.poll_until(cx, || None);
                assert!(never.is_pending());
            }
            *left.lock().unwrap() = Some(cx.waker().clone());
            if ready.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
        }));
    });
    set.store(true, Ordering::Release);
    let waker = place.lock().unwrap().take();
    if let Some(waker) = waker {
        waker.wake();
    }
    waits.join().unwrap();
}

/// Two wakers of one future: the second may come just when the first is being taken note of. Each flag is set before its
/// wake, and no lock orders them against the future's looks.
///
/// Loom does not switch threads between the note of a wake-up and the unpark after it, so this does not see that the note must
/// be taken back by a read-modify-write. The test of the same name beside `block_on` does.
fn two_wakers() {
    let waits = thread::spawn(|| {
        let flags: Arc<[AtomicBool; 2]> = Arc::default();
        let mut polls = 0;
        block_on(poll_fn(|cx| {
            polls += 1;
            // The first poll is a probe, whose waker wakes nobody.
            for which in (0..2).filter(|_| polls == 2) {
                let (flags, waker) = (Arc::clone(&flags), cx.waker().clone());
                thread::spawn(move || {
                    flags[which].store(true, Ordering::Relaxed);
                    waker.wake();
                });
            }
            let all = flags.iter().all(|flag| flag.load(Ordering::Relaxed));
            if all { Poll::Ready(()) } else { Poll::Pending }
        }));
    });
    waits.join().unwrap();
}

#[test]
fn block_on_loses_no_ring() {
    explore("block_on on a bell", None, || on_the_thread(Slip::Nothing));
}

#[test]
fn the_helper_loses_no_ring() {
    explore("the helper and a foreign future", Some(3), || elsewhere(Slip::Nothing));
}

#[test]
fn no_wake_up_is_lost_between_two() {
    explore("block_on and two wakers", Some(3), two_wakers);
}

#[test]
fn block_on_is_woken_by_its_waker() {
    explore("block_on and a waker", None, || woken_by_waker(false));
    explore("block_on on a bell, and a waker", Some(3), || woken_by_waker(true));
}

mod mutants {
    use super::*;

    #[test]
    fn arming_without_a_fence() {
        must_fail("deadlock", || on_the_thread(Slip::ArmWithoutFence));
    }

    #[test]
    fn a_sleep_that_does_not_compare() {
        must_fail("deadlock", || on_the_thread(Slip::SleepAnyhow));
    }

    #[test]
    fn a_write_without_a_fence() {
        must_fail("deadlock", || on_the_thread(Slip::WriteWithoutFence));
    }

    #[test]
    fn a_helper_that_arms_without_a_fence() {
        must_fail("deadlock", || elsewhere(Slip::ArmWithoutFence));
    }

    #[test]
    fn a_helper_that_does_not_compare() {
        must_fail("deadlock", || elsewhere(Slip::SleepAnyhow));
    }
}
