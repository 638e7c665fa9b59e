//! The spikes of a run to its causes, each with what to do about it.

use crate::sentence::UNTOLD;
use latlab_model::Nanos;
use latlab_model::explanation::{Cause, Holder, HolderKind, SpikeBlame, Unexplained};
use latlab_model::plan::Policy;
use latlab_model::shell::quoted;
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
    /// The names of what is started, with their spikes.
    started: BTreeMap<String, u64>,
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
        let own = blame.legs.iter().filter(|leg| leg.cause() == *cause);
        let leg = own.max_by_key(|leg| leg.length());
        let thread = leg.and_then(|leg| leg.thread.as_ref());
        // A timer runs at no thread's priority.
        let runs = thread.filter(|_| cause.kind != HolderKind::OtherTimers);
        tally.realtime = tally.realtime.take().or(runs.and_then(|one| one.realtime_words()));
        let starter = thread.and_then(|one| one.started_by.as_ref()).map(|one| one.id);
        let id = thread.map(|one| one.id);
        tally.thread = tally.thread.or(starter).or(id);
        if let Some(leg) = leg.filter(|_| starter.is_some() && starter != id) {
            *tally.started.entry(leg.holder.name.clone()).or_default() += 1;
        }
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
            started: tally.started(),
            remedy: remedy(holder, tally, policy),
        };
        let mut all: Vec<Cause> = self.causes.iter().map(cause).collect();
        all.sort_by_key(|one| (Reverse(one.count), Reverse(one.total_ns)));
        all
    }
}

impl Tally {
    fn started(&self) -> Vec<String> {
        let mut all: Vec<(&String, &u64)> = self.started.iter().collect();
        all.sort_by_key(|(_, count)| Reverse(**count));
        all.into_iter().take(NAMED).map(|(name, _)| name.clone()).collect()
    }
}

/// Names of what is started that a cause has.
const NAMED: usize = 3;
const ISOLATE: &str = "Isolate the CPU: isolcpus=CPUS nohz_full=CPUS on the kernel's command line.";

/// The command that moves all threads of all processes of a name.
fn elsewhere(process: &str) -> String {
    format!("pgrep -x {} | xargs -n 1 taskset -apc CPUS", pattern(process))
}

/// A name as a pattern of `pgrep` that matches it alone, quoted for a shell: a thread may have any name.
fn pattern(name: &str) -> String {
    let mut escaped = String::new();
    for one in name.chars() {
        match one {
            '.' | '[' | ']' | '(' | ')' | '*' | '+' | '?' | '{' | '}' | '|' | '^' | '$' | '\\' => {
                escaped.extend(['\\', one]);
            }
            // What cannot be read or written matches anything.
            char::REPLACEMENT_CHARACTER => escaped.push('.'),
            one if one.is_control() => escaped.push('.'),
            one => escaped.push(one),
        }
    }
    let option = if name.starts_with('-') { "-- " } else { "" };
    format!("{option}{}", quoted(&escaped))
}

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
        HolderKind::Thread | HolderKind::Starts if tally.realtime.is_some() => {
            let priority = match policy {
                Some(Policy::Fifo { priority } | Policy::Rr { priority }) => priority,
                _ => Policy::DEFAULT_PRIORITY,
            };
            let by_name = || format!("$(pgrep -x {})", pattern(name));
            let id = tally.thread.map_or_else(by_name, |id| id.to_string());
            format!("chrt --fifo --pid {} {id}", priority.saturating_sub(1).max(1))
        }
        HolderKind::Thread if name.starts_with("kworker") => {
            "echo MASK > /sys/devices/virtual/workqueue/cpumask".to_string()
        }
        HolderKind::Thread | HolderKind::PageFaults => {
            elsewhere(tally.process.as_deref().unwrap_or(name))
        }
        // What it starts is where it is itself.
        HolderKind::Starts => match tally.thread {
            Some(id) => format!("taskset -pc CPUS {id}"),
            None => elsewhere(name),
        },
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
        // A timer is where the thread was that started it.
        HolderKind::OtherTimers => match (&tally.process, tally.thread) {
            (Some(process), _) => elsewhere(process),
            (None, Some(id)) => format!("taskset -pc CPUS {id}"),
            (None, None) => ISOLATE.to_string(),
        },
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

#[cfg(test)]
mod tests {
    use super::*;

    fn command(kind: HolderKind, name: &str, tally: Tally) -> String {
        remedy(&Holder { kind, name: name.to_string() }, &tally, None)
    }

    #[test]
    fn a_command_names_any_thread_and_nothing_else() {
        let of = |name: &str| command(HolderKind::Thread, name, Tally::default());
        assert_eq!(of("compiler"), "pgrep -x compiler | xargs -n 1 taskset -apc CPUS");
        let pattern = |name: &str| {
            let command = of(name);
            let rest = command.strip_prefix("pgrep -x ").unwrap();
            rest.strip_suffix(" | xargs -n 1 taskset -apc CPUS").unwrap().to_string()
        };
        assert_eq!(pattern("a b;reboot"), "'a b;reboot'");
        assert_eq!(pattern("it's"), "'it'\\''s'");
        assert_eq!(pattern("a.*(b)"), "'a\\.\\*\\(b\\)'");
        assert_eq!(pattern("$(id)\n`id`"), "'\\$\\(id\\).`id`'");
        assert_eq!(pattern("-f"), "-- -f");
        assert_eq!(pattern(""), "''");
    }

    #[test]
    fn other_timers_are_moved_with_the_thread_that_starts_them() {
        let of = |process: Option<&str>, thread| {
            let process = process.map(str::to_string);
            command(
                HolderKind::OtherTimers,
                "timerfd_tmrproc",
                Tally { process, thread, ..Tally::default() },
            )
        };
        assert_eq!(of(Some("server"), Some(7)), "pgrep -x server | xargs -n 1 taskset -apc CPUS");
        assert_eq!(of(None, Some(7)), "taskset -pc CPUS 7");
        assert_eq!(of(None, None), ISOLATE);
    }

    #[test]
    fn what_is_started_is_held_back_at_who_starts_it() {
        let of = |realtime: Option<&str>| {
            let realtime = realtime.map(str::to_string);
            command(
                HolderKind::Starts,
                "make",
                Tally { thread: Some(60), realtime, ..Tally::default() },
            )
        };
        assert_eq!(of(None), "taskset -pc CPUS 60");
        assert_eq!(of(Some("real-time priority 95")), "chrt --fifo --pid 89 60");
    }
}
