//! Kernels: computation on operands as a piece of a stream's work; and the library of them.

mod vector_add;

use std::fmt;
use std::sync::Arc;

use bytemuck::Pod;

pub use vector_add::{AddElement, VectorAdd, vector_add};

use super::error::Result;
use super::operand::{Operand, View};
use crate::transport::Endpoint;

/// What a kernel is given for one run.
#[derive(Clone, Copy)]
pub struct KernelContext<'a> {
    endpoint: &'a Endpoint,
}

impl<'a> KernelContext<'a> {
    pub(super) fn new(endpoint: &'a Endpoint) -> Self {
        Self { endpoint }
    }

    /// The PE that runs it.
    #[must_use]
    pub fn my_pe(&self) -> usize {
        self.endpoint.my_pe()
    }

    /// How many PEs the job has.
    #[must_use]
    pub fn n_pes(&self) -> usize {
        self.endpoint.n_pes()
    }

    /// Opens an operand. Two loads for a symmetric one, nothing for a buffer.
    ///
    /// # Errors
    ///
    /// [`Error::NotLive`](crate::Error::NotLive) if its symmetric allocation has been freed.
    #[inline]
    pub fn open<'b, T: Pod>(&'b self, operand: &'b Operand<T>) -> Result<View<'b, T>> {
        operand.view("kernel", "operand", self.endpoint.heap())
    }
}

impl fmt::Debug for KernelContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KernelContext(PE {} of {})", self.my_pe(), self.n_pes())
    }
}

/// A computation that a stream runs on its device.
///
/// It runs any number of times, on any thread, and on several at once if several streams launch it; so what changes
/// from one run to the next lives in its operands. It must not wait for peers.
///
/// ```
/// use std::sync::Arc;
/// use transport_core::graph::kernels::{Kernel, KernelContext};
/// use transport_core::graph::{GraphError, HostBuffer, Operand, Stream};
///
/// /// Every element becomes the PE's number.
/// struct Stamp {
///     out: Operand<u32>,
/// }
///
/// impl Kernel for Stamp {
///     fn name(&self) -> &str {
///         "stamp"
///     }
///     fn writes(&self) -> Vec<Operand<u8>> {
///         vec![self.out.bytes()]
///     }
///     fn run(&self, ctx: &KernelContext<'_>) -> Result<(), GraphError> {
///         let out = ctx.open(&self.out)?;
///         (0..out.len()).try_for_each(|i| out.write(i, &[ctx.my_pe() as u32]))
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// for (my_pe, pe) in transport_loopback::Threads::new(2).heap_size(1 << 20).start()?.into_iter().enumerate() {
///     let (stream, out) = (Stream::create(Arc::new(pe))?, HostBuffer::zeroed(3)?);
///     stream.launch_kernel(Stamp { out: (&out).into() })?;
///     stream.synchronize()?;
///     assert_eq!(out.read_vec(), [my_pe as u32; 3]);
/// }
/// # Ok(()) }
/// ```
pub trait Kernel: Send + Sync {
    /// What it is called, in errors and drawings.
    fn name(&self) -> &str;

    /// What it reads: checked to be live when enqueued, and drawn. Called when it is enqueued or drawn, not when it
    /// runs.
    fn reads(&self) -> Vec<Operand<u8>> {
        Vec::new()
    }

    /// What it writes, as [`reads`](Self::reads).
    fn writes(&self) -> Vec<Operand<u8>> {
        Vec::new()
    }

    /// Looks at its arguments when it is enqueued, so that a bad one is found there and not in the middle of a replay.
    ///
    /// # Errors
    ///
    /// Then it is not enqueued.
    fn check(&self, ctx: &KernelContext<'_>) -> Result<()> {
        let _ = ctx;
        Ok(())
    }

    /// Does it, once. Should allocate nothing.
    ///
    /// # Errors
    ///
    /// Then the stream is in error and skips what comes after.
    fn run(&self, ctx: &KernelContext<'_>) -> Result<()>;
}

impl<K: Kernel + ?Sized> Kernel for Arc<K> {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn reads(&self) -> Vec<Operand<u8>> {
        (**self).reads()
    }
    fn writes(&self) -> Vec<Operand<u8>> {
        (**self).writes()
    }
    fn check(&self, ctx: &KernelContext<'_>) -> Result<()> {
        (**self).check(ctx)
    }
    fn run(&self, ctx: &KernelContext<'_>) -> Result<()> {
        (**self).run(ctx)
    }
}
