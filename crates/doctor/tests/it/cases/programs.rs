//! Programs that disturb measurements.

use super::Case;

const ISOLATED: (&str, &str) = ("sys/devices/system/cpu/isolated", "2-3");

pub const CASES: &[Case] = &[
    Case {
        code: "irqbalance",
        appears: &[
            &[("threads", "412\tother\t0\t1\t0-3\tirqbalance")],
            &[("threads", "412\tother\t0\t1\t0-1\tirqbalance"), ISOLATED],
        ],
        absent: &[&[("threads", "17\tfifo\t99\t0\t0\tmigration/0"), ISOLATED]],
    },
    Case {
        code: "tuning-daemons",
        appears: &[&[(
            "threads",
            "700\tother\t0\t1\t0-3\ttuned\n702\tother\t0\t1\t0-3\tpower-profiles-",
        )]],
        absent: &[&[("threads", "412\tother\t0\t1\t0-3\tirqbalance")]],
    },
    Case {
        code: "higher-realtime-threads",
        appears: &[
            &[("threads", "301\trr\t99\t2\t0-3\tmultipathd")],
            &[("threads", "1502\tdeadline\t0\t2\t0-3\tcontrol")],
        ],
        absent: &[&[(
            "threads",
            "17\tfifo\t99\t0\t0\tmigration/0\n60\tfifo\t50\t2\t0-1\tirq/24-dwc_otg\n\
             61\tdeadline\t0\t0\t0-3\tsugov:0\n80\tfifo\t90\t1\t1\tmixer\n\
             81\tfifo\t99\t1\t0-3\twatchdogd\n95\tfifo\t95\t0\t0\ttimerlat/0\ngarbage",
        )]],
    },
    Case {
        code: "realtime-kit",
        appears: &[&[("threads", "950\tother\t0\t1\t0-3\trtkit-daemon")]],
        absent: &[&[("threads", "951\tother\t0\t1\t0-3\tsnapd")]],
    },
    Case {
        code: "background-work",
        appears: &[&[(
            "threads",
            "951\tother\t0\t1\t0-3\tsnapd\n960\tother\t0\t1\t0-3\tunattended-upgr",
        )]],
        absent: &[&[("threads", "950\tother\t0\t1\t0-3\trtkit-daemon")]],
    },
];
