//! What was built into the kernel to find its own mistakes, and what guards it.

use crate::check::{Check, Observation};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::snapshot::made;

const TAINTED: &str = "proc/sys/kernel/tainted";
const VULNERABILITIES: &str = "sys/devices/system/cpu/vulnerabilities/*";

/// What is looked for.
pub const CHECKS: &[Check] = &[
    Check {
        code: "debug-locks",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        title: "the kernel checks its locks",
        why: "Each lock that is taken is looked up, and lengthens the stretches with interrupts or \
              preemption off.",
        cost: "several times the usual latency; hundreds of microseconds at times",
        remedy: Some("boot a kernel that is built without {value}"),
        undo: None,
        observe: debug_locks,
    },
    Check {
        code: "debug-memory",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        title: "the kernel checks its memory",
        why: "Memory is checked, filled or scanned with each access or each allocation.",
        cost: "the kernel runs at half its speed or less",
        remedy: Some("boot a kernel that is built without {value}"),
        undo: None,
        observe: debug_memory,
    },
    Check {
        code: "debug-preemption",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        title: "the kernel checks or times its own preemption",
        why: "Code runs with every access to data of a CPU, or whenever interrupts or preemption \
              are switched.",
        cost: "10 % of hackbench's speed with DEBUG_PREEMPT; less on an idle machine",
        remedy: Some("boot a kernel that is built without {value}"),
        undo: None,
        observe: debug_preemption,
    },
    Check {
        code: "debug-checks",
        severity: Severity::Info,
        topic: Topic::Kernel,
        title: "the kernel checks itself here and there",
        why: "Such checks lengthen every way through the kernel a little.",
        cost: "a few percent of the time in the kernel",
        remedy: Some("boot a kernel that is built without {value}, to know what it costs"),
        undo: None,
        observe: debug_checks,
    },
    Check {
        code: "tainted",
        severity: Severity::Info,
        topic: Topic::Kernel,
        title: "the kernel is tainted",
        why: "Something has happened to this kernel that its makers want to know before they look \
              into a fault.",
        cost: "nothing by itself; a foreign module may hold interrupts off as long as it likes",
        remedy: Some("boot anew without what tainted it"),
        undo: None,
        observe: tainted,
    },
    Check {
        code: "mitigations",
        severity: Severity::Info,
        topic: Topic::Kernel,
        title: "the kernel works around leaks of the processor",
        why: "The workarounds act with system calls, interrupts and changes of the thread, which \
              is what a wake-up is made of.",
        cost: "below a microsecond for each entry into the kernel; more with page table isolation",
        remedy: Some(
            "put mitigations=off on the command line, if nothing untrusted ever runs here",
        ),
        undo: Some("take mitigations=off off the kernel's command line"),
        observe: mitigations,
    },
    Check {
        code: "mitigations-off",
        severity: Severity::Info,
        topic: Topic::Kernel,
        title: "the leaks of the processor are left open",
        why: "Any program on this machine may read what belongs to others, and results are faster \
              than on a safe machine.",
        cost: "nothing in latency",
        remedy: Some("take {value} off the kernel's command line"),
        undo: Some("put {value} back on the kernel's command line"),
        observe: mitigations_off,
    },
    Check {
        code: "split-locks",
        severity: Severity::Info,
        topic: Topic::Kernel,
        title: "programs with split locks are slowed down on purpose",
        why: "A thread whose atomic access crosses a cache line is made to wait before it goes on.",
        cost: "at least a tick for each such access; nothing for programs without",
        remedy: Some("sysctl -w kernel.split_lock_mitigate=0"),
        undo: Some("sysctl -w kernel.split_lock_mitigate={value}"),
        observe: split_locks,
    },
];

/// Which of these options are built in, as the configuration writes them.
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

/// What the bits of the file mean, from the lowest on.
const TAINTS: &[(char, &str)] = &[
    ('P', "a proprietary module"),
    ('F', "a module loaded by force"),
    ('S', "hardware out of its specification"),
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
    ('X', "something of the distribution"),
    ('T', "a randomised layout"),
    ('N', "a test of the kernel"),
    ('J', "a debugging call to firmware"),
];
/// Those that say that something went wrong.
const TROUBLE: &[char] = &['M', 'B', 'D', 'W', 'L'];

fn tainted(facts: &Facts<'_>) -> Option<Observation> {
    let bits: u64 = facts.text(TAINTED)?.parse().ok().filter(|bits| *bits != 0)?;
    let set: Vec<&(char, &str)> =
        TAINTS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, t)| t).collect();
    let words: Vec<String> =
        set.iter().map(|(letter, word)| format!("{word} ({letter})")).collect();
    let text = match words.is_empty() {
        true => format!("The kernel is tainted for a reason that is not known here: {bits}."),
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
    let isolation = if pti.is_some() { ", page table isolation (PTI) among them" } else { "" };
    let text = format!("Mitigations are in force for {}{isolation}.", names(&found));
    Some(Observation::new(*path, *value, text))
}

fn mitigations_off(facts: &Facts<'_>) -> Option<Observation> {
    let word = facts.word("mitigations").filter(|word| word.ends_with("=off"))?;
    let open = vulnerabilities(facts, "Vulnerable");
    let text = match open.is_empty() {
        true => format!("The command line says {word}."),
        false => format!("The command line says {word}; open are {}.", names(&open)),
    };
    Some(Observation::new("proc/cmdline", word, text))
}

fn split_locks(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/kernel/split_lock_mitigate";
    let value = facts.number(file).filter(|value| *value != 0)?;
    let off = facts.parameter("split_lock_detect") == Some("off");
    let text = "A thread with a split lock is made to wait (split_lock_mitigate).";
    (!off).then(|| Observation::new(file, value.to_string(), text))
}
