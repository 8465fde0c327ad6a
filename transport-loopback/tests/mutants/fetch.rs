//! AllGather by what is laid aside: a barrier, then everybody gets it; what two rounds lay aside is apart.

use transport_core::{Result, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    /// All rounds lay their parts aside in one place.
    OnePlace,
    NoBarrier,
    LaidAsideLate,
    NoQuiet,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    [2, 3]
        .map(|n_pes| {
            let name = ["fetching AllGather, 2 PEs", "fetching AllGather, 3 PEs"][n_pes - 2];
            let protocol = Protocol::of(name, n_pes, rounds, Mutation::None);
            match n_pes {
                2 => protocol
                    .racy("fetch: all rounds lay aside in one place", Mutation::OnePlace)
                    .racy("fetch: no barrier", Mutation::NoBarrier)
                    .racy("fetch: laid aside behind the barrier", Mutation::LaidAsideLate)
                    .racy("fetch: no quiet behind the gets", Mutation::NoQuiet)
                    .listed(),
                _ => protocol
                    .racy("fetch: all rounds lay aside in one place, 3 PEs", Mutation::OnePlace)
                    .racy("fetch: no barrier, 3 PEs", Mutation::NoBarrier)
                    .listed(),
            }
        })
        .into()
}

async fn rounds(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let (places, all) = (pe.calloc::<u64>(2).await?, pe.calloc::<u64>(n).await?);
    pe.begin().await;
    for round in 1..=3_u64 {
        let place = places.part(if mutation == Mutation::OnePlace { 0 } else { round as usize % 2 }, 2)?;
        let mine = [10 * round + me as u64];
        if mutation != Mutation::LaidAsideLate {
            pe.heap().write(place, &mine)?;
        }
        pe.heap().write(all.part(me, n)?, &mine)?;
        if mutation != Mutation::NoBarrier {
            pe.barrier_all().await?;
        }
        if mutation == Mutation::LaidAsideLate {
            pe.heap().write(place, &mine)?;
        }
        for from in (me + 1..n).chain(0..me) {
            pe.get_nbi(all.part(from, n)?, place, from)?;
        }
        if mutation != Mutation::NoQuiet {
            pe.quiet().await?;
        }
        let expected: Vec<_> = (0..n as u64).map(|from| 10 * round + from).collect();
        same(&pe.heap().read_vec(all)?, &expected, &format!("round {round} at PE {me}"));
    }
    pe.finalize().await
}
