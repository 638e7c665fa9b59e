//! What to do about a cause.

use super::{Cause, HolderKind};
use crate::plan::Policy;
use crate::shell::quoted;

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

impl Cause {
    /// What to do about it: a command, or a sentence. `policy` is that of the measured threads. A stored
    /// remedy is returned as it is.
    pub fn remedy(&self, policy: Option<Policy>) -> String {
        self.remedy.clone().unwrap_or_else(|| remedy(self, policy))
    }
}

fn remedy(cause: &Cause, policy: Option<Policy>) -> String {
    let name = cause.holder.name.as_str();
    match cause.holder.kind {
        HolderKind::Thread if name.starts_with("irq/") => {
            let number = name.trim_start_matches("irq/").split('-').next().unwrap_or_default();
            format!("echo CPUS > /proc/irq/{number}/smp_affinity_list")
        }
        HolderKind::Thread | HolderKind::InterruptsOff if name.starts_with("migration/") => {
            "Load modules, trace functions and take CPUs away before it matters.".to_string()
        }
        HolderKind::Thread | HolderKind::Starts if cause.realtime_words().is_some() => {
            let priority = match policy {
                Some(Policy::Fifo { priority } | Policy::Rr { priority }) => priority,
                _ => Policy::DEFAULT_PRIORITY,
            };
            let by_name = || format!("$(pgrep -x {})", pattern(name));
            let id = cause.thread.map_or_else(by_name, |id| id.to_string());
            format!("chrt --fifo --pid {} {id}", priority.saturating_sub(1).max(1))
        }
        HolderKind::Thread if name.starts_with("kworker") => {
            "echo MASK > /sys/devices/virtual/workqueue/cpumask".to_string()
        }
        HolderKind::Thread | HolderKind::PageFaults => {
            elsewhere(cause.process.as_deref().unwrap_or(name))
        }
        // What it starts is where it is itself.
        HolderKind::Starts => match cause.thread {
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
        HolderKind::OtherTimers => match (&cause.process, cause.thread) {
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
    use crate::Nanos;
    use crate::explanation::Holder;

    fn cause(kind: HolderKind, name: &str) -> Cause {
        Cause {
            holder: Holder { kind, name: name.to_string() },
            count: 1,
            share: 1.0,
            total_ns: Nanos(1),
            largest_ns: Nanos(1),
            cpus: vec![0],
            first_ns: Nanos(0),
            last_ns: Nanos(0),
            kernel_priority: None,
            thread: None,
            process: None,
            started: Vec::new(),
            realtime: None,
            remedy: None,
        }
    }

    #[test]
    fn a_command_names_any_thread_and_nothing_else() {
        let of = |name: &str| cause(HolderKind::Thread, name).remedy(None);
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
            let timers = cause(HolderKind::OtherTimers, "timerfd_tmrproc");
            Cause { process, thread, ..timers }.remedy(None)
        };
        assert_eq!(of(Some("server"), Some(7)), "pgrep -x server | xargs -n 1 taskset -apc CPUS");
        assert_eq!(of(None, Some(7)), "taskset -pc CPUS 7");
        assert_eq!(of(None, None), ISOLATE);
    }

    #[test]
    fn what_is_started_is_held_back_at_who_starts_it() {
        let of = |kernel_priority, policy| {
            let starts = cause(HolderKind::Starts, "make");
            Cause { thread: Some(60), kernel_priority, ..starts }.remedy(policy)
        };
        assert_eq!(of(None, None), "taskset -pc CPUS 60");
        assert_eq!(of(Some(4), None), "chrt --fifo --pid 89 60");
        assert_eq!(of(Some(4), Some(Policy::Rr { priority: 50 })), "chrt --fifo --pid 49 60");
    }
}
