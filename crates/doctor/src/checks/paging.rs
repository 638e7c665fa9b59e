//! Background work of the kernel on a program's pages.

use crate::check::{Check, Observation};
use crate::effect::{Effect, acts, ms, us};
use crate::facts::{Facts, selected};
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;

pub const CHECKS: &[Check] = &[
    Check {
        code: "huge-pages",
        severity: Severity::Warning,
        topic: Topic::Memory,
        effect: acts(us(10), ms(10)),
        title: "every program gets huge pages",
        why: "The first access to a huge page may have to find and clear 2 MiB instead of 4 KiB, \
              and a daemon rebuilds pages while programs run.",
        cost: "around 100 us for the first access, more if memory must be compacted first",
        remedy: Some("echo madvise | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: huge_pages,
    },
    Check {
        code: "huge-page-defrag",
        severity: Severity::Warning,
        topic: Topic::Memory,
        effect: acts(us(10), ms(10)),
        title: "programs compact memory to get a huge page",
        why: "A program that touches new memory waits while pages are moved and written out to \
              make room for a huge page.",
        cost: "up to milliseconds for a first access",
        remedy: Some("echo madvise | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: huge_page_defrag,
    },
    Check {
        code: "khugepaged",
        severity: Severity::Info,
        topic: Topic::Memory,
        effect: Effect::NONE,
        title: "a daemon merges pages into huge pages",
        why: "Accesses to the pages have to wait while the daemon merges them.",
        cost: "tens to hundreds of microseconds for each huge page, only where huge pages are used",
        remedy: Some("echo never | tee /sys/kernel/mm/transparent_hugepage/enabled"),
        undo: Some("echo {value} | tee /sys/kernel/mm/transparent_hugepage/enabled"),
        observe: khugepaged,
    },
    Check {
        code: "ksm",
        severity: Severity::Warning,
        topic: Topic::Memory,
        effect: acts(us(5), ms(5)),
        title: "identical pages are merged",
        why: "A daemon scans memory all the time, and the next write to a merged page is a page \
              fault that copies it.",
        cost: "a few microseconds for each such write, and the caches of the daemon's CPU",
        remedy: Some("echo 2 | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: ksm,
    },
    Check {
        code: "compact-unevictable",
        severity: Severity::Info,
        topic: Topic::Memory,
        effect: Effect::NONE,
        title: "locked pages may be moved",
        why: "Compaction also moves locked pages, and a thread that accesses a page being moved \
              waits in a page fault.",
        cost: "microseconds to tens of microseconds for each page, in spite of mlockall",
        remedy: Some("sysctl -w vm.compact_unevictable_allowed=0"),
        undo: Some("sysctl -w vm.compact_unevictable_allowed={value}"),
        observe: compact_unevictable,
    },
    Check {
        code: "proactive-compaction",
        severity: Severity::Info,
        topic: Topic::Memory,
        effect: Effect::NONE,
        title: "memory is compacted in advance",
        why: "The kernel checks twice a second whether to compact memory, and its documentation \
              warns of latency spikes.",
        cost: "microseconds to tens of microseconds for each access to a page being moved",
        remedy: Some("sysctl -w vm.compaction_proactiveness=0"),
        undo: Some("sysctl -w vm.compaction_proactiveness={value}"),
        observe: proactive_compaction,
    },
    Check {
        code: "page-generations",
        severity: Severity::Info,
        topic: Topic::Memory,
        effect: Effect::NONE,
        title: "the kernel scans page tables for old pages",
        why: "When memory is short, the kernel clears the accessed bits of whole page tables, and \
              the processor has to set them again.",
        cost: "none while memory is plentiful",
        remedy: Some("echo n | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: page_generations,
    },
];

const ENABLED: &str = "sys/kernel/mm/transparent_hugepage/enabled";

fn huge_pages(facts: &Facts<'_>) -> Option<Observation> {
    let choice = selected(facts.text(ENABLED)?).filter(|choice| *choice == "always")?;
    Some(Observation::new(ENABLED, choice, "Transparent huge pages are set to 'always'."))
}

fn huge_page_defrag(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/kernel/mm/transparent_hugepage/defrag";
    let choice = selected(facts.text(file)?).filter(|choice| *choice == "always")?;
    if facts.text(ENABLED).and_then(selected) == Some("never") {
        return None;
    }
    Some(Observation::new(file, choice, "The defragmentation of huge pages is set to 'always'."))
}

fn khugepaged(facts: &Facts<'_>) -> Option<Observation> {
    let choice = selected(facts.text(ENABLED)?).filter(|choice| *choice != "never")?;
    let thread = facts.threads().find(|thread| thread.name == "khugepaged")?;
    let text =
        format!("khugepaged (thread {}) runs, and huge pages are set to '{choice}'.", thread.id);
    Some(Observation::new(ENABLED, choice, text))
}

fn ksm(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/kernel/mm/ksm/run";
    let run = facts.text(file).filter(|run| *run == "1")?;
    Some(Observation::new(file, run, "Merging of identical pages (KSM) is on."))
}

fn compact_unevictable(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/vm/compact_unevictable_allowed";
    let value = facts.number(file).filter(|value| *value != 0)?;
    let seen = Observation::new(file, value.to_string(), "Compaction may move locked pages.");
    // For real-time kernels, the default is 0.
    Some(if facts.is_realtime() { seen.with_severity(Severity::Warning) } else { seen })
}

fn proactive_compaction(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/vm/compaction_proactiveness";
    let value = facts.number(file).filter(|value| *value > 0)?;
    let text = format!("Proactive compaction is on, at {value} of 100.");
    Some(Observation::new(file, value.to_string(), text))
}

fn page_generations(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/kernel/mm/lru_gen/enabled";
    let value = facts.text(file)?;
    let parts = u32::from_str_radix(value.trim_start_matches("0x"), 16).ok()?;
    let text = format!("The multi-generational LRU is on ({value}).");
    (parts != 0).then(|| Observation::new(file, value, text))
}
