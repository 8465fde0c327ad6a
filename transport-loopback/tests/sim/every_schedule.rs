//! Small programs under every schedule.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use transport_core::Transport;
use transport_core::collectives::{AllGatherAlgorithm, all_gather};
use transport_core::graph::{CaptureMode, GraphError, InlineQueue, Stream};
use transport_loopback::sim::{Event, Exploration, Explored, Listener, Network, Sim};

use crate::programs::ByHand;

const ALL: Exploration = Exploration::Exhaustive { most: 3_000_000 };

fn is_complete(explored: Explored, at_least: u64) {
    assert!(explored.complete, "{explored:?}");
    assert!(explored.schedules >= at_least, "{explored:?}");
}

/// From the list, so that none is forgotten.
fn algorithms() -> impl Iterator<Item = AllGatherAlgorithm> {
    let all = AllGatherAlgorithm::ALL.into_iter().map(|(algorithm, _)| algorithm);
    all.filter(|algorithm| *algorithm != AllGatherAlgorithm::Auto)
}

#[test]
fn an_all_gather_of_two_pes_is_right() {
    for algorithm in algorithms() {
        let explored = Sim::new(2).explore(ALL, move |pe| async move {
            // So small that its marked bytes are one word: two have millions of orders.
            let (src, dst) = (pe.calloc::<u32>(1).await?, pe.calloc::<u32>(2).await?);
            pe.begin().await;
            pe.heap().write(src, &[10 + pe.my_pe() as u32])?;
            all_gather(&pe, dst, src, algorithm).await?;
            assert_eq!(pe.heap().read_vec(dst)?, [10, 11]);
            // The source is free, and nobody comes after this.
            pe.heap().write(src, &[0])?;
            pe.heap().write(dst, &[7, 7])?;
            pe.finalize().await?;
            assert_eq!(pe.heap().read_vec(dst)?, [7, 7]);
            transport_core::Result::Ok(())
        });
        let explored = explored.unwrap_or_else(|failure| panic!("{algorithm}: {failure}"));
        println!("{algorithm}: {} schedules", explored.schedules);
        is_complete(explored, 100);
    }
}

#[test]
fn a_captured_all_gather_of_two_pes_is_right_each_time() {
    // Twice pulling has half a million schedules; once is above, and many runs are in the conformance suite.
    for algorithm in algorithms().filter(|algorithm| *algorithm != AllGatherAlgorithm::Pull) {
        // Two marked words each, read late, have 380 thousand; one is above.
        let late_source = algorithm != AllGatherAlgorithm::Marked;
        let sim = Sim::new(2).network(Network { torn: false, late_source, ..Network::default() });
        let explored = sim.explore(ALL, move |pe| async move {
            let pe = Arc::new(pe);
            let me = pe.my_pe();
            let all = pe.calloc::<u64>(2).await?;
            let stream = Stream::with_queue(Arc::clone(&pe), InlineQueue::new(Arc::clone(&pe)));
            let graph =
                stream.capture(CaptureMode::Relaxed, |stream| stream.all_gather_in_place(all, algorithm))?;
            pe.begin().await;
            for round in 1..=2 {
                pe.heap().write(all.part(me, 2)?, &[10 * round + me as u64])?;
                graph.run(&*pe).await?;
                assert_eq!(pe.heap().read_vec(all)?, [10 * round, 10 * round + 1]);
            }
            pe.finalize().await?;
            Ok::<(), GraphError>(())
        });
        let explored = explored.unwrap_or_else(|failure| panic!("{algorithm}: {failure}"));
        println!("{algorithm}, captured: {} schedules", explored.schedules);
        // One message a PE and round has few orders, and a barrier leaves fewer.
        let least = match algorithm {
            AllGatherAlgorithm::Fetch => 600,
            AllGatherAlgorithm::Eager | AllGatherAlgorithm::Bruck => 700,
            _ => 1000,
        };
        is_complete(explored, least);
    }
}

#[test]
fn an_all_gather_by_hand_with_both_barriers_is_right() {
    let sim = Sim::new(2).network(Network { torn: false, ..Network::default() });
    is_complete(sim.explore(ALL, |pe| ByHand::WHOLE.twice(pe)).unwrap(), 1000);
}

/// Counts who is in a barrier, by what is told.
#[derive(Default)]
struct NobodyLeavesAlone {
    n_pes: usize,
    entered: Vec<u32>,
    left: Arc<AtomicUsize>,
    wraps: bool,
}

impl Listener for NobodyLeavesAlone {
    fn begin(&mut self, n_pes: usize) {
        self.n_pes = n_pes;
        self.entered = Vec::new();
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::BarrierEntered { epoch, .. } => self.entered.push(*epoch),
            Event::BarrierLeft { pe, epoch } => {
                self.wraps |= *epoch == 0;
                self.left.fetch_add(1, Ordering::Relaxed);
                let entered = self.entered.iter().filter(|entered| *entered == epoch).count();
                if entered < self.n_pes {
                    return Err(format!("PE {pe} leaves barrier {epoch}, which {entered} have entered"));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Over the wrap: the barriers have the numbers `u32::MAX` and 0.
#[test]
fn nobody_leaves_a_barrier_before_all_have_entered() {
    for (n_pes, ordered) in [(2, false), (2, true), (3, false)] {
        let left = Arc::new(AtomicUsize::new(0));
        let watch = NobodyLeavesAlone { left: Arc::clone(&left), ..NobodyLeavesAlone::default() };
        let sim = Sim::new(n_pes)
            .first_epoch(u32::MAX - 1)
            .network(Network { ordered, ..Network::default() })
            .listener(watch);
        let explored = sim.explore(ALL, |pe| async move {
            pe.barrier_all().await?;
            pe.barrier_all().await
        });
        is_complete(explored.unwrap(), 4);
        assert!(left.load(Ordering::Relaxed) > 16);
    }
}
