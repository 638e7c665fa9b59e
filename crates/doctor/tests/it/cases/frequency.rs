//! The frequency of the CPUs.

use super::Case;

pub const CASES: &[Case] = &[
    Case {
        code: "governor",
        appears: &[
            &[
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
                ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave"),
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate"),
            ],
        ],
        absent: &[
            &[("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance")],
            &[("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "userspace")],
            &[
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "ondemand"),
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "1500000"),
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1500000"),
            ],
        ],
    },
    Case {
        code: "energy-preference",
        appears: &[
            &[(
                "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
                "balance_performance",
            )],
            &[("sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", "128")],
        ],
        absent: &[
            &[("sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", "performance")],
            &[("sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", "0")],
        ],
    },
    Case {
        code: "frequency-limit",
        appears: &[
            &[
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1500000"),
                ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1800000"),
            ],
            &[("sys/devices/system/cpu/intel_pstate/max_perf_pct", "60")],
        ],
        absent: &[
            &[
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1800000"),
                ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1800000"),
            ],
            &[("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1800000")],
            &[("sys/devices/system/cpu/intel_pstate/max_perf_pct", "100")],
        ],
    },
    Case {
        code: "frequency-floor",
        appears: &[&[
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "600000"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1800000"),
        ]],
        absent: &[
            &[
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "ondemand"),
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "600000"),
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1800000"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "1800000"),
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1800000"),
            ],
        ],
    },
    Case {
        code: "boost",
        appears: &[
            &[("sys/devices/system/cpu/cpufreq/boost", "1")],
            &[("sys/devices/system/cpu/intel_pstate/no_turbo", "0")],
        ],
        absent: &[
            &[("sys/devices/system/cpu/cpufreq/boost", "0")],
            &[("sys/devices/system/cpu/intel_pstate/no_turbo", "1")],
        ],
    },
    Case {
        code: "processor-frequency",
        appears: &[
            &[("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate")],
            &[("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "amd-pstate-epp")],
        ],
        absent: &[
            &[("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_cpufreq")],
            &[("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "cpufreq-dt")],
        ],
    },
    Case {
        code: "frequency-claimed",
        appears: &[&[
            ("proc/device-tree/compatible", "raspberrypi,4-model-b\0brcm,bcm2711"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1800000"),
        ]],
        absent: &[
            &[("proc/device-tree/compatible", "raspberrypi,4-model-b\0brcm,bcm2711")],
            &[("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1800000")],
        ],
    },
];
