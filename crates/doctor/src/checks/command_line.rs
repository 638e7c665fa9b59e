//! Traps of the kernel's command line.

use crate::check::{Check, Observation};
use crate::effect::{Effect, Sign, acts, ms, us};
use crate::facts::Facts;
use latlab_model::CpuSet;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::Line;
use latlab_model::snapshot::made;

const FILE: &str = "proc/cmdline";
const OFF_THE_LINE: Option<&str> = Some("remove {value} from the kernel command line");
const BACK_ON_THE_LINE: Option<&str> = Some("add {value} to the kernel command line again");

pub const CHECKS: &[Check] = &[
    Check {
        code: "isolation-refused",
        severity: Severity::Error,
        topic: Topic::Kernel,
        effect: acts(us(2), us(500)),
        title: "the kernel rejected the list of isolated CPUs",
        why: "The kernel drops a parameter with an error as a whole, so no CPU is isolated by it.",
        cost: "everything that the isolation was meant to prevent",
        remedy: Some("correct isolcpus= and nohz_full= on the kernel command line"),
        undo: None,
        observe: isolation_refused,
    },
    Check {
        code: "isolation-wrong-cpus",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "isolcpus= or nohz_full= names missing CPUs, or all CPUs",
        why: "At least one CPU must remain for all other work, and a CPU that does not exist \
              cannot be isolated.",
        cost: "everything that the isolation was meant to prevent",
        remedy: Some("correct {value} on the kernel command line"),
        undo: None,
        observe: isolation_wrong_cpus,
    },
    Check {
        code: "isolated-with-tick",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "isolated CPUs still have a tick",
        why: "isolcpus= keeps other threads away from a CPU, but not the kernel's tick and timers.",
        cost: "one to several microseconds for each tick of a busy CPU; nothing if the thread \
               sleeps",
        remedy: Some("add nohz_full={value} to the kernel command line"),
        undo: Some("remove nohz_full= from the kernel command line"),
        observe: isolated_with_tick,
    },
    Check {
        code: "tickless-not-isolated",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(1), us(200)),
        title: "tickless CPUs are not isolated",
        why: "The tick returns as soon as the scheduler places a second thread on such a CPU, and \
              each entry into the kernel costs more there.",
        cost: "up to a microsecond for each system call and interrupt, and the run time of the \
               other threads",
        remedy: Some("add isolcpus=domain,managed_irq,{value} to the kernel command line"),
        undo: Some("remove isolcpus= from the kernel command line"),
        observe: tickless_not_isolated,
    },
    Check {
        code: "idle-poll",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "idle CPUs poll",
        why: "A CPU that never sleeps heats the chip, and takes power from other CPUs and time \
              from the other thread of its core.",
        cost: "fast wake-ups, but earlier throttling and slower work",
        remedy: Some(
            "remove {value} from the kernel command line; /dev/cpu_dma_latency does the same for \
             the length of a run",
        ),
        undo: BACK_ON_THE_LINE,
        observe: idle_poll,
    },
    Check {
        code: "idle-limit-ignored",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(2), ms(2)).if_seen(Sign::Sleeps),
        title: "the limit of idle states is for another driver",
        why: "Each idle driver has its own parameter for the limit, and the parameter of the \
              driver in use is not set.",
        cost: "tens to hundreds of microseconds to leave a deep idle state",
        remedy: Some("add the limit of the driver in use to the kernel command line"),
        undo: Some("remove it from the kernel command line"),
        observe: idle_limit_ignored,
    },
    Check {
        code: "threadirqs",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "a stock kernel runs its interrupt handlers in threads",
        why: "The handlers run with SCHED_FIFO priority 50: they do not delay threads of a higher \
              priority, except through spinlocks.",
        cost: "a few microseconds more for each interrupt; less delay for threads above priority \
               50",
        remedy: OFF_THE_LINE,
        undo: BACK_ON_THE_LINE,
        observe: threadirqs,
    },
    Check {
        code: "irqpoll",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(2), ms(1)),
        title: "interrupts are polled",
        why: "With irqpoll, the timer interrupt and each interrupt that no device claims call the \
              handlers of all devices.",
        cost: "the run time of all handlers, with interrupts disabled, at each tick",
        remedy: OFF_THE_LINE,
        undo: BACK_ON_THE_LINE,
        observe: irqpoll,
    },
    Check {
        code: "noirqbalance-ignored",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "noirqbalance has no effect",
        why: "The parameter switched off a balancer inside the kernel, which is no longer part of \
              Linux; the daemon irqbalance does not read it.",
        cost: "none by itself; interrupts are where they would be without it",
        remedy: Some(
            "remove {value} from the kernel command line, and keep interrupts away with \
             irqaffinity= or by stopping the daemon irqbalance",
        ),
        undo: BACK_ON_THE_LINE,
        observe: noirqbalance_ignored,
    },
    Check {
        code: "ticks-together",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "the ticks of all CPUs coincide",
        why: "CPUs whose ticks occur at the same time wait for each other at the locks that the \
              tick takes.",
        cost: "grows with the number of CPUs; a few microseconds on small machines",
        remedy: Some("add skew_tick=1 to the kernel command line"),
        undo: Some("remove skew_tick=1 from the kernel command line"),
        observe: ticks_together,
    },
    Check {
        code: "audit",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE.protecting("system calls are then not recorded for audits"),
        title: "system calls are audited",
        why: "With auditing on, every system call takes a longer path through the kernel.",
        cost: "less than a microsecond for each system call, more with many rules",
        remedy: Some("remove {value} from the kernel command line, or run: auditctl -e 0"),
        undo: BACK_ON_THE_LINE,
        observe: audit,
    },
    Check {
        code: "parameters-contradict",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "two parameters on the command line contradict each other",
        why: "The kernel uses only one of them, and not always the last one.",
        cost: "the effect of the parameter that is ignored",
        remedy: Some("keep only one of these on the kernel command line: {value}"),
        undo: None,
        observe: parameters_contradict,
    },
    Check {
        code: "parameters-unknown",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "the kernel does not know a parameter on its command line",
        why: "A misspelt parameter, or one of a feature that is not built in, has no effect.",
        cost: "the effect of the parameter",
        remedy: Some(
            "correct {value} on the kernel command line, or boot a kernel that supports \
                      it",
        ),
        undo: None,
        observe: parameters_unknown,
    },
];

fn isolation_refused(facts: &Facts<'_>) -> Option<Observation> {
    // The kernel keeps the boot CPU if a list names all CPUs, which another check reports.
    let refusals =
        ["must match isolcpus=", "incorrect CPU range", "Invalid flag", "ignoring setting"];
    let mut lines = facts.text(made::KERNEL_LOG)?.lines();
    let line = lines.find(|line| {
        (line.contains("Housekeeping: ") || line.contains("isolcpus: "))
            && refusals.iter().any(|refusal| line.contains(refusal))
    })?;
    let text = "The kernel log reports that isolcpus= or nohz_full= was rejected.";
    Some(Observation::new(made::KERNEL_LOG, line, text))
}

fn isolation_wrong_cpus(facts: &Facts<'_>) -> Option<Observation> {
    let (possible, online) = (facts.possible(), facts.online());
    ["isolcpus", "nohz_full"].into_iter().find_map(|name| {
        let (word, cpus) = (facts.word(name)?, facts.parameter_cpus(name)?);
        if !online.is_empty() && online.without(&cpus).is_empty() {
            let text = format!("{word} names all online CPUs ({online}).");
            return Some(Observation::new(FILE, word, text).with_severity(Severity::Error));
        }
        let missing = cpus.without(&possible);
        let text = format!("{word} names CPU {missing}, but the possible CPUs are {possible}.");
        let wrong = !possible.is_empty() && !missing.is_empty();
        wrong.then(|| Observation::new(FILE, word, text))
    })
}

fn isolated_with_tick(facts: &Facts<'_>) -> Option<Observation> {
    let isolated = facts.isolated();
    facts.text(FILE)?;
    let ticking = isolated.without(&facts.nohz_full());
    let asked = facts.parameter_cpus("nohz_full").unwrap_or_default();
    let left = ticking.without(&asked);
    if left.is_empty() {
        return None;
    }
    let text = format!("CPU {left} is isolated and still has a tick.");
    let seen = Observation::new("sys/devices/system/cpu/isolated", isolated.to_string(), text);
    Some(match facts.knows_config() && !facts.has_option("NO_HZ_FULL") {
        true => seen.with_remedy("boot a kernel built with NO_HZ_FULL", None),
        false => seen,
    })
}

fn tickless_not_isolated(facts: &Facts<'_>) -> Option<Observation> {
    let tickless = facts.nohz_full();
    let cpuset: CpuSet =
        facts.snapshot.value("sys/fs/cgroup/cpuset.cpus.isolated").unwrap_or_default();
    let open = tickless.without(&facts.isolated()).without(&cpuset);
    facts.text(FILE).filter(|_| !open.is_empty())?;
    let text = format!("CPU {open} is tickless, but not isolated.");
    Some(Observation::new("sys/devices/system/cpu/nohz_full", tickless.to_string(), text))
}

fn idle_poll(facts: &Facts<'_>) -> Option<Observation> {
    let word = facts.word("idle").filter(|word| *word == "idle=poll")?;
    Some(Observation::new(FILE, word, "Idle CPUs poll instead of sleeping (idle=poll)."))
}

fn idle_limit_ignored(facts: &Facts<'_>) -> Option<Observation> {
    let driver = facts.text("sys/devices/system/cpu/cpuidle/current_driver")?;
    let (given, wanted) = match driver {
        "intel_idle" => ("processor.max_cstate", "intel_idle.max_cstate=1"),
        "acpi_idle" => ("intel_idle.max_cstate", "processor.max_cstate=1"),
        _ => return None,
    };
    let word = facts.word(given)?;
    let (obeyed, _) = wanted.split_once('=')?;
    if facts.word(obeyed).is_some() {
        return None;
    }
    let text = format!("{word} has no effect: the idle driver is {driver}.");
    let remedy = Line::new("add").word(wanted).text("to the kernel command line");
    let undo = Line::new("remove").word(wanted).text("from the kernel command line");
    Some(Observation::new(FILE, word, text).with_remedy(remedy, Some(undo.into())))
}

fn threadirqs(facts: &Facts<'_>) -> Option<Observation> {
    let word = facts.word("threadirqs").filter(|_| !facts.is_realtime())?;
    Some(Observation::new(
        FILE,
        word,
        "This stock kernel runs interrupt handlers in threads \
                                       (threadirqs).",
    ))
}

fn irqpoll(facts: &Facts<'_>) -> Option<Observation> {
    let word = facts.word("irqpoll")?;
    Some(match facts.is_realtime() {
        true => Observation::new(FILE, word, "PREEMPT_RT ignores irqpoll.")
            .with_severity(Severity::Info),
        false => Observation::new(FILE, word, "Interrupt handlers are polled (irqpoll)."),
    })
}

fn noirqbalance_ignored(facts: &Facts<'_>) -> Option<Observation> {
    let word = facts.word("noirqbalance")?;
    Some(Observation::new(FILE, word, "This kernel does not know noirqbalance."))
}

fn ticks_together(facts: &Facts<'_>) -> Option<Observation> {
    let line = facts.text(FILE)?;
    let cpus = facts.online();
    let skewed = facts.parameter("skew_tick").is_some_and(|value| value != "0");
    if !facts.is_realtime() || cpus.len() < 2 || skewed {
        return None;
    }
    let value = facts.word("skew_tick").unwrap_or(line);
    let text = format!("The ticks of CPU {cpus} coincide (no skew_tick=1).");
    Some(Observation::new(FILE, value, text))
}

fn audit(facts: &Facts<'_>) -> Option<Observation> {
    let word = facts.word("audit").filter(|word| matches!(*word, "audit=1" | "audit=on"))?;
    Some(Observation::new(FILE, word, "Auditing was enabled at boot."))
}

/// Parameters of which the kernel takes one value.
const ONCE: &[&str] = &[
    "isolcpus",
    "nohz_full",
    "rcu_nocbs",
    "preempt",
    "idle",
    "nohz",
    "highres",
    "clocksource",
    "skew_tick",
    "intel_idle.max_cstate",
    "processor.max_cstate",
    "intel_pstate",
    "amd_pstate",
    "irqaffinity",
];

fn parameters_contradict(facts: &Facts<'_>) -> Option<Observation> {
    let words = repeated_parameters(facts).or_else(|| conflicting_parameters(facts))?;
    let text = format!("The command line has {}.", words.join(" and "));
    Some(Observation::new(FILE, words.join(" "), text))
}

/// Words that set one parameter to several values.
fn repeated_parameters<'a>(facts: &Facts<'a>) -> Option<Vec<&'a str>> {
    ONCE.iter().find_map(|name| {
        let mut words: Vec<&str> = facts.words(name).collect();
        words.dedup();
        (words.len() > 1).then_some(words)
    })
}

/// Two words of which one defeats the other.
fn conflicting_parameters<'a>(facts: &Facts<'a>) -> Option<Vec<&'a str>> {
    let without_tick = facts.word("nohz_full")?;
    let off = ["nohz=off", "highres=off"];
    let against = facts.parameters().find(|word| off.contains(word))?;
    Some(vec![against, without_tick])
}

/// Prefixes of the parameters that users set for real-time work.
const OURS: &[&str] = &[
    "isol",
    "nohz",
    "rcu",
    "preempt",
    "idle",
    "processor.",
    "intel_",
    "amd_pstate",
    "irqaffinity",
    "threadirq",
    "tsc",
    "clocksource",
    "highres",
    "skew",
    "nmi_watchdog",
    "nosoftlockup",
    "nosmt",
    "mitigations",
    "hpet",
    "kthread_cpus",
    "rt_group",
    "cpufreq",
    "cpuidle",
    "audit",
];

fn parameters_unknown(facts: &Facts<'_>) -> Option<Observation> {
    let line = facts.log_lines("Unknown kernel command line parameters ").last()?;
    let names = line.split('"').nth(1)?;
    let ours: Vec<&str> = names
        .split_whitespace()
        .filter(|word| OURS.iter().any(|start| word.starts_with(start)))
        .collect();
    if ours.is_empty() {
        return None;
    }
    let ours = ours.join(" ");
    let text = format!("The kernel log reports unknown parameters: {ours}.");
    Some(Observation::new(made::KERNEL_LOG, ours, text))
}
