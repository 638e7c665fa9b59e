//! What can be traced, and what is being traced.

use super::Case;

const TRACERS: &str = "sys/kernel/tracing/available_tracers";

pub const CASES: &[Case] = &[
    Case {
        code: "tracers",
        appears: &[
            &[(TRACERS, "blk function_graph function nop")],
            &[("sys/kernel/debug/tracing/available_tracers", "nop")],
        ],
        absent: &[&[(
            TRACERS,
            "timerlat osnoise hwlat blk wakeup_dl wakeup_rt wakeup preemptirqsoff preemptoff \
             irqsoff function_graph function nop",
        )]],
    },
    Case {
        code: "tracer-active",
        appears: &[&[("sys/kernel/tracing/current_tracer", "function")]],
        absent: &[&[("sys/kernel/tracing/current_tracer", "nop")]],
    },
    Case {
        code: "tracing-closed",
        appears: &[&[("kernel.config", "CONFIG_FTRACE=y\nCONFIG_TRACING=y")]],
        absent: &[
            &[("kernel.config", "CONFIG_TRACING=y"), (TRACERS, "nop")],
            &[("kernel.config", "CONFIG_TRACING_SUPPORT=y")],
        ],
    },
    Case {
        code: "perf-interrupts",
        appears: &[&[(
            "kernel.log",
            "[ 4215.330127] perf: interrupt took too long (2506 > 2500), lowering \
             kernel.perf_event_max_sample_rate to 79750",
        )]],
        absent: &[&[("kernel.log", "[    0.055721] Dynamic Preempt: full")]],
    },
    Case {
        code: "profiling",
        appears: &[&[("sys/kernel/profiling", "1")]],
        absent: &[&[("sys/kernel/profiling", "0")]],
    },
    Case {
        code: "statistics",
        appears: &[
            &[("proc/sys/kernel/sched_schedstats", "1")],
            &[("proc/sys/kernel/bpf_stats_enabled", "1")],
        ],
        absent: &[&[
            ("proc/sys/kernel/sched_schedstats", "0"),
            ("proc/sys/kernel/task_delayacct", "0"),
            ("proc/sys/kernel/bpf_stats_enabled", "0"),
        ]],
    },
];
