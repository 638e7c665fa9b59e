//! Bursts of deadline misses: misses that come together are one event, not many.

use latlab_model::frame::Spike;
use latlab_model::plan::MissedPolicy;
use latlab_model::{Nanos, Plan, deadline};
use std::collections::BTreeMap;

/// A cycle that missed the deadline, with the releases behind it that it made miss theirs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LateCycle {
    /// Number of its thread.
    pub thread: u32,
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// Distance of the releases.
    pub period_ns: Nanos,
    /// Misses of this release and of those behind it, one at least.
    pub misses: u64,
}

impl LateCycle {
    /// What a large latency of a thread with this period makes late; none where it is in time.
    pub fn of(plan: &Plan, thread: u32, period_ns: Nanos, spike: Spike) -> Option<LateCycle> {
        let limit = plan.deadline_ns?;
        let (latency, period_ns) = (spike.latency_ns.0, period_ns.max(Nanos(1)));
        if !deadline::is_miss(latency, limit.0) {
            return None;
        }
        // Without a policy nothing but the cycle itself is late.
        let skips = plan.method.missed_policy() == Some(MissedPolicy::Skip);
        let skipped = if skips { latency / period_ns.0 } else { 0 };
        let misses = deadline::misses(latency, limit.0, period_ns.0, skipped).unsigned_abs();
        Some(LateCycle { thread, release_ns: spike.release_ns, period_ns, misses })
    }
}

/// Misses that came together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Burst {
    /// The release of the first.
    pub from_ns: Nanos,
    /// How many there are.
    pub misses: u64,
}

/// The bursts of all threads, each in the order of time. How far apart two misses of one burst may
/// be, the distances of all of them tell.
pub fn bursts(late: &[LateCycle]) -> Vec<Burst> {
    let mut threads: BTreeMap<u32, Vec<LateCycle>> = BTreeMap::new();
    for one in late {
        threads.entry(one.thread).or_default().push(*one);
    }
    threads
        .into_values()
        .flat_map(|mut late| {
            late.sort_by_key(|one| one.release_ns);
            of_thread(&late)
        })
        .collect()
}

fn of_thread(late: &[LateCycle]) -> Vec<Burst> {
    let gap = |pair: &[LateCycle]| {
        let distance = (pair[1].release_ns - pair[0].release_ns).0.max(0) as f64;
        let releases = (distance / pair[0].period_ns.0.max(1) as f64).round() as u64;
        // The last miss of a stall is as near to the next one.
        releases.saturating_sub(pair[0].misses - 1).max(1)
    };
    let between: Vec<u64> = late.windows(2).map(gap).collect();
    let within = late.iter().map(|one| one.misses.saturating_sub(1)).sum();
    let reach = reach(&between, within);
    let mut bursts: Vec<Burst> = Vec::new();
    for (at, one) in late.iter().enumerate() {
        let goes_on = at > 0 && between[at - 1] <= reach;
        match bursts.last_mut().filter(|_| goes_on) {
            Some(burst) => burst.misses = burst.misses.saturating_add(one.misses),
            None => bursts.push(Burst { from_ns: one.release_ns, misses: one.misses }),
        }
    }
    bursts
}

/// How many releases apart two misses of one burst are at most: as many distances are larger as the
/// extremal index makes bursts. `ones` further distances are of one release.
fn reach(distances: &[u64], ones: u64) -> u64 {
    let misses = distances.len() as u64 + ones + 1;
    let bursts = (extremal_index(distances, ones) * misses as f64) as usize;
    let mut sorted = distances.to_vec();
    sorted.sort_unstable_by(|one, other| other.cmp(one));
    sorted.get(bursts).copied().unwrap_or(1).max(1)
}

/// The share of misses that begin a burst, by their distances in releases (Ferro and Segers 2003).
fn extremal_index(distances: &[u64], ones: u64) -> f64 {
    let count = distances.len() as f64 + ones as f64;
    if count < 1.0 {
        return 1.0;
    }
    let sum = |of: fn(f64) -> f64| distances.iter().map(|one| of(*one as f64)).sum::<f64>();
    let (above, below) = match distances.iter().all(|one| *one <= 2) {
        true => (sum(|gap| gap) + ones as f64, sum(|gap| gap * gap) + ones as f64),
        false => (sum(|gap| gap - 1.0), sum(|gap| (gap - 1.0) * (gap - 2.0))),
    };
    if below > 0.0 { (2.0 * above * above / (count * below)).min(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of extRemes::extremalindex.
    #[test]
    fn the_extremal_index_is_that_of_the_oracle() {
        let index = extremal_index(&[1, 1, 50, 1, 200, 1, 1, 1, 90, 300], 0);
        assert!((index - 0.583_318).abs() < 1e-6, "{index}");
        // Distances of one may as well be counted.
        assert!((extremal_index(&[50, 200, 90, 300], 6) - index).abs() < 1e-12);
        assert_eq!(extremal_index(&[40, 75, 12, 130, 55, 90, 33, 8, 61, 20], 0), 1.0);
        assert_eq!((extremal_index(&[], 0), extremal_index(&[1], 0)), (1.0, 1.0));
    }

    fn late(release_us: i64, misses: u64) -> LateCycle {
        LateCycle {
            thread: 0,
            release_ns: Nanos(release_us * 1_000),
            period_ns: Nanos(200_000),
            misses,
        }
    }

    #[test]
    fn a_stall_is_one_burst_and_misses_apart_are_several() {
        let stall = bursts(&[late(0, 45)]);
        assert_eq!(stall, [Burst { from_ns: Nanos(0), misses: 45 }]);
        // The release behind the stall is late too, and belongs to it.
        let stall = bursts(&[late(0, 45), late(45 * 200, 1), late(90_000_000, 1)]);
        assert_eq!(stall.iter().map(|one| one.misses).collect::<Vec<_>>(), [46, 1]);
        let apart =
            bursts(&[late(5_000_000, 1), late(0, 1), LateCycle { thread: 1, ..late(0, 2) }]);
        assert_eq!(apart.iter().map(|one| one.misses).collect::<Vec<_>>(), [1, 1, 2]);
        assert_eq!(bursts(&[]), []);
    }
}
