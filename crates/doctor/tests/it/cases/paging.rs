//! Background work of the kernel on pages.

use super::Case;

pub const CASES: &[Case] = &[
    Case {
        code: "huge-pages",
        appears: &[&[("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never")]],
        absent: &[
            &[("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")],
            &[("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]")],
        ],
    },
    Case {
        code: "huge-page-defrag",
        appears: &[&[
            (
                "sys/kernel/mm/transparent_hugepage/defrag",
                "[always] defer defer+madvise madvise never",
            ),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
        ]],
        absent: &[
            &[(
                "sys/kernel/mm/transparent_hugepage/defrag",
                "always defer defer+madvise [madvise] never",
            )],
            &[
                (
                    "sys/kernel/mm/transparent_hugepage/defrag",
                    "[always] defer defer+madvise madvise never",
                ),
                ("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]"),
            ],
        ],
    },
    Case {
        code: "khugepaged",
        appears: &[&[
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
            ("threads", "42\tother\t0\t1\t0-3\tkhugepaged"),
        ]],
        absent: &[
            &[
                ("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]"),
                ("threads", "42\tother\t0\t1\t0-3\tkhugepaged"),
            ],
            &[("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")],
            &[("threads", "42\tother\t0\t1\t0-3\tkhugepaged")],
        ],
    },
    Case {
        code: "ksm",
        appears: &[&[("sys/kernel/mm/ksm/run", "1")]],
        absent: &[&[("sys/kernel/mm/ksm/run", "0")], &[("sys/kernel/mm/ksm/run", "2")]],
    },
    Case {
        code: "compact-unevictable",
        appears: &[
            &[("proc/sys/vm/compact_unevictable_allowed", "1")],
            &[("proc/sys/vm/compact_unevictable_allowed", "1"), ("sys/kernel/realtime", "1")],
        ],
        absent: &[&[("proc/sys/vm/compact_unevictable_allowed", "0")]],
    },
    Case {
        code: "proactive-compaction",
        appears: &[&[("proc/sys/vm/compaction_proactiveness", "20")]],
        absent: &[&[("proc/sys/vm/compaction_proactiveness", "0")]],
    },
    Case {
        code: "page-generations",
        appears: &[&[("sys/kernel/mm/lru_gen/enabled", "0x0007")]],
        absent: &[&[("sys/kernel/mm/lru_gen/enabled", "0x0000")]],
    },
];
