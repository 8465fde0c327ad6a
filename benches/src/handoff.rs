//! The yardstick: a cache line that goes to and fro between two threads, with nothing around it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A counter that shares its cache line with nothing.
#[repr(align(128))]
struct Line(AtomicU64);

/// The time of `rounds` round trips: there and back.
#[must_use]
pub fn bare_handoff(rounds: u64) -> Duration {
    let (there, back) = (Line(AtomicU64::new(0)), Line(AtomicU64::new(0)));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=rounds {
                wait_for(&there.0, round);
                back.0.store(round, Ordering::Release);
            }
        });
        let start = Instant::now();
        for round in 1..=rounds {
            there.0.store(round, Ordering::Release);
            wait_for(&back.0, round);
        }
        start.elapsed()
    })
}

fn wait_for(line: &AtomicU64, value: u64) {
    let mut looks = 0_u32;
    while line.load(Ordering::Acquire) < value {
        looks += 1;
        // On one core the other thread must get its turn.
        if looks.is_multiple_of(10_000) { std::thread::yield_now() } else { std::hint::spin_loop() }
    }
}
