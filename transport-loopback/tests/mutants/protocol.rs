//! What is judged: a protocol, and the faults that it can have.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use transport_core::Result;
use transport_loopback::sim::{FailureKind, Sim, SimPe};

type Running = Pin<Box<dyn Future<Output = Result<()>> + Send>>;
type Body = Box<dyn Fn(SimPe) -> Running + Send + Sync>;

thread_local! {
    static LOOKS: Cell<bool> = const { Cell::new(true) };
}

/// That a PE found what it should.
#[track_caller]
pub(crate) fn same<T: PartialEq + fmt::Debug>(found: &[T], expected: &[T], what: &str) {
    assert!(!LOOKS.get() || found == expected, "{what}: {found:?}, not {expected:?}");
}

/// Runs `call` without a look at the data: else wrong data end a schedule before its race is seen.
pub(crate) fn without_a_look<R>(call: impl FnOnce() -> R) -> R {
    LOOKS.set(false);
    let result = call();
    LOOKS.set(true);
    result
}

/// A protocol that is right, on so many PEs, and its mutants.
pub(crate) struct Protocol {
    pub(crate) name: &'static str,
    pub(crate) sim: Sim,
    pub(crate) right: Body,
    pub(crate) mutants: Vec<Mutant>,
    /// Whether all schedules of the right one are so few that all must have been run.
    pub(crate) small: bool,
}

/// The same with a fault.
pub(crate) struct Mutant {
    pub(crate) fault: &'static str,
    pub(crate) body: Body,
    /// How it must end, where it is caught by what came out.
    pub(crate) ends: Ends,
    /// Whether the race detector must say so too: it does where the order of two accesses is lost, not where a PE waits for what
    /// does not come.
    pub(crate) races: bool,
}

impl Protocol {
    /// `program` without a fault on `n_pes` PEs.
    pub(crate) fn of<M, F, Fut>(name: &'static str, n_pes: usize, program: F, none: M) -> WithFaults<M, F>
    where
        M: Copy + Send + Sync + 'static,
        F: Fn(SimPe, M) -> Fut + Copy + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        let (sim, right) = (Sim::new(n_pes), boxed(program, none));
        let protocol = Self { name, sim, right, mutants: Vec::new(), small: false };
        WithFaults { protocol, program, mutation: PhantomData }
    }
}

fn boxed<M, F, Fut>(program: F, mutation: M) -> Body
where
    M: Copy + Send + Sync + 'static,
    F: Fn(SimPe, M) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<()>> + Send + 'static,
{
    Box::new(move |pe| Box::pin(program(pe, mutation)))
}

/// A protocol while its faults are listed: all run the same program.
pub(crate) struct WithFaults<M, F> {
    protocol: Protocol,
    program: F,
    mutation: PhantomData<M>,
}

impl<M, F, Fut> WithFaults<M, F>
where
    M: Copy + Send + Sync + 'static,
    F: Fn(SimPe, M) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<()>> + Send + 'static,
{
    fn with(mut self, fault: &'static str, mutation: M, ends: Ends, races: bool) -> Self {
        let body = boxed(self.program, mutation);
        self.protocol.mutants.push(Mutant { fault, body, ends, races });
        self
    }

    /// A fault that data and the race detector show.
    pub(crate) fn racy(self, fault: &'static str, mutation: M) -> Self {
        self.with(fault, mutation, Ends::WrongData, true)
    }

    /// A fault that data show, and the race detector does not: all is in some order, but not in the right one.
    pub(crate) fn wrong(self, fault: &'static str, mutation: M) -> Self {
        self.with(fault, mutation, Ends::WrongData, false)
    }

    /// A fault that leaves PEs stuck.
    pub(crate) fn stuck(self, fault: &'static str, mutation: M) -> Self {
        self.with(fault, mutation, Ends::Stuck, false)
    }

    /// A fault by which what was sent is written over: before it was taken, so that PEs are stuck, or by what they then take for
    /// it. The race detector shows it too.
    pub(crate) fn racy_or_stuck(self, fault: &'static str, mutation: M) -> Self {
        self.with(fault, mutation, Ends::WrongDataOrStuck, true)
    }

    /// A fault that is told as an error.
    pub(crate) fn error(self, fault: &'static str, mutation: M) -> Self {
        self.with(fault, mutation, Ends::Error, false)
    }

    /// All schedules of the right one must have been run, so few are they.
    pub(crate) fn small(mut self) -> Self {
        self.protocol.small = true;
        self
    }

    pub(crate) fn listed(self) -> Protocol {
        self.protocol
    }
}

/// How a schedule ended that went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// A PE found other data than it should.
    WrongData,
    /// PEs wait for ever.
    Stuck,
    /// The one or the other; what one schedule comes to is never this.
    WrongDataOrStuck,
    /// A PE was told of an error.
    Error,
    /// The race detector has ended it.
    Race,
    /// It does not end.
    Endless,
}

impl Ends {
    pub(crate) fn of(kind: &FailureKind) -> Self {
        match kind {
            FailureKind::Panic { .. } => Self::WrongData,
            FailureKind::Stuck { .. } => Self::Stuck,
            FailureKind::Error { .. } => Self::Error,
            FailureKind::Listener { .. } => Self::Race,
            _ => Self::Endless,
        }
    }

    /// Whether a schedule that ended as `one` ended so.
    pub(crate) fn covers(self, one: Self) -> bool {
        self == one || self == Self::WrongDataOrStuck && matches!(one, Self::WrongData | Self::Stuck)
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::WrongData => "wrong data",
            Self::Stuck => "stuck",
            Self::WrongDataOrStuck => "wrong data or stuck",
            Self::Error => "an error",
            Self::Race => "race",
            Self::Endless => "no end",
        }
    }
}
