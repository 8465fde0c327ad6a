//! Collective allocation: all PEs say what they want, see what the others want, and only then do it.
//!
//! The records travel as puts into the heap's own area, so a call costs two barriers and one message a peer,
//! and needs nothing of the backend but the trait.

use bytemuck::{Pod, Zeroable};

use super::{RECORD, SymSlice};
use crate::collectives::{AllGather, AllGatherAlgorithm};
use crate::error::{Error, Result};
use crate::pe_list::PeList;
use crate::transport::{Transport, capturing};

/// What one PE is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Record {
    /// 1 alloc, 2 calloc, 3 free, 4 all_gather.
    call: u64,
    /// Bytes asked for; of the freed slice for a free; of each PE for an all_gather.
    bytes: u64,
    /// Alignment asked for; heap offset of the freed slice, or of what is gathered.
    place: u64,
    /// All that was allocated before.
    history: u64,
    /// Whether the call can be done on this PE: 1 if so.
    possible: u64,
    /// Of an all_gather: the number of its algorithm.
    algorithm: u64,
    unused: [u64; 2],
}

const ALLOC: u64 = 1;
const CALLOC: u64 = 2;
const FREE: u64 = 3;
const ALL_GATHER: u64 = 4;

impl Record {
    fn describe(&self) -> String {
        let Self { bytes, place, .. } = *self;
        let mut text = match self.call {
            ALLOC => format!("alloc of {bytes} bytes aligned to {place}"),
            CALLOC => format!("calloc of {bytes} bytes aligned to {place}"),
            ALL_GATHER => {
                let algorithm = AllGatherAlgorithm::from_number(self.algorithm);
                let name = algorithm.map_or_else(|| "an unknown algorithm".into(), |of| of.to_string());
                format!("all_gather of {bytes} bytes a PE to heap offset {place} by {name}")
            }
            FREE => format!("free of {bytes} bytes at heap offset {place}"),
            other => format!("call {other}, which this version does not know"),
        };
        if self.possible == 0 && self.call == FREE {
            text.push_str(" (which is no whole live allocation)");
        }
        text
    }
}

/// Collective: `len` elements on every PE, aligned to `align` bytes and to `T`; zeroed if `zero`.
pub(crate) async fn alloc<T: Pod, X: Transport + ?Sized>(
    transport: &X,
    len: usize,
    align: u64,
    zero: bool,
) -> Result<SymSlice<T>> {
    const { assert!(size_of::<T>() > 0, "elements of no size have no place in the heap") };
    let op = if zero { "calloc" } else { "alloc" };
    // A bad alignment stays as it is, to be refused.
    let align = if align.is_power_of_two() { align.max(align_of::<T>() as u64) } else { align };
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    let record = Record {
        call: if zero { CALLOC } else { ALLOC },
        bytes,
        place: align,
        history: transport.heap().digest(),
        possible: 1,
        algorithm: 0,
        unused: [0; 2],
    };
    agree(transport, op, record).await?;
    let heap = transport.heap();
    // The same answer everywhere, room or none: equal books, equal question.
    let slice = heap.alloc_local(bytes, align)?;
    if zero {
        let range = heap.check(op, "allocation", slice)?;
        heap.region().fill(range.offset(), range.len(), 0);
        if let Some(observer) = heap.observer() {
            observer.written(range.offset(), range.len(), std::panic::Location::caller());
        }
        // Nobody may put into it before everybody has cleared it.
        let steps = transport.endpoint().failures().half_way(op);
        transport.barrier_all().await.map_err(|error| error.within(op))?;
        steps.end();
    }
    Ok(SymSlice::new(slice.offset(), len as u64, slice.key()))
}

/// Collective: gives back what an `alloc` gave. The barrier in it makes sure that nobody still sends into it.
pub(crate) async fn free<T: Pod, X: Transport + ?Sized>(transport: &X, slice: SymSlice<T>) -> Result<()> {
    let slice = slice.bytes();
    let possible = transport.heap().is_allocation(slice);
    let record = Record {
        call: FREE,
        bytes: slice.byte_len(),
        place: slice.offset(),
        history: transport.heap().digest(),
        possible: u64::from(possible),
        algorithm: 0,
        unused: [0; 2],
    };
    agree(transport, "free", record).await?;
    let (my_pe, offset, len) = (transport.my_pe(), slice.offset(), slice.byte_len());
    if possible && transport.heap().free_local(slice) {
        Ok(())
    } else {
        Err(Error::NotLive { op: "free", my_pe, operand: "slice", offset, len })
    }
}

/// Collective: checks that all PEs have planned the same AllGather.
pub(crate) async fn agree_on_all_gather<X: Transport + ?Sized>(
    transport: &X,
    plan: &AllGather,
) -> Result<()> {
    let (bytes, place, history) = (plan.src().byte_len(), plan.dst().offset(), transport.heap().digest());
    let algorithm = plan.algorithm().number();
    let record = Record { call: ALL_GATHER, bytes, place, history, possible: 1, algorithm, unused: [0; 2] };
    agree(transport, "all_gather", record).await
}

/// An all-gather of one record; `Err` on every PE if they are not all the same.
async fn agree<X: Transport + ?Sized>(transport: &X, op: &'static str, record: Record) -> Result<()> {
    let (my_pe, n_pes) = (transport.my_pe(), transport.n_pes());
    capturing::refuse_blocking(op, my_pe)?;
    transport.endpoint().failures().check_all(op)?;
    transport.endpoint().failures().check_in_step(op)?;
    let _turn = transport.endpoint().begin_collective(op)?;
    let heap = transport.heap();
    let records: SymSlice<Record> = heap.system.slice(..n_pes * RECORD as usize)?.cast()?;
    let mine = records.part(my_pe, n_pes)?;

    heap.write(mine, &[record])?;
    // Everybody has read the records of the call before this one.
    transport.barrier_all().await.map_err(|error| error.within(op))?;
    let steps = transport.endpoint().failures().half_way(op);
    for pe in (my_pe + 1..n_pes).chain(0..my_pe) {
        transport.put_nbi(mine, mine, pe)?;
    }
    transport.barrier_all().await.map_err(|error| error.within(op))?;
    steps.end();

    let all = heap.read_vec(records)?;
    match odd_ones(&all) {
        None => Ok(()),
        Some((odd, theirs, ours)) => {
            let (mut theirs, ours) = (all[theirs].describe(), all[ours].describe());
            if theirs == ours {
                theirs.push_str(" after other allocations than the others");
            }
            Err(Error::Asymmetric { op, my_pe, odd, theirs, ours })
        }
    }
}

/// The PEs that differ from most (from the lowest PE where no kind has more), one of them, and one of the others.
/// Every PE comes to the same answer.
fn odd_ones(all: &[Record]) -> Option<(PeList, usize, usize)> {
    let first = *all.first()?;
    if all.iter().all(|record| *record == first) {
        return None;
    }
    let count = |of: &Record| all.iter().filter(|record| *record == of).count();
    // `max_by_key` gives the last of equals, so go backwards.
    let usual = (0..all.len()).rev().max_by_key(|&pe| count(&all[pe]))?;
    let odd = || (0..all.len()).filter(|&pe| all[pe] != all[usual]);
    Some((odd().collect(), odd().next()?, usual))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bytes: u64) -> Record {
        Record { call: ALLOC, bytes, place: 64, history: 0, possible: 1, algorithm: 0, unused: [0; 2] }
    }

    #[test]
    fn the_odd_pe_is_the_one_that_differs_from_most() {
        let all = |bytes: &[u64]| bytes.iter().map(|&b| record(b)).collect::<Vec<_>>();
        assert!(odd_ones(&all(&[5, 5, 5])).is_none());
        for (bytes, odd, usual) in [
            (vec![5, 6], vec![1], 0),
            (vec![6, 5, 5], vec![0], 1),
            (vec![5, 6, 5, 7], vec![1, 3], 0),
            (vec![1, 2, 2, 1], vec![1, 2], 0),
        ] {
            let (list, _, like) = odd_ones(&all(&bytes)).unwrap();
            assert_eq!(list.as_slice(), odd);
            assert_eq!(bytes[like], bytes[usual]);
        }
    }
}
