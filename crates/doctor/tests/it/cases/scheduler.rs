//! Real-time budgets, cgroups, and RCU.

use super::Case;

const RUNTIME: &str = "proc/sys/kernel/sched_rt_runtime_us";
const PERIOD: (&str, &str) = ("proc/sys/kernel/sched_rt_period_us", "1000000");
const OLD: (&str, &str) = ("proc/sys/kernel/osrelease", "6.6.31-rt31-v8+");
const NEW: (&str, &str) = ("proc/sys/kernel/osrelease", "6.12.9");
const GROUPS: (&str, &str) = ("kernel.config", "CONFIG_CGROUP_SCHED=y\nCONFIG_RT_GROUP_SCHED=y");
const SERVER: &str = "sys/kernel/debug/sched/fair_server/cpu0/runtime";
const SERVER_PERIOD: (&str, &str) =
    ("sys/kernel/debug/sched/fair_server/cpu0/period", "1000000000");
const LIMITS: (&str, &str) = (
    "proc/self/limits",
    "Limit                     Soft Limit           Hard Limit           Units     \n\
     Max realtime priority     0                    0                    \n\
     Max realtime timeout      unlimited            unlimited            us        ",
);
const LIMITED: (&str, &str) = (
    "proc/self/limits",
    "Limit                     Soft Limit           Hard Limit           Units     \n\
     Max realtime timeout      200000               200000               us        ",
);
const ISOLATED: (&str, &str) = ("sys/devices/system/cpu/isolated", "2-3");
const REALTIME: (&str, &str) = ("sys/kernel/realtime", "1");

pub const CASES: &[Case] = &[
    Case {
        code: "rt-throttling",
        appears: &[
            &[(RUNTIME, "950000"), PERIOD, OLD],
            &[(RUNTIME, "950000"), PERIOD, NEW, GROUPS],
        ],
        absent: &[
            &[(RUNTIME, "-1"), PERIOD],
            &[(RUNTIME, "1000000"), PERIOD, OLD],
            &[(RUNTIME, "950000"), PERIOD, NEW],
            &[(RUNTIME, "950000"), PERIOD, NEW, GROUPS, ("proc/cmdline", "rt_group_sched=0")],
        ],
    },
    Case {
        code: "rt-throttled",
        appears: &[&[("kernel.log", "[ 3608.204178] sched: RT throttling activated")]],
        absent: &[&[("kernel.log", "[    0.055721] Dynamic Preempt: full")]],
    },
    Case {
        code: "rt-runtime-unlimited",
        appears: &[
            &[(RUNTIME, "-1"), OLD, LIMITS],
            &[(RUNTIME, "-1"), NEW, LIMITS, (SERVER, "0"), SERVER_PERIOD],
        ],
        absent: &[
            &[(RUNTIME, "-1"), OLD, LIMITED],
            &[(RUNTIME, "950000"), OLD, LIMITS],
            &[(RUNTIME, "-1"), NEW, LIMITS],
            &[(RUNTIME, "-1"), NEW, LIMITS, (SERVER, "50000000"), SERVER_PERIOD],
            &[(RUNTIME, "-1"), OLD],
        ],
    },
    Case {
        code: "fair-server",
        appears: &[&[(SERVER, "50000000"), SERVER_PERIOD], &[NEW]],
        absent: &[
            &[(SERVER, "0"), SERVER_PERIOD, NEW],
            &[("proc/sys/kernel/osrelease", "6.1.0-50-amd64")],
        ],
    },
    Case {
        code: "rt-group-scheduling",
        appears: &[
            &[GROUPS],
            &[
                (
                    "kernel.config",
                    "CONFIG_RT_GROUP_SCHED=y\nCONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED=y",
                ),
                ("proc/cmdline", "rt_group_sched=1"),
            ],
        ],
        absent: &[
            &[("kernel.config", "CONFIG_CGROUP_SCHED=y")],
            &[GROUPS, ("proc/cmdline", "quiet rt_group_sched=0")],
            &[(
                "kernel.config",
                "CONFIG_RT_GROUP_SCHED=y\nCONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED=y",
            )],
        ],
    },
    Case {
        code: "autogroup",
        appears: &[&[("proc/sys/kernel/sched_autogroup_enabled", "1")]],
        absent: &[&[("proc/sys/kernel/sched_autogroup_enabled", "0")]],
    },
    Case {
        code: "rcu-callbacks",
        appears: &[
            &[ISOLATED, ("proc/cmdline", "isolcpus=2-3")],
            &[ISOLATED, ("proc/cmdline", "isolcpus=2-3 rcu_nocbs=2")],
            &[ISOLATED, ("proc/cmdline", "isolcpus=2-3"), ("kernel.config", "CONFIG_HZ=250")],
        ],
        absent: &[
            &[ISOLATED, ("proc/cmdline", "isolcpus=2-3 rcu_nocbs=2-3")],
            &[
                ISOLATED,
                ("proc/cmdline", "isolcpus=2-3 rcu-nocbs=1-N"),
                ("sys/devices/system/cpu/possible", "0-3"),
            ],
            &[
                ISOLATED,
                ("proc/cmdline", "isolcpus=2-3 rcu_nocbs=all"),
                ("sys/devices/system/cpu/possible", "0-3"),
            ],
            &[
                ISOLATED,
                ("proc/cmdline", "isolcpus=2-3 nohz_full=2-3"),
                ("sys/devices/system/cpu/nohz_full", "2-3"),
            ],
            &[
                ISOLATED,
                ("proc/cmdline", "isolcpus=2-3"),
                ("kernel.config", "CONFIG_RCU_NOCB_CPU_DEFAULT_ALL=y"),
            ],
            &[ISOLATED, ("proc/cmdline", "isolcpus=2-3 rcu_nocbs=0-31:1/2")],
            &[("sys/devices/system/cpu/isolated", ""), ("proc/cmdline", "quiet")],
        ],
    },
    Case {
        code: "rcu-boost-missing",
        appears: &[&[("kernel.config", "CONFIG_PREEMPT_RT=y\nCONFIG_TREE_RCU=y")]],
        absent: &[
            &[("kernel.config", "CONFIG_PREEMPT_RT=y\nCONFIG_RCU_BOOST=y")],
            &[("kernel.config", "CONFIG_PREEMPT=y")],
            &[REALTIME],
        ],
    },
    Case {
        code: "rcu-expedited",
        appears: &[
            &[("sys/kernel/rcu_expedited", "1"), ("sys/kernel/rcu_normal", "0")],
            &[REALTIME, ("sys/kernel/rcu_expedited", "0"), ("sys/kernel/rcu_normal", "0")],
        ],
        absent: &[
            &[("sys/kernel/rcu_expedited", "0"), ("sys/kernel/rcu_normal", "0")],
            &[REALTIME, ("sys/kernel/rcu_expedited", "1"), ("sys/kernel/rcu_normal", "1")],
        ],
    },
];
