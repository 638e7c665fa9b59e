//! The releases of the measuring threads, between which our own threads work where every CPU is
//! measured: the kernel cannot take a CPU from them within a call, nor while it switches to them.

use latlab_model::Nanos;
use latlab_model::plan::{Measurement, Task};
use latlab_model::run::ThreadSetup;
use latlab_sys::clock::{Clock, sleep_until};
use latlab_sys::sched;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Nothing begins so shortly before a release, since it takes up to this long …
const BEFORE: i64 = 150_000;
/// … nor so shortly after one, when the measuring thread runs.
const AFTER: i64 = 60_000;
/// With a shorter period there is no time between.
const SHORTEST_PERIOD: i64 = 2 * (BEFORE + AFTER);
/// A thread that is moved to another CPU each time it waits goes on after so many.
const TRIES: usize = 3;
/// Releases that are passed over, where several threads of a CPU leave no time between theirs.
const MOST_PASSED: usize = 8;

/// The releases on each CPU, once they are known; without them any time is as good.
#[derive(Clone, Default, Debug)]
pub struct ReleaseTimes(Arc<OnceLock<BTreeMap<u32, Vec<Releases>>>>);

/// The releases of one thread, on CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Releases {
    first: i64,
    period: i64,
}

impl ReleaseTimes {
    /// Makes the releases of these threads known, where their times are fixed and can be kept free.
    pub fn publish(&self, measurement: &Measurement, threads: &[ThreadSetup]) {
        let is_fixed = match measurement.task {
            Task::Cyclic(_) | Task::Handoff(_) => measurement.plan.method.has_releases(),
            Task::Spin(_) | Task::Timerlat(_) => false,
        };
        if !is_fixed || measurement.plan.method.clock_can_be_set() {
            return;
        }
        let mut on_cpu: BTreeMap<u32, Vec<Releases>> = BTreeMap::new();
        for thread in threads {
            let (Some(cpu), Some(Nanos(period))) = (thread.cpu, thread.period_ns) else { return };
            if period >= SHORTEST_PERIOD {
                let first = thread.first_release_ns.0;
                on_cpu.entry(cpu).or_default().push(Releases { first, period });
            }
        }
        let _ = self.0.set(on_cpu);
    }

    /// What another process of ours reads with [`ReleaseTimes::read`].
    pub fn text(&self) -> Option<String> {
        serde_json::to_string(self.0.get()?).ok()
    }

    /// Makes the releases known that another process of ours knows.
    pub fn read(&self, text: &str) {
        if let Ok(on_cpu) = serde_json::from_str(text) {
            let _ = self.0.set(on_cpu);
        }
    }

    /// The first time from this one on that is far enough from all releases on the CPU of the calling
    /// thread; the time itself where there is none soon.
    pub fn free_from(&self, time: i64) -> i64 {
        self.free_on(sched::current_cpu(), time)
    }

    fn free_on(&self, cpu: u32, time: i64) -> i64 {
        let releases = self.0.get().and_then(|on_cpu| on_cpu.get(&cpu));
        let releases = releases.map_or(&[][..], Vec::as_slice);
        let mut free = time;
        for _ in 0..MOST_PASSED {
            match releases.iter().map(|one| one.free_from(free)).max() {
                Some(later) if later > free => free = later,
                _ => return free,
            }
        }
        time
    }

    /// Whether our own threads can keep away from them.
    pub fn are_known(&self) -> bool {
        self.0.get().is_some_and(|on_cpu| !on_cpu.is_empty())
    }

    /// Whether it is such a time now.
    pub fn is_free(&self) -> bool {
        let now = Clock::Monotonic.now();
        self.free_from(now) == now
    }

    /// Waits until it is.
    pub fn wait(&self) {
        for _ in 0..TRIES {
            let now = Clock::Monotonic.now();
            let free = self.free_from(now);
            if free == now || sleep_until(Clock::Monotonic, free).is_err() {
                return;
            }
        }
    }
}

impl Releases {
    fn free_from(&self, time: i64) -> i64 {
        // Counted from where the first release begins to forbid.
        let since = (time - self.first + BEFORE).rem_euclid(self.period);
        if since < BEFORE + AFTER { time - since + BEFORE + AFTER } else { time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::plan;
    use latlab_model::plan::{Cyclic, Method};

    fn thread(cpu: Option<u32>, first: i64, period: i64) -> ThreadSetup {
        ThreadSetup {
            thread: 0,
            cpu,
            core_type: None,
            capacity: None,
            thread_id: None,
            policy: "fifo 90".to_string(),
            period_ns: Some(Nanos(period)),
            first_release_ns: Nanos(first),
        }
    }

    fn published(threads: &[ThreadSetup]) -> ReleaseTimes {
        let plan = latlab_model::Plan { method: Method::Cyclic(Cyclic::default()), ..plan() };
        let times = ReleaseTimes::default();
        times.publish(&Measurement::new(plan).unwrap(), threads);
        times
    }

    /// Invariant (conditions): Where every CPU is measured, telemetry holds none of them for long.
    #[test]
    fn own_threads_stay_away_from_the_releases_of_their_cpu() {
        const FIRST: i64 = 50_000_000;
        let times = published(&[thread(Some(1), FIRST, 1_000_000)]);
        let free = |after: i64| times.free_on(1, FIRST + after) - FIRST;
        assert_eq!([61_000, 400_000, 849_000].map(free), [61_000, 400_000, 849_000]);
        assert_eq!([0, 59_000, 7_000_000].map(free), [60_000, 60_000, 7_060_000]);
        assert_eq!([850_000, 999_999].map(free), [1_060_000, 1_060_000]);
        assert_eq!(free(-20_000_100), -19_940_000, "also before the first");
        assert_eq!(times.free_on(0, FIRST), FIRST, "on another CPU");
    }

    #[test]
    fn several_threads_of_a_cpu_leave_what_is_between_all_of_them() {
        let times =
            published(&[thread(Some(0), 0, 1_000_000), thread(Some(0), 200_000, 1_000_000)]);
        assert_eq!(times.free_on(0, 900_000), 1_260_000);
        let all = [0, 200, 400, 600, 800].map(|at| thread(Some(0), at * 1_000, 1_000_000));
        assert_eq!(published(&all).free_on(0, 70_000), 70_000, "no time is between them");
        assert_eq!(published(&[thread(Some(0), 0, 200_000)]).free_on(0, 0), 0, "nor here");
    }

    #[test]
    fn threads_that_float_forbid_nothing() {
        assert_eq!(published(&[thread(None, 0, 1_000_000)]).free_on(0, 0), 0);
    }
}
