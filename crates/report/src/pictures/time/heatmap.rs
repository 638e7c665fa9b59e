//! `heatmap`: how many latencies had which size, over time; darker is more.

use super::canvas::{Canvas, Key, KeyStyle, TimeArea};
use super::data::TimeData;
use super::findings::FindingMarks;
use super::palette::{LEVELS, Shades};
use super::panel::stepped;
use super::scale::LatencyHeights;
use super::threads::{legend, paper};
use super::{TimeOptions, palette};
use crate::pictures::deadline::DeadlineMark;
use crate::pictures::svg::n;
use crate::sentence;
use crate::terms;
use crate::units::{four_digits, grouped, trimmed};
use latlab_model::{Nanos, Run};
use maud::html;

const HEIGHT: f64 = 330.0;
/// Colour of what is drawn on the ground, which is light in dark mode too.
const ON_PAPER: &str = "#1b1f24";

/// Latency over time as one SVG element: colours for the counts, and a line for the maximum of each
/// column.
pub fn heatmap(run: &Run, data: &TimeData, options: &TimeOptions) -> String {
    let mut canvas =
        Canvas::new(run, data, options, &format!("{} over time", terms::of_run(run).title));
    let shades = Shades::holding(rates(data));
    let pooled = data.pooled();
    let deadline = DeadlineMark::of_runs([run]);
    let heights = heights(data, &pooled, deadline);
    if shades.is_some() {
        canvas.keys("", keys(deadline, &heights));
    }
    let marks = FindingMarks::new(run, &mut canvas);
    let area = canvas.area(HEIGHT);
    paper(&mut canvas, &area);
    if let Some(deadline) = deadline {
        canvas.draw(deadline.upwards(heights.to, |at| heights.place(at), area.frame()));
    }
    for (latency, words) in heights.ticks(area.height()) {
        canvas.level(&area, area.y(heights.place(latency)), &words);
    }
    match shades {
        Some(shades) => cells(&mut canvas, data, &shades, &heights, &area),
        None => canvas.empty_note(&area, "Nothing was recorded."),
    }
    if let Some(deadline) = deadline {
        let place = |at| heights.place(at);
        canvas.draw(deadline.line_upwards(heights.to, place, area.frame()));
    }
    maxima(&mut canvas, data, &heights, &area);
    canvas.frame(&area);
    marks.draw(&mut canvas, &[area]);
    canvas.time_axis();
    if let Some(shades) = &shades {
        let title = &format!("{} per second, thread and bin", terms::of_run(run).titles);
        legend(&mut canvas, title, shades, &two_digits);
    }
    let below: Vec<String> = below_zero(data).into_iter().chain(marks.unnamed()).collect();
    canvas.sentences(&below);
    let words: Vec<String> =
        std::iter::once(description(run, &pooled)).chain(marks.words(data.start)).collect();
    let title = format!(
        "Density of {} over time of {}",
        terms::of_run(run).many,
        sentence::machine_name(run)
    );
    canvas.finish("heatmap", &title, &words.join(" "))
}

fn keys(deadline: Option<DeadlineMark>, heights: &LatencyHeights) -> Vec<Key> {
    let line =
        KeyStyle::Line(format!("fill:none;stroke:var(--ll-ink,{ON_PAPER});stroke-width:1.4"));
    let deadline = deadline.map(|one| Key {
        look: KeyStyle::Patch(DeadlineMark::style()),
        words: one.legend_words(heights.to),
    });
    let largest = Key { look: line, words: "largest of each column".to_string() };
    std::iter::once(largest).chain(deadline).collect()
}

fn rates(data: &TimeData) -> impl Iterator<Item = f64> + '_ {
    let bins = 0..data.heat.edges.len();
    data.heat.columns().flat_map(move |column| bins.clone().map(|bin| column.rate(bin)))
}

/// From the lowest non-empty bin to above the largest latency.
fn heights(
    data: &TimeData,
    pooled: &[latlab_stats::Span],
    deadline: Option<DeadlineMark>,
) -> LatencyHeights {
    let max = pooled.iter().filter_map(|span| span.max).max().unwrap_or(Nanos(1_000_000));
    let max = DeadlineMark::needed(deadline, max);
    let lowest = data.heat.used().map_or(1_000, |used| data.heat.edges[used.start]);
    LatencyHeights::decades((lowest as f64).max(500.0), (max.0 as f64).max(2_000.0))
}

fn cells(
    canvas: &mut Canvas,
    data: &TimeData,
    shades: &Shades,
    heights: &LatencyHeights,
    area: &TimeArea,
) {
    let mut levels = vec![(String::new(), 0_u64); LEVELS];
    let edge = |bin: usize| data.heat.edges.get(bin).map_or(heights.to, |edge| *edge as f64);
    for bin in data.heat.used().unwrap_or(0..0) {
        let (low, high) = (area.y(heights.place(edge(bin))), area.y(heights.place(edge(bin + 1))));
        let mut run: Option<(usize, Nanos, Nanos)> = None;
        let close = |levels: &mut Vec<(String, u64)>, done: (usize, Nanos, Nanos)| {
            let (level, from, to) = done;
            let (from, to) = canvas.axis.pair(from, to);
            levels[level].0 += &format!("M{from} {}H{to}V{}H{from}z", n(high), n(low));
        };
        for column in data.heat.columns() {
            let level = (column.counts[bin] > 0).then(|| shades.level(column.rate(bin)));
            if let Some(level) = level {
                levels[level].1 += column.counts[bin];
            }
            // Adjacent cells of one colour are merged.
            match (&mut run, level) {
                (Some((known, _, to)), Some(level))
                    if *known == level && column.stretch.start <= *to =>
                {
                    *to = column.stretch.end;
                    continue;
                }
                _ => {}
            }
            if let Some(done) = run.take() {
                close(&mut levels, done);
            }
            run = level.map(|level| (level, column.stretch.start, column.stretch.end));
        }
        if let Some(done) = run {
            close(&mut levels, done);
        }
    }
    for (level, (path, count)) in levels.iter().enumerate().filter(|(_, level)| level.1 > 0) {
        let style = format!("fill:{}", palette::colour(level));
        canvas.draw(html! {
            path d=(path) style=(style) shape-rendering="crispEdges" data-level=(level)
                data-count=(count) {}
        });
    }
}

/// The maximum of each column as a line, and the spikes with a known release.
fn maxima(canvas: &mut Canvas, data: &TimeData, heights: &LatencyHeights, area: &TimeArea) {
    let pooled = data.pooled();
    let y = |latency: Nanos| area.y(heights.place(latency.0 as f64));
    let path = stepped(canvas, &pooled, |span| span.max.map(y));
    let max = pooled.iter().filter_map(|span| span.max).max();
    let style = format!("fill:none;stroke:{ON_PAPER};stroke-width:1.2");
    canvas.draw(html! {
        path d=(path) style=(style) data-line="max" data-max-ns=[max.map(|max| max.0)]
            data-from-ns=(n(heights.from)) data-to-ns=(n(heights.to))
            data-top=(n(area.top)) data-bottom=(n(area.bottom)) {}
    });
    let largest = max.and_then(|max| data.spikes.iter().flatten().find(|s| s.latency_ns == max));
    if let Some(spike) = largest {
        let (x, y) = (canvas.axis.x(spike.release_ns), y(spike.latency_ns));
        let style = format!("fill:none;stroke:{ON_PAPER};stroke-width:1.8");
        canvas.draw(html! { circle cx=(n(x)) cy=(n(y)) r="4.5" style=(style) {} });
    }
}

/// A number with two significant digits.
fn two_digits(value: f64) -> String {
    let decimals = (1.0 - value.log10().floor()).clamp(0.0, 9.0) as usize;
    trimmed(format!("{value:.decimals$}"))
}

fn below_zero(data: &TimeData) -> Option<String> {
    let lowest = data.pooled().iter().filter_map(|span| span.min).min()?;
    (lowest < Nanos::ZERO)
        .then(|| format!("Some latencies were below zero, down to {lowest}: they are not drawn."))
}

fn description(run: &Run, pooled: &[latlab_stats::Span]) -> String {
    let count = pooled.iter().map(|span| span.count).fold(0, u64::saturating_add);
    let max = pooled.iter().filter_map(|span| span.max).max();
    let many = terms::of_run(run).many;
    let max = max.map_or("none".to_string(), four_digits);
    format!(
        "{}. Time horizontally, {} vertically, logarithmic; the darker, the more {many}. {} \
         {many} are drawn; the largest is {max}.",
        sentence::conditions(run),
        terms::of_run(run).one,
        grouped(count),
    )
}
