//! Interrupts: where they go, how many there are, and the threads that serve them.

use crate::check::{Check, Observation};
use crate::commands::{FileEdit, commands};
use crate::effect::{Effect, acts, ms, us};
use crate::facts::{Facts, Interrupt, Thread};
use latlab_model::CpuSet;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::Line;
use latlab_model::snapshot::made;

pub const CHECKS: &[Check] = &[
    Check {
        code: "isolated-interrupts",
        severity: Severity::Warning,
        topic: Topic::Interrupts,
        effect: acts(us(1), us(500)),
        title: "devices interrupt isolated CPUs",
        why: "An interrupt preempts any thread on its CPU, regardless of its priority.",
        cost: "a few microseconds each, more for a slow handler on a kernel without threaded \
               handlers",
        remedy: Some("set the affinity of the interrupt to the other CPUs"),
        undo: None,
        observe: isolated_interrupts,
    },
    Check {
        code: "interrupt-affinity",
        severity: Severity::Warning,
        topic: Topic::Interrupts,
        effect: acts(us(1), us(500)),
        title: "devices may interrupt isolated CPUs",
        why: "isolcpus= keeps threads away, not interrupts: a device can still interrupt an \
              isolated CPU.",
        cost: "a few microseconds for each interrupt",
        remedy: Some("set the affinity of these interrupts to the other CPUs"),
        undo: None,
        observe: interrupt_affinity,
    },
    Check {
        code: "default-affinity",
        severity: Severity::Info,
        topic: Topic::Interrupts,
        effect: Effect::NONE,
        title: "new interrupts may go to isolated CPUs",
        why: "A device that is added later, such as one that is plugged in, gets the default \
              affinity.",
        cost: "none until such a device is added",
        remedy: Some("echo MASK | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: default_affinity,
    },
    Check {
        code: "one-interrupt-cpu",
        severity: Severity::Info,
        topic: Topic::Interrupts,
        effect: Effect::NONE,
        title: "one CPU handles nearly all interrupts",
        why: "Every device interrupts real-time work on that CPU, and no device does so on the \
              others.",
        cost: "a few microseconds for each interrupt, on that CPU only",
        remedy: Some("run real-time work on another CPU"),
        undo: None,
        observe: one_interrupt_cpu,
    },
    Check {
        code: "interrupt-threads",
        severity: Severity::Warning,
        topic: Topic::Interrupts,
        effect: acts(us(5), ms(5)),
        title: "interrupt threads do not have the default priority of 50",
        why: "An interrupt thread above the real-time work preempts it at any time; one far below \
              must wait for it.",
        cost: "the full run time of the handler: microseconds to milliseconds",
        remedy: Some("chrt -f -p 50 THREAD"),
        undo: Some("chrt -f -p {value} THREAD"),
        observe: interrupt_threads,
    },
    Check {
        code: "usb-interrupts",
        severity: Severity::Warning,
        topic: Topic::Interrupts,
        effect: acts(us(2), us(200)),
        title: "the USB controller interrupts thousands of times a second",
        why: "The USB 2 controller of a Raspberry Pi raises up to 8000 interrupts a second, one \
              for each microframe, unless its fast interrupt (FIQ) filters them.",
        cost: "about a tenth of a CPU, and a few microseconds 8000 times a second on that CPU",
        remedy: Some(
            "unplug USB devices that are not needed, and keep real-time work off that CPU",
        ),
        undo: None,
        observe: usb_interrupts,
    },
    Check {
        code: "interrupt-errors",
        severity: Severity::Info,
        topic: Topic::Interrupts,
        effect: Effect::NONE,
        title: "the interrupt controller counts errors",
        why: "A spurious or wrongly delivered interrupt points at a fault of a device, its driver \
              or the board.",
        cost: "microseconds each; the underlying fault may cost more",
        remedy: Some("look for the device with: dmesg | grep -iE 'irq|apic'"),
        undo: None,
        observe: interrupt_errors,
    },
    Check {
        code: "softirq-threads",
        severity: Severity::Info,
        topic: Topic::Interrupts,
        effect: Effect::NONE,
        title: "the softirq threads have a high priority",
        why: "All network, block and timer work in these threads runs before real-time work of a \
              lower priority.",
        cost: "microseconds to milliseconds under load",
        remedy: Some("chrt -f -p 1 THREAD"),
        undo: Some("chrt -f -p {value} THREAD"),
        observe: softirq_threads,
    },
    Check {
        code: "interrupt-coalescing",
        severity: Severity::Info,
        topic: Topic::Interrupts,
        effect: Effect::NONE,
        title: "network cards delay interrupts",
        why: "A card that waits for more packets before it interrupts delays each packet that a \
              program waits for, and has no effect on timers.",
        cost: "up to the delay for each packet; without it each packet interrupts, which costs CPU \
               time under load",
        remedy: Some("ethtool -C DEVICE rx-usecs 0 adaptive-rx off"),
        undo: Some("ethtool -C DEVICE rx-usecs {value}"),
        observe: interrupt_coalescing,
    },
];

const AFFINITY: &str = "proc/irq/*/smp_affinity_list";
/// A lower average rate counts as quiet, per second.
const BUSY: f64 = 1.0;
/// From this rate on, a USB controller takes an interrupt for every microframe, per second.
const STORM: f64 = 2000.0;
/// The kernel's default for interrupt threads.
const USUAL_PRIORITY: u32 = 50;
/// Default priority of latlab's measuring threads.
const HIGH_PRIORITY: u32 = 90;

/// How often it occurred on these CPUs.
fn count_on(interrupt: &Interrupt<'_>, cpus: &CpuSet) -> u64 {
    let counts = interrupt.counts.iter().filter(|(cpu, _)| cpus.contains(*cpu));
    counts.map(|(_, count)| count).sum()
}

/// The number in `proc/irq/33/smp_affinity_list`.
fn number_in(file: &str) -> Option<&str> {
    file.split('/').nth(2)
}

/// Whether an affinity names only isolated CPUs, which someone must have set on purpose.
fn is_bound(facts: &Facts<'_>, allowed: &str) -> bool {
    allowed.parse::<CpuSet>().is_ok_and(|allowed| allowed.without(&facts.isolated()).is_empty())
}

/// The changes that move interrupts away from isolated CPUs.
fn affinity_edits<'a>(
    facts: &Facts<'a>,
    rest: &'a str,
    is_meant: impl Fn(&str) -> bool,
) -> Vec<FileEdit<'a>> {
    let isolated = facts.isolated();
    FileEdit::list(facts, AFFINITY, |file, allowed| {
        let inside = allowed.parse::<CpuSet>().ok()?.and(&isolated);
        (!inside.is_empty() && number_in(file).is_some_and(&is_meant)).then_some(rest)
    })
}

fn isolated_interrupts(facts: &Facts<'_>) -> Option<Observation> {
    let (isolated, uptime) = (facts.isolated(), facts.uptime()?);
    let busiest = facts
        .interrupts()
        .filter(Interrupt::is_device)
        .max_by_key(|interrupt| count_on(interrupt, &isolated))?;
    let count = count_on(&busiest, &isolated);
    let rate = count as f64 / uptime;
    if rate < BUSY {
        return None;
    }
    let (name, device) = (busiest.name, busiest.device());
    let text = format!(
        "Interrupt {name} ({device}) occurred {count} times on the isolated CPU {isolated}, \
         {rate:.0} times a second since boot."
    );
    let file = format!("proc/irq/{name}/smp_affinity_list");
    let seen = Observation::new("proc/interrupts", count.to_string(), text);
    let rest = facts.housekeeping();
    let Some(allowed) = facts.text(&file).filter(|_| !rest.is_empty()) else { return Some(seen) };
    let write = |cpus: &str| Line::new("echo").word(cpus).text("| tee").word(format!("/{file}"));
    let seen = seen.with_remedy(write(&rest.to_string()), Some(write(allowed).into()));
    Some(if is_bound(facts, allowed) { seen.with_severity(Severity::Info) } else { seen })
}

fn interrupt_affinity(facts: &Facts<'_>) -> Option<Observation> {
    let rest = facts.housekeeping().to_string();
    let devices = facts.interrupts().filter(Interrupt::is_device);
    let devices: Vec<&str> = devices.map(|interrupt| interrupt.name).collect();
    // An interrupt number without a handler has an affinity too.
    let changes =
        affinity_edits(facts, &rest, |number| devices.is_empty() || devices.contains(&number));
    let first = changes.first().filter(|_| !rest.is_empty())?;
    let numbers = changes.iter().filter_map(|change| number_in(change.file)).take(8);
    let numbers = numbers.collect::<Vec<_>>().join(", ");
    let more = match changes.len() {
        0..=8 => String::new(),
        all => format!(" and {} more", all - 8),
    };
    let text = format!(
        "Interrupts that may occur on the isolated CPU {}: {numbers}{more}.",
        facts.isolated()
    );
    let (make, undo) = commands(facts, AFFINITY, &changes);
    let seen = Observation::new(first.file, first.from, text).with_remedy(make, Some(undo.into()));
    let bound = changes.iter().all(|change| is_bound(facts, change.from));
    Some(if bound { seen.with_severity(Severity::Info) } else { seen })
}

fn default_affinity(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/irq/default_smp_affinity";
    let mask = facts.text(file)?;
    let inside = CpuSet::from_mask(mask)?.and(&facts.isolated());
    let rest = facts.housekeeping();
    if inside.is_empty() || rest.is_empty() {
        return None;
    }
    let text = format!("A new interrupt may be routed to the isolated CPU {inside}.");
    let remedy = Line::new("echo").word(rest.to_mask()).text("| tee").word(format!("/{file}"));
    Some(
        Observation::new(file, mask, text)
            .with_remedy(remedy, Some("echo {value} | tee {file}".into())),
    )
}

fn one_interrupt_cpu(facts: &Facts<'_>) -> Option<Observation> {
    let mut counts: Vec<(u32, u64)> = Vec::new();
    for interrupt in facts.interrupts().filter(Interrupt::is_device) {
        for (cpu, count) in interrupt.counts {
            match counts.iter_mut().find(|(known, _)| *known == cpu) {
                Some((_, sum)) => *sum += count,
                None => counts.push((cpu, count)),
            }
        }
    }
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let (cpu, most) = counts.iter().max_by_key(|(_, count)| *count)?;
    if counts.len() < 2 || all == 0 || most * 100 < all * 99 {
        return None;
    }
    let text = format!("CPU {cpu} has handled {most} of {all} device interrupts.");
    Some(Observation::new("proc/interrupts", most.to_string(), text))
}

fn interrupt_threads(facts: &Facts<'_>) -> Option<Observation> {
    let unusual = |thread: &Thread<'_>| {
        thread.name.starts_with("irq/")
            && thread.is_realtime()
            && thread.priority != USUAL_PRIORITY
            && (thread.priority < USUAL_PRIORITY || thread.priority >= HIGH_PRIORITY)
    };
    let threads: Vec<Thread<'_>> = facts.threads().filter(unusual).collect();
    let thread = threads.iter().max_by_key(|thread| thread.priority)?;
    let is_high = thread.priority >= HIGH_PRIORITY;
    let others = match threads.len() - 1 {
        0 => String::new(),
        others => format!(", and {others} more differ from {USUAL_PRIORITY}"),
    };
    let seen = thread_observation(thread, &others);
    Some(if is_high { seen } else { seen.with_severity(Severity::Info) })
}

/// A thread with its priority, and the commands that would change it.
fn thread_observation(thread: &Thread<'_>, others: &str) -> Observation {
    let Thread { id, name, priority, .. } = thread;
    let usual = if name.starts_with("irq/") { USUAL_PRIORITY } else { 1 };
    let text = format!("{name} (thread {id}) has priority {priority}{others}.");
    let seen = Observation::new(made::THREADS, priority.to_string(), text);
    let chrt =
        |priority: u32| Line::new("chrt -f -p").words([priority.to_string(), id.to_string()]);
    seen.with_remedy(chrt(usual), Some(chrt(*priority).into()))
}

fn usb_interrupts(facts: &Facts<'_>) -> Option<Observation> {
    let uptime = facts.uptime()?;
    let is_usb = |interrupt: &Interrupt<'_>| {
        ["dwc_otg", "dwc2"].iter().any(|driver| interrupt.device().contains(driver))
    };
    let usb = facts.interrupts().filter(is_usb).max_by_key(Interrupt::count)?;
    let (count, name) = (usb.count(), usb.name);
    let rate = count as f64 / uptime;
    let threaded = facts.threads().find(|thread| {
        thread.name.starts_with(&format!("irq/{name}-")) && thread.name.contains("dwc")
    });
    let thread = threaded.map_or(String::new(), |thread| format!(", handled by {}", thread.name));
    let text = format!(
        "Interrupt {name} ({}) occurred {rate:.0} times a second since boot{thread}.",
        usb.device()
    );
    (rate >= STORM).then(|| Observation::new("proc/interrupts", count.to_string(), text))
}

fn interrupt_errors(facts: &Facts<'_>) -> Option<Observation> {
    let is_error = |interrupt: &Interrupt<'_>| {
        ["ERR", "Err", "MIS"].contains(&interrupt.name) && interrupt.count() > 0
    };
    let error = facts.interrupts().find(is_error)?;
    let text = match error.name {
        "MIS" => format!("{} interrupts were delivered incorrectly (MIS).", error.count()),
        name => format!("{} interrupts were spurious or failed ({name}).", error.count()),
    };
    Some(Observation::new("proc/interrupts", error.count().to_string(), text))
}

fn softirq_threads(facts: &Facts<'_>) -> Option<Observation> {
    let names = ["ksoftirqd/", "ktimers/", "ktimersoftd/"];
    let is_high = |thread: &Thread<'_>| {
        names.iter().any(|name| thread.name.starts_with(name)) && thread.priority > 1
    };
    let threads: Vec<Thread<'_>> = facts.threads().filter(is_high).collect();
    let thread = threads.iter().max_by_key(|thread| thread.priority)?;
    Some(thread_observation(thread, ""))
}

/// How a network card delays its interrupts.
struct Coalescing<'a> {
    card: &'a str,
    driver: &'a str,
    rx_usecs: u32,
    is_adaptive: bool,
}

/// Drivers for which a delay of 1 or 3 us means adaptive.
const SELF_CHOOSING: &[&str] = &["e1000", "e1000e", "igb", "igc"];

impl<'a> Coalescing<'a> {
    fn parse(line: &'a str) -> Option<Coalescing<'a>> {
        let mut fields = line.splitn(4, '\t');
        let mut next = || fields.next();
        Some(Coalescing {
            card: next()?,
            driver: next()?,
            rx_usecs: next()?.parse().ok()?,
            is_adaptive: next()? == "on",
        })
    }

    fn delays(&self) -> bool {
        self.is_adaptive || self.rx_usecs > 0
    }

    /// The delay in words.
    fn words(&self) -> String {
        let Coalescing { card, driver, rx_usecs, is_adaptive } = self;
        let is_choice = matches!(rx_usecs, 1 | 3) && SELF_CHOOSING.contains(driver);
        match is_choice {
            true => format!("{card} by up to 250 us as {driver} sees fit (rx-usecs {rx_usecs})"),
            false if *is_adaptive => {
                format!("{card} by a time that adapts to its load (now {rx_usecs} us)")
            }
            false => format!("{card} by up to {rx_usecs} us"),
        }
    }

    /// The command that sets this delay, using only options that the card reported.
    fn command(&self, rx_usecs: u32, adaptive: &'static str) -> Line {
        let line = Line::new("ethtool -C").word(self.card);
        let line = if self.is_adaptive { line.text("adaptive-rx").text(adaptive) } else { line };
        line.text("rx-usecs").word(rx_usecs.to_string())
    }
}

fn interrupt_coalescing(facts: &Facts<'_>) -> Option<Observation> {
    let lines = facts.text(made::COALESCING)?.lines();
    let cards = lines.filter_map(Coalescing::parse).filter(Coalescing::delays);
    let cards: Vec<Coalescing<'_>> = cards.collect();
    let words: Vec<String> = cards.iter().map(Coalescing::words).collect();
    let text = format!("Network cards delay the interrupts of packets: {}.", words.join(", "));
    let all = |command: &dyn Fn(&Coalescing<'_>) -> Line| {
        cards.iter().map(command).reduce(|all, next| all.then("; ", &next))
    };
    let remedy = all(&|card| card.command(0, "off"))?;
    let undo = all(&|card| card.command(card.rx_usecs, "on"));
    let value = cards.iter().map(|card| card.rx_usecs.to_string()).collect::<Vec<_>>().join(", ");
    let seen = Observation::new(made::COALESCING, value, text);
    Some(seen.with_remedy(remedy, undo.map(Into::into)))
}
