//! Whether this host gives what PEs over shared memory need. See [`transport_core::checks`] for what holds for all.
//!
//! The steps are those of a job's start, in one process: a memory file without a name, mappings of it, sleeping and waking
//! through two mappings of the same page, and handing the file over a socket without a name. Nothing else is needed: no
//! `/dev/shm`, and no rights over other processes (Yama's `ptrace_scope` does not matter).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::thread::futex;
use transport_core::checks::{HeapMemory, Section, huge_pages};
use transport_core::config::ByteSize;
use transport_core::heap::SymHeap;

use crate::error::LoopbackError;
use crate::fd_exchange::{Giver, take};
use crate::job_memory::JobMemory;
use crate::{host, sys};

/// What is tried takes well under a millisecond; beyond this it does not work.
const LIMIT: Duration = Duration::from_millis(900);
/// How long to leave a thread to fall asleep before it is woken once more.
const PAUSE: Duration = Duration::from_micros(200);
/// Bytes of the file that is written to.
const PAGE: usize = 4096;
/// What refuses a system call that the kernel has.
const WHO_REFUSES: &str = "grep -E 'Seccomp|NoNewPrivs' /proc/self/status";

/// Tries what a job of `pes_here` PEs with heaps of `heap_bytes` bytes needs of this host. Takes no memory but a page, and
/// milliseconds; at most 2 s if something does not work.
#[must_use]
pub fn examine(heap_bytes: u64, pes_here: usize) -> Section {
    let mut section = Section::new("loopback", "Shared memory (loopback backend)");
    let pes = pes_here.max(1);
    if let Some(len) = judge_heap(&mut section, heap_bytes, pes) {
        judge_memory(&mut section, len, heap_bytes, pes);
    }
    huge_pages(&mut section, HeapMemory::Shared);
    match sys::sealed_memory_file("shmem-doctor", PAGE as u64) {
        Ok(page) => {
            judge_futex(&mut section, futex_works(&page));
            judge_handover(&mut section, handover_works(&page));
        }
        Err(error) => no_file(&mut section, "a page", &error),
    }
    section
}

/// Bytes of all that is mapped, if the heaps can be had at all.
fn judge_heap(section: &mut Section, heap: u64, pes: usize) -> Option<u64> {
    const ID: &str = "heap";
    let size = ByteSize::new(heap);
    match host::check_heap_size(0, heap) {
        Ok(()) => {}
        Err(LoopbackError::HeapLargerThanMemory { available, limit, .. }) => {
            let have = ByteSize::new(available);
            let what = format!("a heap of {size} is larger than what this machine has ({have} by {limit})");
            section.fail(ID, what, smaller_heap(available / 2));
            return None;
        }
        Err(_) => {
            let (min, max) = (ByteSize::new(SymHeap::MIN_SIZE), ByteSize::new(SymHeap::MAX_SIZE));
            let what = format!("a heap of {size} is not possible: {min} to {max} are");
            section.fail(ID, what, smaller_heap(SymHeap::DEFAULT_SIZE));
            return None;
        }
    }
    let Some(len) = JobMemory::len(pes, heap) else {
        let what = format!("{pes} heaps of {size} need more addresses than a process has");
        section.fail(ID, what, smaller_heap(SymHeap::DEFAULT_SIZE.min(heap / 2)));
        return None;
    };
    section.ok(ID, format!("{pes} {} of {size} can be addressed", if pes == 1 { "heap" } else { "heaps" }));
    Some(len)
}

/// Sets a heap of at most `bytes`.
fn smaller_heap(bytes: u64) -> String {
    let bytes = bytes.clamp(SymHeap::MIN_SIZE, SymHeap::MAX_SIZE);
    match bytes >> 20 {
        0 => format!("export SHMEM_HEAP_SIZE={}K", bytes >> 10),
        mib => format!("export SHMEM_HEAP_SIZE={mib}M"),
    }
}

/// The whole memory of the job, made and mapped as PE 0 does, and given back untouched.
fn judge_memory(section: &mut Section, len: u64, heap: u64, pes: usize) {
    let size = format!("{} MiB", len.div_ceil(1 << 20));
    let file = match sys::sealed_memory_file("shmem-doctor", len) {
        Ok(file) => file,
        Err(error) => return no_file(section, &size, &error),
    };
    section.ok("memory-file", format!("a memory file of {size} can be made (memfd_create)"));
    let mapped = usize::try_from(len).map_err(io::Error::other);
    mapping(section, &size, mapped.and_then(|len| sys::shared_memory(file.as_fd(), len)).err(), heap, pes);
}

fn no_file(section: &mut Section, size: &str, error: &io::Error) {
    let limited = rustix::process::getrlimit(rustix::process::Resource::Fsize).current.is_some();
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => WHO_REFUSES,
        // What `sealed_memory_file` says of that limit has no number of the system's.
        _ if limited && error.raw_os_error().is_none() => "ulimit -f unlimited",
        _ => "free -m; ulimit -a",
    };
    section.fail(
        "memory-file",
        format!("no memory file of {size} can be made (memfd_create): {error}"),
        remedy,
    );
}

fn mapping(section: &mut Section, size: &str, error: Option<io::Error>, heap: u64, pes: usize) {
    const ID: &str = "mapping";
    let limited = rustix::process::getrlimit(rustix::process::Resource::As).current.is_some();
    match error {
        None => section.ok(ID, format!("{size} can be mapped, shared; pages cost memory when touched")),
        Some(error) if limited => {
            let what = format!("{size}, the heaps of {pes} PEs, cannot be mapped: {error}");
            section.fail(ID, what, "ulimit -v unlimited");
        }
        Some(error) => {
            let what = format!("{size}, the heaps of {pes} PEs, cannot be mapped: {error}");
            section.fail(ID, what, smaller_heap(heap / 2));
        }
    }
}

/// A thread sleeps on a word of one mapping of `page`, and is woken by the same word of another one.
fn futex_works(page: &OwnedFd) -> io::Result<()> {
    let (sleeps, wakes) = (sys::shared_memory(page.as_fd(), PAGE)?, sys::shared_memory(page.as_fd(), PAGE)?);
    let limit = rustix::time::Timespec { tv_sec: 0, tv_nsec: LIMIT.subsec_nanos().into() };
    let deadline = Instant::now() + LIMIT;
    let sleeper = std::thread::Builder::new().name("shmem-sleeper".into()).spawn(move || {
        let word = sleeps.word32(0);
        // The word has changed before it could fall asleep, or a signal came: it need not be woken to look again.
        while word.load(Ordering::Acquire) == 0 && Instant::now() < deadline {
            match futex::wait(word, futex::Flags::empty(), 0, Some(&limit)) {
                Ok(()) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error)),
            }
        }
        Ok(())
    })?;
    let mut woken = Ok(0);
    while matches!(woken, Ok(0)) && Instant::now() < deadline && !sleeper.is_finished() {
        std::thread::sleep(PAUSE);
        woken = futex::wake(wakes.word32(0), futex::Flags::empty(), 1);
    }
    wakes.word32(0).store(1, Ordering::Release);
    let _ = futex::wake(wakes.word32(0), futex::Flags::empty(), 1);
    let slept = sleeper.join().map_err(|_| io::Error::other("the thread panicked"))?;
    match (woken?, slept) {
        (0, Ok(())) => Err(io::ErrorKind::TimedOut.into()),
        (_, slept) => slept,
    }
}

fn judge_futex(section: &mut Section, tried: io::Result<()>) {
    const ID: &str = "futex";
    match tried {
        Ok(()) => {
            section.ok(ID, "who sleeps on shared memory is woken through another mapping of it (futex)")
        }
        Err(error) => {
            let what =
                format!("who sleeps on shared memory is not woken through another mapping (futex): {error}");
            section.fail(ID, what, WHO_REFUSES);
        }
    }
}

/// PE 0's end and another PE's, for a moment.
fn handover_works(page: &OwnedFd) -> io::Result<()> {
    let giver = Giver::new()?;
    let (token, deadline) = (giver.token(), Instant::now() + LIMIT);
    let taker =
        std::thread::Builder::new().name("shmem-taker".into()).spawn(move || take(&token, deadline))?;
    let given = giver.give(page, 1, deadline);
    let taken = taker.join().map_err(|_| io::Error::other("the thread panicked"))?;
    // Where both fail, the taker's word says why: the giver only waited.
    sys::check_memory_file(taken?, PAGE as u64)?;
    given
}

fn judge_handover(section: &mut Section, tried: io::Result<()>) {
    const ID: &str = "handover";
    match tried {
        Ok(()) => section.ok(
            ID,
            "PE 0 can hand its memory to PEs of the same user in the same network namespace (abstract Unix socket)",
        ),
        Err(error) => section.fail(
            ID,
            format!("PE 0 cannot hand its memory to other PEs (abstract Unix socket, SCM_RIGHTS): {error}"),
            format!("{WHO_REFUSES}; ulimit -n"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport_core::checks::{Finding, Level};

    fn judged(judge: impl FnOnce(&mut Section)) -> Finding {
        let mut section = Section::new("loopback", "Loopback");
        judge(&mut section);
        assert_eq!(section.findings.len(), 1);
        section.findings.remove(0)
    }

    #[test]
    fn this_host_is_fit_for_a_small_job() {
        let started = Instant::now();
        for pes in [0, 1, 4] {
            let section = examine(64 << 10, pes);
            let ids: Vec<_> = section.findings.iter().map(|finding| finding.id).collect();
            assert_eq!(ids, ["heap", "memory-file", "mapping", "huge-pages", "futex", "handover"]);
            assert_eq!((section.id, section.level()), ("loopback", Level::Ok), "{section:?}");
        }
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn heaps_that_cannot_be_had_are_told_and_the_rest_is_looked_at_all_the_same() {
        let [(machine, _), (group, _)] = transport_core::host::memory_limits();
        let largest = machine.min(group).min(SymHeap::MAX_SIZE);
        for (heap, pes, part) in [
            (0, 1, "64 KiB to 40 GiB"),
            (u64::MAX, usize::MAX, "64 KiB to 40 GiB"),
            (largest, usize::MAX, "more addresses"),
        ] {
            let section = examine(heap, pes);
            let first = &section.findings[0];
            assert_eq!((first.id, first.level), ("heap", Level::Fail));
            assert!(first.what.contains(part), "{}", first.what);
            let remedy = first.remedy.as_deref().unwrap_or_default();
            let size: ByteSize = remedy.strip_prefix("export SHMEM_HEAP_SIZE=").unwrap().parse().unwrap();
            assert!((SymHeap::MIN_SIZE..=SymHeap::MAX_SIZE).contains(&size.bytes()));
            assert!(section.findings[1..].iter().all(|finding| finding.level == Level::Ok));
        }
        if machine.min(group) < SymHeap::MAX_SIZE {
            let what = judged(|section| assert_eq!(judge_heap(section, SymHeap::MAX_SIZE, 1), None)).what;
            assert!(what.contains("larger than what this machine has"), "{what}");
        }
        assert_eq!(smaller_heap(0), "export SHMEM_HEAP_SIZE=64K");
        assert_eq!(smaller_heap(3 << 20), "export SHMEM_HEAP_SIZE=3M");
    }

    #[test]
    fn each_step_that_fails_says_what_to_type() {
        let refused = || io::Error::from(rustix::io::Errno::PERM);
        let file = judged(|section| no_file(section, "4 MiB", &refused()));
        assert_eq!((file.level, file.remedy.as_deref()), (Level::Fail, Some(WHO_REFUSES)));
        let full = judged(|section| no_file(section, "4 MiB", &rustix::io::Errno::NOMEM.into()));
        assert_eq!(full.remedy.as_deref(), Some("free -m; ulimit -a"));
        let unmapped = judged(|section| mapping(section, "4 MiB", Some(refused()), 2 << 20, 2));
        let remedy = unmapped.remedy.unwrap();
        assert!(["ulimit -v unlimited", "export SHMEM_HEAP_SIZE=1M"].contains(&remedy.as_str()), "{remedy}");
        for finding in [
            judged(|section| judge_futex(section, Err(refused()))),
            judged(|section| judge_handover(section, Err(refused()))),
        ] {
            assert_eq!(finding.level, Level::Fail);
            assert!(finding.remedy.is_some_and(|remedy| remedy.contains("Seccomp")), "{}", finding.what);
        }
    }

    #[test]
    fn a_file_that_is_not_such_memory_fails_and_does_not_hang() {
        let null: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
        let started = Instant::now();
        assert!(futex_works(&null).is_err());
        assert!(handover_works(&null).is_err());
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
