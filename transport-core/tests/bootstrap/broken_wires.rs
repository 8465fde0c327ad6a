//! The wire between PE 1 and PE 0 breaks, at every byte: a clear error on every PE in time, never a hang or a wrong job.
//!
//! What is promised of bytes that are spoilt on the way, which TCP's own checksum makes rare: whatever tells PEs and jobs
//! apart is compared, so a PE never joins as another one or joins another job; with a secret, nothing that a PE says of
//! itself can be altered unseen. What follows the handshake has frames, numbers and kinds that must fit, so a spoilt one
//! is an error, at once or at the deadline. The payload of an allgather is taken as it comes: a spoilt bit in it arrives
//! as one, and nothing else is touched.

use std::sync::mpsc;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use transport_core::bootstrap::message::ToServer;
use transport_core::bootstrap::{Bootstrap, BootstrapError, CallKind, JoinSpec, Secret};

use crate::proxy::{Direction, Harm, Plan, Proxy};
use crate::support::*;

const N_PES: usize = 3;
/// What is swallowed is missed at the deadline, so that one is short, and the wait on the way from PE 0 is 2 s longer.
const SHORT: Duration = Duration::from_millis(500);
/// A PE that was let in and not told so knocks until this, at a PE 0 that has ended: the longest that a cut can take.
const MIDDLING: Duration = Duration::from_secs(6);
const WATCHDOG: Duration = Duration::from_secs(30);
const AT_A_TIME: usize = 32;

/// How far a PE came, and what it was told.
#[derive(Debug)]
struct End {
    pe: usize,
    gathered: Option<Vec<Bytes>>,
    result: Result<(), BootstrapError>,
    /// The call that failed.
    call: &'static str,
}

fn payload(pe: usize) -> Bytes {
    Bytes::from(vec![0x11 * (pe as u8 + 1); 6])
}

fn expected() -> Vec<Bytes> {
    (0..N_PES).map(payload).collect()
}

async fn job(spec: JoinSpec) -> End {
    let mut end = End { pe: spec.my_pe, gathered: None, result: Ok(()), call: "join" };
    end.result = calls(spec, &mut end).await;
    end
}

async fn calls(spec: JoinSpec, end: &mut End) -> Result<(), BootstrapError> {
    let pe = Bootstrap::join(spec).await?;
    end.call = "allgather";
    end.gathered = Some(pe.allgather(payload(end.pe)).await?);
    end.call = "barrier";
    pe.barrier().await?;
    end.call = "leave";
    pe.leave().await
}

/// One job of three whose PE 1 has its wire through a proxy; the ends in PE order.
fn run(plan: Plan, timeout: Duration, secret: bool) -> (Vec<End>, Proxy) {
    let mut meeting = Meeting::new();
    let proxy = Proxy::start(meeting.socket_address(), plan);
    let (sender, ends) = mpsc::channel();
    for mut spec in meeting.specs(N_PES) {
        spec.timeout = timeout;
        spec.secret = secret.then(|| Secret::new("shared and safe").unwrap());
        if spec.my_pe == 1 {
            spec.rendezvous = proxy.address();
        }
        let sender = sender.clone();
        thread::spawn(move || drop(sender.send(block_on(job(spec)))));
    }
    let mut all: Vec<End> = Vec::new();
    while all.len() < N_PES {
        match ends.recv_timeout(WATCHDOG) {
            Ok(end) => all.push(end),
            Err(_) => panic!("{plan:?}: a hang; only these ended: {all:#?}"),
        }
    }
    all.sort_by_key(|end| end.pe);
    (all, proxy)
}

/// Bytes of an unharmed job, in each direction.
fn bytes_carried(secret: bool) -> Vec<(Direction, usize)> {
    let (ends, proxy) = run(Plan::HARMLESS, PATIENCE, secret);
    assert!(ends.iter().all(all_well), "{ends:#?}");
    let carried = [Direction::ToPe0, Direction::FromPe0].map(|d| (d, proxy.carried(d)));
    assert!(carried.iter().all(|(_, bytes)| *bytes > 100), "{carried:?}");
    carried.into()
}

/// Of the bytes to PE 0, those of the handshake: what PE 1 says of itself.
fn handshake_bytes(carried: &[(Direction, usize)]) -> usize {
    let said = |call, payload| ToServer::Contribute { sequence: 0, call, payload }.encode().unwrap().len();
    let calls = said(CallKind::AllGather, payload(1))
        + said(CallKind::Barrier, Bytes::new())
        + said(CallKind::Leave, Bytes::new());
    carried[Direction::ToPe0 as usize].1 - calls
}

/// Runs all plans, several at a time.
fn each(
    plans: impl IntoIterator<Item = Plan>,
    timeout: Duration,
    secret: bool,
    judge: impl Fn(Plan, &[End], &Proxy) + Sync,
) {
    let _alone = many_sockets();
    let plans: Mutex<Vec<Plan>> = Mutex::new(plans.into_iter().collect());
    assert!(!plans.lock().unwrap().is_empty());
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let Some(plan) = plans.lock().unwrap_or_else(PoisonError::into_inner).pop() else {
                        return;
                    };
                    let (ends, proxy) = run(plan, timeout, secret);
                    for end in &ends {
                        assert_clear(plan, end);
                    }
                    judge(plan, &ends, &proxy);
                }
            });
        }
    });
}

fn all_well(end: &End) -> bool {
    end.result.is_ok() && end.gathered.as_ref() == Some(&expected())
}

/// An error says which PE reports it, and of whom.
fn assert_clear(plan: Plan, end: &End) {
    if let Err(error) = &end.result {
        let text = error.to_string();
        assert!(text.starts_with(&format!("PE {}: ", end.pe)) && text.len() > 30, "{plan:?}: {end:?}");
    }
}

/// If PE 1 failed, nobody else is through, unless only goodbyes were missing; and nobody has wrong data.
fn assert_together(plan: Plan, ends: &[End]) {
    for end in ends {
        assert!(end.gathered.as_ref().is_none_or(|gathered| *gathered == expected()), "{plan:?}: {ends:#?}");
    }
    let only_goodbye = ends[1].call == "leave";
    let failed = ends.iter().filter(|end| end.result.is_err()).count();
    assert!(failed == 0 || failed == N_PES || only_goodbye, "{plan:?}: {ends:#?}");
    for end in ends.iter().filter(|end| end.pe != 1) {
        // Who comes when all is over finds nobody, and cannot know why.
        let names = |error: &BootstrapError| {
            let too_late = matches!(error, BootstrapError::Unreachable { .. });
            too_late || error.to_string().contains("PE 1 ") || error.lost_pe() == Some(0)
        };
        assert!(end.result.as_ref().err().is_none_or(names), "{plan:?}: {ends:#?}");
    }
}

fn plans(carried: &[(Direction, usize)], step: usize, harm: Harm, again: bool) -> Vec<Plan> {
    let at = |&(direction, bytes): &(Direction, usize)| {
        (0..bytes).step_by(step).map(move |at| Plan { harm, direction, at, again })
    };
    carried.iter().flat_map(at).collect()
}

#[test]
fn cut_once_at_every_byte() {
    let carried = bytes_carried(false);
    let handshake = handshake_bytes(&carried);
    each(plans(&carried, 1, Harm::Cut, false), MIDDLING, false, |plan, ends, proxy| {
        assert_together(plan, ends);
        // Before PE 0 can know it, it knocks again, and nobody need hear of it.
        if plan.direction == Direction::ToPe0 && plan.at < handshake {
            assert!(ends.iter().all(all_well), "{plan:?}: {ends:#?}");
            assert_eq!(proxy.connections(), 2, "{plan:?}: {ends:#?}");
        }
    });
}

#[test]
fn cut_each_time_at_the_same_byte() {
    let carried = bytes_carried(true);
    each(plans(&carried, 9, Harm::Cut, true), SHORT, true, |plan, ends, _| {
        assert_together(plan, ends);
        assert!(ends[1].result.is_err(), "{plan:?}: {ends:#?}");
    });
}

#[test]
fn swallowed_from_a_byte_on() {
    let carried = bytes_carried(false);
    each(plans(&carried, 9, Harm::Swallow, true), SHORT, false, |plan, ends, _| {
        assert_together(plan, ends);
        assert!(ends[1].result.is_err(), "{plan:?}: {ends:#?}");
    });
}

#[test]
fn split_at_every_byte_and_late_it_is_the_same() {
    for secret in [false, true] {
        let carried = bytes_carried(secret);
        let late = plans(&carried, 3, Harm::Delay(Duration::from_millis(15)), true);
        let split = plans(&[(Direction::ToPe0, 1), (Direction::FromPe0, 1)], 1, Harm::Split, true);
        each(late.into_iter().chain(split), PATIENCE, secret, |plan, ends, _| {
            assert!(ends.iter().all(all_well), "{plan:?}: {ends:#?}");
        });
    }
}

/// Each byte with one of its bits turned over.
fn spoilt(carried: &[(Direction, usize)]) -> impl Iterator<Item = Plan> {
    plans(carried, 1, Harm::None, false)
        .into_iter()
        .map(|plan| Plan { harm: Harm::Flip(1 << (plan.at * 3 % 8)), ..plan })
}

/// Bits in which two results differ; `None` if their lengths do.
fn bits_apart(found: &[Bytes], expected: &[Bytes]) -> Option<u32> {
    let lengths = |all: &[Bytes]| all.iter().map(Bytes::len).collect::<Vec<_>>();
    let bytes = |all: &[Bytes]| all.concat();
    (lengths(found) == lengths(expected)).then(|| {
        bytes(found)
            .iter()
            .zip(bytes(expected))
            .map(|(found, expected)| (found ^ expected).count_ones())
            .sum()
    })
}

/// What there is of a result is right, or spoilt in the one bit of a payload.
fn assert_no_more_than_a_payload(plan: Plan, ends: &[End]) {
    for end in ends {
        let Some(gathered) = &end.gathered else { continue };
        let apart = bits_apart(gathered, &expected());
        assert!(apart.is_some_and(|bits| bits <= 1), "{plan:?}: {ends:#?}");
        if apart == Some(1) {
            // On the way to PE 0 only what PE 1 said can be spoilt; on the way back only what PE 1 hears.
            match plan.direction {
                Direction::ToPe0 => assert_ne!(gathered[1], payload(1), "{plan:?}: {ends:#?}"),
                Direction::FromPe0 => assert_eq!(end.pe, 1, "{plan:?}: {ends:#?}"),
            }
        }
    }
}

#[test]
fn spoilt_at_every_byte() {
    let carried = bytes_carried(false);
    each(spoilt(&carried), SHORT, false, |plan, ends, _| {
        assert_no_more_than_a_payload(plan, ends);
        let only_goodbye = ends.iter().all(|end| end.call == "leave");
        let failed = ends.iter().filter(|end| end.result.is_err()).count();
        assert!(failed == 0 || failed == N_PES || only_goodbye, "{plan:?}: {ends:#?}");
    });
}

/// With a secret, nothing that PE 1 says of itself is believed if a bit is spoilt.
#[test]
fn a_handshake_spoilt_at_every_byte_with_a_secret() {
    let carried = bytes_carried(true);
    let handshake = handshake_bytes(&carried);
    let of_handshake =
        spoilt(&carried).filter(|plan| plan.direction == Direction::ToPe0 && plan.at < handshake);
    each(of_handshake, SHORT, true, |plan, ends, proxy| {
        assert!(ends.iter().all(|end| end.gathered.as_ref().is_none_or(|gathered| *gathered == expected())));
        // Refused, or let in when it knocked again.
        assert!(ends.iter().all(|end| end.result.is_err()) || proxy.connections() > 1, "{plan:?}: {ends:#?}");
    });
}
