//! Each thing that the network may do is seen, and each that it must not is not.

use std::collections::BTreeSet;
use std::sync::Mutex;

use transport_core::{AtomicOp, Cmp, Result, SignalOp, Transport};
use transport_loopback::sim::{Exploration, Network, Sim, SimPe, yield_now};

const NEITHER: Network = Network { torn: false, ordered: false, late_source: false };

/// What PE 1 sees, over all schedules, and over many random ones.
fn seen<F, Fut>(network: Network, body: F) -> [BTreeSet<Vec<u64>>; 2]
where
    F: Fn(SimPe) -> Fut + Copy,
    Fut: Future<Output = Result<Vec<u64>>> + Send,
{
    [Exploration::Exhaustive { most: 1_000_000 }, Exploration::Random { schedules: 3000 }].map(|how| {
        let all = Mutex::new(BTreeSet::new());
        let exhaustive = matches!(how, Exploration::Exhaustive { .. });
        let explored = Sim::new(2).network(network).explore(how, |pe| {
            let (me, future, all) = (pe.my_pe(), body(pe), &all);
            async move {
                let answer = future.await?;
                if me == 1 {
                    all.lock().unwrap().insert(answer);
                }
                Result::Ok(())
            }
        });
        let explored = explored.unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(explored.complete, exhaustive);
        all.into_inner().unwrap()
    })
}

/// PE 0 puts two words one after the other; PE 1 looks at both, some time.
async fn two_puts(pe: SimPe, fence: bool) -> Result<Vec<u64>> {
    let (to, from) = (pe.calloc::<u64>(2).await?, pe.calloc::<u64>(2).await?);
    pe.heap().write(from, &[1, 1])?;
    pe.begin().await;
    if pe.my_pe() == 0 {
        for part in 0..2 {
            pe.put_nbi(to.part(part, 2)?, from.part(part, 2)?, 1)?;
            if fence {
                pe.fence()?;
            }
        }
        pe.finalize().await?;
        return Ok(Vec::new());
    }
    yield_now().await;
    let found = pe.heap().read_vec(to)?;
    pe.finalize().await?;
    Ok(found)
}

#[test]
fn a_put_overtakes_another_unless_there_is_an_order() {
    let overtaken = vec![0, 1];
    for all in seen(NEITHER, |pe| two_puts(pe, false)) {
        assert_eq!(all, BTreeSet::from([vec![0, 0], vec![1, 0], overtaken.clone(), vec![1, 1]]));
    }
    for (network, fence) in [(NEITHER, true), (Network { ordered: true, ..NEITHER }, false)] {
        for all in seen(network, |pe| two_puts(pe, fence)) {
            assert_eq!(all, BTreeSet::from([vec![0, 0], vec![1, 0], vec![1, 1]]));
        }
    }
}

/// PE 0 puts many bytes that are all 1; PE 1 looks at how many are there.
async fn one_put(pe: SimPe) -> Result<Vec<u64>> {
    let (to, from) = (pe.calloc::<u8>(16).await?, pe.calloc::<u8>(16).await?);
    pe.heap().fill(from, 1)?;
    pe.begin().await;
    if pe.my_pe() == 0 {
        pe.put_nbi(to, from, 1)?;
        pe.finalize().await?;
        return Ok(Vec::new());
    }
    yield_now().await;
    let found = pe.heap().read_vec(to)?;
    pe.finalize().await?;
    let count = |bytes: &[u8]| bytes.iter().map(|&byte| u64::from(byte)).sum();
    Ok(vec![count(&found[..8]), count(&found[8..])])
}

#[test]
fn a_put_lands_in_pieces_if_it_may() {
    let [all, random] = seen(Network { torn: true, ..NEITHER }, one_put);
    assert_eq!(all, BTreeSet::from([vec![0, 0], vec![8, 0], vec![0, 8], vec![8, 8]]));
    assert!(random.len() > 20, "cut at any byte: {random:?}");
    for all in seen(NEITHER, one_put) {
        assert_eq!(all, BTreeSet::from([vec![0, 0], vec![8, 8]]));
    }
}

/// PE 0 changes the source right after the put.
async fn changed_source(pe: SimPe) -> Result<Vec<u64>> {
    let (to, from) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    pe.heap().write(from, &[1])?;
    pe.begin().await;
    if pe.my_pe() == 0 {
        pe.put_nbi(to, from, 1)?;
        pe.heap().write(from, &[2])?;
        yield_now().await;
        pe.heap().write(from, &[3])?;
        pe.quiet().await?;
        pe.heap().write(from, &[4])?;
    }
    pe.barrier_all().await?;
    let found = pe.heap().read_vec(to)?;
    pe.finalize().await?;
    Ok(found)
}

#[test]
fn a_source_is_read_late_if_it_may_be_but_not_after_quiet() {
    let [all, random] = seen(Network { late_source: true, ..NEITHER }, changed_source);
    assert_eq!(all, BTreeSet::from([vec![2], vec![3]]), "by steps of its own");
    assert_eq!(random, BTreeSet::from([vec![1], vec![2], vec![3]]), "by the post, too");
    for all in seen(NEITHER, changed_source) {
        assert_eq!(all, BTreeSet::from([vec![1]]));
    }
}

/// PE 0 adds to a word with data before it; PE 1 looks at the data when it sees the word.
async fn signal_after_data(pe: SimPe) -> Result<Vec<u64>> {
    let (to, from) = (pe.calloc::<u64>(2).await?, pe.calloc::<u64>(2).await?);
    let word = pe.calloc::<u64>(1).await?;
    pe.heap().write(from, &[5, 6])?;
    pe.begin().await;
    if pe.my_pe() == 0 {
        pe.put_signal_nbi(to, from, word, SignalOp::Set(u64::MAX), 1)?;
        pe.finalize().await?;
        return Ok(Vec::new());
    }
    let found = pe.signal_wait_until(word, Cmp::Ne, 0).await?;
    assert_eq!(found, u64::MAX, "a signal is never torn");
    let data = pe.heap().read_vec(to)?;
    pe.finalize().await?;
    Ok(data)
}

#[test]
fn a_signal_comes_after_its_data_and_whole() {
    for ordered in [false, true] {
        for all in seen(Network { ordered, ..Network::default() }, signal_after_data) {
            assert_eq!(all, BTreeSet::from([vec![5, 6]]));
        }
    }
}

/// Both add to a word of PE 1, which is one of them; each sees the other's, or not.
async fn two_atomics(pe: SimPe) -> Result<Vec<u64>> {
    let word = pe.calloc::<u64>(1).await?;
    pe.begin().await;
    let before = pe.atomic(word, AtomicOp::Add(1), 1).await?;
    pe.barrier_all().await?;
    assert_eq!(pe.atomic(word, AtomicOp::Fetch, 1).await?, 2);
    pe.finalize().await?;
    Ok(vec![before])
}

#[test]
fn atomics_come_in_either_order_and_none_is_lost() {
    for all in seen(NEITHER, two_atomics) {
        assert_eq!(all, BTreeSet::from([vec![0], vec![1]]));
    }
}

/// PE 0 reads a word of PE 1, which changes it meanwhile.
async fn get_while_written(pe: SimPe) -> Result<Vec<u64>> {
    let (to, from) = (pe.calloc::<u64>(1).await?, pe.calloc::<u64>(1).await?);
    pe.begin().await;
    if pe.my_pe() == 1 {
        pe.get_nbi(to, from, 0)?;
        pe.quiet().await?;
    } else {
        pe.heap().write(from, &[1])?;
        yield_now().await;
        pe.heap().write(from, &[2])?;
    }
    let found = pe.heap().read_vec(to)?;
    pe.finalize().await?;
    Ok(found)
}

#[test]
fn a_get_reads_at_any_time_before_quiet() {
    for all in seen(NEITHER, get_while_written) {
        assert_eq!(all, BTreeSet::from([vec![0], vec![1], vec![2]]));
    }
}
