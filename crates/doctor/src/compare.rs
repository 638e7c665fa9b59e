//! Differences between two machines, or between two times on one machine.

use crate::comparison::{Comparison, FactChange, FindingChange, SettingChange};
use crate::{config, examine, machine};
use latlab_model::doctor::Diagnosis;
use latlab_model::guest::MARK;
use latlab_model::machine::{FACTS, FactValue, Machine, MachineFact};
use latlab_model::snapshot::{Content, SETTINGS, made, matches_pattern};
use latlab_model::{CpuSet, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// The compared facts of a machine, by name.
fn compared() -> impl Iterator<Item = (&'static str, impl Fn(&Machine) -> Option<String>)> {
    let text = |fact: &'static MachineFact| {
        move |machine: &Machine| match (fact.value)(machine)? {
            FactValue::Text(text) => Some(text),
            FactValue::Bytes(bytes) => Some(bytes.to_string()),
            FactValue::Hertz(rate) => Some(rate.to_string()),
            FactValue::RealtimeLimit(limit) => Some(limit.to_string()),
        }
    };
    FACTS.iter().filter(|fact| fact.is_compared).map(move |fact| (fact.id, text(fact)))
}

/// Settings already covered by facts and options.
const TOLD_ELSEWHERE: &[&str] = &[
    made::KERNEL_CONFIG,
    made::MACHINE,
    MARK,
    "etc/os-release",
    "proc/cmdline",
    "proc/device-tree/model",
    "proc/sys/kernel/arch",
    "proc/sys/kernel/hostname",
    "proc/sys/kernel/osrelease",
    "proc/sys/kernel/version",
    "proc/version",
    "sys/class/dmi/id/product_name",
    "sys/devices/system/clocksource/clocksource0/current_clocksource",
    "sys/devices/system/cpu/isolated",
    "sys/devices/system/cpu/nohz_full",
    "sys/devices/system/cpu/online",
    "sys/kernel/realtime",
];

/// Settings that change by themselves, or only show where latlab was started.
const ALWAYS_DIFFERENT: &[&str] = &[
    "proc/self/cgroup",
    "proc/sys/kernel/ns_last_pid",
    "proc/sys/kernel/perf_event_max_sample_rate",
];

/// Files that hold a list of words.
const WORDS: &[&str] = &[
    "sys/devices/system/clocksource/clocksource0/available_clocksource",
    "sys/devices/system/cpu/cpu*/cpufreq/scaling_available_governors",
    "sys/fs/cgroup/cgroup.controllers",
    "sys/fs/cgroup/cgroup.subtree_control",
    "sys/kernel/debug/tracing/available_tracers",
    "sys/kernel/tracing/available_tracers",
];

/// Changes between two snapshots with these names.
pub fn compare(before: (&str, &Snapshot), after: (&str, &Snapshot)) -> Comparison {
    let ((before_name, before), (after_name, after)) = (before, after);
    let (said, says) = (examine(before), examine(after));
    let (settings, not_compared) = settings(before, after);
    Comparison {
        before: before_name.to_string(),
        after: after_name.to_string(),
        machine: facts(&machine(before), &machine(after)),
        appeared: only_in(&says, &said),
        gone: only_in(&said, &says),
        weighed: with_weight(&said, says),
        settings,
        config: config::changes(before, after),
        conditions: Vec::new(),
        not_compared,
    }
}

fn facts(before: &Machine, after: &Machine) -> Vec<FactChange> {
    let changes = compared().filter_map(|(what, fact)| {
        let (before, after) = (fact(before), fact(after));
        if before == after || what == "memory_bytes" && is_about_the_same(&before, &after) {
            return None;
        }
        let (before, after) = match what {
            "command_line" => list_difference(before, after, ' ').sides,
            _ => (before, after),
        };
        Some(FactChange { what: what.to_string(), before, after })
    });
    changes.collect()
}

/// The facts in which the machines of two sides differ, with all values on each side.
pub fn compare_machines(before: &[Machine], after: &[Machine]) -> Vec<FactChange> {
    let changes = compared().filter_map(|(what, fact)| {
        let values =
            |side: &[Machine]| side.iter().map(&fact).collect::<BTreeSet<Option<String>>>();
        let (before, after) = (values(before), values(after));
        let one = |side: &BTreeSet<Option<String>>| side.first().cloned().flatten();
        let few = before.len() == 1 && after.len() == 1;
        if before == after
            || what == "memory_bytes" && few && is_about_the_same(&one(&before), &one(&after))
        {
            return None;
        }
        let (before, after) = match what {
            "command_line" if few => list_difference(one(&before), one(&after), ' ').sides,
            _ => (join_values(before), join_values(after)),
        };
        Some(FactChange { what: what.to_string(), before, after })
    });
    changes.collect()
}

/// All values of a side.
fn join_values(values: BTreeSet<Option<String>>) -> Option<String> {
    let known: Vec<String> = values.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(" or "))
}

/// A kernel reserves a slightly different amount of memory each time.
fn is_about_the_same(before: &Option<String>, after: &Option<String>) -> bool {
    let bytes = |text: &Option<String>| text.as_ref()?.parse::<u64>().ok();
    let sizes = bytes(before).zip(bytes(after));
    sizes.is_some_and(|(before, after)| before.abs_diff(after) <= before / 64)
}

fn non_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}

/// The findings whose code the others do not have.
fn only_in(findings: &[Diagnosis], others: &[Diagnosis]) -> Vec<Diagnosis> {
    let codes: BTreeSet<&str> = others.iter().map(|other| other.code.as_str()).collect();
    findings.iter().filter(|finding| !codes.contains(finding.code.as_str())).cloned().collect()
}

fn with_weight(said: &[Diagnosis], says: Vec<Diagnosis>) -> Vec<FindingChange> {
    let changed = says.into_iter().filter_map(|now| {
        let before = said.iter().find(|before| before.code == now.code)?.severity;
        (before != now.severity).then_some(FindingChange { before, now })
    });
    changed.collect()
}

/// What only one of two values has.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ListDifference {
    sides: (Option<String>, Option<String>),
    /// Whether they have more in common.
    partly: bool,
}

/// The settings that differ, equal changes merged, and those that cannot be compared.
fn settings(before: &Snapshot, after: &Snapshot) -> (Vec<SettingChange>, Vec<String>) {
    let mut changes: BTreeMap<(String, ListDifference), BTreeSet<u32>> = BTreeMap::new();
    let mut not_compared = BTreeSet::new();
    let paths: BTreeSet<&String> = before.files.keys().chain(after.files.keys()).collect();
    for path in paths.into_iter().filter(|path| is_compared(path)) {
        let (file, number) = without_number(path);
        let both = [before.files.get(path), after.files.get(path)];
        if both.iter().any(|one| matches!(one, Some(Content::Unreadable { .. }))) {
            not_compared.insert(file);
            continue;
        }
        let [before, after] = both.map(|one| match one {
            Some(Content::Text(text)) => Some(text.clone()),
            _ => None,
        });
        if before != after {
            let separator =
                if WORDS.iter().any(|words| matches_pattern(words, path)) { ' ' } else { '\n' };
            let apart = list_difference(before, after, separator);
            changes.entry((file, apart)).or_default().extend(number);
        }
    }
    let changes = changes.into_iter().map(|((file, ListDifference { sides, partly }), numbers)| {
        let of = non_empty(&numbers.into_iter().collect::<CpuSet>().to_string());
        let (before, after) = sides;
        SettingChange { file, of, before, after, partly }
    });
    (changes.collect(), not_compared.into_iter().collect())
}

fn is_compared(path: &str) -> bool {
    let left_out = TOLD_ELSEWHERE.iter().chain(ALWAYS_DIFFERENT);
    SETTINGS.iter().any(|pattern| matches_pattern(pattern, path))
        && !left_out.into_iter().any(|p| *p == path)
}

/// A path without the number of its CPU or interrupt, and that number.
fn without_number(path: &str) -> (String, Option<u32>) {
    let mut number = None;
    let mut folder = "";
    let mut names = Vec::new();
    for name in path.split('/') {
        let (head, digits) = match name.strip_prefix("cpu") {
            Some(digits) => ("cpu", digits),
            None if folder == "irq" => ("", name),
            None => ("", ""),
        };
        match digits.parse().ok().filter(|_| number.is_none()) {
            Some(found) => {
                number = Some(found);
                names.push(format!("{head}*"));
            }
            None => names.push(name.to_string()),
        }
        folder = name;
    }
    (names.join("/"), number)
}

/// For two lists of words, or multi-line texts: what only one of them has.
fn list_difference(
    before: Option<String>,
    after: Option<String>,
    separator: char,
) -> ListDifference {
    let own = |text: &str, other: &str| {
        let others: Vec<&str> = other.split(separator).map(str::trim).collect();
        let own = text.split(separator).map(str::trim);
        let own: Vec<&str> = own.filter(|part| !others.contains(part)).collect();
        non_empty(&own.join(&separator.to_string()))
    };
    if let (Some(was), Some(is)) = (&before, &after)
        && (was.contains(separator) || is.contains(separator))
    {
        let sides = (own(was, is), own(is, was));
        // Otherwise they have the same parts in a different order.
        if sides != (None, None) {
            return ListDifference { sides, partly: true };
        }
    }
    ListDifference { sides: (before, after), partly: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::run::Severity;

    fn plant(files: &[(&str, &str)]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (path, text) in files {
            let text = Content::Text(text.to_string());
            snapshot.files.insert(path.to_string(), text);
        }
        snapshot
    }

    fn compare_files(before: &[(&str, &str)], after: &[(&str, &str)]) -> Comparison {
        compare(("a", &plant(before)), ("b", &plant(after)))
    }

    fn change_text(change: &SettingChange) -> String {
        let SettingChange { file, of, before, after, .. } = change;
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_string());
        format!("{file} {} {} -> {}", text(of), text(before), text(after))
    }

    /// Invariant (doctor): Two snapshots of one machine do not differ.
    #[test]
    fn a_machine_differs_from_itself_in_nothing() {
        let files = [
            ("proc/cmdline", "quiet"),
            ("kernel.config", "CONFIG_HZ=250"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil"),
        ];
        let found = compare_files(&files, &files);
        assert!(found.is_empty() && !found.has_at_least(Severity::Info), "{found:?}");
        assert_eq!((found.before.as_str(), found.after.as_str()), ("a", "b"));
    }

    #[test]
    fn values_of_cpus_and_interrupts_that_change_alike_are_one_change() {
        let governor =
            |cpu: u32| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        let names: Vec<String> = (0..4).map(governor).collect();
        let files = |values: [&'static str; 4]| {
            names.iter().map(String::as_str).zip(values).collect::<Vec<_>>()
        };
        let mut before = files(["powersave", "powersave", "powersave", "performance"]);
        let mut after = files(["performance", "performance", "schedutil", "performance"]);
        before.extend([
            ("proc/irq/24/smp_affinity_list", "0"),
            ("proc/irq/31/smp_affinity_list", "0"),
        ]);
        after.extend([
            ("proc/irq/24/smp_affinity_list", "3"),
            ("proc/irq/31/smp_affinity_list", "3"),
        ]);
        let found = compare_files(&before, &after);
        let file = "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
        let lines: Vec<String> = found.settings.iter().map(change_text).collect();
        assert_eq!(
            lines,
            [
                "proc/irq/*/smp_affinity_list 24,31 0 -> 3".to_string(),
                format!("{file} 0-1 powersave -> performance"),
                format!("{file} 2 powersave -> schedutil"),
            ]
        );
        assert_eq!(found.machine, [], "the governor is reported once");
    }

    /// Invariant (doctor): Two snapshots of one machine do not differ.
    #[test]
    fn what_differs_at_each_start_is_left_out() {
        let before = [
            ("proc/sys/kernel/ns_last_pid", "100"),
            ("proc/sys/kernel/random/boot_id", "one"),
            ("proc/self/cgroup", "0::/session-1.scope"),
            ("proc/uptime", "5"),
            ("proc/meminfo", "MemTotal: 3884312 kB"),
        ];
        let after = before.map(|(path, _)| match path {
            "proc/meminfo" => (path, "MemTotal: 3884352 kB"),
            path => (path, "other"),
        });
        assert!(compare_files(&before, &after).is_empty());
    }

    #[test]
    fn of_words_and_lines_only_those_that_differ_are_named() {
        let found = compare_files(
            &[("proc/cmdline", "quiet ro isolcpus=2"), ("proc/self/limits", "a 1\nb 2\nc 3")],
            &[("proc/cmdline", "ro isolcpus=3"), ("proc/self/limits", "a 1\nb 4\nc 3\nd 5")],
        );
        let line = &found.machine[0];
        assert_eq!(line.what, "command_line");
        assert_eq!(line.before.as_deref(), Some("quiet isolcpus=2"));
        assert_eq!(line.after.as_deref(), Some("isolcpus=3"));
        assert_eq!(change_text(&found.settings[0]), "proc/self/limits none b 2 -> b 4\nd 5");
        let turned = compare_files(&[("proc/cmdline", "a b")], &[("proc/cmdline", "b a")]);
        assert_eq!(turned.machine[0].after.as_deref(), Some("b a"), "the last one counts");
    }

    #[test]
    fn facts_of_two_sides_have_all_their_values() {
        let machine = |kernel: &str, board: Option<&str>| Machine {
            kernel: kernel.into(),
            board: board.map(str::to_string),
            ..Machine::default()
        };
        let (old, new, newer) =
            (machine("6.1", Some("Pi")), machine("6.12", Some("Pi")), machine("6.18", Some("Pi")));
        let found = compare_machines(&[old.clone(), old.clone()], &[new.clone(), newer]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].before.as_deref(), Some("6.1"));
        assert_eq!(found[0].after.as_deref(), Some("6.12 or 6.18"));
        assert_eq!(compare_machines(&[old.clone(), new.clone()], &[new, old]), []);
    }

    #[test]
    fn what_cannot_be_read_is_not_compared_and_is_named() {
        let online = ("sys/devices/system/cpu/online", "0");
        let before = plant(&[("proc/sys/vm/swappiness", "60"), online]);
        let mut after = before.clone();
        let content = Content::Unreadable { unreadable: "Permission denied".into() };
        after.files.insert("proc/sys/vm/swappiness".into(), content);
        let found = compare(("a", &before), ("b", &after));
        assert_eq!(found.not_compared, ["proc/sys/vm/swappiness"]);
        assert!(found.is_empty());
    }

    #[test]
    fn findings_appear_and_go_and_a_weight_can_be_asked_for() {
        let governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        let (slow, fast) = ([(governor, "powersave")], [(governor, "performance")]);
        let worse = compare_files(&fast, &slow);
        let code = |findings: &[Diagnosis]| findings.iter().any(|one| one.code == "governor");
        assert!(code(&worse.appeared) && !code(&worse.gone));
        assert!(worse.has_at_least(Severity::Warning) && !worse.has_at_least(Severity::Error));
        let better = compare_files(&slow, &fast);
        assert!(code(&better.gone) && !code(&better.appeared));
        assert!(!better.has_at_least(Severity::Warning) && better.has_at_least(Severity::Info));
    }
}
