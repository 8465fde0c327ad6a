//! Where in the symmetric heap a work finds its data.

use transport_core::{Result, SymSlice};

use super::{Kind, Work};

/// Parts begin on pages, as those of other measuring programs do.
pub(crate) const PAGE: usize = 4096;

/// What all works use, one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Begins on a page.
    pub(crate) data: SymSlice<u8>,
    pub(crate) signal: SymSlice<u64>,
}

/// Two ranges of equal length, in bytes from the start of `data`.
struct Plan {
    len: usize,
    starts: [usize; 2],
}

impl Work {
    /// Bytes of `data` that it needs; nothing if they cannot be counted.
    pub(crate) fn data_bytes(&self, n_pes: usize) -> Option<usize> {
        let plan = self.plan(n_pes)?;
        plan.starts[1].checked_add(plan.len)
    }

    fn plan(&self, n_pes: usize) -> Option<Plan> {
        let len = match self.kind {
            Kind::AllGather | Kind::Replay => self.bytes.checked_mul(n_pes)?,
            _ => self.bytes,
        };
        let pages = len.checked_next_multiple_of(PAGE)?;
        let starts = match self.kind {
            // In place: one is enough.
            Kind::AllGather => [0, 0],
            // The last word must be one that can be waited for.
            Kind::PingPong => {
                let shift = len.next_multiple_of(8) - len;
                [shift, pages.checked_add(PAGE)?.checked_add(shift)?]
            }
            _ => [0, pages],
        };
        Some(Plan { len, starts })
    }
}

impl Room {
    /// The source and the destination of `work`, or the two buffers that it gathers.
    pub(crate) fn halves(&self, work: &Work, n_pes: usize) -> Result<[SymSlice<u8>; 2]> {
        // What cannot be counted is no part of `data` either, which `slice` then says.
        let plan = work.plan(n_pes).unwrap_or(Plan { len: usize::MAX, starts: [0, 0] });
        let [a, b] = plan.starts;
        let part = |start: usize| self.data.slice(start..start.saturating_add(plan.len));
        Ok([part(a)?, part(b)?])
    }
}
