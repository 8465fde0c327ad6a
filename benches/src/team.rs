//! PE 0 leads, the others follow.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use transport_core::collectives::AllGatherAlgorithm;
use transport_core::wait::block_on;
use transport_core::{Cmp, Error, SignalOp, SymSlice, Transport};

use crate::error::WorkError;
use crate::work::{LapTimes, Laps, PAGE, Room, Work};

/// Words of a command: how many rounds, then those of the work. No rounds: the end.
const COMMAND: usize = 4;

/// Where commands arrive, and what works use.
#[derive(Debug, Clone, Copy)]
struct Desk {
    command: SymSlice<u64>,
    /// How many commands were given.
    given: SymSlice<u64>,
    room: Room,
}

impl Desk {
    /// Collective.
    async fn new<X: Transport>(pe: &X, works: &[Work]) -> Result<Self, Error> {
        // Too many to be counted are too many for the heap.
        let data = data_needed(works, pe.n_pes()).unwrap_or(usize::MAX / 2);
        let command = pe.calloc(COMMAND).await?;
        let given = pe.calloc(1).await?;
        let signal = pe.calloc(1).await?;
        let data = pe.align(PAGE as u64, data).await?;
        Ok(Self { command, given, room: Room { data, signal } })
    }
}

/// Bytes of symmetric heap that a job of so many PEs needs for these works; nothing if they cannot be counted.
#[must_use]
pub fn heap_needed(works: &[Work], n_pes: usize) -> Option<u64> {
    // The desk before it takes part of a page.
    data_needed(works, n_pes)?.checked_add(PAGE).map(|bytes| bytes as u64)
}

fn data_needed(works: &[Work], n_pes: usize) -> Option<usize> {
    works.iter().try_fold(PAGE, |most, work| Some(most.max(work.data_bytes(n_pes)?)))
}

/// Times works, wherever they are done.
pub trait Watch {
    /// How long `rounds` (at least 1) of `work` take, all PEs doing it.
    ///
    /// # Errors
    ///
    /// [`WorkError`] of the work; then the job cannot go on.
    fn time(&mut self, work: Work, rounds: u64) -> Result<Duration, WorkError>;

    /// As [`time`](Self::time), but how long the median of the rounds took, which a round that was held up does not change.
    /// Works whose rounds overlap ([`Kind::Stream`](crate::Kind::Stream), [`Kind::Put`](crate::Kind::Put)) answer the mean.
    ///
    /// # Errors
    ///
    /// As `time`.
    fn typical(&mut self, work: Work, rounds: u64) -> Result<Duration, WorkError>;

    /// How the AllGathers of `work` are really done here, if it has any: one that has no room for the size is done by another.
    ///
    /// # Errors
    ///
    /// [`WorkError`] if the job has no room for the work.
    fn gathers_by(&self, work: Work) -> Result<Option<AllGatherAlgorithm>, WorkError>;

    /// The backend's name.
    fn backend(&self) -> &'static str;

    /// PEs of the job.
    fn n_pes(&self) -> usize;
}

/// PE 0 of a job: says what is done.
#[derive(Debug)]
pub struct Lead<X> {
    pe: Arc<X>,
    desk: Desk,
    given: u64,
}

impl<X: Transport> Lead<X> {
    /// Collective with [`follow`] on all other PEs; all must name the same works, or the same largest one.
    ///
    /// # Errors
    ///
    /// [`WorkError`] if there is no room.
    pub fn new(pe: &Arc<X>, works: &[Work]) -> Result<Self, WorkError> {
        let desk = block_on(Desk::new(&**pe, works))?;
        Ok(Self { pe: Arc::clone(pe), desk, given: 0 })
    }

    /// Tells the others that there is no more to do.
    ///
    /// # Errors
    ///
    /// [`WorkError`] if one is gone.
    pub fn dismiss(mut self) -> Result<(), WorkError> {
        self.tell([0; COMMAND])
    }

    fn perform(&mut self, work: Work, rounds: u64, laps: &mut impl Laps) -> Result<Duration, WorkError> {
        let [kind, bytes, algorithm] = work.to_words();
        self.tell([rounds, kind, bytes, algorithm])?;
        block_on(work.perform(&self.pe, self.desk.room, rounds, laps))
    }

    fn tell(&mut self, words: [u64; COMMAND]) -> Result<(), WorkError> {
        let Desk { command, given, .. } = self.desk;
        self.given += 1;
        self.pe.heap().write(command, &words)?;
        for pe in 1..self.pe.n_pes() {
            self.pe.put_signal_nbi(command, command, given, SignalOp::Set(self.given), pe)?;
        }
        Ok(())
    }
}

impl<X: Transport> Watch for Lead<X> {
    fn time(&mut self, work: Work, rounds: u64) -> Result<Duration, WorkError> {
        self.perform(work, rounds.max(1), &mut ())
    }

    fn typical(&mut self, work: Work, rounds: u64) -> Result<Duration, WorkError> {
        let rounds = rounds.max(1);
        let mut laps = LapTimes::new(rounds);
        let took = self.perform(work, rounds, &mut laps)?;
        Ok(laps.median().unwrap_or_else(|| took.div_f64(rounds as f64)))
    }

    fn gathers_by(&self, work: Work) -> Result<Option<AllGatherAlgorithm>, WorkError> {
        work.gathers_by(&*self.pe, self.desk.room)
    }

    fn backend(&self) -> &'static str {
        self.pe.backend()
    }

    fn n_pes(&self) -> usize {
        self.pe.n_pes()
    }
}

/// Any PE but 0: does what PE 0 says until it says that there is no more. Collective with [`Lead::new`].
///
/// # Errors
///
/// [`WorkError`] of the work that failed.
pub fn follow<X: Transport>(pe: &Arc<X>, works: &[Work]) -> Result<(), WorkError> {
    block_on(async {
        let desk = Desk::new(&**pe, works).await?;
        for command in 1.. {
            pe.signal_wait_until(desk.given, Cmp::Ge, command).await?;
            let mut words = [0; COMMAND];
            pe.heap().read(desk.command, &mut words)?;
            let [rounds, kind, bytes, algorithm] = words;
            if rounds == 0 {
                break;
            }
            let work = Work::from_words([kind, bytes, algorithm])
                .ok_or(WorkError::BadCommand { my_pe: pe.my_pe(), words })?;
            work.perform(pe, desk.room, rounds, &mut ()).await?;
        }
        Ok(())
    })
}

/// Leaves the job in good order, or tells the others at once why this PE cannot.
///
/// # Errors
///
/// What `worked` was, else that of `finalize`.
pub fn end<X: Transport, E: From<Error> + Display>(transport: &X, worked: Result<(), E>) -> Result<(), E> {
    let ended = worked.and_then(|()| Ok(block_on(transport.finalize())?));
    if let Err(error) = &ended {
        transport.abort(&error.to_string());
    }
    ended
}
