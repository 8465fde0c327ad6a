//! What people read: text, colours, exit codes.

use std::fs::OpenOptions;

use crate::harness::{Said, doctor, free_port, said};

/// Small enough for any host.
const SMALL: [&str; 4] = ["--backend", "loopback", "--heap", "1MiB"];

fn small(more: &[&str]) -> Said {
    said(&mut doctor(&[&SMALL[..], more].concat()))
}

#[test]
fn a_job_on_loopback_can_start_and_every_line_has_its_place() {
    let Said { code, out, err } = small(&[]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let mut lines: Vec<&str> = out.lines().collect();
    let last = lines.pop().unwrap();
    assert!(last.ends_with(" 0 fail; a job on backend loopback can start here"), "{last}");
    let mut counts = [0, 0];
    for (i, line) in lines.iter().enumerate() {
        if line.starts_with("  ok    ") {
            counts[0] += 1;
        } else if line.starts_with("  warn  ") {
            counts[1] += 1;
            assert!(lines[i + 1].starts_with("    -> "), "what to type after {line:?}: {out}");
        } else if !line.starts_with("    -> ") {
            assert!(!line.starts_with(' ') && !line.is_empty(), "no title, no finding: {line:?}");
        }
    }
    assert!(last.starts_with(&format!("{} ok, {} warn, 0 fail;", counts[0], counts[1])), "{out}");
    assert!(counts[0] > 0, "{out}");
}

#[test]
fn a_heap_that_no_machine_has_is_a_failure_with_exit_code_1() {
    let Said { code, out, .. } =
        said(&mut doctor(&["--backend", "loopback", "--heap", "40GiB", "--pes", "65536"]));
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("\n  fail  ") && out.contains("\n    -> "), "{out}");
    let last = out.lines().last().unwrap();
    assert!(last.contains("a job on backend loopback cannot start here: "), "{last}");
}

#[test]
fn without_a_backend_it_tells_which_could_run() {
    let Said { code, out, err } = said(&mut doctor(&["--heap", "1MiB"]));
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.lines().last().unwrap().ends_with(" 0 fail"), "{out}");
    for backend in demos::BACKENDS {
        assert!(out.contains(backend), "nothing of {backend}: {out}");
    }
}

#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    assert!(!small(&[]).out.contains('\u{1b}'));
    assert!(!small(&["--color", "never"]).out.contains('\u{1b}'));
    let coloured = small(&["--color", "always"]).out;
    assert!(coloured.contains("\u{1b}[32mok"), "{coloured:?}");
    // Who asks for them by the environment gets them, unless NO_COLOR is there too.
    let auto = |variables: &[(&str, &str)]| {
        let mut command = doctor(&SMALL);
        said(command.envs(variables.iter().copied())).out
    };
    assert!(auto(&[("CLICOLOR_FORCE", "1")]).contains("\u{1b}[32mok"));
    assert!(!auto(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn a_reader_that_left_is_no_error() {
    for more in [&[][..], &["--json"], &["--color", "always"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = doctor(&[&SMALL[..], more].concat());
        let Said { code, err, .. } = said(command.stdout(writer));
        assert_eq!((code, err.as_str()), (Some(0), ""), "{more:?}");
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(said(doctor(&["--help"]).stdout(writer)).code, Some(0));
}

#[test]
fn a_full_disk_is_one() {
    for more in [&[][..], &["--json"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let Said { code, err, .. } = said(doctor(&[&SMALL[..], more].concat()).stdout(full));
        assert_eq!(code, Some(1));
        assert!(err.starts_with("shmem-doctor: standard output: "), "{err}");
    }
}

#[test]
fn help_tells_the_options_and_their_defaults() {
    let Said { code, out, .. } = said(&mut doctor(&["--help"]));
    assert_eq!(code, Some(0));
    for says in
        ["--backend", "--json", "--peer", "18515", "--pes", "--heap", "--npu", "--rendezvous", "default: 30]"]
    {
        assert!(out.contains(says), "no {says}: {out}");
    }
    assert!(!out.contains("default: 120"), "{out}");
    assert!(said(&mut doctor(&["--version"])).out.starts_with("shmem-doctor "));
}

#[test]
fn no_identity_of_a_job_is_needed_and_none_is_in_the_way() {
    let mut command = doctor(&SMALL);
    command.envs([
        ("SHMEM_PE", "7"),
        ("RANK", "3"),
        ("SLURM_PROCID", "x"),
        ("SHMEM_UID_SESSION_ID", "tcp://127.0.0.1:8899"),
    ]);
    let Said { code, out, .. } = said(&mut command);
    assert_eq!(code, Some(0), "{out}");
}

#[test]
fn the_rendezvous_is_looked_at_when_it_is_known() {
    let address = format!("127.0.0.1:{}", free_port());
    assert!(!small(&[]).out.contains(&address));
    let given = small(&["--rendezvous", &address]).out;
    assert!(given.contains(&address), "{given}");
    let mut command = doctor(&SMALL);
    command.env("SHMEM_UID_SESSION_ID", format!("tcp://{address}"));
    assert!(said(&mut command).out.contains(&address));
}

#[test]
fn verbose_shows_every_setting_on_standard_error() {
    let Said { code, out, err } = small(&["--verbose", "--timeout", "7"]);
    assert_eq!(code, Some(0));
    assert!(err.contains("7 s (argument --timeout)") && err.contains("1 MiB (argument --heap)"), "{err}");
    assert!(!out.contains("argument --heap"), "{out}");
}
