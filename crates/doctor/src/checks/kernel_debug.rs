//! Debugging options, hardening, and mitigations of the kernel.

use crate::check::{Check, Observation};
use crate::effect::{Effect, acts, ms, us};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::snapshot::made;

const TAINTED: &str = "proc/sys/kernel/tainted";
const VULNERABILITIES: &str = "sys/devices/system/cpu/vulnerabilities/*";

pub const CHECKS: &[Check] = &[
    Check {
        code: "debug-locks",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(2), ms(10)),
        title: "the kernel checks its locks",
        why: "The kernel checks each lock that it takes, which lengthens the sections with \
              interrupts or preemption off.",
        cost: "several times the usual latency; at times hundreds of microseconds",
        remedy: Some("boot a kernel built without {value}"),
        undo: None,
        observe: debug_locks,
    },
    Check {
        code: "debug-memory",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(2), ms(10)),
        title: "the kernel checks its memory accesses",
        why: "The kernel checks, fills or scans memory at each access or each allocation.",
        cost: "the kernel runs at half its speed or less",
        remedy: Some("boot a kernel built without {value}"),
        undo: None,
        observe: debug_memory,
    },
    Check {
        code: "debug-preemption",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(1), ms(1)),
        title: "the kernel checks or times its preemption",
        why: "Extra code runs at every access to per-CPU data, or whenever interrupts or \
              preemption are switched.",
        cost: "10 % of hackbench's speed with DEBUG_PREEMPT; less on an idle machine",
        remedy: Some("boot a kernel built without {value}"),
        undo: None,
        observe: debug_preemption,
    },
    Check {
        code: "debug-checks",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "the kernel has other debugging checks",
        why: "These checks lengthen many paths through the kernel a little.",
        cost: "a few percent of the time in the kernel",
        remedy: Some("boot a kernel built without {value} to measure the difference"),
        undo: None,
        observe: debug_checks,
    },
    Check {
        code: "tainted",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "the kernel is tainted",
        why: "A tainted kernel has met an error, or runs code that its developers do not support.",
        cost: "none by itself; an external module may keep interrupts off for any time",
        remedy: Some("reboot without the cause of the taint"),
        undo: None,
        observe: tainted,
    },
    Check {
        code: "mitigations",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE.protecting("programs may then read memory that is not theirs"),
        title: "mitigations of processor vulnerabilities are active",
        why: "Mitigations run at system calls, interrupts and context switches, and a wake-up \
              consists of these.",
        cost: "less than a microsecond for each entry into the kernel; more with page table \
               isolation",
        remedy: Some(
            "add mitigations=off to the kernel command line, if no untrusted code ever runs here",
        ),
        undo: Some("remove mitigations=off from the kernel command line"),
        observe: mitigations,
    },
    Check {
        code: "mitigations-off",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "mitigations of processor vulnerabilities are off",
        why: "Any program on this machine may read the data of others, and results are better \
              than on a protected machine.",
        cost: "no latency",
        remedy: Some("remove {value} from the kernel command line"),
        undo: Some("add {value} to the kernel command line again"),
        observe: mitigations_off,
    },
    Check {
        code: "split-locks",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "programs with split locks are slowed down",
        why: "The kernel delays a thread whose atomic access crosses a cache line.",
        cost: "at least a tick for each such access; none for other programs",
        remedy: Some("sysctl -w kernel.split_lock_mitigate=0"),
        undo: Some("sysctl -w kernel.split_lock_mitigate={value}"),
        observe: split_locks,
    },
];

/// Those of the options that are built in, as written in the configuration.
fn built_in(facts: &Facts<'_>, options: &[&str]) -> Option<String> {
    let found: Vec<String> = options
        .iter()
        .filter(|option| facts.has_option(option))
        .map(|option| format!("CONFIG_{option}=y"))
        .collect();
    (!found.is_empty()).then(|| found.join(" "))
}

fn with_options(facts: &Facts<'_>, options: &[&str]) -> Option<Observation> {
    let found = built_in(facts, options)?;
    let text = format!("The kernel was built with {found}.");
    Some(Observation::new(made::KERNEL_CONFIG, found, text))
}

fn debug_locks(facts: &Facts<'_>) -> Option<Observation> {
    let options = ["PROVE_LOCKING", "LOCKDEP", "DEBUG_LOCK_ALLOC", "LOCK_STAT", "PROVE_RCU"];
    with_options(facts, &options)
}

fn debug_memory(facts: &Facts<'_>) -> Option<Observation> {
    let always = [
        "KASAN_GENERIC",
        "KASAN_SW_TAGS",
        "KCSAN",
        "KMSAN",
        "DEBUG_OBJECTS",
        "SLUB_DEBUG_ON",
        "DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    ];
    let mut options = always.to_vec();
    if !facts.has_option("DEBUG_KMEMLEAK_DEFAULT_OFF") {
        options.push("DEBUG_KMEMLEAK");
    }
    with_options(facts, &options)
}

fn debug_preemption(facts: &Facts<'_>) -> Option<Observation> {
    with_options(facts, &["DEBUG_PREEMPT", "PREEMPT_TRACER", "IRQSOFF_TRACER"])
}

fn debug_checks(facts: &Facts<'_>) -> Option<Observation> {
    let options = [
        "DEBUG_SPINLOCK",
        "DEBUG_MUTEXES",
        "DEBUG_RT_MUTEXES",
        "DEBUG_RWSEMS",
        "DEBUG_ATOMIC_SLEEP",
        "DEBUG_IRQFLAGS",
        "DEBUG_PAGEALLOC",
        "DEBUG_VM",
        "PAGE_OWNER",
        "UBSAN",
        "FAULT_INJECTION",
        "SCHEDSTATS_DEFAULT",
    ];
    with_options(facts, &options)
}

/// Meaning of the bits of the file, from the lowest.
const TAINTS: &[(char, &str)] = &[
    ('P', "a proprietary module"),
    ('F', "a module loaded by force"),
    ('S', "hardware outside its specification"),
    ('R', "a module removed by force"),
    ('M', "a machine check"),
    ('B', "a bad page"),
    ('U', "a request from user space"),
    ('D', "an oops"),
    ('A', "an overridden ACPI table"),
    ('W', "a warning"),
    ('C', "a staging driver"),
    ('I', "a workaround for firmware"),
    ('O', "a module from outside the tree"),
    ('E', "an unsigned module"),
    ('L', "a soft lockup"),
    ('K', "a live patch"),
    ('X', "a reason of the distribution"),
    ('T', "a randomised structure layout"),
    ('N', "a kernel test"),
    ('J', "a debugging call to the firmware"),
];
/// Flags that mean that something went wrong.
const TROUBLE: &[char] = &['M', 'B', 'D', 'W', 'L'];

fn tainted(facts: &Facts<'_>) -> Option<Observation> {
    let bits: u64 = facts.text(TAINTED)?.parse().ok().filter(|bits| *bits != 0)?;
    let set: Vec<&(char, &str)> =
        TAINTS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, t)| t).collect();
    let words: Vec<String> =
        set.iter().map(|(letter, word)| format!("{word} ({letter})")).collect();
    let text = match words.is_empty() {
        true => format!("The kernel is tainted for an unknown reason: {bits}."),
        false => format!("The kernel is tainted by {}.", words.join(", ")),
    };
    let seen = Observation::new(TAINTED, bits.to_string(), text);
    let trouble = set.iter().any(|(letter, _)| TROUBLE.contains(letter));
    Some(if trouble { seen.with_severity(Severity::Warning) } else { seen })
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Vulnerabilities whose file begins with this word.
fn vulnerabilities<'a>(facts: &Facts<'a>, word: &str) -> Vec<(&'a str, &'a str)> {
    let mut found = facts.snapshot.matching(VULNERABILITIES);
    found.retain(|(_, text)| text.starts_with(word));
    found
}

fn names(found: &[(&str, &str)]) -> String {
    found.iter().map(|(path, _)| name_of(path)).collect::<Vec<_>>().join(", ")
}

fn mitigations(facts: &Facts<'_>) -> Option<Observation> {
    let found = vulnerabilities(facts, "Mitigation");
    let pti = found.iter().find(|(path, text)| name_of(path) == "meltdown" && text.contains("PTI"));
    let (path, value) = pti.or(found.first())?;
    let isolation = if pti.is_some() { ", including page table isolation (PTI)" } else { "" };
    let text = format!("Mitigations are active for {}{isolation}.", names(&found));
    Some(Observation::new(*path, *value, text))
}

fn mitigations_off(facts: &Facts<'_>) -> Option<Observation> {
    let word = facts.word("mitigations").filter(|word| word.ends_with("=off"))?;
    let open = vulnerabilities(facts, "Vulnerable");
    let text = match open.is_empty() {
        true => format!("The command line has {word}."),
        false => format!("The command line has {word}; vulnerable: {}.", names(&open)),
    };
    Some(Observation::new("proc/cmdline", word, text))
}

fn split_locks(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/kernel/split_lock_mitigate";
    let value = facts.number(file).filter(|value| *value != 0)?;
    let off = facts.parameter("split_lock_detect") == Some("off");
    let text = "The kernel delays threads with split locks (split_lock_mitigate).";
    (!off).then(|| Observation::new(file, value.to_string(), text))
}
