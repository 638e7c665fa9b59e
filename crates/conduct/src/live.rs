//! What the live view shows, gathered from the frames as they pass by.

use latlab_model::frame::Message;
use latlab_model::run::{EndReason, Finding, ThreadSetup};
use latlab_model::{Histogram, Nanos, Plan};
use std::collections::VecDeque;
use std::path::PathBuf;

/// Maxima that a thread's sparkline shows: one for each interval of the last minute.
pub const RECENT: usize = 60;

/// A measuring thread as it stands.
#[derive(Clone, Debug)]
pub struct LiveThread {
    /// How it was set up.
    pub setup: ThreadSetup,
    /// All its counts so far.
    pub total: Histogram,
    /// Maxima of the last [`RECENT`] intervals, oldest first.
    pub recent_max: VecDeque<Nanos>,
    /// Number of the interval that the last of them belongs to.
    interval: Option<i64>,
    /// Why it ended, once it has.
    pub ended: Option<EndReason>,
}

/// A run as it stands.
#[derive(Clone, Default, Debug)]
pub struct LiveRun {
    /// The threads, once they are set up.
    pub threads: Vec<LiveThread>,
    /// What was found so far.
    pub findings: Vec<Finding>,
    /// End of the last interval, counted from the first release.
    pub measured: Nanos,
    /// Where a guest's kernel says what it says.
    pub console: Option<PathBuf>,
    plan: Option<Plan>,
}

impl LiveRun {
    /// Takes in a frame.
    pub fn apply(&mut self, message: &Message) {
        match message {
            Message::Plan(plan) => self.plan = Some(plan.clone()),
            Message::Prepared(prepared) => {
                self.threads = prepared
                    .threads
                    .iter()
                    .map(|setup| LiveThread {
                        setup: setup.clone(),
                        total: Histogram::default(),
                        recent_max: VecDeque::with_capacity(RECENT),
                        interval: None,
                        ended: None,
                    })
                    .collect();
            }
            Message::Interval(interval) => {
                let Some(thread) = self.threads.get_mut(interval.thread as usize) else { return };
                let first = thread.setup.first_release_ns;
                self.measured = self.measured.max(interval.end_ns - first);
                let number =
                    self.plan.as_ref().map(|plan| plan.interval_of(first, interval.start_ns));
                thread.count(&interval.counts, number);
            }
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

impl LiveThread {
    /// Counts a part of an interval; the sparkline has one value for the whole of it.
    fn count(&mut self, counts: &Histogram, interval: Option<i64>) {
        // An agent counts in bins of the same edges; what does not is told when the run is stored.
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
