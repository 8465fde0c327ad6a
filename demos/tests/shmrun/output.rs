//! What PEs print arrives whole, with their number, on the stream they meant.

use std::io::Read as _;
use std::time::{Duration, Instant};

use crate::job::{Running, SHMRUN, code_of, marked, run, script};

#[test]
fn every_line_carries_its_pe_on_its_own_stream() {
    let job = run(script(3, "", "echo out; echo; echo err >&2"));
    assert_eq!(job.code, Some(0));
    assert_eq!(job.sorted(), ["[0] ", "[0] out", "[1] ", "[1] out", "[2] ", "[2] out"]);
    let mut err: Vec<&str> = job.err.lines().collect();
    err.sort_unstable();
    assert_eq!(err, ["[0] err", "[1] err", "[2] err"]);
}

#[test]
fn lines_written_in_pieces_are_never_mixed_not_even_between_the_streams() {
    let pieces = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
            printf 'out-'; printf 'err-' >&2; sleep 0.01; printf \"$SHMEM_PE-\"; echo $i; echo $i >&2; done";
    // Both streams of shmrun are one pipe here.
    let both = format!("exec {SHMRUN} -n 4 --timeout 20 sh -c '{}' 2>&1", pieces.replace('\'', "\""));
    let job = run(marked("sh", &["-c", &both]));
    let lines: Vec<String> = String::from_utf8(job.out).unwrap().lines().map(str::to_owned).collect();
    for pe in 0..4 {
        let of = |start: String| lines.iter().filter(move |line| line.starts_with(&start)).cloned();
        let expected = |word: &str| (1..=12).map(|i| format!("[{pe}] {word}{i}")).collect::<Vec<_>>();
        assert_eq!(of(format!("[{pe}] out")).collect::<Vec<_>>(), expected(&format!("out-{pe}-")));
        assert_eq!(of(format!("[{pe}] err")).collect::<Vec<_>>(), expected("err-"));
    }
    assert_eq!(lines.len(), 2 * 4 * 12);
}

#[test]
fn bytes_pass_unchanged_and_a_last_line_gets_its_newline() {
    let job = run(script(1, "", r"printf 'a\377\000b\n\nend'"));
    assert_eq!(job.out, b"[0] a\xff\0b\n[0] \n[0] end\n");
    let job = run(script(1, "--no-prefix", r"printf 'a\377b\n\nend'"));
    assert_eq!(job.out, b"a\xffb\n\nend\n");
}

#[test]
fn a_line_without_end_is_cut_into_bounded_lines() {
    let job = run(script(2, "", "head -c 200000 /dev/zero | tr '\\0' x"));
    let lengths: Vec<(char, usize)> =
        job.sorted().iter().map(|line| (line.chars().nth(1).unwrap(), line.len() - "[0] ".len())).collect();
    let rest = 200_000 - 3 * 65536;
    let of = |pe| [(pe, rest), (pe, 65536), (pe, 65536), (pe, 65536)];
    let mut sorted = lengths;
    sorted.sort_unstable();
    assert_eq!(sorted, [of('0'), of('1')].concat());
}

#[test]
fn much_output_arrives_complete_before_a_slow_reader() {
    let mut job = Running::start(script(2, "", "head -c 3000000 /dev/zero | tr '\\0' '\\n'"));
    std::thread::sleep(Duration::from_millis(300));
    let mut all = Vec::new();
    job.out.read_to_end(&mut all).unwrap();
    assert_eq!(all.len(), 2 * 3_000_000 * "[0] \n".len());
    assert_eq!(job.end(), (0, String::new()));
}

#[test]
fn a_reader_who_goes_away_ends_the_job_quietly() {
    let mut job = Running::start(script(3, "", "echo first; exec yes"));
    job.line();
    let Running { mut child, out, mark } = job;
    drop(out);
    let code = code_of(child.wait().unwrap());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((code, err.as_str()), (128 + 13, ""));
    assert_eq!(mark.processes(), [""; 0]);
}

#[test]
fn a_reader_who_pauses_does_not_hold_up_the_time_limit() {
    let start = Instant::now();
    let mut job =
        Running::start(script(2, "--timeout 0.5 --grace 0.2", "trap '' TERM; while :; do yes; done"));
    let code = code_of(job.child.wait().unwrap());
    assert_eq!(code, 124);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(job.mark.processes(), [""; 0]);
}

#[test]
fn output_that_cannot_be_written_is_a_failure_also_at_the_very_end() {
    for script in ["echo x", "echo x; exec sleep 60"] {
        let line = format!("exec {SHMRUN} -n 2 sh -c '{script}' >/dev/full");
        let full = run(marked("sh", &["-c", &line]));
        let (code, err) = full.code_and_err();
        assert_eq!(code, 1, "{err}");
        assert!(err.starts_with("shmrun: cannot write standard output: No space left"), "{err}");
    }
    let Running { mut child, out, mark } = Running::start(script(2, "", "sleep 0.3; echo x"));
    drop(out);
    assert_eq!(code_of(child.wait().unwrap()), 128 + 13);
    assert_eq!(mark.processes(), [""; 0]);
}
