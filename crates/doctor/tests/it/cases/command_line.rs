//! Traps of the kernel's command line.

use super::Case;

const POSSIBLE: (&str, &str) = ("sys/devices/system/cpu/possible", "0-3");
const ONLINE: (&str, &str) = ("sys/devices/system/cpu/online", "0-3");
const ISOLATED: (&str, &str) = ("sys/devices/system/cpu/isolated", "2-3");
const TICKLESS: (&str, &str) = ("sys/devices/system/cpu/nohz_full", "2-3");
const IDLE_DRIVER: &str = "sys/devices/system/cpu/cpuidle/current_driver";
const REALTIME: (&str, &str) = ("sys/kernel/realtime", "1");

pub const CASES: &[Case] = &[
    Case {
        code: "isolation-refused",
        appears: &[
            &[("kernel.log", "[    0.000000] Housekeeping: nohz_full= must match isolcpus=")],
            &[(
                "kernel.log",
                "[    0.000000] Housekeeping: nohz_full= or isolcpus= incorrect CPU range",
            )],
            &[("kernel.log", "[    0.000000] isolcpus: Invalid flag domian")],
        ],
        absent: &[&[("kernel.log", "[    0.035043] NO_HZ: Full dynticks CPUs: 2-3.")]],
    },
    Case {
        code: "isolation-wrong-cpus",
        appears: &[
            &[("proc/cmdline", "isolcpus=4-7"), POSSIBLE, ONLINE],
            &[("proc/cmdline", "isolcpus=domain,managed_irq,0-3"), POSSIBLE, ONLINE],
            &[("proc/cmdline", "nohz_full=all"), POSSIBLE, ONLINE],
        ],
        absent: &[
            &[("proc/cmdline", "isolcpus=nohz,domain,2-3 nohz_full=2-N"), POSSIBLE, ONLINE],
            &[("proc/cmdline", "isolcpus=4-7")],
            &[("proc/cmdline", "isolcpus=two"), POSSIBLE, ONLINE],
        ],
    },
    Case {
        code: "isolated-with-tick",
        appears: &[
            &[("proc/cmdline", "isolcpus=2-3"), ISOLATED],
            &[("proc/cmdline", "isolcpus=2-3"), ISOLATED, ("kernel.config", "CONFIG_HZ=250")],
            &[
                ("proc/cmdline", "isolcpus=2-3"),
                ISOLATED,
                ("sys/devices/system/cpu/nohz_full", "(null)"),
            ],
        ],
        absent: &[
            &[("proc/cmdline", "isolcpus=2-3 nohz_full=2-3"), ISOLATED, TICKLESS],
            &[("proc/cmdline", "quiet"), ("sys/devices/system/cpu/isolated", "")],
        ],
    },
    Case {
        code: "tickless-not-isolated",
        appears: &[
            &[("proc/cmdline", "nohz_full=2-3"), TICKLESS],
            &[
                ("proc/cmdline", "nohz_full=2-3"),
                TICKLESS,
                ("sys/devices/system/cpu/isolated", "3"),
            ],
        ],
        absent: &[
            &[("proc/cmdline", "nohz_full=2-3 isolcpus=2-3"), TICKLESS, ISOLATED],
            &[
                ("proc/cmdline", "nohz_full=2-3"),
                TICKLESS,
                ("sys/fs/cgroup/cpuset.cpus.isolated", "2-3"),
            ],
        ],
    },
    Case {
        code: "idle-poll",
        appears: &[&[("proc/cmdline", "quiet idle=poll")]],
        absent: &[&[("proc/cmdline", "quiet idle=halt")]],
    },
    Case {
        code: "idle-limit-ignored",
        appears: &[
            &[("proc/cmdline", "processor.max_cstate=1"), (IDLE_DRIVER, "intel_idle")],
            &[("proc/cmdline", "intel_idle.max_cstate=0"), (IDLE_DRIVER, "acpi_idle")],
        ],
        absent: &[
            &[
                ("proc/cmdline", "processor.max_cstate=1 intel_idle.max_cstate=0"),
                (IDLE_DRIVER, "acpi_idle"),
            ],
            &[("proc/cmdline", "intel_idle.max_cstate=1"), (IDLE_DRIVER, "intel_idle")],
            &[("proc/cmdline", "processor.max_cstate=1"), (IDLE_DRIVER, "psci_idle")],
        ],
    },
    Case {
        code: "threadirqs",
        appears: &[&[("proc/cmdline", "quiet threadirqs")]],
        absent: &[&[("proc/cmdline", "quiet threadirqs"), REALTIME], &[("proc/cmdline", "quiet")]],
    },
    Case {
        code: "irqpoll",
        appears: &[
            &[("proc/cmdline", "quiet irqpoll")],
            &[("proc/cmdline", "quiet irqpoll"), REALTIME],
        ],
        absent: &[&[("proc/cmdline", "quiet irqfixup")], &[("proc/cmdline", "init=/x -- irqpoll")]],
    },
    Case {
        code: "noirqbalance-ignored",
        appears: &[&[("proc/cmdline", "noirqbalance quiet")]],
        absent: &[&[("proc/cmdline", "irqaffinity=0")]],
    },
    Case {
        code: "ticks-together",
        appears: &[&[("proc/cmdline", "quiet"), ONLINE, REALTIME]],
        absent: &[
            &[("proc/cmdline", "quiet skew_tick=1"), ONLINE, REALTIME],
            &[("proc/cmdline", "quiet"), ("sys/devices/system/cpu/online", "0"), REALTIME],
            &[("proc/cmdline", "quiet"), ONLINE],
        ],
    },
    Case {
        code: "audit",
        appears: &[&[("proc/cmdline", "audit=1 audit_backlog_limit=8192")]],
        absent: &[&[("proc/cmdline", "audit=0")]],
    },
    Case {
        code: "parameters-contradict",
        appears: &[
            &[("proc/cmdline", "isolcpus=2 quiet isolcpus=3")],
            &[("proc/cmdline", "nohz=off nohz_full=2-3")],
        ],
        absent: &[
            &[("proc/cmdline", "isolcpus=2-3 isolcpus=2-3 nohz=on nohz_full=2-3")],
            &[("proc/cmdline", "console=tty0 console=ttyS0 nohz=off")],
        ],
    },
    Case {
        code: "parameters-unknown",
        appears: &[&[(
            "kernel.log",
            "[    0.035914] Unknown kernel command line parameters \
             \"BOOT_IMAGE=/vmlinuz isolcpu=2-3\", will be passed to user space.",
        )]],
        absent: &[&[(
            "kernel.log",
            "[    0.035914] Unknown kernel command line parameters \
             \"splash BOOT_IMAGE=/vmlinuz\", will be passed to user space.",
        )]],
    },
];
