//! A thread whose scheduling and CPUs are read while it measures and kept at its end.

use crate::placement::describe_thread;
use latlab_model::{CpuSet, Nanos};
use latlab_sys::clock::Clock;
use latlab_sys::files::Root;
use latlab_sys::sched::{self, ThreadScheduling};
use std::sync::OnceLock;

/// A value and when it was read.
pub type SettingReading = (Nanos, String);

/// A thread of a run, by its kernel number.
#[derive(Debug)]
pub struct MonitoredThread {
    pub id: i32,
    /// The CPUs it was given.
    cpus: CpuSet,
    /// The kernel's count of its migrations when it was pinned.
    moves: Option<u64>,
    at_end: OnceLock<AtEnd>,
}

/// The settings of a thread when its measurement ended.
#[derive(Debug)]
struct AtEnd {
    scheduling: Option<SettingReading>,
    affinity: Option<SettingReading>,
    timer_slack: Option<SettingReading>,
}

impl MonitoredThread {
    /// A thread that was given these CPUs.
    pub fn new(id: i32, cpus: CpuSet) -> MonitoredThread {
        let is_pinned = cpus.len() == 1;
        let moves = is_pinned.then(|| moves(&Root::default(), id)).flatten();
        MonitoredThread { id, cpus, moves, at_end: OnceLock::new() }
    }

    /// Its policy with priority or nice value, now or at its end; `None` if it ended without
    /// recording them.
    pub fn scheduling(&self) -> Option<SettingReading> {
        match self.at_end.get() {
            Some(end) => end.scheduling.clone(),
            None => self.read_scheduling(),
        }
    }

    /// Its CPUs, now or at its end; `None` while a CPU it was given is offline, since then the
    /// kernel itself has moved it.
    pub fn affinity(&self) -> Option<SettingReading> {
        match self.at_end.get() {
            Some(end) => end.affinity.clone(),
            None => self.read_affinity(),
        }
    }

    /// Its timer slack, at its end or now. Without privileges only the thread itself may read it,
    /// at its end.
    pub fn timer_slack(&self) -> Option<SettingReading> {
        match self.at_end.get() {
            Some(end) => end.timer_slack.clone(),
            None => self.read_timer_slack(),
        }
    }

    /// Records the settings when the measurement ends; a thread of ours calls this itself.
    pub fn record_end(&self) {
        self.at_end.get_or_init(|| {
            let is_caller = self.id == sched::thread_id();
            AtEnd {
                scheduling: self.read_scheduling(),
                affinity: self.read_affinity().map(|(at, cpus)| (at, self.with_moves(cpus))),
                timer_slack: match is_caller {
                    true => Some(now(own_timer_slack())),
                    false => self.read_timer_slack(),
                },
            }
        });
    }

    fn read_scheduling(&self) -> Option<SettingReading> {
        let read = ThreadScheduling::read(self.id as u32).ok()?;
        Some(now(describe_thread(read)))
    }

    fn read_timer_slack(&self) -> Option<SettingReading> {
        let slack: u64 = Root::default().read_as(format!("proc/{}/timerslack_ns", self.id))?;
        Some(now(format!("{slack} ns")))
    }

    fn read_affinity(&self) -> Option<SettingReading> {
        let cpus: CpuSet = sched::affinity_of(self.id as u32).ok()?.into_iter().collect();
        let lost = self.cpus.without(&cpus);
        let is_offline = !lost.is_empty() && !lost.and(&offline()).is_empty();
        (!is_offline).then(|| now(text_of(&cpus)))
    }

    /// A pinned thread migrates only if another process changes its CPUs.
    fn with_moves(&self, cpus: String) -> String {
        let count = |before| Some(moves(&Root::default(), self.id)?.saturating_sub(before));
        match self.moves.and_then(count) {
            None | Some(0) => cpus,
            Some(count) => format!("{cpus}, moved {count} times"),
        }
    }
}

/// CPUs in the words of a setting.
pub fn text_of(cpus: &CpuSet) -> String {
    if cpus.len() == 1 { format!("CPU {cpus}") } else { format!("CPUs {cpus}") }
}

/// The calling thread's timer slack in the words of a setting.
pub fn own_timer_slack() -> String {
    match sched::timer_slack() {
        Ok(slack) => format!("{slack} ns"),
        Err(error) => format!("cannot be read: {error}"),
    }
}

fn now(value: String) -> SettingReading {
    (Nanos(Clock::Monotonic.now()), value)
}

fn offline() -> CpuSet {
    Root::default().read_as("sys/devices/system/cpu/offline").unwrap_or_default()
}

/// The kernel's count of a thread's migrations; `None` if the kernel does not report it.
fn moves(root: &Root, thread: i32) -> Option<u64> {
    let text = root.read(format!("proc/{thread}/sched"))?;
    let count = text.lines().find_map(|line| line.strip_prefix("se.nr_migrations"))?;
    count.trim_start_matches([' ', ':']).trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_sys::sched::Scheduling;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    /// Invariant (settings): A thread's scheduling and CPUs are read while it lives and at its end.
    #[test]
    fn a_thread_is_read_while_it_lives_and_as_it_was_at_its_end() {
        let (to_test, from_thread) = channel();
        let (to_thread, from_test) = channel::<()>();
        let worker = std::thread::spawn(move || {
            let first = sched::affinity().unwrap()[0];
            sched::set_affinity([first]).unwrap();
            let own =
                Arc::new(MonitoredThread::new(sched::thread_id(), [first].into_iter().collect()));
            to_test.send((first, Arc::clone(&own))).unwrap();
            from_test.recv().unwrap();
            sched::set_scheduling(Scheduling::Batch).unwrap();
            own.record_end();
            // Changes after the recorded end must not show.
            sched::set_scheduling(Scheduling::Idle).unwrap();
        });
        let (cpu, thread) = from_thread.recv().unwrap();
        // Drop the nice value, which depends on how the tests are started.
        let value = |reading: Option<SettingReading>| {
            reading.unwrap().1.split(", nice").next().unwrap().to_string()
        };
        assert_eq!(value(thread.scheduling()), "other");
        assert_eq!(value(thread.affinity()), format!("CPU {cpu}"));
        // Only root may read another thread's timer slack.
        assert!(thread.timer_slack().is_none_or(|(_, slack)| slack.ends_with(" ns")));
        sched::set_scheduling_of(thread.id as u32, Scheduling::Idle).unwrap();
        assert_eq!(value(thread.scheduling()), "idle");
        to_thread.send(()).unwrap();
        worker.join().unwrap();
        assert_eq!(value(thread.scheduling()), "batch");
        assert_eq!(value(thread.affinity()), format!("CPU {cpu}"));
        assert!(value(thread.timer_slack()).ends_with(" ns"));
    }

    #[test]
    fn a_pinned_thread_that_was_moved_and_moved_back_says_so() {
        std::thread::spawn(|| {
            let cpus = sched::affinity().unwrap();
            let [first, .., last] = cpus[..] else { return };
            sched::set_affinity([first]).unwrap();
            let own = MonitoredThread::new(sched::thread_id(), [first].into_iter().collect());
            sched::set_affinity([last]).unwrap();
            sched::set_affinity([first]).unwrap();
            own.record_end();
            if own.moves.is_some() {
                assert_eq!(own.affinity().unwrap().1, format!("CPU {first}, moved 2 times"));
            }
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_thread_that_is_gone_says_nothing() {
        let id = std::thread::spawn(sched::thread_id).join().unwrap();
        // `join` may return before the kernel has removed the thread from /proc.
        while std::path::Path::new(&format!("/proc/self/task/{id}")).exists() {
            std::thread::yield_now();
        }
        let gone = MonitoredThread::new(id, CpuSet::default());
        assert_eq!((gone.scheduling(), gone.affinity()), (None, None));
    }
}
