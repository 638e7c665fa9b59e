//! Preemption model, and what the kernel reports about itself.

use super::Case;

const VERSION: &str = "proc/sys/kernel/version";
const SWITCH: &str = "sys/kernel/debug/sched/preempt";
const STOCK: (&str, &str) = (VERSION, "#1 SMP PREEMPT_DYNAMIC Debian 6.1.158-1 (2025-11-09)");
const REALTIME: (&str, &str) = (VERSION, "#1 SMP PREEMPT_RT Debian 6.1.158-1 (2025-11-09)");
const OLD_REALTIME: (&str, &str) = (VERSION, "#1 SMP PREEMPT RT Debian 4.19.304-1 (2024-01-09)");
const PLAIN: (&str, &str) = (VERSION, "#1-Alpine SMP Mon, 14 Oct 2024 07:20:55 UTC");
const DYNAMIC_CONFIG: (&str, &str) = (
    "kernel.config",
    "CONFIG_PREEMPT_BUILD=y\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y",
);
const REALTIME_CONFIG: (&str, &str) = ("kernel.config", "CONFIG_PREEMPT_RT=y\nCONFIG_PREEMPTION=y");
const STATIC_CONFIG: (&str, &str) =
    ("kernel.config", "CONFIG_PREEMPT_VOLUNTARY_BUILD=y\nCONFIG_PREEMPT_VOLUNTARY=y");

const UBUNTU_7: (&str, &str) = ("proc/sys/kernel/osrelease", "7.0.0-7-realtime");
const LAZY_7: (&str, &str) = ("proc/sys/kernel/osrelease", "7.0.4");
const LAZY_CONFIG: (&str, &str) = (
    "kernel.config",
    "CONFIG_ARCH_HAS_PREEMPT_LAZY=y\nCONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_DYNAMIC=y",
);

pub const CASES: &[Case] = &[
    Case {
        code: "not-realtime",
        appears: &[
            &[STOCK],
            &[PLAIN],
            &[PLAIN, STATIC_CONFIG],
            &[(VERSION, "#1 SMP PREEMPT Thu Apr 3 15:20:00 BST 2025")],
            &[STOCK, (SWITCH, "none (voluntary) full")],
            &[STOCK, ("kernel.log", "[    0.055721] Dynamic Preempt: voluntary")],
            &[
                STOCK,
                ("etc/os-release", "NAME=\"Debian GNU/Linux\"\nID=debian"),
                ("uname.machine", "x86_64"),
            ],
        ],
        absent: &[
            &[REALTIME],
            &[OLD_REALTIME],
            &[STOCK, ("sys/kernel/realtime", "1")],
            &[REALTIME_CONFIG, ("proc/cmdline", "quiet")],
            // Mainline has no /sys/kernel/realtime, and this version line names no model.
            &[PLAIN, REALTIME_CONFIG, UBUNTU_7],
            &[PLAIN, UBUNTU_7, ("threads", "24\tfifo\t1\t0\t0\tirq_work/0")],
        ],
    },
    Case {
        code: "preempt-mode",
        appears: &[
            &[STOCK, (SWITCH, "none (voluntary) full")],
            &[STOCK, (SWITCH, "(none) voluntary full lazy")],
            &[STOCK, ("kernel.log", "[    0.055721] Dynamic Preempt: none")],
            &[
                STOCK,
                (
                    "kernel.log",
                    "[17145.136685] CPU: 0 UID: 0 PID: 3278 Comm: sh Not tainted 6.18.44 #1 \
                     PREEMPT(none) ",
                ),
            ],
            &[STOCK, DYNAMIC_CONFIG, ("proc/cmdline", "quiet preempt=none")],
        ],
        absent: &[
            // It may have been switched since.
            &[STOCK, DYNAMIC_CONFIG],
            &[STOCK],
            &[STOCK, (SWITCH, "none voluntary (full)")],
            &[STOCK, (SWITCH, "none voluntary full (lazy)")],
            &[STOCK, DYNAMIC_CONFIG, ("proc/cmdline", "quiet preempt=full")],
            &[PLAIN, STATIC_CONFIG],
            &[STOCK, LAZY_7, LAZY_CONFIG, ("proc/cmdline", "preempt=none")],
            &[
                STOCK,
                ("proc/cmdline", "preempt=none"),
                ("kernel.log", "[    0.000000] Dynamic Preempt: unsupported mode: none"),
            ],
            &[REALTIME, ("kernel.log", "[    0.055721] Dynamic Preempt: none")],
        ],
    },
    Case {
        code: "preemption-contradiction",
        appears: &[
            &[REALTIME, DYNAMIC_CONFIG],
            &[STOCK, REALTIME_CONFIG],
            &[("sys/kernel/realtime", "1"), DYNAMIC_CONFIG],
            &[
                STOCK,
                DYNAMIC_CONFIG,
                ("proc/cmdline", "quiet preempt=full"),
                (SWITCH, "none (voluntary) full"),
            ],
        ],
        absent: &[
            &[REALTIME, REALTIME_CONFIG],
            &[REALTIME, REALTIME_CONFIG, ("sys/kernel/realtime", "1")],
            &[OLD_REALTIME, ("kernel.config", "CONFIG_PREEMPT_RT_FULL=y")],
            &[REALTIME],
            &[STOCK, DYNAMIC_CONFIG, (SWITCH, "none (voluntary) full")],
            &[STOCK, ("proc/cmdline", "preempt=full"), (SWITCH, "none voluntary (full)")],
            &[STOCK, ("proc/cmdline", "preempt=none"), (SWITCH, "full (lazy)")],
        ],
    },
    Case {
        code: "preempt-ignored",
        appears: &[
            &[PLAIN, ("proc/cmdline", "quiet preempt=full")],
            &[PLAIN, STATIC_CONFIG, ("proc/cmdline", "preempt=full")],
            &[STOCK, ("proc/cmdline", "preempt=rt quiet")],
            // From 7.0 on `none` and `voluntary` do not exist if `lazy` does.
            &[STOCK, ("proc/cmdline", "preempt=none"), (SWITCH, "full (lazy)")],
            &[STOCK, LAZY_7, LAZY_CONFIG, ("proc/cmdline", "preempt=voluntary")],
            &[
                STOCK,
                ("proc/cmdline", "preempt=none"),
                ("kernel.log", "[    0.000000] Dynamic Preempt: unsupported mode: none"),
            ],
        ],
        absent: &[
            &[STOCK, ("proc/cmdline", "preempt=none"), (SWITCH, "(none) voluntary full lazy")],
            &[STOCK, LAZY_7, LAZY_CONFIG, ("proc/cmdline", "preempt=lazy")],
            &[STOCK, LAZY_7, ("proc/cmdline", "preempt=none")],
            &[STOCK, ("proc/cmdline", "preempt=full")],
            &[REALTIME, ("proc/cmdline", "preempt=full")],
            &[("proc/cmdline", "preempt=full")],
            &[PLAIN, ("proc/cmdline", "init=/sbin/init -- preempt=full")],
        ],
    },
    Case {
        code: "preemption-unknown",
        appears: &[&[STOCK], &[STOCK, DYNAMIC_CONFIG]],
        absent: &[
            &[PLAIN],
            &[REALTIME],
            &[STOCK, (SWITCH, "none (voluntary) full")],
            &[STOCK, ("kernel.log", "[    0.055721] Dynamic Preempt: full")],
        ],
    },
    Case {
        code: "configuration-unknown",
        appears: &[&[STOCK, ("proc/sys/kernel/osrelease", "6.12.47+rpt-rpi-v8")]],
        absent: &[
            &[STOCK, DYNAMIC_CONFIG, ("proc/sys/kernel/osrelease", "6.1.0-41-amd64")],
            &[STOCK],
        ],
    },
];
