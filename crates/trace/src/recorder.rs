//! Keeps what concerns the measuring threads from the kernel's trace, until it is sent.

use latlab_model::Nanos;
use latlab_model::run::ThreadSetup;
use latlab_model::trace::{ThreadEvent, ThreadEventKind, TraceLoss, TraceStretch, TraceWindow};
use std::collections::HashMap;

/// An event with the kernel's numbers and addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelEvent {
    /// A thread starts a timer.
    Armed {
        /// Kernel number of the thread.
        thread_id: i32,
        /// Address of the timer; a sleeping thread's is on its stack.
        timer: i64,
        /// The function it is to call.
        function: i64,
        /// When it is to expire.
        release: i64,
    },
    /// The interrupt handles an expired timer.
    Expired { timer: i64 },
    /// A thread is put on its CPU.
    Switched {
        /// Kernel number of the thread.
        thread_id: i32,
    },
    /// This many events before this one are lost, at least one.
    Lost(u64),
}

/// Keeps the events of the measuring threads, without any kernel addresses.
pub struct EventRecorder {
    threads: Vec<RecordedThread>,
    by_id: HashMap<i32, usize>,
    /// The thread that waits for a timer, by the timer's address.
    by_timer: HashMap<i64, usize>,
    function: Option<i64>,
    losses: Vec<TraceLoss>,
    count: usize,
}

struct RecordedThread {
    thread: u32,
    first: i64,
    period: i64,
    timer: Option<i64>,
    events: Vec<ThreadEvent>,
}

impl EventRecorder {
    pub fn new(threads: &[ThreadSetup]) -> EventRecorder {
        let by_id = threads.iter().enumerate().filter_map(|(at, one)| Some((one.thread_id?, at)));
        let thread = |setup: &ThreadSetup| RecordedThread {
            thread: setup.thread,
            first: setup.first_release_ns.0,
            period: setup.period_ns.map_or(1, |period| period.0.max(1)),
            timer: None,
            events: Vec::new(),
        };
        EventRecorder {
            by_id: by_id.collect(),
            threads: threads.iter().map(thread).collect(),
            by_timer: HashMap::new(),
            function: None,
            losses: Vec::new(),
            count: 0,
        }
    }

    /// The function of our threads' timers, once one was seen.
    pub fn function(&self) -> Option<i64> {
        self.function
    }

    /// Events since the last stretch.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes the next event of all, by time.
    pub fn push(&mut self, at: i64, cpu: u32, event: KernelEvent) {
        let (index, kind) = match event {
            KernelEvent::Lost(count) => {
                self.losses.push(TraceLoss { at_ns: Nanos(at), cpu, count });
                return;
            }
            KernelEvent::Armed { thread_id, timer, function, release } => {
                let Some(&index) = self.by_id.get(&thread_id) else { return };
                if !self.is_own_timer(index, function, release) {
                    return;
                }
                if let Some(before) = self.threads[index].timer.replace(timer) {
                    self.by_timer.remove(&before);
                }
                self.by_timer.insert(timer, index);
                (Some(index), ThreadEventKind::Armed { release_ns: Nanos(release) })
            }
            KernelEvent::Expired { timer } => {
                (self.by_timer.get(&timer).copied(), ThreadEventKind::Expired)
            }
            KernelEvent::Switched { thread_id } => {
                (self.by_id.get(&thread_id).copied(), ThreadEventKind::SwitchedIn)
            }
        };
        let Some(index) = index else { return };
        self.threads[index].events.push(ThreadEvent { at_ns: Nanos(at), cpu, kind });
        self.count += 1;
    }

    /// The kernel starts internal timers on a thread too; one that expires at a release of the loop
    /// reveals the function of the thread's timers.
    fn is_own_timer(&mut self, index: usize, function: i64, release: i64) -> bool {
        let RecordedThread { first, period, .. } = self.threads[index];
        if release.wrapping_sub(first) % period == 0 {
            self.function = Some(function);
        }
        self.function == Some(function)
    }

    /// Everything since the last stretch, all of it before this time.
    pub fn take_stretch(&mut self, until: Nanos, windows: Vec<TraceWindow>) -> TraceStretch {
        self.count = 0;
        let threads = self.threads.iter_mut().filter(|one| !one.events.is_empty());
        TraceStretch {
            until_ns: until,
            windows,
            losses: std::mem::take(&mut self.losses),
            threads: threads.map(|one| (one.thread, std::mem::take(&mut one.events))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: i64 = 1_000_000;

    fn setup(thread: u32, thread_id: i32) -> ThreadSetup {
        ThreadSetup {
            thread,
            thread_id: Some(thread_id),
            cpu: None,
            core_type: None,
            capacity: None,
            policy: String::new(),
            period_ns: Some(Nanos(PERIOD)),
            first_release_ns: Nanos(77),
        }
    }

    fn armed(thread_id: i32, timer: i64, function: i64, release: i64) -> KernelEvent {
        KernelEvent::Armed { thread_id, timer, function, release }
    }

    fn event(at: i64, kind: ThreadEventKind) -> ThreadEvent {
        ThreadEvent { at_ns: Nanos(at), cpu: 2, kind }
    }

    #[test]
    fn what_is_of_our_threads_is_kept_with_its_cpu_and_nothing_else() {
        let mut recorder = EventRecorder::new(&[setup(0, 50), setup(1, 51)]);
        let release = 77 + 3 * PERIOD;
        for (at, event) in (1..).zip([
            // An internal timer of the kernel, started while ours ran, with events before ours.
            armed(50, 9, 2, 5),
            KernelEvent::Expired { timer: 9 },
            armed(50, 7, 1, release),
            armed(51, 8, 1, release),
            armed(99, 6, 1, release),
            KernelEvent::Expired { timer: 8 },
            KernelEvent::Expired { timer: 6 },
            KernelEvent::Switched { thread_id: 51 },
            KernelEvent::Switched { thread_id: 99 },
            KernelEvent::Lost(4),
            // It sleeps on another timer now: the old one is no longer associated.
            armed(50, 5, 1, release + 5),
            KernelEvent::Expired { timer: 7 },
            KernelEvent::Expired { timer: 5 },
        ]) {
            recorder.push(at, 2, event);
        }
        assert_eq!((recorder.function(), recorder.count()), (Some(1), 6));
        let windows = vec![TraceWindow { from_ns: Nanos(0), to_ns: Nanos(20), on: true }];
        let stretch = recorder.take_stretch(Nanos(20), windows.clone());
        let armed = |release| ThreadEventKind::Armed { release_ns: Nanos(release) };
        let (expired, switched) = (ThreadEventKind::Expired, ThreadEventKind::SwitchedIn);
        let first = [(3, armed(release)), (11, armed(release + 5)), (13, expired)];
        let second = [(4, armed(release)), (6, expired), (8, switched)];
        let expected = [(0, first), (1, second)]
            .map(|(one, events)| (one, events.map(|(at, kind)| event(at, kind)).to_vec()));
        assert_eq!(stretch.threads, expected);
        assert_eq!(stretch.losses, [TraceLoss { at_ns: Nanos(10), cpu: 2, count: 4 }]);
        assert_eq!((stretch.until_ns, stretch.windows), (Nanos(20), windows));
        let nothing = recorder.take_stretch(Nanos(30), Vec::new());
        assert!(nothing.threads.is_empty() && nothing.losses.is_empty(), "nothing is sent twice");
    }
}
