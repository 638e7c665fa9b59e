//! Heat.

use super::Case;

pub const CASES: &[Case] = &[
    Case {
        code: "hot",
        appears: &[
            &[
                ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp"),
                ("sys/class/thermal/thermal_zone0/temp", "92000"),
                ("sys/class/thermal/thermal_zone0/trip_point_0_type", "active"),
                ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "50000"),
                ("sys/class/thermal/thermal_zone0/trip_point_1_type", "passive"),
                ("sys/class/thermal/thermal_zone0/trip_point_1_temp", "95000"),
                ("sys/class/thermal/thermal_zone0/trip_point_2_type", "critical"),
                ("sys/class/thermal/thermal_zone0/trip_point_2_temp", "105000"),
            ],
            &[
                ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp"),
                ("sys/class/thermal/thermal_zone0/temp", "96000"),
                ("sys/class/thermal/thermal_zone0/trip_point_0_type", "passive"),
                ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "95000"),
            ],
            &[
                ("sys/class/hwmon/hwmon1/name", "coretemp"),
                ("sys/class/hwmon/hwmon1/temp1_label", "Package id 0"),
                ("sys/class/hwmon/hwmon1/temp1_input", "97000"),
                ("sys/class/hwmon/hwmon1/temp1_crit", "100000"),
            ],
            &[
                ("proc/device-tree/compatible", "raspberrypi,4-model-b\0brcm,bcm2711"),
                ("sys/class/thermal/thermal_zone0/type", "cpu-thermal"),
                ("sys/class/thermal/thermal_zone0/temp", "74502"),
            ],
        ],
        absent: &[
            &[
                ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp"),
                ("sys/class/thermal/thermal_zone0/temp", "60000"),
                ("sys/class/thermal/thermal_zone0/trip_point_0_type", "active"),
                ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "50000"),
                ("sys/class/thermal/thermal_zone0/trip_point_1_type", "passive"),
                ("sys/class/thermal/thermal_zone0/trip_point_1_temp", "95000"),
            ],
            &[
                ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp"),
                ("sys/class/thermal/thermal_zone0/temp", "60000"),
                ("sys/class/thermal/thermal_zone0/trip_point_0_type", "critical"),
                ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "-274000"),
                ("sys/class/thermal/thermal_zone0/trip_point_1_type", "hot"),
                ("sys/class/thermal/thermal_zone0/trip_point_1_temp", "0"),
            ],
            &[
                ("sys/class/hwmon/hwmon1/temp1_input", "45000"),
                ("sys/class/hwmon/hwmon1/temp1_crit", "100000"),
            ],
            &[
                ("proc/device-tree/compatible", "raspberrypi,4-model-b\0brcm,bcm2711"),
                ("sys/class/thermal/thermal_zone0/type", "cpu-thermal"),
                ("sys/class/thermal/thermal_zone0/temp", "54502"),
            ],
            &[("sys/class/thermal/thermal_zone0/temp", "74502")],
        ],
    },
    Case {
        code: "unreadable-temperature",
        appears: &[&[("sys/class/thermal/thermal_zone0/type", "iwlwifi_1")]],
        absent: &[&[
            ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp"),
            ("sys/class/thermal/thermal_zone0/temp", "50000"),
        ]],
    },
    Case {
        code: "cooling",
        appears: &[
            &[
                ("sys/class/thermal/cooling_device0/type", "thermal-cpufreq-0"),
                ("sys/class/thermal/cooling_device0/cur_state", "2"),
            ],
            &[
                ("sys/class/thermal/cooling_device0/type", "Processor"),
                ("sys/class/thermal/cooling_device0/cur_state", "1"),
            ],
            &[
                ("sys/class/thermal/cooling_device0/type", "intel_powerclamp"),
                ("sys/class/thermal/cooling_device0/cur_state", "25"),
            ],
        ],
        absent: &[
            &[
                ("sys/class/thermal/cooling_device0/type", "thermal-cpufreq-0"),
                ("sys/class/thermal/cooling_device0/cur_state", "0"),
            ],
            &[
                ("sys/class/thermal/cooling_device0/type", "pwm-fan"),
                ("sys/class/thermal/cooling_device0/cur_state", "3"),
            ],
            &[
                ("sys/class/thermal/cooling_device0/type", "intel_powerclamp"),
                ("sys/class/thermal/cooling_device0/cur_state", "-1"),
            ],
            &[
                ("sys/class/thermal/cooling_device0/type", "Fan"),
                ("sys/class/thermal/cooling_device0/cur_state", "1"),
            ],
        ],
    },
    Case {
        code: "throttled-since-start",
        appears: &[
            &[
                ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0"),
                ("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "12"),
            ],
            &[("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3")],
        ],
        absent: &[&[
            ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0"),
            ("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "0"),
        ]],
    },
    Case {
        code: "no-temperature",
        appears: &[
            &[("sys/devices/system/cpu/online", "0-3")],
            &[("sys/devices/system/cpu/online", "0-1"), ("sys/hypervisor/type", "xen")],
        ],
        absent: &[
            &[
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp"),
                ("sys/class/thermal/thermal_zone0/temp", "50000"),
            ],
            &[
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/class/hwmon/hwmon1/temp1_input", "45000"),
            ],
            &[("sys/devices/system/cpu/online", "0-3"), ("vcgencmd.measure_temp", "temp=48.3'C")],
        ],
    },
];
