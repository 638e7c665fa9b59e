//! `flow`: latency over time, with the conditions below on the same axis.

use super::canvas::{Canvas, TimeArea};
use super::data::TimeData;
use super::findings::FindingMarks;
use super::panel::{Panel, heading, keys};
use super::scale::LatencyHeights;
use super::strips::strips;
use super::{LatencyScale, TimeOptions, threads};
use crate::pictures::deadline::DeadlineMark;
use crate::pictures::run_pens::RunPens;
use crate::pictures::svg::{INK, Pen, n};
use crate::sentence;
use crate::terms;
use crate::units::{counted, four_digits, span};
use latlab_model::{Nanos, Run};
use latlab_stats::Span;
use maud::html;

/// If there are more threads, they share a panel, and each gets a row of colours.
const PANELS: usize = 4;
const STRIP_HEIGHT: f64 = 44.0;

/// Latency over time as one SVG element: minimum, median, p99.9 and maximum of each second or
/// column, overruns, findings, and the conditions.
pub fn flow(run: &Run, data: &TimeData, options: &TimeOptions) -> String {
    let mut canvas =
        Canvas::new(run, data, options, &format!("{} over time", terms::of_run(run).title));
    let threads = data.thread_spans();
    let (heights, deadline) = heights(run, data, options);
    let overruns = threads.iter().flat_map(|(_, spans)| spans).any(|span| span.overruns > 0);
    match data.dots.is_empty() {
        true => {
            let deadline = deadline.map(|one| one.legend_words(heights.to));
            let keys = keys(overruns, is_joined(run, data), has_limits(&threads), deadline);
            canvas.keys("", keys);
        }
        false => canvas.sentences(&[
            "Each cycle is a dot; dots that would overlap are drawn once.".to_string(),
        ]),
    }
    canvas.y += 4.0;
    let marks = FindingMarks::new(run, &mut canvas);
    let mut areas = panels(&mut canvas, run, data, &heights, &threads);
    let strips = strips(run, data);
    for strip in &strips.all {
        strip.draw(&mut canvas, data, STRIP_HEIGHT);
        areas.push(TimeArea { left: 0.0, right: 0.0, top: canvas.y, bottom: canvas.y });
    }
    marks.draw(&mut canvas, &areas);
    canvas.time_axis();
    let notes = strips.absent.into_iter().chain(marks.unnamed()).chain(few(data, &threads));
    let notes: Vec<String> = notes.collect();
    canvas.sentences(&notes);
    let conditions = strips.all.iter().filter_map(|strip| Some(format!("{}.", strip.words()?)));
    let words: Vec<String> = description(run, data, &threads)
        .into_iter()
        .chain(marks.words(data.start))
        .chain(conditions)
        .chain(notes)
        .collect();
    let title =
        format!("{} over time of {}", terms::of_run(run).title, sentence::machine_name(run));
    canvas.finish("flow", &title, &words.join(" "))
}

/// Whether a column has only an upper limit for p99.9.
fn has_limits(threads: &[(u32, Vec<Span>)]) -> bool {
    threads.iter().flat_map(|(_, spans)| spans).any(|span| span.p99_9_is_limit)
}

/// Explains what replaces p99.9 in columns with few cycles.
fn few(data: &TimeData, threads: &[(u32, Vec<Span>)]) -> Option<String> {
    let few = data.dots.is_empty() && has_limits(threads);
    let text = "With fewer than 1000 cycles p99.9 is only limited: it is at most the largest.";
    few.then(|| text.to_string())
}

/// Whether a column holds more than one interval.
fn is_joined(run: &Run, data: &TimeData) -> bool {
    let column = data.grid.range_of(0);
    column.end - column.start > run.asked.keep.interval_ns
}

fn panels(
    canvas: &mut Canvas,
    run: &Run,
    data: &TimeData,
    heights: &LatencyHeights,
    threads: &[(u32, Vec<Span>)],
) -> Vec<TimeArea> {
    let deadline = DeadlineMark::of_runs([run]);
    if threads.is_empty() || threads.len() > PANELS {
        let pooled = data.pooled();
        let max = known_max(run, data, &pooled, None);
        let name = format!("All {} threads together", threads.len());
        let panel = Panel { thread: None, name, colour: INK, spans: &pooled, max, deadline };
        let mut areas = vec![one(canvas, data, &panel, heights, 200.0)];
        areas.extend(threads::rows(canvas, run, threads));
        return areas;
    }
    let pens = RunPens::new(run);
    let height = [220.0, 170.0, 140.0, 120.0][threads.len() - 1];
    let panel = |(thread, spans): &(u32, Vec<Span>)| {
        let max = known_max(run, data, spans, Some(*thread));
        let colour = Pen::number(pens.thread(*thread)).colour;
        let name = name(run, *thread);
        let panel = Panel { thread: Some(*thread), name, colour, spans, max, deadline };
        one(canvas, data, &panel, heights, height)
    };
    threads.iter().map(panel).collect()
}

/// The axis of all panels, and the deadline on it.
fn heights(
    run: &Run,
    data: &TimeData,
    options: &TimeOptions,
) -> (LatencyHeights, Option<DeadlineMark>) {
    let pooled = data.pooled();
    let min = pooled.iter().filter_map(|span| span.min).min().unwrap_or_default();
    let max = pooled.iter().filter_map(|span| span.max).max().unwrap_or_default();
    let scale = match options.scale {
        // Most dots lie near the smallest latency.
        LatencyScale::Auto if !data.dots.is_empty() && max > min.max(Nanos(1_000)) * 12 => {
            LatencyScale::Log
        }
        asked => asked,
    };
    let deadline = DeadlineMark::of_runs([run]);
    (LatencyHeights::holding(&pooled, scale, deadline), deadline)
}

fn one(
    canvas: &mut Canvas,
    data: &TimeData,
    panel: &Panel,
    heights: &LatencyHeights,
    height: f64,
) -> TimeArea {
    let cycles = !data.dots.is_empty();
    // Samples show the exact time of overruns; columns extend beyond a window.
    let overruns = if cycles { data.dots.overruns(panel.thread) } else { panel.spans.to_vec() };
    let count = overruns.iter().map(|span| span.overruns).fold(0, u64::saturating_add);
    let of_overruns = match count {
        0 => String::new(),
        overruns => format!(", {}", counted(overruns, "overrun", "overruns")),
    };
    let largest = panel.max.map(|(max, _)| format!(": largest {}", four_digits(max)));
    heading(canvas, &format!("{}{}{of_overruns}", panel.name, largest.unwrap_or_default()));
    if !cycles {
        return panel.draw(canvas, heights, height);
    }
    let empty = Panel { spans: &overruns, name: String::new(), ..*panel };
    let area = empty.draw_empty(canvas, heights, height);
    let (mut path, mut count) = (String::new(), 0);
    for dot in data.dots.of_thread(panel.thread) {
        let (x, latency) = (canvas.axis.x(dot.sample.release_ns), dot.sample.latency_ns.0 as f64);
        path += &format!("M{} {}h0", n(x), n(area.y(heights.place(latency))));
        count += dot.count;
    }
    let style = format!("stroke:{};stroke-width:2.2;stroke-linecap:round", panel.colour);
    canvas.draw(html! {
        path d=(path) style=(style) data-thread=[panel.thread] data-samples=(count) {}
    });
    area
}

fn name(run: &Run, thread: u32) -> String {
    let known = run.threads.iter().find(|known| known.setup.thread == thread);
    let cpu = known.and_then(|known| known.setup.cpu);
    cpu.map_or(format!("Thread {thread}"), |cpu| format!("Thread {thread}, CPU {cpu}"))
}

/// The largest latency of the columns, with its release if the run or a spike has it.
fn known_max(
    run: &Run,
    data: &TimeData,
    spans: &[Span],
    thread: Option<u32>,
) -> Option<(Nanos, Option<Nanos>)> {
    let max = spans.iter().filter_map(|span| span.max).max()?;
    let known = run.threads.iter().filter(|one| thread.is_none_or(|t| t == one.setup.thread));
    let mut summaries = known.map(|one| &one.summary).filter(|one| one.max_ns == Some(max));
    let release = summaries.find_map(|one| one.max_at_ns);
    let spike = data.spikes.iter().flatten().find(|spike| spike.latency_ns == max);
    Some((max, release.or(spike.map(|spike| spike.release_ns))))
}

/// Description of the chart for screen readers.
fn description(run: &Run, data: &TimeData, threads: &[(u32, Vec<Span>)]) -> Vec<String> {
    let column = data.grid.range_of(0);
    let mut words = vec![format!(
        "{}. Columns of {}: smallest, median, p99.9 and largest {} over the time since the \
         start.",
        sentence::conditions(run),
        span(column.end - column.start),
        terms::of_run(run).one,
    )];
    let mut largest: Vec<(Nanos, u32, u64)> = threads
        .iter()
        .filter_map(|(thread, spans)| {
            let overruns = spans.iter().map(|span| span.overruns).sum();
            Some((spans.iter().filter_map(|span| span.max).max()?, *thread, overruns))
        })
        .collect();
    largest.sort_by_key(|(max, thread, _)| (std::cmp::Reverse(*max), *thread));
    words.extend(largest.iter().take(8).map(|(max, thread, overruns)| {
        format!(
            "{}: largest {}, {}.",
            name(run, *thread),
            four_digits(*max),
            counted(*overruns, "overrun", "overruns")
        )
    }));
    words
}
