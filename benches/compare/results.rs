//! What came out, work by work.

use std::collections::BTreeMap;

use crate::work::Work;
use benches::median;

/// Values in us, of each pair; nothing where a launch failed.
pub(crate) type Values = Vec<Option<f64>>;

/// A row of the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) ours: Values,
    /// By the name of the variant, in the order in which they are tried.
    pub(crate) peers: Vec<(&'static str, Values)>,
}

/// A launch that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// Ours, or the variant's name.
    pub(crate) who: String,
    pub(crate) works: String,
    pub(crate) reason: String,
    /// It moved wrong data: worse than that it did not end.
    pub(crate) wrong_data: bool,
    /// How often.
    pub(crate) times: u32,
}

/// All of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Results {
    pub(crate) rows: BTreeMap<Work, Row>,
    pub(crate) troubles: Vec<Trouble>,
}

/// The median of ratios, with the least and the largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// The median of the values that there are.
pub(crate) fn typical(values: &Values) -> Option<f64> {
    median(&values.iter().flatten().copied().collect::<Vec<_>>())
}

impl Row {
    /// The peer whose typical value is the least, with its values.
    pub(crate) fn best(&self) -> Option<(&'static str, &Values)> {
        let with_value =
            self.peers.iter().filter_map(|(name, values)| Some((typical(values)?, *name, values)));
        with_value.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name, values)| (name, values))
    }

    /// Ours / the best peer, of each pair in which both have a value.
    pub(crate) fn ratios(&self) -> Vec<f64> {
        let Some((_, theirs)) = self.best() else { return Vec::new() };
        let both = self.ours.iter().zip(theirs);
        both.filter_map(|(ours, theirs)| Some((*ours)? / (*theirs)?)).collect()
    }

    /// The least value of ours / the least of all peers.
    pub(crate) fn least_ratio(&self) -> Option<f64> {
        let least = |values: &Values| values.iter().flatten().copied().min_by(f64::total_cmp);
        let theirs = self.peers.iter().filter_map(|(_, values)| least(values)).min_by(f64::total_cmp);
        Some(least(&self.ours)? / theirs?)
    }

    /// What the table says.
    pub(crate) fn ratio(&self) -> Option<Ratio> {
        let ratios = self.ratios();
        let (min, max) = ratios.iter().fold((f64::MAX, f64::MIN), |(min, max), r| (min.min(*r), max.max(*r)));
        Some(Ratio { median: median(&ratios)?, min, max })
    }
}

impl Results {
    /// Takes the value of a variant, or of ours if it has no name, in this pair.
    pub(crate) fn add(&mut self, work: Work, variant: Option<&'static str>, pair: usize, value: f64) {
        let row = self.rows.entry(work).or_default();
        let values = match variant {
            None => &mut row.ours,
            Some(name) => {
                let known = row.peers.iter().position(|(known, _)| *known == name);
                let at = known.unwrap_or_else(|| {
                    row.peers.push((name, Values::new()));
                    row.peers.len() - 1
                });
                &mut row.peers[at].1
            }
        };
        if values.len() <= pair {
            values.resize(pair + 1, None);
        }
        values[pair] = Some(value);
    }

    /// Takes a failure; one that is known is counted.
    pub(crate) fn fail(&mut self, who: &str, works: &[Work], reason: String) {
        let works = works.iter().map(Work::to_string).collect::<Vec<_>>().join(" ");
        // So say both `perf` and the peers' programs.
        let wrong_data = reason.contains("moved wrong data");
        let known =
            |trouble: &&mut Trouble| trouble.who == who && trouble.works == works && trouble.reason == reason;
        match self.troubles.iter_mut().find(known) {
            Some(trouble) => trouble.times += 1,
            None => self.troubles.push(Trouble { who: who.to_owned(), works, reason, wrong_data, times: 1 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Kind;

    const WORK: Work = Work { kind: Kind::Barrier, n_pes: 2, bytes: 0 };

    #[test]
    fn ratios_are_those_of_pairs_with_the_best_peer() {
        let mut results = Results::default();
        results.rows.insert(WORK, Row::default());
        assert_eq!((results.rows[&WORK].ratio(), results.rows[&WORK].least_ratio()), (None, None));
        for (pair, ours, fast, slow) in [(0, 1.0, 2.0, 1.5), (1, 2.0, 2.0, 9.0), (2, 6.0, 3.0, 9.0)] {
            results.add(WORK, None, pair, ours);
            results.add(WORK, Some("slow"), pair, slow);
            results.add(WORK, Some("fast"), pair, fast);
        }
        let row = &results.rows[&WORK];
        assert_eq!(row.best().unwrap().0, "fast");
        assert_eq!(row.ratios(), [0.5, 1.0, 2.0]);
        assert_eq!(row.ratio(), Some(Ratio { median: 1.0, min: 0.5, max: 2.0 }));
        assert_eq!(row.least_ratio(), Some(1.0 / 1.5));
        // A pair that failed has none.
        results.add(WORK, None, 4, 1.0);
        results.add(WORK, Some("fast"), 3, 2.0);
        assert_eq!(results.rows[&WORK].ratios().len(), 3);
    }

    #[test]
    fn failures_are_counted() {
        let mut results = Results::default();
        for _ in 0..2 {
            results.fail("x", &[WORK], "late".to_owned());
        }
        results.fail("x", &[WORK], "PE 1: barrier moved wrong data: byte 0".to_owned());
        let all: Vec<_> =
            results.troubles.iter().map(|trouble| (trouble.times, trouble.wrong_data)).collect();
        assert_eq!(all, [(2, false), (1, true)]);
        assert_eq!(results.troubles[0].works, "barrier@2");
    }
}
