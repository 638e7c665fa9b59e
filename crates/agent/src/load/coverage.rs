//! The CPUs that the threads of a load may use, from check to check.

use latlab_model::load::{LostCpus, LostPriority};
use latlab_model::{CpuSet, Nanos};
use latlab_sys::child::Descendant;
use latlab_sys::files::Root;
use latlab_sys::sched::{Scheduling, ThreadScheduling, affinity_of};
use std::collections::{BTreeMap, BTreeSet};

/// A thread, by its number and the start time of its process.
type ThreadKey = (u32, u64);

/// CPUs that the threads of a load may use, and those that were taken away.
#[derive(Default, Debug)]
pub struct Coverage {
    /// Each thread at the last check.
    threads: BTreeMap<ThreadKey, CpuSet>,
    /// Time of the last check; `None` before the first.
    looked_at: Option<Nanos>,
    /// All CPUs of all checks.
    pub seen: BTreeSet<u32>,
    /// CPUs that all threads covered when the load had started; `None` before.
    begun: Option<CpuSet>,
    /// Whether a thread has lost a CPU since then.
    any_narrowed: bool,
    /// The first check at which a CPU was no longer covered.
    pub lost: Option<LostCpus>,
    pub priorities: Priorities,
}

/// How the threads of a load are scheduled, from check to check.
#[derive(Default, Debug)]
pub struct Priorities {
    threads: BTreeMap<ThreadKey, ThreadScheduling>,
    looked_at: Option<Nanos>,
    has_begun: bool,
    /// The first thread whose priority was lowered.
    pub lost: Option<LostPriority>,
}

impl Priorities {
    fn take(&mut self, at: Nanos, threads: BTreeMap<ThreadKey, ThreadScheduling>) {
        let before = std::mem::replace(&mut self.threads, threads);
        let Some(previous_ns) = self.looked_at.replace(at) else { return };
        if !self.has_begun || self.lost.is_some() {
            return;
        }
        let lowered = self.threads.iter().find_map(|(thread, now)| {
            let held = before.get(thread)?;
            (rank(*now) < rank(*held)).then(|| (held.to_string(), now.to_string()))
        });
        self.lost = lowered.map(|(held, now)| LostPriority { at_ns: at, previous_ns, held, now });
    }
}

/// Sorts scheduling from weak to strong.
fn rank(thread: ThreadScheduling) -> (u8, i64) {
    let ordinary = -i64::from(thread.nice());
    match thread.scheduling() {
        Scheduling::Idle => (0, ordinary),
        Scheduling::Other | Scheduling::Batch => (1, ordinary),
        Scheduling::Fifo(priority) | Scheduling::Rr(priority) => (2, i64::from(priority)),
        Scheduling::Deadline { .. } | Scheduling::Unknown(_) => (3, 0),
    }
}

impl Coverage {
    /// Marks the load as running: what its threads set up to now is their own choice.
    pub fn begin(&mut self) {
        self.begun = Some(self.covered());
        self.priorities.has_begun = true;
    }

    /// Checks all threads of these processes, calling `between` before each process.
    pub fn look(
        &mut self,
        root: &Root,
        at: Nanos,
        processes: &[Descendant],
        mut between: impl FnMut(),
    ) {
        let (mut threads, mut priorities) = (BTreeMap::new(), BTreeMap::new());
        for process in processes.iter().filter(|process| process.stat.state != 'Z') {
            between();
            for thread in threads_of(root, process) {
                let key = (thread, process.stat.started);
                // A thread that has ended meanwhile has no CPU.
                if let Ok(cpus) = affinity_of(thread) {
                    threads.insert(key, cpus.into_iter().collect());
                }
                if let Ok(priority) = ThreadScheduling::read(thread) {
                    priorities.insert(key, priority);
                }
            }
        }
        self.priorities.take(at, priorities);
        let offline = || root.read_as("sys/devices/system/cpu/offline").unwrap_or_default();
        self.take(at, threads, offline);
    }

    fn take(
        &mut self,
        at: Nanos,
        threads: BTreeMap<ThreadKey, CpuSet>,
        offline: impl FnOnce() -> CpuSet,
    ) {
        let narrowed = |(thread, cpus): (&ThreadKey, &CpuSet)| {
            self.threads.get(thread).is_some_and(|before| !before.without(cpus).is_empty())
        };
        let any_narrowed = threads.iter().any(narrowed);
        self.threads = threads;
        let previous_ns = self.looked_at.replace(at);
        self.seen.extend(self.threads.values().flat_map(CpuSet::iter));
        let Some(begun) = self.begun.as_ref().filter(|_| self.lost.is_none()) else { return };
        // The coverage of a load whose threads come and go varies; CPUs count as lost only if an
        // existing thread's mask was narrowed.
        self.any_narrowed |= any_narrowed;
        let now = self.covered();
        let missing = begun.without(&now);
        if self.any_narrowed && !now.is_empty() && !missing.is_empty() {
            // The kernel removes an offline CPU from every mask.
            let missing = missing.without(&offline());
            let lost = LostCpus { at_ns: at, previous_ns, lost: missing.clone(), left: now };
            self.lost = (!missing.is_empty()).then_some(lost);
        }
    }

    fn covered(&self) -> CpuSet {
        self.threads.values().flat_map(CpuSet::iter).collect()
    }
}

/// The threads of a process; only its own number if it has just one.
fn threads_of(root: &Root, process: &Descendant) -> Vec<u32> {
    let listed = || root.names(format!("proc/{}/task", process.pid)).unwrap_or_default();
    match process.stat.threads {
        0 | 1 => vec![process.pid],
        _ => listed().iter().filter_map(|name| name.parse().ok()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(list: &str) -> CpuSet {
        if list.is_empty() { CpuSet::default() } else { list.parse().unwrap() }
    }

    /// What is lost over several checks, each given as the CPUs of some threads; the first is at
    /// the start.
    fn lost(looks: &[&[(u32, &str)]], offline: &str) -> Option<(i64, String, String)> {
        let mut coverage = Coverage::default();
        for (at, look) in (0..).zip(looks) {
            let threads = look.iter().map(|(thread, list)| ((*thread, 7), cpus(list))).collect();
            coverage.take(Nanos(at), threads, || cpus(offline));
            if at == 0 {
                coverage.begin();
            }
        }
        coverage.lost.map(|lost| (lost.at_ns.0, lost.lost.to_string(), lost.left.to_string()))
    }

    /// Invariant (settings): A load whose threads are given fewer CPUs is found, one whose threads come and go is not.
    #[test]
    fn threads_that_are_moved_onto_a_part_of_the_cpus_are_found() {
        let moved =
            lost(&[&[(1, "0-1"), (2, "0-1")], &[(1, "0-1"), (2, "1")], &[(1, "1"), (2, "1")]], "");
        assert_eq!(moved, Some((2, "0".into(), "1".into())));
        let ended = lost(&[&[(1, "0"), (2, "0-1")], &[(1, "0"), (2, "0")], &[(1, "0")]], "");
        assert_eq!(ended, Some((1, "1".into(), "0".into())));
        let pinned_each = lost(&[&[(1, "0"), (2, "1")], &[(1, "1"), (2, "1")]], "");
        assert_eq!(pinned_each, Some((1, "0".into(), "1".into())));
    }

    /// Invariant (settings): A load whose threads are given a lower priority while it is measured forbids a pass.
    #[test]
    fn a_thread_that_is_given_a_lower_priority_is_found() {
        let lost = |looks: &[&str]| {
            let mut priorities = Priorities::default();
            for (at, look) in (0..).zip(looks) {
                let thread = ((1, 7), look.parse().unwrap());
                priorities.take(Nanos(at), BTreeMap::from([thread]));
                priorities.has_begun = true;
            }
            priorities.lost.map(|lost| (lost.previous_ns.0, lost.held, lost.now))
        };
        let found = |at, held: &str, now: &str| Some((at, held.to_string(), now.to_string()));
        assert_eq!(lost(&["other 0", "other 0", "idle 0"]), found(1, "other 0", "idle 0"));
        assert_eq!(lost(&["other 0", "other 19", "idle 0"]), found(0, "other 0", "other 19"));
        assert_eq!(lost(&["fifo 50", "fifo 40"]), found(0, "fifo 50", "fifo 40"));
        assert_eq!(lost(&["fifo 50", "other 0"]), found(0, "fifo 50", "other 0"));
        assert_eq!(lost(&["other 0", "batch 0", "rr 3", "fifo 99"]), None);
    }

    #[test]
    fn the_look_before_the_loss_is_known() {
        let mut coverage = Coverage::default();
        for (at, list) in [(3, "0-1"), (5, "0-1"), (9, "1")] {
            coverage.take(Nanos(at), BTreeMap::from([((1, 7), cpus(list))]), CpuSet::default);
            coverage.begin();
        }
        let lost = coverage.lost.unwrap();
        assert_eq!((lost.previous_ns, lost.at_ns), (Some(Nanos(5)), Nanos(9)));
    }

    #[test]
    fn threads_that_come_and_go_or_pin_themselves_lose_nothing() {
        assert_eq!(lost(&[&[(1, "0"), (2, "1")], &[(1, "0")], &[(3, "1")]], ""), None);
        assert_eq!(lost(&[&[(1, "0-1")], &[(1, "0-1"), (2, "0")], &[]], ""), None);
        let started_again = lost(&[&[(1, "0")], &[(2, "0-1")], &[(2, "0")]], "");
        assert_eq!(started_again, None);
        assert_eq!(lost(&[&[(1, "0-1")], &[(1, "0")]], "1"), None, "offline");
    }
}
