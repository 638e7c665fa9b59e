//! Runs as metrics: families for the Prometheus and OpenMetrics text formats and for protobuf.

mod boundaries;
mod native;
mod protobuf;
mod text;

pub use boundaries::{boundaries, crossing};
pub use native::Native;
pub use protobuf::messages;
pub use text::{Style, text};

use crate::write::source::{overflow_of, rows_of};
use jiff::Timestamp;
use latlab_model::run::{Summary, ThreadRun, VerdictWord};
use latlab_model::target::BoardTarget;
use latlab_model::{Bin, Nanos, Run, Target, ThreadBins};

pub struct MetricsRun<'a> {
    pub run: &'a Run,
    /// Its histograms.
    pub bins: &'a [ThreadBins],
    /// Identifies it among the other runs.
    pub labels: Vec<Label>,
}

/// A label and its value.
pub type Label = (&'static str, String);

/// A metric of all runs.
pub struct Family<'a> {
    pub name: &'static str,
    pub help: String,
    pub kind: Kind,
    pub samples: Vec<Sample<'a>>,
}

/// The type of a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Gauge,
    /// Facts in labels.
    Info,
    /// One of several words, each with 1 or 0.
    StateSet,
    Histogram,
}

pub struct Sample<'a> {
    pub labels: Vec<Label>,
    pub value: Value<'a>,
}

pub enum Value<'a> {
    Number(f64),
    /// The counts of a thread, and the boundaries of classic buckets.
    Counts {
        rows: &'a [Bin],
        /// The sum of all latencies in seconds; `None` if some are unknown.
        sum: Option<f64>,
        /// Upper ends of the buckets.
        boundaries: Vec<Nanos>,
    },
}

/// A figure of each thread: its name, its help text, and its value.
type Figure = (&'static str, &'static str, fn(&Summary) -> Option<f64>);

/// The figures in addition to the histogram.
const FIGURES: [Figure; 9] = [
    ("latlab_latency_min_seconds", "Smallest latency.", |one| seconds(one.min_ns)),
    ("latlab_latency_mean_seconds", "Mean latency.", |one| one.mean_ns.map(|mean| mean / 1e9)),
    ("latlab_latency_p99_seconds", "Latency that 99 % of the cycles do not exceed.", |one| {
        seconds(one.quantiles.as_ref().and_then(|all| all.p99_ns))
    }),
    ("latlab_latency_p999_seconds", "Latency that 99.9 % of the cycles do not exceed.", |one| {
        seconds(one.quantiles.as_ref()?.p99_9_ns)
    }),
    ("latlab_latency_max_seconds", "Observed maximum.", |one| seconds(one.max_ns)),
    ("latlab_latency_max_is_at_least", "1 where larger latencies may be missing.", |one| {
        one.max_ns.filter(|_| one.max_is_at_least).map(|_| 1.0)
    }),
    ("latlab_cycles", "Latencies recorded.", |one| Some(one.cycles as f64)),
    ("latlab_overruns", "Releases without a cycle of their own.", |one| {
        one.overruns.map(|overruns| overruns as f64)
    }),
    ("latlab_deadline_misses", "Releases later than the deadline.", |one| {
        one.misses.map(|misses| misses as f64)
    }),
];

/// The name of the family with the histograms.
const HISTOGRAM: &str = "latlab_latency_seconds";

impl MetricsRun<'_> {
    /// Labels of a board and a scenario; a server exports their newest run.
    pub fn of_board(run: &Run) -> Vec<Label> {
        let machine = &run.machine;
        let own = machine.hostname.as_ref().or(machine.board.as_ref());
        let board = match &run.asked.on.target {
            Target::Local => own.unwrap_or(&machine.architecture).clone(),
            // Boards with the same image have the same host name.
            Target::Board(board) => place(board),
            other @ (Target::Lab(_) | Target::Labgrid(_)) => match &run.asked.on.place {
                Some(place) => place.name.clone(),
                None => other.to_string(),
            },
        };
        let row = run.asked.cell.as_ref().map(|cell| cell.row.clone());
        vec![("board", board), ("scenario", row.unwrap_or_else(|| run.asked.name.clone()))]
    }

    fn labelled(&self, more: impl IntoIterator<Item = Label>) -> Vec<Label> {
        self.labels.iter().cloned().chain(more).collect()
    }

    fn of_thread(&self, thread: &ThreadRun) -> Vec<Label> {
        let cpu = thread.setup.cpu.map(|cpu| ("cpu", cpu.to_string()));
        self.labelled([("thread", thread.setup.thread.to_string())].into_iter().chain(cpu))
    }

    fn number(&self, value: f64) -> Sample<'static> {
        Sample { labels: self.labels.clone(), value: Value::Number(value) }
    }

    fn facts(&self) -> Sample<'static> {
        let run = self.run;
        let machine = &run.machine;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let facts = [
            ("id", run.id.clone()),
            ("latlab", run.latlab.clone()),
            ("host", text(&machine.hostname)),
            ("kernel", machine.kernel.clone()),
            ("preemption", text(&machine.preemption)),
            ("started", run.started.clone()),
        ];
        Sample { labels: self.labelled(facts), value: Value::Number(1.0) }
    }

    fn verdict(&self) -> Vec<Sample<'static>> {
        let Some(verdict) = &self.run.verdict else { return Vec::new() };
        let words =
            [VerdictWord::Pass, VerdictWord::Fail, VerdictWord::Inconclusive, VerdictWord::Invalid];
        let state = |word: VerdictWord| Sample {
            labels: self.labelled([("latlab_verdict", word.as_str().to_string())]),
            value: Value::Number(f64::from(u8::from(verdict.word == word))),
        };
        words.map(state).into()
    }

    /// Why there is no verdict by the counts alone.
    fn reason(&self) -> Option<Sample<'static>> {
        let reason = latlab_report::verdict_reason(self.run)?;
        let value = Value::Number(1.0);
        Some(Sample { labels: self.labelled([("reason", reason)]), value })
    }

    fn histograms(&self) -> Vec<Sample<'_>> {
        if self.bins.iter().all(|one| one.bins.is_empty()) {
            return Vec::new();
        }
        let boundaries = boundaries(self.run);
        let of = |thread: &ThreadRun| {
            let rows = rows_of(self.bins, thread);
            let (sum, boundaries) = (sum_of(self.run, thread, rows), boundaries.clone());
            let value = Value::Counts { rows, sum, boundaries };
            Sample { labels: self.of_thread(thread), value }
        };
        self.run.threads.iter().map(of).collect()
    }
}

/// Address of a board: several may share a host name and differ by port.
fn place(board: &BoardTarget) -> String {
    match board.port {
        Some(port) => format!("{}:{port}", board.host),
        None => board.host.clone(),
    }
}

/// All metrics of these runs; the histograms come last.
pub fn families<'a>(runs: &'a [MetricsRun<'a>]) -> Vec<Family<'a>> {
    let family =
        |name, help: &str, kind, samples| Family { name, help: help.to_string(), kind, samples };
    let each = |of: &dyn Fn(&MetricsRun<'_>) -> Option<f64>| {
        runs.iter().filter_map(|run| Some(run.number(of(run)?))).collect::<Vec<_>>()
    };
    let started = |run: &MetricsRun<'_>| {
        Some(run.run.started.parse::<Timestamp>().ok()?.as_nanosecond() as f64 / 1e9)
    };
    let deadline = |run: &MetricsRun<'_>| Some(run.run.verdict.as_ref()?.deadline_ns.as_secs_f64());
    let facts = runs.iter().map(MetricsRun::facts).collect();
    let verdicts = runs.iter().flat_map(MetricsRun::verdict).collect();
    let mut all = vec![
        family("latlab_run", "The run and its machine.", Kind::Info, facts),
        family(
            "latlab_run_start_timestamp_seconds",
            "First counted release, in seconds since 1970.",
            Kind::Gauge,
            each(&started),
        ),
        family(
            "latlab_run_measured_seconds",
            "How long it was measured.",
            Kind::Gauge,
            each(&|run| Some(run.run.measured_ns.as_secs_f64())),
        ),
        family("latlab_verdict", "The judgement against the deadline.", Kind::StateSet, verdicts),
        family(
            "latlab_verdict_reason",
            "Why the counts alone do not decide.",
            Kind::Info,
            runs.iter().filter_map(MetricsRun::reason).collect(),
        ),
        family("latlab_deadline_seconds", "The deadline.", Kind::Gauge, each(&deadline)),
    ];
    for (name, help, value) in FIGURES {
        let of_run = |run: &'a MetricsRun<'a>| {
            run.run.threads.iter().filter_map(move |thread| {
                let value = Value::Number(value(&thread.summary)?);
                Some(Sample { labels: run.of_thread(thread), value })
            })
        };
        all.push(family(name, help, Kind::Gauge, runs.iter().flat_map(of_run).collect()));
    }
    let quantity = runs.first().and_then(|one| one.run.asked.method.import());
    let quantity = quantity.map_or("wake-up latency", |one| &one.quantity);
    let help = format!("Histogram of the {quantity}.");
    let histograms = runs.iter().flat_map(MetricsRun::histograms).collect();
    all.push(family(HISTOGRAM, &help, Kind::Histogram, histograms));
    all.retain(|family| !family.samples.is_empty());
    all
}

/// The sum of all latencies in seconds; `None` if some are unknown.
pub fn sum_of(run: &Run, thread: &ThreadRun, rows: &[Bin]) -> Option<f64> {
    let is_known = overflow_of(run, thread).is_none() && rows.first()?.low_ns >= Nanos::ZERO;
    let mean = thread.summary.mean_ns.filter(|_| is_known)?;
    Some(mean * thread.summary.cycles as f64 / 1e9)
}

fn seconds(time: Option<Nanos>) -> Option<f64> {
    time.map(Nanos::as_secs_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_behind_one_address_are_told_apart() {
        let place = |text: &str| match text.parse() {
            Ok(Target::Board(board)) => place(&board),
            other => panic!("{other:?}"),
        };
        assert_eq!(place("ssh://pi@rack:2201"), "rack:2201");
        assert_eq!(place("ssh://root@rack"), "rack");
    }
}
