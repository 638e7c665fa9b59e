//! Detectors of lockups and hangs, and their reports.

use super::Case;

const NMI: &str = "proc/sys/kernel/nmi_watchdog";
const SOFT: &str = "proc/sys/kernel/soft_watchdog";
const MASK: (&str, &str) = ("proc/sys/kernel/watchdog_cpumask", "0-3");
const ISOLATED: (&str, &str) = ("sys/devices/system/cpu/isolated", "2-3");

pub const CASES: &[Case] = &[
    Case {
        code: "nmi-watchdog",
        appears: &[&[(NMI, "1")], &[(NMI, "1"), MASK, ISOLATED]],
        absent: &[
            &[(NMI, "0")],
            &[(NMI, "1"), ("kernel.config", "CONFIG_HARDLOCKUP_DETECTOR_BUDDY=y")],
        ],
    },
    Case {
        code: "soft-watchdog",
        appears: &[
            &[(SOFT, "1"), ("proc/sys/kernel/watchdog_thresh", "10")],
            &[(SOFT, "1"), MASK, ISOLATED],
        ],
        absent: &[&[(SOFT, "0"), ("proc/sys/kernel/watchdog_thresh", "10")]],
    },
    Case {
        code: "lockup-panics",
        appears: &[
            &[("proc/sys/kernel/softlockup_panic", "1")],
            &[
                ("proc/sys/kernel/hung_task_panic", "1"),
                ("proc/sys/kernel/hung_task_timeout_secs", "120"),
            ],
        ],
        absent: &[
            &[("proc/sys/kernel/softlockup_panic", "0")],
            &[
                ("proc/sys/kernel/hung_task_panic", "1"),
                ("proc/sys/kernel/hung_task_timeout_secs", "0"),
            ],
        ],
    },
    Case {
        code: "stall-reported",
        appears: &[
            &[(
                "kernel.log",
                "[  845.021338] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [spin:1204]",
            )],
            &[(
                "kernel.log",
                "[  363.420193] INFO: task kworker/3:1:62 blocked for more than 120 seconds.",
            )],
            &[(
                "kernel.log",
                "[  107.112043] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
            )],
        ],
        absent: &[&[(
            "kernel.log",
            "[    0.021338] rcu: Hierarchical RCU implementation.\n\
             [    0.512043] NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.",
        )]],
    },
];
