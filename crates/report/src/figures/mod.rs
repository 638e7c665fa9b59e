//! The figures. Every table of runs, threads, builds and cells takes heads, units and values from
//! [`FIGURES`]; add a row there to add a column. The tables of many runs
//! have those with a `stored` number.

mod cell;
mod column;
mod counts;
mod latency;

pub use cell::CellFigures;
pub use column::{columns, columns_with, served_figures, served_heads, share, value};
pub use counts::Counts;
pub use latency::{
    LatencyBound, NamedQuantile, P50, P99, P99_9, P99_99, P99_999, SaidLatency, known, maximum,
    maximum_of, resolution,
};

use crate::facts;
use crate::facts::NOT_DEFINED;
use latlab_model::run::{Gaps, Noise, SpinCounts, ThreadRun, VerdictWord};
use latlab_model::{Nanos, Run};

/// The tables that have figures for columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A row for each thread of a run.
    Threads,
    /// A row for each run that is shown next to others.
    Runs,
    /// A row for each stored run.
    List,
    /// A row for each build of a series.
    Builds,
    /// A row for each run of a comparison.
    Compared,
    /// A row of a campaign, in which each repeat has a column.
    Rows,
    /// All repeats of such a row pooled.
    Pooled,
    /// A row for each run of the served list.
    Served,
}

/// A number, or a word if there is none.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Count(u64),
    Latency(SaidLatency),
    /// A duration.
    Duration(Nanos),
    /// Time since the first release.
    Moment(Nanos),
    /// A fraction, from 0 to 1.
    Share(f64),
    Verdict(VerdictWord),
    Words(String),
    /// A word in a column of numbers: `not known`.
    InPlace(String),
}

/// What a figure is a share of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whole {
    Deadline,
    Releases,
}

impl Whole {
    pub fn words(self) -> &'static str {
        match self {
            Whole::Deadline => "of the deadline",
            Whole::Releases => "of the releases",
        }
    }
}

pub struct Figure {
    /// Name in documents and CSV.
    pub id: &'static str,
    /// Column head, and name in a sentence.
    pub head: &'static str,
    /// The higher, the sooner a narrow terminal drops it; 0 is never dropped.
    pub rank: u8,
    pub whole: Option<Whole>,
    pub places: &'static [Place],
    /// A one-line description.
    pub about: &'static str,
    pub get: fn(&Counts) -> Option<Value>,
    /// The number of a run in the tables of many runs, as in `run.json`; `None` if they have no such column.
    pub stored: Option<Stored>,
}

/// A number of a run that is not rounded.
#[derive(Clone, Copy)]
pub enum Stored {
    Integer(fn(&Run) -> Option<i64>),
    Real(fn(&Run) -> Option<f64>),
}

use Place::{Builds, Compared, List, Pooled, Rows, Runs, Served, Threads};

const MAXIMUM: &[Place] = &[Threads, Runs, List, Builds, Compared, Pooled, Served];
const EVERYWHERE: &[Place] = &[Threads, Runs, List, Builds, Compared, Rows, Pooled, Served];

/// All figures, in column order.
pub static FIGURES: &[Figure] = &[
    Figure {
        id: "cpu",
        head: "cpu",
        rank: 0,
        whole: None,
        places: &[Threads],
        about: "The CPU that the thread is pinned to",
        get: |of| match of.thread.map(|thread| thread.setup.cpu) {
            None => in_place(""),
            Some(Some(cpu)) => in_place(cpu),
            Some(None) if of.run?.asked.method.is_import() => None,
            Some(None) => in_place("floats"),
        },
        stored: None,
    },
    Figure {
        id: "core",
        head: "core",
        rank: 8,
        whole: None,
        places: &[Threads],
        about: "Type and capacity of the core",
        get: |of| {
            of.run.filter(|run| facts::cores_differ(run))?;
            match of.thread {
                Some(thread) => words(facts::core(thread)?),
                None => in_place(""),
            }
        },
        stored: None,
    },
    Figure {
        id: "instrument",
        head: "instrument",
        rank: 0,
        whole: None,
        places: &[List],
        about: "What measured",
        get: |of| words(of.run?.asked.method.instrument()),
        stored: None,
    },
    Figure {
        id: "kernel",
        head: "kernel",
        rank: 0,
        whole: None,
        places: &[Runs],
        about: "The kernel, and how it can be preempted",
        get: |of| words(Some(facts::kernel(of.run?)).filter(|kernel| !kernel.is_empty())?),
        stored: None,
    },
    Figure {
        id: "load",
        head: "load",
        rank: 0,
        whole: None,
        places: &[Runs],
        about: "What loaded the machine",
        get: |of| words(of.run?.load_or("none")),
        stored: None,
    },
    Figure {
        id: "verdict",
        head: "verdict",
        rank: 0,
        whole: None,
        places: &[Runs, List, Rows],
        about: "Whether the deadline is kept",
        get: |of| match of.verdict {
            Some(word) => Some(Value::Verdict(word)),
            None if facts::is_invalid(of.run?) => words("none; a finding makes it invalid"),
            None => None,
        },
        stored: None,
    },
    Figure {
        id: "max_ns",
        head: "max",
        rank: 0,
        whole: Some(Whole::Deadline),
        places: MAXIMUM,
        about: "Observed maximum; larger latencies may come in a longer run",
        get: |of| Some(Value::Latency(maximum(&of.summary)?.resolved(of.resolution_ns))),
        stored: integer(|run| of_time(run.total.max_ns)),
    },
    Figure {
        id: "noise",
        head: "noise",
        rank: 0,
        whole: None,
        places: &[Threads],
        about: "Share of the time that was taken from the busy loop",
        get: |of| Some(Value::Share(of.summary.noise?.share())),
        stored: None,
    },
    Figure {
        id: "worst_share",
        head: "worst",
        rank: 1,
        whole: None,
        places: &[Threads],
        about: "The same in the worst interval",
        get: |of| Some(Value::Share(of.summary.noise?.worst_share)),
        stored: None,
    },
    Figure {
        id: "preempted",
        head: "by threads",
        rank: 2,
        whole: None,
        places: &[Threads],
        about: "Share of the time that other threads took",
        get: |of| taken(of, |spun| spun.preempted),
        stored: None,
    },
    Figure {
        id: "interrupted",
        head: "by irqs",
        rank: 2,
        whole: None,
        places: &[Threads],
        about: "Share of the time that interrupts, firmware and hypervisor took",
        get: |of| taken(of, |spun| spun.interrupted),
        stored: None,
    },
    Figure {
        id: "pass_ns",
        head: "pass",
        rank: 4,
        whole: None,
        places: &[Threads],
        about: "Mean length of a pass of the busy loop: shorter gaps are not seen",
        get: |of| {
            let (noise, spun) = (of.summary.noise?, spun(of.thread?)?);
            let own = noise.of_ns - noise.sum_ns - spun.rested_ns;
            Some(Value::Latency(known(own.0 as f64 / spun.passes.max(1) as f64)))
        },
        stored: None,
    },
    Figure {
        id: "misses",
        head: "misses",
        rank: 0,
        whole: Some(Whole::Releases),
        places: EVERYWHERE,
        about: "Releases later than the deadline, overruns included",
        get: |of| Some(Value::Count(of.summary.misses?)),
        stored: integer(|run| of_count(run.total.misses?)),
    },
    Figure {
        id: "overruns",
        head: "overruns",
        rank: 1,
        whole: Some(Whole::Releases),
        places: &[Threads, Runs, List, Compared, Pooled, Served],
        about: "Releases that passed while the thread was still late",
        get: |of| match (of.summary.overruns, of.run) {
            (Some(overruns), _) => Some(Value::Count(overruns)),
            (None, Some(run)) if run.has_releases() => in_place("not known"),
            (None, Some(run)) if run.asked.method.is_periodic() => in_place(NOT_DEFINED),
            (None, _) => None,
        },
        stored: integer(|run| of_count(run.total.overruns?)),
    },
    Figure {
        id: "max_at_ns",
        head: "seen at",
        rank: 6,
        whole: None,
        places: &[Threads],
        about: "When the observed maximum was released, since the first release",
        get: |of| Some(Value::Moment(facts::since_first_release(of.run?, &of.summary)?)),
        stored: None,
    },
    Figure {
        id: "cycles",
        head: "cycles",
        rank: 2,
        whole: None,
        places: &[Threads, Runs, List, Pooled, Served],
        about: "Latencies recorded",
        get: |of| Some(Value::Count(of.summary.cycles)),
        stored: integer(|run| of_count(run.total.cycles)),
    },
    Figure {
        id: "releases",
        head: "releases",
        rank: 11,
        whole: None,
        places: &[Threads, Builds, Compared],
        about: "Releases that were due: cycles and overruns together",
        get: |of| {
            let has_some = of.run.is_none_or(Run::has_releases);
            has_some.then_some(Value::Count(of.summary.releases))
        },
        stored: integer(|run| of_count(run.total.releases)),
    },
    Figure {
        id: "min_ns",
        head: "min",
        rank: 5,
        whole: None,
        places: &[Threads],
        about: "Smallest latency",
        get: |of| Some(Value::Latency(known(of.summary.min_ns?.0 as f64))),
        stored: integer(|run| of_time(run.total.min_ns)),
    },
    Figure {
        id: "jitter_ns",
        head: "jitter",
        rank: 8,
        whole: None,
        places: MAXIMUM,
        about: "Observed maximum less the smallest latency, as in LinuxCNC's latency-test",
        get: |of| {
            let max = maximum(&of.summary)?;
            let jitter = SaidLatency { ns: max.ns - of.summary.min_ns?.0 as f64, ..max };
            Some(Value::Latency(jitter.resolved(of.resolution_ns)))
        },
        stored: integer(|run| of_time(Some(run.total.max_ns? - run.total.min_ns?))),
    },
    Figure {
        id: "mean_ns",
        head: "mean",
        rank: 4,
        whole: None,
        places: &[Threads],
        about: "Mean latency",
        get: |of| Some(Value::Latency(known(of.summary.mean_ns?))),
        stored: Some(Stored::Real(|run| run.total.mean_ns)),
    },
    Figure {
        id: "p50_ns",
        head: P50.name,
        rank: 5,
        whole: Some(Whole::Deadline),
        places: &[Threads, Runs],
        about: "Half of the latencies are no larger",
        get: |of| quantile(of, &P50),
        stored: integer(|run| of_time(run.total.quantiles.as_ref()?.p50_ns)),
    },
    Figure {
        id: "p99_ns",
        head: P99.name,
        rank: 3,
        whole: Some(Whole::Deadline),
        places: &[Threads],
        about: "99 % of the latencies are no larger",
        get: |of| quantile(of, &P99),
        stored: integer(|run| of_time(run.total.quantiles.as_ref()?.p99_ns)),
    },
    Figure {
        id: "p99_9_ns",
        head: P99_9.name,
        rank: 2,
        whole: Some(Whole::Deadline),
        places: &[Threads, Runs, Rows, Pooled, Served],
        about: "99.9 % of the latencies are no larger",
        get: |of| quantile(of, &P99_9),
        stored: integer(|run| of_time(run.total.quantiles.as_ref()?.p99_9_ns)),
    },
    Figure {
        id: "p99_99_ns",
        head: P99_99.name,
        rank: 3,
        whole: Some(Whole::Deadline),
        places: &[Threads],
        about: "99.99 % of the latencies are no larger",
        get: |of| quantile(of, &P99_99),
        stored: integer(|run| of_time(run.total.quantiles.as_ref()?.p99_99_ns)),
    },
    Figure {
        id: "p99_999_ns",
        head: P99_999.name,
        rank: 7,
        whole: Some(Whole::Deadline),
        places: &[Threads],
        about: "99.999 % of the latencies are no larger",
        get: |of| quantile(of, &P99_999),
        stored: integer(|run| of_time(run.total.quantiles.as_ref()?.p99_999_ns)),
    },
    Figure {
        id: "threads",
        head: "threads",
        rank: 3,
        whole: None,
        places: &[List],
        about: "Measuring threads",
        get: |of| Some(Value::Count(of.run?.threads.len() as u64)),
        stored: integer(|run| of_count(run.threads.len() as u64)),
    },
    Figure {
        id: "measured_ns",
        head: "measured",
        rank: 3,
        whole: None,
        places: &[Runs, List, Builds, Compared, Served],
        about: "From the first release to the end of the last interval",
        get: |of| Some(Value::Duration(of.measured_ns?)),
        stored: integer(|run| of_time(Some(run.measured_ns))),
    },
    Figure {
        id: "started",
        head: "started",
        rank: 6,
        whole: None,
        places: &[List, Builds, Compared],
        about: "The first release, in UTC",
        get: |of| words(Some(facts::started(of.started)).filter(|time| !time.is_empty())?),
        stored: None,
    },
    Figure {
        id: "policy",
        head: "policy",
        rank: 10,
        whole: None,
        places: &[Threads],
        about: "Scheduling policy and priority",
        get: |of| match of.thread {
            Some(thread) => words(&thread.setup.policy),
            None => in_place(""),
        },
        stored: None,
    },
    Figure {
        id: "period_ns",
        head: "period",
        rank: 9,
        whole: None,
        places: &[Threads],
        about: "Time between two releases",
        get: |of| {
            let method = &of.run?.asked.method;
            let Some(thread) = of.thread else { return in_place("") };
            let period = thread.setup.period_ns;
            in_place(period.filter(|_| method.is_periodic() || method.is_import())?)
        },
        stored: None,
    },
];

/// The figure with this id.
pub fn figure(id: &str) -> &'static Figure {
    FIGURES.iter().find(|one| one.id == id).expect("a figure of the table")
}

/// The column head of the figure with this id.
pub fn figure_head(id: &str) -> &'static str {
    figure(id).head
}

const fn integer(of: fn(&Run) -> Option<i64>) -> Option<Stored> {
    Some(Stored::Integer(of))
}

fn of_time(time: Option<Nanos>) -> Option<i64> {
    Some(time?.0)
}

fn of_count(count: u64) -> Option<i64> {
    i64::try_from(count).ok()
}

fn words(text: impl ToString) -> Option<Value> {
    Some(Value::Words(text.to_string()))
}

fn in_place(text: impl ToString) -> Option<Value> {
    Some(Value::InPlace(text.to_string()))
}

fn quantile(of: &Counts, which: &NamedQuantile) -> Option<Value> {
    let latency = which.of(&of.summary)?.resolved(of.resolution_ns);
    Some(Value::Latency(match of.is_at_least {
        true => SaidLatency { bound: LatencyBound::AtLeast, ..latency },
        false => latency,
    }))
}

fn spun(thread: &ThreadRun) -> Option<&SpinCounts> {
    thread.end.as_ref()?.spun.as_ref()
}

/// The share of time that gaps of a kind took.
fn taken(of: &Counts, kind: fn(&SpinCounts) -> Gaps) -> Option<Value> {
    let noise = of.summary.noise?;
    let sum_ns = kind(spun(of.thread?)?).sum_ns;
    Some(Value::Share(Noise { sum_ns, ..noise }.share()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_figure_has_one_name_and_a_name_one_figure() {
        let names = |name: fn(&Figure) -> &'static str| -> BTreeSet<&str> {
            FIGURES.iter().map(name).collect()
        };
        assert_eq!(names(|one| one.id).len(), FIGURES.len());
        assert_eq!(names(|one| one.head).len(), FIGURES.len());
        assert!(FIGURES.iter().all(|one| !one.about.ends_with('.') && !one.places.is_empty()));
    }
}
