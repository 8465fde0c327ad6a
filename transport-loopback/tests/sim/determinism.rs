//! The same seed gives the same run, on every machine and in every build.

use std::sync::{Arc, Mutex};

use transport_core::{AtomicOp, Cmp, SignalOp, Transport};
use transport_loopback::sim::{Event, Exploration, Listener, Sim, SimPe};

/// A hash of all that was told, but for the places in the source.
#[derive(Default)]
struct Hash {
    hash: u64,
    events: u64,
}

impl Hash {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            // FNV-1a.
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}

impl Listener for Hash {
    fn begin(&mut self, n_pes: usize) {
        self.add(&format!("begin {n_pes}"));
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        self.events += 1;
        let text = match event {
            Event::Posted { id, kind, fence, .. } => format!("{id:?} {kind:?} {fence}"),
            Event::Read { pe, range, .. } => format!("read {pe} {range:?}"),
            Event::Written { pe, range, .. } => format!("written {pe} {range:?}"),
            Event::Loaded { pe, word, seen, .. } => format!("loaded {pe} {word} {seen:?}"),
            other => format!("{other:?}"),
        };
        self.add(&text);
        Ok(())
    }
}

/// Some of everything.
async fn body(pe: SimPe) -> transport_core::Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    let (data, words) = (pe.calloc::<u8>(64 * n).await?, pe.calloc::<u64>(3).await?);
    pe.begin().await;
    let [count, signal, order] = [words.part(0, 3)?, words.part(1, 3)?, words.part(2, 3)?];
    let (mine, right) = (data.part(me, n)?, (me + 1) % n);
    pe.heap().fill(mine, me as u8)?;
    pe.put_nbi(mine, mine, right)?;
    pe.fence()?;
    pe.put_signal_nbi(mine.slice(..9)?, mine.slice(..9)?, signal, SignalOp::Add(1), right)?;
    pe.atomic(order, AtomicOp::Add(1), 0).await?;
    pe.signal_wait_until(signal, Cmp::Ge, 1).await?;
    pe.atomic(count, AtomicOp::Add(me as u64), right).await?;
    pe.get_nbi(mine, data.part(right, n)?, right)?;
    pe.barrier_all().await?;
    pe.heap().load(count)?;
    pe.finalize().await
}

fn hash(how: Exploration, seed: u64) -> (u64, u64) {
    let hash = Arc::new(Mutex::new(Hash::default()));
    let sim = Sim::new(3).seed(seed).shared_listener(hash.clone());
    sim.explore(how, body).unwrap_or_else(|failure| panic!("{failure}"));
    let hash = hash.lock().unwrap();
    (hash.hash, hash.events)
}

const HASHES: [(u64, u64); 3] = [
    (6_068_919_592_797_950_107, 52_439),
    (12_355_003_863_516_597_103, 52_439),
    (10_391_818_968_179_365_769, 51_799),
];

#[test]
fn the_same_seed_gives_the_same_runs_bit_for_bit() {
    let ways = [
        Exploration::Random { schedules: 200 },
        Exploration::Pct { schedules: 200, depth: 3 },
        Exploration::Exhaustive { most: 200 },
    ];
    let hashes = ways.map(|how| hash(how, 11));
    assert_eq!(hashes, HASHES);
    assert_ne!(hash(Exploration::Random { schedules: 200 }, 12), hashes[0]);
}

/// Not a measurement, but a guard against what grows with the square of the operations: 40 thousand puts under way at once.
#[test]
fn many_operations_at_once_take_steps_in_proportion() {
    const PUTS: usize = 20_000;
    let explored = Sim::new(2).explore(Exploration::Random { schedules: 1 }, |pe| async move {
        let words = pe.calloc::<u8>(PUTS).await?;
        pe.begin().await;
        for put in 0..PUTS {
            let byte = words.slice(put..=put)?;
            pe.put_nbi(byte, byte, 1 - pe.my_pe())?;
        }
        pe.finalize().await
    });
    let steps = explored.unwrap().steps;
    assert!((2 * PUTS as u64..5 * PUTS as u64).contains(&steps), "{steps}");
}
