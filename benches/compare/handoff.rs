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

/// Half a round trip in us, and how many there were.
fn measure(lines: &Lines, seconds: Duration) -> Result<(f64, u64), String> {
    let (mut last, mut rounds) = (0, 1);
    let mut took = lead(lines, &mut last, rounds)?;
    while took < seconds / 4 {
        rounds *= 2;
        took = lead(lines, &mut last, rounds)?;
    }
    let rounds = ((seconds.as_secs_f64() / took.as_secs_f64() * rounds as f64) as u64).max(1);
    let took = lead(lines, &mut last, rounds)?;
    lines.word(0).store(END, Ordering::Release);
    Ok((took.as_secs_f64() * 1e6 / rounds as f64 / 2.0, rounds))
}

/// The role itself. Prints a line as `perf --json` does.
///
/// # Errors
///
/// What went wrong.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> Result<(), String> {
    let pe = std::env::var("SHMEM_PE");
    let (Ok(pe), Some(seconds), Some(name)) = (pe, arguments.next(), arguments.next()) else {
        return Err("this way of calling compare is its own; see `compare --help`".to_owned());
    };
    let seconds = parse_seconds(&seconds.to_string_lossy()).map_err(|error| error.to_string())?;
    let lines = Lines::open(&name).map_err(|error| format!("{}: {error}", name.display()))?;
    if pe != "0" {
        return echo(&lines);
    }
    let (value, rounds) = measure(&lines, seconds)?;
    let line = format!(
        r#"{{"work":"hand-off","bytes":8,"pes":2,"value":{value:.6},"unit":"us","rounds":{rounds}}}"#
    );
    writeln!(std::io::stdout(), "{line}").map_err(|error| format!("standard output: {error}"))
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
