//! Staying with a job from its first PE to its last line: one loop that waits for output, ends of PEs, signals and
//! deadlines, whichever comes first.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};

use crate::error::LaunchError;
use crate::guard::Guard;
use crate::launch::Launcher;
use crate::options::Options;
use crate::output::{Output, Target};
use crate::pe::{Fate, Pe, PeStream};
use crate::phase::Phase;
use crate::rendezvous::Rendezvous;
use crate::signals::{Request, Signals};
use crate::sweep;
use crate::verdict::Cause;

/// How long a PE may take to go after SIGKILL before it is reported as one that cannot be killed.
const KILL_TIME: Duration = Duration::from_secs(5);

/// How long a pipe that some process outside the job still holds is waited for without a byte from it.
const SILENCE: Duration = Duration::from_secs(1);

/// How often to look at the PEs without being told to: whoever started the launcher may have blocked SIGCHLD.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// The largest piece read from a PE at once.
const PIECE: usize = 64 * 1024;

/// The job and everything that happens to it.
#[derive(Debug)]
struct Supervisor<'a> {
    /// The command line.
    options: &'a Options,
    /// Starts PEs.
    launcher: Launcher,
    /// The PEs started so far, by number.
    pes: Vec<Pe>,
    /// Their streams that have not ended.
    streams: Vec<PeStream>,
    /// Which of the streams that are ready is read first; moves on, so that none waits for ever.
    turn: usize,
    /// What PEs and launcher say.
    output: Output,
    /// What the launcher is told.
    signals: Signals,
    /// Whether there are PEs still to be started.
    starting: bool,
    /// How far the job has come.
    phase: Phase,
    /// When this phase is over.
    deadline: Option<Instant>,
    /// When `--timeout` is over.
    limit: Option<Instant>,
    /// The first thing that made it end early.
    cause: Option<Cause>,
}

/// Runs the job and returns the launcher's exit code.
pub(crate) fn run(options: &Options, launcher: Launcher, rendezvous: Rendezvous) -> Result<u8, LaunchError> {
    let signals = Signals::take()?;
    let output = Output::start()?;
    let guard = Guard::start(launcher.identity.job_id())?;
    let mut job = Supervisor {
        options,
        launcher,
        pes: Vec::with_capacity(options.n_pes),
        streams: Vec::with_capacity(2 * options.n_pes),
        turn: 0,
        output,
        signals,
        starting: true,
        phase: Phase::Running,
        deadline: None,
        limit: options.timeout.map(|timeout| Instant::now() + timeout),
        cause: None,
    };
    job.tell(|| format!("the PEs meet at {}", rendezvous.session()));
    job.start_all(rendezvous.listener)?;
    while job.phase < Phase::Done {
        job.step(None)?;
    }
    guard.dismiss();
    Ok(job.cause.map_or(0, |cause| cause.exit_code()))
}

impl Supervisor<'_> {
    /// Starts the PEs one after the other, and meanwhile looks after those that run already.
    fn start_all(&mut self, listener: TcpListener) -> Result<(), LaunchError> {
        // PE 0 alone gets the socket. The launcher keeps none: after PE 0 nobody must be able to connect.
        let mut listener = Some(listener);
        let n_pes = self.launcher.identity.n_pes();
        while self.pes.len() < n_pes && self.goes_on_starting() {
            let pe = self.pes.len();
            match self.launcher.start(pe, listener.take()) {
                Ok((process, streams)) => {
                    self.tell(|| format!("PE {pe} is process {}", process.pid().as_raw_nonzero()));
                    self.pes.push(process);
                    self.streams.extend(streams);
                    self.step(Some(Duration::ZERO))?;
                }
                Err(cause) => {
                    self.conclude(Cause::NotStarted(LaunchError::PeNotStarted { pe, n_pes, cause }))
                }
            }
        }
        self.starting = false;
        self.advance();
        Ok(())
    }

    /// Whether it makes sense to start the next PE. A PE that failed its own way is no reason against it: what the
    /// others have to say may be the explanation. One that could not run its program is: none of them will.
    fn goes_on_starting(&self) -> bool {
        match self.cause {
            None => true,
            Some(Cause::PeFailed(_, fate)) => {
                self.phase == Phase::Settling && !matches!(fate, Fate::Exited(126 | 127))
            }
            Some(_) => false,
        }
    }

    /// Waits for the next thing to happen, `at_most` so long, and deals with all that has.
    fn step(&mut self, at_most: Option<Duration>) -> Result<(), LaunchError> {
        let ready = match self.wait(at_most.unwrap_or(LOOK_INTERVAL)) {
            Ok(ready) => ready,
            Err(Errno::INTR) => return Ok(()),
            Err(errno) => return Err(LaunchError::system("wait for the PEs")(errno)),
        };
        self.read_streams(&ready);
        self.output.note_progress();
        self.check_output();
        for request in self.signals.requests() {
            self.answer(request);
        }
        if ready.is_empty() {
            self.look_at_pes();
        }
        self.expire(Instant::now());
        self.advance();
        Ok(())
    }

    /// Waits for a signal, output, progress in writing or a deadline. Returns which streams can be read.
    fn wait(&self, at_most: Duration) -> Result<Vec<usize>, Errno> {
        let now = Instant::now();
        let until = self.limit.filter(|_| self.cause.is_none()).into_iter().chain(self.deadline).min();
        let timeout = until.map_or(at_most, |until| until.saturating_duration_since(now).min(at_most));
        let timeout = Timespec::try_from(timeout).ok();
        let mut files = vec![
            PollFd::from_borrowed_fd(self.signals.source(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.output.progress(), PollFlags::IN),
        ];
        let own = files.len();
        // While too much is unwritten nothing is read, and the PEs wait in their turn.
        let reads = self.output.has_room();
        let sources = self.streams.iter().filter(|_| reads).filter_map(PeStream::source);
        files.extend(sources.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN)));
        poll(&mut files, timeout.as_ref())?;
        let streams = files.iter().skip(own).enumerate();
        Ok(streams.filter(|(_, file)| !file.revents().is_empty()).map(|(stream, _)| stream).collect())
    }

    /// Reads once from each of the `ready` streams, as long as there is room.
    fn read_streams(&mut self, ready: &[usize]) {
        let (mut piece, mut lines) = ([0u8; PIECE], Vec::new());
        let first = self.turn.checked_rem(ready.len()).unwrap_or(0);
        for &index in ready[first..].iter().chain(&ready[..first]) {
            if !self.output.has_room() {
                break;
            }
            self.turn = self.turn.wrapping_add(1);
            if let Some(stream) = self.streams.get_mut(index) {
                stream.read(&mut piece, &mut lines);
                self.output.push(stream.target, &lines);
                lines.clear();
            }
        }
        self.streams.retain(|stream| stream.source().is_some());
        if self.phase == Phase::Draining
            && (!ready.is_empty() || (self.waits_for_reader() && !self.output.has_room()))
        {
            self.deadline = Some(Instant::now() + SILENCE);
        }
    }

    /// Whether a reader who pauses is waited for. Not by a job that was told to end.
    fn waits_for_reader(&self) -> bool {
        matches!(self.cause, None | Some(Cause::PeFailed(..)))
    }

    /// Deals with one signal.
    fn answer(&mut self, request: Request) {
        match request {
            Request::LookAtChildren => self.look_at_pes(),
            Request::PassOn(signal) => self.pass_on(signal),
            Request::Pause => {
                self.signal_all(Signal::TSTP);
                // Returns when somebody continues the launcher.
                let _ = kill_process(getpid(), Signal::STOP);
                self.signal_all(Signal::CONT);
            }
            Request::End(signal) => {
                let phase = self.phase;
                self.cause.get_or_insert(Cause::Signalled(signal));
                if phase < Phase::Ending {
                    self.pass_on(signal);
                    self.enter(Phase::Ending, Some(self.options.grace));
                } else if phase < Phase::Killing {
                    self.kill();
                } else if phase == Phase::Leaving {
                    self.clear_up();
                } else if phase > Phase::Leaving {
                    self.phase = Phase::Done;
                }
            }
        }
    }

    /// Finds out who has ended. Of several that failed at once a killed one counts as the first: the others most
    /// likely failed because of it.
    fn look_at_pes(&mut self) {
        let mut failed: Option<(usize, Fate)> = None;
        for pe in 0..self.pes.len() {
            let Some(fate) = self.pes[pe].look() else { continue };
            self.tell(|| format!("PE {pe} {fate}"));
            let is_earlier = match failed {
                None => true,
                Some((_, Fate::Killed(_))) => false,
                Some((_, Fate::Exited(_))) => matches!(fate, Fate::Killed(_)),
            };
            if fate != Fate::Exited(0) && is_earlier {
                failed = Some((pe, fate));
            }
        }
        if let Some((pe, fate)) = failed {
            self.conclude(Cause::PeFailed(pe, fate));
        }
    }

    /// Ends the job because of `cause`, as gently as it allows. Only the first cause counts.
    fn conclude(&mut self, cause: Cause) {
        let may_settle = matches!(cause, Cause::PeFailed(..));
        if self.cause.is_some() && (may_settle || self.phase != Phase::Settling) {
            return;
        }
        self.cause.get_or_insert(cause);
        match self.phase {
            Phase::Running if may_settle => self.enter(Phase::Settling, Some(self.options.settle)),
            Phase::Running | Phase::Settling => self.end(),
            _ => {}
        }
    }

    /// Tells all PEs to end.
    fn end(&mut self) {
        self.tell_to_end(Signal::TERM);
        self.enter(Phase::Ending, Some(self.options.grace));
    }

    /// Kills all PEs.
    fn kill(&mut self) {
        self.tell_to_end(Signal::KILL);
        self.enter(Phase::Killing, Some(KILL_TIME));
    }

    /// Sends `signal` to all PEs, and notes for the report who ended because of it.
    fn tell_to_end(&mut self, signal: Signal) {
        // Those that ended on their own account in this moment are not ours.
        self.look_at_pes();
        for pe in self.pes.iter_mut().filter(|pe| pe.fate.is_none()) {
            pe.told_to_end = true;
        }
        self.signal_all(signal);
    }

    /// Passes a signal on that the launcher got.
    fn pass_on(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            self.signal_all(signal);
        }
    }

    /// Sends `signal` to the process groups of all PEs, also of those that have ended: others may be left in them.
    fn signal_all(&self, signal: Signal) {
        // Later their numbers may belong to others.
        if self.phase < Phase::Draining {
            self.pes.iter().for_each(|pe| pe.signal(signal));
        }
    }

    /// Moves on to `phase`, which is to last no longer than `at_most`.
    fn enter(&mut self, phase: Phase, at_most: Option<Duration>) {
        self.phase = phase;
        self.deadline = at_most.map(|time| Instant::now() + time);
    }

    /// Deals with deadlines that have passed.
    fn expire(&mut self, now: Instant) {
        if let (Some(limit), Some(timeout), None) = (self.limit, self.options.timeout, &self.cause)
            && limit <= now
        {
            self.conclude(Cause::TimedOut(timeout));
            if self.phase > Phase::Leaving {
                // All PEs ended in time and only the reader of the output is late: no reason to wait on.
                self.phase = Phase::Done;
            }
        }
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            match self.phase {
                Phase::Running | Phase::Done => self.deadline = None,
                Phase::Settling => self.end(),
                Phase::Ending => self.kill(),
                Phase::Killing | Phase::Leaving => self.clear_up(),
                Phase::Draining => self.close_streams(),
                Phase::Flushing => self.phase = Phase::Done,
            }
        }
    }

    /// Moves on where a phase has what it waits for.
    fn advance(&mut self) {
        if self.phase < Phase::Leaving && !self.starting && self.pes.iter().all(|pe| pe.fate.is_some()) {
            self.enter(Phase::Leaving, Some(self.options.grace));
        }
        if self.phase == Phase::Leaving && self.streams.is_empty() {
            self.clear_up();
        }
        if self.phase == Phase::Draining && self.streams.is_empty() {
            self.report();
            self.enter(
                Phase::Flushing,
                (!self.waits_for_reader()).then_some(self.options.grace.max(SILENCE)),
            );
        }
        if self.phase == Phase::Flushing && self.output.is_empty() {
            // The last write may be the one that failed; then there is a last line to be written after all.
            self.check_output();
            if self.output.is_empty() {
                self.phase = Phase::Done;
            }
        }
    }

    /// Ends the job if its output can no longer be written.
    fn check_output(&mut self) {
        if let Some((target, errno)) = self.output.failure() {
            let is_late = self.phase == Phase::Flushing && self.cause.is_none();
            self.conclude(Cause::OutputFailed(target, errno));
            if is_late {
                self.report();
            }
        }
    }

    /// Says why the job ended, if there is something to say.
    fn report(&self) {
        if let Some(line) = self.cause.as_ref().and_then(|cause| cause.report(&self.pes, self.options.n_pes))
        {
            self.say(&line);
        }
    }

    /// Leaves no process of the job behind.
    fn clear_up(&mut self) {
        self.signal_all(Signal::KILL);
        sweep::kill_job(self.launcher.identity.job_id());
        self.pes.iter_mut().for_each(Pe::reap);
        self.enter(Phase::Draining, Some(SILENCE));
    }

    /// Gives up on pipes that a process outside the job holds open.
    fn close_streams(&mut self) {
        let mut lines = Vec::new();
        for mut stream in std::mem::take(&mut self.streams) {
            stream.close(&mut lines);
            self.output.push(stream.target, &lines);
            lines.clear();
        }
    }

    /// Says a line of the launcher's own on standard error, behind what the PEs have said so far.
    fn say(&self, line: &str) {
        self.output.push(Target::Stderr, format!("shmrun: {line}\n").as_bytes());
    }

    /// Says what `--verbose` adds.
    fn tell(&self, line: impl FnOnce() -> String) {
        if self.options.verbose {
            self.say(&line());
        }
    }
}
