//! The threads that used a CPU while it was measured.

use super::points::{Points, ReadValue, Stretch};
use super::{ConditionsInput, ConditionsView};
use latlab_model::finding::ThreadShare;
use latlab_model::plan::Policy;
use latlab_model::telemetry::{BusyThread, bounded_share, metric};
use latlab_model::{CpuSet, Nanos};

/// Most SCHED_OTHER threads listed in a run, the busiest ones.
const MOST_ORDINARY: usize = 30;
/// A SCHED_OTHER thread is listed from this share of a CPU on, over the run …
const MUCH: f64 = 0.01;
/// … or between two readings.
const MUCH_AT_ONCE: f64 = 0.1;

/// The threads that used a CPU, busiest first; all of those that preempt SCHED_OTHER.
pub fn busy_threads(at: &ConditionsView<'_>) -> Vec<BusyThread> {
    let all = at.data.all(metric::THREAD_CPU);
    let all = all.filter_map(|(subject, points)| busy_thread(at, subject, points));
    let (mut ordinary, mut threads): (Vec<BusyThread>, Vec<BusyThread>) =
        all.partition(is_ordinary);
    let by_share = |a: &BusyThread, b: &BusyThread| b.mean_share.total_cmp(&a.mean_share);
    ordinary.retain(|one| one.mean_share >= MUCH || one.peak_share >= MUCH_AT_ONCE);
    ordinary.sort_by(by_share);
    threads.extend(ordinary.into_iter().take(MOST_ORDINARY));
    threads.sort_by(by_share);
    threads
}

fn is_ordinary(thread: &BusyThread) -> bool {
    !["fifo", "rr", "deadline"].iter().any(|policy| thread.policy.starts_with(policy))
}

fn busy_thread(at: &ConditionsView<'_>, subject: &str, points: &Points) -> Option<BusyThread> {
    let (name, id) = subject.rsplit_once('/')?;
    let id = id.parse().ok().filter(|id| !at.input.threads.contains(id))?;
    let ConditionsInput { from, to, .. } = *at.input;
    let within = steps_within(at.input, points);
    let steps = within.windows(2).filter_map(|pair| {
        Some((bounded_share(share(&pair[0], &pair[1]))?, pair[0].read_at, pair[1].read_at))
    });
    // Of a step that extends beyond the measured time, only the part within.
    let part = |(share, begin, end): (f64, Nanos, Nanos)| {
        share * (end.min(to) - begin.max(from)).0.max(0) as f64
    };
    let taken: f64 = steps.clone().map(part).sum();
    // The first of equally large ones.
    let (peak_share, peak_at_ns, _) = steps.rev().max_by(|a, b| a.0.total_cmp(&b.0))?;
    if taken <= 0.0 {
        return None;
    }
    Some(BusyThread {
        name: name.to_string(),
        id,
        policy: policy(at, subject)?,
        cpus: cpus_of_thread(at, subject),
        mean_share: taken / (to - from).0.max(1) as f64,
        peak_share,
        peak_at_ns: peak_at_ns.max(from),
    })
}

/// The share of a CPU used by the busiest measured thread.
pub fn largest_own_share(at: &ConditionsView<'_>) -> f64 {
    let is_own = |subject: &str| {
        let id = subject.rsplit_once('/').and_then(|(_, id)| id.parse().ok());
        id.is_some_and(|id| at.input.threads.contains(&id))
    };
    let all = at.data.all(metric::THREAD_CPU).filter(|(subject, _)| is_own(subject));
    let shares = all.filter_map(|(_, points)| {
        let within = steps_within(at.input, points);
        bounded_share(share(within.first()?, within.last()?))
    });
    shares.fold(0.0, f64::max)
}

/// The share of a CPU between two values of its CPU time.
fn share(before: &ReadValue, after: &ReadValue) -> f64 {
    let grown = after.value as f64 - before.value as f64;
    grown / (after.read_at - before.read_at).0.max(1) as f64
}

/// Number of a thread's steps with a share above one.
pub fn refused_shares(at: &ConditionsView<'_>) -> u64 {
    let all = at.data.all(metric::THREAD_CPU);
    let refused = all.map(|(_, points)| {
        let within = steps_within(at.input, points);
        let shares = within.windows(2).map(|pair| bounded_share(share(&pair[0], &pair[1])));
        shares.filter(Option::is_none).count() as u64
    });
    refused.sum()
}

/// The points within the measured time, and one on either side.
fn steps_within(context: &ConditionsInput, points: &Points) -> Vec<ReadValue> {
    let all: Vec<ReadValue> = points.values().collect();
    let from = all.partition_point(|one| one.read_at <= context.from).saturating_sub(1);
    let to = all.partition_point(|one| one.read_at < context.to);
    all[from..(to + 1).min(all.len())].to_vec()
}

fn last_value(at: &ConditionsView<'_>, metric: &str, subject: &str) -> Option<i64> {
    at.data.one(metric, subject)?.values().next_back().map(|last| last.value)
}

fn policy(at: &ConditionsView<'_>, subject: &str) -> Option<String> {
    let priority = last_value(at, metric::THREAD_PRIORITY, subject)?;
    Some(match last_value(at, metric::THREAD_POLICY, subject)? {
        0 => "other".to_string(),
        1 => format!("fifo {priority}"),
        2 => format!("rr {priority}"),
        3 => "batch".to_string(),
        5 => "idle".to_string(),
        6 => "deadline".to_string(),
        number => format!("policy {number}"),
    })
}

fn cpus_of_thread(at: &ConditionsView<'_>, subject: &str) -> CpuSet {
    let places = at.data.one(metric::THREAD_PLACE, subject);
    let cpus = places.into_iter().flat_map(Points::values);
    cpus.filter_map(|place| place.value.try_into().ok()).collect()
}

/// Whether a thread preempts the measuring ones, or competes with them.
pub fn outranks(policy: &str, measuring: Policy) -> bool {
    let priority = |of: &str| policy.strip_prefix(of)?.trim().parse::<u8>().ok();
    let fixed = priority("fifo").or_else(|| priority("rr"));
    match measuring {
        Policy::Deadline { .. } => policy == "deadline",
        Policy::Fifo { priority } | Policy::Rr { priority } => {
            policy == "deadline" || fixed.is_some_and(|other| other >= priority)
        }
        // Every real-time thread does.
        Policy::Other | Policy::Batch | Policy::Idle => policy == "deadline" || fixed.is_some(),
    }
}

/// When a thread ran.
pub fn active_stretches(at: &ConditionsView<'_>, thread: &BusyThread) -> Vec<Stretch> {
    let subject = format!("{}/{}", thread.name, thread.id);
    let Some(points) = at.data.one(metric::THREAD_CPU, &subject) else { return Vec::new() };
    let ran = steps_within(at.input, points);
    ran.windows(2)
        .filter(|pair| pair[1].value > pair[0].value)
        .map(|pair| Stretch { from: pair[0].read_at, to: pair[1].read_at })
        .collect()
}

/// The busiest threads of a stretch on a CPU, at most three.
pub fn busiest(at: &ConditionsView<'_>, stretch: Stretch, cpu: u32) -> Vec<ThreadShare> {
    let share_of = |(subject, points): (&str, &Points)| {
        let (name, id) = subject.rsplit_once('/')?;
        // A thread's readings need not coincide with those of the CPU.
        let during = points.values().filter(|one| one.at >= stretch.from && one.at <= stretch.to);
        let during: Vec<ReadValue> = during.collect();
        let share = bounded_share(share(during.first()?, during.last()?))?;
        let (name, id) = (name.to_string(), id.parse().ok()?);
        (share >= 0.05).then_some(ThreadShare { name, id, share })
    };
    let all = at.data.all(metric::THREAD_CPU);
    let on_cpu = all.filter(|(subject, _)| cpus_of_thread(at, subject).contains(cpu));
    let mut found: Vec<ThreadShare> = on_cpu.filter_map(share_of).collect();
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    found.truncate(3);
    found
}
