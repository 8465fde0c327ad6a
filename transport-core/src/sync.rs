//! What the lock-free protocols are made of: the standard library's primitives.
//!
//! In a build with `--cfg shmem_loom` they are loom's instead, which tries all schedules and all values that a load may see. So
//! the models in `loom_models` run the code of the product and no copy of it.

#[cfg(not(shmem_loom))]
pub(crate) use std::{
    hint,
    sync::{Condvar, Mutex, MutexGuard, atomic},
    thread, thread_local,
};

/// Loom's takes no `const`.
#[cfg(shmem_loom)]
macro_rules! modelled_thread_local {
    ($($(#[$doc:meta])* static $name:ident: $of:ty = const { $init:expr };)*) => {
        loom::thread_local! { $($(#[$doc])* static $name: $of = $init;)* }
    };
}
#[cfg(shmem_loom)]
pub(crate) use modelled_thread_local as thread_local;

#[cfg(shmem_loom)]
pub(crate) use loom::{
    hint,
    sync::{Condvar, Mutex, MutexGuard, atomic},
    thread,
};
