//! What to do about a cause.

use latlab_model::explanation::{CauseKind, RunCause};
use latlab_model::plan::Policy;
use latlab_model::sanitize::is_hidden;
use latlab_model::shell::Line;

/// The remedy if nothing can be moved.
fn isolate() -> Line {
    Line::new("Isolate the CPU: isolcpus=CPUS nohz_full=CPUS on the kernel's command line.")
}

/// Keeps the host from taking CPU time.
fn pin_virtual_cpus() -> Line {
    Line::new("On the host, give each virtual CPU a CPU of its own: virsh vcpupin DOMAIN VCPU CPU")
}

/// Command that moves all threads of all processes with this name.
fn elsewhere(process: &str) -> Line {
    of_all(process).text("| xargs -n 1 taskset -apc CPUS")
}

/// Command that prints the process IDs for a name.
fn of_all(name: &str) -> Line {
    Line::new("pgrep -x").operand(pattern(name))
}

/// A `pgrep` pattern that matches only this name; a thread may have any name.
fn pattern(name: &str) -> String {
    let mut escaped = String::new();
    for one in name.chars() {
        match one {
            '.' | '[' | ']' | '(' | ')' | '*' | '+' | '?' | '{' | '}' | '|' | '^' | '$' | '\\' => {
                escaped.extend(['\\', one]);
            }
            // An unreadable or unprintable character matches any.
            char::REPLACEMENT_CHARACTER => escaped.push('.'),
            one if is_hidden(one) => escaped.push('.'),
            one => escaped.push(one),
        }
    }
    escaped
}

/// Command that moves an interrupt.
fn move_interrupt(number: u32) -> Line {
    Line::new("echo CPUS >").word(format!("/proc/irq/{number}/smp_affinity_list"))
}

/// The interrupt number in a kernel thread's name, such as `irq/33-eth0`. Other threads can have
/// such a name too, with anything in it.
fn threaded_interrupt(name: &str) -> Option<u32> {
    name.strip_prefix("irq/")?.split('-').next()?.parse().ok()
}

/// A command or a sentence. `policy` is that of the measured threads. The result contains names
/// unchanged, not sanitized.
pub fn remedy(cause: &RunCause, policy: Option<Policy>) -> Line {
    cause.remedy.clone().unwrap_or_else(|| remedy_of(cause, policy))
}

fn remedy_of(cause: &RunCause, policy: Option<Policy>) -> Line {
    let name = cause.cause.name.as_str();
    let number = threaded_interrupt(name).filter(|_| cause.cause.kind == CauseKind::Thread);
    if let Some(number) = number {
        return move_interrupt(number);
    }
    match cause.cause.kind {
        CauseKind::Thread | CauseKind::InterruptsOff if name.starts_with("migration/") => {
            Line::new("Load modules, trace functions and take CPUs away before it matters.")
        }
        CauseKind::Thread | CauseKind::Starts
            if super::realtime(cause.kernel_priority).is_some() =>
        {
            let priority = match policy {
                Some(Policy::Fifo { priority } | Policy::Rr { priority }) => priority,
                _ => Policy::DEFAULT_PRIORITY,
            };
            let lower = priority.saturating_sub(1).max(1).to_string();
            match cause.thread {
                Some(id) => Line::new("chrt --fifo --pid").word(lower).word(id.to_string()),
                None => of_all(name).text("| xargs -n 1 chrt --fifo --pid").word(lower),
            }
        }
        CauseKind::Thread if name.starts_with("kworker") => {
            Line::new("echo MASK > /sys/devices/virtual/workqueue/cpumask")
        }
        CauseKind::Thread | CauseKind::PageFaults => {
            elsewhere(cause.process.as_deref().unwrap_or(name))
        }
        // A starter's children inherit its CPUs.
        CauseKind::Starts => cause.thread.map_or_else(|| elsewhere(name), move_thread),
        CauseKind::InterruptsOff => {
            Line::new("Keep").word(name).text("on another CPU, or find what it calls.")
        }
        CauseKind::HypervisorOrInterruptsOff if name.is_empty() => pin_virtual_cpus(),
        CauseKind::HypervisorOrInterruptsOff => pin_virtual_cpus()
            .end("; if the gaps stay, look for what switches interrupts off in")
            .word(name),
        CauseKind::Printk => Line::new("dmesg --console-level 1"),
        CauseKind::Hotplug => {
            Line::new("Do not take CPUs away or bring them back while it matters.")
        }
        CauseKind::Interrupt => {
            let number = name.split_once(' ').and_then(|(number, _)| number.parse().ok());
            // The kernel's own interrupts cannot be moved.
            number.map_or_else(isolate, move_interrupt)
        }
        CauseKind::Throttled => match policy {
            Some(Policy::Fifo { .. } | Policy::Rr { .. }) => Line::new(
                "sysctl -w kernel.sched_rt_runtime_us=-1; from Linux 6.12 on also: latlab run --tune \
                 fair-server=off",
            ),
            _ => Line::new("Raise cpu.max of its cgroup, or measure with --policy fifo."),
        },
        CauseKind::OwnSleep => Line::new("Do not stop, trace or page out the measured thread."),
        CauseKind::Execution => Line::new("Do less in a cycle, or give it more time."),
        CauseKind::PreviousCycle => {
            Line::new("Find out why the cycle before it took so long: `latlab explain` tells.")
        }
        CauseKind::Lock => Line::new("Hold the lock shorter in")
            .word(name)
            .end(", and give it priority inheritance: PTHREAD_PRIO_INHERIT of pthread_mutexattr_setprotocol"),
        CauseKind::Call => Line::new("Call")
            .word(name)
            .text("in another thread, or where the cycle has time for it."),
        CauseKind::Softirq if name.starts_with("NET") => Line::new(
            "Move the interrupts of the network to another CPU: latlab run --tune irqs=away",
        ),
        CauseKind::Softirq => {
            Line::new("Use a PREEMPT_RT kernel, where softirqs run in threads of lower priority.")
        }
        // A timer fires on the CPU of the thread that started it.
        CauseKind::OtherTimers => match (&cause.process, cause.thread) {
            (Some(process), _) => elsewhere(process),
            (None, Some(id)) => move_thread(id),
            (None, None) => isolate(),
        },
        CauseKind::IdleExit => {
            Line::new("Keep the CPU out of deep idle states; in a guest, give it a CPU of its own.")
        }
        CauseKind::Hypervisor => pin_virtual_cpus(),
        CauseKind::Nmi => Line::new("sysctl -w kernel.nmi_watchdog=0"),
        CauseKind::WakeUp => Line::new("This is what a wake-up takes on this machine."),
        CauseKind::Unknown => Line::new("The cause is not recorded."),
    }
}

fn move_thread(id: i32) -> Line {
    Line::new("taskset -pc CPUS").word(id.to_string())
}
