//! Models of the hand-over between those who submit and wait and the queue's thread. See `crate::loom_models`.

use super::super::node::{Node, Task};
use super::*;
use crate::loom_models::Sleeper;
use crate::model_run::{explore, must_fail};

const LONG: Duration = Duration::from_secs(3600);

fn work() -> Work {
    Work::node(Node(Task::BarrierAll))
}

/// The queue, and its thread, which counts the work and does none.
fn start() -> (Arc<Shared>, thread::JoinHandle<()>) {
    let shared = Arc::new(Shared::new(0));
    let theirs = Arc::clone(&shared);
    let worker = thread::spawn(move || {
        let mut woken = Vec::new();
        while let Some((work, skip)) = theirs.next() {
            assert!(!skip);
            drop(work);
            theirs.end(Ok(()), &mut woken);
        }
    });
    (shared, worker)
}

#[test]
fn what_is_submitted_ends_and_who_waits_is_told() {
    explore("stream, 2 works, 1 wait", None, || {
        let (shared, worker) = start();
        shared.submit("submit", work()).unwrap();
        shared.submit("submit", work()).unwrap();
        shared.wait_for("wait", shared.submitted(), LONG).unwrap();
        shared.stop();
        worker.join().unwrap();
    });
}

#[test]
fn two_that_wait_for_different_works_are_both_told() {
    explore("stream, 2 works, 2 waits", Some(3), || {
        let (shared, worker) = start();
        shared.submit("submit", work()).unwrap();
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || other.wait_for("wait", 1, LONG).unwrap());
        shared.submit("submit", work()).unwrap();
        shared.wait_for("wait", 2, LONG).unwrap();
        other.join().unwrap();
        shared.stop();
        worker.join().unwrap();
    });
}

#[test]
fn a_future_is_woken_beside_a_thread_that_waits() {
    explore("stream, 1 work, a future and a thread", Some(3), || {
        let (shared, worker) = start();
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || other.wait_for("wait", 1, LONG).unwrap());
        shared.submit("submit", work()).unwrap();
        Sleeper::run(|cx| shared.poll_done("wait", 1, cx)).unwrap();
        other.join().unwrap();
        shared.stop();
        worker.join().unwrap();
    });
}

/// It asks whether the thread sleeps before it appends the work.
#[test]
fn mutant_that_asks_too_early_is_found() {
    must_fail("deadlock", || {
        let (shared, worker) = start();
        let asleep = std::mem::take(&mut shared.state().asleep);
        shared.state().queue.push_back(work());
        shared.submitted.fetch_add(1, Ordering::Release);
        if asleep {
            shared.work.notify_one();
        }
        shared.wait_for("wait", 1, LONG).unwrap();
        shared.stop();
        worker.join().unwrap();
    });
}

/// It sleeps without another look under the lock.
#[test]
fn mutant_that_does_not_look_under_the_lock_is_found() {
    must_fail("deadlock", || {
        let (shared, worker) = start();
        shared.submit("submit", work()).unwrap();
        if shared.ended.load(Ordering::Acquire) < 1 {
            let mut state = shared.state();
            state.wake_at = 1;
            drop(shared.done.wait(state));
        }
        shared.stop();
        worker.join().unwrap();
    });
}
