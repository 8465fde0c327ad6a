//! One piece of work, as a stream runs it and a graph keeps it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::error::{GraphError, Result};
use super::kernels::{Kernel, KernelContext};
use super::operand::Operand;
use crate::collectives::AllGather;
use crate::heap::SymSlice;
use crate::transport::{Endpoint, Transport};

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeKind {
    /// Runs a kernel.
    Kernel,
    /// Copies memory.
    Copy,
    /// Gathers everybody's part at everybody.
    AllGather,
    /// Waits for all PEs.
    BarrierAll,
    /// Waits until earlier puts are visible.
    Quiet,
    /// Begins a put.
    PutNbi,
    /// Calls a function of the host.
    HostFunction,
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kernel => "kernel",
            Self::Copy => "copy",
            Self::AllGather => "all_gather",
            Self::BarrierAll => "barrier_all",
            Self::Quiet => "quiet",
            Self::PutNbi => "put_nbi",
            Self::HostFunction => "host function",
        })
    }
}

/// One node of a [`Graph`](super::Graph). It holds what it uses alive.
#[derive(Clone)]
pub struct Node(pub(super) Task);

#[derive(Clone)]
pub(super) enum Task {
    Kernel(Arc<dyn Kernel>),
    Copy { dst: Operand<u8>, src: Operand<u8> },
    AllGather(AllGather),
    BarrierAll,
    Quiet,
    PutNbi { dst: SymSlice<u8>, src: SymSlice<u8>, pe: usize },
    HostFunction { name: &'static str, call: Arc<dyn Fn() + Send + Sync> },
}

impl Node {
    /// What it does.
    #[must_use]
    pub fn kind(&self) -> NodeKind {
        match &self.0 {
            Task::Kernel(_) => NodeKind::Kernel,
            Task::Copy { .. } => NodeKind::Copy,
            Task::AllGather(_) => NodeKind::AllGather,
            Task::BarrierAll => NodeKind::BarrierAll,
            Task::Quiet => NodeKind::Quiet,
            Task::PutNbi { .. } => NodeKind::PutNbi,
            Task::HostFunction { .. } => NodeKind::HostFunction,
        }
    }

    /// What it is called besides: the kernel's name, the algorithm, the spaces copied between, the target, the
    /// function's type. Empty where the kind says all.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.0 {
            Task::Kernel(kernel) => kernel.name().into(),
            Task::Copy { dst, src } => format!("{} to {}", src.space(), dst.space()),
            Task::AllGather(plan) => plan.algorithm().to_string(),
            Task::BarrierAll | Task::Quiet => String::new(),
            Task::PutNbi { pe, .. } => format!("to PE {pe}"),
            Task::HostFunction { name, .. } => (*name).into(),
        }
    }

    /// What it reads of this PE, as bytes.
    #[must_use]
    pub fn reads(&self) -> Vec<Operand<u8>> {
        match &self.0 {
            Task::Kernel(kernel) => kernel.reads(),
            Task::Copy { src, .. } => vec![src.clone()],
            Task::AllGather(plan) => vec![plan.src().into()],
            Task::PutNbi { src, .. } => vec![src.into()],
            Task::BarrierAll | Task::Quiet | Task::HostFunction { .. } => Vec::new(),
        }
    }

    /// What it writes of this PE, as bytes. A put writes another's.
    #[must_use]
    pub fn writes(&self) -> Vec<Operand<u8>> {
        match &self.0 {
            Task::Kernel(kernel) => kernel.writes(),
            Task::Copy { dst, .. } => vec![dst.clone()],
            Task::AllGather(plan) => vec![plan.dst().into()],
            Task::PutNbi { .. } | Task::BarrierAll | Task::Quiet | Task::HostFunction { .. } => Vec::new(),
        }
    }

    /// Does it, once.
    #[inline]
    pub(super) async fn run<X: Transport + ?Sized>(&self, transport: &X) -> Result<()> {
        match &self.0 {
            Task::Kernel(kernel) => run_kernel(&**kernel, transport.endpoint()),
            Task::Copy { dst, src } => dst.copy_from(src, transport.heap()),
            Task::AllGather(plan) => Ok(plan.run(transport).await?),
            Task::BarrierAll => Ok(transport.barrier_all().await?),
            Task::Quiet => Ok(transport.quiet().await?),
            Task::PutNbi { dst, src, pe } => Ok(transport.put_nbi(*dst, *src, *pe)?),
            Task::HostFunction { call, .. } => catch(|| {
                call();
                Ok(())
            }),
        }
    }

    /// That it failed as node `index` of `of`.
    #[cold]
    pub(super) fn failed(&self, my_pe: usize, index: usize, of: usize, cause: GraphError) -> GraphError {
        let (kind, name, cause) = (self.kind(), self.name().into(), Arc::new(cause));
        GraphError::NodeFailed { my_pe, node: index, of, kind, name, cause }
    }
}

fn run_kernel(kernel: &dyn Kernel, endpoint: &Endpoint) -> Result<()> {
    catch(|| kernel.run(&KernelContext::new(endpoint)))
}

/// Calls the user's code; a panic of it is an error.
pub(super) fn catch<R>(call: impl FnOnce() -> Result<R>) -> Result<R> {
    // What it may have left half done is its own; ours is not in its reach.
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => Arc::from(*text),
            (_, Some(text)) => Arc::from(text.as_str()),
            _ => Arc::from("(no message)"),
        };
        Err(GraphError::Panicked { message })
    })
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?} -> {:?}", self.kind(), self.name(), self.reads(), self.writes())
    }
}
