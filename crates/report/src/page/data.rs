//! The data of a run inside the page, for scripts and for a reader who has only the page: the run
//! document as stored, and the rows of its tables.

use super::PageRun;
use super::packed::Columns;
use crate::document::Section;
use crate::document::outline::Outline;
use crate::pictures::curve::{Curve, OpenStretch, thread_name};
use crate::pictures::run_pens::RunPens;
use crate::pictures::time::{Strip, measured_strips};
use crate::units::span;
use latlab_model::histogram::censored_above;
use latlab_model::{Bin, Nanos, ThreadBins};
use latlab_stats::Span;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use std::collections::BTreeSet;

/// If a run has more bins than this, bins too narrow to tell apart on a screen are joined.
const MOST_BINS: usize = 60_000;
/// Relative width of a joined bin.
const JOINED: f64 = 0.01;
/// Conditions are read each second; a longer column holds several readings.
const READING: Nanos = Nanos(1_500_000_000);

/// What the scripts must know in addition to the columns.
#[derive(Serialize)]
struct Head<'a> {
    id: &'a str,
    name: &'a str,
    started: &'a str,
    measured_s: f64,
    deadline_ns: Option<Nanos>,
    /// Length of a column, for latencies and for conditions.
    step_s: f64,
    conditions_step_s: f64,
    /// Intervals of the run joined into one column.
    joined: u64,
    bins_joined: bool,
    threads: Vec<Thread>,
    strips: Vec<StripHead<'a>>,
    findings: Vec<Mark<'a>>,
    columns: Vec<String>,
}

#[derive(Serialize)]
struct Thread {
    thread: u32,
    name: String,
    cpu: Option<u32>,
    max_ns: Option<Nanos>,
    max_is_at_least: bool,
    open: Option<Open>,
    /// Number of the pen, the same in every chart.
    pen: usize,
}

/// Latencies of which only a lower bound is known.
#[derive(Serialize)]
struct Open {
    from_ns: Nanos,
    /// The largest of them.
    to_ns: Option<Nanos>,
    count: u64,
}

impl From<OpenStretch> for Open {
    fn from(open: OpenStretch) -> Open {
        Open { from_ns: open.from, to_ns: open.to, count: open.count }
    }
}

#[derive(Serialize)]
struct StripHead<'a> {
    title: &'a str,
    unit: &'a str,
    lines: Vec<&'a str>,
    pens: &'a [usize],
}

#[derive(Serialize)]
struct Mark<'a> {
    code: &'a str,
    at_s: f64,
}

pub(crate) struct ChartLine<'a> {
    /// Lines of one group share a chart.
    pub group: String,
    pub pen: usize,
    pub deadline_ns: Option<Nanos>,
    /// Name, counts and maximum.
    pub curve: Curve<'a>,
}

#[derive(Serialize)]
struct LinesHead<'a> {
    lines: Vec<LineHead<'a>>,
    columns: Vec<String>,
}

#[derive(Serialize)]
struct LineHead<'a> {
    group: &'a str,
    name: &'a str,
    pen: usize,
    deadline_ns: Option<Nanos>,
    max_ns: Option<Nanos>,
    open: Option<Open>,
}

/// The data of latency charts alone, for a page that is not about a single run.
pub(crate) fn chart_data(lines: &[ChartLine]) -> Markup {
    let mut columns = Columns::default();
    let bins = lines
        .iter()
        .zip(0..)
        .map(|(line, thread)| ThreadBins { thread, bins: line.curve.bins.to_vec() });
    add_bins(&bins.collect::<Vec<_>>(), &mut columns);
    let (names, packed) = columns.finish();
    let lines = lines.iter().map(|line| LineHead {
        group: &line.group,
        name: &line.curve.name,
        pen: line.pen,
        deadline_ns: line.deadline_ns,
        max_ns: line.curve.max,
        open: line.curve.open.map(Open::from),
    });
    let head = LinesHead { lines: lines.collect(), columns: names };
    let head = serde_json::to_string(&head).unwrap_or_default();
    html! {
        script type="application/json" #lines { (PreEscaped(inert(&head))) }
        script type="text/plain" #packed { (packed) }
    }
}

/// What was thinned out, links that save the embedded data, and the data.
pub fn section(of: &PageRun, outline: &Outline) -> Section {
    let mut columns = Columns::default();
    let bins_joined = add_bins(of.bins, &mut columns);
    let threads = add_rows(of, &mut columns);
    let strips = measured_strips(of.run, of.fine);
    add_strips(of, &strips, &mut columns);
    let (names, packed) = columns.finish();
    let step = of.fine.step();
    let joined = (step.0 / of.run.asked.keep.interval_ns.0.max(1)) as u64;
    let head = Head {
        id: &of.run.id,
        name: &of.run.asked.name,
        started: &of.run.started,
        measured_s: of.run.measured_ns.as_secs_f64(),
        deadline_ns: of.run.asked.until.deadline_ns,
        step_s: step.as_secs_f64(),
        conditions_step_s: of.fine.conditions_step().as_secs_f64(),
        joined,
        bins_joined,
        threads,
        strips: strips.iter().map(strip_head).collect(),
        findings: marks(of),
        columns: names,
    };
    // Our own numbers and strings always serialize to JSON.
    let head = serde_json::to_string(&head).unwrap_or_default();
    let content = html! {
        p data-save=(outline.prefix()) { (embedded_data(of, joined, step, bins_joined)) }
        script type="application/json" id=(outline.id("document")) { (PreEscaped(inert(of.document))) }
        script type="application/json" id=(outline.id("head")) { (PreEscaped(inert(&head))) }
        script type="text/plain" id=(outline.id("packed")) { (packed) }
    };
    Section::new("data", "Data in this page").html(content)
}

fn embedded_data(of: &PageRun, joined: u64, step: Nanos, bins_joined: bool) -> String {
    let mut words = "This page contains run.json as stored, ".to_string();
    words += &match joined {
        0 | 1 => format!("the figures of every {}", span(step)),
        many => format!(
            "the figures of every {}, each combined from {many} intervals (the largest latency \
             and the sum of the overruns)",
            span(step),
        ),
    };
    words += match bins_joined {
        true => ", and the histogram with bins of 1 % of their latency.",
        false => ", and every bin of the histogram.",
    };
    if of.run.conditions.is_some() {
        let step = span(of.fine.conditions_step());
        words += &format!(" Conditions are means of {step}.");
    }
    words
}

/// Escapes text so that it neither ends a script element nor steers a terminal that prints the
/// page.
fn inert(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut units = [0_u16; 2];
    for c in json.chars() {
        match c {
            ' '..='~' if c != '<' => text.push(c),
            '\n' => text.push(c),
            _ => c
                .encode_utf16(&mut units)
                .iter()
                .for_each(|unit| text.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    text
}

/// Adds the edges of all bins and, for each thread, the non-empty bins; returns whether bins had to
/// be joined.
fn add_bins(threads: &[ThreadBins], columns: &mut Columns) -> bool {
    let is_joined = threads.iter().map(|one| one.bins.len()).sum::<usize>() > MOST_BINS;
    let threads: Vec<Vec<Bin>> = match is_joined {
        true => {
            let edges = joined_edges(threads);
            let known = |one: &ThreadBins| -> Vec<Bin> {
                one.bins.iter().copied().filter(Bin::has_end).collect()
            };
            threads.iter().map(|one| join_bins(&known(one), &edges)).collect()
        }
        false => threads.iter().map(|one| one.bins.clone()).collect(),
    };
    let known = |bins: Vec<Bin>| bins.into_iter().filter(Bin::has_end).collect();
    let threads: Vec<Vec<Bin>> = threads.into_iter().map(known).collect();
    let of_bin = |bin: &Bin| [bin.low_ns, bin.high_ns];
    let edges: BTreeSet<Nanos> = threads.iter().flatten().flat_map(of_bin).collect();
    let edges: Vec<Nanos> = edges.into_iter().collect();
    columns.add("edges".into(), edges.iter().map(|edge| Some(edge.0)));
    let place = |edge: Nanos| edges.partition_point(|known| *known < edge) as i64;
    for (index, bins) in threads.iter().enumerate() {
        let mut add = |name: &str, of: &dyn Fn(&Bin) -> i64| {
            columns.add(format!("bins{index}.{name}"), bins.iter().map(|bin| Some(of(bin))));
        };
        add("first", &|bin| place(bin.low_ns));
        add("end", &|bin| place(bin.high_ns));
        add("count", &|bin| i64::try_from(bin.count).unwrap_or(i64::MAX));
    }
    is_joined
}

/// The open-ended rows of a thread.
fn open_of(rows: &[Bin], to_ns: Option<Nanos>) -> Option<Open> {
    let open = rows.iter().filter(|bin| !bin.has_end());
    let count = open.fold(0, |sum: u64, bin| sum.saturating_add(bin.count));
    censored_above(rows).map(|from_ns| Open { from_ns, to_ns, count })
}

/// Edges of bins with a constant relative width.
fn joined_edges(threads: &[ThreadBins]) -> Vec<Nanos> {
    let all = threads.iter().flat_map(|one| &one.bins).filter(|bin| bin.has_end());
    let all: BTreeSet<Nanos> = all.flat_map(|bin| [bin.low_ns, bin.high_ns]).collect();
    let mut edges: Vec<Nanos> = Vec::new();
    for edge in all {
        let wanted = edges.last().map(|last| last.0 as f64 + last.0.max(0) as f64 * JOINED);
        if wanted.is_none_or(|wanted| edge.0 as f64 >= wanted) {
            edges.push(edge);
        }
    }
    edges
}

/// Joins bins so that each reaches from one of these edges to the next, or to its own end if it is
/// the last.
fn join_bins(bins: &[Bin], edges: &[Nanos]) -> Vec<Bin> {
    let mut all: Vec<Bin> = Vec::new();
    for bin in bins {
        let next = edges.partition_point(|edge| *edge <= bin.low_ns);
        let low_ns = edges[next.saturating_sub(1)];
        let high_ns = edges.get(next).copied().unwrap_or(bin.high_ns).max(bin.high_ns);
        match all.last_mut() {
            Some(last) if last.low_ns == low_ns => {
                last.high_ns = last.high_ns.max(high_ns);
                last.count = last.count.saturating_add(bin.count);
            }
            _ => all.push(Bin { low_ns, high_ns, count: bin.count }),
        }
    }
    all
}

/// Adds the rows over time of each thread, in the order of the threads in the bins.
fn add_rows(of: &PageRun, columns: &mut Columns) -> Vec<Thread> {
    let rows = of.fine.thread_spans();
    let pens = RunPens::new(of.run);
    let head = |bins: &ThreadBins| {
        let known = of.run.threads.iter().find(|one| one.setup.thread == bins.thread);
        let cpu = known.and_then(|one| one.setup.cpu);
        Thread {
            thread: bins.thread,
            name: thread_name(of.run, bins.thread, cpu),
            cpu,
            max_ns: known.and_then(|one| one.summary.max_ns),
            max_is_at_least: known.is_some_and(|one| one.summary.max_is_at_least),
            open: open_of(&bins.bins, known.and_then(|one| one.summary.max_ns)),
            pen: pens.thread(bins.thread),
        }
    };
    let threads: Vec<Thread> = of.bins.iter().map(head).collect();
    for (index, one) in threads.iter().enumerate() {
        let spans = rows.iter().find(|(thread, _)| *thread == one.thread);
        let spans = spans.map_or(&[][..], |(_, spans)| spans);
        let mut add = |name: &str, value: &dyn Fn(&Span) -> Option<i64>| {
            columns.add(format!("rows{index}.{name}"), spans.iter().map(value));
        };
        let step = of.fine.step().0;
        let count = |number: u64| Some(i64::try_from(number).unwrap_or(i64::MAX));
        add("part", &|span| Some(of.fine.part(span.from) as i64));
        // An interval begins and ends with a release, so it rarely aligns with a column.
        add("parts", &|span| Some((((span.to - span.from).0 + step / 2) / step).max(1)));
        add("count", &|span| count(span.count));
        add("overruns", &|span| count(span.overruns));
        add("min", &|span| Some(span.min?.0));
        add("median", &|span| Some(span.median?.round() as i64));
        add("p99_9", &|span| Some(span.p99_9?.0));
        add("limit", &|span| Some(i64::from(span.p99_9_is_limit)));
        add("max", &|span| Some(span.max?.0));
    }
    threads
}

fn strip_head(strip: &Strip) -> StripHead<'_> {
    let lines = strip.tracks.iter().map(|(name, _)| name.as_str()).collect();
    StripHead { title: strip.title, unit: strip.unit, lines, pens: &strip.pens }
}

/// Adds the values of each line in tenths of its unit; if a column holds several readings, also the
/// smallest and the largest.
fn add_strips(of: &PageRun, strips: &[Strip], columns: &mut Columns) {
    let has_range = of.fine.conditions_step() > READING;
    for (strip, one) in strips.iter().enumerate() {
        for (line, (_, track)) in one.tracks.iter().enumerate() {
            let tenths = |value: f64| (value * 10.0).round() as i64;
            let steps = || track.steps().iter();
            let name = |figure: &str| format!("strip{strip}.{line}.{figure}");
            columns.add(name("mean"), steps().map(|step| Some(tenths(step.as_ref()?.mean))));
            if has_range {
                columns.add(name("low"), steps().map(|step| Some(tenths(step.as_ref()?.low))));
                columns.add(name("high"), steps().map(|step| Some(tenths(step.as_ref()?.high))));
            }
        }
    }
}

fn marks<'a>(of: &PageRun<'a>) -> Vec<Mark<'a>> {
    let first = of.run.first_release();
    let mark = |finding: &'a latlab_model::run::Finding| {
        let at_s = (finding.at_ns? - first?).as_secs_f64().max(0.0);
        Some(Mark { code: finding.code(), at_s })
    };
    of.run.findings.iter().filter_map(mark).collect()
}
