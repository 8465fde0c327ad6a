//! The costs that fit measurements best.
//!
//! What is fitted is the simulation itself, so that both can never mean different things. Its times are piecewise linear in the
//! costs, so that differences give exact slopes, and least squares over them (Levenberg and Marquardt's way) comes to an end in a
//! few steps. Errors count by their part of what was measured: a microsecond in two is more than one in a thousand.

use std::io::Write;

use transport_loopback::sim::CostModel;

use crate::ModelError;
use crate::linear::solve;
use crate::measured::Measured;
use crate::predict;
use crate::work::Kind;

/// What is looked for, in nanoseconds; the time per byte in picoseconds.
const NAMES: [&str; 6] = ["latency", "overhead", "gap", "per-byte", "acknowledge", "switch"];
const ACKNOWLEDGE: usize = 4;
const SWITCH: usize = 5;
type Costs = [f64; NAMES.len()];

/// Where the search begins: a kink of the model (a NIC that is slower than its PE, or not) may hold it, so from both sides.
const STARTS: [Costs; 2] =
    [[500.0, 50.0, 150.0, 100.0, 300.0, 1000.0], [500.0, 150.0, 20.0, 100.0, 300.0, 1000.0]];

/// Steps of a search; it ends by itself long before.
const MOST_STEPS: u32 = 60;

/// Costs are whole nanoseconds in a model; a thousand times as large they are as exact as need be, and so are the times.
const SCALE: f64 = 1000.0;

/// What came out.
#[derive(Debug, Clone)]
pub(crate) struct Fitted {
    pub(crate) model: CostModel,
    /// Those of [`NAMES`] that the measurements say nothing about: they are as given.
    pub(crate) unknown: Vec<&'static str>,
    /// Root of the mean square of the errors, as parts of what was measured.
    pub(crate) error: f64,
}

struct Fit<'a> {
    measured: &'a [Measured],
    given: &'a CostModel,
    /// Which are looked for.
    free: Vec<usize>,
}

impl Fit<'_> {
    fn model(&self, costs: &Costs, scale: f64) -> CostModel {
        let mut model = self.given.clone();
        let whole = |cost: f64| (cost * scale).round() as u64;
        let scaled = |cost: u64| cost.saturating_mul(scale as u64);
        model.receive_overhead_ns = scaled(model.receive_overhead_ns);
        model.copy_per_byte_ps = scaled(model.copy_per_byte_ps);
        model.link.latency_ns = whole(costs[0]);
        model.overhead_ns = whole(costs[1]);
        model.gap_ns = whole(costs[2]);
        model.link.per_byte_ps = whole(costs[3]);
        model.acknowledge_ns = whole(costs[ACKNOWLEDGE]);
        model.switch_ns = whole(costs[SWITCH]);
        // Links of their own are not looked for.
        model.links = Default::default();
        model
    }

    /// Of each measurement: how much of it the prediction is too long.
    fn errors(&self, costs: &Costs) -> Result<Vec<f64>, ModelError> {
        let model = self.model(costs, SCALE);
        let error = |measured: &Measured| {
            let predicted = measured.work.predict(measured.n_pes, &model)?.time_ns / SCALE;
            Ok((predicted - measured.time_ns) / measured.time_ns)
        };
        self.measured.iter().map(error).collect()
    }

    /// How the errors change with each cost that is looked for.
    fn slopes(&self, costs: &Costs, errors: &[f64]) -> Result<Vec<Vec<f64>>, ModelError> {
        let slope = |&at: &usize| {
            let step = (costs[at] * 1e-3).max(0.01);
            let mut other = *costs;
            other[at] += step;
            let others = self.errors(&other)?;
            Ok(others.iter().zip(errors).map(|(there, here)| (there - here) / step).collect())
        };
        self.free.iter().map(slope).collect()
    }

    fn search(&self, mut costs: Costs) -> Result<(Costs, f64), ModelError> {
        let mut errors = self.errors(&costs)?;
        let mut damping = 1e-3;
        for _ in 0..MOST_STEPS {
            let slopes = self.slopes(&costs, &errors)?;
            let (mut better, before) = (None, squares(&errors));
            while better.is_none() && damping < 1e9 {
                let step = self.step(&slopes, &errors, damping);
                let mut other = costs;
                for (&at, step) in self.free.iter().zip(step) {
                    other[at] = (other[at] - step).max(0.0);
                }
                let there = self.errors(&other)?;
                if squares(&there) < before {
                    better = Some((other, there));
                    damping = (damping / 10.0).max(1e-12);
                } else {
                    damping *= 10.0;
                }
            }
            let Some((other, there)) = better else { break };
            let gained = before - squares(&there);
            (costs, errors) = (other, there);
            if gained < 1e-12 * before || squares(&errors) < 1e-14 {
                break;
            }
        }
        let error = (squares(&errors) / errors.len().max(1) as f64).sqrt();
        Ok((costs, error))
    }

    /// Where the least squares are, were all as linear as it is here.
    fn step(&self, slopes: &[Vec<f64>], errors: &[f64], damping: f64) -> Vec<f64> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let row = |(at, a): (usize, &Vec<f64>)| {
            let products = slopes
                .iter()
                .enumerate()
                .map(|(b_at, b)| dot(a, b) * if at == b_at { 1.0 + damping } else { 1.0 });
            products.collect()
        };
        solve(slopes.iter().enumerate().map(row).collect(), slopes.iter().map(|a| dot(a, errors)).collect())
    }
}

fn squares(errors: &[f64]) -> f64 {
    errors.iter().map(|error| error * error).sum()
}

/// Whether a model of this kind has such a cost.
fn matters(at: usize, given: &CostModel) -> bool {
    match NAMES[at] {
        "gap" | "acknowledge" => !given.complete_at_post,
        "switch" => given.cores > 0,
        _ => true,
    }
}

/// The costs that are looked for.
fn free(measured: &[Measured], given: &CostModel) -> Vec<usize> {
    let any = |what: &dyn Fn(&Measured) -> bool| measured.iter().any(what);
    let free = |&at: &usize| match at {
        // Without it, an acknowledgement can hardly be told from a latency.
        ACKNOWLEDGE => any(&|measured| measured.work.kind == Kind::PutQuiet),
        SWITCH => any(&|measured| measured.n_pes > given.cores),
        _ => true,
    };
    (0..NAMES.len()).filter(|&at| matters(at, given)).filter(free).collect()
}

/// Fits `given` to measurements.
pub(crate) fn fit(measured: &[Measured], given: &CostModel) -> Result<Fitted, ModelError> {
    let given_costs = [
        given.link.latency_ns,
        given.overhead_ns,
        given.gap_ns,
        given.link.per_byte_ps,
        given.acknowledge_ns,
        given.switch_ns,
    ];
    let fit = Fit { measured, given, free: free(measured, given) };
    let mut best: Option<(Costs, f64)> = None;
    for mut start in STARTS {
        for at in (0..NAMES.len()).filter(|at| !fit.free.contains(at)) {
            start[at] = given_costs[at] as f64;
        }
        let found = fit.search(start)?;
        if best.is_none_or(|(_, error)| found.1 < error) {
            best = Some(found);
        }
    }
    let (costs, error) = best.unwrap_or((STARTS[0], 0.0));
    let slopes = fit.slopes(&costs, &fit.errors(&costs)?)?;
    let (mut costs, mut unknown) = (costs, Vec::new());
    for (at, name) in NAMES.iter().enumerate().filter(|&(at, _)| matters(at, given)) {
        let slope = fit.free.iter().position(|&free| free == at).and_then(|free| slopes.get(free));
        if slope.is_none_or(|slope| slope.iter().all(|slope| slope.abs() < 1e-12)) {
            costs[at] = given_costs[at] as f64;
            unknown.push(*name);
        }
    }
    Ok(Fitted { model: fit.model(&costs, 1.0), unknown, error })
}

/// Fits, and prints what came out with what is left over.
pub(crate) fn print(
    measured: &[Measured],
    given: &CostModel,
    out: &mut impl Write,
) -> Result<(), ModelError> {
    let fitted = fit(measured, given)?;
    predict::compare(measured, &fitted.model, out)?;
    writeln!(out, "root of the mean square: {:.1} % of what was measured", 100.0 * fitted.error)?;
    if !fitted.unknown.is_empty() {
        writeln!(
            out,
            "not fitted but as given, since these measurements do not tell: {}",
            fitted.unknown.join(", ")
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::ModelWork;
    use transport_loopback::sim::Link;

    const WORKS: [(&str, usize, usize); 9] = [
        ("ping-pong", 8, 2),
        ("ping-pong", 4096, 2),
        ("put", 8, 2),
        ("put-quiet", 8, 2),
        ("stream", 16, 2),
        ("stream", 8192, 2),
        ("barrier", 0, 5),
        ("all-gather", 64, 4),
        ("all-gather", 512, 8),
    ];

    fn model(
        latency_ns: u64,
        overhead_ns: u64,
        gap_ns: u64,
        per_byte_ps: u64,
        acknowledge_ns: u64,
    ) -> CostModel {
        let link = Link { latency_ns, per_byte_ps };
        CostModel { link, overhead_ns, gap_ns, acknowledge_ns, receive_overhead_ns: 7, ..CostModel::free() }
    }

    fn synthetic(
        works: &[(&str, usize, usize)],
        model: &CostModel,
        wrong: impl Fn(usize) -> f64,
    ) -> Vec<Measured> {
        let one = |(at, &(name, bytes, n_pes)): (usize, &(&str, usize, usize))| {
            let work = ModelWork::named(name, bytes).unwrap();
            Measured { work, n_pes, time_ns: work.predict(n_pes, model).unwrap().time_ns * wrong(at) }
        };
        works.iter().enumerate().map(one).collect()
    }

    fn found(fitted: &Fitted) -> [u64; 5] {
        let CostModel { link, overhead_ns, gap_ns, acknowledge_ns, .. } = fitted.model;
        [link.latency_ns, overhead_ns, gap_ns, link.per_byte_ps, acknowledge_ns]
    }

    #[test]
    fn known_costs_are_found_again() {
        for costs in [[700, 100, 125, 80, 700], [90, 40, 60, 150, 20], [2000, 300, 310, 1000, 100]] {
            let [latency, overhead, gap, per_byte, acknowledge] = costs;
            let measured = synthetic(&WORKS, &model(latency, overhead, gap, per_byte, acknowledge), |_| 1.0);
            let fitted = fit(&measured, &model(1, 1, 1, 1, 1)).unwrap();
            let close = found(&fitted)
                .iter()
                .zip(costs)
                .all(|(&found, known)| found.abs_diff(known) <= 1 + known / 200);
            assert!(close && fitted.error < 1e-3, "{costs:?}: {:?} {}", found(&fitted), fitted.error);
            assert!(fitted.unknown.is_empty());
        }
    }

    #[test]
    fn known_costs_of_shared_memory_and_processors_are_found_again() {
        let works = [
            ("ping-pong", 8, 2),
            ("put", 8, 2),
            ("put", 8192, 2),
            ("barrier", 0, 2),
            ("barrier", 0, 5),
            ("all-gather", 64, 4),
            ("all-gather", 512, 8),
        ];
        for [latency, overhead, per_byte, switch] in [[200, 20, 40, 1500], [900, 5, 100, 700]] {
            let truth = CostModel { complete_at_post: true, ..model(latency, overhead, 8, per_byte, 9) };
            let measured = synthetic(&works, &truth.clone().cores(2, switch), |_| 1.0);
            let fitted = fit(&measured, &truth.clone().cores(2, 1)).unwrap();
            let known = [latency, overhead, 8, per_byte, 9];
            let pairs = found(&fitted).into_iter().zip(known).chain([(fitted.model.switch_ns, switch)]);
            for (found, known) in pairs {
                assert!(found.abs_diff(known) <= 1 + known / 200, "{known}: {fitted:?}");
            }
            // Neither gap nor acknowledgement is a cost there.
            assert!(fitted.unknown.is_empty() && fitted.error < 1e-3, "{fitted:?}");
            // Of as many PEs as processors, nothing is known of switches.
            let few = synthetic(&works[..4], &truth, |_| 1.0);
            let fitted = fit(&few, &truth.clone().cores(2, 77)).unwrap();
            assert_eq!((fitted.unknown.as_slice(), fitted.model.switch_ns), (["switch"].as_slice(), 77));
        }
    }

    #[test]
    fn noise_moves_them_little() {
        let noise = |at: usize| [1.02, 0.98, 1.01, 0.99, 1.03, 0.97, 1.0, 1.01, 0.99][at];
        let measured = synthetic(&WORKS, &model(700, 100, 125, 80, 700), noise);
        let fitted = fit(&measured, &model(1, 1, 1, 1, 1)).unwrap();
        let [latency, overhead, _, per_byte, _] = found(&fitted);
        assert!(
            latency.abs_diff(700) < 60 && overhead.abs_diff(100) < 10 && per_byte.abs_diff(80) < 8,
            "{fitted:?}"
        );
        assert!((0.001..0.03).contains(&fitted.error), "{}", fitted.error);
    }

    #[test]
    fn what_is_not_measured_stays_as_given() {
        let truth = model(700, 100, 125, 80, 33);
        let measured = synthetic(&[("put", 8, 2), ("barrier", 0, 4)], &truth, |_| 1.0);
        let fitted = fit(&measured, &model(1, 2, 3, 4, 33)).unwrap();
        assert_eq!(fitted.unknown, ["gap", "per-byte", "acknowledge"]);
        assert_eq!(found(&fitted), [700, 100, 3, 4, 33]);
        let mut text = Vec::new();
        print(&measured, &truth, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(
            text.contains("--latency 700 --overhead 100") && text.contains("do not tell: gap, per-byte"),
            "{text}"
        );
    }
}
