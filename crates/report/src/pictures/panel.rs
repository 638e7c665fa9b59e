//! Lines of counts over latency in a plot area, shared by the latency and the CPU charts.

use crate::pictures::area::{Area, STRIP, Sides};
use crate::pictures::axis::{Axis, LatencyAxis, PooledLatencies};
use crate::pictures::bins::{CurveOutline, OutlineStep, OutsideAxis, PixelBins};
use crate::pictures::curve::{Curve, OpenStretch, highest, latencies, named_count, open_stretch};
use crate::pictures::deadline::DeadlineMark;
use crate::pictures::legend::Entry;
use crate::pictures::svg::{INK, MUTED, Pen, hatch_style, hatched, line, n};
use crate::pictures::vertical_axis::VerticalAxis;
use crate::terms::Terms;
use crate::units::{four_digits, grouped};
use latlab_model::Bin;
use maud::{Markup, html};

/// What all areas of a chart share, so that they compare.
pub struct Shared {
    pub axis: LatencyAxis,
    pub terms: &'static Terms,
    pub heights: VerticalAxis,
    pub cells: PixelBins,
    pub sides: Sides,
    pub deadline: Option<DeadlineMark>,
}

pub struct Panel<'a> {
    pub series: &'a [Curve<'a>],
    drawn: Vec<CurveOutline>,
    pub outside: OutsideAxis,
}

/// The areas of a chart, each with these lines, and what they share. The horizontal axis has
/// `pixels` pixels.
pub fn panels<'a>(
    groups: &[&'a [Curve<'a>]],
    asked: Axis,
    pixels: f64,
    terms: &'static Terms,
    deadline: Option<DeadlineMark>,
) -> (Shared, Vec<Panel<'a>>) {
    let all = || groups.iter().flat_map(|group| group.iter());
    let max = all().filter_map(|series| series.max).max();
    let bins = all().flat_map(|series| series.bins.iter());
    let axis = LatencyAxis::choose(&PooledLatencies::from_bins(bins, max).with(deadline), asked);
    let lines: Vec<&[Bin]> = all().map(|series| &*series.bins).collect();
    let cells = PixelBins::new(&axis, pixels, &lines);
    let panels: Vec<Panel> =
        groups.iter().map(|series| Panel::new(series, &axis, &cells)).collect();
    let densities = panels.iter().flat_map(|panel| panel.densities(&cells));
    let masses = panels.iter().flat_map(|panel| [panel.outside.below, panel.outside.beyond]);
    let heights = VerticalAxis::holding(densities.chain(masses.map(|count| count as f64)));
    let sides = Sides {
        below: panels.iter().any(|panel| panel.outside.below > 0),
        beyond: panels.iter().any(|panel| panel.outside.beyond > 0),
    };
    (Shared { axis, terms, heights, cells, sides, deadline }, panels)
}

impl Shared {
    /// The title of the vertical axis.
    pub fn height_title(&self) -> String {
        format!("Count per bin (bins of {})", self.cells.unit_words())
    }

    fn x(&self, area: &Area, latency: f64) -> f64 {
        area.x(self.axis.place(latency))
    }

    fn y(&self, area: &Area, density: f64) -> f64 {
        area.y(self.heights.place(density))
    }

    /// Pixels per unit of width: a density over this many pixels is one latency.
    fn unit_pixels(&self, area: &Area) -> f64 {
        let whole = OutlineStep { first: 0, end: self.cells.len(), count: 0 };
        area.width() / self.cells.width(&whole).max(1e-9)
    }
}

/// The pen of a line; lines without a name look the same.
pub fn pen(index: usize, series: &[Curve]) -> Pen {
    match index < named_count(series) {
        true => series[index].pen(),
        false => Pen::background(),
    }
}

impl<'a> Panel<'a> {
    fn new(series: &'a [Curve<'a>], axis: &LatencyAxis, cells: &PixelBins) -> Panel<'a> {
        let bins = series.iter().flat_map(|series| series.bins.iter());
        Panel {
            series,
            drawn: series.iter().map(|one| CurveOutline::new(&one.bins, axis, cells)).collect(),
            outside: OutsideAxis::new(bins, axis).with_open(open_stretch(series), axis),
        }
    }

    fn densities(&self, cells: &PixelBins) -> impl Iterator<Item = f64> {
        self.drawn.iter().flat_map(|drawn| drawn.densities(cells))
    }

    /// The lines, and next to the axis the latencies outside of it.
    pub fn render(&self, shared: &Shared, area: &Area) -> Markup {
        html! {
            @if let Some(deadline) = shared.deadline { (deadline.across(&shared.axis, area.frame())) }
            (self.open(shared, area))
            (self.lines(shared, area))
            (self.masses(shared, area))
        }
    }

    /// The range of latencies whose individual sizes are unknown.
    fn open(&self, shared: &Shared, area: &Area) -> Markup {
        let Some(open) = self.drawn_open(shared) else { return html! {} };
        let to = open.to.map_or(area.right, |to| shared.x(area, to.0 as f64));
        let left = shared.x(area, open.from.0 as f64);
        hatched((left, area.top), (to, area.bottom), open.count)
    }

    fn drawn_open(&self, shared: &Shared) -> Option<OpenStretch> {
        open_stretch(self.series).filter(|open| (open.from.0 as f64) < shared.axis.to)
    }

    /// The line with the largest maximum comes last, so that it lies on top.
    fn lines(&self, shared: &Shared, area: &Area) -> Markup {
        html! {
            g stroke-linejoin="round" {
                @for index in (0..self.series.len()).rev() {
                    (self.one_line(index, shared, area))
                }
            }
            @for index in (0..named_count(self.series)).rev() {
                (self.mark_of_maximum(index, shared, area))
            }
        }
    }

    fn one_line(&self, index: usize, shared: &Shared, area: &Area) -> Markup {
        let (series, drawn) = (&self.series[index], &self.drawn[index]);
        let max = series.max.map(|max| max.0.to_string()).unwrap_or_default();
        html! {
            path d=(path(drawn, shared, area)) style=(pen(index, self.series).style())
                data-thread=(series.key()) data-count=(series.known_count()) data-drawn=(drawn.count())
                data-unit=(format!("{:.6}", shared.unit_pixels(area)))
                data-below=(drawn.below) data-beyond=(drawn.beyond) data-max-ns=(max) {}
        }
    }

    fn mark_of_maximum(&self, index: usize, shared: &Shared, area: &Area) -> Markup {
        if self.series[index].pen.is_none() {
            return html! {};
        }
        let (drawn, series) = (&self.drawn[index], &self.series[index]);
        if series.open.is_some_and(|open| open.to.is_none()) {
            return html! {};
        }
        let pen = pen(index, self.series);
        let mark = |x: f64, height: f64| pen.mark(x, shared.y(area, height));
        match (drawn.beyond, drawn.steps.last(), series.max) {
            (0, _, Some(max)) if series.open.is_some() && max.0 as f64 <= shared.axis.to => {
                mark(shared.x(area, max.0 as f64), 1.0)
            }
            (1.., _, _) => mark(area.right + STRIP * 0.6, drawn.beyond as f64),
            (0, Some(last), Some(max)) => {
                mark(shared.x(area, max.0 as f64), last.density(&shared.cells))
            }
            _ => html! {},
        }
    }

    /// Whether it has latencies, but none on the axis.
    pub fn is_outside(&self) -> bool {
        let OutsideAxis { below, beyond, .. } = self.outside;
        let all = latencies(self.series);
        all > 0 && below.saturating_add(beyond) >= all
    }

    /// Describes the latencies beyond the axis.
    pub fn beyond_words(&self, shared: &Shared) -> Option<Vec<String>> {
        (self.outside.beyond > 0).then(|| {
            vec![
                format!("{} beyond {}", grouped(self.outside.beyond), shared.axis.end()),
                format!("up to {}", four_digits(highest(self.series).unwrap_or_default())),
            ]
        })
    }

    /// Describes the latencies below the axis.
    pub fn below_words(&self, shared: &Shared) -> Option<Vec<String>> {
        (self.outside.below > 0).then(|| {
            let limit = match self.outside.negative_only {
                true => "zero".to_string(),
                false => latlab_model::Nanos(shared.axis.from as i64).to_string(),
            };
            let lowest = self.series.iter().filter_map(|series| series.min).min();
            vec![
                format!("{} below {limit}", grouped(self.outside.below)),
                format!("down to {}", four_digits(lowest.unwrap_or_default())),
            ]
        })
    }

    /// Both descriptions as legend entries.
    pub fn outside_entries(&self, shared: &Shared) -> impl Iterator<Item = Entry> {
        let words = [self.below_words(shared), self.beyond_words(shared)];
        let outside =
            words.into_iter().flatten().map(|words| Entry::area(mass_style(), words.join(", ")));
        let open = self.drawn_open(shared).map(|open| open.words(shared.terms));
        outside.chain(open.map(|words| Entry::area(hatch_style(), words)))
    }

    /// The latencies outside of the axis: a separate bar, as high as their count.
    fn masses(&self, shared: &Shared, area: &Area) -> Markup {
        let OutsideAxis { below, beyond, .. } = self.outside;
        let (left, right) = (area.left, area.right);
        html! {
            @if beyond > 0 {
                (mass(right + STRIP * 0.28, right + STRIP * 0.92, beyond, shared, area))
                (line((right, area.top), (right, area.bottom), MUTED, 1.0))
            }
            @if below > 0 {
                (mass(left - STRIP * 0.82, left - STRIP * 0.18, below, shared, area))
                (line((left, area.top), (left, area.bottom), MUTED, 1.0))
            }
        }
    }
}

fn mass_style() -> String {
    format!("fill:{MUTED};fill-opacity:.25;stroke:{MUTED}")
}

fn mass(left: f64, right: f64, count: u64, shared: &Shared, area: &Area) -> Markup {
    let top = shared.y(area, count as f64);
    let bottom = area.bottom;
    html! {
        rect x=(n(left)) y=(n(top)) width=(n(right - left)) height=(n(bottom - top))
            style=(mass_style()) data-mass=(count) {}
        (line((left, bottom), (right, bottom), INK, 1.2))
    }
}

/// Up from the lower edge, along the steps, and down again wherever the count is zero.
fn path(drawn: &CurveOutline, shared: &Shared, area: &Area) -> String {
    let x = |edge: usize| shared.x(area, shared.cells.edge(edge));
    let mut path = String::new();
    let mut reached = None;
    for step in &drawn.steps {
        if reached != Some(step.first) {
            if reached.is_some() {
                path += &format!("V{}", n(area.bottom));
            }
            path += &format!("M{} {}", n(x(step.first)), n(area.bottom));
        }
        let height = shared.y(area, step.density(&shared.cells));
        path += &format!("V{}H{}", n(height), n(x(step.end)));
        reached = Some(step.end);
    }
    match reached {
        Some(_) => format!("{path}V{}", n(area.bottom)),
        None => path,
    }
}
