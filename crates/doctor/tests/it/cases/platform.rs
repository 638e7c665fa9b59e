//! Hypervisor, container, firmware, buses, pins.

use super::{Case, IN_VIRTUAL_TIME};

/// A processor below a hypervisor.
const GUEST: &str = "processor\t: 0\nflags\t\t: fpu vme hypervisor lahf_lm";

/// A host that has stolen time.
const STOLEN: &str = "cpu  1000 0 500 98000 20 0 30 450 0 0
cpu0 1000 0 500 98000 20 0 30 450 0 0
btime 1732200000";

/// One that has stolen very little.
const STOLEN_ONCE: &str = "cpu  1000 0 500 98000 20 0 30 1 0 0
cpu0 1000 0 500 98000 20 0 30 1 0 0
btime 1732200000";

/// One that has stolen none; started in November 2024.
const OWN: &str = "cpu  1000 0 500 98000 20 0 30 0 0 0
cpu0 1000 0 500 98000 20 0 30 0 0 0
btime 1732200000";

pub const CASES: &[Case] = &[
    Case {
        code: "sysfs-missing",
        appears: &[&[("proc/cmdline", "quiet")]],
        absent: &[&[("proc/cmdline", "quiet"), ("sys/devices/system/cpu/online", "0-3")], &[]],
    },
    Case {
        code: "guest",
        appears: &[
            &[("proc/cpuinfo", GUEST), ("sys/class/dmi/id/sys_vendor", "QEMU")],
            &[("sys/hypervisor/type", "xen")],
            &[("proc/device-tree/compatible", "linux,dummy-virt")],
        ],
        absent: &[
            &[("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme lahf_lm")],
            &[("proc/cpuinfo", GUEST), IN_VIRTUAL_TIME],
        ],
    },
    Case {
        code: "stolen-time",
        appears: &[&[("proc/stat", STOLEN)], &[("proc/stat", STOLEN_ONCE)]],
        absent: &[
            &[("proc/stat", OWN)],
            &[("proc/stat", "cpu  1000 0 500 98000 20 0 30")],
            &[("proc/stat", STOLEN), IN_VIRTUAL_TIME],
        ],
    },
    Case {
        code: "container",
        appears: &[
            &[(".dockerenv", "")],
            &[("run/systemd/container", "lxc")],
            &[("run/.containerenv", "engine=\"podman-4.3.1\"\nname=\"x\"")],
        ],
        absent: &[&[("proc/cpuinfo", GUEST)]],
    },
    Case {
        code: "firmware-interrupts",
        appears: &[
            &[
                ("sys/class/dmi/id/bios_date", "03/14/2019"),
                ("sys/class/dmi/id/bios_version", "F14a"),
            ],
            &[
                ("sys/class/dmi/id/bios_date", "03/14/2019"),
                ("sys/class/dmi/id/bios_version", "F14a"),
                ("sys/kernel/tracing/available_tracers", "timerlat osnoise hwlat function nop"),
            ],
        ],
        absent: &[
            &[
                ("sys/class/dmi/id/bios_date", "03/14/2019"),
                ("sys/class/dmi/id/bios_version", "F14a"),
                ("proc/cpuinfo", GUEST),
            ],
            &[("sys/class/dmi/id/bios_version", "F14a")],
        ],
    },
    Case {
        code: "old-firmware",
        appears: &[&[
            ("sys/class/dmi/id/bios_date", "03/14/2019"),
            ("sys/class/dmi/id/bios_version", "F14a"),
            ("proc/stat", OWN),
        ]],
        absent: &[
            &[("sys/class/dmi/id/bios_date", "03/14/2022"), ("proc/stat", OWN)],
            &[
                ("sys/class/dmi/id/bios_date", "03/14/2019"),
                ("sys/class/dmi/id/bios_version", "F14a"),
            ],
            &[
                ("sys/class/dmi/id/bios_date", "03/14/2019"),
                ("sys/class/dmi/id/bios_version", "F14a"),
                ("proc/cpuinfo", GUEST),
                ("proc/stat", OWN),
            ],
        ],
    },
    Case {
        code: "error-polling",
        appears: &[&[
            ("sys/devices/system/machinecheck/machinecheck0/check_interval", "300"),
            ("sys/devices/system/machinecheck/machinecheck0/ignore_ce", "0"),
        ]],
        absent: &[
            &[("sys/devices/system/machinecheck/machinecheck0/check_interval", "0")],
            &[
                ("sys/devices/system/machinecheck/machinecheck0/check_interval", "300"),
                ("sys/devices/system/machinecheck/machinecheck0/ignore_ce", "1"),
            ],
        ],
    },
    Case {
        code: "bus-frequency",
        appears: &[
            &[("sys/class/devfreq/3d400000.memory-controller/governor", "simple_ondemand")],
            &[("sys/class/devfreq/dmc/governor", "dmc_ondemand")],
            &[(
                "sys/bus/platform/drivers/imx_busfreq/busfreq/enable",
                "Bus frequency scaling is enabled",
            )],
        ],
        absent: &[
            &[("sys/class/devfreq/dmc/governor", "performance")],
            &[("sys/class/devfreq/fde60000.gpu/governor", "simple_ondemand")],
            &[(
                "sys/bus/platform/drivers/imx_busfreq/busfreq/enable",
                "Bus frequency scaling is disabled",
            )],
        ],
    },
    Case {
        code: "gpio-chips",
        appears: &[
            &[("sys/bus/gpio/devices/", "gpiochip0\ngpiochip1")],
            &[("sys/bus/gpio/devices/", "")],
        ],
        absent: &[&[("proc/cpuinfo", GUEST)]],
    },
];
