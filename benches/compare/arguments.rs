//! The command line of `compare`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use transport_core::config::parse_seconds;

use crate::work::{Asked, Work, chosen};

/// What stands below the options in `--help`.
const AFTER_HELP: &str = "\
Works: name[:BYTES][@PES], or name[:PES] for what has no size; what is left out means the usual ones, no work at all means all of them.
  put-quiet:8         put_nbi and quiet; of MPI: MPI_Put and MPI_Win_flush
  get:8               get, complete; of MPI: MPI_Get and MPI_Win_flush
  put:8               the call of put_nbi alone, in bursts of 64: the message rate
  ping-pong:8         half a round trip by puts; of MPI: MPI_Send and MPI_Recv
  signal-ping-pong:8  the same by put with signal; of OpenSHMEM 1.4: put_nbi, fence, p
  hand-off:8          our ping-pong beside a bare cache line that two processes hand to each other
  barrier:4           barrier_all of 4 PEs; MPI_Barrier
  turns:8             the same beside processes that count in one word and yield: what turns of the processors cost
  all-gather:64@2     AllGather in place; MPI_Allgather in place, shmem_fcollect
  replay:64           our graph of two AllGathers, an add, a copy and an add, beside one AllGather of theirs
  job:64              the same graph beside those five steps written by hand
  start-up:2          wall time of the whole launch: for the peers of a program that starts, does a barrier and ends; for \
ours of `perf --rounds 1 barrier`, which does the same and a little more

Each pair measures ours and then each peer (the next pair the other way round), on the same cores. Where there is a core for \
each PE, both are bound to cores, unless --bind none; where there is not, neither is, and Open MPI yields when idle \
(--oversubscribe). Ratios are ours / best peer in time: less than 1 means that ours is faster. Programs of ours for MPI and \
OpenSHMEM are built by mpicc and oshcc, and look at what arrives, as `perf` does; ucx_perftest does not.

Build first: cargo build --release -p benches -p demos
Examples:
  compare --quick
  compare put-quiet barrier:4 --pairs 7 --json compare.json --svg compare.svg";

/// Measures Open MPI, its OpenSHMEM and UCX beside ours, in turn, on this machine.
#[derive(Debug, Parser)]
#[command(name = "compare", version, override_usage = "compare [OPTIONS] [WORK]...", after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// What to compare
    #[arg(value_name = "WORK")]
    works: Vec<Asked>,

    /// The same as WORK, as an option
    #[arg(long, value_name = "WORK", value_delimiter = ',')]
    only: Vec<Asked>,

    /// How often each work is measured on either side [default: 5; 1 with --quick]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pairs: Option<u32>,

    /// How long the rounds of a work take, about [default: 0.2; 0.05 with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    seconds: Option<Duration>,

    /// Fewer pairs, sizes and PEs: to try it
    #[arg(long)]
    pub(crate) quick: bool,

    /// Where PEs run, if there is a core for each
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub(crate) bind: Bind,

    /// Where `shmrun` and `perf` are [default: beside this program]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) bin_dir: Option<PathBuf>,

    /// Install the peers that are missing, by apt-get, as root
    #[arg(long)]
    pub(crate) install: bool,

    /// When a launch is killed, with all that it started
    #[arg(long, value_name = "SECONDS", default_value = "100", value_parser = parse_seconds)]
    pub(crate) deadline: Duration,

    /// Write every single value, and what machine this is
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Draw time against bytes
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// Where PEs run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Bind {
    /// Each on a core of its own.
    #[default]
    Core,
    /// Where the system puts them.
    None,
}

impl Arguments {
    /// What to compare, in order.
    pub(crate) fn works(&self) -> Vec<Work> {
        let asked: Vec<Asked> = self.works.iter().chain(&self.only).copied().collect();
        chosen(&asked, self.quick)
    }

    pub(crate) fn pairs(&self) -> u32 {
        self.pairs.unwrap_or(if self.quick { 1 } else { 5 })
    }

    pub(crate) fn seconds(&self) -> Duration {
        self.seconds.unwrap_or(Duration::from_millis(if self.quick { 50 } else { 200 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::try_parse_from(line.split_whitespace()).map_err(|error| error.to_string())
    }

    #[test]
    fn works_come_from_both_places() {
        let arguments = parse("compare put-quiet:64 --only barrier:4,get:8 --pairs 3").unwrap();
        let works: Vec<String> = arguments.works().iter().map(Work::to_string).collect();
        assert_eq!(works, ["put-quiet:64@2", "get:8@2", "barrier@4"]);
        assert_eq!((arguments.pairs(), arguments.seconds()), (3, Duration::from_millis(200)));
        assert_eq!(arguments.bind, Bind::Core);
        let quick = parse("compare --quick").unwrap();
        assert_eq!((quick.pairs(), quick.seconds()), (1, Duration::from_millis(50)));
        assert_eq!(parse("compare --quick --pairs 2").unwrap().pairs(), 2);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, reason) in [
            ("compare pong", "no work is called \"pong\""),
            ("compare --only put,pong", "no work is called \"pong\""),
            ("compare --pairs 0", "--pairs"),
            ("compare --pairs many", "--pairs"),
            ("compare --seconds 0", "--seconds"),
            ("compare --deadline soon", "number of seconds"),
            ("compare --bind socket", "core, none"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }

    #[test]
    fn the_help_names_every_work() {
        for work in chosen(&[], false) {
            assert!(AFTER_HELP.contains(&format!("\n  {}:", work.kind.name())), "{work}");
        }
    }
}
