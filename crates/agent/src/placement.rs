//! Places a thread: CPU, timer slack and scheduling, each read back.

use crate::monitor::{MonitoredThread, Readback, SettingList, own_timer_slack, text_of};
use crate::refusals::{machine_refuses, scheduling_refused};
use latlab_model::frame::Refusal;
use latlab_model::plan::Policy;
use latlab_model::run::Setting;
use latlab_model::{CpuSet, Nanos};
use latlab_sys::Errno;
use latlab_sys::files::Root;
use latlab_sys::sched::{self, Scheduling, ThreadScheduling};
use std::num::NonZeroU64;
use std::sync::Arc;

/// Where a thread belongs.
pub struct Placement<'a> {
    /// The measuring thread to which the settings are attributed.
    pub thread: u32,
    /// Prefix of the settings' names for other threads than the measuring one.
    pub whose: &'static str,
    /// The CPU to pin it to; `None` to let it float …
    pub cpu: Option<u32>,
    /// … over these.
    pub usable: &'a [u32],
    pub policy: Policy,
    /// Timer slack under an ordinary policy; `None` for the smallest.
    pub timer_slack: Option<NonZeroU64>,
}

/// A thread in its place.
pub struct PlacedThread {
    /// The thread, to read its settings again.
    pub thread: Arc<MonitoredThread>,
    /// What was asked and what was read back.
    pub settings: SettingList,
    /// Its scheduling as read back.
    pub policy: String,
}

impl<'a> Placement<'a> {
    /// Where the measuring thread itself belongs; it floats unless it is given a CPU.
    pub fn new(thread: u32, policy: Policy, usable: &'a [u32]) -> Placement<'a> {
        Placement { thread, whose: "", cpu: None, usable, policy, timer_slack: None }
    }

    /// Places the calling thread.
    pub fn apply(&self) -> Result<PlacedThread, Refusal> {
        let pinned = self.cpu.map(|cpu| sched::set_affinity([cpu]));
        if pinned.is_none() {
            // A thread inherits the helpers' CPUs; a floating one gets all of them back.
            let _ = sched::set_affinity(self.usable.iter().copied());
        }
        let cpus = self
            .cpu
            .map_or(self.usable.iter().copied().collect(), |cpu| [cpu].into_iter().collect());
        let thread = Arc::new(MonitoredThread::new(sched::thread_id(), cpus));
        let mut settings = SettingList::default();
        let mut note = |what: &str, asked: String, applied: String, readback: Readback| {
            let what = format!("{}{what}", self.whose);
            let setting = Setting::new(&what, asked, applied);
            let setting = Setting { thread: Some(self.thread), matters: true, ..setting };
            settings.push_monitored(&Root::default(), setting, readback);
        };
        if let Some((cpu, pinned)) = self.cpu.zip(pinned) {
            let applied = match pinned.and_then(|()| sched::affinity()) {
                Ok(cpus) => text_of(&cpus.into_iter().collect()),
                Err(error) => format!("refused: {error}"),
            };
            note("affinity", format!("CPU {cpu}"), applied, Readback::Affinity(thread.clone()));
        }
        if !self.policy.is_realtime() {
            // Real-time threads have no slack anyway.
            let slack = self.timer_slack.unwrap_or(NonZeroU64::MIN);
            let applied = match sched::set_timer_slack(slack) {
                Ok(()) => own_timer_slack(),
                Err(error) => format!("refused: {error}"),
            };
            note(
                "timer slack",
                format!("{slack} ns"),
                applied,
                Readback::TimerSlack(thread.clone()),
            );
        }
        let refused = |error| scheduling_refused(self.policy, error);
        // A SCHED_OTHER thread keeps its nice value, so that is part of what is asked.
        let nice = ThreadScheduling::read(0).map_or(0, ThreadScheduling::nice);
        let nice = if self.policy.is_realtime() { 0 } else { nice };
        sched::set_scheduling(scheduling_of(self.policy)).map_err(refused)?;
        let unread = |error| format!("cannot be read back: {error}");
        let read = ThreadScheduling::read(0);
        let policy = read.map_or_else(unread, |read| describe(read.scheduling()));
        let applied = read.map_or_else(unread, describe_thread);
        let asked = with_nice(self.policy.to_string(), nice);
        note("scheduling", asked, applied, Readback::Scheduling(thread.clone()));
        if let (None, Some((_, cpus))) = (self.cpu, thread.affinity()) {
            // No CPU is asked for, but it has to float until the end.
            let floats = Setting::new(&format!("{}affinity", self.whose), cpus.clone(), cpus);
            let floats = Setting { thread: Some(self.thread), matters: true, ..floats };
            settings.monitor(&Root::default(), &floats, Readback::Affinity(thread.clone()));
        }
        Ok(PlacedThread { thread, settings, policy })
    }
}

/// Schedules the kernel's thread, which does the measuring; ours only reads.
pub fn schedule_kernel_thread(
    thread: u32,
    id: Option<u32>,
    policy: Policy,
) -> Result<PlacedThread, Refusal> {
    let Some(id) = id else {
        let text = format!("thread {thread}: the kernel has started no timerlat/N thread for it");
        return Err(machine_refuses(text));
    };
    let applied =
        schedule_process(id, policy).map_err(|error| scheduling_refused(policy, error))?;
    let setting = Setting::new("scheduling", policy.to_string(), applied.clone());
    let setting = Setting { thread: Some(thread), matters: true, ..setting };
    let thread = Arc::new(MonitoredThread::new(id as i32, CpuSet::default()));
    let mut settings = SettingList::default();
    let readback = Readback::Scheduling(thread.clone());
    settings.push_monitored(&Root::default(), setting, readback);
    Ok(PlacedThread { thread, settings, policy: applied })
}

/// Schedules another process; returns what was read back.
pub fn schedule_process(id: u32, policy: Policy) -> Result<String, Errno> {
    sched::set_scheduling_of(id, scheduling_of(policy))?;
    sched::scheduling_of(id).map(describe)
}

fn scheduling_of(policy: Policy) -> Scheduling {
    match policy {
        Policy::Fifo { priority } => Scheduling::Fifo(priority.into()),
        Policy::Rr { priority } => Scheduling::Rr(priority.into()),
        Policy::Other => Scheduling::Other,
        Policy::Batch => Scheduling::Batch,
        Policy::Idle => Scheduling::Idle,
        Policy::Deadline { runtime_ns, deadline_ns, period_ns } => Scheduling::Deadline {
            runtime: runtime_ns.0 as u64,
            deadline: deadline_ns.0 as u64,
            period: period_ns.0 as u64,
        },
    }
}

/// A thread's scheduling with its nice value, in the words of a setting.
pub fn describe_thread(read: ThreadScheduling) -> String {
    with_nice(describe(read.scheduling()), read.nice())
}

fn with_nice(policy: String, nice: i32) -> String {
    if nice == 0 { policy } else { format!("{policy}, nice {nice}") }
}

/// A scheduling in the words of a setting.
pub fn describe(scheduling: Scheduling) -> String {
    let nanos = |value: u64| Nanos(value as i64);
    match scheduling {
        Scheduling::Fifo(priority) => Policy::Fifo { priority: priority as u8 }.to_string(),
        Scheduling::Rr(priority) => Policy::Rr { priority: priority as u8 }.to_string(),
        Scheduling::Other => Policy::Other.to_string(),
        Scheduling::Batch => Policy::Batch.to_string(),
        Scheduling::Idle => Policy::Idle.to_string(),
        Scheduling::Deadline { runtime, deadline, period } => Policy::Deadline {
            runtime_ns: nanos(runtime),
            deadline_ns: nanos(deadline),
            period_ns: nanos(period),
        }
        .to_string(),
        Scheduling::Unknown(number) => format!("policy {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_thread_has_the_timer_slack_that_was_asked_for() {
        for (timer_slack, expected) in [(NonZeroU64::new(50_000), "50000 ns"), (None, "1 ns")] {
            let apply = move || {
                let usable = sched::affinity().unwrap();
                let usual = Placement::new(0, Policy::Other, &usable);
                Placement { timer_slack, ..usual }.apply().map(|placed| placed.settings.settings)
            };
            let settings = std::thread::spawn(apply).join().unwrap().unwrap();
            let slack = settings.iter().find(|one| one.what == "timer slack").unwrap();
            assert_eq!((&*slack.asked, &*slack.applied), (expected, expected));
        }
    }
}
