//! Recording instead of running.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Thread, ThreadId};

use super::error::{GraphError, Result};
use super::node::Node;
use crate::transport::capturing;

/// What the thread that captures may do meanwhile, besides recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaptureMode {
    /// Calls of a transport that block (`quiet`, `barrier_all`, `alloc`, ...) and waiting for any stream are refused on
    /// this thread with [`BlockingInCapture`](crate::Error::BlockingInCapture): in a capture they are most often meant
    /// as nodes. The same thread must end it.
    ThreadLocal,
    /// All, except waiting for the stream that captures. Any thread may end it.
    Relaxed,
}

/// Whether a stream is in a capture, and what it has recorded.
#[derive(Default)]
pub(super) struct Capture {
    /// Whether `open` holds something; looked at without the lock by each launch.
    records: AtomicBool,
    open: Mutex<Option<Open>>,
}

struct Open {
    mode: CaptureMode,
    began: Thread,
    nodes: Vec<Node>,
}

impl Capture {
    #[inline]
    pub(super) fn records(&self) -> bool {
        self.records.load(Ordering::Acquire)
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        // No code of others runs under the lock.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, mode: CaptureMode, my_pe: usize, stream: &Arc<str>) -> Result<()> {
        let mut open = self.open();
        if open.is_some() {
            return Err(GraphError::NestedCapture { my_pe, stream: Arc::clone(stream) });
        }
        if mode == CaptureMode::ThreadLocal {
            capturing::begin_strict();
        }
        *open = Some(Open { mode, began: std::thread::current(), nodes: Vec::new() });
        self.records.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether the nodes were recorded; not, and none taken, if the capture has ended meanwhile.
    pub(super) fn record(&self, nodes: &mut dyn Iterator<Item = Node>) -> bool {
        match &mut *self.open() {
            Some(open) => {
                open.nodes.extend(nodes);
                true
            }
            None => false,
        }
    }

    pub(super) fn end(&self, my_pe: usize, stream: &Arc<str>) -> Result<Vec<Node>> {
        let mut open = self.open();
        let Some(ended) = open.take() else {
            return Err(GraphError::NotCapturing { my_pe, stream: Arc::clone(stream) });
        };
        if ended.mode == CaptureMode::ThreadLocal {
            if ended.began.id() != this_thread() {
                let began = name(&ended.began);
                *open = Some(ended);
                return Err(GraphError::OtherThread { my_pe, stream: Arc::clone(stream), began });
            }
            capturing::end_strict();
        }
        self.records.store(false, Ordering::Release);
        Ok(ended.nodes)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(open) = open.filter(|open| open.mode == CaptureMode::ThreadLocal) else { return };
        if open.began.id() == this_thread() {
            capturing::end_strict();
        } else {
            tracing::warn!(
                thread = %name(&open.began),
                "a stream was dropped by another thread than the one that captures on it; that one can block no more"
            );
        }
    }
}

fn this_thread() -> ThreadId {
    std::thread::current().id()
}

fn name(thread: &Thread) -> Arc<str> {
    thread.name().map_or_else(|| format!("{:?}", thread.id()).into(), Arc::from)
}
