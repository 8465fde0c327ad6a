//! Work that blocks, for futures that must not.

use std::future::Future;
use std::io;

use tokio::sync::oneshot;

/// Runs `work`, which blocks, on a thread of its own that is called `name`: the executor that runs the caller may have
/// others to run. It begins at once, and goes on if the answer is dropped.
///
/// # Errors
///
/// There is no thread to be had; and, from the future, that `work` panicked.
pub fn on_thread<R: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> R + Send + 'static,
) -> io::Result<impl Future<Output = io::Result<R>> + Send> {
    let (done, result) = oneshot::channel();
    std::thread::Builder::new().name(name.into()).spawn(move || {
        // Nobody listens if the call was given up, or does not care.
        let _ = done.send(work());
    })?;
    Ok(async move { result.await.map_err(|_| io::Error::other("the thread panicked")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::block_on;

    #[test]
    fn it_answers_what_the_thread_did_or_that_it_panicked() {
        assert_eq!(block_on(on_thread("sum", || 1 + 1).unwrap()).unwrap(), 2);
        let name = on_thread("named", || std::thread::current().name().map(str::to_owned));
        assert_eq!(block_on(name.unwrap()).unwrap().as_deref(), Some("named"));
        #[allow(clippy::panic)]
        let panics = on_thread("panics", || -> u8 { panic!("on purpose") });
        assert!(block_on(panics.unwrap()).is_err());
    }
}
