//! Interrupts and their threads.

use super::Case;

/// A PC whose network card interrupts CPU 3.
const PC: &str = "           CPU0       CPU1       CPU2       CPU3
   8:          0          0          0          0  IR-IO-APIC   8-edge      rtc0
 125:     100200          0          0     720000  IR-PCI-MSI 520192-edge      enp0s31f6
 LOC:    9000000    9000000    9000000    9000000   Local timer interrupts
 ERR:          0
 MIS:          0";

/// The same with a quiet card.
const QUIET: &str = "           CPU0       CPU1       CPU2       CPU3
   8:          0          0          0          0  IR-IO-APIC   8-edge      rtc0
 125:     100200          0          0        300  IR-PCI-MSI 520192-edge      enp0s31f6
 LOC:    9000000    9000000    9000000    9000000   Local timer interrupts
 ERR:          0
 MIS:          0";

/// The same with interrupts that were missed.
const MISSED: &str = "           CPU0       CPU1       CPU2       CPU3
   8:          0          0          0          0  IR-IO-APIC   8-edge      rtc0
 125:     100200          0          0     720000  IR-PCI-MSI 520192-edge      enp0s31f6
 LOC:    9000000    9000000    9000000    9000000   Local timer interrupts
 ERR:          0
 MIS:          3";

/// A Raspberry Pi 3 whose USB controller interrupts 8000 times a second.
const STORM: &str = "           CPU0       CPU1       CPU2       CPU3
 56:   28800000          0          0          0  ARMCTRL-level  64 Edge      dwc_otg, \
      dwc_otg_pcd, dwc_otg_hcd:usb1
 80:      41146          0          0          0  ARMCTRL-level  88 Edge      mmc0
161:          0          0          0          0  bcm2836-timer   0 Edge      arch_timer
162:   10963772    6378711   16583353    6406625  bcm2836-timer   1 Edge      arch_timer
FIQ:              usb_fiq
IPI0:          0          0          0          0  CPU wakeup interrupts
Err:          0";

/// The same with fast interrupts (FIQ) that filter them.
const CALM: &str = "           CPU0       CPU1       CPU2       CPU3
 56:     180000          0          0          0  ARMCTRL-level  64 Edge      dwc_otg, \
      dwc_otg_pcd, dwc_otg_hcd:usb1
 80:      41146          0          0          0  ARMCTRL-level  88 Edge      mmc0
161:          0          0          0          0  bcm2836-timer   0 Edge      arch_timer
162:   10963772    6378711   16583353    6406625  bcm2836-timer   1 Edge      arch_timer
FIQ:              usb_fiq
IPI0:          0          0          0          0  CPU wakeup interrupts
Err:          0";

/// The same with spurious interrupts.
const SPURIOUS: &str = "           CPU0       CPU1       CPU2       CPU3
 56:        100          0          0          0  ARMCTRL-level  64 Edge      dwc_otg, \
      dwc_otg_pcd, dwc_otg_hcd:usb1
 80:      41146          0          0          0  ARMCTRL-level  88 Edge      mmc0
161:          0          0          0          0  bcm2836-timer   0 Edge      arch_timer
162:   10963772    6378711   16583353    6406625  bcm2836-timer   1 Edge      arch_timer
FIQ:              usb_fiq
IPI0:          0          0          0          0  CPU wakeup interrupts
Err:          7";

pub const CASES: &[Case] = &[
    Case {
        code: "isolated-interrupts",
        appears: &[
            &[
                ("proc/interrupts", PC),
                ("proc/uptime", "3600.25 12000.10"),
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "3"),
                ("proc/irq/125/smp_affinity_list", "3"),
            ],
            &[
                ("proc/interrupts", PC),
                ("proc/uptime", "3600.25 12000.10"),
                ("sys/devices/system/cpu/isolated", "3"),
            ],
        ],
        absent: &[
            &[
                ("proc/interrupts", QUIET),
                ("proc/uptime", "3600.25 12000.10"),
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "3"),
            ],
            &[
                ("proc/interrupts", PC),
                ("proc/uptime", "3600.25 12000.10"),
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "2"),
            ],
            &[("proc/interrupts", PC), ("sys/devices/system/cpu/isolated", "3")],
            &[
                ("proc/interrupts", CALM),
                ("proc/uptime", "3600.25 12000.10"),
                ("sys/devices/system/cpu/isolated", "3"),
            ],
        ],
    },
    Case {
        code: "interrupt-affinity",
        appears: &[
            &[
                ("proc/interrupts", PC),
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "3"),
                ("proc/irq/125/smp_affinity_list", "0-3"),
            ],
            &[
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "3"),
                ("proc/irq/125/smp_affinity_list", "0-3"),
            ],
            &[
                ("proc/interrupts", PC),
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "3"),
                ("proc/irq/125/smp_affinity_list", "3"),
            ],
        ],
        absent: &[
            &[
                ("proc/interrupts", PC),
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "3"),
                ("proc/irq/125/smp_affinity_list", "0-2"),
                ("proc/irq/9/smp_affinity_list", "0-3"),
            ],
            &[
                ("proc/interrupts", PC),
                ("sys/devices/system/cpu/online", "0-3"),
                ("proc/irq/125/smp_affinity_list", "0-3"),
            ],
        ],
    },
    Case {
        code: "default-affinity",
        appears: &[&[
            ("sys/devices/system/cpu/online", "0-3"),
            ("sys/devices/system/cpu/isolated", "3"),
            ("proc/irq/default_smp_affinity", "f"),
        ]],
        absent: &[
            &[
                ("sys/devices/system/cpu/online", "0-3"),
                ("sys/devices/system/cpu/isolated", "3"),
                ("proc/irq/default_smp_affinity", "7"),
            ],
            &[("sys/devices/system/cpu/online", "0-3"), ("proc/irq/default_smp_affinity", "f")],
        ],
    },
    Case {
        code: "one-interrupt-cpu",
        appears: &[&[("proc/interrupts", CALM)]],
        absent: &[
            &[("proc/interrupts", PC)],
            &[("proc/interrupts", "           CPU0\n 56:   360296  GICv2 64 Edge  mmc0")],
        ],
    },
    Case {
        code: "interrupt-threads",
        appears: &[
            &[("threads", "91\tfifo\t95\t0\t0-3\tirq/125-enp0s31f6")],
            &[("threads", "91\tfifo\t40\t0\t0-3\tirq/125-enp0s31f6")],
        ],
        absent: &[
            &[("threads", "91\tfifo\t50\t0\t0-3\tirq/125-enp0s31f6")],
            &[("threads", "91\tfifo\t80\t0\t0-3\tirq/125-enp0s31f6")],
            &[("threads", "91\tfifo\t95\t0\t0-3\tjackd")],
        ],
    },
    Case {
        code: "usb-interrupts",
        appears: &[
            &[("proc/interrupts", STORM), ("proc/uptime", "3600.25 12000.10")],
            &[
                ("proc/interrupts", STORM),
                ("proc/uptime", "3600.25 12000.10"),
                ("threads", "149\tfifo\t50\t0\t0-3\tirq/56-dwc_otg"),
            ],
        ],
        absent: &[
            &[("proc/interrupts", CALM), ("proc/uptime", "3600.25 12000.10")],
            &[("proc/interrupts", STORM)],
        ],
    },
    Case {
        code: "interrupt-errors",
        appears: &[&[("proc/interrupts", SPURIOUS)], &[("proc/interrupts", MISSED)]],
        absent: &[&[("proc/interrupts", PC)], &[("proc/interrupts", CALM)]],
    },
    Case {
        code: "softirq-threads",
        appears: &[&[(
            "threads",
            "17\tfifo\t60\t0\t0\tktimers/0\n16\tfifo\t70\t0\t0\tksoftirqd/0",
        )]],
        absent: &[
            &[("threads", "17\tfifo\t1\t0\t0\tktimers/0")],
            &[("threads", "17\tfifo\t60\t0\t0\trcuc/0")],
        ],
    },
    Case {
        code: "interrupt-coalescing",
        appears: &[
            &[("ethtool.coalescing", "eth0\tstmmac\t0\toff\neth1\tmlx5_core\t8\ton")],
            &[("ethtool.coalescing", "eth0\tigc\t3\toff")],
        ],
        absent: &[
            &[("ethtool.coalescing", "eth0\tvirtio_net\t0\toff")],
            &[("ethtool.coalescing", "eth0\tigc")],
        ],
    },
];
