//! Runs protocols and mutants in the same schedules.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use transport_loopback::sim::{Exploration, Explored, Failure, Network, RaceDetector, Sim};

use crate::protocol::{Ends, Mutant, Protocol, without_a_look};

/// In each way so many schedules.
const BY_CHANCE: u64 = 120;
const IN_ORDER: u64 = 300;
/// Those that must be few.
const SMALL: u64 = 20_000;

/// The ways to explore, as the table has them. By chance on a network that does all that it may; in order on one where only the
/// order of operations is odd, or the first hundreds would differ in nothing but the pieces of the last puts.
fn ways(protocol: &Protocol) -> [(Sim, Exploration); 3] {
    let tame = Network { torn: false, late_source: false, ..Network::default() };
    let most = if protocol.small { SMALL } else { IN_ORDER };
    [
        (protocol.sim.clone(), Exploration::Random { schedules: BY_CHANCE }),
        (protocol.sim.clone(), Exploration::Pct { schedules: BY_CHANCE, depth: 3 }),
        (protocol.sim.clone().network(tame), Exploration::Exhaustive { most }),
    ]
}

/// What became of a protocol.
pub(crate) struct Verdict<'a> {
    pub(crate) protocol: &'a Protocol,
    /// The right one, way by way.
    pub(crate) right: [Result<Explored, Box<Failure>>; 3],
    pub(crate) mutants: Vec<Caught<'a>>,
}

/// What became of a mutant.
pub(crate) struct Caught<'a> {
    pub(crate) mutant: &'a Mutant,
    /// By what came out, way by way.
    pub(crate) outcome: [Option<Catch>; 3],
    /// In random schedules with the race detector, where nobody looks at the data.
    race: Option<Catch>,
}

/// A mutant was caught.
pub(crate) struct Catch {
    pub(crate) ends: Ends,
    /// In this schedule, from 1.
    pub(crate) schedules: u64,
    /// Choices of the shrunk schedule that are not the usual ones.
    pub(crate) shrunk: usize,
    pub(crate) story: String,
}

impl Catch {
    fn of(failure: &Failure) -> Self {
        let story = failure.to_string();
        let (schedules, shrunk) = (failure.schedules(), failure.schedule().deviations());
        Self { ends: Ends::of(failure.kind()), schedules, shrunk, story }
    }
}

/// Judges all, on two threads, and answers in order.
pub(crate) fn all(protocols: &[Protocol]) -> Vec<Verdict<'_>> {
    let next = AtomicUsize::new(0);
    let verdicts: Vec<_> = protocols.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(protocol) = protocols.get(at) else { return };
            let verdict = one(protocol);
            *verdicts[at].lock().unwrap() = Some(verdict);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    verdicts.into_iter().map(|verdict| verdict.into_inner().unwrap().expect("all were judged")).collect()
}

fn one(protocol: &Protocol) -> Verdict<'_> {
    let right =
        ways(protocol).map(|(sim, how)| sim.listener(RaceDetector::new()).explore(how, &protocol.right));
    let mutants = protocol.mutants.iter().map(|mutant| {
        let outcome = ways(protocol).map(|(sim, how)| {
            let failed = sim.explore(how, &mutant.body).err();
            failed.map(|failure| Catch::of(&failure))
        });
        let [(sim, how), ..] = ways(protocol);
        let watched = sim.listener(RaceDetector::new());
        let race = without_a_look(|| watched.explore(how, &mutant.body)).err();
        Caught { mutant, outcome, race: race.map(|failure| Catch::of(&failure)) }
    });
    Verdict { protocol, right, mutants: mutants.collect() }
}

impl Verdict<'_> {
    /// What is not as it should be.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let name = self.protocol.name;
        let mut wrong = Vec::new();
        for failure in self.right.iter().filter_map(|result| result.as_ref().err()) {
            wrong.push(format!("{name}: it is right, but {failure}"));
        }
        if let (true, Ok(explored)) = (self.protocol.small, &self.right[2])
            && !explored.complete
        {
            wrong.push(format!("{name}: there are more schedules than {SMALL}"));
        }
        self.mutants
            .iter()
            .for_each(|caught| wrong.extend(caught.complaints().map(|text| format!("{name}, {text}"))));
        wrong
    }
}

impl Caught<'_> {
    /// By the race detector.
    pub(crate) fn race(&self) -> Option<&Catch> {
        self.race.as_ref().filter(|catch| catch.ends == Ends::Race)
    }

    fn complaints(&self) -> impl Iterator<Item = String> {
        let Mutant { fault, ends, races, .. } = *self.mutant;
        let caught: Vec<_> = self.outcome.iter().flatten().collect();
        let survives = caught.is_empty().then(|| format!("{fault}: it survives"));
        let other = caught.iter().find(|catch| !ends.covers(catch.ends));
        let other = other.map(|catch| format!("{fault}: not {}, but {}", ends.text(), catch.story));
        let race =
            (races && self.race().is_none()).then(|| format!("{fault}: the race detector says nothing"));
        [survives, other, race].into_iter().flatten()
    }
}
