//! The yardstick of a ping-pong: a cache line that two processes hand to each other, with nothing around it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use transport_core::config::parse_seconds;

/// The first argument of this program in this role; the seconds and the file follow. Two of them are started by `shmrun`, as our
/// own PEs are.
pub(crate) const ROLE: &str = "__hand-off";

const PAGE: usize = 4096;
/// The value that ends it.
const END: u64 = u64::MAX;
/// How long the other one may take for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Memory that two processes share, for as long as this is there, by a name that stands for it in `/proc`.
#[derive(Debug)]
pub(crate) struct Shared {
    _file: File,
    pub(crate) name: String,
}

impl Shared {
    pub(crate) fn new() -> std::io::Result<Self> {
        let file = File::from(memfd_create("hand-off", MemfdFlags::CLOEXEC)?);
        file.set_len(PAGE as u64)?;
        let name = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        Ok(Self { _file: file, name })
    }
}

/// Two words, each with its cache line for itself, in a page of shared memory.
pub(crate) struct Lines(*mut std::ffi::c_void);

impl Lines {
    pub(crate) fn open(name: &OsString) -> std::io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(name)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so nothing else lies there.
        let at = unsafe { mmap(std::ptr::null_mut(), PAGE, access, MapFlags::SHARED, &file, 0)? };
        Ok(Self(at))
    }

    /// 0 or 1.
    pub(crate) fn word(&self, which: usize) -> &AtomicU64 {
        // SAFETY: both words lie in the page, aligned, which is mapped as long as `self` is there; all access is atomic.
        unsafe { &*self.0.cast::<u8>().add(which % 2 * 1024).cast::<AtomicU64>() }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // SAFETY: it is this mapping, and no reference to it is left.
        let _ = unsafe { munmap(self.0, PAGE) };
    }
}

/// Waits until `word` is another one than `old`.
fn wait_for_change(word: &AtomicU64, old: u64) -> Result<u64, String> {
    let begun = Instant::now();
    loop {
        // Between two looks at the clock; on one core the other process must get its turn too.
        for _ in 0..10_000 {
            let value = word.load(Ordering::Acquire);
            if value != old {
                return Ok(value);
            }
            std::hint::spin_loop();
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("the other process did nothing for {PATIENCE:?}"));
        }
        std::thread::yield_now();
    }
}

/// The second process: hands back what comes.
fn echo(lines: &Lines) -> Result<(), String> {
    let mut last = 0;
    loop {
        last = wait_for_change(lines.word(0), last)?;
        lines.word(1).store(last, Ordering::Release);
        if last == END {
            return Ok(());
        }
    }
}

/// The first process: so many round trips, counted on from `last`.
fn lead(lines: &Lines, last: &mut u64, rounds: u64) -> Result<Duration, String> {
    let start = Instant::now();
    for _ in 0..rounds {
        lines.word(0).store(*last + 1, Ordering::Release);
        let back = wait_for_change(lines.word(1), *last)?;
        if back != *last + 1 {
            return Err(format!("hand-off moved wrong data: {back} came back, expected {}", *last + 1));
        }
        *last = back;
    }
    Ok(start.elapsed())
}

/// The time of as many rounds as `seconds` are about, and how many they were.
pub(crate) fn for_about(
    seconds: Duration,
    mut rounds_take: impl FnMut(u64) -> Result<Duration, String>,
) -> Result<(Duration, u64), String> {
    let mut rounds = 1;
    let mut took = rounds_take(rounds)?;
    while took < seconds / 4 {
        rounds *= 2;
        took = rounds_take(rounds)?;
    }
    let rounds = ((seconds.as_secs_f64() / took.as_secs_f64() * rounds as f64) as u64).max(1);
    Ok((rounds_take(rounds)?, rounds))
}

/// Half a round trip in us, and how many there were.
fn measure(lines: &Lines, seconds: Duration) -> Result<(f64, u64), String> {
    let mut last = 0;
    let (took, rounds) = for_about(seconds, |rounds| lead(lines, &mut last, rounds))?;
    lines.word(0).store(END, Ordering::Release);
    Ok((took.as_secs_f64() * 1e6 / rounds as f64 / 2.0, rounds))
}

/// One of the processes of a yardstick, as `shmrun` started it with the seconds and the file.
pub(crate) struct Part {
    pub(crate) pe: u64,
    pub(crate) n_pes: u64,
    pub(crate) seconds: Duration,
    pub(crate) lines: Lines,
}

impl Part {
    /// # Errors
    ///
    /// What is missing, or wrong with it.
    pub(crate) fn of(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let number = |name: &str| std::env::var(name).ok()?.parse().ok();
        let numbers = (number("SHMEM_PE"), number("SHMEM_N_PES"));
        let ((Some(pe), Some(n_pes)), Some(seconds), Some(name)) =
            (numbers, arguments.next(), arguments.next())
        else {
            return Err("this way of calling compare is its own; see `compare --help`".to_owned());
        };
        let seconds = parse_seconds(&seconds.to_string_lossy()).map_err(|error| error.to_string())?;
        let lines = Lines::open(&name).map_err(|error| format!("{}: {error}", name.display()))?;
        Ok(Self { pe, n_pes, seconds, lines })
    }

    /// Prints a result as `perf --json` does.
    ///
    /// # Errors
    ///
    /// If standard output does not take it.
    pub(crate) fn tell(&self, work: &str, bytes: usize, (value, rounds): (f64, u64)) -> Result<(), String> {
        let line = format!(
            r#"{{"work":"{work}","bytes":{bytes},"pes":{},"value":{value:.6},"unit":"us","rounds":{rounds}}}"#,
            self.n_pes
        );
        writeln!(std::io::stdout(), "{line}").map_err(|error| format!("standard output: {error}"))
    }
}

/// The role itself.
///
/// # Errors
///
/// What went wrong.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> Result<(), String> {
    let part = Part::of(arguments)?;
    match part.pe {
        0 => part.tell("hand-off", 8, measure(&part.lines, part.seconds)?),
        _ => echo(&part.lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sides_hand_a_line_to_each_other() {
        let shared = Shared::new().unwrap();
        let name = OsString::from(&shared.name);
        let lines = Lines::open(&name).unwrap();
        let echo = std::thread::spawn(move || echo(&Lines::open(&name).unwrap()));
        let (value, rounds) = measure(&lines, Duration::from_millis(5)).unwrap();
        assert!(value > 0.0 && rounds > 0);
        echo.join().unwrap().unwrap();
        assert!(Lines::open(&"/nowhere".into()).is_err());
    }
}
