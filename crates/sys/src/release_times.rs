//! The releases of the measuring threads. If every CPU is measured, our own threads work between
//! them, since the kernel can preempt neither a system call nor a switch to a thread.

use crate::clock::{Clock, sleep_until};
use crate::sched;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Nothing begins shortly before a release, since it takes some time, nor shortly after one, when
/// the measuring thread runs, or still waits for the kernel. Time before and after it; the longest
/// pair that leaves enough free time is used.
const KEPT: [(i64, i64); 4] =
    [(300_000, 190_000), (225_000, 175_000), (BEFORE, 120_000), (BEFORE, 60_000)];
/// The shortest time before a release.
pub const BEFORE: i64 = 150_000;
/// A CPU with less than this share of free time is treated as having none.
const LEAST_FREE: f64 = 0.5;
/// How often to retry for a thread that is moved to another CPU each time it waits.
const TRIES: usize = 3;
/// A sleep that ends this late, in nanoseconds, shows a CPU shared by many tasks: there a wait
/// costs far more time than it is worth …
const LATE: i64 = 10_000_000;
/// … so waiting is suspended for this long.
const CROWDED: i64 = 1_000_000_000;
/// Most releases that are skipped if several threads of a CPU leave no time between theirs.
const MOST_PASSED: usize = 8;

/// The releases of a thread: its CPU, the first one on CLOCK_MONOTONIC, and the period.
pub type ThreadReleases = (u32, i64, i64);

/// The releases on each CPU, once they are known; until then any time is free.
#[derive(Clone, Default, Debug)]
pub struct ReleaseTimes(Arc<Shared>);

#[derive(Default, Debug)]
struct Shared {
    schedule: OnceLock<Schedule>,
    /// Waiting is suspended until this time.
    crowded_until: AtomicI64,
}

#[derive(Debug)]
struct Schedule {
    threads: Vec<ThreadReleases>,
    /// CPUs with free time between their releases.
    on_cpu: BTreeMap<u32, FreeTimes>,
    /// Whether all of them have.
    is_complete: bool,
}

/// The free times of a CPU.
#[derive(Debug)]
struct FreeTimes {
    releases: Vec<Releases>,
    /// Time reserved before and after each release.
    kept: (i64, i64),
}

#[derive(Clone, Copy, Debug)]
struct Releases {
    first: i64,
    period: i64,
}

impl ReleaseTimes {
    /// Publishes the releases of all measuring threads.
    pub fn publish(&self, threads: &[ThreadReleases]) {
        let mut on_cpu: BTreeMap<u32, Vec<Releases>> = BTreeMap::new();
        for &(cpu, first, period) in threads.iter().filter(|(_, _, period)| *period > 0) {
            on_cpu.entry(cpu).or_default().push(Releases { first, period });
        }
        let measured = on_cpu.len();
        let on_cpu: BTreeMap<u32, FreeTimes> = on_cpu
            .into_iter()
            .filter_map(|(cpu, releases)| Some((cpu, FreeTimes::between(releases)?)))
            .collect();
        let is_complete = !on_cpu.is_empty() && on_cpu.len() == measured;
        let threads = threads.to_vec();
        let _ = self.0.schedule.set(Schedule { threads, on_cpu, is_complete });
    }

    /// The published releases, for another process of ours.
    pub fn threads(&self) -> &[ThreadReleases] {
        self.0.schedule.get().map_or(&[], |schedule| &schedule.threads)
    }

    /// The first free time from this one on, on the CPU of the calling thread; the time itself if
    /// there is none soon.
    pub fn free_from(&self, time: i64) -> i64 {
        self.free_on(sched::current_cpu(), time, 0)
    }

    /// The same for work of this length.
    fn free_on(&self, cpu: u32, time: i64, length: i64) -> i64 {
        let times = self.0.schedule.get().and_then(|schedule| schedule.on_cpu.get(&cpu));
        times.map_or(time, |times| times.free_from(time, length))
    }

    /// This duration, extended to the next free time.
    pub fn free_after(&self, time: Duration) -> Duration {
        let now = Clock::Monotonic.now();
        let until = self.free_from(now + time.as_nanos() as i64);
        Duration::from_nanos((until - now) as u64)
    }

    /// Sleeps for this duration, and on until the next free time.
    pub fn sleep(&self, time: Duration) {
        std::thread::sleep(self.free_after(time));
    }

    /// Whether every measured CPU has known free times.
    pub fn are_known(&self) -> bool {
        self.0.schedule.get().is_some_and(|schedule| schedule.is_complete)
    }

    /// Whether no release is near now.
    pub fn is_free(&self) -> bool {
        let now = Clock::Monotonic.now();
        self.free_from(now) == now
    }

    /// Waits for a free time, unless the CPUs are too crowded to wait.
    pub fn wait(&self) {
        self.wait_for(Duration::ZERO);
    }

    /// Waits until uninterruptible work of this length can begin.
    pub fn wait_for(&self, length: Duration) {
        for _ in 0..TRIES {
            let now = Clock::Monotonic.now();
            let free = self.free_on(sched::current_cpu(), now, length.as_nanos() as i64);
            let waits = free != now && !self.0.is_crowded(now);
            if !waits || sleep_until(Clock::Monotonic, free).is_err() {
                return;
            }
            self.note_wake(free);
        }
    }

    /// Notes the end of a sleep that was to end at `due`.
    pub fn note_wake(&self, due: i64) {
        self.0.note_wake(due, Clock::Monotonic.now());
    }

    /// Whether a sleep has ended so late that waiting is suspended.
    pub fn is_crowded(&self) -> bool {
        self.0.is_crowded(Clock::Monotonic.now())
    }
}

impl Shared {
    fn is_crowded(&self, now: i64) -> bool {
        now < self.crowded_until.load(Ordering::Relaxed)
    }

    fn note_wake(&self, due: i64, now: i64) {
        if now - due > LATE {
            self.crowded_until.store(now + CROWDED, Ordering::Relaxed);
        }
    }
}

impl FreeTimes {
    /// The free times of a CPU that has enough of them.
    fn between(releases: Vec<Releases>) -> Option<FreeTimes> {
        let leaves_enough = |(before, after): &(i64, i64)| {
            1.0 - kept_share(&releases, before + after) >= LEAST_FREE
        };
        let kept = KEPT.into_iter().find(leaves_enough)?;
        Some(FreeTimes { releases, kept })
    }

    fn free_from(&self, time: i64, length: i64) -> i64 {
        let kept = (self.kept.0 + length, self.kept.1);
        let mut free = time;
        for _ in 0..MOST_PASSED {
            match self.releases.iter().map(|one| one.free_from(free, kept)).max() {
                Some(later) if later > free => free = later,
                _ => return free,
            }
        }
        time
    }
}

impl Releases {
    fn free_from(&self, time: i64, (before, after): (i64, i64)) -> i64 {
        // Counted from the start of the first reserved time.
        let since = (time - self.first + before).rem_euclid(self.period);
        if since < before + after { time - since + before + after } else { time }
    }
}

/// The share of time reserved for releases at this length each; an upper bound if their periods
/// differ.
fn kept_share(releases: &[Releases], kept_for_each: i64) -> f64 {
    let mut phases: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for one in releases {
        phases.entry(one.period).or_default().push(one.first.rem_euclid(one.period));
    }
    let share = |(period, mut phases): (i64, Vec<i64>)| {
        phases.sort_unstable();
        let next = phases.iter().skip(1).copied().chain([phases[0].saturating_add(period)]);
        let kept = phases.iter().zip(next).map(|(phase, next)| (next - phase).min(kept_for_each));
        kept.sum::<i64>() as f64 / period as f64
    };
    phases.into_iter().map(share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(threads: &[ThreadReleases]) -> ReleaseTimes {
        let times = ReleaseTimes::default();
        times.publish(threads);
        times
    }

    /// Invariant (conditions): Where every CPU is measured, telemetry holds none of them for long.
    #[test]
    fn own_threads_stay_away_from_the_releases_of_their_cpu() {
        const FIRST: i64 = 50_000_000;
        let times = published(&[(1, FIRST, 1_000_000)]);
        let free = |after: i64| times.free_on(1, FIRST + after, 0) - FIRST;
        assert_eq!([191_000, 400_000, 699_000].map(free), [191_000, 400_000, 699_000]);
        assert_eq!([0, 189_000, 7_000_000].map(free), [190_000, 190_000, 7_190_000]);
        assert_eq!([700_000, 999_999].map(free), [1_190_000, 1_190_000]);
        assert_eq!(free(-20_000_100), -19_810_000, "also before the first");
        let long = |after: i64, length| times.free_on(1, FIRST + after, length) - FIRST;
        assert_eq!([250_000, 301_000].map(|after| long(after, 400_000)), [250_000, 1_190_000]);
        assert_eq!(long(500_000, 600_000), 500_000, "what fits nowhere begins at any time");
        assert_eq!(times.free_on(0, FIRST, 0), FIRST, "on another CPU");
    }

    /// With hundreds of runnable tasks each wait would cost time in which measurements are not
    /// stored.
    #[test]
    fn where_a_wait_ends_far_too_late_nobody_waits_for_a_while() {
        let shared = Shared::default();
        shared.note_wake(500, LATE);
        assert!(!shared.is_crowded(LATE), "a little late");
        shared.note_wake(500, LATE + 501);
        assert!(shared.is_crowded(LATE + CROWDED) && !shared.is_crowded(LATE + CROWDED + 501));
    }

    #[test]
    fn several_threads_of_a_cpu_leave_what_is_between_all_of_them() {
        let times = published(&[(0, 0, 1_000_000), (0, 200_000, 1_000_000)]);
        assert_eq!((times.free_on(0, 900_000, 0), times.are_known()), (1_320_000, true));
        let all = [0, 200, 400, 600, 800].map(|at| (0, at * 1_000, 1_000_000));
        let times = published(&all);
        assert_eq!((times.free_on(0, 70_000, 0), times.are_known()), (70_000, false));
        // Sixteen that are released together leave as much time as one.
        assert!(published(&[(0, 5_000_000, 1_000_000); 16]).are_known());
    }

    #[test]
    fn they_are_known_where_every_measured_cpu_leaves_time() {
        assert!(!ReleaseTimes::default().are_known() && !published(&[]).are_known());
        assert!(published(&[(0, 7, 420_000), (1, 9, 1_000_000)]).are_known());
        let times = published(&[(0, 7, 419_000), (1, 9, 1_000_000)]);
        assert_eq!((times.free_on(0, 7, 0), times.are_known()), (7, false));
        assert_eq!(times.free_on(1, 9, 0), 190_009, "as far as they are");
        assert!(!published(&[(0, 0, 0), (0, 0, -5)]).are_known(), "nor of what is no distance");
    }
}
