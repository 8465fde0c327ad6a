//! A dissemination barrier of signals.

use transport_core::{AtomicOp, Cmp, Result, SignalOp, SymSlice, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    NoQuiet,
    Equal,
    FloorOfRounds,
    DistanceStays,
    FlagReset,
    NoWrap,
    RoundBefore,
    OneFlag,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    let barrier = |name, n_pes| Protocol::of(name, n_pes, program, Mutation::None);
    vec![
        barrier("barrier of signals, 2 PEs", 2)
            .racy("no quiet in it", Mutation::NoQuiet)
            .stuck("flag compared by ==: a fast neighbour is missed", Mutation::Equal)
            .stuck("flag reset by its owner after the barrier", Mutation::FlagReset)
            .racy("numbers compared without their wrap", Mutation::NoWrap)
            .listed(),
        barrier("barrier of signals, 3 PEs", 3)
            .racy("no quiet in it, 3 PEs", Mutation::NoQuiet)
            .racy("floor of log2 n rounds for ceil", Mutation::FloorOfRounds)
            .racy("a round waits for the flag of the round before", Mutation::RoundBefore)
            .racy("one flag for all rounds", Mutation::OneFlag)
            .listed(),
        barrier("barrier of signals, 4 PEs", 4)
            .racy("distance not doubled", Mutation::DistanceStays)
            .listed(),
    ]
}

/// The numbers of barriers have 32 bits; they start shortly before the wrap.
const FIRST: u32 = u32::MAX - 1;

struct Barrier {
    flags: SymSlice<u64>,
    epoch: u32,
    mutation: Mutation,
}

impl Barrier {
    async fn new(pe: &SimPe, mutation: Mutation) -> Result<Self> {
        let rounds = pe.n_pes().next_power_of_two().trailing_zeros() as usize;
        let flags = pe.calloc::<u64>(rounds).await?;
        let first = if mutation == Mutation::FlagReset { 0 } else { FIRST };
        pe.heap().fill(flags, first.into())?;
        pe.barrier_all().await?;
        Ok(Self { flags, epoch: FIRST, mutation })
    }

    fn reached(&self, flag: u32) -> bool {
        match self.mutation {
            Mutation::Equal => flag == self.epoch,
            Mutation::NoWrap => flag >= self.epoch,
            Mutation::FlagReset => flag != 0,
            _ => flag.wrapping_sub(self.epoch) as i32 >= 0,
        }
    }

    async fn wait<X: Transport>(&self, pe: &X, flag: SymSlice<u64>) -> Result<()> {
        loop {
            let now = pe.heap().load(flag)?;
            if self.reached(now as u32) {
                return Ok(());
            }
            pe.signal_wait_until(flag, Cmp::Ne, now).await?;
        }
    }

    async fn all<X: Transport>(&mut self, pe: &X) -> Result<()> {
        let (me, n) = (pe.my_pe(), pe.n_pes());
        if self.mutation != Mutation::NoQuiet {
            pe.quiet().await?;
        }
        self.epoch = self.epoch.wrapping_add(1);
        let rounds = match self.mutation {
            Mutation::FloorOfRounds => n.ilog2() as usize,
            _ => self.flags.len(),
        };
        for round in 0..rounds {
            let distance = if self.mutation == Mutation::DistanceStays { 1 } else { 1 << round };
            let (mine, theirs) = match self.mutation {
                Mutation::RoundBefore => (round.saturating_sub(1), round),
                Mutation::OneFlag => (0, 0),
                _ => (round, round),
            };
            let number = if self.mutation == Mutation::FlagReset { 1 } else { self.epoch.into() };
            let (nothing, flag) = (self.flags.slice(..0)?, self.flags.slice(theirs..=theirs)?);
            pe.put_signal_nbi(nothing, nothing, flag, SignalOp::Set(number), (me + distance) % n)?;
            let flag = self.flags.slice(mine..=mine)?;
            self.wait(pe, flag).await?;
            if self.mutation == Mutation::FlagReset {
                pe.atomic(flag, AtomicOp::Swap(0), me).await?;
            }
        }
        Ok(())
    }
}

/// What is put before a barrier is there after it. Every round has its own memory, so that all hangs on the barrier.
async fn program(pe: SimPe, mutation: Mutation) -> Result<()> {
    const ROUNDS: usize = 3;
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let memory = pe.calloc::<u64>(ROUNDS * n).await?;
    let mut barrier = Barrier::new(&pe, mutation).await?;
    pe.begin().await;
    for round in 0..ROUNDS {
        let all = memory.part(round, ROUNDS)?;
        let mine = all.part(me, n)?;
        pe.heap().write(mine, &[1 + me as u64])?;
        for peer in (me + 1..n).chain(0..me) {
            pe.put_nbi(mine, mine, peer)?;
        }
        barrier.all(&pe).await?;
        let expected: Vec<_> = (1..=n as u64).collect();
        same(&pe.heap().read_vec(all)?, &expected, &format!("barrier {round} at PE {me}"));
    }
    pe.finalize().await
}
