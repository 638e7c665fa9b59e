//! Tick, clock source and timers.

use crate::check::{Check, Observation};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::quoted;
use latlab_model::snapshot::made;

const CLOCKSOURCE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
const AVAILABLE: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";

/// What is looked for.
pub const CHECKS: &[Check] = &[
    Check {
        code: "no-high-resolution-timers",
        severity: Severity::Error,
        topic: Topic::Timers,
        title: "timers expire with the tick only",
        why: "Without high-resolution timers every sleep ends at a tick, however short it was to \
              be.",
        cost: "up to a tick with each wake-up: 10 ms at 100 Hz, 4 ms at 250 Hz, 1 ms at 1000 Hz",
        remedy: Some("boot a kernel that is built with HIGH_RES_TIMERS"),
        undo: None,
        observe: no_high_resolution_timers,
    },
    Check {
        code: "tick-rate",
        severity: Severity::Info,
        topic: Topic::Timers,
        title: "the tick comes a thousand times a second",
        why: "Each busy CPU is interrupted with every tick, and a period near its own walks \
              through it.",
        cost: "one to several microseconds a thousand times a second on each busy CPU",
        remedy: Some("measure with a period that is no multiple of the tick's, or with nohz_full="),
        undo: None,
        observe: tick_rate,
    },
    Check {
        code: "tick-always",
        severity: Severity::Info,
        topic: Topic::Timers,
        title: "the tick goes on while a CPU is idle",
        why: "The tick keeps CPUs from deep idle states, and comes to those that would have \
              rested.",
        cost: "power; wake-ups may even be faster, since idle states stay shallow",
        remedy: Some("boot a kernel that is built with NO_HZ_IDLE"),
        undo: None,
        observe: tick_always,
    },
    Check {
        code: "nohz-full-unsupported",
        severity: Severity::Error,
        topic: Topic::Timers,
        title: "nohz_full= is given to a kernel that cannot do it",
        why: "A kernel without NO_HZ_FULL drops the parameter and keeps the tick on every CPU.",
        cost: "one to several microseconds with each tick of a busy CPU",
        remedy: Some("boot a kernel that is built with NO_HZ_FULL"),
        undo: None,
        observe: nohz_full_unsupported,
    },
    Check {
        code: "slow-clocksource",
        severity: Severity::Warning,
        topic: Topic::Timers,
        title: "the clock is slow to read",
        why: "Every look at this clock is a system call and an access outside the processor, for \
              the kernel's timers as well.",
        cost: "about a microsecond for each look at the clock, instead of some tens of nanoseconds",
        remedy: Some("dmesg | grep -iE 'tsc|clocksource', for why the better clock was dropped"),
        undo: Some("echo {value} | tee {file}"),
        observe: slow_clocksource,
    },
    Check {
        code: "clocksource-forced",
        severity: Severity::Warning,
        topic: Topic::Timers,
        title: "the command line keeps the kernel from its best clock",
        why: "The choice was made for another machine or another fault, and the kernel obeys.",
        cost: "about a microsecond for each look at the clock, instead of some tens of nanoseconds",
        remedy: Some("take {value} off the kernel's command line"),
        undo: Some("put {value} back on the kernel's command line"),
        observe: clocksource_forced,
    },
    Check {
        code: "tsc-unstable",
        severity: Severity::Warning,
        topic: Topic::Timers,
        title: "the kernel distrusts the time stamp counter",
        why: "The counters of the CPUs run apart or stop, or an interruption by firmware made it \
              seem so.",
        cost: "a slow clock from then on; a time that was taken before may be wrong",
        remedy: Some("look for a newer BIOS; tsc=reliable only where the counters are known good"),
        undo: None,
        observe: tsc_unstable,
    },
    Check {
        code: "guest-clock",
        severity: Severity::Info,
        topic: Topic::Timers,
        title: "the clock is that of a hypervisor",
        why: "It goes on while the guest is not run, so the hypervisor's pauses count as latency.",
        cost: "nothing to read; what the host takes is in the figures",
        remedy: Some("measure on the host as well, to know whose latency it is"),
        undo: None,
        observe: guest_clock,
    },
    Check {
        code: "timer-migration",
        severity: Severity::Warning,
        topic: Topic::Timers,
        title: "timers of tickless CPUs may run on others",
        why: "The kernel moves a timer away from a CPU with nohz_full, so another CPU has to wake \
              it.",
        cost: "an interrupt between CPUs with a wake-up: one to several microseconds",
        remedy: Some("sysctl -w kernel.timer_migration=0"),
        undo: Some("sysctl -w kernel.timer_migration={value}"),
        observe: timer_migration,
    },
    Check {
        code: "shared-timer-device",
        severity: Severity::Info,
        topic: Topic::Timers,
        title: "timers come from a device outside the CPU",
        why: "A device that several CPUs share is slow to set, or needs another CPU to pass the \
              interrupt on.",
        cost: "one to several microseconds with each timer that is set",
        remedy: Some("dmesg | grep -iE 'apic|hpet|clockevent', for why the CPU's own is not used"),
        undo: None,
        observe: shared_timer_device,
    },
];

fn no_high_resolution_timers(facts: &Facts<'_>) -> Option<Observation> {
    if let Some(word) = facts.word("highres").filter(|word| *word == "highres=off") {
        let text = "High-resolution timers were switched off at boot.";
        let seen = Observation::new("proc/cmdline", word, text);
        let undo = "put {value} back on the kernel's command line";
        return Some(seen.with_remedy("take {value} off the kernel's command line", Some(undo)));
    }
    let hz = facts.config("HZ")?;
    let text = format!("The kernel was built without HIGH_RES_TIMERS; its tick has {hz} Hz.");
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
    let text = "The tick goes on while a CPU is idle.";
    if let Some(word) = facts.word("nohz").filter(|word| *word == "nohz=off") {
        let undo = "put {value} back on the kernel's command line";
        let seen = Observation::new("proc/cmdline", word, text);
        return Some(seen.with_remedy("take {value} off the kernel's command line", Some(undo)));
    }
    let periodic = facts.has_option("HZ_PERIODIC");
    periodic.then(|| Observation::new(made::KERNEL_CONFIG, "CONFIG_HZ_PERIODIC=y", text))
}

fn nohz_full_unsupported(facts: &Facts<'_>) -> Option<Observation> {
    if let Some(line) = facts.log_lines("Housekeeping: nohz unsupported").last() {
        let text = "The kernel's log says that it has no NO_HZ_FULL.";
        return Some(Observation::new(made::KERNEL_LOG, line, text));
    }
    let word = facts.word("nohz_full")?;
    let missing = facts.knows_config() && !facts.has_option("NO_HZ_FULL");
    let text = format!("{word} is given, and the kernel was built without NO_HZ_FULL.");
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
            format!("echo {} | tee {{file}}", quoted(better)),
            Some("echo {value} | tee {file}"),
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
    let text = format!("The command line says {word}.");
    Some(Observation::new("proc/cmdline", word, text))
}

fn tsc_unstable(facts: &Facts<'_>) -> Option<Observation> {
    let marks = [
        "Marking TSC unstable due to",
        "Marking clocksource 'tsc' as unstable",
        "Marking clocksource 'tsc-early' as unstable",
    ];
    let log = facts.text(made::KERNEL_LOG)?;
    // What the command line asked for is told elsewhere.
    let mut lines = log.lines().filter(|line| !line.contains("boot parameter"));
    let line = lines.find(|line| marks.iter().any(|mark| line.contains(mark)))?;
    let text = "The kernel's log says that the time stamp counter is unstable.";
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
    let text = format!("Timers that are set on CPU {tickless} may run on other CPUs.");
    (!tickless.is_empty()).then(|| Observation::new(file, value.to_string(), text))
}

fn shared_timer_device(facts: &Facts<'_>) -> Option<Observation> {
    let shared = ["hpet", "pit", "dummy_timer", "bc_hrtimer"];
    let devices =
        facts.snapshot.matching("sys/devices/system/clockevents/clockevent*/current_device");
    let is_shared = |name: &str| shared.contains(&name) || name.starts_with("hpet");
    let (file, device) = devices.into_iter().find(|(_, device)| is_shared(device))?;
    let text = format!("Timers of a CPU come from '{device}'.");
    Some(Observation::new(file, device, text))
}
