//! Chains of threads that release one another: from the release of the first to the end of the last.
//!
//! A thread that is released by another one was woken within a cycle of that one, so that times
//! suffice to follow a cycle back; which thread usually releases it is known from its wakers.

use latlab_model::Nanos;
use latlab_model::attach::{AttachedThreadReport, Cycle, ReleasedBy};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Cycles of a thread that wait for those of the others.
const MOST_WAITING: usize = 1 << 16;
/// Cycles are kept this long for later ones that they released.
const KEPT: Nanos = Nanos(5_000_000_000);
/// A thread has one that releases it if that does so in this share of its cycles.
const USUAL: f64 = 0.5;

/// A chain's latency in one of its cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChainLatency {
    /// Release of the first thread.
    pub release: Nanos,
    /// From there to the end of the last.
    pub latency: Nanos,
}

#[derive(Clone, Copy)]
struct Seen {
    release: Nanos,
    start: Nanos,
    end: Nanos,
    by_event: bool,
}

#[derive(Default)]
struct ChainThread {
    seen: VecDeque<Seen>,
    /// How many of them have been followed back.
    done: usize,
}

/// Follows cycles back.
#[derive(Default)]
pub struct Chains {
    threads: BTreeMap<u32, ChainThread>,
}

impl Chains {
    pub fn push(&mut self, thread: u32, cycles: &[Cycle]) {
        let thread = self.threads.entry(thread).or_default();
        thread.seen.extend(cycles.iter().map(|cycle| Seen {
            release: cycle.release_ns,
            start: cycle.release_ns + cycle.wake_up_ns,
            end: cycle.end_ns(),
            by_event: cycle.released_by == ReleasedBy::Event,
        }));
        let surplus = thread.seen.len().saturating_sub(MOST_WAITING);
        thread.drop_first(surplus);
    }

    /// Follows the cycles so far along what is known of the threads by now. `ids` are the kernel's
    /// numbers of the threads, `is_over` if no further cycles come.
    pub fn follow(
        &mut self,
        reports: &[AttachedThreadReport],
        ids: &BTreeMap<i32, u32>,
        is_over: bool,
        mut on_latency: impl FnMut(&[u32], ChainLatency),
    ) {
        let before = releasing_threads(reports, ids);
        let releasing: BTreeSet<u32> = before.values().copied().collect();
        for last in before.keys().filter(|thread| !releasing.contains(*thread)) {
            let chain = chain_to(*last, &before);
            let ends = chain.iter().map(|one| {
                self.threads.get(one).and_then(|thread| thread.seen.back()).map(|seen| seen.end)
            });
            // Until here the cycles of all are known.
            let until = ends.min().flatten().unwrap_or(Nanos(i64::MIN));
            let Some(thread) = self.threads.get(last) else { continue };
            let due = thread.seen.iter().skip(thread.done);
            let due: Vec<Seen> =
                due.take_while(|seen| is_over || seen.end <= until).copied().collect();
            for seen in &due {
                if let Some(latency) = self.latency(&chain, *seen) {
                    on_latency(&chain, latency);
                }
            }
            self.threads.entry(*last).or_default().done += due.len();
        }
        self.forget();
    }

    /// Follows a cycle of the last thread of a chain back to the release of the first.
    fn latency(&self, chain: &[u32], last: Seen) -> Option<ChainLatency> {
        let mut seen = last;
        for thread in chain.iter().rev().skip(1) {
            if !seen.by_event {
                return None;
            }
            let all = &self.threads.get(thread)?.seen;
            let after = all.partition_point(|one| one.start <= seen.release);
            seen = *all.get(after.checked_sub(1)?).filter(|one| seen.release <= one.end)?;
        }
        Some(ChainLatency { release: seen.release, latency: last.end - seen.release })
    }

    fn forget(&mut self) {
        for thread in self.threads.values_mut() {
            let newest = thread.seen.back().map_or(Nanos::ZERO, |seen| seen.end);
            let old = thread.seen.iter().take_while(|seen| seen.end < newest - KEPT).count();
            thread.drop_first(old);
        }
    }
}

impl ChainThread {
    fn drop_first(&mut self, count: usize) {
        self.seen.drain(..count);
        self.done = self.done.saturating_sub(count);
    }
}

/// For each thread that another one usually releases, that one.
fn releasing_threads(
    reports: &[AttachedThreadReport],
    ids: &BTreeMap<i32, u32>,
) -> BTreeMap<u32, u32> {
    let usual = reports.iter().filter_map(|report| {
        let waker = report.wakers.first()?;
        let is_usual = waker.count as f64 > USUAL * report.cycles as f64;
        let by = *ids.get(&waker.thread_id).filter(|by| is_usual && **by != report.thread)?;
        Some((report.thread, by))
    });
    usual.collect()
}

/// The threads that lead to this one, the first in front; threads that release each other in turn
/// have no first, and the chain begins behind their repetition.
fn chain_to(last: u32, before: &BTreeMap<u32, u32>) -> Vec<u32> {
    let mut chain = vec![last];
    while let Some(by) = before.get(&chain[chain.len() - 1])
        && !chain.contains(by)
    {
        chain.push(*by);
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::attach::ThreadWaker;
    use latlab_model::nanos::{MICROSECOND, MILLISECOND};

    const NAMES: [&str; 3] = ["sensor", "control", "actuator"];

    fn report(thread: u32, by: Option<u32>, count: u64) -> AttachedThreadReport {
        let waker = |by: u32| ThreadWaker {
            thread_id: 100 + by as i32,
            name: NAMES[by as usize].to_string(),
            count,
        };
        AttachedThreadReport {
            thread,
            cycles: 100,
            wakers: by.map(waker).into_iter().collect(),
            ..AttachedThreadReport::default()
        }
    }

    fn ids() -> BTreeMap<i32, u32> {
        (0..3).map(|thread| (100 + thread as i32, thread)).collect()
    }

    /// Each sensor cycle wakes control 50 us after its release, that wakes the actuator 100 us later.
    fn cycles(thread: u32, n: i64) -> Cycle {
        let released_by = if thread == 0 { ReleasedBy::Timer } else { ReleasedBy::Event };
        let after = MICROSECOND * [0, 50, 150][thread as usize];
        Cycle {
            release_ns: MILLISECOND * n + after,
            released_by,
            wake_up_ns: MICROSECOND * 10,
            execution_ns: MICROSECOND * 100,
            preempted_ns: Nanos::ZERO,
            blocked_ns: MICROSECOND * (n % 7),
            overruns: 0,
        }
    }

    fn followed(
        chains: &mut Chains,
        reports: &[AttachedThreadReport],
        is_over: bool,
    ) -> Vec<(Vec<u32>, ChainLatency)> {
        let mut all = Vec::new();
        chains.follow(reports, &ids(), is_over, |chain, latency| {
            all.push((chain.to_vec(), latency));
        });
        all
    }

    #[test]
    fn a_cycle_is_followed_back_to_the_first_release() {
        let reports = [report(0, None, 0), report(1, Some(0), 99), report(2, Some(1), 100)];
        let mut chains = Chains::default();
        let mut told = Vec::new();
        // Frames of the threads come one after the other, and part of them later.
        for from in [0, 40, 80] {
            for thread in 0..3 {
                // The first thread is a frame behind.
                let from = if thread == 0 { from - 7 } else { from };
                let part = (from.max(0)..from + 40).map(|n| cycles(thread, n));
                chains.push(thread, &part.collect::<Vec<_>>());
            }
            told.extend(followed(&mut chains, &reports, false));
        }
        told.extend(followed(&mut chains, &reports, true));
        let expected: Vec<(Vec<u32>, ChainLatency)> = (0..113)
            .map(|n| {
                let release = MILLISECOND * n;
                let latency = MICROSECOND * (150 + 110 + n % 7);
                (vec![0, 1, 2], ChainLatency { release, latency })
            })
            .collect();
        assert_eq!(told, expected, "each once, and none without the first thread's cycle");
    }

    #[test]
    fn what_another_thread_seldom_releases_is_no_chain() {
        let mut chains = Chains::default();
        for thread in 0..2 {
            chains.push(thread, &(0..50).map(|n| cycles(thread, n)).collect::<Vec<_>>());
        }
        let seldom = [report(0, None, 0), report(1, Some(0), 20)];
        assert!(followed(&mut chains, &seldom, true).is_empty());
        let in_turn = BTreeMap::from([(0, 1), (1, 0), (2, 1)]);
        assert_eq!(chain_to(2, &in_turn), [0, 1, 2]);
    }
}
