//! The part of the ABI of libibverbs that this crate uses: the only place of raw FFI.
