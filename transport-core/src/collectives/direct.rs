//! AllGather by a put with a signal to every peer.

use super::all_gather::AllGather;
use super::run::Run;
use crate::error::Result;
use crate::heap::PeerWord;
use crate::transport::Transport;

/// The barrier says that everybody's destination can be written; the signals, that it was. A signal of the next run comes only
/// after that run's barrier, which a PE enters when it has seen the one before.
pub(super) async fn run<X: Transport + ?Sized>(transport: &X, plan: &AllGather) -> Result<()> {
    let run = Run::check(transport, plan)?;
    run.barrier().await?;
    let steps = run.half_way();
    let epoch = run.staging().direct.next();
    let (my_part, word) = (run.part(run.my_pe), run.staging().word(run.my_pe, PeerWord::Direct));
    for pe in run.targets() {
        run.put_signal(pe, (run.src, my_part, run.len), word, epoch)?;
    }
    run.copy_own();
    for pe in run.sources() {
        run.wait_word(pe, PeerWord::Direct, epoch).await?;
    }
    run.release_source().await?;
    steps.end();
    Ok(())
}
