//! Tick, clock source and timers.

use crate::check::{Check, Observation};
use crate::effect::{Effect, Sign, acts, ms, us};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::Line;
use latlab_model::snapshot::made;

const CLOCKSOURCE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
const AVAILABLE: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";

pub const CHECKS: &[Check] = &[
    Check {
        code: "no-high-resolution-timers",
        severity: Severity::Error,
        topic: Topic::Timers,
        effect: acts(ms(1), ms(20)).if_seen(Sign::Sleeps),
        title: "timers expire only at ticks",
        why: "Without high-resolution timers every sleep ends at a tick, however short it is.",
        cost: "up to a tick for each wake-up: 10 ms at 100 Hz, 4 ms at 250 Hz, 1 ms at 1000 Hz",
        remedy: Some("boot a kernel built with HIGH_RES_TIMERS"),
        undo: None,
        observe: no_high_resolution_timers,
    },
    Check {
        code: "tick-rate",
        severity: Severity::Info,
        topic: Topic::Timers,
        effect: Effect::NONE,
        title: "the tick rate is 1000 Hz or more",
        why: "Each tick interrupts a busy CPU, and a period close to that of the tick drifts \
              through it.",
        cost: "one to several microseconds a thousand times a second on each busy CPU",
        remedy: Some("measure with a period that is not a multiple of the tick, or use nohz_full="),
        undo: None,
        observe: tick_rate,
    },
    Check {
        code: "tick-always",
        severity: Severity::Info,
        topic: Topic::Timers,
        effect: Effect::NONE,
        title: "the tick does not stop on idle CPUs",
        why: "The tick keeps idle CPUs out of deep idle states and wakes them.",
        cost: "power; wake-ups may even be faster, because idle states stay shallow",
        remedy: Some("boot a kernel built with NO_HZ_IDLE"),
        undo: None,
        observe: tick_always,
    },
    Check {
        code: "nohz-full-unsupported",
        severity: Severity::Error,
        topic: Topic::Timers,
        effect: acts(us(1), us(200)),
        title: "nohz_full= is set, but the kernel does not support it",
        why: "A kernel without NO_HZ_FULL ignores the parameter and keeps the tick on every CPU.",
        cost: "one to several microseconds for each tick of a busy CPU",
        remedy: Some("boot a kernel built with NO_HZ_FULL"),
        undo: None,
        observe: nohz_full_unsupported,
    },
    Check {
        code: "slow-clocksource",
        severity: Severity::Warning,
        topic: Topic::Timers,
        effect: acts(us(1), us(50)),
        title: "the clock is slow to read",
        why: "Every reading of this clock is a system call and an access outside the processor, \
              also for kernel timers.",
        cost: "about a microsecond for each reading, instead of tens of nanoseconds",
        remedy: Some(
            "dmesg | grep -iE 'tsc|clocksource', for the reason why the better clock was \
                      dropped",
        ),
        undo: Some("echo {value} | tee {file}"),
        observe: slow_clocksource,
    },
    Check {
        code: "clocksource-forced",
        severity: Severity::Warning,
        topic: Topic::Timers,
        effect: acts(us(1), us(50)),
        title: "the command line forbids the best clock",
        why: "The parameter may have been set for another machine or another fault.",
        cost: "about a microsecond for each reading, instead of tens of nanoseconds",
        remedy: Some("remove {value} from the kernel command line"),
        undo: Some("add {value} to the kernel command line again"),
        observe: clocksource_forced,
    },
    Check {
        code: "tsc-unstable",
        severity: Severity::Warning,
        topic: Topic::Timers,
        effect: acts(us(1), us(50)),
        title: "the kernel has marked the time stamp counter unstable",
        why: "The counters of the CPUs differ or stop, or an interruption by firmware made it \
              appear so.",
        cost: "a slow clock from then on; earlier times may be wrong",
        remedy: Some(
            "look for a newer BIOS; use tsc=reliable only if the counters are known to \
                      be good",
        ),
        undo: None,
        observe: tsc_unstable,
    },
    Check {
        code: "guest-clock",
        severity: Severity::Info,
        topic: Topic::Timers,
        effect: Effect::NONE,
        title: "a hypervisor provides the clock",
        why: "The clock continues while the guest is stopped, so the hypervisor's pauses count as \
              latency.",
        cost: "no reading cost; latencies include the pauses of the host",
        remedy: Some("measure on the host as well, to separate its latency"),
        undo: None,
        observe: guest_clock,
    },
    Check {
        code: "timer-migration",
        severity: Severity::Warning,
        topic: Topic::Timers,
        effect: acts(us(2), us(200)).if_seen(Sign::Sleeps),
        title: "timers of tickless CPUs may run on other CPUs",
        why: "The kernel moves timers away from nohz_full CPUs, so another CPU has to wake them.",
        cost: "one inter-processor interrupt for each wake-up: one to several microseconds",
        remedy: Some("sysctl -w kernel.timer_migration=0"),
        undo: Some("sysctl -w kernel.timer_migration={value}"),
        observe: timer_migration,
    },
    Check {
        code: "shared-timer-device",
        severity: Severity::Info,
        topic: Topic::Timers,
        effect: Effect::NONE,
        title: "a device outside the CPU provides the timers",
        why: "A device that several CPUs share is slow to set, or needs another CPU to forward \
              its interrupt.",
        cost: "one to several microseconds for each timer that is set",
        remedy: Some(
            "dmesg | grep -iE 'apic|hpet|clockevent', for the reason why the CPU's own \
                      timer is not used",
        ),
        undo: None,
        observe: shared_timer_device,
    },
];

fn no_high_resolution_timers(facts: &Facts<'_>) -> Option<Observation> {
    if let Some(word) = facts.word("highres").filter(|word| *word == "highres=off") {
        let text = "High-resolution timers were switched off at boot.";
        let seen = Observation::new("proc/cmdline", word, text);
        let undo = "add {value} to the kernel command line again";
        return Some(
            seen.with_remedy("remove {value} from the kernel command line", Some(undo.into())),
        );
    }
    let hz = facts.config("HZ")?;
    let text = format!("The kernel was built without HIGH_RES_TIMERS; its tick rate is {hz} Hz.");
    let value = format!("CONFIG_HZ={hz}");
    (!facts.has_option("HIGH_RES_TIMERS"))
        .then(|| Observation::new(made::KERNEL_CONFIG, value, text))
}

fn tick_rate(facts: &Facts<'_>) -> Option<Observation> {
    let hz: u32 = facts.config("HZ")?.parse().ok().filter(|hz| *hz >= 1000)?;
    let text = format!("The tick interrupts each busy CPU {hz} times a second.");
    Some(Observation::new(made::KERNEL_CONFIG, format!("CONFIG_HZ={hz}"), text))
}

fn tick_always(facts: &Facts<'_>) -> Option<Observation> {
    let text = "The tick does not stop while a CPU is idle.";
    if let Some(word) = facts.word("nohz").filter(|word| *word == "nohz=off") {
        let undo = "add {value} to the kernel command line again";
        let seen = Observation::new("proc/cmdline", word, text);
        return Some(
            seen.with_remedy("remove {value} from the kernel command line", Some(undo.into())),
        );
    }
    let periodic = facts.has_option("HZ_PERIODIC");
    periodic.then(|| Observation::new(made::KERNEL_CONFIG, "CONFIG_HZ_PERIODIC=y", text))
}

fn nohz_full_unsupported(facts: &Facts<'_>) -> Option<Observation> {
    if let Some(line) = facts.log_lines("Housekeeping: nohz unsupported").last() {
        let text = "The kernel log reports that NO_HZ_FULL is not supported.";
        return Some(Observation::new(made::KERNEL_LOG, line, text));
    }
    let word = facts.word("nohz_full")?;
    let missing = facts.knows_config() && !facts.has_option("NO_HZ_FULL");
    let text = format!("{word} is set, but the kernel was built without NO_HZ_FULL.");
    missing.then(|| Observation::new("proc/cmdline", word, text))
}

fn slow_clocksource(facts: &Facts<'_>) -> Option<Observation> {
    let slow = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies", "hyperv_clocksource_msr"];
    let name = facts.text(CLOCKSOURCE).filter(|name| slow.contains(name))?;
    let available = facts.text(AVAILABLE).unwrap_or_default();
    let better = available.split_whitespace().find(|name| {
        ["tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page"].contains(name)
    });
    let choice = if available.is_empty() { "unknown" } else { available };
    let text = format!("The clock source is {name}; available: {choice}.");
    let mut seen = Observation::new(CLOCKSOURCE, name, text);
    if name.ends_with("jiffies") {
        seen = seen.with_severity(Severity::Error);
    }
    Some(match better {
        Some(better) => seen.with_remedy(
            Line::new("echo").word(better).text("| tee").word(format!("/{CLOCKSOURCE}")),
            Some("echo {value} | tee {file}".into()),
        ),
        None => seen,
    })
}

fn clocksource_forced(facts: &Facts<'_>) -> Option<Observation> {
    let forcing = |word: &&str| {
        let slow = ["hpet", "acpi_pm", "jiffies", "pit"];
        let clock = word.strip_prefix("clocksource=");
        clock.is_some_and(|name| slow.contains(&name)) || matches!(*word, "notsc" | "tsc=unstable")
    };
    let word = facts.parameters().filter(forcing).last()?;
    let text = format!("The command line has {word}.");
    Some(Observation::new("proc/cmdline", word, text))
}

fn tsc_unstable(facts: &Facts<'_>) -> Option<Observation> {
    let marks = [
        "Marking TSC unstable due to",
        "Marking clocksource 'tsc' as unstable",
        "Marking clocksource 'tsc-early' as unstable",
    ];
    let log = facts.text(made::KERNEL_LOG)?;
    // Another check reports what the command line asked for.
    let mut lines = log.lines().filter(|line| !line.contains("boot parameter"));
    let line = lines.find(|line| marks.iter().any(|mark| line.contains(mark)))?;
    let text = "The kernel log reports that the time stamp counter is unstable.";
    Some(Observation::new(made::KERNEL_LOG, line, text))
}

fn guest_clock(facts: &Facts<'_>) -> Option<Observation> {
    let guests = ["kvm-clock", "hyperv_clocksource_tsc_page", "hyperv_clocksource_msr", "xen"];
    let name = facts.text(CLOCKSOURCE).filter(|name| guests.contains(name))?;
    let text = format!("The clock source is {name}, which a hypervisor provides.");
    Some(Observation::new(CLOCKSOURCE, name, text))
}

fn timer_migration(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/kernel/timer_migration";
    let value = facts.number(file).filter(|value| *value != 0)?;
    // An isolated CPU that keeps its tick keeps its timers too.
    let tickless = facts.nohz_full();
    let text = format!("Timers set on CPU {tickless} may run on other CPUs.");
    (!tickless.is_empty()).then(|| Observation::new(file, value.to_string(), text))
}

fn shared_timer_device(facts: &Facts<'_>) -> Option<Observation> {
    let shared = ["hpet", "pit", "dummy_timer", "bc_hrtimer"];
    let devices =
        facts.snapshot.matching("sys/devices/system/clockevents/clockevent*/current_device");
    let is_shared = |name: &str| shared.contains(&name) || name.starts_with("hpet");
    let (file, device) = devices.into_iter().find(|(_, device)| is_shared(device))?;
    let text = format!("The timer device of a CPU is '{device}'.");
    Some(Observation::new(file, device, text))
}
