//! The settings that a search may try: the remedies of the checks that write kernel files, the
//! named settings of `--tune`, and a table of others that no check asks for.

use crate::facts::{Facts, selected};
use crate::{Check, catalogue};
use latlab_model::plan::{IdleStates, KernelFile};
use latlab_model::shell::{Line, split};
use latlab_model::tune::{Candidate, LeftOut};
use latlab_model::{CpuSet, Nanos, Snapshot};

/// What a row of the table writes.
#[derive(Clone, Copy)]
enum Writes {
    /// This value, to all files of a pattern.
    Files(&'static str, &'static str),
    /// The CPUs that are not measured as a mask, to all files of a pattern.
    OtherCpus(&'static str),
    /// A named setting, as for `--tune`, which needs CPUs that are not measured.
    AwayFromMeasured(&'static str),
    /// A limit for idle states.
    IdleStates(IdleStates),
}

/// A setting that no check asks for.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    writes: Writes,
    effect: &'static str,
    cost: Option<&'static str>,
    protects: Option<&'static str>,
}

const fn row(name: &'static str, writes: Writes, effect: &'static str) -> Row {
    Row { name, writes, effect, cost: None, protects: None }
}

impl Row {
    const fn costs(self, cost: &'static str) -> Row {
        Row { cost: Some(cost), ..self }
    }

    const fn protecting(self, from: &'static str) -> Row {
        Row { protects: Some(from), ..self }
    }
}

use Writes::{AwayFromMeasured, Files, OtherCpus};

const TABLE: &[Row] = &[
    row(
        "idle-states",
        Writes::IdleStates(IdleStates::ExitWithin(Nanos::ZERO)),
        "no idle state that takes time to leave",
    )
    .costs("energy and heat"),
    row("irqs", AwayFromMeasured("irqs=away"), "no device interrupt on a measured CPU")
        .costs("the other CPUs serve all devices"),
    row(
        "workqueues",
        AwayFromMeasured("workqueues=away"),
        "no unbound kernel work on a measured CPU",
    ),
    row(
        "rps",
        OtherCpus("sys/class/net/*/queues/rx-*/rps_cpus"),
        "received packets are processed on the other CPUs",
    ),
    row(
        "net-budget",
        Files("proc/sys/net/core/netdev_budget", "50"),
        "a softirq processes fewer packets in one go",
    )
    .costs("throughput of the network under load"),
    row(
        "balancing-step",
        Files("sys/kernel/debug/sched/nr_migrate", "4"),
        "load balancing moves fewer threads while interrupts are off",
    ),
    row(
        "migration-cost",
        Files("sys/kernel/debug/sched/migration_cost_ns", "5000000"),
        "load balancing moves threads less often",
    )
    .costs("ordinary threads wait longer for an idle CPU"),
    row(
        "base-slice",
        Files("sys/kernel/debug/sched/base_slice_ns", "10000000"),
        "ordinary threads are switched less often",
    )
    .costs("ordinary threads wait longer for each other"),
    row(
        "rcu-normal",
        Files("sys/kernel/rcu_normal", "1"),
        "RCU does not interrupt other CPUs to finish sooner",
    )
    .costs("mounting, unloading and renaming take longer"),
    row(
        "writeback-interval",
        Files("proc/sys/vm/dirty_writeback_centisecs", "1500"),
        "data are written to disk less often",
    )
    .costs("more data are lost in a power cut"),
    row(
        "writeback-early",
        Files("proc/sys/vm/dirty_background_ratio", "1"),
        "data are written to disk in smaller portions",
    ),
    row("swappiness", Files("proc/sys/vm/swappiness", "1"), "memory of programs is swapped last"),
    row(
        "watermark-boost",
        Files("proc/sys/vm/watermark_boost_factor", "0"),
        "no extra reclaim after memory was fragmented",
    ),
    row(
        "lru-generations",
        Files("sys/kernel/mm/lru_gen/enabled", "0x0000"),
        "no walks through page tables to find unused memory",
    )
    .costs("memory is reclaimed less precisely"),
    row(
        "khugepaged-pause",
        Files("sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "60000"),
        "khugepaged scans memory once a minute",
    ),
    row(
        "khugepaged-compaction",
        Files("sys/kernel/mm/transparent_hugepage/khugepaged/defrag", "0"),
        "khugepaged does not compact memory",
    ),
    row(
        "console",
        Files("proc/sys/kernel/printk", "1 4 1 7"),
        "kernel messages do not wait for a slow console",
    )
    .costs("the console shows emergencies only"),
    row(
        "round-robin-slice",
        Files("proc/sys/kernel/sched_rr_timeslice_ms", "10"),
        "threads of SCHED_RR take turns more often",
    ),
    row(
        "uclamp-realtime",
        Files("proc/sys/kernel/sched_util_clamp_min_rt_default", "1024"),
        "real-time threads ask for the highest frequency",
    )
    .costs("energy and heat"),
    row(
        "hung-task-check",
        Files("proc/sys/kernel/hung_task_timeout_secs", "0"),
        "no search for tasks that hang",
    )
    .protecting("hung tasks are no longer reported in the kernel log"),
    row(
        "fair-server",
        Files("sys/kernel/debug/sched/fair_server/cpu*/runtime", "0"),
        "no time is reserved for ordinary threads",
    )
    .protecting("ordinary threads starve below a real-time thread that never sleeps"),
];

/// The settings to try on this machine, and those left out. Settings that protect are left out
/// unless they are in `allowed`.
pub fn candidates(
    snapshot: &Snapshot,
    measured: &CpuSet,
    allowed: &[String],
) -> (Vec<Candidate>, Vec<LeftOut>) {
    let facts = Facts::new(snapshot);
    let online: CpuSet = snapshot.value("sys/devices/system/cpu/online").unwrap_or_default();
    let others = online.without(measured);
    let of_checks = catalogue().filter_map(|check| of_check(check, &facts));
    let of_table = TABLE.iter().map(|row| of_row(row, &facts, &others));
    let (mut tried, mut left_out): (Vec<Candidate>, Vec<LeftOut>) = (Vec::new(), Vec::new());
    for one in of_checks.map(Ok).chain(of_table) {
        match one {
            Err(left) => left_out.push(left),
            // Another setting writes the same file, or the value is there already.
            Ok(one) if overlaps(&tried, &one) || is_void(&one) => {}
            Ok(one) => match one.unless_it_protects(allowed) {
                Ok(one) => tried.push(one),
                Err(left) => left_out.push(left),
            },
        }
    }
    left_out.retain(|left| !left.reason.is_empty());
    (tried, left_out)
}

fn overlaps(known: &[Candidate], one: &Candidate) -> bool {
    known.iter().any(|other| other.name == one.name || other.writes_same(one))
}

fn is_void(one: &Candidate) -> bool {
    one.kernel_files.is_empty() && one.tunings.is_empty() && one.idle_states.is_none()
}

/// Checks whose remedy takes CPUs away, so that it cannot be switched between runs.
const NOT_SWITCHED: [&str; 1] = ["smt"];

/// The remedy of a check as a setting, if it writes kernel files: of what was seen, or a sysctl of the
/// catalogue if the check asks for it only under conditions that are not met here.
fn of_check(check: &'static Check, facts: &Facts<'_>) -> Option<Candidate> {
    if NOT_SWITCHED.contains(&check.code) {
        return None;
    }
    let seen = (check.observe)(facts).and_then(|seen| check.diagnosis(seen).remedy);
    let always = || check.remedy.filter(|text| text.starts_with("sysctl -w")).map(Line::new);
    let line = seen.or_else(always)?;
    let written = writes(line.as_str())?;
    let files = written.into_iter().flat_map(|(pattern, value)| {
        let path = pattern.trim_start_matches('/');
        let found = facts.snapshot.matching(path).into_iter();
        let paths: Vec<String> = found.map(|(path, _)| path.to_string()).collect();
        paths.into_iter().map(move |path| (path, value.clone()))
    });
    let mut made = Candidate {
        name: check.code.to_string(),
        effect: format!("remedy of: {}", check.title),
        protects: check.effect.protects.as_ref().map(ToString::to_string),
        check: Some(check.code.to_string()),
        ..Candidate::default()
    };
    fill(&mut made, facts, files);
    Some(made)
}

fn of_row(row: &Row, facts: &Facts<'_>, others: &CpuSet) -> Result<Candidate, LeftOut> {
    let mut made = Candidate {
        name: row.name.to_string(),
        effect: row.effect.to_string(),
        cost: row.cost.map(str::to_string),
        protects: row.protects.map(str::to_string),
        ..Candidate::default()
    };
    let left_out = |reason: &str| LeftOut { name: row.name.to_string(), reason: reason.into() };
    let no_cpu =
        || left_out("all CPUs are measured: name fewer with --cpus, or bind the program to fewer");
    let matching = |pattern: &str| facts.snapshot.matching(pattern);
    match &row.writes {
        Files(pattern, value) => {
            let files = matching(pattern).into_iter();
            fill(&mut made, facts, files.map(|(path, _)| (path.to_string(), value.to_string())));
        }
        OtherCpus(pattern) if matching(pattern).is_empty() => return Err(left_out("")),
        OtherCpus(_) | AwayFromMeasured(_) if others.is_empty() => return Err(no_cpu()),
        OtherCpus(pattern) => {
            let files = matching(pattern).into_iter();
            let mask = others.to_mask();
            fill(&mut made, facts, files.map(|(path, _)| (path.to_string(), mask.clone())));
        }
        AwayFromMeasured(tuning) => made.tunings.extend(tuning.parse()),
        Writes::IdleStates(limit) => match facts
            .text("sys/devices/system/cpu/cpuidle/current_driver")
        {
            Some("none") | None => return Err(left_out("the kernel has no driver of idle states")),
            Some(_) => made.idle_states = Some(*limit),
        },
    }
    Ok(made)
}

/// Adds the files whose value differs.
fn fill(made: &mut Candidate, facts: &Facts<'_>, files: impl Iterator<Item = (String, String)>) {
    for (path, value) in files {
        let now = facts.text(&path).map(chosen);
        if now.as_ref() != Some(&value) {
            made.kernel_files.push(KernelFile { path: format!("/{path}"), value });
            made.before.push(now);
        }
    }
}

/// The value of a file: of a list of choices the one in brackets.
fn chosen(text: &str) -> String {
    let all = || text.split_whitespace().collect::<Vec<_>>().join(" ");
    selected(text).map_or_else(all, str::to_string)
}

/// The files that a remedy writes, with their values; `None` if it does anything else.
fn writes(remedy: &str) -> Option<Vec<(String, String)>> {
    let mut all = Vec::new();
    for command in remedy.split("; ") {
        let words = split(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["sysctl", "-w", setting] => {
                let file: KernelFile = setting.parse().ok()?;
                all.push((file.path, file.value));
            }
            ["echo", value, "|", "tee", ref files @ ..] if !files.is_empty() => {
                all.extend(files.iter().map(|file| (file.to_string(), value.to_string())));
            }
            _ => return None,
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::snapshot::{Content, SETTINGS, matches_pattern};

    fn machine(files: &[(&str, &str)]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (path, text) in files {
            snapshot.files.insert(path.to_string(), Content::Text(text.to_string()));
        }
        snapshot
    }

    fn names(all: &[Candidate]) -> Vec<&str> {
        all.iter().map(|one| one.name.as_str()).collect()
    }

    /// Invariant (tune): A remedy that is a command to write kernel files is a setting to try, so that doctor and
    /// search know the same.
    #[test]
    fn each_remedy_that_writes_files_is_understood() {
        let written = |check: &&Check| {
            let text = check.remedy.unwrap_or_default();
            text.starts_with("sysctl -w") || text.starts_with("echo ") && text.contains("| tee /")
        };
        for check in catalogue().filter(written) {
            let text = check.remedy.unwrap_or_default();
            assert!(writes(text).is_some(), "{}: {text}", check.code);
        }
        let found = writes("echo 1 | tee /sys/a/cpu*/x; sysctl -w vm.stat_interval=120").unwrap();
        let expected = [("/sys/a/cpu*/x", "1"), ("/proc/sys/vm/stat_interval", "120")];
        assert_eq!(found, expected.map(|(path, value)| (path.to_string(), value.to_string())));
        assert_eq!(writes("systemctl stop irqbalance"), None);
    }

    #[test]
    fn a_snapshot_has_the_files_of_the_table() {
        for row in TABLE {
            if let Files(pattern, _) | OtherCpus(pattern) = row.writes {
                let kept = |known: &&str| matches_pattern(known, pattern);
                assert!(SETTINGS.iter().any(kept), "{pattern}");
            }
        }
    }

    #[test]
    fn what_is_already_so_is_not_there_or_protects_is_not_tried() {
        let machine = machine(&[
            ("sys/devices/system/cpu/online", "0-1"),
            ("proc/sys/kernel/timer_migration", "1"),
            ("proc/sys/vm/stat_interval", "120"),
            ("proc/sys/vm/swappiness", "60"),
            ("proc/sys/kernel/printk", "4\t4\t1\t7"),
            ("proc/sys/kernel/hung_task_timeout_secs", "120"),
            ("proc/sys/kernel/osrelease", "6.1.0"),
        ]);
        let measured: CpuSet = [1].into_iter().collect();
        let (tried, left_out) = candidates(&machine, &measured, &[]);
        let expected = ["timer-migration", "irqs", "workqueues", "swappiness", "console"];
        assert_eq!(names(&tried), expected);
        assert_eq!(tried[0].writes(), ["/proc/sys/kernel/timer_migration=0"]);
        assert_eq!(tried[0].before, [Some("1".to_string())]);
        assert!(
            left_out
                .iter()
                .any(|one| one.name == "hung-task-check" && one.reason.starts_with("it protects"))
        );
        let allowed = ["hung-task-check".to_string()];
        assert!(names(&candidates(&machine, &measured, &allowed).0).contains(&"hung-task-check"));
        let all: CpuSet = [0, 1].into_iter().collect();
        let (tried, left_out) = candidates(&machine, &all, &[]);
        assert!(!names(&tried).contains(&"irqs"));
        assert!(left_out.iter().any(|one| one.name == "irqs" && one.reason.contains("--cpus")));
    }
}
