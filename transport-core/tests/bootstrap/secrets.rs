//! Who is let in: the secret and the job id.

use std::io::Write;
use std::net::TcpStream;

use transport_core::bootstrap::message::{ToClient, ToServer, VERSION};
use transport_core::bootstrap::{BootstrapError, JoinSpec, Secret};

use crate::strangers::read_message;
use crate::support::*;

/// PE 1 comes once as `spoil` makes it, and is refused; then as it should be, and the job goes on.
fn refused_then_right(secret: Option<&str>, spoil: impl Fn(&mut JoinSpec), words: &[&str]) {
    let mut meeting = Meeting::new();
    let mut specs = meeting.specs(2);
    specs.iter_mut().for_each(|spec| spec.secret = secret.and_then(Secret::new));
    let (right, zero) = (specs.remove(0), specs.remove(0));
    let mut wrong = meeting.spec(1, 2);
    wrong.secret.clone_from(&right.secret);
    spoil(&mut wrong);
    let zero = start(zero);
    let error = start(wrong).join().unwrap().unwrap_err();
    assert!(matches!(error, BootstrapError::Refused { my_pe: 1, .. }), "{error:?}");
    assert_words(error, words);
    let one = start(right);
    leave_all(&in_order(vec![zero.join().unwrap(), one.join().unwrap()]));
}

#[test]
fn the_right_secret() {
    let mut specs = Meeting::new().specs(3);
    specs.iter_mut().for_each(|spec| spec.secret = Secret::new("swordfish"));
    leave_all(&in_order(join_all(specs)));
}

#[test]
fn a_wrong_secret() {
    refused_then_right(
        Some("swordfish"),
        |spec| spec.secret = Secret::new("guess"),
        &["PE 1", "secrets differ", "SHMEM_SECRET"],
    );
}

#[test]
fn no_secret_where_one_is_needed() {
    refused_then_right(
        Some("swordfish"),
        |spec| spec.secret = None,
        &["PE 0 requires a secret", "SHMEM_SECRET"],
    );
}

#[test]
fn a_secret_where_none_is_needed() {
    refused_then_right(
        None,
        |spec| spec.secret = Secret::new("swordfish"),
        &["PE 0 has none", "SHMEM_SECRET"],
    );
}

#[test]
fn another_job() {
    refused_then_right(
        None,
        |spec| spec.job_id = "other".into(),
        &["serves job \"job-", "job \"other\"", "SHMEM_JOB_ID"],
    );
}

#[test]
fn refusals_are_told_to_those_who_wait_in_vain() {
    let mut meeting = Meeting::new();
    let (mut zero, mut one) = (meeting.spec(0, 2), meeting.spec(1, 2));
    zero.timeout = std::time::Duration::from_millis(1500);
    zero.secret = Secret::new("swordfish");
    one.secret = Secret::new("guess");
    let zero = start(zero);
    start(one).join().unwrap().unwrap_err();
    let error = zero.join().unwrap().unwrap_err();
    assert_words(error, &["PE 1 did not join", "Refused meanwhile: 127.0.0.1:", "secrets differ"]);
}

#[test]
fn another_version_is_refused_with_the_reason() {
    let mut meeting = Meeting::new();
    let (zero, one) = (meeting.spec(0, 2), meeting.spec(1, 2));
    let zero = start(zero);
    let mut stream = TcpStream::connect(meeting.socket_address()).unwrap();
    let hello = ToServer::Hello { version: VERSION + 1, nonce: [0; 32] };
    stream.write_all(&hello.encode().unwrap()).unwrap();
    let ToClient::Refused { reason } = read_message(&mut stream) else { panic!("not refused") };
    let [ours, theirs] = [VERSION, VERSION + 1].map(|version| format!("version {version}"));
    assert_words(reason, &[&ours, &theirs, "same build"]);
    let one = start(one);
    leave_all(&in_order(vec![zero.join().unwrap(), one.join().unwrap()]));
}
