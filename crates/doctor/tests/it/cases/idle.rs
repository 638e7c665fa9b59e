//! Idle states.

use super::{Case, IN_VIRTUAL_TIME};

pub const CASES: &[Case] = &[
    Case {
        code: "deep-idle",
        appears: &[
            &[
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "133"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "133"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6"),
                ("sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us", "0"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "133"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6"),
                ("sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us", "200"),
            ],
        ],
        absent: &[
            &[
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "133"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "1"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "2"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "133"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6"),
                ("sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us", "n/a"),
            ],
            &[
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "133"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "0"),
                ("sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6"),
                ("sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us", "20"),
            ],
        ],
    },
    Case {
        code: "no-idle-driver",
        appears: &[
            &[("sys/devices/system/cpu/cpuidle/current_driver", "none")],
            &[
                ("sys/devices/system/cpu/cpuidle/current_driver", "none"),
                ("sys/hypervisor/type", "xen"),
            ],
        ],
        absent: &[
            &[("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle")],
            &[("sys/devices/system/cpu/cpuidle/current_driver", "none"), IN_VIRTUAL_TIME],
        ],
    },
    Case {
        code: "graphics-power-saving",
        appears: &[
            &[("sys/module/i915/parameters/enable_dc", "-1")],
            &[
                ("sys/module/i915/parameters/enable_dc", "0"),
                ("sys/module/i915/parameters/enable_psr", "1"),
            ],
            &[("sys/module/i915/parameters/enable_rc6", "1")],
        ],
        absent: &[
            &[
                ("sys/module/i915/parameters/enable_dc", "0"),
                ("sys/module/i915/parameters/enable_psr", "0"),
            ],
            &[("proc/cmdline", "quiet")],
        ],
    },
    Case {
        code: "resume-latency",
        appears: &[
            &[("sys/devices/system/cpu/cpu2/power/pm_qos_resume_latency_us", "n/a")],
            &[
                ("sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us", "0"),
                ("sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us", "50"),
            ],
        ],
        absent: &[&[("sys/devices/system/cpu/cpu0/power/pm_qos_resume_latency_us", "0")]],
    },
];
