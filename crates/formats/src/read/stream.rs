//! A recording as the messages that an agent would send, so that it becomes an ordinary run.

use crate::read::deadline::Misses;
use crate::read::recording::{LatencySeries, Recording};
use latlab_model::finding::{Finding, ImportFinding};
use latlab_model::frame::{Hello, Interval, Message, STREAM_VERSION};
use latlab_model::run::{AgentEnd, AppliedSetup, EndReason, ThreadEnd, ThreadSetup};
use latlab_model::{Histogram, Nanos, Plan};

impl Recording {
    /// The whole stream of the run with this id, one interval for each thread.
    pub fn messages(&self, plan: &Plan, id: &str, latlab: &str) -> Vec<Message> {
        let (latlab, id) = (latlab.to_string(), id.to_string());
        let threads: Vec<ThreadSetup> = (0..).zip(&self.series).map(setup).collect();
        let prepared = AppliedSetup { settings: Vec::new(), threads, helpers_on: String::new() };
        let unit = self.unit();
        let misses: Option<Vec<Misses>> = plan.until.deadline_ns.map(|deadline| {
            self.series.iter().map(|series| Misses::of(series, deadline, unit)).collect()
        });
        let mut messages = vec![
            Message::Hello(Hello { stream: STREAM_VERSION, latlab, id }),
            Message::Plan(plan.clone()),
            Message::Machine(self.machine.clone()),
            Message::Prepared(prepared),
        ];
        for (thread, series) in (0u32..).zip(&self.series) {
            let known = misses.as_ref().map_or(0, |misses| misses[thread as usize].certain);
            let mut slices = series.in_slices(plan.until.deadline_ns, unit);
            let in_slices: u64 = slices.iter().map(|slice| slice.misses).sum();
            if let Some(last) = slices.last_mut() {
                last.misses += known.saturating_sub(in_slices);
            }
            let length = self.length_ns.max(Nanos::ZERO).0;
            let number = slices.len() as i64;
            let at = |slice: i64| {
                Nanos((i128::from(length) * i128::from(slice) / i128::from(number.max(1))) as i64)
            };
            messages.extend((0..).zip(slices).map(|(slice, counts)| {
                let (start_ns, end_ns) = (at(slice), at(slice + 1));
                Message::Interval(Interval { thread, start_ns, end_ns, counts })
            }));
        }
        messages.extend(self.findings.iter().cloned().map(Message::Finding));
        let undecided = misses.and_then(|misses| undecided(&misses));
        let unlisted = plan.until.deadline_ns.and_then(|deadline| self.unlisted(deadline));
        messages.extend(undecided.or(unlisted).map(Message::Finding));
        messages.extend((0u32..).zip(&self.series).map(|(thread, series)| {
            Message::ThreadEnd(ThreadEnd::new(thread, EndReason::Finished, series.counts.count))
        }));
        messages.push(Message::End(AgentEnd {
            reason: EndReason::Finished,
            agent_peak_rss_bytes: 0,
            helpers_cpu_ns: Nanos::ZERO,
            intervals_merged: 0,
            spike_hook: None,
        }));
        messages
    }

    /// Unlisted gaps may exceed a deadline below the threshold; `None` if they cannot.
    fn unlisted(&self, deadline: Nanos) -> Option<Finding> {
        let gaps = self.gaps?;
        // A tool that truncates its figures lists no gap within a unit above its threshold.
        let is_listed =
            gaps.above_ns.is_some_and(|above| deadline >= above + self.unit() - Nanos(1));
        (!is_listed).then(|| Finding::new(ImportFinding::DeadlineUndecided { count: None }))
    }

    /// The unit to which its figures are truncated.
    fn unit(&self) -> Nanos {
        self.resolution_ns.unwrap_or(Nanos(1))
    }
}

impl LatencySeries {
    /// The slices with the certain misses of each, or all latencies if the file has no order. A
    /// larger stated maximum goes into the last slice.
    fn in_slices(&self, deadline: Option<Nanos>, unit: Nanos) -> Vec<Histogram> {
        if self.slices.is_empty() {
            return vec![self.counts.clone()];
        }
        let mut slices = self.slices.clone();
        for slice in &mut slices {
            let counts = std::mem::take(slice);
            let alone = LatencySeries { counts, ..LatencySeries::default() };
            let misses = deadline.map_or(0, |deadline| Misses::of(&alone, deadline, unit).certain);
            *slice = Histogram { misses, ..alone.counts };
        }
        if let Some(last) = slices.last_mut() {
            last.max_ns = last.max_ns.max(self.counts.max_ns);
        }
        slices
    }
}

fn setup((thread, series): (u32, &LatencySeries)) -> ThreadSetup {
    ThreadSetup {
        thread,
        cpu: series.cpu,
        core_type: None,
        capacity: None,
        thread_id: None,
        policy: series.policy.clone(),
        period_ns: series.period_ns,
        first_release_ns: Nanos::ZERO,
    }
}

/// What the file leaves open about the deadline; `None` if it decides.
fn undecided(misses: &[Misses]) -> Option<Finding> {
    let count: u64 = misses.iter().map(|one| one.undecided).sum();
    let lacks_some = misses.iter().any(|one| one.may_lack_some);
    let count = Some(count).filter(|_| !lacks_some);
    (count != Some(0)).then(|| Finding::new(ImportFinding::DeadlineUndecided { count }))
}
