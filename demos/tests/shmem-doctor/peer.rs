//! `--peer`: two doctors that meet, and one that meets nobody.

use std::io::Write as _;
use std::net::TcpListener;
use std::process::Command;

use crate::harness::{Said, doctor, free_port, said, wait};

/// What the job tells when all is well, in order.
const WELL: [&str; 7] = [
    "both hosts meet at ",
    "both run on backend loopback",
    "8 B, 4 KiB and 64 KiB arrive whole",
    "64 KiB are read",
    "both add to one word",
    "8 B there and back take ",
    "both leave in good order",
];

fn with_peer(peer: &str, more: &[&str]) -> Command {
    doctor(&[&["--heap", "1MiB", "--peer", peer], more].concat())
}

/// Runs both at the same time.
fn both(mut one: Command, mut other: Command) -> [Said; 2] {
    let (one, other) = (one.spawn().unwrap(), other.spawn().unwrap());
    [wait(one), wait(other)]
}

fn assert_well(said: &[Said; 2]) {
    for Said { code, out, err } in said {
        assert_eq!(*code, Some(0), "{out}{err}");
        let mut rest = out.as_str();
        for well in WELL {
            let at = rest.find(&format!("\n  ok    {well}")).unwrap_or_else(|| panic!("no {well:?}: {out}"));
            rest = &rest[at + 1..];
        }
        assert!(
            err.contains("waiting up to ") && err.contains("shmem-doctor --backend loopback --peer "),
            "{err}"
        );
    }
    let pe = |number: usize| {
        said.iter().filter(|said| said.out.contains(&format!("is PE {number} of two"))).count()
    };
    assert_eq!((pe(0), pe(1)), (1, 1), "{}{}", said[0].out, said[1].out);
}

#[test]
fn two_doctors_on_one_host_take_one_role_each() {
    let peer = format!("127.0.0.1:{}", free_port());
    // By name, and found out.
    assert_well(&both(with_peer(&peer, &["--backend", "loopback"]), with_peer(&peer, &[])));
    // The same port again, at once.
    assert_well(&both(with_peer(&peer, &[]), with_peer(&peer, &[])));
}

#[test]
fn over_ipv6_too() {
    let Ok(probe) = TcpListener::bind("[::1]:0") else { return };
    let peer = format!("[::1]:{}", probe.local_addr().unwrap().port());
    drop(probe);
    assert_well(&both(with_peer(&peer, &[]), with_peer(&peer, &[])));
}

#[test]
fn what_another_job_was_told_does_not_matter() {
    let peer = format!("localhost:{}", free_port());
    let mut one = with_peer(&peer, &[]);
    one.envs([
        ("SHMEM_PE", "7"),
        ("SHMEM_N_PES", "9"),
        ("SHMEM_JOB_ID", "another"),
        ("SHMEM_RENDEZVOUS_FILE", "/no/such/file"),
        ("SHMEM_UID_SESSION_ID", "tcp://192.0.2.1:9"),
    ]);
    // There is nobody at that rendezvous, which is no matter of the peer's.
    let [one, other] = both(one, with_peer(&peer, &[]));
    for said in [&one, &other] {
        assert!(said.out.contains("\n  ok    both leave in good order"), "{}{}", said.out, said.err);
    }
}

#[test]
fn nobody_there_names_the_command_to_type_there() {
    let peer = format!("127.0.0.1:{}", free_port());
    let Said { code, out, err } = said(&mut with_peer(&peer, &["--timeout", "0.5"]));
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("PE 1 did not join within 500ms"), "{out}");
    let command = format!("shmem-doctor --backend loopback --peer {peer}");
    assert!(out.contains(&format!("\n    -> {command} # on 127.0.0.1\n")), "{out}");
    assert!(err.contains(&format!("waiting up to 0.5 s for {peer}; on that host: {command}\n")), "{err}");
    assert!(out.lines().last().unwrap().contains(" 1 fail"), "{out}");
}

#[test]
fn with_a_backend_the_verdict_counts_the_peer() {
    let peer = format!("127.0.0.1:{}", free_port());
    let said = said(&mut with_peer(&peer, &["--timeout", "0.2", "--backend", "loopback"]));
    assert!(
        said.out.ends_with("a job on backend loopback cannot start here: 1 failure above\n"),
        "{}",
        said.out
    );
}

#[test]
fn somebody_else_at_the_port() {
    // One that says nothing, and one that says something else.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let Said { code, out, .. } = said(&mut with_peer(&format!("127.0.0.1:{port}"), &["--timeout", "0.5"]));
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains(&format!("\n    -> ss -ltnp 'sport = :{port}' # on 127.0.0.1\n")), "{out}");

    let talker = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = talker.local_addr().unwrap().port();
    let talk = std::thread::spawn(move || {
        let (mut stream, _) = talker.accept().unwrap();
        stream.write_all(b"220 mail.example ESMTP ready, and what do you want from me?\r\n").unwrap();
        // Open until the doctor has ended.
        (talker, stream)
    });
    let Said { code, out, .. } = said(&mut with_peer(&format!("127.0.0.1:{port}"), &["--timeout", "5"]));
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("is no rendezvous of this library"), "{out}");
    drop(talk.join().unwrap());
}

#[test]
fn a_secret_that_only_one_knows() {
    let peer = format!("127.0.0.1:{}", free_port());
    let mut one = with_peer(&peer, &["--timeout", "2"]);
    one.env("SHMEM_SECRET", "sesame");
    let said = both(one, with_peer(&peer, &["--timeout", "2"]));
    for Said { code, out, err } in &said {
        assert_eq!(*code, Some(1), "{out}");
        assert!(!out.contains("sesame") && !err.contains("sesame"), "{out}{err}");
    }
    assert!(said.iter().any(|said| said.out.contains("SHMEM_SECRET")), "{}{}", said[0].out, said[1].out);
}

#[test]
fn a_name_that_does_not_exist_and_an_address_without_a_way() {
    let Said { code, out, .. } = said(&mut with_peer("no-such-host.invalid", &["--timeout", "20"]));
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("no-such-host.invalid cannot be resolved"), "{out}");
    assert!(out.contains("\n    -> getent hosts no-such-host.invalid\n"), "{out}");
}

/// Another host, of which the loopback backend knows nothing; nothing is sent to it.
#[cfg(not(feature = "verbs"))]
#[test]
fn a_build_without_a_network_backend_says_how_to_get_one() {
    let Said { code, out, .. } = said(&mut with_peer("192.0.2.1", &["--timeout", "1"]));
    assert_eq!(code, Some(1), "{out}");
    let no_way =
        out.contains("there is no way to 192.0.2.1") && out.contains("\n    -> ip route get 192.0.2.1\n");
    let no_backend = out.contains("no backend of this build reaches another host: it has loopback")
        && out.contains("\n    -> cargo build --release -p demos --features roce\n");
    assert!(no_way || no_backend, "{out}");
}

#[cfg(feature = "roce")]
#[test]
fn two_backends_are_a_mismatch_on_both_sides() {
    let peer = format!("127.0.0.1:{}", free_port());
    let said = both(with_peer(&peer, &["--backend", "loopback"]), with_peer(&peer, &["--backend", "roce"]));
    for Said { code, out, .. } in &said {
        assert_eq!(*code, Some(1), "{out}");
        assert!(out.contains("do not agree on backend") && out.contains("roce"), "{out}");
    }
}
