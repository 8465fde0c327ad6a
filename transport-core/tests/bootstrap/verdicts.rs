//! Jobs that cannot be: every PE is told which one is odd.

use std::time::Duration;

use transport_core::bootstrap::{CallKind, JobFault, Property};
use transport_core::collectives::AllGatherAlgorithm;

use crate::support::*;

#[test]
fn a_pe_twice() {
    let mut meeting = Meeting::new();
    let specs = vec![meeting.spec(1, 3), meeting.spec(1, 3), meeting.spec(0, 3)];
    let fault = common_fault(&join_all(specs));
    assert!(matches!(fault, JobFault::DuplicatePe { pe: 1, .. }), "{fault:?}");
    assert_words(fault, &["PE 1 was started twice", "127.0.0.1:", "SHMEM_PE", "SHMEM_JOB_ID"]);
}

#[test]
fn other_n_pes() {
    let mut meeting = Meeting::new();
    let specs = vec![meeting.spec(1, 4), meeting.spec(0, 3)];
    let fault = common_fault(&join_all(specs));
    assert_words(fault, &["n_pes", "PE 1 has 4", "PE 0 has 3", "SHMEM_N_PES"]);
}

#[test]
fn a_pe_beyond_the_job() {
    // PE 5 of 6 where the others are 2: what differs is n_pes, and that is what is said.
    let mut meeting = Meeting::new();
    let fault = common_fault(&join_all(vec![meeting.spec(5, 6), meeting.spec(0, 2)]));
    assert!(matches!(fault, JobFault::Mismatch { property: Property::NPes, .. }), "{fault:?}");
}

#[test]
fn other_heap_size() {
    let mut meeting = Meeting::new();
    let mut specs = meeting.specs(4);
    specs[1].heap_size = 2 << 30;
    let odd = specs[1].my_pe;
    let fault = common_fault(&join_all(specs));
    let JobFault::Mismatch { property: Property::HeapSize, odd: named, others, .. } = &fault else {
        panic!("{fault}")
    };
    // Told at once: when PE 2 is the first or second to come, there is no majority yet.
    assert!(named.contains(odd) || others.contains(odd), "{fault}");
    assert_words(fault, &["heap size", "2 GiB", "1 GiB", "--heap"]);
}

#[test]
fn other_backend() {
    let mut meeting = Meeting::new();
    let mut specs = meeting.specs(2);
    specs[0].backend = "roce".into();
    let fault = common_fault(&join_all(specs));
    assert_words(fault, &["backend", "PE 1 has \"roce\"", "PE 0 has \"test\"", "--backend"]);
}

#[test]
fn other_all_gather() {
    let mut meeting = Meeting::new();
    let mut specs = meeting.specs(2);
    specs[0].all_gather = AllGatherAlgorithm::Ring;
    let fault = common_fault(&join_all(specs));
    assert_words(fault, &["AllGather", "PE 1 has ring", "PE 0 has auto", "SHMEM_ALLGATHER", "--algorithm"]);

    let mut specs = Meeting::new().specs(2);
    specs.iter_mut().for_each(|spec| spec.all_gather = AllGatherAlgorithm::Ring);
    let job = in_order(join_all(specs));
    assert!(job.iter().all(|pe| pe.all_gather() == AllGatherAlgorithm::Ring));
    leave_all(&job);
}

#[test]
fn who_is_missing_at_the_deadline() {
    let mut meeting = Meeting::new();
    let mut specs = vec![meeting.spec(1, 7), meeting.spec(4, 7), meeting.spec(0, 7)];
    specs.iter_mut().for_each(|spec| spec.timeout = Duration::from_millis(700));
    let fault = common_fault(&join_all(specs));
    assert_words(&fault, &["PEs 2, 3, 5, 6 did not join within", "SHMEM_TIMEOUT"]);
}

#[test]
fn the_shortest_deadline_counts() {
    let mut meeting = Meeting::new();
    let mut hasty = meeting.spec(1, 3);
    hasty.timeout = Duration::from_millis(300);
    let fault = common_fault(&join_all(vec![hasty, meeting.spec(0, 3)]));
    assert_words(fault, &["PE 2 did not join"]);
}

#[test]
fn one_too_many_does_not_harm_a_job_that_runs() {
    let mut meeting = Meeting::new();
    let specs = meeting.specs(2);
    let job = in_order(join_all(specs));
    let error = start(meeting.spec(1, 2)).join().unwrap().unwrap_err();
    assert_words(error, &["PE 1", "all 2 PEs have joined already", "SHMEM_JOB_ID"]);
    everywhere(&job, |pe| block_on(pe.barrier()).unwrap());
    leave_all(&job);
}

#[test]
fn different_calls() {
    let job = job(3);
    let errors = everywhere(&job, |pe| {
        block_on(async {
            pe.barrier().await.unwrap();
            match pe.my_pe() {
                2 => pe.allgather("x".into()).await.map(drop),
                _ => pe.barrier().await,
            }
            .unwrap_err()
        })
    });
    for error in &errors {
        assert_eq!(error.fault(), errors[0].fault());
        let Some(JobFault::CallMismatch { sequence: 1, theirs, ours, .. }) = error.fault() else {
            panic!("{error}")
        };
        assert!(
            [*theirs, *ours].contains(&CallKind::Barrier) && [*theirs, *ours].contains(&CallKind::AllGather)
        );
        assert_words(error, &["PE 2", "allgather", "barrier", "same order"]);
    }
    // It stays so.
    assert_eq!(block_on(job[0].leave()).unwrap_err().fault(), errors[0].fault());
}

#[test]
fn a_call_that_not_all_make() {
    let mut meeting = Meeting::new();
    let mut specs = meeting.specs(4);
    specs.iter_mut().for_each(|spec| spec.timeout = Duration::from_millis(1500));
    let job = in_order(join_all(specs));
    let errors = everywhere(&job[..2], |pe| block_on(pe.barrier()).unwrap_err());
    for error in errors {
        assert_words(error, &["barrier", "PEs 2, 3 did not arrive within 1.5s", "SHMEM_TIMEOUT"]);
    }
    // Those that come late hear the same.
    assert_words(block_on(job[3].barrier()).unwrap_err(), &["PE 3: ", "PEs 2, 3 did not arrive"]);
}
