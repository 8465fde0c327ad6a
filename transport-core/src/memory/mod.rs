//! Memory that others may write while we look at it.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod copy_x86_64;
mod mapping;
#[cfg(shmem_loom)]
mod modelled;
mod region;
mod shared_copy;

pub(crate) use mapping::huge_page;
pub use region::Region;
pub use shared_copy::copy_shared;
