//! Preemption model, and what the kernel reports about itself.

use crate::check::{Check, Observation};
use crate::effect::{Effect, SECOND, Sign, acts, us};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::machine::{
    UNSUPPORTED_MODE, dynamic_mode, is_configured_realtime, is_realtime_version,
};
use latlab_model::run::Severity;
use latlab_model::shell::Line;
use latlab_model::snapshot::{Content, made};

const SWITCH: &str = "sys/kernel/debug/sched/preempt";
const VERSION: &str = "proc/sys/kernel/version";
const MODES: &[&str] = &["none", "voluntary", "full", "lazy"];
/// If a kernel has `lazy`, these do not exist from 7.0 on.
const OLD_MODES: &[&str] = &["none", "voluntary"];

pub const CHECKS: &[Check] = &[
    Check {
        code: "not-realtime",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(20), SECOND),
        title: "the kernel is not PREEMPT_RT",
        why: "On a stock kernel a thread waits until interrupt work ends, and until spinlocks are \
              released.",
        cost: "little when idle; hundreds of microseconds to milliseconds under load, without an \
               upper bound",
        remedy: Some("boot a kernel built with PREEMPT_RT"),
        undo: Some("boot the current kernel again"),
        observe: not_realtime,
    },
    Check {
        code: "preempt-mode",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(20), SECOND).if_seen(Sign::Sleeps),
        title: "PREEMPT_DYNAMIC is set to none or voluntary",
        why: "In this mode a system call of another program runs until it sleeps, ends or reaches \
              one of a few preemption points.",
        cost: "hundreds of microseconds under load; 547 us were measured beside a compiler with \
               'none'",
        remedy: Some("echo full | tee /sys/kernel/debug/sched/preempt"),
        undo: Some("echo {value} | tee /sys/kernel/debug/sched/preempt"),
        observe: preempt_mode,
    },
    Check {
        code: "preemption-contradiction",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "two sources disagree about the preemption model",
        why: "One source describes another kernel, or the kernel ignored a parameter, so results \
              may be attributed to the wrong preemption model.",
        cost: "none by itself; results may be attributed to the wrong kernel",
        remedy: Some("uname -v; cat /sys/kernel/realtime /sys/kernel/debug/sched/preempt"),
        undo: None,
        observe: preemption_contradiction,
    },
    Check {
        code: "preempt-ignored",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(us(20), SECOND).if_seen(Sign::Sleeps),
        title: "preempt= has no effect on this kernel",
        why: "Only a kernel with PREEMPT_DYNAMIC accepts the parameter, and only with a mode that \
              it knows.",
        cost: "the kernel keeps its built-in mode",
        remedy: Some(
            "remove {value} from the kernel command line, or boot a kernel that supports \
                      it",
        ),
        undo: Some("add {value} to the kernel command line again"),
        observe: preempt_ignored,
    },
    Check {
        code: "preemption-unknown",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "the mode of PREEMPT_DYNAMIC cannot be read",
        why: "The latencies of a kernel depend strongly on this mode, and no readable file names \
              it.",
        cost: "none by itself; results lack the mode that they depend on",
        remedy: Some(
            "mount -t debugfs debugfs /sys/kernel/debug; cat /sys/kernel/debug/sched/preempt",
        ),
        undo: Some("umount /sys/kernel/debug"),
        observe: preemption_unknown,
    },
    Check {
        code: "configuration-unknown",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE,
        title: "the kernel configuration cannot be read",
        why: "Without the configuration, the doctor cannot see debugging options and missing \
              features.",
        cost: "none by itself; checks that depend on a kernel option are skipped",
        remedy: Some("modprobe configs, or copy the configuration to /boot/config-{value}"),
        undo: Some("modprobe -r configs"),
        observe: configuration_unknown,
    },
];

/// A preemption model, with its evidence: words in a file.
struct Model<'a> {
    name: &'a str,
    file: &'static str,
    said: &'a str,
}

/// The model of a kernel without PREEMPT_RT, from the best source.
fn model<'a>(facts: &Facts<'a>) -> Option<Model<'a>> {
    if let Some(name) = dynamic_mode(facts.snapshot) {
        let switch = facts.text(SWITCH).is_some_and(|text| text.contains(name));
        let file = if switch { SWITCH } else { made::KERNEL_LOG };
        return Some(Model { name, file, said: name });
    }
    let asked = facts.parameter("preempt").filter(|mode| accepts(facts, mode));
    if let Some(name) = asked.filter(|_| is_dynamic(facts) == Some(true)) {
        return Some(Model { name, file: "proc/cmdline", said: facts.word("preempt")? });
    }
    // For a kernel that chooses at boot, the configuration is only the default.
    if let Some((said, name)) = configured(facts).filter(|_| is_dynamic(facts) == Some(false)) {
        return Some(Model { name, file: made::KERNEL_CONFIG, said });
    }
    let said = facts.text(VERSION)?;
    let name = match version_word(facts) {
        Some("PREEMPT") if facts.kernel() >= Some((6, 13)) => "full or lazy",
        Some("PREEMPT") => "full",
        Some("PREEMPT_DYNAMIC") => "PREEMPT_DYNAMIC, mode unknown",
        Some(_) => return None,
        None => "none or voluntary",
    };
    Some(Model { name, file: VERSION, said })
}

/// Whether the kernel knows a mode of preempt=, from its list, its log, or its version.
fn accepts(facts: &Facts<'_>, mode: &str) -> bool {
    if let Some(modes) = facts.text(SWITCH) {
        let name = |word: &str| word.trim_matches(['(', ')', '[', ']']) == mode;
        return modes.split_whitespace().any(name);
    }
    let refused = |line: &str| line.trim_end().ends_with(&format!("{UNSUPPORTED_MODE}{mode}"));
    let is_gone = OLD_MODES.contains(&mode)
        && facts.has_option("ARCH_HAS_PREEMPT_LAZY")
        && facts.kernel() >= Some((7, 0));
    MODES.contains(&mode) && !is_gone && !facts.log_lines(UNSUPPORTED_MODE).any(refused)
}

/// The built-in option of the model; for a dynamic kernel, the default.
fn configured(facts: &Facts<'_>) -> Option<(&'static str, &'static str)> {
    let options = [
        ("PREEMPT_NONE", "CONFIG_PREEMPT_NONE=y", "none"),
        ("PREEMPT_VOLUNTARY", "CONFIG_PREEMPT_VOLUNTARY=y", "voluntary"),
        ("PREEMPT_LAZY", "CONFIG_PREEMPT_LAZY=y", "lazy"),
        ("PREEMPT", "CONFIG_PREEMPT=y", "full"),
    ];
    let built_in = options.into_iter().find(|(option, ..)| facts.has_option(option));
    built_in.map(|(_, said, mode)| (said, mode))
}

fn version_word<'a>(facts: &Facts<'a>) -> Option<&'a str> {
    facts.version_words().find(|word| word.starts_with("PREEMPT"))
}

/// Whether the mode can be chosen at boot; `None` if unknown.
fn is_dynamic(facts: &Facts<'_>) -> Option<bool> {
    if facts.knows_config() {
        return Some(facts.has_option("PREEMPT_DYNAMIC"));
    }
    facts.text(VERSION)?;
    match version_word(facts) {
        // Such a kernel may be dynamic too, and does not show it there.
        Some("PREEMPT_RT") => None,
        word => Some(word == Some("PREEMPT_DYNAMIC")),
    }
}

fn not_realtime(facts: &Facts<'_>) -> Option<Observation> {
    if facts.is_realtime() {
        return None;
    }
    let Model { name, file, said } = model(facts)?;
    let text = format!(
        "The kernel is not PREEMPT_RT; its preemption model is '{name}' according to {}.",
        file_name(file)
    );
    let seen = Observation::new(file, said, text);
    Some(match realtime_package(facts) {
        Some((install, remove)) => seen.with_remedy(install, Some(remove.into())),
        None => seen,
    })
}

/// The name of a file of the snapshot.
fn file_name(file: &str) -> String {
    match file {
        made::KERNEL_LOG => "the kernel log".to_string(),
        made::KERNEL_CONFIG => "its configuration".to_string(),
        file => format!("/{file}"),
    }
}

/// How to install and remove the distribution's own PREEMPT_RT kernel.
fn realtime_package(facts: &Facts<'_>) -> Option<(Line, Line)> {
    // A guest may get its kernel from its host, and a container always does.
    if facts.is_guest() || facts.is_container() {
        return None;
    }
    let release = facts.text("etc/os-release")?;
    let id = release.lines().find_map(|line| line.strip_prefix("ID="))?.trim_matches('"');
    let flavour = match facts.text(made::MACHINE)? {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "armv7l" => "armmp",
        _ => return None,
    };
    let package = format!("linux-image-rt-{flavour}");
    let (install, remove) = match id {
        // Debian's kernels do not boot the boards of Raspberry Pi OS, which calls itself Debian.
        "debian" if !facts.is_board("raspberrypi") && !facts.snapshot.has("etc/rpi-issue") => (
            Line::new("apt install").word(&package).end(", then boot it"),
            Line::new("apt remove").word(&package),
        ),
        "ubuntu" => (
            Line::new("pro enable realtime-kernel, then boot it"),
            Line::new("pro disable realtime-kernel"),
        ),
        _ => return None,
    };
    Some((install, remove))
}

fn preempt_mode(facts: &Facts<'_>) -> Option<Observation> {
    let Model { name, file, said } = model(facts)?;
    if facts.is_realtime() || is_dynamic(facts) == Some(false) {
        return None;
    }
    if !matches!(name, "none" | "voluntary") {
        return None;
    }
    let text = format!("PREEMPT_DYNAMIC is set to '{name}'.");
    let seen = Observation::new(file, said, text);
    Some(match facts.text(SWITCH) {
        Some(_) => seen,
        None => {
            let undo = "remove preempt=full from the kernel command line";
            seen.with_remedy("add preempt=full to the kernel command line", Some(undo.into()))
        }
    })
}

fn preemption_contradiction(facts: &Facts<'_>) -> Option<Observation> {
    of_another_kernel(facts).or_else(|| wish_not_granted(facts))
}

/// Compares the configuration with what the running kernel reports.
fn of_another_kernel(facts: &Facts<'_>) -> Option<Observation> {
    if !facts.knows_config() {
        return None;
    }
    let configured = is_configured_realtime(facts.snapshot);
    let says = |what: bool| if what { "is PREEMPT_RT" } else { "is not PREEMPT_RT" };
    let against = |file: &str, value: &str, runs: bool| {
        let text = format!(
            "This kernel {} according to {file}, but its configuration says that it {}.",
            says(runs),
            says(configured)
        );
        Observation::new(file, value, text)
    };
    let realtime = facts.text("sys/kernel/realtime");
    if let Some(value) = realtime.filter(|value| (*value == "1") != configured) {
        return Some(against("sys/kernel/realtime", value, value == "1"));
    }
    let version = facts.text(VERSION)?;
    let runs = is_realtime_version(version);
    (runs != configured).then(|| against(VERSION, version, runs))
}

fn wish_not_granted(facts: &Facts<'_>) -> Option<Observation> {
    let wish = facts.parameter("preempt").filter(|mode| accepts(facts, mode))?;
    let mode = dynamic_mode(facts.snapshot)?;
    let file = model(facts)?.file;
    let text = format!("The command line has preempt={wish}, but the mode is '{mode}'.");
    (wish != mode).then(|| Observation::new(file, mode, text))
}

fn preempt_ignored(facts: &Facts<'_>) -> Option<Observation> {
    let word = facts.word("preempt")?;
    let text = if is_dynamic(facts)? {
        let mode = facts.parameter("preempt").filter(|mode| !accepts(facts, mode))?;
        format!("This kernel has no preemption mode '{mode}', so it ignored {word}.")
    } else {
        format!("This kernel has no PREEMPT_DYNAMIC, so {word} has no effect.")
    };
    Some(Observation::new("proc/cmdline", word, text))
}

fn preemption_unknown(facts: &Facts<'_>) -> Option<Observation> {
    let dynamic = version_word(facts) == Some("PREEMPT_DYNAMIC");
    if !dynamic || dynamic_mode(facts.snapshot).is_some() {
        return None;
    }
    let seen = |why: &str| {
        let built = configured(facts).map(|(_, mode)| format!(" (built-in default: '{mode}')"));
        let built = built.unwrap_or_default();
        let text = format!("The mode of this PREEMPT_DYNAMIC kernel is not known{built}: {why}.");
        Observation::new(VERSION, "PREEMPT_DYNAMIC", text)
    };
    Some(match facts.snapshot.files.get(SWITCH) {
        Some(Content::Unreadable { unreadable }) => seen(&format!(
            "reading /{SWITCH} failed with \
                                                                   '{unreadable}'"
        ))
        .with_remedy(Line::new("sudo cat").word(format!("/{SWITCH}")), None),
        Some(Content::Text(_)) => seen("its switch names no mode"),
        None => {
            seen(&format!("/{SWITCH} does not exist, and the kernel log does not name the mode"))
        }
    })
}

fn configuration_unknown(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/kernel/osrelease";
    let release = facts.text(file)?;
    facts.text(VERSION).filter(|_| !facts.knows_config())?;
    let text = format!("Neither /proc/config.gz nor /boot/config-{release} can be read.");
    Some(Observation::new(file, release, text))
}
