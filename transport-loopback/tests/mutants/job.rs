//! The end of a job: nobody goes while others still need it.

use transport_core::{Result, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    GoesWithoutFinalize,
    OneBarrierMore,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    vec![
        Protocol::of("the end of a job, 2 PEs", 2, program, Mutation::None)
            .error("a PE goes without finalize", Mutation::GoesWithoutFinalize)
            .stuck("a PE makes a barrier more than the others", Mutation::OneBarrierMore)
            .small()
            .listed(),
    ]
}

/// PE 1 fetches from PE 0.
async fn program(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (theirs, mine) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    pe.heap().write(theirs, &[7])?;
    pe.barrier_all().await?;
    pe.begin().await;
    if pe.my_pe() == 0 {
        match mutation {
            Mutation::GoesWithoutFinalize => return Ok(()),
            Mutation::OneBarrierMore => pe.barrier_all().await?,
            Mutation::None => {}
        }
    } else {
        pe.get_nbi(mine, theirs, 0)?;
        pe.quiet().await?;
        same(&pe.heap().read_vec(mine)?, &[7], "what was fetched");
    }
    pe.finalize().await
}
