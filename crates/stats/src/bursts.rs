//! Bursts of deadline misses: misses that occur together are one event, not many.

use crate::scales::{Durations, slice_dependence};
use latlab_model::frame::Spike;
use latlab_model::plan::OverrunPolicy;
use latlab_model::{Nanos, Plan, deadline};
use std::collections::{BTreeMap, BTreeSet};

/// A cycle that missed the deadline, with the releases after it that it also made late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LateCycle {
    pub thread: u32,
    /// On CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    pub period_ns: Nanos,
    pub latency_ns: Nanos,
    /// Misses of this release and of those it delayed; at least 1.
    pub misses: u64,
}

impl LateCycle {
    /// Which releases a latency of a thread with this period makes late; `None` if it meets the
    /// deadline.
    pub fn of(plan: &Plan, thread: u32, period_ns: Nanos, spike: Spike) -> Option<LateCycle> {
        LateCycle::above(plan.until.deadline_ns?, plan, thread, period_ns, spike)
    }

    /// The same with a limit other than the deadline.
    pub fn above(
        limit: Nanos,
        plan: &Plan,
        thread: u32,
        period_ns: Nanos,
        spike: Spike,
    ) -> Option<LateCycle> {
        let (latency, period_ns) = (spike.latency_ns.0, period_ns.max(Nanos(1)));
        if !deadline::is_miss(latency, limit.0) {
            return None;
        }
        // Without a policy only the cycle itself is late.
        let skips = plan.method.overrun_policy() == Some(OverrunPolicy::Skip);
        let skipped = if skips { latency / period_ns.0 } else { 0 };
        let misses = deadline::misses(latency, limit.0, period_ns.0, skipped).unsigned_abs();
        let Spike { release_ns, latency_ns } = spike;
        Some(LateCycle { thread, release_ns, period_ns, latency_ns, misses })
    }
}

/// Misses of different threads that are at most this far apart belong to one stall of the machine.
pub const TOGETHER: Nanos = Nanos(10_000_000);

/// A burst is split after this time; otherwise a machine that always misses would have a single
/// one.
const LONGEST: Nanos = Nanos(1_000_000_000);

/// Misses that occurred together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Burst {
    /// Release of the first miss.
    pub from_ns: Nanos,
    /// End of the last latency.
    pub to_ns: Nanos,
    pub misses: u64,
    pub largest_ns: Nanos,
}

impl Burst {
    fn of(late: &LateCycle) -> Burst {
        Burst {
            from_ns: late.release_ns,
            to_ns: late.release_ns + late.latency_ns,
            misses: late.misses,
            largest_ns: late.latency_ns,
        }
    }

    fn join(&mut self, other: &Burst) {
        self.to_ns = self.to_ns.max(other.to_ns);
        self.misses = self.misses.saturating_add(other.misses);
        self.largest_ns = self.largest_ns.max(other.largest_ns);
    }
}

/// With fewer bursts, their sizes are not known well enough.
pub const ENOUGH_BURSTS: usize = 10;

/// With fewer bursts, clumping cannot be judged.
pub const ENOUGH_FOR_CLUMPS: usize = 20;
/// Time slices in which bursts are counted.
const SLICES: usize = 100;
/// Nominal releases per slice: large, since bursts are rare among them.
const RELEASES: f64 = 1e9;

/// How many bursts occur together, over all time scales that the measured time covers; `None` with
/// too few bursts.
pub fn clump(bursts: &[Burst], from: Nanos, measured: Nanos) -> Option<f64> {
    if bursts.len() < ENOUGH_FOR_CLUMPS || measured <= Nanos::ZERO {
        return None;
    }
    let mut slices = vec![(RELEASES, 0.0); SLICES];
    for burst in bursts {
        let share = (burst.from_ns - from).0.max(0) as f64 / measured.0 as f64;
        slices[((share * SLICES as f64) as usize).min(SLICES - 1)].1 += 1.0;
    }
    slice_dependence(&slices, &[], &Durations::default()).map(|found| found.per_event)
}

/// Bursts of latencies above a level below the deadline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LowerLevel {
    pub level_ns: Nanos,
    pub bursts: Vec<Burst>,
}

/// The highest level below the deadline that has `enough` bursts. `known_above` is the size above
/// which all releases are known; `above` returns the latencies above a level.
pub fn lower_level(
    mut latencies: Vec<Nanos>,
    deadline: Nanos,
    known_above: Nanos,
    enough: usize,
    above: impl Fn(Nanos) -> Vec<LateCycle>,
) -> Option<LowerLevel> {
    latencies.sort_unstable_by(|one, other| other.cmp(one));
    let mut at = enough;
    while let Some(&level_ns) = latencies.get(at).filter(|level| **level >= known_above) {
        if level_ns < deadline {
            let bursts = bursts(&above(level_ns));
            if bursts.len() >= enough {
                return Some(LowerLevel { level_ns, bursts });
            }
        }
        at += at / 4;
    }
    None
}

/// How the misses of one thread cluster.
#[derive(Clone, PartialEq, Debug)]
pub struct Clustering {
    /// Ordered by time.
    pub bursts: Vec<Burst>,
    /// Share of misses that begin a burst, by the distances between misses; `None` with fewer than
    /// two misses.
    pub extremal_index: Option<f64>,
    /// The same by the gaps between bursts, with its standard error.
    pub by_gaps: Option<(f64, f64)>,
}

/// The bursts of the machine, ordered by time: misses of one thread that belong together by their
/// distances, merged with those of other threads up to [`TOGETHER`] apart. Two bursts of one thread
/// are never merged, so that many threads with many misses do not become a single endless burst.
pub fn bursts(late: &[LateCycle]) -> Vec<Burst> {
    let mut threads: BTreeMap<u32, Vec<LateCycle>> = BTreeMap::new();
    for one in late {
        threads.entry(one.thread).or_default().push(*one);
    }
    let mut all: Vec<(u32, Burst)> = Vec::new();
    for (thread, mut late) in threads {
        late.sort_by_key(|one| one.release_ns);
        all.extend(of_thread(&late).into_iter().map(|burst| (thread, burst)));
    }
    all.sort_by_key(|(thread, burst)| (burst.from_ns, *thread));
    let mut of_machine: Vec<Burst> = Vec::new();
    let mut met: BTreeSet<u32> = BTreeSet::new();
    for (thread, burst) in all {
        let is_near =
            |last: &&mut Burst| burst.from_ns.0 <= last.to_ns.0.saturating_add(TOGETHER.0);
        match of_machine.last_mut().filter(is_near).filter(|_| !met.contains(&thread)) {
            Some(last) => last.join(&burst),
            None => {
                met.clear();
                of_machine.push(burst);
            }
        }
        met.insert(thread);
    }
    of_machine
}

fn of_thread(late: &[LateCycle]) -> Vec<Burst> {
    let (between, within) = distances(late);
    let reach = reach(&between, within);
    let mut bursts: Vec<Burst> = Vec::new();
    for (at, one) in late.iter().enumerate() {
        let goes_on = at > 0 && between[at - 1] <= reach;
        let is_short = |burst: &&mut Burst| one.release_ns - burst.from_ns <= LONGEST;
        match bursts.last_mut().filter(|_| goes_on).filter(is_short) {
            Some(burst) => burst.join(&Burst::of(one)),
            None => bursts.push(Burst::of(one)),
        }
    }
    bursts
}

/// How the misses of one thread with this many releases cluster.
pub fn clustering(late: &[LateCycle], releases: u64) -> Clustering {
    let mut late = late.to_vec();
    late.sort_by_key(|one| one.release_ns);
    let (between, within) = distances(&late);
    let misses = late.iter().fold(0, |sum: u64, one| sum.saturating_add(one.misses));
    let several = misses > 1;
    let share = misses as f64 / releases.max(1) as f64;
    let gaps: Vec<f64> = between.iter().map(|one| *one as f64).collect();
    let by_gaps = k_gaps(&gaps, within as f64, &[], reach(&between, within) as f64, share);
    Clustering {
        bursts: of_thread(&late),
        extremal_index: several.then(|| extremal_index(&between, within)),
        by_gaps: by_gaps.filter(|_| several),
    }
}

/// Distances between late cycles in releases, and the number of distances of one release within
/// them.
fn distances(late: &[LateCycle]) -> (Vec<u64>, u64) {
    let gap = |pair: &[LateCycle]| {
        let distance = (pair[1].release_ns - pair[0].release_ns).0.max(0) as f64;
        let releases = (distance / pair[0].period_ns.0.max(1) as f64).round() as u64;
        // The last miss of a stall is closer to the next one.
        releases.saturating_sub(pair[0].misses.saturating_sub(1)).max(1)
    };
    let within = late.iter().map(|one| one.misses.saturating_sub(1));
    (late.windows(2).map(gap).collect(), within.fold(0, u64::saturating_add))
}

/// The extremal index by the gaps between misses that are longer than `reach` (Suveges and Davison
/// 2010), and its standard error. `ones` counts further gaps of one release; `ends` are gaps that
/// the start or end of the run cut off. `share` is the share of releases that miss. `None` if there
/// is no gap or all are short.
fn k_gaps(gaps: &[f64], ones: f64, ends: &[f64], reach: f64, share: f64) -> Option<(f64, f64)> {
    let longer = |gap: &f64| (gap - reach).max(0.0) * share;
    let (mut zeros, mut others, mut sum) = (if reach >= 1.0 { ones } else { 0.0 }, 0.0, 0.0);
    for gap in gaps.iter().map(longer) {
        if gap > 0.0 {
            others += 1.0
        } else {
            zeros += 1.0
        }
        sum += gap;
    }
    // A gap cut off by the start or the end of the run counts half.
    for gap in ends.iter().map(longer).filter(|gap| *gap > 0.0) {
        others += 0.5;
        sum += gap;
    }
    if others <= 0.0 || sum <= 0.0 {
        return None;
    }
    let half = sum + zeros + 2.0 * others;
    let index = (half - (half * half - 8.0 * others * sum).max(0.0).sqrt()) / (2.0 * sum);
    let index = index.min(1.0);
    let information = zeros / (1.0 - index).powi(2).max(1e-12) + 2.0 * others / (index * index);
    (index > 0.0).then(|| (index, information.sqrt().recip()))
}

/// Largest distance in releases between two misses of one burst: chosen so that the number of
/// larger distances agrees with the extremal index. `ones` counts further distances of one release.
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
pub mod tests {
    use super::*;

    const TOGETHER: [u64; 10] = [1, 1, 50, 1, 200, 1, 1, 1, 90, 300];
    const APART: [u64; 10] = [40, 75, 12, 130, 55, 90, 33, 8, 61, 20];

    /// For the table of test vectors.
    pub fn extremal_indices() -> [f64; 2] {
        [extremal_index(&TOGETHER, 0), extremal_index(&APART, 0)]
    }

    /// For the table of test vectors: index and standard error, without and with gaps that were cut
    /// off.
    pub fn k_gaps_of_the_same_distances() -> [f64; 4] {
        let gaps = TOGETHER.map(|gap| gap as f64);
        let (index, error) = k_gaps(&gaps, 0.0, &[], 2.0, 0.01).unwrap();
        let (with_ends, its_error) = k_gaps(&gaps, 0.0, &[30.0, 80.0], 2.0, 0.01).unwrap();
        [index, error, with_ends, its_error]
    }

    /// Values of extRemes::extremalindex.
    #[test]
    fn the_extremal_index_is_that_of_the_oracle() {
        let index = extremal_index(&[1, 1, 50, 1, 200, 1, 1, 1, 90, 300], 0);
        assert!((index - 0.583_318).abs() < 1e-6, "{index}");
        // Distances of one may be passed as a count instead.
        assert!((extremal_index(&[50, 200, 90, 300], 6) - index).abs() < 1e-12);
        assert_eq!(extremal_index(&[40, 75, 12, 130, 55, 90, 33, 8, 61, 20], 0), 1.0);
        assert_eq!((extremal_index(&[], 0), extremal_index(&[1], 0)), (1.0, 1.0));
    }

    fn late(release_us: i64, misses: u64) -> LateCycle {
        LateCycle {
            thread: 0,
            release_ns: Nanos(release_us * 1_000),
            period_ns: Nanos(200_000),
            latency_ns: Nanos(150_000 + 200_000 * (misses as i64 - 1)),
            misses,
        }
    }

    #[test]
    fn a_stall_is_one_burst_and_misses_apart_are_several() {
        let stall = bursts(&[late(0, 45)]);
        let largest_ns = Nanos(8_950_000);
        let to_ns = largest_ns;
        assert_eq!(stall, [Burst { from_ns: Nanos(0), to_ns, misses: 45, largest_ns }]);
        // The release after the stall is late too, and belongs to it.
        let stall = bursts(&[late(0, 45), late(45 * 200, 1), late(90_000_000, 1)]);
        assert_eq!(stall.iter().map(|one| one.misses).collect::<Vec<_>>(), [46, 1]);
        let apart = bursts(&[late(5_000_000, 1), late(0, 1), late(90_000_000, 2)]);
        assert_eq!(apart.iter().map(|one| one.misses).collect::<Vec<_>>(), [1, 1, 2]);
        assert_eq!(bursts(&[]), []);
    }

    #[test]
    fn what_several_threads_meet_at_once_is_one_burst_of_the_machine() {
        let on = |thread, late| LateCycle { thread, ..late };
        // A stall of 9 ms on three CPUs, and one on a fourth CPU 6 ms later.
        let stall =
            [late(0, 45), on(1, late(2_000, 35)), on(2, late(8_800, 1)), on(3, late(15_000, 2))];
        let found = bursts(&stall);
        assert_eq!(found.iter().map(|one| one.misses).collect::<Vec<_>>(), [83]);
        let far = [late(0, 45), on(1, late(30_000, 1)), on(2, late(5_000_000, 1))];
        assert_eq!(bursts(&far).len(), 3);
        // Threads that miss continuously are not one endless burst.
        let each = |at: i64| on((at % 8) as u32, late(at * 5_000, 1));
        let many: Vec<LateCycle> = (0..800).map(each).collect();
        assert!(bursts(&many).len() >= 100, "{}", bursts(&many).len());
    }

    #[test]
    fn a_lower_level_has_ten_bursts_and_knows_all_latencies_above_it() {
        // One stall per second, of 1, 2, 3 … periods of 200 us.
        let latency = |at: i64| Nanos(200_000 * at + 50_000);
        let all: Vec<Nanos> = (1..=40).map(latency).collect();
        let above = |level: Nanos| -> Vec<LateCycle> {
            let late = (1..=40).filter(|at| latency(*at) > level);
            late.map(|at| LateCycle { latency_ns: latency(at), ..self::late(at * 1_000_000, 2) })
                .collect()
        };
        let deadline = latency(38);
        let found = |latencies: &[Nanos], known_above| {
            lower_level(latencies.to_vec(), deadline, known_above, 10, above)
        };
        let level = found(&all, Nanos::ZERO).unwrap();
        assert_eq!((level.level_ns, level.bursts.len()), (latency(30), 10));
        assert_eq!(found(&all, latency(31)), None, "not all are known");
        assert_eq!(found(&all[..8], Nanos::ZERO), None);
        assert_eq!(found(&[], Nanos::MAX), None);
    }
}
