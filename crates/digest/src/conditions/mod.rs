//! The conditions of a run: what its telemetry shows, and its effect on the latencies.
//!
//! [`ConditionsBuilder`] takes the points of the telemetry and the intervals of the latencies as
//! they are read; at the end it returns the figures of the run and its findings.

mod busy_threads;
mod compare;
mod figures;
mod finding_parts;
mod findings;
mod heat;
mod latencies;
mod load;
mod points;

pub use compare::compare;
pub use latencies::Interval;
use latlab_model::finding::Finding;
use latlab_model::plan::Policy;
use latlab_model::telemetry::{Conditions, Series, metric};
use latlab_model::{CpuSet, Nanos};
use points::Points;
use std::collections::{BTreeMap, BTreeSet};

/// The telemetry of one run, as far as its figures and findings need it.
#[derive(Default, Debug)]
pub struct ConditionsBuilder {
    /// By metric, then by subject.
    series: BTreeMap<String, BTreeMap<String, Points>>,
    times: Vec<Nanos>,
    /// Metrics that are read only at the ends of the run.
    at_ends_only: BTreeSet<&'static str>,
    lost: u64,
    intervals: Vec<Interval>,
}

/// What else is known of the run.
#[derive(Clone, Debug)]
pub struct ConditionsInput {
    /// First counted release.
    pub from: Nanos,
    /// End of the last interval.
    pub to: Nanos,
    /// Scheduling of the measuring threads; `None` if unknown.
    pub policy: Option<Policy>,
    /// CPUs that were measured; all of them if the threads were not pinned.
    pub measured: CpuSet,
    /// The measured threads, which must not count as competing; those of timerlat are the kernel's.
    pub threads: Vec<u32>,
    /// What is recorded, in a word: `latency`, `gap` or `response`.
    pub recorded: &'static str,
    /// Requested distance of readings; `None` if nothing was to be read.
    pub every: Option<Nanos>,
    /// Whether the machine was meant to be idle, and the threads sleep between their releases.
    pub is_idle: bool,
    /// Whether the stream went over a link, whose interrupts are then reported.
    pub has_link: bool,
}

/// Metrics of which every point is kept; the others have too many.
const KEPT: &[&str] = &[
    metric::TEMPERATURE,
    metric::FREQUENCY,
    metric::FREQUENCY_LIMIT,
    metric::THROTTLE_FLAGS,
    metric::THERMAL_THROTTLES,
    metric::CONTEXT_SWITCHES,
    metric::CPU_TIME,
    metric::PRESSURE,
    metric::MEMORY,
    metric::PAGES,
    metric::THREAD_CPU,
    metric::THREAD_PLACE,
    metric::THREAD_POLICY,
    metric::THREAD_PRIORITY,
    metric::SMI,
    metric::CLOCKSOURCE,
    metric::KERNEL_EVENTS,
    metric::OWN_COST,
];

/// The softirqs of the network.
const NETWORK: [&str; 2] = [" NET_RX", " NET_TX"];

impl ConditionsBuilder {
    /// Adds a point of a series, with the time of its reading and that of its file; `None` if it
    /// was absent.
    pub fn point(&mut self, series: &Series, at: Nanos, read_at: Nanos, value: Option<i64>) {
        if !series.steady {
            let mut each_time = metric::LONG_TO_READ.iter().chain(&metric::BETWEEN_RELEASES);
            let name = each_time.find(|name| **name == series.metric).copied();
            // The CPU time of threads follows the same rule, and is never read every time.
            let threads = name.filter(|name| *name == metric::CPU_TIME);
            self.at_ends_only.extend(name.into_iter().chain(threads.map(|_| metric::THREAD_CPU)));
        }
        let is_of_network = || NETWORK.iter().any(|name| series.subject.ends_with(name));
        let is_kept = match series.metric.as_str() {
            metric::SOFTIRQS => is_of_network(),
            name => KEPT.contains(&name),
        };
        if !is_kept {
            return;
        }
        // Looked up first, because names are rarely new.
        match self.series.get_mut(&series.metric).and_then(|all| all.get_mut(&series.subject)) {
            Some(points) => points.push(at, read_at, value),
            None => {
                let all = self.series.entry(series.metric.clone()).or_default();
                all.entry(series.subject.clone()).or_default().push(at, read_at, value);
            }
        }
    }

    /// Adds the time of a reading.
    pub fn reading(&mut self, at: Nanos) {
        if self.times.last().is_none_or(|last| at > *last) {
            self.times.push(at);
        }
    }

    /// Counts readings that did not arrive.
    pub fn lost(&mut self, readings: u64) {
        self.lost += readings;
    }

    pub fn interval(&mut self, interval: Interval) {
        self.intervals.push(interval);
    }

    /// The figures of the run, and its findings; `None` if nothing was read.
    pub fn finish(&self, context: &ConditionsInput) -> Option<(Conditions, Vec<Finding>)> {
        let at = ConditionsView::new(self, context)?;
        let conditions = figures::conditions(&at);
        let findings = findings::findings(&at, &conditions);
        Some((conditions, findings))
    }

    fn all(&self, metric: &str) -> impl Iterator<Item = (&str, &Points)> {
        let series = self.series.get(metric).into_iter().flatten();
        series.map(|(subject, points)| (subject.as_str(), points))
    }

    fn one(&self, metric: &str, subject: &str) -> Option<&Points> {
        self.series.get(metric)?.get(subject)
    }
}

/// The conditions over the measured time.
struct ConditionsView<'a> {
    data: &'a ConditionsBuilder,
    input: &'a ConditionsInput,
    /// Readings from the last one before the first release to the first one after the last.
    times: &'a [Nanos],
}

impl<'a> ConditionsView<'a> {
    fn new(data: &'a ConditionsBuilder, input: &'a ConditionsInput) -> Option<ConditionsView<'a>> {
        let from = data.times.partition_point(|time| *time <= input.from).saturating_sub(1);
        let to = data.times.partition_point(|time| *time < input.to);
        let mut times = &data.times[from..(to + 1).min(data.times.len())];
        // The last reading comes with the end of the run; in a short step a tick is a large share.
        if let [.., before, last, end] = times
            && (*end - *last).0 * 2 < (*last - *before).0
        {
            times = &times[..times.len() - 1];
        }
        (!times.is_empty()).then_some(ConditionsView { data, input, times })
    }

    fn since_start(&self, time: Nanos) -> Nanos {
        (time - self.input.from).max(Nanos::ZERO)
    }

    /// Growth of a counter per second, for each step.
    fn rates(&self, points: &Points) -> Vec<Option<f64>> {
        self.times.windows(2).map(|pair| points.rate(pair[0], pair[1])).collect()
    }

    /// Length of each step between two readings.
    fn seconds(&self) -> impl Iterator<Item = f64> + '_ {
        self.times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64())
    }

    /// Growth of a counter in each step.
    fn growths(&self, points: &Points) -> Vec<Option<f64>> {
        self.times.windows(2).map(|pair| points.growth(pair[0], pair[1])).collect()
    }

    /// Share of time that a CPU spent in the named states, in each step.
    fn cpu_shares(&self, cpu: u32, named: &[&str]) -> Vec<Option<f64>> {
        // User time includes that of guests.
        let all = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
        let column = |name: &str| {
            let points = self.data.one(metric::CPU_TIME, &format!("cpu{cpu} {name}"));
            points.map(|points| self.growths(points))
        };
        let columns: Vec<(bool, Vec<Option<f64>>)> =
            all.iter().filter_map(|name| Some((named.contains(name), column(name)?))).collect();
        let steps = self.times.len().saturating_sub(1);
        (0..steps)
            .map(|step| {
                let mut sums = (0.0, 0.0);
                for (wanted, growths) in &columns {
                    let growth = growths[step]?;
                    sums.0 += if *wanted { growth } else { 0.0 };
                    sums.1 += growth;
                }
                (sums.1 > 0.0).then(|| sums.0 / sums.1)
            })
            .collect()
    }

    /// The CPUs whose times are known.
    fn cpus(&self) -> CpuSet {
        let subjects = self.data.all(metric::CPU_TIME).map(|(subject, _)| subject);
        subjects
            .filter_map(|subject| subject.strip_prefix("cpu")?.split(' ').next()?.parse().ok())
            .collect()
    }
}
