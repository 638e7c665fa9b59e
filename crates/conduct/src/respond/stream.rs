//! Writes responses as the frames of a stream: intervals, samples, and the largest with their
//! times.

use super::machine::AnsweringMachine;
use super::{RespondFailure, bins};
use crate::StopFlag;
use latlab_capture::{NANO_PS, Response, ResponseClass};
use latlab_model::deadline::is_miss;
use latlab_model::finding::CaptureFinding;
use latlab_model::frame::{Hello, Interval, KEPT_SPIKES, Message, STREAM_VERSION, Spike, Spikes};
use latlab_model::machine::Machine;
use latlab_model::respond::Responses;
use latlab_model::run::{
    AgentEnd, AppliedSetup, EndReason, Finding, Setting, ThreadEnd, ThreadSetup,
};
use latlab_model::samples::{FineSamples, Sample, Samples};
use latlab_model::{BinLayout, Histogram, Nanos, Plan};
use latlab_store::{Finished, OpenRun};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Read;
use std::time::Instant;

/// Samples per frame.
const OF_A_FRAME: usize = 8192;
/// Write buffer in bytes.
const AT_ONCE: usize = 1 << 20;
/// A responder has one thread, whatever it is made of.
const THREAD: u32 = 0;

/// A run whose responses are still being added.
pub struct StreamBuilder<'a> {
    plan: &'a Plan,
    stop: &'a StopFlag,
    open: OpenRun,
    bytes: Vec<u8>,
    counted_to: Nanos,
    latencies: Vec<Nanos>,
    misses: u64,
    /// Resolution of the times.
    finest_ps: Option<i64>,
    /// The bins; `None` until there are enough responses to choose them.
    layout: Option<BinLayout>,
    /// Counts that wait for the bins, and their total number of latencies.
    waiting: Vec<Counted>,
    waiting_latencies: usize,
    samples: Vec<Sample>,
    spikes: BinaryHeap<Reverse<Spike>>,
    answered: u64,
    /// Responses that met the deadline by less than the resolution.
    nearly_missed: u64,
    last: Nanos,
    /// The answering machine, if an agent runs on it.
    answering: Option<AnsweringMachine>,
    /// Start of the series on the clock of that machine, the origin of all times here.
    origin: Nanos,
}

#[derive(Default)]
pub struct Answering {
    pub machine: Machine,
    /// Its components, and the instruments.
    pub settings: Vec<Setting>,
    /// An agent on it, and when the series began.
    pub agent: Option<(AnsweringMachine, Instant)>,
}

/// Counts of an interval of time.
struct Counted {
    start_ns: Nanos,
    end_ns: Nanos,
    latencies: Vec<Nanos>,
    misses: u64,
}

impl<'a> StreamBuilder<'a> {
    /// Starts the stream.
    pub fn begin(
        open: OpenRun,
        plan: &'a Plan,
        answering: Answering,
        finest_ps: Option<i64>,
        stop: &'a StopFlag,
    ) -> Result<StreamBuilder<'a>, RespondFailure> {
        let latlab = latlab_model::VERSION.to_string();
        let hello = Hello { stream: STREAM_VERSION, latlab, id: open.id().to_string() };
        let Answering { machine, mut settings, agent } = answering;
        let origin = agent.as_ref().map_or(Nanos::ZERO, |(agent, begun)| agent.clock_at(*begun));
        let agent = agent.map(|(agent, _)| agent);
        let machine = agent.as_ref().map_or(machine, AnsweringMachine::machine);
        let applied = agent.as_ref().map(AnsweringMachine::applied).unwrap_or_default();
        settings.extend(applied.settings);
        let threads = vec![setup(origin)];
        let prepared = AppliedSetup { settings, threads, helpers_on: applied.helpers_on };
        let mut recorder = StreamBuilder {
            plan,
            stop,
            open,
            bytes: Vec::new(),
            counted_to: Nanos::ZERO,
            latencies: Vec::new(),
            misses: 0,
            finest_ps,
            layout: None,
            waiting: Vec::new(),
            waiting_latencies: 0,
            samples: Vec::new(),
            spikes: BinaryHeap::new(),
            answered: 0,
            nearly_missed: 0,
            last: Nanos::ZERO,
            answering: agent,
            origin,
        };
        recorder.send(&Message::Hello(hello))?;
        recorder.send(&Message::Plan(plan.clone()))?;
        recorder.send(&Message::Machine(machine))?;
        recorder.send(&Message::Prepared(prepared))?;
        recorder.forward()?;
        Ok(recorder)
    }

    /// Passes on messages of the agent on the answering machine.
    fn forward(&mut self) -> Result<(), RespondFailure> {
        let said = self.answering.as_mut().map(AnsweringMachine::take_messages).unwrap_or_default();
        said.iter().try_for_each(|message| self.send(message))
    }

    /// Adds the next stimulus and its outcome.
    pub fn push(&mut self, answer: Response) -> Result<(), RespondFailure> {
        if self.stop.is_set() {
            return Err(RespondFailure::Interrupted);
        }
        let at = Nanos(answer.at_ps.div_euclid(NANO_PS)).max(self.last);
        self.last = at;
        let interval = self.plan.keep.interval_ns.0.max(1);
        let begin = Nanos(at.0.div_euclid(interval) * interval);
        if begin > self.counted_to {
            let whole = self.counted_to.0.div_euclid(interval) * interval + interval;
            self.flush(Nanos(whole).min(begin))?;
            // Intervals without stimuli are counted as well.
            self.flush(begin)?;
        }
        let deadline = self.plan.until.deadline_ns.unwrap_or(Nanos::MAX);
        match answer.class {
            ResponseClass::Answered(delay) => {
                self.push_sample(Sample::fine(at, delay))?;
                let deadline_ps = deadline.0.saturating_mul(NANO_PS);
                let longest = delay.saturating_add(self.finest_ps.unwrap_or(0));
                if is_miss(delay, deadline_ps) {
                    self.misses += 1;
                } else if is_miss(longest, deadline_ps) {
                    self.nearly_missed += 1;
                }
            }
            ResponseClass::Late(delay) => {
                self.misses += u64::from(is_miss(delay, deadline.0.saturating_mul(NANO_PS)))
            }
            ResponseClass::Missing => {
                self.misses += u64::from(self.plan.until.deadline_ns.is_some())
            }
            ResponseClass::Unmeasured => {}
        }
        Ok(())
    }

    fn push_sample(&mut self, sample: Sample) -> Result<(), RespondFailure> {
        let Sample { release_ns, latency_ns, .. } = sample;
        self.answered += 1;
        self.latencies.push(latency_ns);
        self.spikes.push(Reverse(Spike { latency_ns, release_ns }));
        if self.spikes.len() > KEPT_SPIKES {
            self.spikes.pop();
        }
        self.samples.push(sample);
        if self.samples.len() >= OF_A_FRAME {
            // A partial interval ends where the next part starts.
            self.flush(release_ns.max(self.counted_to))?;
        }
        Ok(())
    }

    /// Counts everything up to this time.
    fn flush(&mut self, to: Nanos) -> Result<(), RespondFailure> {
        let (start_ns, end_ns) = (self.counted_to, to.max(self.counted_to));
        if start_ns == end_ns && self.latencies.is_empty() && self.misses == 0 {
            return Ok(());
        }
        let latencies = std::mem::take(&mut self.latencies);
        let misses = std::mem::take(&mut self.misses);
        self.counted_to = end_ns;
        self.waiting_latencies += latencies.len();
        self.waiting.push(Counted { start_ns, end_ns, latencies, misses });
        if self.layout.is_some() || self.waiting_latencies >= OF_A_FRAME {
            self.send_waiting()?;
        }
        let mut samples = std::mem::take(&mut self.samples);
        samples.iter_mut().for_each(|sample| sample.release_ns += self.origin);
        match samples.is_empty() {
            true => Ok(()),
            false => self.send(&match self.finest_ps {
                // Whole nanoseconds lose nothing.
                Some(finest) if finest % NANO_PS == 0 => {
                    Message::Samples(Samples::without_period(THREAD, &samples))
                }
                _ => Message::FineSamples(FineSamples::without_period(THREAD, &samples)),
            }),
        }
    }

    /// Writes everything so far to the journal.
    pub fn keep(&mut self) -> Result<(), RespondFailure> {
        self.flush(self.last)?;
        if self.waiting_latencies > 0 {
            self.send_waiting()?;
        }
        self.forward()?;
        self.write()
    }

    /// Keeps an original file in the run's folder.
    pub fn add_original(
        &mut self,
        name: &str,
        source: &mut impl Read,
    ) -> Result<(), RespondFailure> {
        self.open.add_original(name, source)?;
        Ok(())
    }

    /// Sends the waiting counts, in bins chosen from the first responses.
    fn send_waiting(&mut self) -> Result<(), RespondFailure> {
        let waiting = std::mem::take(&mut self.waiting);
        let first = || waiting.iter().flat_map(|one| one.latencies.iter().copied()).collect();
        let layout = match self.layout.take() {
            Some(layout) => layout,
            None => bins::layout(first(), self.finest_ps),
        };
        for Counted { start_ns, end_ns, latencies, misses } in waiting {
            let counts = Histogram::with_layout(layout.clone(), latencies);
            let counts = Histogram { misses, ..counts };
            let (start_ns, end_ns) = (start_ns + self.origin, end_ns + self.origin);
            self.send(&Message::Interval(Interval { thread: THREAD, start_ns, end_ns, counts }))?;
        }
        self.layout = Some(layout);
        Ok(())
    }

    /// Ends the stream and stores the run.
    pub fn finish(
        mut self,
        responded: Responses,
        findings: Vec<Finding>,
        length_ps: i64,
        reason: EndReason,
    ) -> Result<Finished, RespondFailure> {
        let end = Nanos(length_ps.div_euclid(NANO_PS)).max(self.last + Nanos(1));
        self.flush(end)?;
        self.send_waiting()?;
        let mut spikes: Vec<Spike> =
            std::mem::take(&mut self.spikes).into_iter().map(|one| one.0).collect();
        spikes.sort();
        spikes.iter_mut().for_each(|spike| spike.release_ns += self.origin);
        self.send(&Message::Spikes(Spikes { thread: THREAD, spikes }))?;
        for finding in findings.into_iter().chain(self.deadline_finding()) {
            self.send(&Message::Finding(finding))?;
        }
        if let Some(agent) = &mut self.answering {
            agent.stop();
        }
        self.forward()?;
        let end = self.answering.as_ref().map(|agent| agent.end().cloned());
        if let Some(None) = end {
            let has_loads = !self.plan.on.loads.is_empty();
            self.send(&Message::Finding(Finding::new(CaptureFinding::MachineLost { has_loads })))?;
        }
        let end = end.flatten().unwrap_or(AgentEnd {
            reason,
            agent_peak_rss_bytes: 0,
            helpers_cpu_ns: Nanos::ZERO,
            intervals_merged: 0,
            spike_hook: None,
        });
        let last_word = thread_end(self.answered, responded, reason);
        self.send(&Message::ThreadEnd(last_word))?;
        self.send(&Message::End(AgentEnd { reason, ..end }))?;
        self.write()?;
        Ok(self.open.finish()?)
    }

    fn deadline_finding(&self) -> Option<Finding> {
        let resolution_ps = self.finest_ps.filter(|_| self.nearly_missed > 0)?;
        let resolution_ns = Nanos((resolution_ps + NANO_PS - 1).div_euclid(NANO_PS));
        let count = self.nearly_missed;
        let finding = CaptureFinding::DeadlineWithinResolution { count, resolution_ns };
        Some(Finding::new(finding))
    }

    /// Removes the unfinished run.
    pub fn discard(self) -> Result<(), RespondFailure> {
        Ok(self.open.discard()?)
    }

    fn send(&mut self, message: &Message) -> Result<(), RespondFailure> {
        self.bytes.extend(message.encode());
        if self.bytes.len() > AT_ONCE { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), RespondFailure> {
        self.open.append(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

fn setup(first_release_ns: Nanos) -> ThreadSetup {
    ThreadSetup {
        thread: THREAD,
        cpu: None,
        core_type: None,
        capacity: None,
        thread_id: None,
        policy: String::new(),
        period_ns: None,
        first_release_ns,
    }
}

fn thread_end(cycles: u64, responded: Responses, reason: EndReason) -> ThreadEnd {
    let end = ThreadEnd::new(THREAD, reason, cycles);
    ThreadEnd { responded: Some(responded), ..end }
}
