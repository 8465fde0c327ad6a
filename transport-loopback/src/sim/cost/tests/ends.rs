//! Jobs that end otherwise.

use transport_core::{Cmp, Transport};

use super::model;
use crate::sim::failure::FailureKind;
use crate::sim::{CostModel, Link, PredictError, Sim, yield_now};

#[test]
fn a_job_that_cannot_go_on_has_no_time() {
    let error = Sim::new(2).predict(&model(), |pe| async move {
        let word = pe.calloc::<u64>(1).await?;
        if pe.my_pe() == 1 {
            pe.signal_wait_until(word, Cmp::Eq, 7).await?;
        }
        pe.finalize().await
    });
    let error = error.unwrap_err();
    assert!(matches!(error, PredictError::Failed { kind: FailureKind::Stuck { .. } }), "{error}");
    assert!(error.to_string().contains("PE 1 waits in signal_wait_until"), "{error}");
}

#[test]
fn who_looks_for_ever_is_ended() {
    let error = Sim::new(1).most_steps(1000).predict(&model(), |pe| async move {
        while pe.my_pe() == 0 {
            yield_now().await;
        }
        pe.finalize().await
    });
    let error = error.unwrap_err();
    assert!(
        matches!(error, PredictError::Failed { kind: FailureKind::Endless { steps: 1001.. } }),
        "{error}"
    );
}

#[test]
fn a_panic_is_told() {
    let error = Sim::new(2).predict(&model(), |pe| async move {
        assert!(pe.my_pe() == 0, "wrong on purpose");
        pe.finalize().await
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("PE 1 panicked: wrong on purpose"), "{error}");
}

#[test]
fn who_leaves_without_a_word_is_lost_to_the_others() {
    let error = Sim::new(2).predict(&model(), |pe| async move {
        if pe.my_pe() == 1 {
            return Ok(());
        }
        pe.finalize().await
    });
    let error = error.unwrap_err();
    assert!(matches!(error, PredictError::Failed { kind: FailureKind::Error { pe: 0, .. } }), "{error}");
}

#[test]
fn phases_have_their_times_and_messages() {
    let prediction = Sim::new(2).predict(&model(), |pe| async move {
        pe.phase("first");
        pe.barrier_all().await?;
        pe.phase("second");
        pe.barrier_all().await?;
        pe.phase("first");
        pe.barrier_all().await?;
        pe.phase("end");
        pe.finalize().await
    });
    let prediction = prediction.unwrap();
    let phases: Vec<_> =
        prediction.phases.iter().map(|p| (p.name, p.begin_ns, p.end_ns, p.messages)).collect();
    let expected = [
        ("start", 0, 0, 0),
        ("first", 0, 3 * 113, 4),
        ("second", 113, 2 * 113, 2),
        ("end", 3 * 113, 4 * 113, 2),
    ];
    assert_eq!(phases, expected);
    assert_eq!((prediction.time_ns, prediction.messages), (4 * 113, 8));
    assert_eq!(prediction.pe_ns, [4 * 113; 2]);
}

#[test]
fn without_costs_there_is_no_time_but_elsewhere_too() {
    assert_eq!(super::gather(5, 100, &super::CostModel::free()).time_ns, 0);
    Sim::new(1).check(|pe| async move {
        pe.phase("nothing");
        assert_eq!(pe.now_ns(), None);
        pe.finalize().await
    });
}

/// No cost is so great that the answer is merely wrong.
#[test]
fn what_takes_longer_than_can_be_counted_is_refused() {
    let slow =
        |latency_ns, per_byte_ps| CostModel { link: Link { latency_ns, per_byte_ps }, ..CostModel::free() };
    let run = |model: CostModel| {
        Sim::new(2).predict(&model, |pe| async move {
            let all = pe.calloc::<u8>(2000).await?;
            pe.begin().await;
            pe.put_nbi(all, all, 1 - pe.my_pe())?;
            pe.barrier_all().await?;
            pe.finalize().await
        })
    };
    assert_eq!(run(slow(u64::MAX, 0)), Err(PredictError::TooLong));
    assert_eq!(run(slow(0, u64::MAX / 1000)), Err(PredictError::TooLong));
    assert_eq!(run(CostModel { overhead_ns: u64::MAX, ..CostModel::free() }), Err(PredictError::TooLong));
    // 106 days, twice and a little less.
    assert!(run(slow(u64::MAX / 5000, 0)).is_ok());
}
