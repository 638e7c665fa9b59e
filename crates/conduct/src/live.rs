//! What the live view shows, gathered from the frames as they pass by.

use latlab_model::frame::Message;
use latlab_model::run::{EndReason, Finding, ThreadSetup};
use latlab_model::{Histogram, Nanos};
use std::collections::VecDeque;

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
    /// Why it ended, once it has.
    pub ended: Option<EndReason>,
}

/// A run as it stands.
#[derive(Clone, Default, Debug)]
pub struct Live {
    /// The threads, once they are set up.
    pub threads: Vec<LiveThread>,
    /// What was found so far.
    pub findings: Vec<Finding>,
    /// End of the last interval, counted from the first release.
    pub measured: Nanos,
}

impl Live {
    /// Takes in a frame.
    pub fn take(&mut self, message: &Message) {
        match message {
            Message::Prepared(prepared) => {
                self.threads = prepared
                    .threads
                    .iter()
                    .map(|setup| LiveThread {
                        setup: setup.clone(),
                        total: Histogram::default(),
                        recent_max: VecDeque::with_capacity(RECENT),
                        ended: None,
                    })
                    .collect();
            }
            Message::Interval(interval) => {
                let Some(thread) = self.threads.get_mut(interval.thread as usize) else { return };
                self.measured = self.measured.max(interval.end_ns - thread.setup.first_release_ns);
                thread.total.add(&interval.counts);
                if interval.counts.count > 0 {
                    if thread.recent_max.len() == RECENT {
                        thread.recent_max.pop_front();
                    }
                    thread.recent_max.push_back(interval.counts.max_ns);
                }
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
