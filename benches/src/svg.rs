//! Charts with logarithmic axes, as an SVG. A few lines of our own: of a charting crate's many kinds of charts the programs
//! here need one, and not the crates behind them.

use std::fmt::Write;

/// A chart.
#[derive(Debug)]
pub struct Chart {
    /// Above it.
    pub title: String,
    /// Below the axis in powers of 2.
    pub x_label: &'static str,
    /// Beside the axis in powers of 10.
    pub y_label: &'static str,
    /// What is shown.
    pub series: Vec<Series>,
}

/// What has one colour.
#[derive(Debug)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// A line through the points, or points alone.
    pub line: bool,
    /// Which colour.
    pub colour: usize,
    /// Those above 0 on both axes are shown.
    pub points: Vec<(f64, f64)>,
}

/// Told apart by the colour-blind too: the palette of Okabe and Ito.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

const SIZE: (f64, f64) = (760.0, 480.0);
/// Left, top, right, bottom of the axes.
const FRAME: [f64; 4] = [80.0, 50.0, 520.0, 420.0];

/// A logarithmic axis: from where to where, in powers of its base.
struct Axis {
    base: f64,
    low: i32,
    high: i32,
    at: (f64, f64),
}

impl Axis {
    fn new(base: f64, values: impl Iterator<Item = f64>, at: (f64, f64)) -> Self {
        let logs = values.filter(|value| *value > 0.0).map(|value| value.log(base));
        let (low, high) = logs.fold((f64::MAX, f64::MIN), |(low, high), log| (low.min(log), high.max(log)));
        // Nothing to show is shown too.
        let (low, high) =
            if low > high { (0, 1) } else { ((low + 1e-9).floor() as i32, (high - 1e-9).ceil() as i32) };
        Self { base, low, high: high.max(low + 1), at }
    }

    fn place(&self, value: f64) -> f64 {
        let part = (value.log(self.base) - f64::from(self.low)) / f64::from(self.high - self.low);
        self.at.0 + part * (self.at.1 - self.at.0)
    }

    fn ticks(&self) -> impl Iterator<Item = (f64, f64)> {
        (self.low..=self.high).map(|power| self.base.powi(power)).map(|value| (value, self.place(value)))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Charts below each other, as a whole file.
#[must_use]
pub fn panels(charts: &[Chart]) -> String {
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = write_panels(charts, &mut svg);
    svg
}

fn write_panels(charts: &[Chart], svg: &mut String) -> std::fmt::Result {
    let (width, each) = SIZE;
    let height = each * charts.len() as f64;
    writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">
<rect width="{width}" height="{height}" fill="white"/>"##
    )?;
    for (at, chart) in charts.iter().enumerate() {
        writeln!(svg, r#"<g transform="translate(0 {})">"#, each * at as f64)?;
        chart.write(svg)?;
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    Ok(())
}

impl Chart {
    /// The whole file.
    #[must_use]
    pub fn to_svg(&self) -> String {
        panels(std::slice::from_ref(self))
    }

    fn write(&self, svg: &mut String) -> std::fmt::Result {
        let [left, top, right, bottom] = FRAME;
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x_axis = Axis::new(2.0, points().map(|point| point.0), (left, right));
        let y_axis = Axis::new(10.0, points().map(|point| point.1), (bottom, top));
        writeln!(svg, r#"<text x="{left}" y="28" font-size="16">{}</text>"#, escaped(&self.title))?;
        for (value, x) in x_axis.ticks() {
            writeln!(svg, r##"<line x1="{x:.1}" y1="{top}" x2="{x:.1}" y2="{bottom}" stroke="#ddd"/>"##)?;
            writeln!(svg, r#"<text x="{x:.1}" y="{}" text-anchor="middle">{value}</text>"#, bottom + 18.0)?;
        }
        for (value, y) in y_axis.ticks() {
            writeln!(svg, r##"<line x1="{left}" y1="{y:.1}" x2="{right}" y2="{y:.1}" stroke="#ddd"/>"##)?;
            writeln!(svg, r#"<text x="{}" y="{:.1}" text-anchor="end">{value}</text>"#, left - 6.0, y + 4.0)?;
        }
        let (across, down) = (right - left, bottom - top);
        let (middle, halfway) = (left + across / 2.0, top + down / 2.0);
        writeln!(
            svg,
            r##"<rect x="{left}" y="{top}" width="{across}" height="{down}" fill="none" stroke="black"/>
<text x="{middle}" y="{}" text-anchor="middle">{}</text>
<text transform="translate(22 {halfway}) rotate(-90)" text-anchor="middle">{}</text>"##,
            bottom + 42.0,
            escaped(self.x_label),
            escaped(self.y_label)
        )?;
        for (at, series) in self.series.iter().enumerate() {
            let visible = series.points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
            let places: Vec<_> = visible.map(|(x, y)| (x_axis.place(*x), y_axis.place(*y))).collect();
            let y = top + 10.0 + 20.0 * at as f64;
            series.write(svg, &places)?;
            series.write(svg, &[(right + 16.0, y), (right + 40.0, y)])?;
            writeln!(
                svg,
                r#"<text x="{}" y="{:.1}">{}</text>"#,
                right + 48.0,
                y + 4.0,
                escaped(&series.name)
            )?;
        }
        Ok(())
    }
}

impl Series {
    fn write(&self, svg: &mut String, places: &[(f64, f64)]) -> std::fmt::Result {
        let colour = COLOURS[self.colour % COLOURS.len()];
        if self.line {
            let places: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            return writeln!(
                svg,
                r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"#,
                places.join(" ")
            );
        }
        places.iter().try_for_each(|(x, y)| {
            writeln!(
                svg,
                r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="none" stroke="{colour}" stroke-width="1.5"/>"#
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_where_its_logarithms_say() {
        let axis = Axis::new(2.0, [2.0, 4096.0].into_iter(), (0.0, 110.0));
        assert_eq!((axis.low, axis.high), (1, 12));
        assert!((axis.place(64.0) - 50.0).abs() < 1e-9);
        let ten = Axis::new(10.0, [0.0, 3.0, 450.0].into_iter(), (0.0, 30.0));
        assert_eq!((ten.low, ten.high, ten.ticks().count()), (0, 3, 4));
        assert_eq!(Axis::new(10.0, std::iter::empty(), (0.0, 1.0)).ticks().count(), 2);
    }

    #[test]
    fn charts_stand_below_each_other() {
        let chart = || Chart { title: "a < b".to_owned(), x_label: "x", y_label: "y", series: Vec::new() };
        let svg = panels(&[chart(), chart()]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.contains(r#"viewBox="0 0 760 960""#), "{svg}");
        assert_eq!((svg.matches("<g ").count(), svg.matches("</g>").count()), (2, 2));
        assert_eq!(svg.matches("a &lt; b").count(), 2);
    }
}
