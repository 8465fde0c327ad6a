//! What is predicted: the works of `perf` that a model can know, in virtual time.

use std::fmt;

use transport_core::collectives::{AllGather, AllGatherAlgorithm};
use transport_core::{Cmp, SymSlice, Transport};
use transport_loopback::sim::{CostModel, PredictError, Sim, SimPe};

use crate::ModelError;

/// A kind of work, as `perf` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Barrier,
    AllGather(AllGatherAlgorithm),
    PingPong,
    Put,
    PutQuiet,
    Get,
    Stream,
}

/// One thing to predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModelWork {
    pub(crate) kind: Kind,
    pub(crate) bytes: usize,
}

/// What it comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    /// Of one round, as `perf` counts it.
    pub(crate) time_ns: f64,
    /// Of all PEs, and of all puts of a burst.
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

/// The names of the works that are known.
pub(crate) const NAMES: [&str; 7] =
    ["barrier", "all-gather", "ping-pong", "put", "put-quiet", "get", "stream"];

/// Puts of a burst, as `perf` has them.
const BURST: u64 = 64;

/// Collectives in a row, where PEs share processors: who is done with one goes on with the next without giving up its own.
const IN_A_ROW: u64 = 8;

impl ModelWork {
    /// An AllGather by this algorithm; nothing else has one.
    pub(crate) fn with_algorithm(self, algorithm: AllGatherAlgorithm) -> Self {
        let gathers = matches!(self.kind, Kind::AllGather(_));
        if gathers { Self { kind: Kind::AllGather(algorithm), ..self } } else { self }
    }

    /// The work of this name, if it is known. An AllGather is as it comes: `auto`.
    pub(crate) fn named(name: &str, bytes: usize) -> Option<Self> {
        let kind = match name {
            "barrier" => Kind::Barrier,
            "all-gather" => Kind::AllGather(AllGatherAlgorithm::Auto),
            "ping-pong" if bytes >= 8 => Kind::PingPong,
            "put" => Kind::Put,
            "put-quiet" => Kind::PutQuiet,
            "get" => Kind::Get,
            "stream" => Kind::Stream,
            _ => return None,
        };
        Some(Self { kind, bytes })
    }

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Barrier => "barrier",
            Kind::AllGather(_) => "all-gather",
            Kind::PingPong => "ping-pong",
            Kind::Put => "put",
            Kind::PutQuiet => "put-quiet",
            Kind::Get => "get",
            Kind::Stream => "stream",
        }
    }

    /// Rounds in the time of a run.
    fn rounds(&self, in_a_row: u64) -> u64 {
        match self.kind {
            Kind::Put | Kind::Stream => BURST,
            // Half a round trip is a round.
            Kind::PingPong => 2,
            Kind::Barrier | Kind::AllGather(_) => in_a_row,
            _ => 1,
        }
    }

    /// Runs it.
    pub(crate) fn predict(&self, n_pes: usize, model: &CostModel) -> Result<Cost, ModelError> {
        let alone = matches!(self.kind, Kind::Barrier | Kind::AllGather(_));
        if n_pes < 2 && !alone {
            return Err(ModelError::NoPartner { work: *self, n_pes });
        }
        self.run(n_pes, model).map_err(|error| ModelError::Predict { work: *self, n_pes, error })
    }

    fn run(&self, n_pes: usize, model: &CostModel) -> Result<Cost, PredictError> {
        let parts = if matches!(self.kind, Kind::AllGather(_)) { n_pes } else { 2 };
        // Whole words, so that the last can be waited for.
        let each = if self.kind == Kind::PingPong { self.bytes.next_multiple_of(8) } else { self.bytes };
        let room = (parts * each).max(8);
        let sim = Sim::new(n_pes).heap_size(room as u64);
        let in_a_row = if (1..n_pes).contains(&model.cores) { IN_A_ROW } else { 1 };
        let predicted = sim.predict(model, |pe| async move {
            if self.kind == Kind::Barrier {
                // Without the allocation, which sends as much as an AllGather.
                pe.begin().await;
                pe.phase("work");
                for _ in 0..in_a_row {
                    pe.barrier_all().await?;
                }
            } else {
                let data = pe.alloc::<u8>(room).await?;
                pe.begin().await;
                self.part(&pe, data, each, in_a_row).await?;
            }
            pe.phase("end");
            pe.finalize().await
        })?;
        let (time, messages, bytes) =
            predicted.phase("work").map_or((0, 0, 0), |work| (work.time_ns(), work.messages, work.bytes));
        let time_ns = time as f64 / self.rounds(in_a_row) as f64;
        // Of works that are not repeated, there is one.
        let repeats = if matches!(self.kind, Kind::Barrier | Kind::AllGather(_)) { in_a_row } else { 1 };
        Ok(Cost { time_ns, messages: messages / repeats, bytes: bytes / repeats })
    }

    /// What one PE does. Those that have no part in it do not come to the phase `work`.
    async fn part(
        &self,
        pe: &SimPe,
        data: SymSlice<u8>,
        each: usize,
        in_a_row: u64,
    ) -> transport_core::Result<()> {
        let my_pe = pe.my_pe();
        let two_play = self.kind == Kind::PingPong && my_pe == 1;
        match self.kind {
            Kind::AllGather(algorithm) => {
                let mine = data.part(my_pe, pe.n_pes())?;
                pe.heap().fill(mine, mark(my_pe))?;
                let gather = AllGather::in_place(pe, data, algorithm)?;
                pe.phase("work");
                for _ in 0..in_a_row {
                    gather.run(pe).await?;
                }
                pe.phase("end");
                return check_gathered(pe, data, each);
            }
            _ if my_pe > 0 && !two_play => return Ok(()),
            _ => pe.phase("work"),
        }
        let (src, dst) = (data.slice(..each)?, data.slice(each..2 * each)?);
        match self.kind {
            Kind::PingPong => {
                let last = |all: SymSlice<u8>| all.slice(all.len() - 8..)?.cast::<u64>();
                pe.heap().write(last(src)?, &[1])?;
                if my_pe == 0 {
                    pe.put_nbi(dst, src, 1)?;
                }
                pe.signal_wait_until(last(dst)?, Cmp::Eq, 1).await?;
                if my_pe == 1 {
                    pe.put_nbi(dst, src, 0)?;
                }
            }
            Kind::Get => pe.get_nbi(dst, src, 1)?,
            Kind::Put | Kind::Stream => (0..BURST).try_for_each(|_| pe.put_nbi(dst, src, 1))?,
            _ => pe.put_nbi(dst, src, 1)?,
        }
        if matches!(self.kind, Kind::Get | Kind::Stream | Kind::PutQuiet) {
            pe.quiet().await?;
        }
        Ok(())
    }
}

/// What a PE's part is made of.
fn mark(pe: usize) -> u8 {
    (pe % 251) as u8 + 1
}

/// A prediction of what went wrong would be worth nothing.
fn check_gathered(pe: &SimPe, data: SymSlice<u8>, each: usize) -> transport_core::Result<()> {
    let found = pe.heap().read_vec(data)?;
    let wrong = found.chunks(each).enumerate().find(|(of, part)| part.iter().any(|&byte| byte != mark(*of)));
    match wrong {
        None => Ok(()),
        // Told as any other failure of the job.
        Some((of, _)) => {
            let cause = format!("its part of an AllGather did not arrive at PE {}", pe.my_pe());
            Err(transport_core::Error::PeerLost {
                op: "all_gather",
                my_pe: pe.my_pe(),
                pe: of,
                cause: cause.into(),
            })
        }
    }
}

impl fmt::Display for ModelWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Barrier => f.write_str("barrier"),
            Kind::AllGather(algorithm) => write!(f, "all-gather:{} {algorithm}", self.bytes),
            _ => write!(f, "{}:{}", self.name(), self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> CostModel {
        CostModel {
            link: transport_loopback::sim::Link { latency_ns: 100, per_byte_ps: 1000 },
            overhead_ns: 10,
            gap_ns: 5,
            acknowledge_ns: 50,
            ..CostModel::free()
        }
    }

    const TEXTBOOK: ModelWork = ModelWork { kind: Kind::AllGather(AllGatherAlgorithm::Textbook), bytes: 8 };

    #[test]
    fn every_work_takes_what_is_added_up_by_hand() {
        for (name, bytes, time_ns, messages) in [
            ("barrier", 0, 110.0, 2),
            // 8 bytes with their marks are two words; 65 bytes go as they are, and behind them the signal.
            ("all-gather", 8, 10.0 + 16.0 + 100.0, 2),
            ("all-gather", 65, 10.0 + 65.0 + 5.0 + 100.0, 4),
            ("ping-pong", 16, 10.0 + 100.0 + 16.0, 2),
            ("put", 8, 10.0, 64),
            ("put-quiet", 8, 10.0 + 108.0 + 50.0, 1),
            ("get", 24, 10.0 + 200.0 + 24.0, 2),
            // All but the last leave one after the other.
            ("stream", 95, (10.0 + 63.0 * 100.0 + 95.0 + 100.0 + 50.0) / 64.0, 64),
        ] {
            let cost = ModelWork::named(name, bytes).unwrap().predict(2, &model()).unwrap();
            assert!((cost.time_ns - time_ns).abs() < 1e-6, "{name}: {cost:?}, not {time_ns}");
            assert_eq!(cost.messages, messages, "{name}");
        }
        // Two barriers, a put, its acknowledgement.
        let cost = TEXTBOOK.predict(2, &model()).unwrap();
        assert_eq!((cost.time_ns, cost.messages), (110.0 + 10.0 + 108.0 + 50.0 + 110.0, 6));
        assert_eq!(NAMES.map(|name| ModelWork::named(name, 8).map(|work| work.name())), NAMES.map(Some));
        assert!(ModelWork::named("replay", 8).is_none() && ModelWork::named("ping-pong", 7).is_none());
    }

    #[test]
    fn in_shared_memory_a_put_and_a_get_are_a_copy() {
        let model = CostModel { complete_at_post: true, ..model() };
        for (name, bytes, time_ns) in [
            ("barrier", 0, 110.0),
            ("all-gather", 8, 10.0 + 8.0 + 10.0 + 100.0),
            ("ping-pong", 16, 10.0 + 16.0 + 100.0),
            ("put", 8, 10.0 + 8.0),
            ("put-quiet", 8, 10.0 + 8.0),
            ("get", 24, 10.0 + 24.0),
            ("stream", 95, 10.0 + 95.0),
        ] {
            let cost = ModelWork::named(name, bytes).unwrap().predict(2, &model).unwrap();
            assert!((cost.time_ns - time_ns).abs() < 1e-6, "{name}: {cost:?}, not {time_ns}");
        }
        assert_eq!(TEXTBOOK.predict(2, &model).unwrap().time_ns, 110.0 + 10.0 + 8.0 + 110.0);
    }

    #[test]
    fn on_one_processor_two_take_turns() {
        let barrier = ModelWork::named("barrier", 0).unwrap();
        let cost = barrier.predict(2, &model().cores(1, 1000)).unwrap();
        // PE 0 has the first turn, and PE 1 the second. In each from then on a PE has the other's next two flags, and sends two
        // before it waits: the other is ready when the first of them is there. So a barrier costs one turn.
        let turn = 10.0 + 100.0 + 1000.0;
        assert_eq!(cost.time_ns * IN_A_ROW as f64, 10.0 + 1000.0 + IN_A_ROW as f64 * turn);
        assert_eq!((cost.messages, cost.bytes), (2, 0));
        // With one for each, it is as without.
        let alone = barrier.predict(2, &model()).unwrap();
        assert_eq!(barrier.predict(2, &model().cores(2, 1000)).unwrap(), alone);
    }

    #[test]
    fn a_work_for_two_needs_two() {
        let error = ModelWork::named("put", 8).unwrap().predict(1, &model()).unwrap_err();
        assert!(error.to_string().contains("put:8 needs at least 2 PEs"), "{error}");
    }
}
