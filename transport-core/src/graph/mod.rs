//! Streams, and graphs captured from them.
//!
//! A [`Stream`] runs work in order on its own thread: kernels, copies between device, host and symmetric memory,
//! collectives, host functions. Between [`capture_begin`](Stream::capture_begin) and
//! [`capture_end`](Stream::capture_end) it records instead, and gives a [`Graph`], which can be
//! [launched](Graph::launch) any number of times, or [run as a future](Graph::run) without any thread. Names follow
//! ACL, the runtime of the Ascend accelerators.
//!
//! What stands where that runtime could stand is one trait: see [`Queue`].

mod buffer;
mod capture;
mod captured;
mod dot;
mod enqueue;
mod error;
mod handover;
mod host_queue;
mod inline_queue;
pub mod kernels;
mod node;
mod operand;
mod program;
mod queue;
mod stream;

pub use buffer::{Buffer, BufferSpace, Device, DeviceBuffer, HostBuffer, Pinned};
pub use capture::CaptureMode;
pub use captured::Graph;
pub use error::{GraphError, Result};
pub use host_queue::HostQueue;
pub use inline_queue::InlineQueue;
pub use kernels::{Kernel, KernelContext};
pub use node::{Node, NodeKind};
pub use operand::{MemorySpace, Operand, View};
pub use queue::{Failure, Queue, Work};
pub use stream::Stream;
