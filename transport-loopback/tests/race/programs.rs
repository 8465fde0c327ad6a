//! Whole programs, with the library's own collectives and graphs; and what is said of a race.

use std::sync::Arc;

use transport_core::collectives::{AllGather, AllGatherAlgorithm, all_gather};
use transport_core::graph::kernels::vector_add;
use transport_core::graph::{CaptureMode, GraphError, InlineQueue, Stream};
use transport_core::{Cmp, Result, SignalOp, SymSlice, Transport};
use transport_loopback::sim::{AccessKind, Exploration, OpId, Race, RaceDetector, RaceKind, Sim, SimPe};

/// The races that some schedules of a body have.
fn races<F, Fut, E>(n_pes: usize, body: F) -> Vec<Race>
where
    F: Fn(SimPe) -> Fut,
    Fut: Future<Output = std::result::Result<(), E>> + Send,
    E: std::fmt::Display,
{
    let detector = RaceDetector::collecting();
    let sim = Sim::new(n_pes).listener(detector.clone());
    sim.explore(Exploration::Random { schedules: 100 }, body).unwrap_or_else(|failure| panic!("{failure}"));
    detector.races()
}

fn assert_free(races: &[Race]) {
    let texts: Vec<_> = races.iter().map(Race::to_string).collect();
    assert!(races.is_empty(), "{}", texts.join("\n"));
}

/// An AllGather by hand, in place.
async fn by_hand(pe: &SimPe, all: SymSlice<u32>, entry: bool, exit: bool) -> Result<()> {
    let (me, n) = (pe.my_pe(), pe.n_pes());
    if entry {
        pe.barrier_all().await?;
    }
    let mine = all.part(me, n)?;
    for peer in (0..n).filter(|&peer| peer != me) {
        pe.put_nbi(mine, mine, peer)?;
    }
    if exit { pe.barrier_all().await } else { pe.quiet().await }
}

fn rounds_by_hand(entry: bool, exit: bool) -> Vec<Race> {
    races(3, |pe| async move {
        let all = pe.calloc::<u32>(3).await?;
        pe.begin().await;
        for round in 0..3 {
            pe.heap().write(all.part(pe.my_pe(), 3)?, &[round])?;
            by_hand(&pe, all, entry, exit).await?;
            pe.heap().read_vec(all)?;
        }
        pe.finalize().await
    })
}

#[test]
fn either_barrier_of_an_all_gather_is_missed() {
    assert_free(&rounds_by_hand(true, true));
    for (entry, exit) in [(false, true), (true, false), (false, false)] {
        let races = rounds_by_hand(entry, exit);
        assert!(races.iter().any(|race| race.kind == RaceKind::MissingBarrier), "{entry} {exit}: {races:?}");
    }
}

#[test]
fn the_all_gather_of_the_library_is_free_of_races() {
    assert_free(&races(3, |pe| async move {
        let (src, dst) = (pe.alloc::<u64>(4).await?, pe.calloc::<u64>(12).await?);
        pe.begin().await;
        for round in 0..2 {
            pe.heap().fill(src, round)?;
            all_gather(&pe, dst, src, AllGatherAlgorithm::Auto).await?;
            assert_eq!(pe.heap().read_vec(dst)?, [round; 12]);
        }
        let in_place = AllGather::in_place(&pe, dst, AllGatherAlgorithm::Auto)?;
        in_place.check_same_on_all(&pe).await?;
        in_place.run(&pe).await?;
        pe.free(src).await?;
        let again = pe.calloc::<u64>(4).await?;
        pe.put_nbi(again.slice(..2)?, dst.slice(..2)?, (pe.my_pe() + 1) % 3)?;
        pe.finalize().await
    }));
}

#[test]
fn a_replayed_graph_is_free_of_races() {
    assert_free(&races(2, |pe| async move {
        let pe = Arc::new(pe);
        let n = pe.n_pes();
        let (a, b) = (pe.calloc::<u32>(4).await?, pe.calloc::<u32>(4 * n).await?);
        let stream = Stream::with_queue(Arc::clone(&pe), InlineQueue::new(Arc::clone(&pe)));
        let graph = stream.capture(CaptureMode::Relaxed, |stream| {
            stream.launch_kernel(vector_add(a, a, a))?;
            stream.all_gather(b, a, AllGatherAlgorithm::Auto)?;
            stream.all_gather(b, a, AllGatherAlgorithm::Auto)?;
            stream.launch_kernel(vector_add(b, b, b))
        })?;
        pe.begin().await;
        for _ in 0..3 {
            graph.run(&*pe).await?;
        }
        pe.finalize().await?;
        Ok::<(), GraphError>(())
    }));
}

const READ_TOO_EARLY: u32 = line!() + 11;

/// The values agree, whatever is read: the put brings what is there.
#[test]
fn a_race_is_told_as_a_colleague_would() {
    let races = races(2, |pe| async move {
        let (from, to) = (pe.calloc::<u64>(8).await?, pe.calloc::<u64>(8).await?);
        pe.begin().await;
        if pe.my_pe() == 0 {
            pe.put_nbi(to, from, 1)?;
        } else {
            assert_eq!(pe.heap().read_vec(to)?, [0; 8]);
        }
        pe.finalize().await
    });
    let put = READ_TOO_EARLY - 2;
    let [race] = &races[..] else { panic!("{races:?}") };
    let sides = [(&race.first, &race.second), (&race.second, &race.first)];
    let (write, read) = *sides.iter().find(|(side, _)| side.op.is_some()).unwrap();
    let number = write.op.unwrap().number;
    assert_eq!((write.op, write.kind), (Some(OpId { pe: 0, number }), AccessKind::PutTarget));
    assert_eq!((read.pe, read.kind, read.memory, read.op), (1, AccessKind::Read, 1, None));
    assert_eq!(write.range, read.range);
    assert_eq!((write.place.unwrap().line(), read.place.unwrap().line()), (put, READ_TOO_EARLY));
    let (start, end, file) = (read.range.start, read.range.end, file!());
    let (put, reads) = (format!("put #{number} of PE 0 ({file}:{put})"), READ_TOO_EARLY);
    let (put_first, read_first) = (
        format!(
            "PE 1 reads heap +{start}..+{end} at {file}:{reads} while {put} may still be landing there: nothing orders \
             them. PE 0 has not made the data visible to PE 1: a barrier_all on both, or put_signal_nbi with \
             signal_wait_until on PE 1, would. If the put is of a later round, PE 0 must hear from PE 1 before it."
        ),
        format!(
            "{put} lands on heap +{start}..+{end} of PE 1 while PE 1 may still be reading there ({file}:{reads}): nothing \
             orders them. PE 0 has not heard that PE 1 is done there: a barrier_all on both between the two, or a signal \
             of PE 1 that PE 0 waits for first, would tell."
        ),
    );
    let text = race.to_string();
    assert!(text == put_first || text == read_first, "{text}\n{put_first}\n{read_first}");
}

/// The detector that stops makes a failure of the schedule, with the race for its text.
#[test]
fn the_first_race_fails_its_schedule() {
    let body = |pe: SimPe| async move {
        let (buffer, word) = (pe.calloc::<u64>(2).await?, pe.calloc::<u64>(1).await?);
        pe.begin().await;
        if pe.my_pe() == 0 {
            pe.put_nbi(buffer, buffer, 1)?;
            let none = buffer.slice(..0)?;
            pe.put_signal_nbi(none, none, word, SignalOp::Set(1), 1)?;
        } else {
            pe.signal_wait_until(word, Cmp::Eq, 1).await?;
            pe.heap().read_vec(buffer)?;
        }
        pe.finalize().await
    };
    let sim = Sim::new(2).listener(RaceDetector::new());
    let failure = sim.explore(Exploration::Random { schedules: 10 }, body).unwrap_err();
    let text = failure.to_string();
    assert!(text.contains("PE 1 has heard from PE 0 since then, but that did not wait for put #"), "{text}");
    assert!(text.contains("put_signal_nbi, or a fence between it and the signal"), "{text}");
    let again = sim.explore(Exploration::Replay(failure.schedule().clone()), body).unwrap_err();
    assert_eq!(again.kind(), failure.kind());
}
