//! What a CPU did, without a gap: who had it from event to event.

use crate::moment::{EventReader, Interruption, Level, Moment, Task, What};
use latlab_model::explanation::{Holder, HolderKind, TracedThread};
use std::collections::HashMap;

/// A stretch in which nothing was recorded, between two events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Its begin, on the clock of the trace.
    pub from: i64,
    /// Its end.
    pub to: i64,
    /// Who had the CPU.
    pub holder: Holder,
    /// The thread, where it is one.
    pub thread: Option<TracedThread>,
    /// What else is known.
    pub detail: Option<String>,
}

/// The threads that the events of all CPUs name.
pub type Tasks = HashMap<i32, Task>;

/// Collects the names and priorities of threads.
pub fn name_tasks(moments: &[Moment], tasks: &mut Tasks) {
    for moment in moments {
        match &moment.what {
            What::Switch { from, to } => {
                tasks.insert(from.id, from.clone());
                tasks.insert(to.id, to.clone());
            }
            What::Waking(task) => drop(tasks.insert(task.id, task.clone())),
            _ => {}
        }
    }
}

/// The stretches between these times of the moments of one CPU; the time before its first moment is
/// in none. The thread's own timer is no other timer.
pub fn stretches(
    moments: &[Moment],
    tasks: &Tasks,
    reader: &EventReader,
    own_timer: Option<u64>,
) -> Vec<Stretch> {
    let Some(first) = moments.first() else { return Vec::new() };
    let mut state = CpuState {
        tasks,
        reader,
        own_timer,
        thread: first.thread,
        interrupts: Vec::new(),
        softirqs: HashMap::new(),
        timer: None,
        work: HashMap::new(),
    };
    let (mut all, mut since) = (Vec::new(), first.at);
    for moment in moments {
        if let What::Nmi(length) = moment.what {
            // It is told when it has ended.
            let begin = (moment.at - length).max(since);
            all.extend(state.stretch(since, begin));
            let holder = Holder { kind: HolderKind::Nmi, name: String::new() };
            all.push(Stretch { from: begin, to: moment.at, holder, thread: None, detail: None });
        } else {
            all.extend(state.stretch(since, moment.at));
        }
        since = moment.at;
        state.apply(moment);
    }
    all
}

/// Who has a CPU at a time.
struct CpuState<'a> {
    tasks: &'a Tasks,
    reader: &'a EventReader,
    own_timer: Option<u64>,
    thread: i32,
    interrupts: Vec<Interruption>,
    /// Softirqs of each thread: with PREEMPT_RT a thread may be put off its CPU within one.
    softirqs: HashMap<i32, Vec<Interruption>>,
    /// The function of the timer that runs.
    timer: Option<u64>,
    /// What each worker runs.
    work: HashMap<i32, u64>,
}

impl CpuState<'_> {
    fn apply(&mut self, moment: &Moment) {
        // Some kernels do not tell every switch, but every event tells its thread.
        self.thread = moment.thread;
        match &moment.what {
            What::Switch { to, .. } => {
                self.thread = to.id;
                self.interrupts.clear();
                self.timer = None;
            }
            What::Enter(one) => match one.level {
                Level::Softirq | Level::Tasklet => {
                    self.softirqs.entry(self.thread).or_default().push(one.clone());
                }
                Level::Interrupt | Level::Handler => self.interrupts.push(one.clone()),
            },
            What::Exit(level) => {
                let softirqs = self.softirqs.entry(self.thread).or_default();
                let stack = match level {
                    Level::Softirq | Level::Tasklet => softirqs,
                    Level::Interrupt | Level::Handler => &mut self.interrupts,
                };
                // What has not told its end has ended with what it interrupted.
                let last = stack.iter().rposition(|one| one.level == *level);
                stack.truncate(last.unwrap_or(stack.len()));
            }
            What::TimerExpire { timer, function } => {
                self.timer = Some(*function).filter(|_| self.own_timer != Some(*timer));
            }
            What::TimerExit => self.timer = None,
            What::Work(function) => drop(self.work.insert(self.thread, *function)),
            What::WorkEnd => drop(self.work.remove(&self.thread)),
            What::Waking(_)
            | What::TimerStart { .. }
            | What::Nmi(_)
            | What::PageFault
            | What::Printk
            | What::Hotplug
            | What::Other => {}
        }
    }

    fn stretch(&self, from: i64, to: i64) -> Option<Stretch> {
        let (holder, thread, detail) = self.holder();
        (from < to).then_some(Stretch { from, to, holder, thread, detail })
    }

    fn holder(&self) -> (Holder, Option<TracedThread>, Option<String>) {
        let of = |kind, name: &str| Holder { kind, name: name.to_string() };
        if let Some(function) = self.timer {
            return (of(HolderKind::OtherTimers, &self.reader.function(function)), None, None);
        }
        if let Some(interrupt) = self.interrupts.last() {
            return (of(HolderKind::Interrupt, &interrupt.name), None, None);
        }
        let task = self.tasks.get(&self.thread);
        let name = task.map_or_else(|| format!("thread {}", self.thread), |one| one.name.clone());
        if let Some(softirq) = self.softirqs.get(&self.thread).and_then(|all| all.last()) {
            let detail = (self.thread != 0).then(|| format!("in {name}"));
            return (of(HolderKind::Softirq, &softirq.name), None, detail);
        }
        if self.thread == 0 {
            return (of(HolderKind::IdleExit, ""), None, None);
        }
        let thread =
            TracedThread { id: self.thread, kernel_priority: task.and_then(|one| one.priority) };
        let work = self.work.get(&self.thread).map(|&at| self.reader.function(at));
        let name = name.split_once('/').filter(|(first, _)| *first == "kworker");
        let name = name.map_or_else(
            || task.map_or_else(|| format!("thread {}", self.thread), |one| one.name.clone()),
            |(first, _)| first.to_string(),
        );
        let name = work.map_or(name.clone(), |work| format!("{name} ({work})"));
        (Holder { kind: HolderKind::Thread, name }, Some(thread), None)
    }
}
