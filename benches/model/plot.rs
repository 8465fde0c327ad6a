//! Time against PEs.

use benches::svg::{Chart, Series};
use transport_core::collectives::AllGatherAlgorithm;
use transport_loopback::sim::CostModel;

use crate::ModelError;
use crate::measured::Measured;
use crate::work::{Kind, ModelWork};

/// The chart of all works, as an SVG.
pub(crate) fn plot(
    works: &[ModelWork],
    pes: &[usize],
    model: &CostModel,
    measured: &[Measured],
) -> Result<String, ModelError> {
    let mut series = Vec::new();
    for (colour, work) in works.iter().enumerate() {
        let point = |&n_pes: &usize| Ok((n_pes as f64, work.predict(n_pes, model)?.time_ns / 1e3));
        let points = pes.iter().map(point).collect::<Result<_, ModelError>>()?;
        series.push(Series { name: work.to_string(), line: true, colour, points });
    }
    for (colour, work) in works.iter().enumerate() {
        let of_this = measured.iter().filter(|measured| is_like(&measured.work, work));
        let points: Vec<_> =
            of_this.map(|measured| (measured.n_pes as f64, measured.time_ns / 1e3)).collect();
        let is_new = !works[..colour].iter().any(|before| is_like(before, work));
        if is_new && !points.is_empty() {
            let name = match work.kind {
                Kind::AllGather(_) => format!("all-gather:{}, measured", work.bytes),
                _ => format!("{work}, measured"),
            };
            series.push(Series { name, line: false, colour, points });
        }
    }
    let link = model.link;
    let title = format!(
        "latency {} ns, overhead {} ns, gap {} ns, {} ps a byte",
        link.latency_ns, model.overhead_ns, model.gap_ns, link.per_byte_ps
    );
    Ok(Chart { title, x_label: "PEs", y_label: "time in us", series }.to_svg())
}

/// Whether they are of one work: by which algorithm an AllGather was measured is not told.
fn is_like(a: &ModelWork, b: &ModelWork) -> bool {
    let plain = |kind| {
        if matches!(kind, Kind::AllGather(_)) { Kind::AllGather(AllGatherAlgorithm::Auto) } else { kind }
    };
    plain(a.kind) == plain(b.kind) && a.bytes == b.bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_line_for_each_work_and_a_point_for_each_measurement() {
        let gather = |bytes| ModelWork { kind: Kind::AllGather(AllGatherAlgorithm::Textbook), bytes };
        let works = [ModelWork { kind: Kind::Barrier, bytes: 0 }, gather(64)];
        let measured = |name, bytes, n_pes| Measured {
            work: ModelWork::named(name, bytes).unwrap(),
            n_pes,
            time_ns: 5000.0,
        };
        let measured =
            [measured("all-gather", 64, 2), measured("all-gather", 64, 4), measured("all-gather", 8, 4)];
        let svg = plot(&works, &[2, 4, 8], &CostModel::roce(), &measured).unwrap();
        let count = |what: &str| svg.matches(what).count();
        // Those of the legend too.
        assert_eq!((count("<polyline"), count("<circle")), (2 + 2, 2 + 2), "{svg}");
        for text in [
            ">barrier<",
            ">all-gather:64 textbook<",
            ">all-gather:64, measured<",
            ">PEs<",
            ">time in us<",
            ">8<",
            ">10<",
        ] {
            assert_eq!(count(text), 1, "{text}: {svg}");
        }
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert_eq!(svg, plot(&works, &[2, 4, 8], &CostModel::roce(), &measured).unwrap());
    }
}
