//! Models of the lock-free protocols: loom runs them under all schedules, and with all values that the memory order allows
//! a load to see. They take the code as it is; see `crate::sync`. A wait that misses its wake-up is a deadlock, which fails
//! the model.
//!
//! ```text
//! RUSTFLAGS="--cfg shmem_loom" cargo test --release -p transport-core --lib loom
//! ```
//!
//! Each model has mutants beside it, with one step left out or made weaker, which must fail: so it is known that the model
//! would see such a slip. The cfg is not plain `loom`, since tokio leaves out its sockets under that one.

mod wait;

use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::sync::{Condvar, Mutex};

/// An executor of another kind: it sleeps until its waker is called.
#[derive(Default)]
pub(crate) struct Sleeper {
    woken: Mutex<bool>,
    news: Condvar,
}

impl Sleeper {
    pub(crate) fn run<R>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>) -> R {
        let sleeper = Arc::new(Self::default());
        let waker = Waker::from(Arc::clone(&sleeper));
        loop {
            if let Poll::Ready(answer) = poll(&mut Context::from_waker(&waker)) {
                return answer;
            }
            let mut woken = sleeper.woken.lock().unwrap();
            while !std::mem::take(&mut *woken) {
                woken = sleeper.news.wait(woken).unwrap();
            }
        }
    }
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        *self.woken.lock().unwrap() = true;
        self.news.notify_one();
    }
}
