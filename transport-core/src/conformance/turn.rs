//! Giving others a turn, and dropping a future half way.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use crate::error::Result;
use crate::transport::Transport;

/// Lets the other tasks of this thread, and the other threads of this core, run.
pub(super) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::thread::yield_now();
        Poll::Pending
    })
    .await;
}

/// Yields until `done`, or until the transport's deadline: false then. For words that nothing wakes anybody for.
pub(super) async fn look_until<X: Transport>(pe: &X, mut done: impl FnMut() -> Result<bool>) -> Result<bool> {
    let begin = Instant::now();
    while !done()? {
        if begin.elapsed() > pe.timeout() {
            return Ok(false);
        }
        yield_now().await;
    }
    Ok(true)
}

/// Polls `future` once and drops it, with a waker that nobody hears if `deaf`. Its answer if it had one at once.
pub(super) async fn poll_once<F: Future + Send>(future: F, deaf: bool) -> Option<F::Output>
where
    F::Output: Send,
{
    let mut future = pin!(future);
    let answer = poll_fn(|cx| {
        let polled = match deaf {
            true => future.as_mut().poll(&mut Context::from_waker(Waker::noop())),
            false => future.as_mut().poll(cx),
        };
        Poll::Ready(polled)
    });
    match answer.await {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}
