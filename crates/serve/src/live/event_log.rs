//! Events of a run so far, numbered: the newest complete, older ones merged.

use super::conditions::{LiveConditions, Value};
use latlab_digest::{RunBuilder, StreamRow};
use latlab_model::frame::Message;
use latlab_model::machine::Machine;
use latlab_model::nanos::SECOND;
use latlab_model::run::{AppliedSetup, Finding};
use latlab_model::{Nanos, Plan};
use latlab_stats::Span;
use latlab_store::{FollowState, JournalEvent};
use std::collections::BTreeMap;
use std::collections::VecDeque;

/// The newest time that is kept complete.
pub const WHOLE: Nanos = Nanos(600 * SECOND.0);
/// Time that is merged at once.
const BLOCK: Nanos = Nanos(60 * SECOND.0);
/// Most events kept complete, however short they are, and most merged ones.
const MOST_WHOLE: usize = 40_000;
const MOST_JOINED: usize = 8_000;
/// Most findings kept; more are counted.
const MOST_FINDINGS: usize = 200;

#[derive(Clone, Debug)]
pub enum LiveEvent {
    /// Latencies of one thread.
    Interval(u32, Span),
    /// The conditions at a time.
    Reading(Nanos, Vec<Value>),
}

impl LiveEvent {
    fn at(&self) -> Nanos {
        match self {
            LiveEvent::Interval(_, span) => span.to,
            LiveEvent::Reading(at, _) => *at,
        }
    }
}

/// What is known once measuring begins.
pub struct RunStart {
    pub plan: Plan,
    pub machine: Option<Machine>,
    /// The setup as applied.
    pub prepared: AppliedSetup,
    /// The first release of all threads, from which times are counted.
    pub first: Nanos,
}

/// Everything kept of a run in progress.
#[derive(Default)]
pub struct EventLog {
    assembly: RunBuilder,
    conditions: LiveConditions,
    plan: Option<Plan>,
    machine: Option<Machine>,
    begun: Option<RunStart>,
    joined: Vec<(u64, LiveEvent)>,
    whole: VecDeque<(u64, LiveEvent)>,
    findings: Vec<(u64, Finding)>,
    findings_left_out: u64,
    totals: BTreeMap<u32, Span>,
    damage: u64,
    standing: Option<Result<FollowState, String>>,
    /// Number of the last event, and of the last change of the status.
    last: u64,
    told: u64,
    /// Length of a merged step.
    step: Nanos,
    /// Events before this number were merged since they were sent.
    rewritten: u64,
}

impl EventLog {
    /// Adds an event of the journal.
    pub fn push_journal_event(&mut self, seen: JournalEvent) {
        match seen {
            JournalEvent::Message(message) => self.push_message(*message),
            JournalEvent::Damage(bytes) => {
                self.damage += bytes;
                self.mark_changed();
            }
            JournalEvent::Restarted => {
                let last = self.last + 1;
                *self = EventLog { last, told: last, rewritten: last, ..EventLog::default() };
            }
        }
    }

    /// Sets the state of the run, or why it is unknown.
    pub fn set_state(&mut self, standing: Result<FollowState, String>) {
        if self.standing.as_ref() != Some(&standing) {
            if standing == Ok(FollowState::Abandoned) {
                // Nothing more will come, so the last interval is as complete as it will be.
                self.assembly.last_rows().into_iter().for_each(|row| self.count(row));
            }
            self.standing = Some(standing);
            self.mark_changed();
        }
    }

    fn mark_changed(&mut self) {
        self.last += 1;
        self.told = self.last;
    }

    fn push_message(&mut self, message: Message) {
        match &message {
            Message::Plan(plan) => self.plan = Some(plan.clone()),
            Message::Machine(machine) => self.machine = Some(machine.clone()),
            Message::Prepared(prepared) if self.begun.is_none() => self.begin(prepared.clone()),
            Message::Finding(finding) if self.findings.len() < MOST_FINDINGS => {
                self.last += 1;
                self.findings.push((self.last, finding.clone()));
            }
            Message::Finding(_) => {
                self.findings_left_out += 1;
                self.mark_changed();
            }
            Message::Series(series) => self.conditions.announce(series),
            Message::Reading(reading) => {
                let values = self.conditions.read(reading);
                if !values.is_empty() {
                    self.push(LiveEvent::Reading(reading.at_ns, values));
                }
            }
            _ => {}
        }
        let is_end = matches!(message, Message::End(_));
        let row = self.assembly.push(message);
        row.into_iter().for_each(|row| self.count(row));
        if is_end {
            self.assembly.last_rows().into_iter().for_each(|row| self.count(row));
        }
    }

    fn count(&mut self, row: StreamRow) {
        let StreamRow::Interval(row) = row else { return };
        let span = row.span();
        self.totals.entry(row.thread).and_modify(|all| all.join(&span)).or_insert(span);
        self.push(LiveEvent::Interval(row.thread, span));
    }

    fn begin(&mut self, prepared: AppliedSetup) {
        let Some(plan) = self.plan.clone() else { return };
        let first = prepared.threads.iter().map(|thread| thread.first_release_ns).min();
        let first = first.unwrap_or_default();
        self.begun = Some(RunStart { plan, machine: self.machine.clone(), prepared, first });
        self.mark_changed();
        self.rewritten = self.last;
    }

    fn push(&mut self, event: LiveEvent) {
        let now = event.at();
        self.last += 1;
        self.whole.push_back((self.last, event));
        let oldest = self.whole.front().map_or(now, |(_, event)| event.at());
        if now - oldest > WHOLE + BLOCK || self.whole.len() > MOST_WHOLE {
            let many = self.whole.len().div_ceil(16);
            let old = self.whole.iter().take_while(|(_, event)| now - event.at() > WHOLE).count();
            let block: Vec<(u64, LiveEvent)> = self.whole.drain(..old.max(many)).collect();
            self.keep_joined(block);
        }
    }

    fn keep_joined(&mut self, block: Vec<(u64, LiveEvent)>) {
        self.step = self.step.max(Nanos(10 * SECOND.0));
        self.rewritten = block.last().map_or(self.rewritten, |(number, _)| *number);
        self.joined.extend(join_events(block, self.step));
        while self.joined.len() > MOST_JOINED && self.step.0 < i64::MAX / 2 {
            self.step = Nanos(self.step.0 * 2);
            self.joined = join_events(std::mem::take(&mut self.joined), self.step);
        }
    }

    /// Number of the last event.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Whether a reader who has seen events up to this number must start over.
    pub fn is_rewritten_since(&self, seen: u64) -> bool {
        seen < self.rewritten
    }

    /// Events after this number, in order.
    pub fn events_after(&self, seen: u64) -> impl Iterator<Item = &(u64, LiveEvent)> {
        let newer = move |(number, _): &&(u64, LiveEvent)| *number > seen;
        // Most readers have seen all but the last few.
        let whole = self.whole.partition_point(|(number, _)| *number <= seen);
        let old = self.joined.iter().filter(newer);
        old.chain(self.whole.range(whole..))
    }

    /// Findings after this number.
    pub fn findings(&self, seen: u64) -> impl Iterator<Item = &Finding> {
        let newer = self.findings.iter().filter(move |(number, _)| *number > seen);
        newer.map(|(_, finding)| finding)
    }

    /// State and counts, if changed since this number.
    pub fn status(&self, seen: u64) -> Option<(&Result<FollowState, String>, u64, u64)> {
        let standing = self.standing.as_ref().filter(|_| self.told > seen)?;
        Some((standing, self.damage, self.findings_left_out))
    }

    pub fn state(&self) -> Option<&Result<FollowState, String>> {
        self.standing.as_ref()
    }

    /// The plan and its setup, once measuring begins.
    pub fn run_start(&self) -> Option<&RunStart> {
        self.begun.as_ref()
    }

    /// All latencies of each thread so far.
    pub fn totals(&self) -> &BTreeMap<u32, Span> {
        &self.totals
    }

    /// Whether nothing will ever be added.
    pub fn is_over(&self) -> bool {
        matches!(self.standing, Some(Err(_) | Ok(FollowState::Finished(_) | FollowState::Removed)))
    }
}

/// Events merged into steps: for latencies everything that [`Span::join`] keeps, for conditions one
/// reading per step. They get the first of the numbers, which keeps the order.
fn join_events(block: Vec<(u64, LiveEvent)>, step: Nanos) -> Vec<(u64, LiveEvent)> {
    let mut numbers = Vec::with_capacity(block.len());
    let mut spans: BTreeMap<(Nanos, u32), Span> = BTreeMap::new();
    let mut readings: BTreeMap<Nanos, (Nanos, Vec<Value>)> = BTreeMap::new();
    for (number, event) in block {
        numbers.push(number);
        let place = |time: Nanos| Nanos(time.0.div_euclid(step.0));
        match event {
            LiveEvent::Interval(thread, span) => {
                let place = (place(span.from), thread);
                spans.entry(place).and_modify(|all| all.join(&span)).or_insert(span);
            }
            LiveEvent::Reading(at, values) => {
                readings.entry(place(at)).or_insert((at, values));
            }
        }
    }
    let spans = spans.into_iter().map(|((_, thread), span)| LiveEvent::Interval(thread, span));
    let readings = readings.into_values().map(|(at, values)| LiveEvent::Reading(at, values));
    let mut events: Vec<LiveEvent> = spans.chain(readings).collect();
    events.sort_by_key(LiveEvent::at);
    numbers.into_iter().zip(events).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: i64) -> LiveEvent {
        let (from, to) = (Nanos(number * SECOND.0), Nanos((number + 1) * SECOND.0));
        let max = Some(Nanos(1_000 + number));
        LiveEvent::Interval(
            (number % 2) as u32,
            Span { from, to, count: 7, max, ..Span::default() },
        )
    }

    fn spans(log: &EventLog, seen: u64) -> Vec<(u64, Span)> {
        let span = |(number, event): &(u64, LiveEvent)| match event {
            LiveEvent::Interval(_, span) => Some((*number, *span)),
            LiveEvent::Reading(..) => None,
        };
        log.events_after(seen).filter_map(span).collect()
    }

    /// Invariant (page and server): Joining a long run for the browser loses no count and no maximum.
    #[test]
    fn a_long_run_is_joined_and_loses_no_count_and_no_maximum() {
        let mut log = EventLog::default();
        let seconds = 200_000;
        for number in 0..seconds {
            log.push(second(number));
            log.push(LiveEvent::Reading(Nanos(number * SECOND.0), vec![("load cpu0".into(), 1.0)]));
        }
        let all = spans(&log, 0);
        assert!(all.len() < MOST_JOINED + 2 * 700, "{}", all.len());
        assert_eq!(all.iter().map(|(_, span)| span.count).sum::<u64>(), 7 * seconds as u64);
        let max = all.iter().filter_map(|(_, span)| span.max).max();
        assert_eq!(max, Some(Nanos(1_000 + seconds - 1)));
        assert!(all.is_sorted_by(|one, two| one.0 < two.0), "numbers rise");
        let whole = all.iter().filter(|(_, span)| span.to - span.from == SECOND).count();
        assert!(whole >= 600, "{whole}");
    }

    #[test]
    fn a_reader_who_was_away_too_long_begins_anew() {
        let mut log = EventLog::default();
        (0..100).for_each(|number| log.push(second(number)));
        assert!(!log.is_rewritten_since(50));
        assert_eq!(spans(&log, 50).len(), 50);
        (100..2000).for_each(|number| log.push(second(number)));
        assert!(log.is_rewritten_since(50) && !log.is_rewritten_since(log.last() - 600));
    }
}
