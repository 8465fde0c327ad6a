//! Models of the protocols of the shared memory: loom runs them under all schedules, and with all values that the memory
//! order allows a load to see. They take the backend as it is, over modelled words and a modelled futex, so a wait that
//! misses its ring is a deadlock, which fails the model.
//!
//! ```text
//! RUSTFLAGS="--cfg shmem_loom" cargo test --release -p transport-loopback --lib loom
//! ```
//!
//! Each model has mutants beside it, with one step of the protocol left out or made weaker, which must fail: so it is known
//! that the model would see such a slip. The cfg is not plain `loom`, since tokio leaves out its sockets under that one.

mod barrier;
mod bell;
mod signal;
mod turn;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use transport_core::memory::Region;
use transport_core::model_run::{explore, must_fail};
use transport_core::wait::{WaitPolicy, block_on};
use transport_core::{SymSlice, Transport};

use crate::job_memory::JobMemory;
use crate::{Loopback, Threads};

/// The memory of `n_pes` PEs, with all words named that the models use, before any thread is started.
fn memory(n_pes: usize) -> JobMemory {
    const HEAP: u64 = 64;
    let len = JobMemory::len(n_pes, HEAP).unwrap();
    let memory = JobMemory::new(Region::zeroed(len as usize), n_pes, HEAP);
    for pe in 0..n_pes {
        let rounds = transport_core::transport::Dissemination::rounds(n_pes);
        let (_, _, _, _) = (memory.rings(pe), memory.armed(pe), memory.entered(pe), memory.finished(pe));
        (0..rounds).for_each(|round| _ = memory.flag(pe, round));
    }
    memory
}

/// Sets the barrier's counters, as far as they are used.
fn set_epoch(memory: &JobMemory, n_pes: usize, epoch: u32) {
    use crate::sync::atomic::Ordering::Relaxed;
    for pe in 0..n_pes {
        memory.entered(pe).store(epoch, Relaxed);
        memory.finished(pe).store(epoch, Relaxed);
        for round in 0..transport_core::transport::Dissemination::rounds(n_pes) {
            memory.flag(pe, round).store(epoch, Relaxed);
        }
    }
}

/// A job whose PEs sleep at once, and `words` words of each one's heap.
fn job(n_pes: usize, words: usize) -> (Vec<Arc<Loopback>>, SymSlice<u64>) {
    let memory = memory(n_pes);
    let policy = WaitPolicy { spin: 0, yields: 0, sleep: Duration::from_secs(3600) };
    let pes = Threads::new(n_pes).wait_policy(policy).timeout(Duration::from_secs(7200)).over(&memory);
    let area: SymSlice<u64> = pes[0].heap().backend_area(n_pes, 8 * words as u64).unwrap().cast().unwrap();
    for pe in &pes {
        (0..words).for_each(|word| _ = pe.heap().region().word(area.offset() + 8 * word as u64));
    }
    (pes.into_iter().map(Arc::new).collect(), area)
}

/// One word of `area`.
fn word(area: SymSlice<u64>, index: usize) -> SymSlice<u64> {
    area.slice(index..=index).unwrap()
}

fn read(pe: &Loopback, word: SymSlice<u64>) -> u64 {
    pe.heap().read_vec(word).unwrap()[0]
}

/// Ends the job without the words of a `finalize`, which are no part of a model.
fn end(pes: &[Arc<Loopback>]) {
    pes.iter().for_each(|pe| pe.endpoint().failures().finalized());
}

/// Runs `work` on a thread of the model.
fn on_thread<R: 'static, F: Future<Output = R>>(
    work: impl FnOnce() -> F + 'static,
) -> loom::thread::JoinHandle<R> {
    loom::thread::spawn(move || block_on(work()))
}
