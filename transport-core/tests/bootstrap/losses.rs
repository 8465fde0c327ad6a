//! PEs that go, with and without a word.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use transport_core::bootstrap::{Bootstrap, JobFault, PeerLost};

use crate::support::*;

fn watch(pe: &Bootstrap) -> mpsc::Receiver<PeerLost> {
    let (sender, receiver) = mpsc::channel();
    pe.on_peer_lost(move |lost| drop(sender.send(lost)));
    receiver
}

fn next(receiver: &mpsc::Receiver<PeerLost>) -> PeerLost {
    receiver.recv_timeout(PATIENCE).expect("never heard of a lost PE")
}

#[test]
fn a_pe_dropped_in_the_middle_of_an_allgather() {
    let mut job = job(4);
    let watches: Vec<_> = job.iter().map(watch).collect();
    let gone = job.remove(2);
    let errors = thread::scope(|scope| {
        let calls: Vec<_> =
            job.iter().map(|pe| scope.spawn(|| block_on(pe.allgather("x".into())).unwrap_err())).collect();
        drop(gone);
        calls.into_iter().map(|call| call.join().unwrap()).collect::<Vec<_>>()
    });
    for error in errors {
        assert_eq!(error.lost_pe(), Some(2));
        assert_words(error, &["PE 2 is gone", "ended or was killed"]);
    }
    for pe in [0, 1, 3] {
        assert_eq!(next(&watches[pe]).pe, 2);
    }
    // It stays so, and who asks later hears of it too.
    assert_eq!(block_on(job[0].barrier()).unwrap_err().lost_pe(), Some(2));
    assert_eq!(next(&watch(&job[1])).pe, 2);
}

#[test]
fn pe_0_dropped() {
    let mut job = job(3);
    let watches: Vec<_> = job.iter().map(watch).collect();
    drop(job.remove(0));
    for pe in &job {
        assert_eq!(next(&watches[pe.my_pe()]).pe, 0);
        let error = block_on(pe.barrier()).unwrap_err();
        assert_eq!((pe.my_pe(), error.lost_pe()), (pe.my_pe(), Some(0)));
        assert_eq!(next(&watch(pe)).pe, 0);
    }
}

#[test]
fn a_pe_that_gives_up_joining() {
    let mut meeting = Meeting::new();
    let mut specs = vec![meeting.spec(2, 3), meeting.spec(0, 3), meeting.spec(1, 3)];
    specs.iter_mut().for_each(|spec| spec.timeout = Duration::from_millis(1500));
    let one = specs.pop().unwrap();
    let zero = start(specs.pop().unwrap());
    let two = start(specs.pop().unwrap());
    // Cancelling ends its thread. Whether it had joined by then is open: it was never there, it is lost, or all had joined
    // and it is lost after that.
    poll_and_cancel(Bootstrap::join(one));
    let (zero, two) = (zero.join().unwrap(), two.join().unwrap());
    match zero {
        Ok(joined) => assert_eq!(next(&watch(&joined)).pe, 1),
        Err(error) => match error.fault() {
            Some(JobFault::PeerLost { pe, .. }) => assert_eq!(*pe, 1),
            _ => assert_words(error, &["PE 1 did not join"]),
        },
    }
    if let Ok(joined) = two {
        assert_eq!(next(&watch(&joined)).pe, 1);
    }
}

#[test]
fn abort_tells_everybody_why() {
    for who in [0, 2] {
        let mut job = job(3);
        let watches: Vec<_> = job.iter().map(watch).collect();
        let giving_up = job.remove(who);
        giving_up.abort("out of paper");
        for pe in &job {
            let lost = next(&watches[pe.my_pe()]);
            assert_eq!((lost.pe, lost.cause.as_str()), (who, "gave up: out of paper"));
            let error = block_on(pe.barrier()).unwrap_err();
            assert_eq!(error.lost_pe(), Some(who));
            assert_words(error, &[&format!("PE {who} gave up: out of paper")]);
        }
        // Its own calls fail too, and it is not told of itself.
        eventually("its own call fails", || block_on(giving_up.barrier()).is_err());
        assert!(watches[who].try_recv().is_err());
    }
}

#[test]
fn abort_then_drop_is_heard() {
    for who in [0, 1] {
        let mut job = job(2);
        let other = job.remove(1 - who);
        let giving_up = job.remove(0);
        giving_up.abort("at once");
        drop(giving_up);
        assert_words(block_on(other.barrier()).unwrap_err(), &["gave up: at once"]);
    }
}

#[test]
fn leave_then_drop_is_silent() {
    let mut job = job(4);
    let watches: Vec<_> = job.iter().map(watch).collect();
    leave_all(&job);
    // PE 0 first: the hardest for the others.
    while !job.is_empty() {
        drop(job.remove(0));
    }
    assert!(watches.iter().all(|watch| watch.try_recv().is_err()));
}

#[test]
fn pe_0_may_end_as_soon_as_it_has_left() {
    let mut job = job(8);
    let zero = job.remove(0);
    thread::scope(|scope| {
        scope.spawn(move || {
            block_on(zero.leave()).unwrap();
            drop(zero);
        });
        job.iter().for_each(|pe| drop(scope.spawn(|| block_on(pe.leave()).unwrap())));
    });
}

#[test]
fn the_last_handle_may_be_dropped_by_a_callback() {
    let mut job = job(2);
    let one = job.pop().unwrap();
    let zero = std::sync::Arc::new(std::sync::Mutex::new(job.pop()));
    let inner = zero.clone();
    let (sender, receiver) = mpsc::channel();
    zero.lock().unwrap().as_ref().unwrap().on_peer_lost(move |_| {
        drop(inner.lock().unwrap().take());
        let _ = sender.send(());
    });
    drop(one);
    receiver.recv_timeout(PATIENCE).expect("the callback hangs");
    assert!(zero.lock().unwrap().is_none());
}

#[test]
fn a_callback_that_panics_harms_nobody() {
    let mut job = job(3);
    job[0].on_peer_lost(|_| panic!("a callback's own trouble (part of a test)"));
    let heard = watch(&job[0]);
    drop(job.remove(2));
    assert_eq!(next(&heard).pe, 2);
    assert_eq!(block_on(job[0].barrier()).unwrap_err().lost_pe(), Some(2));
}

/// What the process of the next test runs: joins as PE 1 and waits for what never comes.
const CHILD_ADDRESS: &str = "BOOTSTRAP_TEST_CHILD_ADDRESS";
const CHILD_JOB_ID: &str = "BOOTSTRAP_TEST_CHILD_JOB_ID";

#[test]
fn child_that_waits_to_be_killed() {
    let Ok(address) = std::env::var(CHILD_ADDRESS) else { return };
    let mut spec = transport_core::bootstrap::JoinSpec::new(1, 3, address.parse().unwrap());
    (spec.timeout, spec.backend) = (PATIENCE, "test".into());
    spec.job_id = std::env::var(CHILD_JOB_ID).unwrap();
    let pe = block_on(Bootstrap::join(spec)).unwrap();
    drop(block_on(pe.barrier()));
}

#[test]
fn a_process_killed_by_force() {
    let mut meeting = Meeting::new();
    let specs = vec![meeting.spec(0, 3), meeting.spec(2, 3)];
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "losses::child_that_waits_to_be_killed", "--nocapture"])
        .env(CHILD_ADDRESS, meeting.address.to_string())
        .env(CHILD_JOB_ID, &meeting.job_id)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let job = in_order(join_all(specs));
    let watches: Vec<_> = job.iter().map(watch).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(watches.iter().all(|watch| next(watch).pe == 1));
    for error in everywhere(&job, |pe| block_on(pe.barrier()).unwrap_err()) {
        assert_eq!(error.lost_pe(), Some(1));
    }
}
