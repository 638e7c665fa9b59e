//! Self-interference: which of latlab's own threads worked on the CPU of a measuring thread between
//! its release and its wake-up, for the largest latencies.

use latlab_model::finding::{Finding, OwnThreadFinding};
use latlab_model::frame::Spike;
use latlab_model::run::{AppliedSetup, ThreadSetup};
use latlab_model::self_interference::{
    LargestLatency, OwnThread, OwnThreadWork, RunSelfInterference, SelfInterference, WorkStretch,
};
use latlab_model::{CpuSet, Nanos};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Largest latencies that are listed …
const LISTED: usize = 20;
/// … and those that are compared with the work, to find the largest unaffected one.
const COMPARED: usize = 200;
/// Stretches kept for latencies that come later in the stream: minutes of them.
const REMEMBERED: usize = 1 << 14;
/// CPU time of a thread before it can log its start, and after it has logged its end: an interrupt
/// and a switch.
const MARGIN: Nanos = Nanos(20_000);
/// Work that takes a smaller part of a latency did not cause it: such as that of the conductor
/// while the agent was stopped.
const LEAST_PART: i64 = 20;

/// State gathered from the frames so far.
#[derive(Default)]
pub struct SelfInterferenceDigest {
    /// `None` if the stream has no such log.
    threads: Option<BTreeMap<OwnThread, OwnThreadWork>>,
    lost: u64,
    /// The measured CPUs; `None` if threads are not pinned and may use all of them.
    measured: Option<CpuSet>,
    /// `None` before the threads are prepared.
    first_release: Option<Nanos>,
    recent: VecDeque<BusyStretch>,
    largest: BTreeMap<LatencyKey, ComparedLatency>,
}

/// Sorted by latency, descending, then release and thread.
type LatencyKey = (Reverse<Nanos>, Nanos, u32);

struct ComparedLatency {
    cpu: u32,
    own_threads: BTreeSet<OwnThread>,
    /// How much of the latency they worked, with their margins.
    worked: Nanos,
}

/// A stretch that a thread spent on its CPU.
struct BusyStretch {
    thread: OwnThread,
    cpus: [u32; 2],
    from: Nanos,
    to: Nanos,
}

impl SelfInterferenceDigest {
    /// Sets the measured CPUs.
    pub fn prepare(&mut self, prepared: &AppliedSetup) {
        self.first_release = prepared.threads.iter().map(|thread| thread.first_release_ns).min();
        self.measured = prepared.threads.iter().map(|thread| thread.cpu).collect();
    }

    /// Adds the log of a thread.
    pub fn push(&mut self, work: SelfInterference) {
        let SelfInterference { thread, allowed, lost, stretches } = work;
        self.lost = self.lost.saturating_add(lost);
        let counted = self.threads.get_or_insert_default().entry(thread).or_insert(OwnThreadWork {
            thread,
            allowed: CpuSet::default(),
            stretches: 0,
            ran_ns: Nanos::ZERO,
            longest_ns: Nanos::ZERO,
            ran_on_measured_ns: Nanos::ZERO,
        });
        let counts =
            |one: &&WorkStretch| self.first_release.is_some_and(|first| one.begin_ns >= first);
        // Before the first release a thread need not be on its CPUs yet.
        if counted.stretches == 0 {
            counted.allowed = allowed;
        } else if stretches.iter().any(|one| counts(&one)) {
            counted.allowed = counted.allowed.iter().chain(allowed.iter()).collect();
        }
        for stretch in stretches.iter().filter(counts) {
            let ran = stretch.ran_ns.max(Nanos::ZERO);
            counted.stretches = counted.stretches.saturating_add(1);
            counted.ran_ns += ran;
            counted.longest_ns = counted.longest_ns.max(ran);
            let cpus = [stretch.first_cpu, stretch.last_cpu];
            let is_measured = |measured: &CpuSet| cpus.iter().any(|&cpu| measured.contains(cpu));
            if self.measured.as_ref().is_none_or(is_measured) {
                counted.ran_on_measured_ns += ran;
            }
        }
        for stretch in stretches.iter().filter_map(|stretch| busy(thread, stretch)) {
            for (key, compared) in &mut self.largest {
                compared.compare(key, &stretch);
            }
            self.recent.push_back(stretch);
        }
        let more = self.recent.len().saturating_sub(REMEMBERED);
        self.recent.drain(..more);
    }

    /// Adds a large latency of a thread.
    pub fn push_spike(&mut self, setup: &ThreadSetup, spike: Spike) {
        let Some(cpu) = setup.cpu else { return };
        let key = (Reverse(spike.latency_ns), spike.release_ns, setup.thread);
        let is_full = self.largest.len() >= COMPARED;
        if is_full && self.largest.last_key_value().is_some_and(|(last, _)| *last <= key) {
            return;
        }
        let mut compared =
            ComparedLatency { cpu, own_threads: BTreeSet::new(), worked: Nanos::ZERO };
        self.recent.iter().for_each(|stretch| compared.compare(&key, stretch));
        self.largest.insert(key, compared);
        if self.largest.len() > COMPARED {
            self.largest.pop_last();
        }
    }

    /// The result; `None` if the stream has no such log.
    pub fn finish(mut self) -> Option<RunSelfInterference> {
        let mut threads: Vec<OwnThreadWork> = self.threads?.into_values().collect();
        threads.sort_by_key(|one| Reverse(one.ran_ns));
        for ((latency, _, _), compared) in &mut self.largest {
            if compared.worked * LEAST_PART < latency.0 {
                compared.own_threads.clear();
            }
        }
        let without = self.largest.iter().find(|(_, compared)| compared.own_threads.is_empty());
        let max_without_ns = without.map(|((latency, _, _), _)| latency.0);
        let latency = |((latency, release, thread), compared): (LatencyKey, ComparedLatency)| {
            LargestLatency {
                thread,
                cpu: compared.cpu,
                latency_ns: latency.0,
                release_ns: release,
                own_threads: compared.own_threads.into_iter().collect(),
            }
        };
        let largest = self.largest.into_iter().take(LISTED).map(latency).collect();
        Some(RunSelfInterference { threads, lost: self.lost, largest, max_without_ns })
    }
}

impl ComparedLatency {
    fn compare(&mut self, key: &LatencyKey, stretch: &BusyStretch) {
        let (Reverse(latency), release, _) = *key;
        let overlap = stretch.to.min(release + latency) - stretch.from.max(release);
        if overlap >= Nanos::ZERO && stretch.cpus.contains(&self.cpu) {
            self.own_threads.insert(stretch.thread);
            self.worked += overlap;
        }
    }
}

/// The CPU time of a stretch; `None` if it was mostly spent waiting for a disk, or for other
/// threads to leave the CPU.
fn busy(thread: OwnThread, stretch: &WorkStretch) -> Option<BusyStretch> {
    let WorkStretch { begin_ns, length_ns, ran_ns, first_cpu, last_cpu } = *stretch;
    ((ran_ns + MARGIN) * 2 >= length_ns).then(|| BusyStretch {
        thread,
        cpus: [first_cpu, last_cpu],
        from: begin_ns - MARGIN,
        to: begin_ns + length_ns + MARGIN,
    })
}

/// Findings about the work; `helpers_on` are the CPUs assigned to these threads.
pub fn findings(work: &RunSelfInterference, applied: &AppliedSetup) -> Vec<Finding> {
    let found = [in_largest(work), on_measured(work, applied), lost(work)];
    found.into_iter().flatten().map(Finding::new).collect()
}

fn in_largest(work: &RunSelfInterference) -> Option<OwnThreadFinding> {
    let affected = work.affected();
    let threads: BTreeSet<OwnThread> =
        work.largest.iter().flat_map(|one| one.own_threads.iter().copied()).collect();
    (affected > 0).then(|| OwnThreadFinding::InLargest {
        affected: affected as u64,
        compared: work.largest.len() as u64,
        threads: threads.into_iter().collect(),
        max_ns: work.largest[0].latency_ns,
        max_without_ns: work.max_without_ns,
    })
}

/// Threads that ran on measured CPUs although they have others assigned.
fn on_measured(work: &RunSelfInterference, applied: &AppliedSetup) -> Option<OwnThreadFinding> {
    let measured: CpuSet =
        applied.threads.iter().map(|thread| thread.cpu).collect::<Option<_>>()?;
    let helpers: CpuSet = applied.helpers_on.parse().ok()?;
    let ran_ns = work.ran_on_measured();
    let strayed = work.threads.iter().filter(|one| one.ran_on_measured_ns > Nanos::ZERO);
    let threads = strayed.map(|one| one.thread).collect();
    let is_apart = helpers.and(&measured).is_empty();
    (is_apart && ran_ns > Nanos::ZERO)
        .then_some(OwnThreadFinding::OnMeasuredCpus { ran_ns, threads })
}

fn lost(work: &RunSelfInterference) -> Option<OwnThreadFinding> {
    (work.lost > 0).then_some(OwnThreadFinding::WorkLost { stretches: work.lost })
}
