//! What a CPU did, without a gap: what had it from event to event.

use crate::kernel_events::{EventKind, Interruption, Level, Moment, Task};
use latlab_model::explanation::{Cause, CauseEvidence, CauseKind, TracedThread};
use std::collections::HashMap;

/// A stretch between two events, with no event in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Start, on the clock of the trace.
    pub from: i64,
    pub to: i64,
    /// What had the CPU.
    pub cause: Cause,
    /// The thread, if it is one.
    pub thread: Option<TracedThread>,
    /// What else is known.
    pub evidence: Option<CauseEvidence>,
    /// When the scheduler chose the thread that was on the CPU.
    pub chosen: Option<i64>,
    /// Its kernel priority.
    pub priority: Option<i32>,
}

/// The threads that the events of all CPUs name.
pub type Tasks = HashMap<i32, Task>;

/// The threads that started each timer, with times.
pub type TimerOwners = HashMap<u64, Vec<(i64, i32)>>;

/// Names of kernel functions by address.
pub type NameOf<'a> = &'a dyn Fn(u64) -> String;

/// Collects the names and priorities of threads.
pub fn name_tasks(moments: &[Moment], tasks: &mut Tasks) {
    for moment in moments {
        match &moment.kind {
            EventKind::Switch { from, to, .. } => {
                tasks.insert(from.id, from.clone());
                tasks.insert(to.id, to.clone());
            }
            EventKind::Waking(task) => drop(tasks.insert(task.id, task.clone())),
            // Until it runs it has its parent's name.
            EventKind::Fork(task) => drop(tasks.entry(task.id).or_insert_with(|| task.clone())),
            _ => {}
        }
    }
}

/// Collects the owners of timers: the thread that started it itself. One restarted in an interrupt
/// keeps its owner; one whose start was not seen belongs to the thread it wakes.
pub fn own_timers(moments: &[Moment], owners: &mut TimerOwners) {
    let (mut depth, mut running) = (0_u32, None);
    for moment in moments {
        match &moment.kind {
            EventKind::Enter(_) => depth += 1,
            EventKind::Exit(_) => depth = depth.saturating_sub(1),
            EventKind::Switch { .. } | EventKind::Lost => (depth, running) = (0, None),
            EventKind::TimerExpire { timer, .. } => running = Some(*timer),
            EventKind::TimerExit => running = None,
            EventKind::TimerStart { timer, .. }
                if depth == 0 && running.is_none() && moment.thread != 0 =>
            {
                owners.entry(*timer).or_default().push((moment.at, moment.thread));
            }
            EventKind::Waking(task) => {
                if let Some(timer) = running {
                    let known = owners.entry(timer).or_default();
                    if known.is_empty() {
                        known.push((moment.at, task.id));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Consecutive stretches between the moments of one CPU; the last one has no end. The time before
/// the first moment is in none. The thread's own timer does not count as another timer.
pub fn stretches(
    moments: &[Moment],
    tasks: &Tasks,
    owners: &TimerOwners,
    name_of: NameOf,
    own_timer: Option<u64>,
) -> Vec<Stretch> {
    let Some(first) = moments.first() else { return Vec::new() };
    let mut state = CpuState {
        tasks,
        owners,
        name_of,
        own_timer,
        thread: first.thread,
        current: None,
        chosen: None,
        interrupts: Vec::new(),
        softirqs: HashMap::new(),
        timer: None,
        work: HashMap::new(),
        idle: None,
    };
    let (mut all, mut since) = (Vec::new(), first.at);
    for (index, moment) in moments.iter().enumerate() {
        let at = moment.at.max(since);
        match moment.kind {
            EventKind::Nmi { length, function } => {
                // It is reported when it has ended.
                let begin = at.saturating_sub(length.max(0)).max(since);
                all.extend(state.stretch(since, begin));
                all.extend(of_kind(CauseKind::Nmi, name_of(function), begin, at));
            }
            EventKind::Lost => {
                all.extend(of_kind(CauseKind::Unknown, String::new(), since, at));
                state.forget();
            }
            _ => all.extend(state.stretch(since, at)),
        }
        since = at;
        // Time between the functions of two timers is work on the first.
        if moment.kind != EventKind::TimerExit || !timer_follows(&moments[index + 1..]) {
            state.apply(moment);
        }
    }
    all.extend(state.stretch(since, i64::MAX));
    all
}

/// Whether another timer expires next, in the same interrupt.
fn timer_follows(moments: &[Moment]) -> bool {
    let next = moments.iter().map(|moment| &moment.kind).find(|kind| {
        matches!(
            kind,
            EventKind::TimerExpire { .. }
                | EventKind::TimerExit
                | EventKind::Enter(_)
                | EventKind::Exit(_)
                | EventKind::Switch { .. }
                | EventKind::Lost
        )
    });
    matches!(next, Some(EventKind::TimerExpire { .. }))
}

/// A stretch with no further details.
fn of_kind(kind: CauseKind, name: String, from: i64, to: i64) -> Option<Stretch> {
    let cause = Cause { kind, name };
    let none =
        Stretch { from, to, cause, thread: None, evidence: None, chosen: None, priority: None };
    (from < to).then_some(none)
}

/// What has a CPU at a time.
struct CpuState<'a> {
    tasks: &'a Tasks,
    owners: &'a TimerOwners,
    name_of: NameOf<'a>,
    own_timer: Option<u64>,
    thread: i32,
    /// The thread as of the last switch; its priority may change later.
    current: Option<Task>,
    /// When that was.
    chosen: Option<i64>,
    interrupts: Vec<Interruption>,
    /// Softirqs of each thread: with PREEMPT_RT a thread may be preempted within one.
    softirqs: HashMap<i32, Vec<Interruption>>,
    timer: Option<RunningTimer>,
    /// What each worker runs.
    work: HashMap<i32, u64>,
    /// The last idle state.
    idle: Option<i64>,
}

/// A timer whose function is running.
struct RunningTimer {
    function: u64,
    /// Its owner.
    owner: Option<i32>,
    /// Number of interrupts that were active before it.
    interrupts: usize,
}

impl CpuState<'_> {
    /// After lost events, what had begun may have ended.
    fn forget(&mut self) {
        (self.current, self.chosen, self.timer, self.idle) = (None, None, None, None);
        self.interrupts.clear();
        self.softirqs.clear();
        self.work.clear();
    }

    fn apply(&mut self, moment: &Moment) {
        // Some kernels do not record every switch, but every event has its thread.
        self.thread = moment.thread;
        if self.current.as_ref().is_some_and(|task| task.id != self.thread) {
            (self.current, self.chosen) = (None, None);
        }
        match &moment.kind {
            EventKind::Switch { to, .. } => {
                self.thread = to.id;
                (self.current, self.chosen) = (Some(to.clone()), Some(moment.at));
                self.interrupts.clear();
                (self.timer, self.idle) = (None, None);
            }
            EventKind::Enter(one) => match one.level {
                Level::Softirq | Level::Tasklet => {
                    self.softirqs.entry(self.thread).or_default().push(one.clone());
                }
                Level::Interrupt | Level::Handler => self.interrupts.push(one.clone()),
            },
            EventKind::Calls(function) => {
                let softirqs = self.softirqs.get_mut(&self.thread);
                let innermost =
                    self.interrupts.last_mut().or(softirqs.and_then(|all| all.last_mut()));
                if let Some(one) = innermost {
                    one.function = *function;
                }
            }
            EventKind::Exit(level) => {
                let softirqs = self.softirqs.entry(self.thread).or_default();
                let stack = match level {
                    Level::Softirq | Level::Tasklet => softirqs,
                    Level::Interrupt | Level::Handler => &mut self.interrupts,
                };
                // An entry without a recorded end has ended with what it interrupted.
                let last = stack.iter().rposition(|one| one.level == *level);
                stack.truncate(last.unwrap_or(stack.len()));
            }
            EventKind::TimerExpire { timer, function } => {
                let owners = self.owners.get(timer).map_or(&[][..], Vec::as_slice);
                let before = owners.iter().rev().find(|(since, _)| *since <= moment.at);
                let running = RunningTimer {
                    function: *function,
                    owner: before.or(owners.first()).map(|(_, thread)| *thread),
                    interrupts: self.interrupts.len(),
                };
                self.timer = (self.own_timer != Some(*timer)).then_some(running);
            }
            EventKind::TimerExit => self.timer = None,
            EventKind::Work(function) => drop(self.work.insert(self.thread, *function)),
            EventKind::WorkEnd => drop(self.work.remove(&self.thread)),
            EventKind::Idle(state) => self.idle = state.or(self.idle),
            EventKind::Waking(_)
            | EventKind::Fork(_)
            | EventKind::TimerStart { .. }
            | EventKind::Nmi { .. }
            | EventKind::PageFault
            | EventKind::Printk
            | EventKind::Hotplug { .. }
            | EventKind::Frequency { .. }
            | EventKind::Lost
            | EventKind::Other => {}
        }
    }

    fn stretch(&self, from: i64, to: i64) -> Option<Stretch> {
        let (cause, thread, evidence) = self.cause();
        let priority = self.task().and_then(|task| task.priority);
        let stretch = Stretch { from, to, cause, thread, evidence, chosen: self.chosen, priority };
        (from < to).then_some(stretch)
    }

    fn task(&self) -> Option<&Task> {
        self.current.as_ref().or_else(|| self.tasks.get(&self.thread))
    }

    fn cause(&self) -> (Cause, Option<TracedThread>, Option<CauseEvidence>) {
        let of = |kind, name: &str| Cause { kind, name: name.to_string() };
        let named = || {
            // A started program has its parent's name first, so its last name is the right one.
            let task = self.tasks.get(&self.thread).or(self.current.as_ref());
            task.map_or_else(|| format!("thread {}", self.thread), |one| one.name.clone())
        };
        if let Some(timer) = &self.timer
            && self.interrupts.len() <= timer.interrupts
        {
            let owner = timer.owner.map(|id| {
                let kernel_priority = self.tasks.get(&id).and_then(|one| one.priority);
                TracedThread { id, kernel_priority, known: None, started_by: None }
            });
            let whose = timer.owner.and_then(|id| self.tasks.get(&id));
            let whose = whose.map(|task| CauseEvidence::TimerOf { thread: task.name.clone() });
            return (of(CauseKind::OtherTimers, &(self.name_of)(timer.function)), owner, whose);
        }
        let called = |one: &Interruption| one.function.map(self.name_of);
        if let Some(interrupt) = self.interrupts.last() {
            let evidence = called(interrupt)
                .map(|function| CauseEvidence::Called { function: Some(function), thread: None });
            return (of(CauseKind::Interrupt, &interrupt.name), None, evidence);
        }
        if let Some(softirq) = self.softirqs.get(&self.thread).and_then(|all| all.last()) {
            let (function, thread) = (called(softirq), (self.thread != 0).then(named));
            let is_known = function.is_some() || thread.is_some();
            let evidence = is_known.then_some(CauseEvidence::Called { function, thread });
            return (of(CauseKind::Softirq, &softirq.name), None, evidence);
        }
        if self.thread == 0 {
            let evidence = self.idle.map(|state| CauseEvidence::IdleState { state });
            return (of(CauseKind::IdleExit, ""), None, evidence);
        }
        let kernel_priority = self.task().and_then(|one| one.priority);
        let thread =
            TracedThread { id: self.thread, kernel_priority, known: None, started_by: None };
        let name = named();
        let name = match name.split_once('/') {
            Some(("kworker", _)) => "kworker".to_string(),
            _ => name,
        };
        let work = self.work.get(&self.thread).map(|&at| (self.name_of)(at));
        let name = work.map_or(name.clone(), |work| format!("{name} ({work})"));
        (Cause { kind: CauseKind::Thread, name }, Some(thread), None)
    }
}
