//! Data, and a flag that says that they are there.

use transport_core::{Cmp, Result, SignalOp, SymSlice, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    FlagFirst,
    NoFence,
    LooksFirst,
    PlainFlag,
    FenceForQuiet,
    NoQuiet,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    vec![
        Protocol::of("data, fence, flag, 2 PEs", 2, message, Mutation::None)
            .racy("flag put before its data", Mutation::FlagFirst)
            .racy("no fence between data and flag", Mutation::NoFence)
            .racy("data looked at before the flag", Mutation::LooksFirst)
            .racy("flag with a length by a plain put: it lands torn", Mutation::PlainFlag)
            .small()
            .listed(),
        Protocol::of("data to one PE, flag to another, 3 PEs", 3, by_way_of, Mutation::None)
            .racy("a fence for the quiet: it orders per PE", Mutation::FenceForQuiet)
            .racy("neither quiet nor fence", Mutation::NoQuiet)
            .small()
            .listed(),
    ]
}

/// The flag is the length of the message: more than a byte of it changes.
const LEN: usize = 0x102;

struct Mailbox {
    data: SymSlice<u8>,
    flag: SymSlice<u64>,
    length: SymSlice<u64>,
}

impl Mailbox {
    fn flag<X: Transport>(&self, pe: &X, to: usize, mutation: Mutation) -> Result<()> {
        let nothing = self.flag.slice(..0)?;
        match mutation {
            Mutation::PlainFlag => pe.put_nbi(self.flag, self.length, to),
            _ => pe.put_signal_nbi(nothing, nothing, self.flag, SignalOp::Set(LEN as u64), to),
        }
    }

    fn send<X: Transport>(&self, pe: &X, to: usize, mutation: Mutation) -> Result<()> {
        if mutation == Mutation::FlagFirst {
            self.flag(pe, to, mutation)?;
            return pe.put_nbi(self.data, self.data, to);
        }
        pe.put_nbi(self.data, self.data, to)?;
        if mutation != Mutation::NoFence {
            pe.fence()?;
        }
        self.flag(pe, to, mutation)
    }

    async fn receive<X: Transport>(&self, pe: &X, mutation: Mutation) -> Result<Vec<u8>> {
        let early = match mutation {
            Mutation::LooksFirst => Some(pe.heap().read_vec(self.data)?),
            _ => None,
        };
        let found = pe.signal_wait_until(self.flag, Cmp::Ne, 0).await? as usize;
        let data = self.data.slice(..found.min(LEN))?;
        early.map_or_else(|| pe.heap().read_vec(data), Ok)
    }
}

async fn message(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (data, flag, length) =
        (pe.calloc::<u8>(LEN).await?, pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    let mailbox = Mailbox { data, flag, length };
    if pe.my_pe() == 0 {
        pe.heap().fill(data, 7)?;
        pe.heap().write(length, &[LEN as u64])?;
    }
    pe.begin().await;
    if pe.my_pe() == 0 {
        mailbox.send(&pe, 1, mutation)?;
    } else {
        same(&mailbox.receive(&pe, mutation).await?, &[7; LEN], "the message");
    }
    pe.finalize().await
}

/// PE 0 writes at PE 2, and tells PE 1, which tells PE 2.
async fn by_way_of(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (data, flag) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    if pe.my_pe() == 0 {
        pe.heap().write(data, &[7])?;
    }
    pe.begin().await;
    let tell = |to| pe.put_signal_nbi(data.slice(..0)?, data.slice(..0)?, flag, SignalOp::Set(1), to);
    match pe.my_pe() {
        0 => {
            pe.put_nbi(data, data, 2)?;
            match mutation {
                Mutation::FenceForQuiet => pe.fence()?,
                Mutation::NoQuiet => {}
                _ => pe.quiet().await?,
            }
            tell(1)?;
        }
        1 => {
            pe.signal_wait_until(flag, Cmp::Ne, 0).await?;
            tell(2)?;
        }
        _ => {
            pe.signal_wait_until(flag, Cmp::Ne, 0).await?;
            same(&pe.heap().read_vec(data)?, &[7], "the data at PE 2");
        }
    }
    pe.finalize().await
}
