//! The state shown by the live view, gathered from the frames as they pass.

use latlab_model::frame::{Message, Spike, Spikes};
use latlab_model::run::{EndReason, Finding, ThreadSetup};
use latlab_model::{Histogram, Nanos, Plan};
use latlab_stats::{BurstCount, ENOUGH_FOR_CLUMPS, LateCycle, bursts, clump, lower_level};
use std::collections::VecDeque;
use std::path::PathBuf;

/// Maxima in a thread's sparkline: one per interval of the last minute.
pub const RECENT: usize = 60;
/// Late cycles whose times are kept to find bursts; beyond that, misses are only counted.
const MOST_LATE: usize = 20_000;
/// Largest latencies per thread that show how bursts clump if there are few at the deadline.
const LARGEST: usize = 512;

/// The current state of a measuring thread.
#[derive(Clone, Debug)]
pub struct LiveThread {
    pub setup: ThreadSetup,
    /// Its name, for threads of an attached program.
    pub name: Option<String>,
    /// All counts so far.
    pub total: Histogram,
    /// Maxima of the last [`RECENT`] intervals, oldest first.
    pub recent_max: VecDeque<Nanos>,
    /// Number of the interval of the newest maximum.
    interval: Option<i64>,
    /// End of its last interval, counted from its first release.
    measured: Nanos,
    pub ended: Option<EndReason>,
}

/// The current state of a run.
#[derive(Clone, Default, Debug)]
pub struct LiveRun {
    /// The threads, once they are set up.
    pub threads: Vec<LiveThread>,
    /// Findings so far.
    pub findings: Vec<Finding>,
    /// End of the last interval, counted from the first release.
    pub measured: Nanos,
    /// Where a guest's kernel console is written.
    pub console: Option<PathBuf>,
    plan: Option<Plan>,
    /// The cycles that missed the deadline, if the run ends when its limit is decided.
    late: Vec<LateCycle>,
    /// The largest latencies of each thread, for such a run.
    largest: Vec<Largest>,
}

/// The largest latencies of a thread.
#[derive(Clone, Default, Debug)]
struct Largest {
    spikes: Vec<Spike>,
    /// All latencies above this are included.
    known_above: Nanos,
}

impl Largest {
    fn keep(&mut self, spikes: &[Spike]) {
        self.spikes.extend_from_slice(spikes);
        if self.spikes.len() > 2 * LARGEST {
            self.spikes.sort_unstable_by(|one, other| other.cmp(one));
            self.spikes.truncate(LARGEST);
            self.known_above = self.spikes[LARGEST - 1].latency_ns;
        }
    }
}

impl LiveRun {
    pub fn apply(&mut self, message: &Message) {
        match message {
            Message::Plan(plan) => self.plan = Some(plan.clone()),
            Message::Prepared(prepared) => {
                self.threads = prepared.threads.iter().map(LiveThread::new).collect();
            }
            Message::AttachedThread(found) => {
                // Threads that are not judged are shown when the run has ended.
                let Some(setup) = &found.setup else { return };
                if setup.thread as usize == self.threads.len() {
                    let name = Some(found.name.clone());
                    self.threads.push(LiveThread { name, ..LiveThread::new(setup) });
                }
            }
            Message::Interval(interval) => {
                let Some(thread) = self.threads.get_mut(interval.thread as usize) else { return };
                let first = thread.setup.first_release_ns;
                thread.measured = interval.end_ns - first;
                self.measured = self.measured.max(thread.measured);
                let number =
                    self.plan.as_ref().map(|plan| plan.interval_of(first, interval.start_ns));
                thread.count(&interval.counts, number);
            }
            Message::Spikes(spikes) => self.keep_late(spikes),
            Message::ThreadEnd(end) => {
                if let Some(thread) = self.threads.get_mut(end.thread as usize) {
                    thread.ended = Some(end.reason);
                }
            }
            Message::Finding(finding) => self.findings.push(finding.clone()),
            _ => {}
        }
    }
}

impl LiveRun {
    fn keep_late(&mut self, spikes: &Spikes) {
        let Some(plan) = self.plan.as_ref().filter(|plan| plan.until.decided) else { return };
        let Some(thread) = self.threads.get(spikes.thread as usize) else { return };
        let period = thread.setup.period_ns.unwrap_or_default();
        let late = spikes.spikes.iter();
        let late = late.filter_map(|spike| LateCycle::of(plan, spikes.thread, period, *spike));
        self.late.extend(late.take(MOST_LATE.saturating_sub(self.late.len())));
        let thread = spikes.thread as usize;
        self.largest.resize_with(self.threads.len().max(thread + 1), Largest::default);
        self.largest[thread].keep(&spikes.spikes);
    }

    /// Bursts per clump: at the deadline, or at a lower level that has enough.
    fn clump(&self, plan: &Plan, deadline: Nanos, measured: Nanos) -> Option<f64> {
        let from = self.threads.iter().map(|thread| thread.setup.first_release_ns).min()?;
        let found = bursts(&self.late);
        if found.len() >= ENOUGH_FOR_CLUMPS {
            return clump(&found, from, measured);
        }
        let above = |level: Nanos| -> Vec<LateCycle> {
            let threads = self.threads.iter().zip(&self.largest);
            let late = threads.flat_map(|(thread, largest)| {
                let (number, period) = (thread.setup.thread, thread.setup.period_ns);
                let period = period.unwrap_or_default();
                let late = largest.spikes.iter();
                late.filter_map(move |spike| LateCycle::above(level, plan, number, period, *spike))
            });
            late.collect()
        };
        let spikes = self.largest.iter().flat_map(|one| &one.spikes);
        let latencies = spikes.map(|spike| spike.latency_ns).collect();
        let known_above = self.largest.iter().map(|one| one.known_above).max()?;
        let level = lower_level(latencies, deadline, known_above, ENOUGH_FOR_CLUMPS, above)?;
        clump(&level.bursts, from, measured)
    }

    /// Whether a run that ends when its limit of miss bursts is decided has decided it.
    pub fn is_decided(&self) -> bool {
        let Some(plan) = self.plan.as_ref().filter(|plan| plan.until.decided) else { return false };
        let Some((per_hour, deadline)) = plan.until.limit_per_hour.zip(plan.until.deadline_ns)
        else {
            return false;
        };
        // Only the time that all threads have measured counts.
        let measured = self.threads.iter().map(|thread| thread.measured).min();
        let Some(measured) = measured.filter(|time| *time > Nanos::ZERO) else { return false };
        let misses: u64 = self.threads.iter().map(|thread| thread.total.misses).sum();
        let found = bursts(&self.late);
        let known: u64 = found.iter().map(|burst| burst.misses).sum();
        let least = found.len() as u64;
        // Each miss whose time is not known yet, or not kept, may be a burst.
        let most = least + misses.saturating_sub(known);
        let clump = self.clump(plan, deadline, measured);
        BurstCount { least, most, measured, clump }.decides(per_hour)
    }
}

impl LiveThread {
    fn new(setup: &ThreadSetup) -> LiveThread {
        LiveThread {
            setup: setup.clone(),
            name: None,
            total: Histogram::default(),
            recent_max: VecDeque::with_capacity(RECENT),
            interval: None,
            measured: Nanos::ZERO,
            ended: None,
        }
    }

    /// Counts a part of an interval; the sparkline has one value per whole interval.
    fn count(&mut self, counts: &Histogram, interval: Option<i64>) {
        // An agent uses the same bins; if not, it is reported when the run is stored.
        if self.total.add(counts).is_err() || counts.count == 0 {
            return;
        }
        match self.recent_max.back_mut() {
            Some(max) if interval.is_some() && self.interval == interval => {
                *max = (*max).max(counts.max_ns)
            }
            _ => {
                if self.recent_max.len() == RECENT {
                    self.recent_max.pop_front();
                }
                self.recent_max.push_back(counts.max_ns);
                self.interval = interval;
            }
        }
    }
}
