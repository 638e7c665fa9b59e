//! The rights of this user.

use crate::check::{Check, Observation};
use crate::effect::{Effect, SECOND, acts, ms, us};
use crate::facts::{Facts, SYS_NICE};
use latlab_model::CpuSet;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::Line;

const LIMITS: &str = "proc/self/limits";
const STATUS: &str = "proc/self/status";
const GROUP: &str = "proc/self/cgroup";
/// Default priority of measuring threads.
const PRIORITY: u64 = 90;
/// What the measuring process maps with a few threads, rounded up.
const LOCKED_BYTES: u64 = 64 << 20;
const IPC_LOCK: u32 = 14;
const RAISE: Option<&str> = Some(
    "printf '%s - rtprio 99\\n%s - memlock unlimited\\n' \"$USER\" \"$USER\" | sudo tee \
     /etc/security/limits.d/latlab.conf, then log in again; or run it with sudo",
);
const LOWER: Option<&str> = Some("sudo rm /etc/security/limits.d/latlab.conf");

pub const CHECKS: &[Check] = &[
    Check {
        code: "no-realtime-rights",
        severity: Severity::Error,
        topic: Topic::Rights,
        effect: acts(us(20), SECOND),
        title: "this user may not use real-time priorities",
        why: "The kernel refuses SCHED_FIFO above the limit of the user, so threads would run \
              with SCHED_OTHER.",
        cost: "milliseconds under load, as for any other thread",
        remedy: RAISE,
        undo: LOWER,
        observe: no_realtime_rights,
    },
    Check {
        code: "memory-lock-limit",
        severity: Severity::Warning,
        topic: Topic::Rights,
        effect: acts(us(10), ms(50)),
        title: "this user may lock little memory",
        why: "Memory that is not locked can be reclaimed, and a thread waits for a page that must \
              be read back.",
        cost: "microseconds for a page in memory, milliseconds for a page on disk",
        remedy: RAISE,
        undo: LOWER,
        observe: memory_lock_limit,
    },
    Check {
        code: "realtime-timeout",
        severity: Severity::Warning,
        topic: Topic::Rights,
        effect: Effect::NONE,
        title: "a real-time thread that does not sleep is killed",
        why: "A thread that runs for longer than RLIMIT_RTTIME without sleeping gets SIGXCPU, and \
              SIGKILL at the hard limit.",
        cost: "the program is killed if it is busy for that long",
        remedy: Some("ulimit -R unlimited"),
        undo: Some("ulimit -R {value}"),
        observe: realtime_timeout,
    },
    Check {
        code: "affinity-narrow",
        severity: Severity::Info,
        topic: Topic::Rights,
        effect: Effect::NONE,
        title: "this process may not use every CPU",
        why: "latlab measures only these CPUs by default.",
        cost: "none; the other CPUs are not measured",
        remedy: Some("taskset -p -c, with the CPUs to use, and $$"),
        undo: Some("taskset -p -c {value} $$"),
        observe: affinity_narrow,
    },
    Check {
        code: "realtime-group",
        severity: Severity::Error,
        topic: Topic::Rights,
        effect: acts(us(20), SECOND),
        title: "the cgroup of this process has no real-time budget",
        why: "With RT_GROUP_SCHED the kernel refuses real-time policies in a cgroup with a budget \
              of 0, even to root.",
        cost: "no real-time policy: milliseconds under load",
        remedy: Some("echo $$ | sudo tee /sys/fs/cgroup/cgroup.procs"),
        undo: None,
        observe: realtime_group,
    },
    Check {
        code: "seccomp",
        severity: Severity::Info,
        topic: Topic::Rights,
        effect: Effect::NONE,
        title: "system calls are filtered",
        why: "A filter runs before each system call of this process, and may refuse real-time \
              policies or locked memory.",
        cost: "less than a microsecond for each system call",
        remedy: Some(
            "run latlab outside the container or sandbox, or with: --security-opt \
             seccomp=unconfined",
        ),
        undo: None,
        observe: seccomp,
    },
];

/// A limit of this process: soft and hard.
fn limit<'a>(facts: &Facts<'a>, name: &str) -> Option<(&'a str, &'a str)> {
    let line = facts.text(LIMITS)?.lines().find_map(|line| line.strip_prefix(name))?;
    let mut words = line.split_whitespace();
    Some((words.next()?, words.next()?))
}

/// A limit as a number; `unlimited` becomes the highest one.
fn amount(limit: &str) -> Option<u64> {
    if limit == "unlimited" { Some(u64::MAX) } else { limit.parse().ok() }
}

fn no_realtime_rights(facts: &Facts<'_>) -> Option<Observation> {
    let (soft, hard) = limit(facts, "Max realtime priority")?;
    // The kernel applies the soft limit.
    let highest = amount(soft)?;
    if facts.is_capable(SYS_NICE)? || highest >= 99 {
        return None;
    }
    let text = match highest {
        0 => "This user may not use real-time priorities.".to_string(),
        PRIORITY.. => format!("This user may use real-time priorities up to {soft}."),
        _ => format!("This user may use real-time priorities up to {soft}, not {PRIORITY}."),
    };
    let seen = Observation::new(LIMITS, soft, text);
    let seen = if highest >= PRIORITY { seen.with_severity(Severity::Info) } else { seen };
    Some(match amount(hard)? >= PRIORITY && highest < PRIORITY {
        true => seen.with_remedy("ulimit -S -r hard", Some("ulimit -S -r {value}".into())),
        false => seen,
    })
}

fn memory_lock_limit(facts: &Facts<'_>) -> Option<Observation> {
    let (soft, hard) = limit(facts, "Max locked memory")?;
    let old = amount(soft).filter(|bytes| *bytes < LOCKED_BYTES)?;
    if facts.is_capable(IPC_LOCK)? {
        return None;
    }
    let seen =
        Observation::new(LIMITS, soft, format!("This user may lock {soft} bytes of memory."));
    let undo = Line::new("ulimit -S -l").word((old >> 10).to_string());
    Some(match amount(hard)? >= LOCKED_BYTES {
        true => seen.with_remedy("ulimit -S -l hard", Some(undo.into())),
        false => seen,
    })
}

fn realtime_timeout(facts: &Facts<'_>) -> Option<Observation> {
    let (soft, _) = limit(facts, "Max realtime timeout")?;
    let micros: u64 = soft.parse().ok()?;
    let text = format!("A real-time thread is killed if it does not sleep for {micros} us.");
    Some(Observation::new(LIMITS, soft, text))
}

fn affinity_narrow(facts: &Facts<'_>) -> Option<Observation> {
    let value = facts.status("Cpus_allowed_list")?;
    let allowed: CpuSet = value.parse().ok()?;
    let online = facts.online();
    // A process may pin itself to an isolated CPU all the same.
    let missing = online.without(&allowed).without(&facts.isolated_by_parameters());
    if missing.is_empty() {
        return None;
    }
    let text = format!("This process may use CPU {value} of {online}.");
    let remedy = Line::new("taskset -p -c").word(online.to_string()).text("$$");
    let undo = "taskset -p -c {value} $$";
    Some(Observation::new(STATUS, value, text).with_remedy(remedy, Some(undo.into())))
}

fn realtime_group(facts: &Facts<'_>) -> Option<Observation> {
    let budget = "sys/fs/cgroup/cpu/cpu.rt_runtime_us";
    if let Some(runtime) = facts.number(budget).filter(|runtime| *runtime == 0) {
        let text = "This cgroup has a real-time budget of 0 us per period.";
        let seen = Observation::new(budget, runtime.to_string(), text);
        let undo = "echo {value} | sudo tee {file}";
        return Some(seen.with_remedy("echo 950000 | sudo tee {file}", Some(undo.into())));
    }
    let groups = facts.text(GROUP).filter(|_| facts.has_realtime_groups())?;
    let line = groups.lines().find(|line| has_own_budget(facts, line))?;
    let text = "This process is in a group of the cpu controller, whose default real-time budget \
                is 0.";
    let folder = match line.starts_with("0::") {
        true => "/sys/fs/cgroup",
        false => "/sys/fs/cgroup/cpu",
    };
    let path = line.splitn(3, ':').nth(2)?;
    let enter =
        |group: &str| Line::new("echo $$ | sudo tee").word(format!("{folder}{group}/cgroup.procs"));
    Some(Observation::new(GROUP, line, text).with_remedy(enter(""), Some(enter(path).into())))
}

/// Whether a line names a cgroup below the root with the cpu controller enabled.
fn has_own_budget(facts: &Facts<'_>, line: &str) -> bool {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { return false };
    let handed_on = facts.text("sys/fs/cgroup/cgroup.subtree_control").unwrap_or_default();
    let on = match controllers {
        "" => handed_on.split_whitespace().any(|name| name == "cpu"),
        _ => controllers.split(',').any(|name| name == "cpu"),
    };
    on && path != "/"
}

fn seccomp(facts: &Facts<'_>) -> Option<Observation> {
    let value = facts.status("Seccomp").filter(|mode| *mode == "2")?;
    let filters = facts.status("Seccomp_filters");
    let text = match filters {
        Some(count) => format!("System calls of this process pass {count} filters (seccomp)."),
        None => "System calls of this process are filtered (seccomp).".to_string(),
    };
    Some(Observation::new(STATUS, value, text))
}
