//! Compares the structs, constants and functions that `transport-roce` declares by hand with those that bindgen makes of
//! `verbs.h`.
//!
//! The other side of the comparison is `ibverbs-sys`, the raw half of the crate `ibverbs`, with the headers of rdma-core
//! 55. To build it takes cmake, pkg-config, a C compiler, libclang, and the headers of libnl and libibverbs; on Debian:
//!
//! ```sh
//! apt-get install cmake pkg-config gcc libclang-dev libnl-3-dev libnl-route-3-dev libibverbs-dev
//! cargo test --locked --manifest-path transport-roce/abi-check/Cargo.toml
//! ```
//!
//! None of that is needed to build or run anything else of this repository, which is why this crate is a workspace of its
//! own. It needs no RDMA device. All of it is in `tests/`: there is nothing to call here.
//!
//! What is added to `transport-roce/src/abi` and not to the tables here fails a test or does not compile.
