//! AllGather by barrier, puts, barrier.

use super::all_gather::{AllGather, OP};
use crate::error::Result;
use crate::transport::Transport;

/// The reference: nothing but the calls that every user has.
pub(super) async fn run<X: Transport + ?Sized>(transport: &X, plan: &AllGather) -> Result<()> {
    let (my_pe, n_pes) = (transport.my_pe(), transport.n_pes());
    transport.barrier_all().await.map_err(|error| error.within(OP))?;
    // From here on a second attempt would take this one's closing barrier for its first.
    let steps = transport.endpoint().failures().half_way(OP);
    // Itself first, then from its right-hand neighbour on, so that not all begin with PE 0.
    transport.put_nbi(plan.my_part(), plan.src(), my_pe)?;
    for pe in (my_pe + 1..n_pes).chain(0..my_pe) {
        transport.put_nbi(plan.my_part(), plan.src(), pe)?;
    }
    transport.barrier_all().await.map_err(|error| error.within(OP))?;
    steps.end();
    Ok(())
}
