use super::*;
use crate::sync::atomic::{AtomicBool, AtomicUsize};
use crate::wait::{Ticket, Waiter};
use std::sync::mpsc;

#[test]
fn naps_grow_and_have_an_end() {
    assert_eq!(nap(0), Duration::from_micros(50));
    assert_eq!(nap(3), Duration::from_micros(400));
    assert!(nap(u32::MAX) > Duration::from_secs(1));
}

#[test]
fn a_future_of_another_kind_parks_and_is_woken() {
    let (send, receive) = tokio::sync::oneshot::channel();
    let helper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        send.send(7).unwrap();
    });
    assert_eq!(block_on(receive), Ok(7));
    helper.join().unwrap();
}

/// Two sources of wake-ups, where the second comes just when the first is being taken note of. Stores to cold memory
/// before that hold the note back in the core's store buffer.
#[test]
fn no_wake_up_is_lost_between_two() {
    // Unoptimised code is too slow to run into it; .ci/run runs this in release too.
    const ROUNDS: usize = if cfg!(debug_assertions) { 3000 } else { 50_000 };
    let (done, ended) = mpsc::channel();
    let go = Arc::new(AtomicBool::new(false));
    let (tasks, senders) = mpsc::channel::<(tokio::sync::oneshot::Sender<usize>, usize)>();
    let sender_go = Arc::clone(&go);
    std::thread::spawn(move || {
        while let Ok((send, delay)) = senders.recv() {
            while !sender_go.swap(false, Ordering::AcqRel) {
                std::hint::spin_loop();
            }
            (0..delay).for_each(|_| std::hint::spin_loop());
            let _ = send.send(delay);
        }
    });
    std::thread::spawn(move || {
        let mut cold = vec![1_u64; 16 << 20];
        let mut at = 1_usize;
        for round in 0..ROUNDS {
            let (send, receive) = tokio::sync::oneshot::channel();
            tasks.send((send, round % 60)).unwrap();
            let (mut receive, mut yields) = (pin!(receive), 3);
            let got = block_on(std::future::poll_fn(|cx| {
                if let Poll::Ready(got) = receive.as_mut().poll(cx) {
                    return Poll::Ready(got);
                }
                if yields > 0 {
                    yields -= 1;
                    cx.waker().wake_by_ref();
                    if yields == 0 {
                        go.store(true, Ordering::Release);
                        for _ in 0..12 {
                            at = at
                                .wrapping_mul(6_364_136_223_846_793_005)
                                .wrapping_add(1_442_695_040_888_963_407);
                            cold[(at >> 20) % (16 << 20)] = 1;
                        }
                    }
                }
                Poll::Pending
            }));
            assert_eq!(got, Ok(round % 60));
        }
        done.send(()).unwrap();
    });
    ended.recv_timeout(Duration::from_secs(60)).expect("a wake-up was lost");
}

/// A bell that brings about what is waited for as soon as somebody is armed, and must not be slept on then.
#[derive(Default)]
struct Early {
    has_come: AtomicBool,
    sleeps: AtomicUsize,
}

impl Doorbell for Early {
    fn arm(&self) {
        self.has_come.store(true, Ordering::SeqCst);
    }
    fn disarm(&self) {}
    fn ticket(&self) -> Ticket {
        Ticket(0)
    }
    fn sleep(&self, _: Ticket, _: Duration) {
        self.sleeps.fetch_add(1, Ordering::SeqCst);
    }
    fn ring(&self) {}
}

#[test]
fn a_wait_that_ends_before_the_sleep_leaves_the_next_one_its_own_bell() {
    let bells = [(); 2].map(|()| Arc::new(Early::default()));
    let policy = WaitPolicy { spin: 0, yields: 1, sleep: Duration::from_secs(1) };
    let waiters = bells.each_ref().map(|bell| Waiter::new(Arc::clone(bell) as Arc<dyn Doorbell>, policy));
    block_on(async {
        for (bell, waiter) in bells.iter().zip(&waiters) {
            let has_come = || bell.has_come.load(Ordering::SeqCst).then_some(());
            std::future::poll_fn(|cx| waiter.poll_until(cx, has_come)).await;
        }
    });
    assert_eq!(bells.each_ref().map(|bell| bell.sleeps.load(Ordering::SeqCst)), [0, 0]);
}

#[test]
fn one_inside_another_leaves_the_outer_usable() {
    let (send, receive) = tokio::sync::oneshot::channel();
    let got = block_on(async move {
        block_on(async { send.send(3).unwrap() });
        receive.await.unwrap()
    });
    assert_eq!(got, 3);
}

#[test]
fn a_panic_in_the_future_leaves_the_thread_usable() {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let panicked = std::panic::catch_unwind(|| block_on(async { panic!("on purpose") }));
        send.send((panicked.is_err(), block_on(async { 5 }))).unwrap();
    });
    assert_eq!(receive.recv().unwrap(), (true, 5));
}
