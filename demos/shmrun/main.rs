//! `shmrun`: starts the PEs of a job on this host, gives each its identity, and ends them together.
//!
//! One binary plays three roles. The launcher is what a user starts. It starts itself again as the *guard*, which ends
//! the job should the launcher be killed, and once for each PE, as the process that turns into the PE's program:
//! what must be set up between fork and exec is so done in ordinary code.

mod become_pe;
mod bind;
mod error;
mod guard;
mod identity;
mod launch;
mod lines;
mod open_files;
mod options;
mod output;
mod pe;
mod phase;
mod program;
mod rendezvous;
mod signals;
mod supervise;
mod sweep;
mod verdict;

use std::env;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

use crate::error::LaunchError;
use crate::options::Options;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    match arguments.next() {
        Some(role) if role == become_pe::ROLE => become_pe::become_pe(arguments),
        Some(role) if role == guard::ROLE => guard::watch(arguments),
        _ => match Options::try_parse() {
            Err(instead) => demos::say_instead("shmrun", &instead),
            Ok(options) => match launch_job(&options) {
                Ok(code) => ExitCode::from(code),
                Err(error) => {
                    say(&format!("shmrun: {error}"));
                    ExitCode::from(error.exit_code())
                }
            },
        },
    }
}

/// Checks everything that can be checked, then starts the job and stays with it to its end. Returns its exit code.
fn launch_job(options: &Options) -> Result<u8, LaunchError> {
    let program = program::find(options.program())?;
    let files = open_files::make_room_for(options.n_pes)?;
    let rendezvous = rendezvous::bind(&options.host, options.port)?;
    let identity = identity::JobIdentity::new(options, rendezvous.session())?;
    let launcher = launch::Launcher::new(options, program, identity, files);
    supervise::run(options, launcher, rendezvous)
}

/// Writes one line to standard error. With nobody left to read it, there is nobody left to tell.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
