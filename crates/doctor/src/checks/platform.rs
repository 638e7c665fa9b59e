//! Hypervisor, container, firmware, buses, pins.

use crate::check::{Check, Observation};
use crate::commands::{FileEdit, commands};
use crate::effect::{Effect, SECOND, Sign, acts, us};
use crate::facts::{Facts, SYS_NICE};
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;

pub const CHECKS: &[Check] = &[
    Check {
        code: "sysfs-missing",
        severity: Severity::Error,
        topic: Topic::Platform,
        effect: Effect::NONE,
        title: "nothing below /sys could be read",
        why: "Most checks need files below /sys: frequencies, idle states, isolation, \
              temperatures.",
        cost: "none by itself, but most checks were skipped",
        remedy: Some("mount -t sysfs sysfs /sys"),
        undo: Some("umount /sys"),
        observe: sysfs_missing,
    },
    Check {
        code: "guest",
        severity: Severity::Warning,
        topic: Topic::Platform,
        effect: acts(us(5), SECOND),
        title: "this is a virtual machine",
        why: "The host may take a CPU away at any time without a trace in the guest, so each \
              latency includes that of the host.",
        cost: "tens of microseconds for a timer, and milliseconds if the host is busy",
        remedy: Some("measure on the bare machine, or give the guest dedicated CPUs on the host"),
        undo: None,
        observe: guest,
    },
    Check {
        code: "stolen-time",
        severity: Severity::Warning,
        topic: Topic::Platform,
        effect: acts(us(5), SECOND).if_seen(Sign::StolenTime),
        title: "the host has taken CPU time away",
        why: "During stolen time another guest or program ran on the guest's CPU, and no setting \
              of the guest prevents that.",
        cost: "typically milliseconds each time",
        remedy: Some("give the guest dedicated CPUs on the host"),
        undo: None,
        observe: stolen_time,
    },
    Check {
        code: "container",
        severity: Severity::Info,
        topic: Topic::Platform,
        effect: Effect::NONE,
        title: "this is a container",
        why: "A container shares the kernel with the rest of the machine, and may lack the rights \
              for priorities, locked memory and kernel files.",
        cost: "none by itself; a CPU quota stops threads for milliseconds",
        remedy: Some(
            "start it with --cap-add=SYS_NICE --cap-add=IPC_LOCK --ulimit rtprio=99 and without \
             a CPU quota",
        ),
        undo: None,
        observe: container,
    },
    Check {
        code: "firmware-interrupts",
        severity: Severity::Info,
        topic: Topic::Platform,
        effect: Effect::NONE,
        title: "the firmware of a PC may stop all CPUs",
        why: "A system management interrupt (SMI) runs firmware code while all CPUs are stopped, \
              and the kernel only sees a gap in time.",
        cost: "10 to 150 us each with good firmware, milliseconds with bad firmware",
        remedy: Some(
            "in the firmware set-up select the performance profile and disable deep C-states, C1E \
             and legacy USB; then count with: hwlatdetect --duration=10m",
        ),
        undo: None,
        observe: firmware_interrupts,
    },
    Check {
        code: "old-firmware",
        severity: Severity::Info,
        topic: Topic::Platform,
        effect: Effect::NONE,
        title: "the firmware is years old",
        why: "Later firmware versions fix long system management interrupts and wrong power \
              settings, and bring newer microcode.",
        cost: "no general figure is known",
        remedy: Some("look for a newer version at the manufacturer of the board"),
        undo: None,
        observe: old_firmware,
    },
    Check {
        code: "error-polling",
        severity: Severity::Info,
        topic: Topic::Platform,
        effect: Effect::NONE.protecting("corrected hardware errors are then not logged"),
        title: "each CPU polls for corrected hardware errors",
        why: "A timer on every CPU, including isolated ones, reads the machine check registers.",
        cost: "a few to tens of microseconds on each CPU at each interval",
        remedy: Some("echo 0 | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: error_polling,
    },
    Check {
        code: "bus-frequency",
        severity: Severity::Warning,
        topic: Topic::Platform,
        effect: acts(us(2), us(200)),
        title: "the frequency of memory or bus follows the load",
        why: "Memory accesses take longer on a slow bus, and all CPUs wait while the memory \
              frequency changes.",
        cost: "microseconds to tens of microseconds at each change, and slower code before it",
        remedy: Some("echo performance | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: bus_frequency,
    },
    Check {
        code: "gpio-chips",
        severity: Severity::Info,
        topic: Topic::Platform,
        effect: Effect::NONE,
        title: "the available GPIO chips",
        why: "latlab needs a GPIO chip to measure the response to an edge on a pin.",
        cost: "nothing",
        remedy: None,
        undo: None,
        observe: gpio_chips,
    },
];

/// Age of firmware, at the time the kernel started, that counts as old.
const OLD_YEARS: i64 = 5;

fn guest(facts: &Facts<'_>) -> Option<Observation> {
    if !facts.is_guest() {
        return None;
    }
    let board = facts.is_board("linux,dummy-virt").then_some("linux,dummy-virt");
    let (file, value) = match (facts.text("sys/hypervisor/type"), board) {
        (Some(kind), _) => ("sys/hypervisor/type", kind),
        (None, Some(board)) => ("proc/device-tree/compatible", board),
        (None, None) => ("proc/cpuinfo", "hypervisor"),
    };
    let vendor = facts.text("sys/class/dmi/id/sys_vendor");
    let vendor = vendor.map_or(String::new(), |vendor| format!(" of {vendor}"));
    let text = format!("This kernel runs under a hypervisor{vendor}.");
    Some(Observation::new(file, value, text))
}

fn stolen_time(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/stat";
    let line = facts.text(file)?.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // Time used by guests of this machine (the last two) is included in the first two.
    let (stolen, all) = (*ticks.get(7)?, ticks.iter().take(8).sum::<u64>());
    let share = stolen as f64 * 100.0 / all.max(1) as f64;
    let share = if share < 0.01 { "less than 0.01".to_string() } else { format!("{share:.2}") };
    let text = format!("The host has taken {share} % of the CPU time since boot.");
    (stolen > 0).then(|| Observation::new(file, format!("steal {stolen}"), text))
}

fn container(facts: &Facts<'_>) -> Option<Observation> {
    let files = ["run/systemd/container", "run/.containerenv", ".dockerenv"];
    let file = files.into_iter().find(|file| facts.snapshot.has(file))?;
    let kind = if file == ".dockerenv" { "docker" } else { facts.text(file).unwrap_or_default() };
    let kind = kind.lines().next().unwrap_or_default();
    let text = format!("/{file} shows that this is a container.");
    let seen = Observation::new(file, kind, text);
    Some(match facts.is_capable(SYS_NICE) {
        Some(true) => seen.with_remedy("make sure that the container has no CPU quota", None),
        _ => seen,
    })
}

fn sysfs_missing(facts: &Facts<'_>) -> Option<Observation> {
    // A file that could not be read in time is reported as unread, not as missing.
    let unread = facts.snapshot.unreadable().any(|(path, _)| path.starts_with("sys/"));
    let is_missing =
        facts.snapshot.has_folder("proc/") && !facts.snapshot.has_folder("sys/") && !unread;
    is_missing.then(|| Observation::new("sys", "", "No file below /sys could be read."))
}

/// The date of a PC's own firmware, which a guest does not have: `03/14/2019`.
fn firmware_date<'a>(facts: &Facts<'a>) -> Option<(&'static str, &'a str)> {
    let file = "sys/class/dmi/id/bios_date";
    let date = facts.text(file)?;
    (!facts.is_guest()).then_some((file, date))
}

fn firmware_interrupts(facts: &Facts<'_>) -> Option<Observation> {
    let (file, date) = firmware_date(facts)?;
    let version = facts.text("sys/class/dmi/id/bios_version").unwrap_or("unknown");
    let tracers = ["sys/kernel/tracing/available_tracers", TRACERS_OF_DEBUGFS];
    let has_hwlat = tracers
        .into_iter()
        .filter_map(|file| facts.text(file))
        .any(|tracers| tracers.split_whitespace().any(|tracer| tracer == "hwlat"));
    let tracer = match has_hwlat {
        true => "; this kernel has the hwlat tracer, which measures the time it takes",
        false => "",
    };
    let text = format!("The firmware is version {version} of {date}{tracer}.");
    Some(Observation::new(file, date, text))
}

const TRACERS_OF_DEBUGFS: &str = "sys/kernel/debug/tracing/available_tracers";

fn old_firmware(facts: &Facts<'_>) -> Option<Observation> {
    let (file, date) = firmware_date(facts)?;
    let year: i64 = date.rsplit('/').next()?.parse().ok()?;
    let started = facts.text("proc/stat")?.lines().find_map(|line| line.strip_prefix("btime "))?;
    let years = started.trim().parse::<i64>().ok()? / 31_556_952 + 1970 - year;
    let text = format!("The firmware is of {date}, {years} years before this kernel was booted.");
    (years >= OLD_YEARS).then(|| Observation::new(file, date, text))
}

fn error_polling(facts: &Facts<'_>) -> Option<Observation> {
    let folder = "sys/devices/system/machinecheck/machinecheck0";
    let file = format!("{folder}/check_interval");
    let seconds = facts.number(&file).filter(|seconds| *seconds > 0)?;
    if facts.number(&format!("{folder}/ignore_ce")) == Some(1) {
        return None;
    }
    let text = format!("Corrected errors are polled every {seconds} s.");
    Some(Observation::new(file, seconds.to_string(), text))
}

const DEVICE_GOVERNOR: &str = "sys/class/devfreq/*/governor";
const BUS_FREQUENCY: &str = "sys/bus/platform/drivers/*busfreq*/*busfreq*/enable";

fn bus_frequency(facts: &Facts<'_>) -> Option<Observation> {
    let changes = FileEdit::list(facts, DEVICE_GOVERNOR, |file, governor| {
        let device = file.split('/').nth(3)?;
        (is_bus(device) && !["performance", "userspace"].contains(&governor))
            .then_some("performance")
    });
    let Some(first) = changes.first() else { return bus_frequency_of_imx(facts) };
    let device = first.file.split('/').nth(3)?;
    let text = format!("The frequency governor of {device} is '{}'.", first.from);
    let (make, undo) = commands(facts, DEVICE_GOVERNOR, &changes);
    Some(Observation::new(first.file, first.from, text).with_remedy(make, Some(undo.into())))
}

/// Graphics and others have a frequency too, and do not slow the CPUs.
fn is_bus(device: &str) -> bool {
    let words = ["memory", "ddr", "dmc", "bus", "noc", "interconnect", "emc", "actmon", "cci"];
    words.iter().any(|word| device.contains(word))
}

/// The equivalent in NXP's kernels for i.MX.
fn bus_frequency_of_imx(facts: &Facts<'_>) -> Option<Observation> {
    let found = facts.snapshot.matching(BUS_FREQUENCY);
    let (file, value) = found.into_iter().find(|(_, value)| value.ends_with("is enabled"))?;
    let seen = Observation::new(file, value, "The i.MX bus frequency driver is on.");
    Some(seen.with_remedy("echo 0 | tee {file}", Some("echo 1 | tee {file}".into())))
}

fn gpio_chips(facts: &Facts<'_>) -> Option<Observation> {
    let folder = "sys/bus/gpio/devices/";
    let names = facts.text(folder)?.lines().collect::<Vec<_>>().join(", ");
    let text = match names.is_empty() {
        true => {
            "This machine has no GPIO chip, so it cannot respond to an edge on a pin.".to_string()
        }
        false => format!("GPIO chips: {names}."),
    };
    Some(Observation::new(folder, names, text))
}
