//! Swap, free memory, nodes.

use super::Case;

/// Content without swap.
const NO_SWAP: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority";

/// Swap in memory, partly in use.
const ZRAM: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority
/dev/zram0                              partition\t1048572\t\t5120\t\t100";

/// A file, not in use.
const SWAP_FILE: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority
/var/swap                               file\t\t102396\t\t0\t\t-2";

/// Memory that is nearly used up.
const SHORT: &str = "MemTotal:        3884312 kB
MemFree:          100000 kB
MemAvailable:     200000 kB";

/// Memory that is mostly free.
const PLENTY: &str = "MemTotal:        3884312 kB
MemFree:          100000 kB
MemAvailable:    3000000 kB";

pub const CASES: &[Case] = &[
    Case {
        code: "swap",
        appears: &[&[("proc/swaps", ZRAM)], &[("proc/swaps", SWAP_FILE)]],
        absent: &[&[("proc/swaps", NO_SWAP)]],
    },
    Case {
        code: "low-memory",
        appears: &[&[("proc/meminfo", SHORT)]],
        absent: &[&[("proc/meminfo", PLENTY)], &[("proc/meminfo", "MemTotal:        3884312 kB")]],
    },
    Case {
        code: "zswap",
        appears: &[&[("sys/module/zswap/parameters/enabled", "Y")]],
        absent: &[&[("sys/module/zswap/parameters/enabled", "N")]],
    },
    Case {
        code: "numa-balancing",
        appears: &[&[
            ("proc/sys/kernel/numa_balancing", "1"),
            ("sys/devices/system/node/online", "0-1"),
        ]],
        absent: &[
            &[("proc/sys/kernel/numa_balancing", "0"), ("sys/devices/system/node/online", "0-1")],
            &[("proc/sys/kernel/numa_balancing", "1"), ("sys/devices/system/node/online", "0")],
            &[("proc/sys/kernel/numa_balancing", "1")],
        ],
    },
    Case {
        code: "numa-nodes",
        appears: &[&[("sys/devices/system/node/online", "0-1")]],
        absent: &[
            &[("sys/devices/system/node/online", "0")],
            &[
                ("sys/devices/system/node/online", "0-7"),
                ("proc/cmdline", "numa=fake=8 numa_policy=interleave root=PARTUUID=x"),
            ],
        ],
    },
    Case {
        code: "statistics-interval",
        appears: &[&[
            ("proc/sys/vm/stat_interval", "1"),
            ("sys/devices/system/cpu/isolated", "3"),
            ("proc/sys/kernel/osrelease", "6.1.0-32-rt-amd64"),
        ]],
        absent: &[
            &[
                ("proc/sys/vm/stat_interval", "1"),
                ("sys/devices/system/cpu/isolated", "3"),
                ("proc/sys/kernel/osrelease", "6.12.9"),
            ],
            &[
                ("proc/sys/vm/stat_interval", "120"),
                ("sys/devices/system/cpu/isolated", "3"),
                ("proc/sys/kernel/osrelease", "6.1.0-32-rt-amd64"),
            ],
            &[
                ("proc/sys/vm/stat_interval", "1"),
                ("sys/devices/system/cpu/isolated", ""),
                ("proc/sys/kernel/osrelease", "6.1.0-32-rt-amd64"),
            ],
            &[("proc/sys/vm/stat_interval", "1"), ("sys/devices/system/cpu/isolated", "3")],
        ],
    },
    Case {
        code: "dirty-memory",
        appears: &[&[("proc/sys/vm/dirty_ratio", "60")]],
        absent: &[&[("proc/sys/vm/dirty_ratio", "20")]],
    },
];
