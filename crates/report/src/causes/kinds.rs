//! The table of the kinds of causes: everything that is printed about each.

use super::facts::Facts;
use latlab_model::explanation::CauseKind;
use latlab_model::plan::Policy;

/// Texts with `{names}` in place of facts; the first whose condition holds is printed.
pub type Cases = &'static [(fn(&Facts<'_>) -> bool, &'static str)];

/// What is printed about a kind of cause.
#[derive(Clone, Copy)]
pub struct CauseWords {
    /// Its name in a table.
    pub name: Cases,
    /// What all causes of this kind are called together.
    pub all: &'static str,
    /// What it did to a latency.
    pub spike: Cases,
    /// What it did to a cycle of a program, after the time that it took.
    pub cycle: Cases,
    pub remedy: Cases,
}

const ALWAYS: fn(&Facts<'_>) -> bool = |_| true;
const UNNAMED: fn(&Facts<'_>) -> bool = |of| of.name.is_empty();
const REALTIME: fn(&Facts<'_>) -> bool = |of| of.priority.is_some();
const FIXED_PRIORITY: fn(&Facts<'_>) -> bool =
    |of| matches!(of.policy, Some(Policy::Fifo { .. } | Policy::Rr { .. }));
/// A kernel thread that stops a CPU.
const STOPPER: fn(&Facts<'_>) -> bool = |of| of.name.starts_with("migration/");
const NUMBERED: fn(&Facts<'_>) -> bool = |of| of.interrupt.is_some();

const FOR: Cases = &[(ALWAYS, "for {cause}{urgency}{detail}")];

const ISOLATE: &str = "Isolate the CPU: isolcpus=CPUS nohz_full=CPUS on the kernel's command line.";
const PIN_VIRTUAL_CPUS: &str =
    "On the host, give each virtual CPU its own CPU: virsh vcpupin DOMAIN VCPU CPU";
const MOVE_INTERRUPT: &str = "echo CPUS > /proc/irq/{interrupt}/smp_affinity_list";
const MOVE_PROCESS: &str = "pgrep -x {process} | xargs -n 1 taskset -apc CPUS";
const MOVE_THREAD: &str = "taskset -pc CPUS {id}";
const LOWER_THREAD: &str = "chrt --fifo --pid {lower} {id}";
const LOWER_ALL: &str = "pgrep -x {threads} | xargs -n 1 chrt --fifo --pid {lower}";
const LOAD_MODULES_BEFORE: &str =
    "Load modules, trace functions and take CPUs away before it matters.";

/// The words of a kind. What it means is said in `latlab-model`, whose schema has it too.
pub fn words(kind: CauseKind) -> CauseWords {
    match kind {
        CauseKind::WakeUp => CauseWords {
            name: &[(ALWAYS, "the wake-up itself")],
            all: "the wake-up itself",
            spike: &[(ALWAYS, "the wake-up itself took {took}")],
            cycle: &[(ALWAYS, "in the wake-up itself")],
            remedy: &[(ALWAYS, "This is what a wake-up takes on this machine.")],
        },
        CauseKind::Thread => CauseWords {
            name: &[(ALWAYS, "{name}")],
            all: "threads",
            spike: &[
                (REALTIME, "{thread} at {priority} ran for {took}{detail}"),
                (ALWAYS, "{thread} kept the CPU for {took}{detail}"),
            ],
            cycle: &[(ALWAYS, "while {name}{urgency} had its CPU")],
            remedy: &[
                (NUMBERED, MOVE_INTERRUPT),
                (STOPPER, LOAD_MODULES_BEFORE),
                (|of| of.priority.is_some() && of.id.is_some(), LOWER_THREAD),
                (REALTIME, LOWER_ALL),
                (
                    |of| of.name.starts_with("kworker"),
                    "echo MASK > /sys/devices/virtual/workqueue/cpumask",
                ),
                (ALWAYS, MOVE_PROCESS),
            ],
        },
        CauseKind::InterruptsOff => CauseWords {
            name: &[(ALWAYS, "interrupts off in {name}")],
            all: "interrupts off",
            spike: &[(
                ALWAYS,
                "the timer's interrupt did not come for {took} while {thread} ran: interrupts were \
                 off, or firmware or a hypervisor had the CPU{detail}",
            )],
            cycle: FOR,
            remedy: &[
                (STOPPER, LOAD_MODULES_BEFORE),
                (ALWAYS, "Keep {name} on another CPU, or find what it calls."),
            ],
        },
        CauseKind::HypervisorOrInterruptsOff => CauseWords {
            name: &[
                (UNNAMED, "the hypervisor, or interrupts off"),
                (ALWAYS, "the hypervisor, or interrupts off in {name}"),
            ],
            all: "hypervisor, or interrupts off",
            spike: &[(
                ALWAYS,
                "no event came for {took} while {thread} ran: the hypervisor had the CPU, or \
                 interrupts were off",
            )],
            cycle: FOR,
            remedy: &[
                (UNNAMED, PIN_VIRTUAL_CPUS),
                (
                    ALWAYS,
                    "On the host, give each virtual CPU its own CPU: virsh vcpupin DOMAIN VCPU CPU; if \
                     the gaps stay, look for what switches interrupts off in {name}",
                ),
            ],
        },
        CauseKind::Printk => CauseWords {
            name: &[(ALWAYS, "printk of {name}")],
            all: "printing",
            spike: &[(ALWAYS, "{thread} printed to the console for {took}{detail}")],
            cycle: FOR,
            remedy: &[(ALWAYS, "dmesg --console-level 1")],
        },
        CauseKind::PageFaults => CauseWords {
            name: &[(UNNAMED, "its page faults"), (ALWAYS, "page faults of {name}")],
            all: "page faults",
            spike: &[
                (UNNAMED, "its page faults took {took}"),
                (ALWAYS, "page faults of {thread} took {took}{detail}"),
            ],
            cycle: &[(UNNAMED, "waiting for a page"), (ALWAYS, "for {cause}{urgency}{detail}")],
            remedy: &[(ALWAYS, MOVE_PROCESS)],
        },
        CauseKind::Starts => CauseWords {
            name: &[(ALWAYS, "processes started by {name}")],
            all: "what is started",
            spike: &[
                (
                    REALTIME,
                    "processes started by {name}{starter}, at {priority}, ran for {took}{started}",
                ),
                (ALWAYS, "processes started by {name}{starter} ran for {took}{started}"),
            ],
            cycle: FOR,
            remedy: &[
                (|of| of.priority.is_some() && of.id.is_some(), LOWER_THREAD),
                (REALTIME, LOWER_ALL),
                // Its children inherit its CPUs.
                (|of| of.id.is_some(), MOVE_THREAD),
                (ALWAYS, MOVE_PROCESS),
            ],
        },
        CauseKind::Hotplug => CauseWords {
            name: &[(ALWAYS, "CPU hot-plug ({name})")],
            all: "CPU hot-plug",
            spike: &[(ALWAYS, "{thread} took {took} for CPU hot-plug{detail}")],
            cycle: FOR,
            remedy: &[(ALWAYS, "Do not take CPUs away or bring them back while it matters.")],
        },
        CauseKind::Interrupt => CauseWords {
            name: &[(ALWAYS, "interrupt {name}")],
            all: "interrupts",
            spike: &[(ALWAYS, "interrupt {name} took {took}{detail}")],
            cycle: FOR,
            // The kernel's own interrupts have no number and cannot be moved.
            remedy: &[(NUMBERED, MOVE_INTERRUPT), (ALWAYS, ISOLATE)],
        },
        CauseKind::Softirq => CauseWords {
            name: &[(ALWAYS, "softirq {name}")],
            all: "softirqs",
            spike: &[(ALWAYS, "softirq {name} took {took}{detail}")],
            cycle: FOR,
            remedy: &[
                (
                    |of| of.name.starts_with("NET"),
                    "Move the interrupts of the network to another CPU: latlab run --tune irqs=away",
                ),
                (
                    ALWAYS,
                    "Use a PREEMPT_RT kernel, where softirqs run in threads of lower priority.",
                ),
            ],
        },
        CauseKind::OtherTimers => CauseWords {
            name: &[(UNNAMED, "other timers"), (ALWAYS, "timer {name}")],
            all: "timers",
            spike: &[
                (UNNAMED, "other timers took {took}{detail}"),
                (ALWAYS, "the timer function {name} took {took}{detail}"),
            ],
            cycle: FOR,
            // A timer fires on the CPU of the thread that started it.
            remedy: &[
                (|of| of.process.is_some(), MOVE_PROCESS),
                (|of| of.id.is_some(), MOVE_THREAD),
                (ALWAYS, ISOLATE),
            ],
        },
        CauseKind::IdleExit => CauseWords {
            name: &[(ALWAYS, "leaving idle")],
            all: "idle",
            spike: &[
                (
                    |of| of.before_interrupt,
                    "the idle CPU took {took} until the timer's interrupt began{detail}",
                ),
                (ALWAYS, "leaving idle took {took}{detail}"),
            ],
            cycle: FOR,
            remedy: &[(
                ALWAYS,
                "Keep the CPU out of deep idle states; in a guest, give it its own CPU.",
            )],
        },
        CauseKind::Hypervisor => CauseWords {
            name: &[(ALWAYS, "the hypervisor")],
            all: "hypervisor",
            spike: &[(ALWAYS, "the hypervisor took the CPU{detail}")],
            cycle: FOR,
            remedy: &[(ALWAYS, PIN_VIRTUAL_CPUS)],
        },
        CauseKind::Nmi => CauseWords {
            name: &[(UNNAMED, "NMI"), (ALWAYS, "NMI {name}")],
            all: "NMI",
            spike: &[(UNNAMED, "an NMI took {took}"), (ALWAYS, "NMI {name} took {took}")],
            cycle: FOR,
            remedy: &[(ALWAYS, "sysctl -w kernel.nmi_watchdog=0")],
        },
        CauseKind::Throttled => CauseWords {
            name: &[(ALWAYS, "CPU time limit (RT throttling or cpu.max)")],
            all: "limits of CPU time",
            spike: &[(
                ALWAYS,
                "the thread was ready, but the scheduler kept it from its CPU for {took}, as a limit \
                 of CPU time does{detail}",
            )],
            cycle: &[(ALWAYS, "kept off its CPU by a limit of CPU time{detail}")],
            remedy: &[
                (
                    FIXED_PRIORITY,
                    "sysctl -w kernel.sched_rt_runtime_us=-1; from Linux 6.12 on also: latlab run \
                     --tune fair-server=off",
                ),
                (ALWAYS, "Raise cpu.max of its cgroup, or measure with --policy fifo."),
            ],
        },
        CauseKind::OwnSleep => CauseWords {
            name: &[(ALWAYS, "the measured thread, {name}")],
            all: "the thread itself",
            spike: &[(ALWAYS, "the measured thread itself was {name} for {took}")],
            cycle: &[(ALWAYS, "{name}")],
            remedy: &[(ALWAYS, "Do not stop, trace or page out the measured thread.")],
        },
        CauseKind::Execution => CauseWords {
            name: &[(ALWAYS, "its own work")],
            all: "its own work",
            spike: &[(ALWAYS, "its own work took {took}{detail}")],
            cycle: &[(ALWAYS, "in its own work")],
            remedy: &[(ALWAYS, "Do less in a cycle, or give it more time.")],
        },
        CauseKind::PreviousCycle => CauseWords {
            name: &[(ALWAYS, "its previous cycle")],
            all: "its previous cycle",
            spike: &[(ALWAYS, "its previous cycle took {took} more")],
            cycle: &[(ALWAYS, "before its previous cycle had ended")],
            remedy: &[(
                ALWAYS,
                "Find out why the cycle before it took so long: `latlab explain` tells.",
            )],
        },
        CauseKind::Lock => CauseWords {
            name: &[(ALWAYS, "a lock of {name}")],
            all: "locks",
            spike: &[
                (REALTIME, "it waited {took} for a lock that {thread} at {priority} held{detail}"),
                (ALWAYS, "it waited {took} for a lock that {thread} held{detail}"),
            ],
            cycle: &[(ALWAYS, "waiting for a futex that {name}{urgency} held")],
            remedy: &[(
                ALWAYS,
                "Hold the lock shorter in {name}, and give it priority inheritance: \
                 PTHREAD_PRIO_INHERIT of pthread_mutexattr_setprotocol",
            )],
        },
        CauseKind::Call => CauseWords {
            name: &[(ALWAYS, "asleep in {name}")],
            all: "system calls",
            spike: &[(ALWAYS, "it slept in {name} for {took}{detail}")],
            cycle: &[(ALWAYS, "asleep in {name}{detail}")],
            remedy: &[(
                ALWAYS,
                "Call {name} in another thread, or where the cycle has time for it.",
            )],
        },
        CauseKind::Unknown => CauseWords {
            name: &[(ALWAYS, "not recorded")],
            all: "not recorded",
            spike: &[(ALWAYS, "{took} are not recorded")],
            cycle: FOR,
            remedy: &[(ALWAYS, "The cause is not recorded.")],
        },
    }
}

/// The first case that applies.
pub fn case(cases: Cases, facts: &Facts<'_>) -> &'static str {
    let first = cases.iter().find(|(applies, _)| applies(facts));
    first.map_or("", |(_, text)| text)
}
