//! Time against bytes, or against PEs for what has no bytes: a panel for each kind of work.

use benches::svg::{Chart, Series, panels};

use crate::peers::{System, VARIANTS};
use crate::results::{Results, Row, typical};
use crate::work::{Kind, Work};

/// All panels, as an SVG.
pub(crate) fn draw(results: &Results) -> String {
    let mut charts = Vec::new();
    for (kind, pes) in panels_of(results) {
        let in_panel = |work: &Work| work.kind == kind && pes.is_none_or(|pes| work.n_pes == pes);
        let rows: Vec<_> = results.rows.iter().filter(|(work, _)| in_panel(work)).collect();
        let curve = |name: &str, colour, value: &dyn Fn(&Row) -> Option<f64>| {
            let x = |work: &Work| if pes.is_some() { work.bytes } else { work.n_pes } as f64;
            let points = rows.iter().filter_map(|(work, row)| Some((x(work), value(row)?))).collect();
            Series { name: name.to_owned(), line: true, colour, points }
        };
        let mut series = vec![curve("ours", 0, &|row| typical(&row.ours))];
        for (at, system) in System::ALL.into_iter().enumerate() {
            series.push(curve(system.name(), at + 1, &|row| best_of(row, system)));
        }
        series.retain(|series| !series.points.is_empty());
        let title = pes.map_or_else(|| kind.name().to_owned(), |pes| format!("{}, {pes} PEs", kind.name()));
        let x_label = if pes.is_some() { "bytes" } else { "PEs" };
        charts.push(Chart { title, x_label, y_label: "time in us", series });
    }
    panels(&charts)
}

/// Kinds with their number of PEs; without one where that is what the curve is over.
fn panels_of(results: &Results) -> Vec<(Kind, Option<usize>)> {
    let over_bytes = |work: &Work| (work.kind, (work.bytes > 0).then_some(work.n_pes));
    let mut panels: Vec<_> = results.rows.keys().map(over_bytes).collect();
    panels.dedup();
    panels
}

/// The typical value of the best way to run a system.
fn best_of(row: &Row, system: System) -> Option<f64> {
    let of_system =
        |name: &str| VARIANTS.iter().any(|variant| variant.name == name && variant.system == system);
    let values =
        row.peers.iter().filter(|(name, _)| of_system(name)).filter_map(|(_, values)| typical(values));
    values.min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_panel_with_a_curve_for_each_system() {
        let mut results = Results::default();
        for (bytes, ours) in [(8, 1.0), (64, 2.0)] {
            let work = Work { kind: Kind::Get, n_pes: 2, bytes };
            results.add(work, None, 0, ours);
            results.add(work, Some("mpi ob1"), 0, 3.0);
            results.add(work, Some("mpi ucx"), 0, 2.5);
        }
        for n_pes in [2, 4] {
            results.add(Work { kind: Kind::Barrier, n_pes, bytes: 0 }, None, 0, 1.0);
        }
        let svg = draw(&results);
        // Each with its line in the legend.
        assert_eq!(svg.matches("<polyline").count(), 2 * 2 + 2, "{svg}");
        for text in [">get, 2 PEs<", ">barrier<", ">MPI<", ">PEs<", ">bytes<"] {
            assert_eq!(svg.matches(text).count(), 1, "{text}: {svg}");
        }
        assert_eq!(
            best_of(&results.rows[&Work { kind: Kind::Get, n_pes: 2, bytes: 8 }], System::Mpi),
            Some(2.5)
        );
    }
}
