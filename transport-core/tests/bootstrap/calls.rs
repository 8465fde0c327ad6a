//! Collective calls of a job that runs.

use std::thread;

use bytes::Bytes;
use transport_core::bootstrap::{BootstrapError, MAX_PAYLOAD};

use crate::support::*;

#[test]
fn large_payloads_come_in_parts() {
    let job = job(5);
    let payload = |pe: usize| Bytes::from(vec![pe as u8; MAX_PAYLOAD - pe]);
    everywhere(&job, |pe| {
        let gathered = block_on(pe.allgather(payload(pe.my_pe()))).unwrap();
        assert!(gathered.iter().enumerate().all(|(other, got)| *got == payload(other)));
    });
    leave_all(&job);
}

#[test]
fn too_large_a_payload_is_refused_and_nothing_happens() {
    let job = job(2);
    let error = block_on(job[1].allgather(Bytes::from(vec![0; MAX_PAYLOAD + 1]))).unwrap_err();
    let (len, max) = (MAX_PAYLOAD + 1, MAX_PAYLOAD);
    assert_eq!(error, BootstrapError::PayloadTooLarge { my_pe: 1, len, max });
    everywhere(&job, |pe| block_on(pe.barrier()).unwrap());
    leave_all(&job);
}

#[test]
fn many_rounds_stay_in_step() {
    let job = job(4);
    everywhere(&job, |pe| {
        block_on(async {
            for round in 0..200_u32 {
                let mine = Bytes::copy_from_slice(&[pe.my_pe() as u32 ^ round].map(u32::to_le_bytes)[0]);
                let all = pe.allgather(mine).await.unwrap();
                for (other, got) in all.iter().enumerate() {
                    assert_eq!(got.as_ref(), (other as u32 ^ round).to_le_bytes());
                }
            }
        });
    });
    leave_all(&job);
}

#[test]
fn a_cancelled_call_is_resumed_by_the_same_call() {
    let job = job(3);
    poll_and_cancel(job[1].allgather("b".into()));
    poll_and_cancel(job[1].allgather("b".into()));
    let gathered = everywhere(&job, |pe| {
        let mine = ["a", "b", "c"][pe.my_pe()];
        block_on(pe.allgather(mine.into())).unwrap()
    });
    assert!(gathered.iter().all(|all| *all == ["a", "b", "c"]));
    everywhere(&job, |pe| block_on(pe.barrier()).unwrap());
    leave_all(&job);
}

#[test]
fn a_cancelled_call_has_been_made_for_the_others() {
    let job = job(3);
    poll_and_cancel(job[2].allgather("c".into()));
    everywhere(&job, |pe| {
        block_on(async {
            if pe.my_pe() != 2 {
                assert_eq!(pe.allgather("x".into()).await.unwrap(), ["x", "x", "c"]);
            }
            // PE 2 asks for something else: that comes after.
            pe.barrier().await.unwrap();
            assert_eq!(pe.allgather("y".into()).await.unwrap(), ["y", "y", "y"]);
        });
    });
    leave_all(&job);
}

#[test]
fn a_call_cancelled_after_its_end_keeps_its_result() {
    let job = job(2);
    poll_and_cancel(job[0].allgather("a".into()));
    assert_eq!(block_on(job[1].allgather("b".into())).unwrap(), ["a", "b"]);
    assert_eq!(block_on(job[0].allgather("a".into())).unwrap(), ["a", "b"]);
    leave_all(&job);
}

#[test]
fn several_threads_of_a_pe_take_turns() {
    let job = job(2);
    thread::scope(|scope| {
        for pe in &job {
            for _ in 0..8 {
                scope.spawn(|| (0..20).for_each(|_| block_on(pe.barrier()).unwrap()));
            }
        }
    });
    leave_all(&job);
}

#[test]
fn calls_after_leave_say_so() {
    let job = job(2);
    leave_all(&job);
    for pe in &job {
        block_on(pe.leave()).unwrap();
        assert_words(block_on(pe.barrier()).unwrap_err(), &["barrier after leave", "has left"]);
    }
}

#[test]
fn it_works_under_tokio_too() {
    let job = job(2);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (a, b) = tokio::join!(job[0].allgather("a".into()), job[1].allgather("b".into()));
        assert_eq!(a.unwrap(), b.unwrap());
        let (a, b) = tokio::join!(job[0].leave(), job[1].leave());
        a.and(b).unwrap();
    });
}
