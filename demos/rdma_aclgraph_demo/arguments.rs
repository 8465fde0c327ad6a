//! The demo's command line: the reference's six arguments, and long options beside them.

use std::path::Path;

use clap::{CommandFactory, FromArgMatches, Parser};
use demos::{AlgorithmOption, JobOptions};
use transport_core::config::{JobConfig, Key};

use crate::job::Plan;

/// The reference job of symmetric memory: add -> allGather -> allGather -> add, captured in a graph in the first round,
/// replayed in the others, and checked after each. One process a PE.
///
/// Without the six arguments the PE takes its identity from the environment of its launcher: shmrun, Open MPI, PMI, PMIx,
/// Slurm or torchrun.
#[derive(Debug, Parser)]
#[command(
    name = "rdma_aclgraph_demo",
    version,
    allow_negative_numbers = true,
    override_usage = "rdma_aclgraph_demo [OPTIONS] <n_pes> <pe_id> <ipport> <g_npus> <f_pe> <f_npu>\n       \
                      rdma_aclgraph_demo [OPTIONS]",
    after_help = "Arguments:\n  <n_pes>   PEs of the job\n  <pe_id>   this PE, from 0\n  <ipport>  tcp://IP:PORT of the host of \
                  PE 0, the same for all\n  <g_npus>  devices used on this host\n  <f_pe>    first PE on this host\n  \
                  <f_npu>   first device used on this host\n\nExample, two PEs on this host, in two shells:\n  \
                  rdma_aclgraph_demo 2 0 tcp://127.0.0.1:8899 2 0 0\n  rdma_aclgraph_demo 2 1 tcp://127.0.0.1:8899 2 0 0"
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ARGUMENT", hide = true)]
    six: Vec<String>,

    #[command(flatten)]
    job: JobOptions,

    /// Elements (int32) of each PE
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    elements: usize,

    /// Rounds: the first captures, all of them launch
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    loops: u64,

    #[command(flatten)]
    algorithm: AlgorithmOption,

    /// Write the captured graph to this file, as DOT
    #[arg(long, value_name = "FILE")]
    dot: Option<std::path::PathBuf>,
}

/// What the command line comes to.
pub(crate) enum Asked {
    /// Do it.
    Run {
        /// The program's name, for messages.
        program: String,
        /// What was given.
        arguments: Box<Arguments>,
    },
    /// Say this, by [`demos::say_instead`].
    Instead {
        /// The program's name, for messages.
        program: String,
        /// Help, or what is wrong.
        instead: clap::Error,
    },
    /// Print this, and fail.
    Wrong(String),
}

/// Reads the command line of this process.
pub(crate) fn read() -> Asked {
    let argv0 = std::env::args_os().next().unwrap_or_default();
    let argv0 = argv0.to_string_lossy().into_owned();
    let program =
        Path::new(&argv0).file_name().map_or(argv0.clone(), |name| name.to_string_lossy().into_owned());
    let usage = format!("Usage: {argv0} <n_pes> <pe_id> <ipport> <g_npus> <f_pe> <f_npu>\n");
    let parsed = Arguments::command()
        .try_get_matches()
        .and_then(|mut matches| Arguments::from_arg_matches_mut(&mut matches));
    match parsed {
        Err(instead) => Asked::Instead { program, instead },
        Ok(arguments) if !matches!(arguments.six.len(), 0 | 6) => Asked::Wrong(usage),
        Ok(arguments) => Asked::Run { program, arguments: Box::new(arguments) },
    }
}

impl Arguments {
    pub(crate) fn verbose(&self) -> bool {
        self.job.verbose
    }

    /// The options of every program, with what the six arguments say of this host: the NPU of this PE, and, if there are
    /// fewer devices than PEs, that not all PEs are here.
    pub(crate) fn job_options(&self, npu: Option<usize>, n_pes: usize) -> JobOptions {
        let mut options = self.job.clone();
        let told_by =
            if self.six.is_empty() { "the launcher's number of this PE on its host" } else { "<f_npu>" };
        options.npu = npu.and_then(|npu| Some((told_by, u32::try_from(npu).ok()?)));
        if let [_, _, _, g_npus, ..] = self.six.as_slice() {
            options.pes_here = g_npus.parse().ok().filter(|&g_npus: &usize| g_npus < n_pes);
        }
        options
    }

    /// The job's configuration and what the demo is to do.
    pub(crate) fn configure(&self, program: &str) -> Result<(JobConfig, Plan), String> {
        let mut builder = self.algorithm.configure(self.job.configure());
        if let [n_pes, pe_id, ipport, ..] = self.six.as_slice() {
            builder = builder
                .with_argument(Key::NPes, "<n_pes>", n_pes)
                .with_argument(Key::Pe, "<pe_id>", pe_id)
                .with_argument(Key::Rendezvous, "<ipport>", ipport);
        }
        let config = builder.build().map_err(|error| {
            if self.six.is_empty() {
                return format!("{error}\n{program}: see --help for the six arguments and for options");
            }
            error.to_string()
        })?;
        let (my_pe, n_pes) = (config.my_pe.value, config.n_pes.value);
        let device = match self.six.as_slice() {
            [_, _, _, g_npus, f_pe, f_npu] => {
                let g_npus = number("<g_npus>", g_npus)?;
                let f_pe = number("<f_pe>", f_pe)?;
                let f_npu = number("<f_npu>", f_npu)?;
                if g_npus == 0 {
                    return Err(format!(
                        "PE {my_pe}: <g_npus> is 0, but this host needs at least one device for its PEs"
                    ));
                }
                if f_pe > my_pe {
                    return Err(format!(
                        "PE {my_pe}: <f_pe> is {f_pe}, but the first PE of this host cannot come after this PE, which is \
                         {my_pe}; give the lowest <pe_id> that is started on this host"
                    ));
                }
                (my_pe % g_npus)
                    .checked_add(f_npu)
                    .ok_or_else(|| format!("PE {my_pe}: <f_npu> {f_npu} is too large"))?
            }
            _ => config.local_pe.value.unwrap_or(my_pe),
        };
        if self.loops == 0 {
            return Err(format!(
                "PE {my_pe}: --loops is 0; at least one round is needed, which captures the graph"
            ));
        }
        if self.elements.checked_mul(n_pes).and_then(|all| all.checked_mul(size_of::<i32>())).is_none() {
            return Err(format!(
                "PE {my_pe}: --elements {} for each of {n_pes} PEs is more than can be counted",
                self.elements
            ));
        }
        let plan = Plan {
            program: program.to_owned(),
            elements: self.elements,
            loops: self.loops,
            device,
            // A launcher starts one PE for each NPU, in order.
            npu: if self.six.is_empty() { config.local_pe.value } else { Some(device) },
            dot: self.dot.clone(),
        };
        Ok((config, plan))
    }
}

fn number(what: &str, text: &str) -> Result<usize, String> {
    // `parse` alone would take a sign.
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("{what} is {text:?}, which is not a number; give digits only, e.g. 2"));
    }
    text.parse().map_err(|_| format!("{what} is {text}, which is too large"))
}
