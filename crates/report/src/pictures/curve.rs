//! The lines of a chart: one for each measuring thread of a run, or one for each of several runs.

use crate::pictures::run_pens::RunPens;
use crate::pictures::svg::Pen;
use crate::run_with_bins::{RunWithBins, names};
use crate::sections::attach;
use crate::terms::Terms;
use crate::units::{counted, four_digits};
use latlab_model::histogram::censored_above;
use latlab_model::run::{Summary, ThreadRun};
use latlab_model::{Bin, Nanos, Run, ThreadBins};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// More lines cannot be told apart; the others are grey.
pub const NAMED_LINES: usize = 12;
/// If there are more, this many with the largest maxima keep a colour and a name.
const NAMED_OF_MANY: usize = 8;

/// One line of a chart; the default has no name and no latencies.
#[derive(Default)]
pub struct Curve<'a> {
    /// `thread 0, CPU 1`, or the name of a run.
    pub name: String,
    /// `None` for all threads of a run.
    pub thread: Option<u32>,
    pub cpu: Option<u32>,
    /// Number of the pen, the same in every chart; `None` in the background.
    pub pen: Option<usize>,
    /// The counts in ascending order.
    pub bins: Cow<'a, [Bin]>,
    /// Latencies of which only a lower bound is known.
    pub open: Option<OpenStretch>,
    /// The number of all latencies.
    pub count: u64,
    pub min: Option<Nanos>,
    pub mean: Option<f64>,
    /// The largest known latency.
    pub max: Option<Nanos>,
    /// Whether a larger one may be missing.
    pub max_is_at_least: bool,
}

/// Latencies whose individual sizes are unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenStretch {
    /// Their lower bound.
    pub from: Nanos,
    /// The largest of them; `None` if it is not known.
    pub to: Option<Nanos>,
    pub count: u64,
}

impl OpenStretch {
    pub fn with(self, other: OpenStretch) -> OpenStretch {
        OpenStretch {
            from: self.from.min(other.from),
            to: self.to.zip(other.to).map(|(one, other)| one.max(other)),
            count: self.count.saturating_add(other.count),
        }
    }

    /// `500 latencies between 400 us and 1.28 ms`.
    pub fn words(&self, terms: &Terms) -> String {
        let count = counted(self.count, terms.one, terms.many);
        match self.to {
            Some(to) => format!("{count} between {} and {}", self.from, four_digits(to)),
            None => format!("{count} beyond {}", self.from),
        }
    }
}

/// The open ranges of several lines combined.
pub fn open_stretch(series: &[Curve]) -> Option<OpenStretch> {
    let all = series.iter().filter_map(|one| one.open);
    all.reduce(OpenStretch::with)
}

/// The threads of a run, the one with the largest maximum first.
pub fn threads<'a>(of: &RunWithBins<'a>) -> Vec<Curve<'a>> {
    let known = |thread: u32| of.run.threads.iter().find(|known| known.setup.thread == thread);
    let without_bins = of
        .run
        .threads
        .iter()
        .filter(|thread| of.bins.iter().all(|bins| bins.thread != thread.setup.thread));
    let mut series: Vec<Curve> = of
        .bins
        .iter()
        .map(|bins| Curve::of_thread(of.run, bins.thread, known(bins.thread), &bins.bins))
        .chain(without_bins.map(|one| Curve::of_thread(of.run, one.setup.thread, Some(one), &[])))
        .collect();
    let pens = RunPens::new(of.run);
    for one in &mut series {
        one.pen = Some(pens.thread(one.thread.unwrap_or_default()));
    }
    series.sort_by_key(|series| (Reverse(series.max), series.thread));
    series
}

/// The name of a thread; a responder has none, so it gets the name of its run.
pub fn thread_name(run: &Run, thread: u32, cpu: Option<u32>) -> String {
    match cpu {
        _ if run.asked.method.is_response() => run.asked.name.clone(),
        _ if run.attached.is_some() => attach::thread_name(run, thread),
        Some(cpu) => format!("thread {thread}, CPU {cpu}"),
        None => format!("thread {thread}"),
    }
}

/// Each run as one line, in the order given.
pub fn whole_runs<'a>(runs: &[RunWithBins<'a>]) -> Vec<Curve<'a>> {
    let one = |(pen, (of, name)): (usize, (&RunWithBins, String))| {
        let bins = Cow::Owned(pooled(of.bins));
        Curve { pen: Some(pen), ..Curve::new(name, None, None, bins, Some(&of.run.total)) }
    };
    runs.iter().zip(names(runs)).enumerate().map(one).collect()
}

/// The threads of one run, or several runs with a line each.
pub fn of_runs<'a>(runs: &[RunWithBins<'a>]) -> Vec<Curve<'a>> {
    match runs {
        [one] => threads(one),
        several => whole_runs(several),
    }
}

/// Adds up the counts of all threads for equal bins. The bin below zero begins at the lowest
/// minimum.
fn pooled(threads: &[ThreadBins]) -> Vec<Bin> {
    let mut all: BTreeMap<(Nanos, Nanos), Bin> = BTreeMap::new();
    for bin in threads.iter().flat_map(|thread| &thread.bins) {
        let sum = all
            .entry((bin.high_ns, bin.low_ns.max(Nanos::ZERO)))
            .or_insert(Bin { count: 0, ..*bin });
        sum.low_ns = sum.low_ns.min(bin.low_ns);
        sum.count = sum.count.saturating_add(bin.count);
    }
    all.into_values().collect()
}

impl<'a> Curve<'a> {
    fn of_thread(run: &Run, thread: u32, known: Option<&ThreadRun>, bins: &'a [Bin]) -> Curve<'a> {
        let cpu = known.and_then(|known| known.setup.cpu);
        let name = thread_name(run, thread, cpu);
        let summary = known.map(|known| &known.summary);
        Curve::new(name, Some(thread), cpu, Cow::Borrowed(bins), summary)
    }

    fn new(
        name: String,
        thread: Option<u32>,
        cpu: Option<u32>,
        bins: Cow<'a, [Bin]>,
        known: Option<&Summary>,
    ) -> Curve<'a> {
        let min = known.and_then(|known| known.min_ns).or(bins.first().map(|bin| bin.low_ns));
        let some = !bins.is_empty();
        let curve = Curve {
            name,
            thread,
            cpu,
            pen: None,
            min: min.filter(|_| some),
            mean: known.and_then(|known| known.mean_ns).filter(|_| some),
            max: known.and_then(|known| known.max_ns).filter(|_| some),
            max_is_at_least: known.is_some_and(|known| known.max_is_at_least),
            ..Curve::default()
        };
        curve.with_rows(bins)
    }

    /// Sets the counts; open-ended ones come last.
    pub fn with_rows(self, rows: Cow<'a, [Bin]>) -> Curve<'a> {
        let count = rows.iter().fold(0, |sum: u64, bin| sum.saturating_add(bin.count));
        let known = rows.partition_point(Bin::has_end);
        let open = rows[known..].iter().map(|bin| bin.count).fold(0, u64::saturating_add);
        let open =
            censored_above(&rows).map(|from| OpenStretch { from, to: self.max, count: open });
        let bins = match rows {
            Cow::Borrowed(rows) => Cow::Borrowed(&rows[..known]),
            Cow::Owned(mut rows) => {
                rows.truncate(known);
                Cow::Owned(rows)
            }
        };
        let last = bins.last().map(|bin| bin.high_ns).max(open.map(|open| open.from));
        Curve { count, bins, open, max: self.max.or(last), ..self }
    }

    /// The counts, including the open-ended ones.
    pub fn rows(&self) -> Cow<'_, [Bin]> {
        let Some(OpenStretch { from, count, .. }) = self.open else {
            return Cow::Borrowed(&self.bins);
        };
        let open = Bin { low_ns: from, high_ns: Nanos::MAX, count };
        Cow::Owned(self.bins.iter().copied().chain([open]).collect())
    }

    /// The number of latencies that have a place on an axis.
    pub fn known_count(&self) -> u64 {
        self.count - self.open.map_or(0, |open| open.count)
    }

    pub fn pen(&self) -> Pen {
        self.pen.map_or_else(Pen::background, Pen::number)
    }

    /// The text in the legend.
    pub fn words(&self) -> String {
        format!("{}: {}", self.name, self.maximum())
    }

    pub fn maximum(&self) -> String {
        match self.max {
            Some(_) if self.open.is_some_and(|open| open.to.is_none()) => {
                "the maximum is not known".to_string()
            }
            Some(max) if self.max_is_at_least => {
                format!("observed maximum at least {}", four_digits(max))
            }
            Some(max) => format!("observed maximum {}", four_digits(max)),
            None => "nothing recorded".to_string(),
        }
    }

    /// The attribute that identifies the line: its thread, or the name of its run.
    pub fn key(&self) -> String {
        self.thread.map_or_else(|| self.name.clone(), |thread| thread.to_string())
    }
}

pub fn latencies(series: &[Curve]) -> u64 {
    series.iter().fold(0, |sum, series| sum.saturating_add(series.count))
}

pub fn highest(series: &[Curve]) -> Option<Nanos> {
    series.iter().filter_map(|series| series.max).max()
}

/// The number of lines with a colour and a name.
pub fn named_count(series: &[Curve]) -> usize {
    if series.len() <= NAMED_LINES { series.len() } else { NAMED_OF_MANY }
}

/// The legend's entry for lines without a name.
pub fn others(series: &[Curve]) -> Option<String> {
    let others = &series[named_count(series)..];
    if others.is_empty() {
        return None;
    }
    let smallest = others.iter().filter_map(|series| series.max).min();
    let maxima = match smallest.zip(highest(others)) {
        Some((smallest, largest)) => {
            format!(": maxima {} to {}", four_digits(smallest), four_digits(largest))
        }
        None => String::new(),
    };
    Some(format!("and {} more{maxima}", others.len()))
}
