//! What only a Raspberry Pi has.

use super::Case;

pub const CASES: &[Case] = &[
    Case {
        code: "firmware-throttles",
        appears: &[
            &[("sys/devices/platform/soc/soc:firmware/get_throttled", "50005")],
            &[("vcgencmd.get_throttled", "throttled=0x50005")],
            &[("vcgencmd.get_throttled", "throttled=0x8")],
        ],
        absent: &[
            &[("sys/devices/platform/soc/soc:firmware/get_throttled", "0")],
            &[("vcgencmd.get_throttled", "throttled=0x50000")],
            &[("vcgencmd.get_throttled", "VCHI initialization failed")],
        ],
    },
    Case {
        code: "firmware-has-throttled",
        appears: &[
            &[("sys/devices/platform/soc/soc:firmware/get_throttled", "50005")],
            &[("vcgencmd.get_throttled", "throttled=0xe0000")],
        ],
        absent: &[
            &[("vcgencmd.get_throttled", "throttled=0x0")],
            &[("vcgencmd.get_throttled", "throttled=0x4")],
        ],
    },
    Case {
        code: "low-voltage",
        appears: &[
            &[
                ("sys/class/hwmon/hwmon1/name", "rpi_volt"),
                ("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1"),
            ],
            &[
                ("sys/class/hwmon/hwmon1/name", "rpi_volt"),
                ("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1"),
                ("vcgencmd.get_throttled", "throttled=0x50000"),
            ],
        ],
        absent: &[
            &[("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "0")],
            &[
                ("sys/class/hwmon/hwmon1/name", "rpi_volt"),
                ("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1"),
                ("vcgencmd.get_throttled", "throttled=0x50005"),
            ],
        ],
    },
    Case {
        code: "usb-fast-interrupt",
        appears: &[&[
            ("sys/module/dwc_otg/parameters/fiq_enable", "Y"),
            ("sys/kernel/realtime", "1"),
        ]],
        absent: &[
            &[("sys/module/dwc_otg/parameters/fiq_enable", "N"), ("sys/kernel/realtime", "1")],
            &[("sys/module/dwc_otg/parameters/fiq_enable", "Y")],
        ],
    },
    Case {
        code: "board-clock",
        appears: &[
            &[("boot/firmware/config.txt", "[pi4]\narm_boost=1\n")],
            &[("boot/config.txt", "dtparam=audio=on\nover_voltage=6\n  arm_freq=2000")],
        ],
        absent: &[
            &[("boot/firmware/config.txt", "#arm_freq=2000\ndtparam=audio=on\n[all]")],
            &[("boot/firmware/config.txt", "force_turbo=0")],
        ],
    },
    Case {
        code: "narrow-kernel",
        appears: &[&[
            ("uname.machine", "armv7l"),
            ("proc/device-tree/compatible", "raspberrypi,3-model-b-plus\0brcm,bcm2837"),
        ]],
        absent: &[
            &[
                ("uname.machine", "aarch64"),
                ("proc/device-tree/compatible", "raspberrypi,3-model-b-plus\0brcm,bcm2837"),
            ],
            &[
                ("uname.machine", "armv6l"),
                ("proc/device-tree/compatible", "raspberrypi,model-zero-w\0brcm,bcm2835"),
            ],
        ],
    },
    Case {
        code: "usb-network",
        appears: &[&[("proc/device-tree/compatible", "raspberrypi,3-model-b-plus\0brcm,bcm2837")]],
        absent: &[
            &[("proc/device-tree/compatible", "raspberrypi,4-model-b\0brcm,bcm2711")],
            &[("proc/device-tree/compatible", "raspberrypi,5-model-b\0brcm,bcm2712")],
        ],
    },
];
