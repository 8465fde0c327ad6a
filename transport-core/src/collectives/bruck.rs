//! AllGather in `ceil(log2 n)` rounds, by J. Bruck and others (Efficient algorithms for all-to-all communications in multiport
//! message-passing systems, 1997).
//!
//! Block `b` of a PE's blocks is the part of the PE `b` to its right. Its own is there first. In round `k` it sends all that it
//! has, `2^k` blocks or what is missing, to the PE `2^k` to its left, where they go behind those that are there.
//!
//! Blocks of successive epochs are apart. Who posts epoch `e` has completed `e - 1`, so all had posted `e - 1`, so all had completed
//! `e - 2`, whose place `e` takes: they had copied all blocks, seen all flags, and so had all that was sent from there.

use super::all_gather::AllGather;
use super::run::Run;
use crate::error::Result;
use crate::transport::{Dissemination, Transport};

pub(super) async fn run<X: Transport + ?Sized>(transport: &X, plan: &AllGather) -> Result<()> {
    let run = Run::check(transport, plan)?;
    let (heap, staging, len) = (run.heap(), run.staging(), run.len);
    if run.n_pes == 1 || len == 0 {
        run.copy_own();
        return Ok(());
    }
    let steps = run.half_way();
    let epoch = staging.bruck.next();
    let blocks = staging.bruck_blocks(epoch);
    heap.copy_within(blocks, run.src, len);
    for round in 0..Dissemination::rounds(run.n_pes) {
        let have = 1 << round;
        let sent = have.min(run.n_pes - have) as u64 * len;
        let flag = staging.bruck_flag(epoch, round);
        run.put_signal(run.left(have), (blocks, blocks + have as u64 * len, sent), flag, epoch)?;
        run.wait(run.right(have), flag, epoch).await?;
    }
    // From this PE's part to the last one, then those before it.
    let (mine, n_pes) = (run.my_pe as u64, run.n_pes as u64);
    heap.copy_within(run.part(run.my_pe), blocks, (n_pes - mine) * len);
    if mine > 0 {
        heap.copy_within(run.part(0), blocks + (n_pes - mine) * len, mine * len);
    }
    steps.end();
    Ok(())
}
