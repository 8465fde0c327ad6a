//! The command line.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::time::Duration;

use clap::Parser;
use clap::builder::{OsStringValueParser, TypedValueParser as _};

use crate::bind::Bind;
use crate::identity;

/// What stands below the options in `--help`.
const AFTER_HELP: &str = "\
Each PE finds in its environment: SHMEM_PE and SHMEM_N_PES (its number and how many there are), SHMEM_LOCAL_PE and \
SHMEM_LOCAL_N_PES (the same on this host), SHMEM_UID_SESSION_ID (the rendezvous, tcp://ADDRESS:PORT), SHMEM_JOB_ID and \
SHMEM_SECRET. PE 0 also finds SHMEM_RENDEZVOUS_FD, the socket that listens at the rendezvous. Standard input is empty.

When a PE fails (exits non-zero or is killed), the others may end by themselves for --settle seconds; then SIGTERM, and \
after --grace seconds SIGKILL, go to their process groups. Ctrl-C, SIGTERM, SIGHUP and SIGQUIT are passed on to the PEs; \
the second one kills them. No process of the job is left behind, even if shmrun itself is killed.

Exit code: 0 if all PEs exited with 0; else that of the PE that failed first (128 + signal if it was killed); \
124 after --timeout; 128 + signal if shmrun was told to end; 126 or 127 if PROGRAM cannot be run or is not there; \
1 or 2 if the job could not be started.

Examples:
  shmrun -n 4 rdma_aclgraph_demo
  shmrun -n 2 --heap 64M --timeout 30 ./my_program --its-own-option
  shmrun -n 3 sh -c 'echo I am PE $SHMEM_PE of $SHMEM_N_PES'";

/// Starts N PEs of one job on this host, shows their output line by line, and ends them together.
#[derive(Debug, Parser)]
#[command(name = "shmrun", version, after_help = AFTER_HELP)]
#[command(override_usage = "shmrun -n N [OPTIONS] PROGRAM [ARGUMENTS]...")]
pub(crate) struct Options {
    /// How many PEs to start
    #[arg(short = 'n', value_name = "N", allow_negative_numbers = true, value_parser = pe_count)]
    pub(crate) n_pes: usize,

    /// Backend the PEs use (SHMEM_BACKEND)
    #[arg(long, value_name = "NAME")]
    pub(crate) backend: Option<OsString>,

    /// Size of each PE's symmetric heap, e.g. 64M (SHMEM_HEAP_SIZE)
    #[arg(long, value_name = "SIZE")]
    pub(crate) heap: Option<OsString>,

    /// Variable for the environment of every PE; repeatable
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = OsStringValueParser::new().try_map(variable))]
    pub(crate) variables: Vec<(OsString, OsString)>,

    /// Address of this host at which the PEs meet
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: String,

    /// Port at which the PEs meet; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,

    /// Where PEs run. Of more PEs than processors `core` has as many on each, which else the system sees to now and then
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Bind::None)]
    pub(crate) bind: Bind,

    /// Do not make up a secret for the job; without this every job has one, or the SHMEM_SECRET that is already set
    #[arg(long)]
    pub(crate) no_secret: bool,

    /// Limit for the whole job: after it every PE is ended and the exit code is 124
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = limit)]
    pub(crate) timeout: Option<Duration>,

    /// After the first failure, how long the other PEs may take to end by themselves
    #[arg(long, value_name = "SECONDS", default_value = "2", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) settle: Duration,

    /// How long a PE may take to end once told to, before it is killed
    #[arg(long, value_name = "SECONDS", default_value = "2", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) grace: Duration,

    /// Pass lines on as they are, without the number of their PE in front
    #[arg(long)]
    pub(crate) no_prefix: bool,

    /// Say what is started, where the PEs meet and how each PE ends
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// The program to run as every PE, and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

impl Options {
    /// The program as the user wrote it.
    pub(crate) fn program(&self) -> &OsStr {
        self.command.first().map_or(OsStr::new(""), OsString::as_os_str)
    }

    /// The program's arguments.
    pub(crate) fn arguments(&self) -> &[OsString] {
        self.command.get(1..).unwrap_or_default()
    }
}

/// A count of PEs: a whole number from 1.
fn pe_count(text: &str) -> Result<usize, String> {
    match text.parse::<u32>() {
        Ok(0) => Err("a job has at least 1 PE".to_owned()),
        Ok(n) => usize::try_from(n).map_err(|error| error.to_string()),
        Err(_) => Err("give the number of PEs, e.g. -n 4".to_owned()),
    }
}

/// A time in seconds, fractions allowed.
fn seconds(text: &str) -> Result<Duration, String> {
    /// About 30 years: a deadline further off could overflow the clock.
    const LONGEST: f64 = 1e9;
    match text.parse::<f64>() {
        Ok(value) if (0.0..=LONGEST).contains(&value) => {
            Duration::try_from_secs_f64(value).map_err(|error| error.to_string())
        }
        _ => Err("give a time in seconds, e.g. 2.5".to_owned()),
    }
}

/// A time in seconds above 0.
fn limit(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => {
            Err("a limit of 0 seconds leaves no time; leave --timeout out for no limit".to_owned())
        }
        limit => Ok(limit),
    }
}

/// `NAME=VALUE`, where NAME is none of the names that the launcher itself gives.
fn variable(text: OsString) -> Result<(OsString, OsString), String> {
    let bytes = text.as_bytes();
    let Some(equals) = bytes.iter().position(|&byte| byte == b'=') else {
        return Err("there is no `=` in it; give NAME=VALUE".to_owned());
    };
    let (name, value) = (&bytes[..equals], &bytes[equals + 1..]);
    if name.is_empty() {
        return Err("there is no name before the `=`; give NAME=VALUE".to_owned());
    }
    if let Some(taken) = identity::NAMES.iter().find(|taken| taken.as_bytes() == name) {
        return Err(format!("{taken} is given by shmrun itself, different for each job or PE; leave it out"));
    }
    Ok((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::try_parse_from(line.split(' ')).map_err(|error| error.to_string())
    }

    #[test]
    fn options_after_the_program_are_its_own() {
        let options = parse("shmrun -n 3 prog --verbose -n 5 -- x").unwrap();
        assert_eq!((options.n_pes, options.verbose), (3, false));
        assert_eq!(options.program(), "prog");
        assert_eq!(options.arguments(), ["--verbose", "-n", "5", "--", "x"]);
    }

    #[test]
    fn bad_values_are_refused_with_a_reason() {
        for (line, reason) in [
            ("shmrun prog", "-n"),
            ("shmrun -n 2", "PROGRAM"),
            ("shmrun -n 0 prog", "at least 1 PE"),
            ("shmrun -n x prog", "give the number of PEs"),
            ("shmrun -n -1 prog", "give the number of PEs"),
            ("shmrun -n 2 --timeout 0 prog", "leaves no time"),
            ("shmrun -n 2 --timeout soon prog", "time in seconds"),
            ("shmrun -n 2 --grace NaN prog", "time in seconds"),
            ("shmrun -n 2 --env X prog", "no `=`"),
            ("shmrun -n 2 --env =1 prog", "no name"),
            ("shmrun -n 2 --env SHMEM_PE=1 prog", "given by shmrun"),
            ("shmrun -n 2 --port 70000 prog", "70000"),
            ("shmrun -n 2 --bind 0 prog", "[possible values: core, none]"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }

    #[test]
    fn a_value_may_hold_equals_signs() {
        let options = parse("shmrun -n 2 --env A=b=c --env D= prog").unwrap();
        assert_eq!(options.variables, [("A".into(), "b=c".into()), ("D".into(), "".into())]);
    }
}
