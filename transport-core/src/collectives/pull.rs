//! AllGather where everybody gets the parts of the others.

use super::all_gather::{AllGather, OP};
use super::run::Run;
use crate::error::{Error, Result};
use crate::heap::PeerWord;
use crate::transport::{Transfer, Transport};

/// A PE says that its part is ready, and where; gets those of the others; says that it has read them; and waits until all have
/// read its own. Nobody writes another's destination. What it says in the next run comes only when all have said so in this.
pub(super) async fn run<X: Transport + ?Sized>(transport: &X, plan: &AllGather) -> Result<()> {
    let run = Run::check(transport, plan)?;
    let (heap, staging) = (run.heap(), run.staging());
    let steps = run.half_way();
    let epoch = staging.pull.next();
    let mine = |word| staging.word(run.my_pe, word);
    let source = mine(PeerWord::PullSource);
    heap.write_word(source, run.src);
    for pe in run.targets() {
        run.put_signal(pe, (source, source, 8), mine(PeerWord::PullReady), epoch)?;
    }
    run.copy_own();
    for pe in run.sources() {
        run.wait_word(pe, PeerWord::PullReady, epoch).await?;
        let (from, len) = (heap.read_word(staging.word(pe, PeerWord::PullSource)), run.len);
        // It is a peer's word; the heaps are equally long.
        let size = heap.region().len() as u64;
        if from.checked_add(len).is_none_or(|end| end > size) {
            let (my_pe, operand) = (run.my_pe, "source of a peer");
            return Err(Error::OutOfRange { op: OP, my_pe, operand, offset: from, len, size });
        }
        if let Some(get) = Transfer::between(run.part(pe), from, len, pe) {
            transport.post_get(get)?;
        }
    }
    run.quiet().await?;
    for pe in run.targets() {
        run.signal(pe, mine(PeerWord::PullDone), epoch)?;
    }
    for pe in run.sources() {
        run.wait_word(pe, PeerWord::PullDone, epoch).await?;
    }
    steps.end();
    Ok(())
}
