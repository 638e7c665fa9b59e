//! Responses against the phase of their stimuli: what recurs with a timer clusters in one place.

use crate::pictures::area::Tick;
use crate::pictures::area::{Area, BELOW, NAME_ACROSS, Sides};
use crate::pictures::axis::{LatencyAxis, PooledLatencies};
use crate::pictures::options::Options;
use crate::pictures::picture::{FIRST_LINE, Heading, Picture};
use crate::pictures::svg::n;
use crate::terms;
use crate::units::{Scale, grouped, trimmed};
use latlab_model::samples::Sample;
use latlab_model::{Bin, Nanos, Run};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Width of a dot, and of the cells in which dots are merged.
const DOT: f64 = 3.0;

/// The period by which times are folded, and the start of a period.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fold {
    pub period_ns: f64,
    /// The start of a period, from the start of the capture.
    pub origin_ns: f64,
}

impl Fold {
    /// From the periodic marker of a run; `None` if it has none.
    pub fn of_run(run: &Run) -> Option<Fold> {
        let marked = run.responses()?.marked.as_ref()?;
        let period_ns = marked.period_ns.filter(|period| *period >= 1.0)?;
        Some(Fold { period_ns, origin_ns: marked.first_ns.unwrap_or(0.0) })
    }

    fn place(&self, sample: &Sample) -> f64 {
        let since = sample.release_ns.0 as f64 - self.origin_ns;
        since.rem_euclid(self.period_ns) / self.period_ns
    }
}

pub fn draw(run: &Run, samples: &[Sample], fold: Fold, options: &Options) -> String {
    let bins: Vec<Bin> = samples.iter().map(bin).collect();
    let max = samples.iter().map(|sample| sample.latency_ns).max();
    let axis = LatencyAxis::choose(&PooledLatencies::from_bins(bins.iter(), max), options.axis);
    let period = Nanos(fold.period_ns.round() as i64);
    let by = run.responses().and_then(|responses| responses.marked.as_ref());
    let since = by.map(|marked| format!("since {} rose", marked.by));
    let since = since.unwrap_or_else(|| "of the stimulus".to_string());
    let name = &run.asked.name;
    let title = format!("Response times of {name} against the phase {since}");
    let condition = format!(
        "{} responses, each at the time of its stimulus modulo {period}",
        grouped(samples.len() as u64)
    );
    let width = options.drawn_width();
    let heading = Heading::new(&title, &[condition], width);
    let top = FIRST_LINE + heading.height();
    let area = Area::across(width, top, options.drawn_height(), Sides::default());
    let terms = terms::of_run(run);
    let scale = Scale::of_axis(period, Nanos(period.0 / 8));
    let across = format!("Phase {since}, in {}", scale.unit());
    let up = axis.ticks(area.height(), 40.0);
    let picture = Picture {
        options,
        height: area.bottom + BELOW,
        title,
        description: format!(
            "A dot for each response: horizontally the time of its stimulus modulo {period}, \
             vertically the response time, up to {}.",
            max.unwrap_or_default()
        ),
        latencies: samples.len() as u64,
    };
    picture.render(html! {
        (heading.render(FIRST_LINE))
        (area.furniture((&ticks(period, &scale, area.width()), &across), (&up, &axis.title(terms))))
        (dots(samples, fold, &axis, &area))
        @if samples.is_empty() { (area.empty_note(terms)) }
    })
}

fn bin(sample: &Sample) -> Bin {
    let low_ns = sample.latency_ns;
    Bin { low_ns, high_ns: low_ns + Nanos(1), count: 1 }
}

fn ticks(period: Nanos, scale: &Scale, width: f64) -> Vec<Tick> {
    let count = (width / NAME_ACROSS).clamp(2.0, 8.0).floor();
    let tick = |index: u32| {
        let place = f64::from(index) / count;
        Tick { place, name: trimmed(scale.number_f64(place * period.0 as f64)) }
    };
    (0..=count as u32).map(tick).collect()
}

/// Merges dots that would cover each other; the more one stands for, the darker it is.
fn dots(samples: &[Sample], fold: Fold, axis: &LatencyAxis, area: &Area) -> Markup {
    let mut cells: BTreeMap<(i64, i64), u64> = BTreeMap::new();
    for sample in samples {
        let x = area.x(fold.place(sample));
        let y = area.y(axis.place(sample.latency_ns.0 as f64));
        *cells.entry(((x / DOT) as i64, (y / DOT) as i64)).or_insert(0) += 1;
    }
    html! {
        g style="fill:var(--ll-1,#0062a3)" {
            @for ((x, y), count) in cells {
                rect x=(n(x as f64 * DOT)) y=(n(y as f64 * DOT)) width=(n(DOT)) height=(n(DOT))
                    opacity=[(count < 3).then_some("0.6")] {}
            }
        }
    }
}
