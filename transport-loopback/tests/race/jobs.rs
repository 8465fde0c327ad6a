//! The cases as real programs, over the simulated network.

use std::sync::{Arc, Mutex};

use bytes::Bytes as Owned;
use transport_core::{Result, SymSlice, Transport};
use transport_loopback::sim::{Exploration, Network, Sim, SimPe};

use crate::cases::Case;
use crate::marking::Marking;
use crate::script::{BUFFER, Bytes, Do, Steps};
use crate::table::{Counting, Found, judge};

fn part(all: SymSlice<u8>, bytes: Bytes) -> Result<SymSlice<u8>> {
    all.slice(bytes.0 as usize..bytes.1 as usize)
}

fn word(all: SymSlice<u64>, at: u64) -> Result<SymSlice<u64>> {
    all.slice(at as usize / 8..at as usize / 8 + 1)
}

/// Does what the script says, by the calls that a program makes.
async fn run(pe: SimPe, steps: Steps) -> Result<()> {
    let words = pe.calloc::<u64>(BUFFER as usize / 8).await?;
    let all = words.bytes();
    pe.begin().await;
    for (step, _) in steps.0 {
        match step {
            Do::Put { to, src, dst } => pe.put_nbi(part(all, dst)?, part(all, src)?, to)?,
            Do::PutMarked { to, src, dst } => {
                Marking(pe.clone()).put_nbi(part(all, dst)?, part(all, src)?, to)?;
            }
            Do::PutBytes { to, dst } => {
                let data = Owned::from(vec![9; (dst.1 - dst.0) as usize]);
                pe.put_bytes_nbi(part(all, dst)?, data, to)?;
            }
            Do::Get { from, src, dst } => pe.get_nbi(part(all, dst)?, part(all, src)?, from)?,
            Do::Signal { to, data, word: at, op } => {
                let (src, dst) = data.unwrap_or(((0, 0), (0, 0)));
                pe.put_signal_nbi(part(all, dst)?, part(all, src)?, word(words, at)?, op, to)?;
            }
            Do::Atomic { to, word: at, op } => drop(pe.atomic(word(words, at)?, op, to).await?),
            Do::Wait { word: at, cmp, value } => {
                pe.signal_wait_until(word(words, at)?, cmp, value).await?;
            }
            Do::LoadThen { word: at, value, read } => {
                if pe.heap().load(word(words, at)?)? == value {
                    pe.heap().read_vec(part(all, read)?)?;
                }
            }
            Do::Fence => pe.fence()?,
            Do::Quiet => pe.quiet().await?,
            Do::Barrier => pe.barrier_all().await?,
            Do::Read(bytes) => drop(pe.heap().read_vec(part(all, bytes)?)?),
            Do::Write(bytes, value) => pe.heap().fill(part(all, bytes)?, value)?,
        }
    }
    pe.finalize().await
}

fn explore(case: &Case, network: Network) -> Found {
    let counting = Arc::new(Mutex::new(Counting::default()));
    let sim = Sim::new(case.pes.len()).network(network).shared_listener(counting.clone());
    let body = |pe: SimPe| {
        let steps = case.pes[pe.my_pe()].clone();
        run(pe, steps)
    };
    for how in [Exploration::Random { schedules: 20 }, Exploration::Pct { schedules: 20, depth: 3 }] {
        sim.explore(how, body).unwrap_or_else(|failure| panic!("{}: {failure}", case.name));
    }
    drop(sim);
    let counting = std::mem::take(&mut *counting.lock().unwrap());
    counting.found
}

#[test]
fn in_simulated_jobs_every_race_is_found_and_nothing_else() {
    judge("simulated jobs", false, |case| explore(case, Network::default()));
}

/// Happens-before does not ask what the network did, so that a tame one shows the same races.
#[test]
fn over_a_tame_network_too() {
    let tame = Network { torn: false, ordered: true, ..Network::default() };
    judge("simulated jobs, ordered", true, |case| explore(case, tame));
}
