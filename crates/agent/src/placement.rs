//! A thread takes its place: CPU, slack and scheduling, each read back.

use crate::refusals::{machine_refuses, scheduling_refused};
use latlab_model::Nanos;
use latlab_model::frame::Refusal;
use latlab_model::plan::Policy;
use latlab_model::run::Setting;
use latlab_sys::sched::{self, Scheduling};
use std::num::NonZeroU64;

/// Where a thread belongs.
pub struct Placement<'a> {
    /// The measuring thread whose settings these are.
    pub thread: u32,
    /// Before the name of each setting, where it is not that of the measuring thread itself.
    pub whose: &'static str,
    /// The CPU to pin it to; none to let it float …
    pub cpu: Option<u32>,
    /// … over these.
    pub usable: &'a [u32],
    /// Its scheduling.
    pub policy: Policy,
}

/// A thread in its place.
pub struct PlacedThread {
    /// Its number in the kernel.
    pub thread_id: i32,
    /// What was asked and what was read back.
    pub settings: Vec<Setting>,
    /// Its scheduling as read back.
    pub policy: String,
}

impl Placement<'_> {
    /// Takes the calling thread there.
    pub fn apply(&self) -> Result<PlacedThread, Refusal> {
        let mut settings = Vec::new();
        let mut note = |what: &str, asked: String, applied: String, matters: bool| {
            let what = format!("{}{what}", self.whose);
            let thread = Some(self.thread);
            settings.push(Setting { thread, matters, ..Setting::new(&what, asked, applied) });
        };
        match self.cpu {
            Some(cpu) => {
                let placed = sched::set_affinity([cpu]).and_then(|()| sched::affinity());
                let applied = match placed {
                    Ok(cpus) if cpus == [cpu] => format!("CPU {cpu}"),
                    Ok(cpus) => format!("CPUs {cpus:?}"),
                    Err(error) => format!("refused: {error}"),
                };
                note("affinity", format!("CPU {cpu}"), applied, true);
            }
            // A thread starts with the helpers' CPUs; one that floats gets all of them back.
            None => {
                let _ = sched::set_affinity(self.usable.iter().copied());
            }
        }
        if !self.policy.is_realtime() {
            // Real-time threads have no slack anyway.
            let slack = sched::set_timer_slack(NonZeroU64::MIN).and_then(|()| sched::timer_slack());
            let applied = match slack {
                Ok(slack) => format!("{slack} ns"),
                Err(error) => format!("refused: {error}"),
            };
            note("timer slack", "1 ns".into(), applied, false);
        }
        let refused = |error| scheduling_refused(self.policy, error);
        sched::set_scheduling(scheduling_of(self.policy)).map_err(refused)?;
        let policy = match sched::scheduling() {
            Ok(scheduling) => describe(scheduling),
            Err(error) => format!("cannot be read back: {error}"),
        };
        note("scheduling", self.policy.to_string(), policy.clone(), true);
        Ok(PlacedThread { thread_id: sched::thread_id(), settings, policy })
    }
}

/// Schedules the kernel's thread, which measures where it is; ours only reads.
pub fn schedule_kernel_thread(
    thread: u32,
    id: Option<u32>,
    policy: Policy,
) -> Result<PlacedThread, Refusal> {
    let Some(id) = id else {
        let text = format!("thread {thread}: the kernel has started no timerlat/N for it");
        return Err(machine_refuses(text));
    };
    let set =
        sched::set_scheduling_of(id, scheduling_of(policy)).and_then(|()| sched::scheduling_of(id));
    let applied = set.map(describe).map_err(|error| scheduling_refused(policy, error))?;
    let setting = Setting::new("scheduling", policy.to_string(), applied.clone());
    let settings = vec![Setting { thread: Some(thread), matters: true, ..setting }];
    Ok(PlacedThread { thread_id: id as i32, settings, policy: applied })
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

fn describe(scheduling: Scheduling) -> String {
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
