//! Memory that others may write while we look at it.

mod mapping;
mod region;
mod shared_copy;

pub use region::Region;
pub use shared_copy::copy_shared;
