//! The state of the threads: updated by the agent's watch and from its stream.

use super::spikes::Spikes;
use latlab_agent::Sealed;
use latlab_model::frame::Message;
use latlab_model::plan::Policy;
use latlab_model::run::{AppliedSetup, EndReason, ThreadSetup};
use latlab_model::samples::Samples;
use latlab_model::{Histogram, Nanos, Plan};
use std::collections::VecDeque;

/// Limit for samples that wait to be printed, packed.
const MOST_WAITING_BYTES: usize = 64 << 20;

#[derive(Clone, Default, Debug)]
pub struct Thread {
    /// Thread id; 0 before the thread exists.
    pub id: i32,
    /// The CPU that the thread is pinned to.
    pub cpu: Option<u32>,
    /// 0 for policies without priorities.
    pub priority: u8,
    pub period: Nanos,
    pub first_release: Nanos,
    /// Counts so far.
    pub total: Histogram,
    /// The latest latency.
    pub last: Nanos,
    /// The largest latencies, with their releases.
    pub spikes: Spikes,
    /// `None` while the thread runs.
    pub ended: Option<EndReason>,
}

/// The threads, and the samples that wait to be printed.
#[derive(Default)]
pub struct State {
    /// Indexed by thread number.
    pub threads: Vec<Thread>,
    /// The setup as the agent applied it. `None` before that.
    pub prepared: Option<AppliedSetup>,
    /// Whether to keep samples until `take_samples` is called.
    pub wants_samples: bool,
    samples: VecDeque<Samples>,
    waiting_bytes: usize,
    /// Samples dropped because they were not taken in time.
    pub unprinted: u64,
    /// A latency above this ends the run.
    pub stop_above: Option<Nanos>,
}

impl State {
    pub fn new(plan: &Plan) -> State {
        let thread = |number: u32| Thread {
            priority: plan.policy_of(number).map_or(0, Policy::priority),
            period: plan.method.period_of(number).unwrap_or_default(),
            ..Thread::default()
        };
        let threads = (0..plan.who.threads.unwrap_or(1)).map(thread).collect();
        State {
            threads,
            wants_samples: plan.keep.samples,
            stop_above: plan.until.stop_above_ns,
            ..State::default()
        }
    }

    /// Adds what a thread has just counted.
    pub fn add_interval(&mut self, thread: u32, sealed: &Sealed) {
        let Some(thread) = self.threads.get_mut(thread as usize) else { return };
        thread.total.add(&sealed.counts).expect("both have latlab's own bins");
        if sealed.counts.count > 0 {
            thread.last = Nanos(sealed.last);
        }
    }

    /// Adds a frame of the stream.
    pub fn add_message(&mut self, message: &Message) {
        match message {
            Message::Prepared(prepared) if self.prepared.is_none() => {
                prepared.threads.iter().for_each(|setup| self.set_up(setup));
                self.prepared = Some(prepared.clone());
            }
            Message::Spikes(spikes) => {
                if let Some(thread) = self.threads.get_mut(spikes.thread as usize) {
                    thread.spikes.add(&spikes.spikes);
                }
            }
            Message::Samples(samples) if self.wants_samples => self.add_samples(samples),
            Message::ThreadEnd(end) => {
                if let Some(thread) = self.threads.get_mut(end.thread as usize) {
                    thread.ended = Some(end.reason);
                }
            }
            _ => {}
        }
    }

    fn set_up(&mut self, setup: &ThreadSetup) {
        if let Some(thread) = self.threads.get_mut(setup.thread as usize) {
            thread.id = setup.thread_id.unwrap_or(0);
            thread.cpu = setup.cpu;
            thread.first_release = setup.first_release_ns;
        }
    }

    fn add_samples(&mut self, samples: &Samples) {
        if self.waiting_bytes > MOST_WAITING_BYTES {
            self.unprinted += u64::from(samples.count);
            return;
        }
        self.unprinted += samples.lost_before;
        self.waiting_bytes += samples.packed.len();
        self.samples.push_back(samples.clone());
    }

    /// Takes the samples received so far, in the order of the stream.
    pub fn take_samples(&mut self) -> VecDeque<Samples> {
        self.waiting_bytes = 0;
        std::mem::take(&mut self.samples)
    }

    /// The thread that first exceeded the limit, and its latency. The other threads ended because
    /// of it.
    pub fn broken(&self) -> Option<(i32, Nanos)> {
        let limit = self.stop_above?;
        let first = |thread: &Thread| {
            let spikes = thread.spikes.above(limit);
            let found =
                spikes.into_iter().min_by_key(|spike| spike.release_ns + spike.latency_ns)?;
            Some((found.release_ns + found.latency_ns, thread.id, found.latency_ns))
        };
        let (_, id, latency) = self.threads.iter().filter_map(first).min()?;
        Some((id, latency))
    }

    /// Overruns of all threads.
    pub fn overruns(&self) -> u64 {
        self.threads.iter().map(|thread| thread.total.overruns).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::frame::Spike;

    /// Invariant (command line): The thread that broke the limit of cyclictest is named, and its value.
    #[test]
    fn the_thread_that_broke_the_limit_is_named_and_not_those_that_it_ended() {
        let spike = |release: i64, latency: i64| Spike {
            release_ns: Nanos(release),
            latency_ns: Nanos(latency),
        };
        let thread = |id, spikes: &[Spike]| {
            let mut thread = Thread { id, ended: Some(EndReason::StopAbove), ..Thread::default() };
            thread.spikes.add(spikes);
            thread
        };
        let threads = vec![
            thread(7, &[spike(1_000, 90)]),
            thread(8, &[spike(1_000, 40), spike(2_000, 150)]),
            // It was released earlier, but woke up later.
            thread(9, &[spike(1_900, 400)]),
        ];
        let mut state = State { threads, stop_above: Some(Nanos(100)), ..State::default() };
        assert_eq!(state.broken(), Some((8, Nanos(150))));
        state.stop_above = Some(Nanos(500));
        assert_eq!(state.broken(), None);
    }
}
