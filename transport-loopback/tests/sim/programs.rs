//! Bodies that several tests run.

use transport_core::{Result, SymSlice, Transport};
use transport_loopback::sim::SimPe;

/// An AllGather by hand, of one word a PE, that can lack a barrier.
#[derive(Clone, Copy)]
pub(crate) struct ByHand {
    pub(crate) entry: bool,
    pub(crate) exit: bool,
}

impl ByHand {
    pub(crate) const WHOLE: Self = Self { entry: true, exit: true };

    pub(crate) async fn gather(self, pe: &SimPe, all: SymSlice<u64>) -> Result<()> {
        let (me, n) = (pe.my_pe(), pe.n_pes());
        let mine = all.part(me, n)?;
        if self.entry {
            pe.barrier_all().await?;
        }
        for peer in (me + 1..n).chain(0..me) {
            pe.put_nbi(mine, mine, peer)?;
        }
        if self.exit { pe.barrier_all().await } else { pe.quiet().await }
    }

    /// Two rounds, with a look at what came after each.
    pub(crate) async fn twice(self, pe: SimPe) -> Result<()> {
        let (me, n) = (pe.my_pe(), pe.n_pes());
        let all = pe.calloc::<u64>(n).await?;
        pe.begin().await;
        for round in 1..=2_u64 {
            pe.heap().write(all.part(me, n)?, &[10 * round + me as u64])?;
            self.gather(&pe, all).await?;
            let expected: Vec<_> = (0..n as u64).map(|peer| 10 * round + peer).collect();
            assert_eq!(pe.heap().read_vec(all)?, expected, "round {round} at PE {me}");
        }
        pe.finalize().await
    }
}
