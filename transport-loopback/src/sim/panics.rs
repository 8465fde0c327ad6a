//! A panic of a PE is a result, not a message on the terminal: thousands of schedules may have one.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static CATCHES: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Once in a process: panics of this thread inside of [`caught`] are kept; all others go where they went.
fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !CATCHES.get() {
                return before(info);
            }
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let text = text.unwrap_or("(no message)");
            let message = match info.location() {
                Some(place) => format!("{text} ({}:{})", place.file(), place.line()),
                None => text.to_owned(),
            };
            MESSAGE.with_borrow_mut(|kept| *kept = Some(message));
        }));
    });
}

/// Calls code of the user; its panic is an error, with message and place.
pub(super) fn caught<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    install();
    let before = CATCHES.replace(true);
    // What it may have left half done is dropped with its schedule.
    let result = catch_unwind(AssertUnwindSafe(call));
    CATCHES.set(before);
    result.map_err(|_| MESSAGE.take().unwrap_or_else(|| "(no message)".to_owned()))
}
