//! The rights of this user.

use super::Case;

const STATUS: &str = "proc/self/status";
const ROOT: (&str, &str) =
    (STATUS, "Name:\tlatlab\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t0");
const USER: (&str, &str) =
    (STATUS, "Name:\tlatlab\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t0");
const NICE_USER: (&str, &str) =
    (STATUS, "Name:\tlatlab\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000804000\nSeccomp:\t0");
const NO_LIMITS: (&str, &str) = (
    "proc/self/limits",
    "Limit                     Soft Limit           Hard Limit           Units     \n\
     Max locked memory         8388608              8388608              bytes     \n\
     Max nice priority         0                    0                    \n\
     Max realtime priority     0                    0                    \n\
     Max realtime timeout      unlimited            unlimited            us        ",
);
const SOME_LIMITS: (&str, &str) = (
    "proc/self/limits",
    "Limit                     Soft Limit           Hard Limit           Units     \n\
     Max locked memory         unlimited            unlimited            bytes     \n\
     Max nice priority         0                    0                    \n\
     Max realtime priority     95                   95                   \n\
     Max realtime timeout      200000               200000               us        ",
);
const LOW_LIMITS: (&str, &str) = (
    "proc/self/limits",
    "Limit                     Soft Limit           Hard Limit           Units     \n\
     Max locked memory         8388608              unlimited            bytes     \n\
     Max realtime priority     0                    95                   ",
);
const ALL_LIMITS: (&str, &str) = (
    "proc/self/limits",
    "Limit                     Soft Limit           Hard Limit           Units     \n\
     Max locked memory         unlimited            unlimited            bytes     \n\
     Max nice priority         0                    0                    \n\
     Max realtime priority     99                   99                   \n\
     Max realtime timeout      unlimited            unlimited            us        ",
);
const ONLINE: (&str, &str) = ("sys/devices/system/cpu/online", "0-3");
const GROUPS: (&str, &str) = ("kernel.config", "CONFIG_RT_GROUP_SCHED=y");
const GROUP: &str = "proc/self/cgroup";
const HANDED_ON: (&str, &str) =
    ("sys/fs/cgroup/cgroup.subtree_control", "cpuset cpu io memory pids");

pub const CASES: &[Case] = &[
    Case {
        code: "no-realtime-rights",
        appears: &[&[USER, NO_LIMITS], &[USER, SOME_LIMITS], &[USER, LOW_LIMITS]],
        absent: &[
            &[ROOT, NO_LIMITS],
            &[NICE_USER, NO_LIMITS],
            &[USER, ALL_LIMITS],
            &[NO_LIMITS],
            &[USER],
        ],
    },
    Case {
        code: "memory-lock-limit",
        appears: &[&[USER, NO_LIMITS], &[USER, LOW_LIMITS]],
        absent: &[&[ROOT, NO_LIMITS], &[NICE_USER, NO_LIMITS], &[USER, SOME_LIMITS], &[NO_LIMITS]],
    },
    Case {
        code: "realtime-timeout",
        appears: &[&[SOME_LIMITS]],
        absent: &[&[NO_LIMITS], &[ALL_LIMITS]],
    },
    Case {
        code: "affinity-narrow",
        appears: &[&[(STATUS, "Cpus_allowed:\t1\nCpus_allowed_list:\t0"), ONLINE]],
        absent: &[
            &[(STATUS, "Cpus_allowed:\tf\nCpus_allowed_list:\t0-3"), ONLINE],
            &[
                (STATUS, "Cpus_allowed:\t3\nCpus_allowed_list:\t0-1"),
                ONLINE,
                ("sys/devices/system/cpu/isolated", "2-3"),
            ],
            &[(STATUS, "Cpus_allowed:\t1\nCpus_allowed_list:\t0")],
        ],
    },
    Case {
        code: "realtime-group",
        appears: &[
            &[("sys/fs/cgroup/cpu/cpu.rt_runtime_us", "0")],
            &[(GROUP, "3:cpuset:/\n1:cpu,cpuacct:/user.slice\n0::/user.slice"), GROUPS],
            &[(GROUP, "0::/user.slice/user-1000.slice/session-1.scope"), GROUPS, HANDED_ON],
        ],
        absent: &[
            &[("sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000")],
            &[(GROUP, "1:cpu,cpuacct:/\n0::/user.slice"), GROUPS],
            &[(GROUP, "0::/user.slice"), HANDED_ON],
            &[(GROUP, "0::/"), GROUPS, HANDED_ON],
            &[
                (GROUP, "0::/user.slice"),
                GROUPS,
                ("sys/fs/cgroup/cgroup.subtree_control", "memory pids"),
            ],
        ],
    },
    Case {
        code: "seccomp",
        appears: &[&[(STATUS, "NoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t1")]],
        absent: &[&[ROOT]],
    },
];
