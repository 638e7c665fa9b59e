//! Real-time budgets, cgroups, and RCU.

use crate::check::{Check, Observation};
use crate::effect::{Effect, SECOND, Sign, acts, ms, us};
use crate::facts::Facts;
use latlab_model::CpuSet;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::Line;
use latlab_model::snapshot::made;

const RUNTIME: &str = "proc/sys/kernel/sched_rt_runtime_us";
const FAIR_SERVER: &str = "sys/kernel/debug/sched/fair_server/cpu*/runtime";
/// The first kernel whose fair server replaces the throttling of real-time threads.
const HAS_FAIR_SERVER: (u32, u32) = (6, 12);

pub const CHECKS: &[Check] = &[
    Check {
        code: "rt-throttling",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(ms(1), SECOND).if_seen(Sign::Throttling).protecting(
            "a real-time thread that never sleeps then keeps its CPU from everything else",
        ),
        title: "real-time threads are throttled",
        why: "Once real-time threads have used their budget of a period, the kernel runs none of \
              them until the next period.",
        cost: "50 ms in each second with the default setting, once the budget is used up",
        remedy: Some("sysctl -w kernel.sched_rt_runtime_us=-1"),
        undo: Some("sysctl -w kernel.sched_rt_runtime_us={value}"),
        observe: rt_throttling,
    },
    Check {
        code: "rt-throttled",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(ms(1), SECOND).if_seen(Sign::Throttling),
        title: "real-time threads have been throttled since boot",
        why: "Real-time threads used up their budget, so all real-time threads on that CPU had to \
              wait.",
        cost: "up to 50 ms each time; the kernel logs only the first time",
        remedy: Some("look for the thread that never sleeps: ps -eLo pid,tid,cls,rtprio,pcpu,comm"),
        undo: None,
        observe: rt_throttled,
    },
    Check {
        code: "rt-runtime-unlimited",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "nothing stops a real-time thread that never sleeps",
        why: "Without a budget, a real-time thread that loops keeps its CPU from all \
              lower-priority threads, including the shell.",
        cost: "none until it happens; then a CPU or the whole machine hangs",
        remedy: Some("ulimit -R 500000, before a program that may not sleep"),
        undo: Some("ulimit -R unlimited"),
        observe: rt_runtime_unlimited,
    },
    Check {
        code: "fair-server",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(ms(1), ms(100))
            .if_seen(Sign::NeverSleeps)
            .protecting("ordinary threads then starve below a real-time thread that never sleeps"),
        title: "ordinary threads may take time from real-time threads that never sleep",
        why: "Since Linux 6.12 a fair server runs starved ordinary threads before real-time \
              threads, regardless of sched_rt_runtime_us.",
        cost: "50 to 54 ms in each second for a thread that never sleeps; none for one that sleeps",
        remedy: Some("for f in {file}; do echo 0 > $f; done"),
        undo: Some("for f in {file}; do echo {value} > $f; done"),
        observe: fair_server,
    },
    Check {
        code: "rt-group-scheduling",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "each cgroup needs a real-time budget",
        why: "A new group of the cpu controller has no such budget, so the kernel refuses \
              real-time policies to its processes.",
        cost: "no real-time policies in services, containers and logins that have a cgroup",
        remedy: Some(
            "add rt_group_sched=0 to the kernel command line (since 6.16), or use \
                      another kernel",
        ),
        undo: Some("remove rt_group_sched=0 from the kernel command line"),
        observe: rt_group_scheduling,
    },
    Check {
        code: "autogroup",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "ordinary threads are scheduled by session",
        why: "The nice value of an ordinary thread then counts only among the threads of its own \
              session.",
        cost: "none for real-time threads; a load from one terminal gets less CPU time than \
               expected",
        remedy: Some("sysctl -w kernel.sched_autogroup_enabled=0"),
        undo: Some("sysctl -w kernel.sched_autogroup_enabled={value}"),
        observe: autogroup,
    },
    Check {
        code: "rcu-callbacks",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(2), ms(1)),
        title: "isolated CPUs run RCU callbacks",
        why: "A CPU that is not named in rcu_nocbs= frees memory for other CPUs in its own \
              softirqs.",
        cost: "microseconds to hundreds of microseconds, in bursts after other CPUs delete or \
               unmap much",
        remedy: Some("add rcu_nocbs= with the isolated CPUs to the kernel command line"),
        undo: Some("remove rcu_nocbs= from the kernel command line"),
        observe: rcu_callbacks,
    },
    Check {
        code: "rcu-boost-missing",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "RCU readers do not get a priority boost",
        why: "An RCU reader that a real-time thread preempts delays the freeing of memory for the \
              whole machine.",
        cost: "no latency; delayed freeing of memory and RCU stalls if CPUs stay busy",
        remedy: Some("boot a kernel built with RCU_BOOST"),
        undo: None,
        observe: rcu_boost_missing,
    },
    Check {
        code: "rcu-expedited",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(2), us(200)),
        title: "RCU interrupts all CPUs to finish sooner",
        why: "An expedited grace period sends an interrupt to every CPU that is not idle.",
        cost: "a few microseconds on each CPU whenever a program mounts, unloads or renames \
               something",
        remedy: Some("echo 0 | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: rcu_expedited,
    },
];

fn rt_throttling(facts: &Facts<'_>) -> Option<Observation> {
    let runtime = facts.number(RUNTIME)?;
    let period = facts.number("proc/sys/kernel/sched_rt_period_us")?;
    // From 6.12 on only groups with budgets are still throttled.
    let is_over = facts.kernel() >= Some(HAS_FAIR_SERVER) && !facts.has_realtime_groups();
    if runtime < 0 || runtime >= period || is_over {
        return None;
    }
    let text = format!("Real-time threads may use {runtime} us of each {period} us.");
    Some(Observation::new(RUNTIME, runtime.to_string(), text))
}

fn rt_throttled(facts: &Facts<'_>) -> Option<Observation> {
    let line = facts.log_lines("RT throttling activated").last()?;
    let text = "The kernel log reports that real-time threads were throttled.";
    Some(Observation::new(made::KERNEL_LOG, line, text))
}

fn rt_runtime_unlimited(facts: &Facts<'_>) -> Option<Observation> {
    let runtime = facts.number(RUNTIME).filter(|runtime| *runtime < 0)?;
    let limits = facts.text("proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"))?;
    let unlimited = line.split_whitespace().next() == Some("unlimited");
    let caught = facts.kernel()? >= HAS_FAIR_SERVER && !fair_server_is_off(facts);
    let text = "sched_rt_runtime_us is -1, and no RLIMIT_RTTIME stops a thread that never sleeps.";
    (unlimited && !caught).then(|| Observation::new(RUNTIME, runtime.to_string(), text))
}

fn fair_server_is_off(facts: &Facts<'_>) -> bool {
    let runtimes = facts.values_by_cpu(FAIR_SERVER);
    !runtimes.is_empty() && runtimes.iter().all(|(runtime, _)| *runtime == "0")
}

fn fair_server(facts: &Facts<'_>) -> Option<Observation> {
    if facts.values_by_cpu(FAIR_SERVER).is_empty() {
        return hidden_fair_server(facts);
    }
    let on = facts.values_by_cpu(FAIR_SERVER).into_iter().find_map(|(runtime, cpus)| {
        let nanos: u64 = runtime.parse().ok()?;
        (nanos > 0).then_some((runtime, nanos, cpus))
    });
    let (runtime, nanos, cpus) = on?;
    let periods = facts.values_by_cpu("sys/kernel/debug/sched/fair_server/cpu*/period");
    let period: u64 = periods.first()?.0.parse().ok()?;
    let text = format!(
        "On CPU {cpus}, starved ordinary threads get {} us of each {} us.",
        nanos / 1000,
        period / 1000
    );
    Some(Observation::new(FAIR_SERVER, runtime, text))
}

/// Its settings are in debugfs, which may not be mounted.
fn hidden_fair_server(facts: &Facts<'_>) -> Option<Observation> {
    let release = "proc/sys/kernel/osrelease";
    let (kernel, value) = (facts.kernel()?, facts.text(release)?);
    let text = "This kernel has a fair server, but its settings cannot be read; by default, \
                starved ordinary threads get 50000 us of each 1000000 us.";
    let seen = Observation::new(release, value, text).with_severity(Severity::Info);
    let look = "mount -t debugfs debugfs /sys/kernel/debug; latlab doctor --only fair-server";
    let seen = seen.with_remedy(look, Some("umount /sys/kernel/debug".into()));
    (kernel >= HAS_FAIR_SERVER).then_some(seen)
}

fn rt_group_scheduling(facts: &Facts<'_>) -> Option<Observation> {
    let text = "The kernel was built with RT_GROUP_SCHED, and it is on.";
    let seen = Observation::new(made::KERNEL_CONFIG, "CONFIG_RT_GROUP_SCHED=y", text);
    facts.has_realtime_groups().then_some(seen)
}

fn autogroup(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/kernel/sched_autogroup_enabled";
    let value = facts.number(file).filter(|value| *value == 1)?;
    let text = "Ordinary threads are grouped by session (autogroup).";
    Some(Observation::new(file, value.to_string(), text))
}

fn rcu_callbacks(facts: &Facts<'_>) -> Option<Observation> {
    let word = facts.word("rcu_nocbs");
    let relieved = match (word, facts.parameter_cpus("rcu_nocbs")) {
        (_, Some(cpus)) => cpus,
        (Some(word), None) if word.contains('=') => return None,
        _ if facts.has_option("RCU_NOCB_CPU_DEFAULT_ALL") => return None,
        _ => CpuSet::default(),
    };
    // The kernel offloads these CPUs by itself.
    let left = facts.isolated().without(&facts.nohz_full()).without(&relieved);
    facts.text("proc/cmdline").filter(|_| !left.is_empty())?;
    let wanted: CpuSet = relieved.iter().chain(left.iter()).collect();
    let (remedy, undo) = match facts.knows_config() && !facts.has_option("RCU_NOCB_CPU") {
        true => (Line::new("boot a kernel built with RCU_NOCB_CPU"), None),
        false => (
            Line::new("add").word(format!("rcu_nocbs={wanted}")).text("to the kernel command line"),
            Some("remove rcu_nocbs= from the kernel command line".into()),
        ),
    };
    let text = format!("CPU {left} is isolated, but rcu_nocbs= does not name it.");
    let seen = match word {
        Some(word) => Observation::new("proc/cmdline", word, text),
        None => {
            Observation::new("sys/devices/system/cpu/isolated", facts.isolated().to_string(), text)
        }
    };
    Some(seen.with_remedy(remedy, undo))
}

fn rcu_boost_missing(facts: &Facts<'_>) -> Option<Observation> {
    let missing = facts.knows_config() && !facts.has_option("RCU_BOOST");
    let text = "This PREEMPT_RT kernel was built without RCU_BOOST.";
    (missing && facts.has_option("PREEMPT_RT"))
        .then(|| Observation::new(made::KERNEL_CONFIG, "CONFIG_PREEMPT_RT=y", text))
}

fn rcu_expedited(facts: &Facts<'_>) -> Option<Observation> {
    let (expedited, normal) = ("sys/kernel/rcu_expedited", "sys/kernel/rcu_normal");
    let value = |file| facts.number(file);
    let is_normal = value(normal).is_some_and(|value| value != 0);
    if let Some(on) = value(expedited).filter(|value| *value != 0 && !is_normal) {
        let text = "All RCU grace periods are expedited.";
        return Some(Observation::new(expedited, on.to_string(), text));
    }
    let allowed = value(normal).filter(|_| facts.is_realtime() && !is_normal)?;
    let text = "RCU grace periods may be expedited on this PREEMPT_RT kernel.";
    let seen = Observation::new(normal, allowed.to_string(), text).with_severity(Severity::Info);
    Some(seen.with_remedy("echo 1 | tee {file}", Some("echo {value} | tee {file}".into())))
}
