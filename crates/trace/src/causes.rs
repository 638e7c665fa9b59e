//! Adds up the spikes of a run by cause.

use latlab_model::Nanos;
use latlab_model::explanation::{
    Cause, CauseKind, RunCause, SpikeBlame, Unexplained, UnexplainedReason,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct CauseTable {
    recorded: u64,
    causes: BTreeMap<Cause, Tally>,
    unexplained: BTreeMap<UnexplainedReason, u64>,
}

#[derive(Clone, Default)]
struct Tally {
    count: u64,
    /// Spikes during which stolen time rose.
    stolen: u64,
    total: i64,
    largest: i64,
    cpus: BTreeSet<u32>,
    first: Option<Nanos>,
    last: Nanos,
    /// Kernel priority of a real-time thread.
    kernel_priority: Option<i32>,
    thread: Option<i32>,
    process: Option<String>,
    /// Names of what the cause has started, with their spikes.
    started: BTreeMap<String, u64>,
}

impl CauseTable {
    pub fn push(&mut self, blame: &SpikeBlame) {
        self.recorded += 1;
        let Some(cause) = &blame.cause else {
            let reason = blame.reason.unwrap_or(UnexplainedReason::CauseUnknown);
            *self.unexplained.entry(reason).or_default() += 1;
            return;
        };
        let tally = self.causes.entry(cause.clone()).or_default();
        tally.count += 1;
        tally.stolen += u64::from(blame.stolen.is_some_and(|stolen| stolen.rose_ns > Nanos::ZERO));
        tally.total += blame.cause_ns.0;
        tally.largest = tally.largest.max(blame.cause_ns.0);
        tally.cpus.extend(blame.cpu);
        let first = tally.first.map_or(blame.release_ns, |first| first.min(blame.release_ns));
        tally.first = Some(first);
        tally.last = tally.last.max(blame.release_ns);
        let part = blame.longest.as_ref();
        let thread = part.and_then(|part| part.thread.as_ref());
        // A timer does not run at any thread's priority.
        let runs = thread.filter(|_| cause.kind != CauseKind::OtherTimers);
        let realtime = runs.filter(|one| one.is_realtime());
        tally.kernel_priority =
            tally.kernel_priority.or(realtime.and_then(|one| one.kernel_priority));
        let starter = thread.and_then(|one| one.started_by.as_ref()).map(|one| one.id);
        let id = thread.map(|one| one.id);
        tally.thread = tally.thread.or(starter).or(id);
        if let Some(part) = part.filter(|_| starter.is_some() && starter != id) {
            *tally.started.entry(part.cause.name.clone()).or_default() += 1;
        }
        let known = thread.and_then(|one| one.known.as_ref());
        tally.process = tally.process.take().or(known.map(|one| one.name.clone()));
    }

    /// Spikes with a cause.
    pub fn explained(&self) -> u64 {
        self.causes.values().map(|tally| tally.count).sum()
    }

    /// Spikes without one, by reason, most frequent first.
    pub fn unexplained(&self) -> Vec<Unexplained> {
        let each = |(&reason, &count): (&UnexplainedReason, &u64)| Unexplained {
            reason: Some(reason),
            count,
            why: None,
        };
        let mut all: Vec<Unexplained> = self.unexplained.iter().map(each).collect();
        all.sort_by_key(|one| Reverse(one.count));
        all
    }

    /// The causes. Programs in which a guest stood still are merged: the host stops now this one
    /// and now that. A program met again and again without stolen time stands alone.
    fn gathered(&self) -> BTreeMap<Cause, Tally> {
        let kind = CauseKind::HypervisorOrInterruptsOff;
        let of_host = |cause: &Cause| cause.kind == kind;
        let all = self.causes.iter().filter(|(cause, _)| of_host(cause));
        let all: u64 = all.map(|(_, tally)| tally.count).sum();
        let recurs = |tally: &Tally| {
            tally.count >= RECURS && tally.count * 2 > all && tally.stolen * 2 <= tally.count
        };
        let (mut apart, mut together) = (BTreeMap::new(), BTreeMap::new());
        for (cause, tally) in &self.causes {
            let of = if of_host(cause) && !recurs(tally) { &mut together } else { &mut apart };
            of.insert(cause.clone(), tally.clone());
        }
        if together.len() > 1 {
            let mut sum = Tally::default();
            together.iter().for_each(|(cause, tally)| sum.add(&cause.name, tally));
            together = BTreeMap::from([(Cause { kind, name: String::new() }, sum)]);
        }
        apart.extend(together);
        apart
    }

    /// The causes, by total time; times count from the first release.
    pub fn causes(&self, first_release: Nanos) -> Vec<RunCause> {
        let causes = self.gathered();
        let cause = |(cause, tally): (&Cause, &Tally)| RunCause {
            cause: cause.clone(),
            count: tally.count,
            share: tally.count as f64 / self.recorded.max(1) as f64,
            total_ns: Nanos(tally.total),
            largest_ns: Nanos(tally.largest),
            cpus: tally.cpus.iter().copied().collect(),
            first_ns: tally.first.unwrap_or_default() - first_release,
            last_ns: tally.last - first_release,
            kernel_priority: tally.kernel_priority,
            thread: tally.thread,
            process: tally.process.clone(),
            started: tally.started(),
            realtime: None,
            remedy: None,
        };
        let mut all: Vec<RunCause> = causes.iter().map(cause).collect();
        // The most costly first, not the most frequent.
        all.sort_by_key(|one| (Reverse(one.total_ns), Reverse(one.count)));
        all
    }
}

impl Tally {
    /// Adds the spikes of a program to those of others.
    fn add(&mut self, program: &str, other: &Tally) {
        self.count += other.count;
        self.total += other.total;
        self.largest = self.largest.max(other.largest);
        self.cpus.extend(&other.cpus);
        self.first = self.first.into_iter().chain(other.first).min();
        self.last = self.last.max(other.last);
        self.started.insert(program.to_string(), other.count);
    }

    fn started(&self) -> Vec<String> {
        let mut all: Vec<(&String, &u64)> = self.started.iter().collect();
        all.sort_by_key(|(_, count)| Reverse(**count));
        all.into_iter().take(NAMED).map(|(name, _)| name.clone()).collect()
    }
}

/// Names of started programs that a cause keeps.
const NAMED: usize = 3;
/// A program met this often, and more often than all others, may be the reason itself.
const RECURS: u64 = 3;
