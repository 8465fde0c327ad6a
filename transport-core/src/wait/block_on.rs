//! An executor for one thread, which sleeps where its future's news arrives.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;

use super::doorbell::Doorbell;
use super::parker::{Armed, Kit};
use super::waiter::WaitPolicy;
use crate::sync::atomic::Ordering;
use crate::sync::{thread, thread_local};

/// Runs `future` on this thread to its end. The thread belongs to the wait: in the backends it spins, yields, then sleeps.
///
/// It runs any future. One that waits for something else, e.g. a channel, parks the thread until it is woken.
///
/// ```
/// # use transport_core::{Transport, wait::block_on};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let pe = transport_loopback::Threads::new(1).start()?.remove(0);
/// block_on(pe.barrier_all())?;
/// # Ok(()) }
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    // Most often it need not wait, as a `quiet` after puts that are done. Then nothing more is set up.
    if let Poll::Ready(output) = probe_once(future.as_mut()) {
        return output;
    }
    let turn = Turn::begin();
    let mut cx = Context::from_waker(&turn.kit.waker);
    let mut round = 0_u32;
    loop {
        if let Poll::Ready(output) = turn.poll(round, &mut || future.as_mut().poll(&mut cx)) {
            return output;
        }
        // 0 again if a wait in it has ended: what is pending now is another, and begins by its own spin and yields.
        let asks;
        (round, asks) = NOW.with(|now| (now.round.get(), now.asks.get()));
        if asks == Asks::Yield {
            thread::yield_now();
            round = round.saturating_add(1);
            continue;
        }
        match take_offered() {
            Some(bell) => {
                let armed = Armed::new(&turn.kit.parker, bell.bell);
                let ticket = armed.bell.ticket();
                if let Poll::Ready(output) = turn.poll(round, &mut || future.as_mut().poll(&mut cx)) {
                    return output;
                }
                // That look may have ended the wait, and what is pending now is another, elsewhere: it begins anew.
                let again = take_offered();
                let (before, now) = (round, NOW.with(|now| now.round.get()));
                let goes_on = |again: Offered| again.several || Arc::ptr_eq(&again.bell, &armed.bell);
                if now != before || !again.is_some_and(goes_on) {
                    drop(armed);
                    round = now;
                    continue;
                }
                // With more than one bell to listen to, sleep on one and look at the others often.
                let limit = if bell.several { Duration::from_millis(1) } else { bell.policy.sleep };
                let limit = limit.min(nap(round.saturating_sub(bell.policy.yields)));
                if !turn.kit.parker.woken.load(Ordering::Acquire) {
                    armed.bell.sleep(ticket, limit);
                }
            }
            None => turn.kit.parker.park(),
        }
        // A read-modify-write: a plain store could land after the `true` of a waker whose news the poll below does not see
        // yet, and that wake-up would be lost.
        turn.kit.parker.woken.swap(false, Ordering::AcqRel);
        round = round.saturating_add(1);
    }
}

/// The longest sleep after so many of the same wait. Nobody rings for a word that a plain put changes, so one that sleeps for it
/// looks again after about as long as it has waited.
fn nap(sleeps: u32) -> Duration {
    const FIRST: Duration = Duration::from_micros(50);
    FIRST.saturating_mul(1 << sleeps.min(20))
}

/// Makes now what the first [`block_on`] of this thread that has to wait would make, so that even that one allocates
/// nothing. Streams do it for their own thread and for the one that creates them.
pub fn prepare_thread() {
    SPARE.with(|spare| {
        let kit = spare.take().unwrap_or_else(Kit::new);
        spare.set(Some(kit));
    });
}

/// One poll that neither spins nor leaves a waker anywhere.
#[inline]
fn probe_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    /// Sets the round back, after a panic too.
    struct Restore(u32);
    impl Drop for Restore {
        fn drop(&mut self) {
            NOW.with(|now| now.round.set(self.0));
        }
    }
    let _restore = Restore(NOW.with(|now| now.round.replace(1)));
    future.poll(&mut Context::from_waker(&PROBE))
}

/// What becomes of a pending future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Offer {
    /// It is polled again at once.
    Soon,
    /// `block_on` yields or sleeps on the bell, and then polls again.
    Taken,
    /// It runs elsewhere; its waker must be woken.
    ForeignExecutor,
}

/// Tells the `block_on` that polls us where news will arrive.
#[inline]
pub(super) fn offer(cx: &Context<'_>, bell: &Arc<dyn Doorbell>, policy: WaitPolicy) -> Offer {
    if std::ptr::eq(cx.waker().data(), PROBE.data()) {
        return Offer::Soon;
    }
    NOW.with(|now| {
        if !now.polls_with(cx) {
            return Offer::ForeignExecutor;
        }
        if now.round.get() < policy.yields {
            if now.asks.replace(Asks::Yield) == Asks::Sleep {
                drop(take_offered());
            }
            return Offer::Taken;
        }
        match now.asks.get() {
            // Another future of it is to be looked at soon, and so are we.
            Asks::Yield => {}
            Asks::Sleep => OFFERED.with(|offered| {
                if let Some(first) = &mut *offered.borrow_mut() {
                    first.several |= !Arc::ptr_eq(&first.bell, bell);
                }
            }),
            Asks::Nothing => {
                now.asks.set(Asks::Sleep);
                let offer = Offered { bell: Arc::clone(bell), policy, several: false };
                drop(OFFERED.with(|offered| offered.borrow_mut().replace(offer)));
            }
        }
        Offer::Taken
    })
}

/// How often to look before being pending: once after the first time round, since yielding and sleeping have their turn.
#[inline]
pub(super) fn spin_budget(spin: u32) -> u32 {
    if NOW.with(|now| now.round.get()) == 0 { spin } else { 0 }
}

/// How often to give the core away and look again before being pending, of the `yields` that a wait has. Not at all under another
/// executor, whose thread it is.
#[inline]
pub(super) fn yield_budget(cx: &Context<'_>, yields: u32) -> u32 {
    // So many, since others of the same `block_on` want to be looked at too, and the clock.
    const AT_ONCE: u32 = 8;
    NOW.with(|now| {
        if !now.polls_with(cx) {
            return 0;
        }
        let round = now.round.get();
        let budget = yields.saturating_sub(round).min(AT_ONCE);
        now.round.set(round + budget);
        budget
    })
}

fn take_offered() -> Option<Offered> {
    OFFERED.with(|offered| offered.borrow_mut().take())
}

/// A wait has ended; the next one on this thread begins anew.
#[inline]
pub(super) fn wait_ended() {
    NOW.with(|now| now.round.set(0));
}

/// The waker of the first poll: it wakes nobody, since a second poll with a real one follows. Known by its address.
static PROBE: Waker = probe();
static PROBE_IS_AT: u8 = 0;

const fn probe() -> Waker {
    const VTABLE: RawWakerVTable =
        RawWakerVTable::new(|data| RawWaker::new(data, &VTABLE), |_| {}, |_| {}, |_| {});
    // SAFETY: the functions do nothing with the data, and so keep the contract of a waker from any thread.
    unsafe { Waker::from_raw(RawWaker::new(&raw const PROBE_IS_AT as *const (), &VTABLE)) }
}

/// What the futures that were polled last ask of their `block_on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// To be woken.
    Nothing,
    /// To be polled after one yield.
    Yield,
    /// To sleep on the bell that was offered.
    Sleep,
}

/// The `block_on` that polls on this thread.
struct Now {
    /// The address of its parker: what a waker of it, and no other, carries as its data.
    parker: Cell<*const ()>,
    /// Its time round.
    round: Cell<u32>,
    asks: Cell<Asks>,
}

impl Now {
    /// Whether it is the one that polls: a waker other than its own means an executor between it and us, which must be told by
    /// that waker.
    #[inline]
    fn polls_with(&self, cx: &Context<'_>) -> bool {
        self.parker.get() == cx.waker().data()
    }
}

/// At an address that no waker has as its data.
static NOBODY: u8 = 0;

thread_local! {
    // Looked at in each turn of a wait: one line, and nothing to drop at the thread's end.
    static NOW: Now = const {
        Now { parker: Cell::new(&raw const NOBODY as *const ()), round: Cell::new(0), asks: Cell::new(Asks::Nothing) }
    };
    /// The bell to sleep on. There is none unless that is asked, so in a turn that asks for less nobody looks here.
    static OFFERED: RefCell<Option<Offered>> = const { RefCell::new(None) };
    /// Kept from one `block_on` to the next, so that one allocates nothing.
    static SPARE: Cell<Option<Rc<Kit>>> = const { Cell::new(None) };
}

struct Offered {
    bell: Arc<dyn Doorbell>,
    policy: WaitPolicy,
    /// Others were offered too.
    several: bool,
}

/// One `block_on`; ends it when dropped, on a panic too.
struct Turn {
    kit: Rc<Kit>,
    /// What the one around it was at.
    parker: *const (),
    round: u32,
    asks: Asks,
    offered: Option<Offered>,
}

impl Turn {
    fn begin() -> Self {
        let kit = SPARE.with(Cell::take).unwrap_or_else(Kit::new);
        kit.parker.woken.store(false, Ordering::Relaxed);
        NOW.with(|now| {
            let (parker, round, asks) =
                (now.parker.replace(kit.waker.data()), now.round.get(), now.asks.get());
            let offered = if asks == Asks::Sleep { take_offered() } else { None };
            Self { kit, parker, round, asks, offered }
        })
    }

    fn poll<R>(&self, round: u32, poll: &mut dyn FnMut() -> Poll<R>) -> Poll<R> {
        NOW.with(|now| {
            now.round.set(round);
            if now.asks.replace(Asks::Nothing) == Asks::Sleep {
                drop(take_offered());
            }
        });
        poll()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let asked = NOW.with(|now| {
            now.parker.set(self.parker);
            now.round.set(self.round);
            now.asks.replace(self.asks)
        });
        if asked == Asks::Sleep || self.offered.is_some() {
            let offered =
                OFFERED.with(|offered| std::mem::replace(&mut *offered.borrow_mut(), self.offered.take()));
            drop(offered);
        }
        // A waker of ours that is still held somewhere may wake this thread once for nothing; so no re-use then.
        if Arc::strong_count(&self.kit.parker) == 2 {
            SPARE.with(|spare| spare.set(Some(Rc::clone(&self.kit))));
        }
    }
}

#[cfg(test)]
mod tests;
