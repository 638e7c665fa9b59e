//! The conditions of a run: what its telemetry says, and what that did to the latencies.
//!
//! [`ConditionsBuilder`] takes the points of the telemetry and the intervals of the latencies as they are
//! read; at the end it gives the figures of the run and its findings.

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

/// What the telemetry of one run says, as far as its figures and findings need it.
#[derive(Default, Debug)]
pub struct ConditionsBuilder {
    /// By metric, then by subject.
    series: BTreeMap<String, BTreeMap<String, Points>>,
    times: Vec<Nanos>,
    /// Metrics that are read at the ends of the run only.
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
    /// Scheduling of the measuring threads; none where nobody knows it.
    pub policy: Option<Policy>,
    /// CPUs that were measured; all of them where the threads floated.
    pub measured: CpuSet,
    /// The measured threads, which are beside no other: those of timerlat are the kernel's.
    pub threads: Vec<u32>,
    /// What is recorded, in a word: `latency`, `gap` or `response`.
    pub recorded: &'static str,
    /// Distance of two readings, as it was asked for; none where nothing was to be read.
    pub every: Option<Nanos>,
    /// Whether nothing was to load the machine, and the threads sleep between their releases.
    pub is_idle: bool,
    /// Whether the stream went over a link, whose interrupts are told then.
    pub has_link: bool,
}

/// Metrics of which every point is kept; of the others there are too many.
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
    /// A point of a series, with the time of its reading and that of its file; none when it was not
    /// there.
    pub fn point(&mut self, series: &Series, at: Nanos, read_at: Nanos, value: Option<i64>) {
        if !series.steady {
            let mut each_time = metric::LONG_TO_READ.iter().chain(&metric::BETWEEN_RELEASES);
            let name = each_time.find(|name| **name == series.metric).copied();
            // Threads are read by the same rule, and are never read each time.
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
        // Looked up first, because the names are new only once.
        match self.series.get_mut(&series.metric).and_then(|all| all.get_mut(&series.subject)) {
            Some(points) => points.push(at, read_at, value),
            None => {
                let all = self.series.entry(series.metric.clone()).or_default();
                all.entry(series.subject.clone()).or_default().push(at, read_at, value);
            }
        }
    }

    /// A reading arrived.
    pub fn reading(&mut self, at: Nanos) {
        if self.times.last().is_none_or(|last| at > *last) {
            self.times.push(at);
        }
    }

    /// Readings that did not arrive.
    pub fn lost(&mut self, readings: u64) {
        self.lost += readings;
    }

    /// An interval of the latencies.
    pub fn interval(&mut self, interval: Interval) {
        self.intervals.push(interval);
    }

    /// The figures of the run, and its findings; none where nothing was read.
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

    /// Time since the first counted release.
    fn since_start(&self, time: Nanos) -> Nanos {
        (time - self.input.from).max(Nanos::ZERO)
    }

    /// What a counter grew by in a second, for each step.
    fn rates(&self, points: &Points) -> Vec<Option<f64>> {
        self.times.windows(2).map(|pair| points.rate(pair[0], pair[1])).collect()
    }

    /// Seconds of each step between two readings.
    fn seconds(&self) -> impl Iterator<Item = f64> + '_ {
        self.times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64())
    }

    /// What a counter grew by in each step.
    fn growths(&self, points: &Points) -> Vec<Option<f64>> {
        self.times.windows(2).map(|pair| points.growth(pair[0], pair[1])).collect()
    }

    /// The parts of one that a CPU spent on what is named, in each step.
    fn cpu_shares(&self, cpu: u32, named: &[&str]) -> Vec<Option<f64>> {
        // User time holds that of guests.
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
