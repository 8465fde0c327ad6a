//! A lock by tickets: PE 0 has the counter, and whoever is done tells all whose turn it is.

use transport_core::{AtomicOp, Cmp, Result, SignalOp, SymSlice, Transport};
use transport_loopback::sim::SimPe;

use crate::protocol::{Protocol, same};

#[derive(Clone, Copy, PartialEq)]
enum Mutation {
    None,
    NoQuietBeforeUnlock,
    TicketInTwoSteps,
    NoLock,
    TurnSet,
}

pub(crate) fn protocols() -> Vec<Protocol> {
    vec![
        Protocol::of("lock by tickets, 2 PEs", 2, program, Mutation::None)
            .small()
            .racy("unlocked before the put was complete", Mutation::NoQuietBeforeUnlock)
            .racy("no lock", Mutation::NoLock)
            .listed(),
        // Two that are far from the counter: PE 0 is done with its own before anybody else looks.
        Protocol::of("lock by tickets, 3 PEs", 3, program, Mutation::None)
            .racy("ticket by a fetch and an add: two have one", Mutation::TicketInTwoSteps)
            .stuck("the turn is set, so that a late signal sets it back", Mutation::TurnSet)
            .listed(),
    ]
}

/// Waits for its turn; answers its number.
async fn lock<X: Transport>(
    pe: &X,
    tickets: SymSlice<u64>,
    turn: SymSlice<u64>,
    mutation: Mutation,
) -> Result<u64> {
    let ticket = if mutation == Mutation::TicketInTwoSteps {
        let ticket = pe.atomic(tickets, AtomicOp::Fetch, 0).await?;
        pe.atomic(tickets, AtomicOp::Add(1), 0).await?;
        ticket
    } else {
        pe.atomic(tickets, AtomicOp::Add(1), 0).await?
    };
    if mutation != Mutation::NoLock {
        pe.signal_wait_until(turn, Cmp::Ge, ticket).await?;
    }
    Ok(ticket)
}

async fn unlock<X: Transport>(pe: &X, turn: SymSlice<u64>, ticket: u64, mutation: Mutation) -> Result<()> {
    if mutation != Mutation::NoQuietBeforeUnlock {
        pe.quiet().await?;
    }
    let nothing = turn.slice(..0)?;
    // Not the next ticket, set: the word of the next but one could come before it, and then be set back.
    let op = if mutation == Mutation::TurnSet { SignalOp::Set(ticket + 1) } else { SignalOp::Add(1) };
    for peer in 0..pe.n_pes() {
        pe.put_signal_nbi(nothing, nothing, turn, op, peer)?;
    }
    Ok(())
}

/// All add to a sum at PE 0, by a get and a put.
async fn program(pe: SimPe, mutation: Mutation) -> Result<()> {
    let (tickets, turn) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    let (sum, mine) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    pe.begin().await;
    let ticket = lock(&pe, tickets, turn, mutation).await?;
    pe.get_nbi(mine, sum, 0)?;
    pe.quiet().await?;
    let before = pe.heap().read_vec(mine)?[0];
    pe.heap().write(mine, &[before + 1])?;
    pe.put_nbi(sum, mine, 0)?;
    unlock(&pe, turn, ticket, mutation).await?;
    pe.barrier_all().await?;
    if pe.my_pe() == 0 {
        same(&pe.heap().read_vec(sum)?, &[pe.n_pes() as u64], "the sum");
    }
    pe.finalize().await
}
