//! `hccn_tool` itself: where it is, and what it says.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::error::HccnError;
use super::excerpt::excerpt;
use super::run::{End, Run, run};

const NAME: &str = "hccn_tool";
/// Where the driver's package puts it.
const DRIVER_TOOLS: &str = "/usr/local/Ascend/driver/tools";
/// How long one answer may take; it takes well under a second.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// An `hccn_tool` to ask.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    path: PathBuf,
    limit: Duration,
}

impl Tool {
    /// The tool of this host: the first one in `PATH`, else the one of the driver's package.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn find() -> Result<Self, HccnError> {
        Self::find_in(std::env::var_os("PATH").as_deref(), Path::new(DRIVER_TOOLS))
    }

    pub(super) fn find_in(path: Option<&OsStr>, driver_tools: &Path) -> Result<Self, HccnError> {
        let listed: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
        // Whatever lies in the directory that happens to be the current one is not run.
        let places = listed.into_iter().filter(|place| place.is_absolute()).chain([driver_tools.to_owned()]);
        let files: Vec<PathBuf> =
            places.map(|place| place.join(NAME)).filter(|file| file.is_file()).collect();
        // If none may be run, the attempt says so better than we could.
        let found = files.iter().find(|file| is_executable(file)).or(files.first());
        found.map(Self::at).ok_or_else(|| HccnError::ToolMissing {
            looked_in: format!("PATH ({}) and {}", show(path), driver_tools.display()),
        })
    }

    /// The tool at `path`.
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), limit: TIME_LIMIT }
    }

    /// The same tool with another limit for each answer.
    #[cfg(test)]
    pub(crate) fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// What it prints when asked for something of `npu`, e.g. `-ip`, with the command that was run.
    ///
    /// # Errors
    /// If it cannot be run, fails, takes too long or prints too much.
    pub(super) fn get(&self, npu: u32, what: &str) -> Result<Answer, HccnError> {
        let npu = npu.to_string();
        let arguments = ["-i", &npu, what, "-g"];
        let asked = format!("{} {}", self.path.display(), arguments.join(" "));
        let mut command = Command::new(&self.path);
        // Its words are read, so it must not translate them.
        command.args(arguments).env("LC_ALL", "C");
        let Run { end, output } = run(command, self.limit).map_err(|error| self.cannot_run(&error))?;
        match end {
            End::Exited(status) if status.success() => Ok(Answer { asked, text: output }),
            End::Exited(status) => {
                Err(HccnError::Failed { asked, status: status.to_string(), output: excerpt(&output) })
            }
            End::TimedOut => {
                let seconds = self.limit.as_secs_f64();
                Err(HccnError::TimedOut { asked, seconds: seconds.to_string(), output: excerpt(&output) })
            }
            End::TooMuch => Err(HccnError::NotUnderstood { asked, output: excerpt(&output) }),
        }
    }

    fn cannot_run(&self, error: &io::Error) -> HccnError {
        if error.kind() == io::ErrorKind::NotFound && !self.path.exists() {
            return HccnError::ToolMissing { looked_in: self.path.display().to_string() };
        }
        HccnError::CannotRun { path: self.path.display().to_string(), error: error.to_string() }
    }
}

/// What the tool printed.
#[derive(Debug)]
pub(super) struct Answer {
    /// The command that was run.
    pub(super) asked: String,
    /// Its output.
    pub(super) text: String,
}

impl Answer {
    /// The error that says that this answer means nothing to us.
    pub(super) fn not_understood(&self) -> HccnError {
        HccnError::NotUnderstood { asked: self.asked.clone(), output: excerpt(&self.text) }
    }
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

fn show(path: Option<&OsStr>) -> String {
    path.map_or_else(|| "not set".to_owned(), |path| path.to_string_lossy().into_owned())
}
