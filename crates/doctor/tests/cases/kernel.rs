//! Preemption model and scheduler.

use crate::Case;

pub const CASES: &[Case] = &[Case {
    code: "rt-throttling",
    appears: &[&[
        ("proc/sys/kernel/sched_rt_runtime_us", "950000"),
        ("proc/sys/kernel/sched_rt_period_us", "1000000"),
        ("proc/sys/kernel/osrelease", "6.6.31-rt31-v8+"),
    ]],
    absent: &[
        &[
            ("proc/sys/kernel/sched_rt_runtime_us", "-1"),
            ("proc/sys/kernel/sched_rt_period_us", "1000000"),
        ],
        &[
            ("proc/sys/kernel/sched_rt_runtime_us", "950000"),
            ("proc/sys/kernel/sched_rt_period_us", "1000000"),
            ("proc/sys/kernel/osrelease", "6.12.9"),
        ],
    ],
}];
