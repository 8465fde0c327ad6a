//! The calls that enqueue work on a stream, or record it.

use std::sync::Arc;

use bytemuck::Pod;

use super::error::Result;
use super::kernels::{Kernel, KernelContext};
use super::node::{Node, Task};
use super::operand::Operand;
use super::queue::Work;
use super::stream::Stream;
use crate::collectives::{AllGather, AllGatherAlgorithm};
use crate::error::Error;
use crate::heap::SymSlice;
use crate::transport::Transport;

/// All of these return at once: what they enqueue runs after what was enqueued before, and in a capture is only
/// recorded.
///
/// A bad argument is an error of the call, and then nothing is enqueued or recorded. Besides what each says, all answer
/// [`StreamFailed`](super::GraphError::StreamFailed) on a stream in error, and for an operand whose symmetric
/// allocation has been freed [`NotLive`](crate::Error::NotLive): here, or, if it is freed later, at the time it runs.
impl<X: Transport> Stream<X> {
    /// Runs a kernel.
    ///
    /// # Errors
    ///
    /// As [`Kernel::check`].
    pub fn launch_kernel(&self, kernel: impl Kernel + 'static) -> Result<()> {
        const OP: &str = "launch_kernel";
        let ctx = KernelContext::new(self.transport().endpoint());
        self.refuse_dead(OP, &kernel.reads(), &kernel.writes())?;
        kernel.check(&ctx)?;
        self.enqueue(OP, Task::Kernel(Arc::new(kernel)))
    }

    /// Copies all of `src` to `dst`, of the same length: between device, pinned host and symmetric memory, in any
    /// direction. Source and destination may be equal.
    ///
    /// # Errors
    ///
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`Overlap`](crate::Error::Overlap) if they overlap in part.
    pub fn memcpy_async<T: Pod>(&self, dst: impl Into<Operand<T>>, src: impl Into<Operand<T>>) -> Result<()> {
        const OP: &str = "memcpy_async";
        let (dst, src) = (dst.into().bytes(), src.into().bytes());
        let my_pe = self.transport().my_pe();
        dst.refuse_other_length(OP, my_pe, &src)?;
        dst.refuse_partial_overlap(OP, my_pe, &src)?;
        dst.view(OP, "destination", self.transport().heap())?;
        src.view(OP, "source", self.transport().heap())?;
        self.enqueue(OP, Task::Copy { dst, src })
    }

    /// Collective: part `i` of `dst`, on every PE, becomes `src` of PE `i`, as
    /// [`collectives::all_gather`](crate::collectives::all_gather).
    ///
    /// # Errors
    ///
    /// As [`AllGather::new`].
    pub fn all_gather<T: Pod>(
        &self,
        dst: SymSlice<T>,
        src: SymSlice<T>,
        algorithm: AllGatherAlgorithm,
    ) -> Result<()> {
        let plan = AllGather::new(&**self.transport(), dst, src, algorithm)?;
        self.prepare(0..self.transport().n_pes())?;
        self.enqueue("all_gather", Task::AllGather(plan))
    }

    /// Collective: as [`all_gather`](Self::all_gather), where this PE's part of `buffer` is what it contributes.
    ///
    /// # Errors
    ///
    /// As [`AllGather::in_place`].
    pub fn all_gather_in_place<T: Pod>(
        &self,
        buffer: SymSlice<T>,
        algorithm: AllGatherAlgorithm,
    ) -> Result<()> {
        let plan = AllGather::in_place(&**self.transport(), buffer, algorithm)?;
        self.prepare(0..self.transport().n_pes())?;
        self.enqueue("all_gather", Task::AllGather(plan))
    }

    /// Collective: waits for all PEs, and for this one's puts to be visible.
    ///
    /// # Errors
    ///
    /// Only those of every call; what goes wrong later, e.g. [`Timeout`](crate::Error::Timeout), is said by
    /// [`synchronize`](Self::synchronize).
    pub fn barrier_all(&self) -> Result<()> {
        self.enqueue("barrier_all", Task::BarrierAll)
    }

    /// Waits until this PE's puts are visible at their targets.
    ///
    /// # Errors
    ///
    /// As [`barrier_all`](Self::barrier_all).
    pub fn quiet(&self) -> Result<()> {
        self.enqueue("quiet", Task::Quiet)
    }

    /// Begins to write `src` of this PE to `dst` of `pe`, as [`Transport::put_nbi`]. The next node runs at once; `src`
    /// must stay as it is until a [`quiet`](Self::quiet) or [`barrier_all`](Self::barrier_all).
    ///
    /// # Errors
    ///
    /// [`NoSuchPe`](crate::Error::NoSuchPe), [`LengthMismatch`](crate::Error::LengthMismatch);
    /// [`Overlap`](crate::Error::Overlap) for a put to itself that overlaps in part.
    pub fn put_nbi<T: Pod>(&self, dst: SymSlice<T>, src: SymSlice<T>, pe: usize) -> Result<()> {
        const OP: &str = "put_nbi";
        let (my_pe, n_pes) = (self.transport().my_pe(), self.transport().n_pes());
        if pe >= n_pes {
            return Err(Error::NoSuchPe { op: OP, my_pe, pe, n_pes }.into());
        }
        let (to, from) = (Operand::from(dst), Operand::from(src));
        to.refuse_other_length(OP, my_pe, &from)?;
        if pe == my_pe {
            to.refuse_partial_overlap(OP, my_pe, &from)?;
        }
        self.transport().heap().check(OP, "destination", dst)?;
        self.transport().heap().check(OP, "source", src)?;
        self.prepare(pe..pe + 1)?;
        self.enqueue(OP, Task::PutNbi { dst: dst.bytes(), src: src.bytes(), pe })
    }

    /// Calls a function of the host, on the stream's thread. It may look at buffers and enqueue more work, here too,
    /// but not wait for this stream. A panic of it puts the stream in error.
    ///
    /// # Errors
    ///
    /// Only those of every call.
    pub fn launch_host_func<F: Fn() + Send + Sync + 'static>(&self, call: F) -> Result<()> {
        let name = std::any::type_name::<F>();
        self.enqueue("launch_host_func", Task::HostFunction { name, call: Arc::new(call) })
    }

    fn refuse_dead(&self, op: &'static str, reads: &[Operand<u8>], writes: &[Operand<u8>]) -> Result<()> {
        let heap = self.transport().heap();
        reads.iter().try_for_each(|source| source.view(op, "source", heap).map(drop))?;
        writes.iter().try_for_each(|destination| destination.view(op, "destination", heap).map(drop))
    }

    /// In a capture, makes ready to reach `pes`: a replay must not stop to connect.
    fn prepare(&self, mut pes: std::ops::Range<usize>) -> Result<()> {
        if self.capture_state().records() {
            pes.try_for_each(|pe| self.transport().prepare(pe))?;
        }
        Ok(())
    }

    fn enqueue(&self, op: &'static str, task: Task) -> Result<()> {
        let mut node = Some(Node(task));
        if self.capture_state().records() && self.record(op, &mut std::iter::from_fn(|| node.take()))? {
            return Ok(());
        }
        match node {
            Some(node) => self.queue().submit(op, Work::node(node)),
            None => Ok(()),
        }
    }
}
