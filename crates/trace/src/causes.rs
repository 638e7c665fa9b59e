//! The spikes of a run to its causes, each with what to do about it.

use crate::sentence::UNTOLD;
use latlab_model::Nanos;
use latlab_model::explanation::{Cause, Holder, HolderKind, SpikeBlame, Unexplained};
use latlab_model::plan::Policy;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The causes so far.
#[derive(Default)]
pub struct CauseTable {
    recorded: u64,
    causes: BTreeMap<Holder, Tally>,
    unexplained: BTreeMap<String, u64>,
}

#[derive(Default)]
struct Tally {
    count: u64,
    total: i64,
    largest: i64,
    cpus: BTreeSet<u32>,
    first: Option<Nanos>,
    last: Nanos,
    realtime: Option<String>,
    thread: Option<i32>,
    process: Option<String>,
}

impl CauseTable {
    /// Takes a spike.
    pub fn push(&mut self, blame: &SpikeBlame) {
        self.recorded += 1;
        let Some(cause) = &blame.cause else {
            let why = blame.gap.clone().unwrap_or_else(|| UNTOLD.to_string());
            *self.unexplained.entry(why).or_default() += 1;
            return;
        };
        let tally = self.causes.entry(cause.clone()).or_default();
        tally.count += 1;
        tally.total += blame.cause_ns.0;
        tally.largest = tally.largest.max(blame.cause_ns.0);
        tally.cpus.extend(blame.cpu);
        let first = tally.first.map_or(blame.release_ns, |first| first.min(blame.release_ns));
        tally.first = Some(first);
        tally.last = tally.last.max(blame.release_ns);
        let thread =
            blame.legs.iter().find(|leg| leg.holder == *cause).and_then(|leg| leg.thread.as_ref());
        tally.realtime = tally.realtime.take().or(thread.and_then(|one| one.realtime_words()));
        tally.thread = tally.thread.or(thread.map(|one| one.id));
        let known = thread.and_then(|one| one.known.as_ref());
        tally.process = tally.process.take().or(known.map(|one| one.name.clone()));
    }

    /// Spikes with a cause.
    pub fn explained(&self) -> u64 {
        self.causes.values().map(|tally| tally.count).sum()
    }

    /// Spikes without one, by why, those of most spikes first.
    pub fn unexplained(&self) -> Vec<Unexplained> {
        let each = |(why, &count): (&String, &u64)| Unexplained { why: why.clone(), count };
        let mut all: Vec<Unexplained> = self.unexplained.iter().map(each).collect();
        all.sort_by_key(|one| Reverse(one.count));
        all
    }

    /// The causes, those of most spikes first; times are counted from the first release.
    pub fn causes(&self, first_release: Nanos, policy: Option<Policy>) -> Vec<Cause> {
        let cause = |(holder, tally): (&Holder, &Tally)| Cause {
            holder: holder.clone(),
            count: tally.count,
            share: tally.count as f64 / self.recorded.max(1) as f64,
            total_ns: Nanos(tally.total),
            largest_ns: Nanos(tally.largest),
            cpus: tally.cpus.iter().copied().collect(),
            first_ns: tally.first.unwrap_or_default() - first_release,
            last_ns: tally.last - first_release,
            realtime: tally.realtime.clone(),
            remedy: remedy(holder, tally, policy),
        };
        let mut all: Vec<Cause> = self.causes.iter().map(cause).collect();
        all.sort_by_key(|one| (Reverse(one.count), Reverse(one.total_ns)));
        all
    }
}

const ISOLATE: &str = "Isolate the CPU: isolcpus=CPUS nohz_full=CPUS on the kernel's command line.";

/// What to do about a cause: a command where there is one.
fn remedy(holder: &Holder, tally: &Tally, policy: Option<Policy>) -> String {
    let name = holder.name.as_str();
    match holder.kind {
        HolderKind::Thread if name.starts_with("irq/") => {
            let number = name.trim_start_matches("irq/").split('-').next().unwrap_or_default();
            format!("echo CPUS > /proc/irq/{number}/smp_affinity_list")
        }
        HolderKind::Thread | HolderKind::InterruptsOff if name.starts_with("migration/") => {
            "Load modules, trace functions and take CPUs away before it matters.".to_string()
        }
        HolderKind::Thread if tally.realtime.is_some() => {
            let priority = match policy {
                Some(Policy::Fifo { priority } | Policy::Rr { priority }) => priority,
                _ => Policy::DEFAULT_PRIORITY,
            };
            let id = tally.thread.map_or_else(|| format!("$(pgrep -x {name})"), |id| id.to_string());
            format!("chrt --fifo --pid {} {id}", priority.saturating_sub(1).max(1))
        }
        HolderKind::Thread if name.starts_with("kworker") => {
            "echo MASK > /sys/devices/virtual/workqueue/cpumask".to_string()
        }
        HolderKind::Thread | HolderKind::PageFaults => {
            let process = tally.process.as_deref().unwrap_or(name);
            format!("pgrep -x {process} | xargs -n 1 taskset -apc CPUS")
        }
        HolderKind::InterruptsOff => format!("Keep {name} on another CPU, or find what it calls."),
        HolderKind::Printk => "dmesg --console-level 1".to_string(),
        HolderKind::Hotplug => {
            "Do not take CPUs away or bring them back while it matters.".to_string()
        }
        HolderKind::Interrupt => match name.split_once(' ') {
            Some((number, _)) if number.parse::<u32>().is_ok() => {
                format!("echo CPUS > /proc/irq/{number}/smp_affinity_list")
            }
            // Interrupts of the kernel itself cannot be moved.
            _ => ISOLATE.to_string(),
        },
        HolderKind::Throttled => match policy {
            Some(Policy::Fifo { .. } | Policy::Rr { .. }) => {
                "sysctl -w kernel.sched_rt_runtime_us=-1; from Linux 6.12 on also: latlab run --tune \
                 fair-server=off"
                    .to_string()
            }
            _ => "Raise cpu.max of its cgroup, or measure with --policy fifo.".to_string(),
        },
        HolderKind::OwnSleep => "Do not stop, trace or page out the measured thread.".to_string(),
        HolderKind::Softirq if name.starts_with("NET") => {
            "Move the interrupts of the network to another CPU: latlab run --tune irqs=away"
                .to_string()
        }
        HolderKind::Softirq => {
            "Use a PREEMPT_RT kernel, where softirqs run in threads of lower priority.".to_string()
        }
        HolderKind::OtherTimers => ISOLATE.to_string(),
        HolderKind::IdleExit => {
            "Keep the CPU out of deep idle states; in a guest, give it a CPU of its own."
                .to_string()
        }
        HolderKind::Hypervisor => {
            "On the host, give each virtual CPU a CPU of its own: virsh vcpupin DOMAIN VCPU CPU"
                .to_string()
        }
        HolderKind::Nmi => "sysctl -w kernel.nmi_watchdog=0".to_string(),
        HolderKind::WakeUp | HolderKind::Unknown => {
            "Nothing held the thread off: this is what a wake-up takes on this machine.".to_string()
        }
    }
}
