//! AllGather where everybody lays its part aside, and after one barrier gets those of the others.
//!
//! What is laid aside may be changed two runs later. Who then writes there has left the barrier of the run between, which all had
//! entered when they had got the parts of this one. So there is no second barrier, and the source is free at once. Where PEs take
//! turns on the processors of a host, a part is moved to a processor's cache once, and not once for every PE that runs there.

use super::all_gather::AllGather;
use super::run::Run;
use crate::error::Result;
use crate::transport::{Transfer, Transport};

pub(super) async fn run<X: Transport + ?Sized>(transport: &X, plan: &AllGather) -> Result<()> {
    let run = Run::check(transport, plan)?;
    // Others may take what is laid aside as soon as this PE is in the barrier: it cannot be done again.
    let steps = run.half_way();
    let aside = run.staging().fetch_place(run.staging().fetch.next());
    if run.len > 0 {
        run.heap().copy_within(aside, run.src, run.len);
    }
    run.copy_own();
    run.barrier().await?;
    for pe in run.sources() {
        if let Some(get) = Transfer::between(run.part(pe), aside, run.len, pe) {
            transport.post_get(get)?;
        }
    }
    // Where there is nothing to wait for, a PE that is done and leaves the job harms nobody.
    if !transport.gets_at_post() {
        run.quiet().await?;
    }
    steps.end();
    Ok(())
}
