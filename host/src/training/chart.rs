//! Curves as an SVG picture. It knows no run: it draws what it is given.

use plotters::prelude::*;
use plotters::style::RGBColor;

/// Pixels of a panel.
const PANEL: (u32, u32) = (560, 300);
/// Panels beside each other.
const COLUMNS: usize = 2;
/// Colours that people with any colour vision tell apart (Okabe and Ito 2008), the first ones first.
const COLOURS: [RGBColor; CURVES_MAX] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

/// Curves of a panel that are told apart.
pub const CURVES_MAX: usize = 7;

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by x.
    pub points: Vec<(f64, f64)>,
}

/// One pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What it shows, with the unit.
    pub title: String,
    /// Its curves; at most [`CURVES_MAX`] are told apart.
    pub curves: Vec<Curve>,
    /// A line across, such as an optimum.
    pub line: Option<f64>,
}

/// The panels as one SVG text; those without a point are left out.
///
/// # Errors
/// What the drawing library cannot draw.
pub fn svg(panels: &[Panel]) -> anyhow::Result<String> {
    let panels: Vec<&Panel> =
        panels.iter().filter(|panel| panel.curves.iter().any(|curve| !curve.points.is_empty())).collect();
    let rows = u32::try_from(panels.len().div_ceil(COLUMNS).max(1))?;
    let columns = u32::try_from(COLUMNS)?;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (PANEL.0 * columns, PANEL.1 * rows)).into_drawing_area();
        root.fill(&WHITE).map_err(broken)?;
        for (panel, area) in panels.iter().zip(root.split_evenly((rows as usize, COLUMNS))) {
            draw(panel, &area)?;
        }
        root.present().map_err(broken)?;
    }
    Ok(text)
}

fn broken(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("a chart cannot be drawn: {error}")
}

/// The least and the greatest of some numbers, apart from each other; 0 and 1 of none.
fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = numbers
        .filter(|number| number.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
    if low > high {
        return (0.0, 1.0);
    }
    let room = ((high - low) * 0.05).max(1e-3);
    (low - room, high + room)
}

fn draw<'a>(panel: &Panel, area: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>) -> anyhow::Result<()> {
    let points = || panel.curves.iter().flat_map(|curve| curve.points.iter());
    let (left, right) = range(points().map(|(x, _)| *x));
    let (low, high) = range(points().map(|(_, y)| *y).chain(panel.line));
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 15))
        .margin(10)
        .x_label_area_size(28)
        .y_label_area_size(48)
        .build_cartesian_2d(left..right, low..high)
        .map_err(broken)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("step")
        .x_label_formatter(&|step| format!("{step:.0}"))
        .label_style(("sans-serif", 11))
        .draw()
        .map_err(broken)?;
    if let Some(line) = panel.line {
        let across = LineSeries::new([(left, line), (right, line)], BLACK.mix(0.5));
        chart.draw_series(across).map_err(broken)?;
    }
    for (curve, colour) in panel.curves.iter().zip(COLOURS.iter().cycle()) {
        let finite = curve.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite());
        let drawn = chart.draw_series(LineSeries::new(finite, colour.stroke_width(2))).map_err(broken)?;
        let colour = *colour;
        drawn.label(&curve.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], colour.stroke_width(2)));
    }
    if panel.curves.len() > 1 {
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.2))
            .label_font(("sans-serif", 11))
            .draw()
            .map_err(broken)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_titles_and_names_are_in_the_picture() {
        let curve = |name: &str, points: Vec<(f64, f64)>| Curve { name: name.to_owned(), points };
        let panel = |title: &str, curves| Panel { title: title.to_owned(), curves, line: Some(10.83) };
        let text = svg(&[
            panel(
                "tokens",
                vec![
                    curve("vanilla", vec![(1.0, 19.0), (2.0, f64::NAN), (3.0, 17.0)]),
                    curve("CARE <&>", vec![(1.0, 11.0)]),
                ],
            ),
            panel("nothing", vec![curve("empty", Vec::new())]),
        ])
        .expect("drawn");
        for part in ["<svg", "tokens", "vanilla", "CARE &lt;&amp;&gt;", "</svg>"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert!(!text.contains("NaN") && !text.contains("nothing"), "{text}");
    }

    #[test]
    fn a_range_has_room_and_is_never_empty() {
        assert_eq!(range([].into_iter()), (0.0, 1.0));
        assert_eq!(range([f64::NAN].into_iter()), (0.0, 1.0));
        let (low, high) = range([2.0, 2.0].into_iter());
        assert!(low < 2.0 && 2.0 < high);
    }
}
