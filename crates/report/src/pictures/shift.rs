//! The shift chart: the ratio of each quantile between the two sides.

use crate::pictures::area::{Area, BELOW, Sides, Tick};
use crate::pictures::legend::{Entry, Legend};
use crate::pictures::options::Options;
use crate::pictures::picture::Picture;
use crate::pictures::svg::{Anchor, INK, MUTED, Pen, TEXT_SIZE, line, n, text};
use latlab_stats::comparison::QuantileShift;
use maud::{Markup, html};

/// Top edge; the chart has no heading.
const TOP: f64 = 14.0;
/// Quantiles labelled on the axis.
const NAMED: [(u32, &str); 6] = [
    (500_000, "p50"),
    (900_000, "p90"),
    (990_000, "p99"),
    (999_000, "p99.9"),
    (999_900, "p99.99"),
    (999_990, "p99.999"),
];
/// Minimum range of the vertical axis: 5 % in each direction.
const SHORTEST: f64 = 0.05;
/// The colour of the region beyond the limit.
const BEYOND: &str = "var(--ll-deadline,#d4372c)";

/// The ratios of a comparison, and the tolerated ratio.
pub struct ShiftPicture<'a> {
    /// In ascending order of the quantiles.
    pub shifts: &'a [QuantileShift],
    /// The largest tolerated ratio.
    pub limit: f64,
    /// Description for screen readers.
    pub title: String,
}

/// Both axes are logarithmic.
struct ScaledPoints {
    area: Area,
    /// The rarest quantile.
    rarest: f64,
    /// The logarithm of the ratio at the upper edge, and its negative at the lower one.
    reach: f64,
}

impl ScaledPoints {
    fn x(&self, parts_per_million: u32) -> f64 {
        self.area.x(rarity(parts_per_million) / self.rarest)
    }

    fn y(&self, ratio: f64) -> f64 {
        self.area.y(self.place(ratio))
    }

    fn place(&self, ratio: f64) -> f64 {
        let share = (ratio.max(f64::MIN_POSITIVE).ln() / self.reach).clamp(-1.0, 1.0);
        (1.0 + share) / 2.0
    }
}

/// Logarithm of the number of latencies per one above this quantile.
fn rarity(parts_per_million: u32) -> f64 {
    -(1.0 - f64::from(parts_per_million) / 1e6).max(1e-6).log10()
}

/// Empty if no quantile has enough latencies.
pub fn draw(of: &ShiftPicture, options: &Options) -> String {
    let width = options.drawn_width();
    let area = Area::across(width, TOP, options.drawn_height(), Sides::default());
    let ends = of.shifts.iter().flat_map(|one| {
        let (low, high) = one.band.unwrap_or((one.ratio, one.ratio));
        [low, high, one.ratio]
    });
    let far = ends.chain([of.limit]).map(|ratio| ratio.max(f64::MIN_POSITIVE).ln().abs());
    let places = ScaledPoints {
        area,
        rarest: of.shifts.last().map_or(4.0, |one| rarity(one.parts_per_million)).max(1.0),
        reach: far.fold(SHORTEST, f64::max) * 1.1,
    };
    let legend = Legend::new(entries(of), width);
    let picture = Picture {
        options,
        height: area.bottom + BELOW + legend.height() + 12.0,
        title: of.title.clone(),
        description: description(of),
        latencies: 0,
    };
    picture.render(html! {
        (beyond(of.limit, &places))
        (area.furniture((&quantiles(&places, of), "Quantile"), (&ratios(&places), "Candidate / base")))
        (line((area.left, places.y(1.0)), (area.right, places.y(1.0)), INK, 1.2))
        (curve(of, &places))
        (legend.render(area.bottom + BELOW + 8.0))
        @if of.shifts.is_empty() {
            @let (x, y) = area.middle();
            (text(x, y, Anchor::Middle, TEXT_SIZE, MUTED, "The runs support no quantile."))
        }
    })
}

fn entries(of: &ShiftPicture) -> Vec<Entry> {
    let mut entries = vec![Entry::line(line_pen(), "ratio of each quantile".to_string())];
    if of.shifts.iter().any(|one| one.band.is_some()) {
        entries.push(Entry::area(band_style(), "95 % of bootstrap samples".to_string()));
    }
    entries.push(Entry::area(beyond_style(), format!("above the limit of x{:.2}", of.limit)));
    entries
}

fn line_pen() -> Pen {
    Pen::number(1).solid()
}

fn band_style() -> String {
    format!("fill:{};fill-opacity:.2;stroke:none", line_pen().colour)
}

fn beyond_style() -> String {
    format!("fill:{BEYOND};fill-opacity:.1;stroke:none")
}

/// The limit as a line, with shading beyond it.
fn beyond(limit: f64, places: &ScaledPoints) -> Markup {
    let (area, y) = (&places.area, places.y(limit));
    html! {
        rect x=(n(area.left)) y=(n(area.top)) width=(n(area.width())) height=(n(y - area.top))
            style=(beyond_style()) data-limit=(n(limit)) {}
        (line((area.left, y), (area.right, y), BEYOND, 1.2))
    }
}

fn curve(of: &ShiftPicture, places: &ScaledPoints) -> Markup {
    let point = |shift: &QuantileShift, ratio: f64| {
        format!("{} {}", n(places.x(shift.parts_per_million)), n(places.y(ratio)))
    };
    let upper = of.shifts.iter().filter_map(|one| Some(point(one, one.band?.1)));
    let lower = of.shifts.iter().rev().filter_map(|one| Some(point(one, one.band?.0)));
    let band: Vec<String> = upper.chain(lower).collect();
    let all: Vec<String> = of.shifts.iter().map(|one| point(one, one.ratio)).collect();
    html! {
        @if !band.is_empty() { path d={ "M" (band.join("L")) "Z" } style=(band_style()) data-band=(band.len()) {} }
        @if !all.is_empty() {
            path d={ "M" (all.join("L")) } style=(line_pen().style())
                stroke-linejoin="round" data-shifts=(all.len()) {}
        }
    }
}

fn quantiles(places: &ScaledPoints, of: &ShiftPicture) -> Vec<Tick> {
    let last = of.shifts.last().map_or(0, |one| one.parts_per_million);
    let room = places.area.width() / places.rarest;
    let named = NAMED.into_iter().filter(|(share, _)| *share <= last);
    // If there is little room, the median yields to its neighbours.
    let named = named.filter(|(share, _)| *share != 500_000 || room > 90.0);
    named
        .map(|(share, name)| Tick { place: rarity(share) / places.rarest, name: name.to_string() })
        .collect()
}

fn ratios(places: &ScaledPoints) -> Vec<Tick> {
    let steps: &[f64] = match places.reach.exp() {
        ..1.15 => &[0.9, 0.95, 1.0, 1.05, 1.1],
        ..1.6 => &[0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4],
        ..4.0 => &[0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0],
        ..50.0 => &[0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0],
        _ => &[1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4],
    };
    let inside = steps.iter().filter(|step| step.ln().abs() < places.reach);
    inside.map(|step| Tick { place: places.place(*step), name: format!("x{step}") }).collect()
}

fn description(of: &ShiftPicture) -> String {
    let each = of.shifts.iter().filter_map(|one| {
        let (_, name) = NAMED.iter().find(|(share, _)| *share == one.parts_per_million)?;
        let band = one.band.map(|(low, high)| format!(" ({low:.3} to {high:.3})"));
        Some(format!("{name} x{:.3}{}", one.ratio, band.unwrap_or_default()))
    });
    format!(
        "How many times larger each quantile is on the candidate's side, logarithmic. {}. The limit is \
         x{:.2}.",
        each.collect::<Vec<_>>().join(", "),
        of.limit
    )
}
