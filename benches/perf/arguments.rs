//! The command line of `perf`.

use std::time::Duration;

use benches::{AskError, Work};
use clap::Parser;
use demos::{AlgorithmOption, JobOptions};
use transport_core::config::{JobConfig, JobConfigBuilder, parse_seconds};

use crate::measure::{Goal, Measure};

/// What stands below the options in `--help`.
const AFTER_HELP: &str = "\
Works, with their sizes in bytes if none is given:
  ping-pong:8         put from PE 0 to PE 1, which sees the last word and puts back; half a round trip
  signal-ping-pong:8  the same by put with signal
  stream:65536        puts from PE 0 to PE 1 without waiting, quiet at the end; MB/s (10^6 bytes a second)
  put-quiet:8         put and quiet
  put:8               the call of put alone, in bursts
  get:8               get and quiet
  barrier             barrier of all PEs
  all-gather:64       AllGather in place, bytes of each PE
  replay:64           replay of the reference job's graph (two AllGathers), bytes of each PE
  empty-nodes         replay of a graph of 100 copies of nothing

PE 0 prints a line for each work, `WORK BYTES PES VALUE UNIT`; the unit is us but for stream. What was moved is checked, and \
wrong data is an error. The works of PE 0 are done; the others must be given the same, or as large ones.

Example:
  shmrun -n 2 perf --heap 64MiB ping-pong stream barrier all-gather:4KiB";

/// Measures puts, barriers and collectives of a backend, as one PE of a job. Its identity comes from the environment of the
/// launcher, e.g. shmrun.
#[derive(Debug, Parser)]
#[command(name = "perf", version, override_usage = "perf [OPTIONS] WORK...", after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// What to measure, in this order: a name, or name:bytes (64KiB, 1M, ...)
    #[arg(value_name = "WORK", required = true)]
    works: Vec<Work>,

    /// Do each work this often, instead of finding out how often
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,

    /// How long a work is measured, its repeats together, without finding out how often [default: 1]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    seconds: Option<Duration>,

    /// Measure each work this often, and report the median
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,

    /// Time each round, and take their median instead of their mean, as ib_write_lat does for t_typical; but for stream and
    /// put, whose rounds overlap
    #[arg(long)]
    typical: bool,

    #[command(flatten)]
    algorithm: AlgorithmOption,

    /// Print JSON objects, one a line, with the value of each repeat
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(crate) job: JobOptions,
}

/// Why a job cannot do what was asked for.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum PlanError {
    /// A work.
    #[error(transparent)]
    Work(#[from] AskError),
    /// PEs that only wait would give up.
    #[error(
        "--seconds {seconds:?} with --repeat {repeat} makes PEs wait for {each:?} at a time, but no wait is longer than \
         {limit:?}; raise --timeout (SHMEM_TIMEOUT) or --repeat"
    )]
    TooLong {
        /// Of a work.
        seconds: Duration,
        /// How often.
        repeat: u32,
        /// Of one repeat.
        each: Duration,
        /// The limit.
        limit: Duration,
    },
}

impl Arguments {
    /// The options of every program, with this one's own.
    pub(crate) fn configure(&self) -> JobConfigBuilder {
        self.algorithm.configure(self.job.configure())
    }

    /// What to do, checked as far as it can be before the PEs have met.
    pub(crate) fn plan(&self, config: &JobConfig) -> Result<Measure, PlanError> {
        // By name, so that results say it wherever it was set.
        let algorithm = config.all_gather.value;
        let works: Vec<Work> = self.works.iter().map(|work| work.with_algorithm(algorithm)).collect();
        for work in &works {
            work.check_fits(config.n_pes.value, config.heap_size.value)?;
        }
        let goal = match self.rounds {
            Some(rounds) => Goal::Rounds(rounds),
            None => {
                let (seconds, repeat) = (self.seconds.unwrap_or(Duration::from_secs(1)), self.repeat);
                let (each, limit) = (seconds / repeat, config.timeout.value);
                // What is found out about the speed may be wrong by half.
                if each * 2 > limit {
                    return Err(PlanError::TooLong { seconds, repeat, each, limit });
                }
                Goal::Time(each)
            }
        };
        Ok(Measure { works, goal, repeat: self.repeat, typical: self.typical, json: self.json })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport_core::collectives::AllGatherAlgorithm;
    use transport_core::config::MapEnvironment;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::try_parse_from(line.split_whitespace()).map_err(|error| error.to_string())
    }

    fn plan(line: &str, n_pes: &str) -> Result<Measure, String> {
        plan_in(line, n_pes, "")
    }

    fn plan_in(line: &str, n_pes: &str, all_gather: &str) -> Result<Measure, String> {
        let arguments = parse(line)?;
        let environment = MapEnvironment::from([
            ("SHMEM_PE", "0"),
            ("SHMEM_N_PES", n_pes),
            ("SHMEM_UID_SESSION_ID", "tcp://127.0.0.1:8899"),
            ("SHMEM_ALLGATHER", all_gather),
        ]);
        let config = arguments.configure().with_environment(environment).build().unwrap();
        arguments.plan(&config).map_err(|error| error.to_string())
    }

    #[test]
    fn works_and_options_make_a_plan() {
        let measure =
            plan("perf --json stream:1M barrier --repeat 5 --seconds 2 --algorithm textbook", "2").unwrap();
        assert_eq!(measure.goal, Goal::Time(Duration::from_millis(400)));
        assert_eq!((measure.repeat, measure.json), (5, true));
        let textbook =
            |text: &str| text.parse::<Work>().unwrap().with_algorithm(AllGatherAlgorithm::Textbook);
        assert_eq!(measure.works, [textbook("stream:1048576"), textbook("barrier")]);

        let measure = plan("perf --rounds 7 put", "2").unwrap();
        assert_eq!((measure.goal, measure.repeat, measure.json), (Goal::Rounds(7), 3, false));
    }

    #[test]
    fn the_algorithm_is_that_of_the_option_then_of_the_environment() {
        use AllGatherAlgorithm::{Auto, Pull, Ring};
        for (option, environment, used) in [
            ("", "", Auto),
            ("", "ring", Ring),
            ("--algorithm auto", "ring", Auto),
            ("--algorithm pull", "ring", Pull),
        ] {
            let measure = plan_in(&format!("perf all-gather {option}"), "2", environment).unwrap();
            assert_eq!(measure.works[0].algorithm(), Some(used), "{option:?} {environment:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_before_the_pes_meet() {
        for (line, n_pes, reason) in [
            ("perf", "2", "WORK"),
            ("perf pong", "2", "no work is called \"pong\""),
            ("perf put:0", "2", "at least 1"),
            ("perf put:many", "2", "whole number"),
            ("perf --heap 64KiB put:60K", "2", "raise --heap"),
            ("perf barrier stream", "1", "stream needs at least 2 PEs, but the job has 1"),
            ("perf --rounds 0 put", "2", "--rounds"),
            ("perf --rounds many put", "2", "--rounds"),
            ("perf --rounds 5 --seconds 1 put", "2", "cannot be used with"),
            ("perf --seconds 0 put", "2", "--seconds"),
            ("perf --seconds soon put", "2", "number of seconds"),
            ("perf --seconds 100 --repeat 1 --timeout 60 put", "2", "raise --timeout"),
            ("perf --repeat 0 put", "2", "--repeat"),
            ("perf --algorithm best put", "2", "there are auto, textbook"),
        ] {
            let error = plan(line, n_pes).map(drop).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }

    #[test]
    fn the_help_names_every_work_with_its_size() {
        for kind in benches::Kind::ALL {
            let bytes = kind.default_bytes().map_or(String::new(), |bytes| format!(":{bytes}"));
            let start = format!("\n  {}{bytes} ", kind.name());
            assert!(AFTER_HELP.contains(&start), "{start}");
        }
    }
}
