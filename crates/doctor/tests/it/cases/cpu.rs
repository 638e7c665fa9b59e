//! SMT siblings, isolation, kinds of cores, missing CPUs.

use super::Case;

pub const CASES: &[Case] = &[
    Case {
        code: "smt",
        appears: &[
            &[
                ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2"),
                ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2"),
                ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,3"),
                ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1,3"),
                ("sys/devices/system/cpu/online", "0-3"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2"),
                ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2"),
                ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,3"),
                ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1,3"),
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "3"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2"),
                ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2"),
                ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,3"),
                ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1,3"),
            ],
        ],
        absent: &[
            &[
                ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0"),
                ("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1"),
                ("sys/devices/system/cpu/online", "0-1"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2"),
                ("sys/devices/system/cpu/online", "0-1"),
            ],
        ],
    },
    Case {
        code: "no-isolation",
        appears: &[&[
            ("sys/devices/system/cpu/online", "0-3"),
            ("sys/devices/system/cpu/isolated", ""),
        ]],
        absent: &[
            &[("sys/devices/system/cpu/online", "0-3")],
            &[("sys/devices/system/cpu/online", "0-1"), ("sys/devices/system/cpu/isolated", "")],
            &[("sys/devices/system/cpu/online", "0-3"), ("sys/devices/system/cpu/isolated", "3")],
            &[
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", ""),
                ("sys/fs/cgroup/cpuset.cpus.isolated", "2-3"),
            ],
        ],
    },
    Case {
        code: "isolated-workqueues",
        appears: &[
            &[
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "2-3"),
                ("sys/devices/virtual/workqueue/cpumask", "f"),
            ],
            &[
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "3"),
                ("sys/devices/virtual/workqueue/writeback/cpumask", "f"),
            ],
        ],
        absent: &[
            &[
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "2-3"),
                ("sys/devices/virtual/workqueue/cpumask", "3"),
            ],
            &[
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", ""),
                ("sys/devices/virtual/workqueue/cpumask", "f"),
            ],
            &[
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "2-3"),
                ("sys/devices/virtual/workqueue/cpumask", "3"),
                ("sys/devices/virtual/workqueue/writeback/cpumask", "f"),
            ],
        ],
    },
    Case {
        code: "unlike-cores",
        appears: &[
            &[
                ("sys/devices/system/cpu/cpu0/cpu_capacity", "446"),
                ("sys/devices/system/cpu/cpu1/cpu_capacity", "1024"),
            ],
            &[("sys/devices/cpu_core/cpus", "0-7"), ("sys/devices/cpu_atom/cpus", "8-15")],
        ],
        absent: &[
            &[
                ("sys/devices/system/cpu/cpu0/cpu_capacity", "1024"),
                ("sys/devices/system/cpu/cpu1/cpu_capacity", "1024"),
            ],
            &[("sys/devices/cpu_core/cpus", "0-7")],
        ],
    },
    Case {
        code: "offline-cpus",
        appears: &[&[
            ("sys/devices/system/cpu/offline", "3"),
            ("sys/devices/system/cpu/present", "0-3"),
        ]],
        absent: &[
            &[
                ("sys/devices/system/cpu/offline", "4-127"),
                ("sys/devices/system/cpu/present", "0-3"),
            ],
            &[("sys/devices/system/cpu/offline", ""), ("sys/devices/system/cpu/present", "0-3")],
            &[("sys/devices/system/cpu/offline", "3")],
        ],
    },
    Case {
        code: "single-cpu",
        appears: &[&[("sys/devices/system/cpu/online", "0")]],
        absent: &[&[("sys/devices/system/cpu/online", "0-1")]],
    },
];
