//! A halo exchange with one barrier missing, and what the simulation says of it.
//!
//! `cargo run -p transport-loopback --example missing_barrier` ends with the story; with `-- right` it runs the right version.

use transport_core::{Result, Transport};
use transport_loopback::sim;

/// Each PE has a cell and a copy of its left neighbour's. Three steps: send mine to the right, add what came from the left.
async fn diffuse<X: Transport>(pe: &X, right: bool) -> Result<u64> {
    let (cell, halo) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    pe.heap().write(cell, &[1 + pe.my_pe() as u64])?;
    for _ in 0..3 {
        pe.put_nbi(halo, cell, (pe.my_pe() + 1) % pe.n_pes())?;
        pe.barrier_all().await?;
        let (mine, left) = (pe.heap().read_vec(cell)?[0], pe.heap().read_vec(halo)?[0]);
        pe.heap().write(cell, &[mine + left])?;
        if right {
            // The neighbour may be a step ahead, and must not send before this one has read.
            pe.barrier_all().await?;
        }
    }
    Ok(pe.heap().read_vec(cell)?[0])
}

fn main() {
    let right = std::env::args().nth(1).as_deref() == Some("right");
    sim::check(2, |pe| async move {
        diffuse(&pe, right).await?;
        pe.finalize().await
    });
}
