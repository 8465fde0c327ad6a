//! The command line.

use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser};
use demos::JobOptions;

/// Says whether this host is fit for a job, and what to type where it is not. Without --backend it looks at all backends of
/// this build.
///
/// Exit code: 0 if a job can run, 1 if something fails, 2 if the command line is wrong.
#[derive(Debug, Parser)]
#[command(
    name = "shmem-doctor",
    version,
    after_help = "Examples:\n  shmem-doctor\n  shmem-doctor --backend roce --pes 8 --heap 4GiB\n\nOn two hosts at the \
                  same time, each naming the other:\n  shmem-doctor --peer 192.168.0.2\n  shmem-doctor --peer 192.168.0.1"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) job: JobOptions,

    /// Print one JSON document instead of text; SCHEMA.md beside the source says what is in it
    #[arg(long)]
    pub(crate) json: bool,

    /// Prove that writes between this host and that one arrive: HOST, IP or HOST:PORT (an IPv6 address in brackets) [default port: 18515]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) peer: Option<String>,

    /// PEs that a job would have on this host [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) pes: Option<String>,

    /// The NPU whose NIC would be used
    #[arg(long, value_name = "N")]
    pub(crate) npu: Option<u32>,

    /// Where the PEs would meet, e.g. tcp://192.168.0.1:8899 [environment: SHMEM_UID_SESSION_ID]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) rendezvous: Option<String>,

    /// Colours; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
}

/// What the command line comes to.
pub(crate) enum Asked {
    /// Do it.
    Run(Box<Arguments>),
    /// Say this, by [`demos::say_instead`]: help, or what is wrong.
    Instead(clap::Error),
}

/// Reads the command line of this process.
pub(crate) fn read() -> Asked {
    // Elsewhere a wait may be for hundreds of PEs that are still being started; here for one, that somebody starts by hand.
    let limit = format!(
        "Limit of every wait, in seconds [environment: SHMEM_TIMEOUT; default: {}]",
        crate::settings::DEFAULT_TIMEOUT
    );
    let command = Arguments::command()
        .mut_arg("timeout", |timeout| timeout.help(limit))
        .mut_arg("device", |device| device.hide(cfg!(not(feature = "verbs"))));
    let parsed = command.try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches));
    match parsed {
        Err(instead) => Asked::Instead(instead),
        Ok(arguments) => Asked::Run(Box::new(arguments)),
    }
}
