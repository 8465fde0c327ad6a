//! A put and its signal against a PE that waits for it.

use std::sync::Arc;

use transport_core::{Cmp, SignalOp, Transport};

use super::{end, explore, job, on_thread, read, word};

const DATA: usize = 0;
const SIGNAL: usize = 1;

fn put_with_signal(op: SignalOp) {
    let (pes, area) = job(2, 2);
    let (data, signal) = (word(area, DATA), word(area, SIGNAL));
    pes[0].heap().write(data, &[7]).unwrap();
    let (from, to) = (Arc::clone(&pes[0]), Arc::clone(&pes[1]));
    let waits = on_thread(move || async move {
        to.signal_wait_until(signal, Cmp::Eq, 1).await.unwrap();
        assert_eq!(read(&to, data), 7, "the signal came before its data");
    });
    from.put_signal_nbi(data, data, signal, op, 1).unwrap();
    waits.join().unwrap();
    end(&pes);
}

#[test]
fn a_waiter_is_woken_and_sees_the_data() {
    explore("put, set, wait", None, || put_with_signal(SignalOp::Set(1)));
    explore("put, add, wait", None, || put_with_signal(SignalOp::Add(1)));
}
