//! What only a Raspberry Pi has: the flags of its firmware, its config.txt, its USB controller.

use crate::check::{Check, Observation};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::snapshot::made;

/// What is looked for.
pub const CHECKS: &[Check] = &[
    Check {
        code: "firmware-throttles",
        severity: Severity::Error,
        topic: Topic::Heat,
        title: "the firmware holds the clock down now",
        why: "The firmware has lowered the clock behind the kernel's back, so that nothing \
              measured now is what the board can do.",
        cost: "latencies grow by the ratio of the clocks, often to two or three times",
        remedy: Some(
            "for low voltage: a supply and a cable that are strong enough; for heat: a heat sink \
             or a fan",
        ),
        undo: None,
        observe: firmware_throttles,
    },
    Check {
        code: "firmware-has-throttled",
        severity: Severity::Warning,
        topic: Topic::Heat,
        title: "the firmware has held the clock down since the start",
        why: "What has happened since the start may happen again in the middle of a run.",
        cost: "all code slower for as long as it lasts",
        remedy: Some(
            "for low voltage: a supply and a cable that are strong enough; for heat: a heat sink \
             or a fan",
        ),
        undo: None,
        observe: firmware_has_throttled,
    },
    Check {
        code: "low-voltage",
        severity: Severity::Error,
        topic: Topic::Heat,
        title: "the supply is too weak",
        why: "Below its lowest voltage the board lowers its clock, and may fail in stranger ways.",
        cost: "all code slower for as long as it lasts",
        remedy: Some(
            "take a supply and a cable that are strong enough, and power USB devices apart",
        ),
        undo: None,
        observe: low_voltage,
    },
    Check {
        code: "usb-fast-interrupt",
        severity: Severity::Warning,
        topic: Topic::Platform,
        title: "the USB driver uses fast interrupts on a real-time kernel",
        why: "The fast interrupt of the dwc_otg driver cannot be held off by the kernel, and \
              several real-time kernels locked up with it.",
        cost: "a machine that hangs, on some kernels; elsewhere a few microseconds 8000 times a \
               second that no tracer shows",
        remedy: Some(
            "add dwc_otg.fiq_enable=0 dwc_otg.fiq_fsm_enable=0 to the one line of cmdline.txt, and \
             boot; it costs about a tenth of a CPU instead",
        ),
        undo: Some("take both words out of cmdline.txt, and boot"),
        observe: usb_fast_interrupt,
    },
    Check {
        code: "board-clock",
        severity: Severity::Info,
        topic: Topic::Platform,
        title: "config.txt changes clocks or voltages",
        why: "Figures of this board do not compare with those of one that has its clocks as \
              delivered, and a higher clock throttles earlier.",
        cost: "nothing as long as supply and cooling suffice",
        remedy: Some("take the lines out of config.txt, and boot"),
        undo: Some("put the lines back, and boot"),
        observe: board_clock,
    },
    Check {
        code: "narrow-kernel",
        severity: Severity::Info,
        topic: Topic::Platform,
        title: "a 64-bit board runs a 32-bit kernel",
        why: "Figures of a 32-bit kernel do not compare with those of a 64-bit one on the same \
              board, and new real-time kernels are mostly tried with 64 bits.",
        cost: "no general figure is known",
        remedy: Some("set arm_64bit=1 in config.txt and install a 64-bit system"),
        undo: None,
        observe: narrow_kernel,
    },
    Check {
        code: "usb-network",
        severity: Severity::Info,
        topic: Topic::Platform,
        title: "the network port hangs on USB",
        why: "Each packet goes through the USB controller, whose interrupts all go to one CPU.",
        cost: "thousands of interrupts a second while data flows, some microseconds each",
        remedy: Some("keep the network quiet during a run, and real-time work off that CPU"),
        undo: None,
        observe: usb_network,
    },
];

/// The bits of the firmware's flags; 16 higher stands that it has been so since the start.
const FLAGS: [(u32, &str); 4] = [
    (0, "low voltage"),
    (1, "limited frequency"),
    (2, "throttling"),
    (3, "soft temperature limit"),
];
const SINCE_START: u32 = 16;

/// The file, what stands there, and the flags: `50005`, or `throttled=0x50005`.
fn flags<'a>(facts: &Facts<'a>) -> Option<(&'static str, &'a str, u32)> {
    let files = ["sys/devices/platform/soc/soc:firmware/get_throttled", made::THROTTLED];
    files.into_iter().find_map(|file| {
        let text = facts.text(file)?;
        let digits = text.rsplit('=').next()?.trim_start_matches("0x");
        Some((file, text, u32::from_str_radix(digits, 16).ok()?))
    })
}

/// The flags that are set, from this bit on.
fn words(flags: u32, from: u32) -> String {
    let set = FLAGS.iter().filter(|(bit, _)| flags & (1 << (bit + from)) != 0);
    set.map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
}

fn firmware_throttles(facts: &Facts<'_>) -> Option<Observation> {
    let (file, value, flags) = flags(facts)?;
    let words = words(flags, 0);
    let text = format!("The firmware reports now: {words} ({value}).");
    (!words.is_empty()).then(|| Observation::new(file, value, text))
}

fn firmware_has_throttled(facts: &Facts<'_>) -> Option<Observation> {
    let (file, value, flags) = flags(facts)?;
    let words = words(flags, SINCE_START);
    let text = format!("The firmware reports since the start: {words} ({value}).");
    (!words.is_empty()).then(|| Observation::new(file, value, text))
}

fn low_voltage(facts: &Facts<'_>) -> Option<Observation> {
    let alarms = facts.snapshot.matching("sys/class/hwmon/hwmon*/in*_lcrit_alarm");
    let (file, value) = alarms.into_iter().find(|(_, value)| *value == "1")?;
    // The firmware's flags have said it already.
    if flags(facts).is_some_and(|(_, _, flags)| flags & 1 != 0) {
        return None;
    }
    let name = facts.text(&format!("{}/name", file.rsplit_once('/')?.0)).unwrap_or("A sensor");
    let text = format!("{name} raises the alarm for low voltage.");
    Some(Observation::new(file, value, text))
}

fn usb_fast_interrupt(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/module/dwc_otg/parameters/fiq_enable";
    let value = facts.text(file).filter(|value| ["Y", "1"].contains(value))?;
    if !facts.is_realtime() {
        return None;
    }
    Some(Observation::new(file, value, "dwc_otg uses its fast interrupt on a PREEMPT_RT kernel."))
}

fn board_clock(facts: &Facts<'_>) -> Option<Observation> {
    let files = ["boot/firmware/config.txt", "boot/config.txt"];
    let (file, text) = files.into_iter().find_map(|file| Some((file, facts.text(file)?)))?;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| sets_clock(line)).collect();
    let value = lines.join(", ");
    let text = format!("/{file} says {value}.");
    (!lines.is_empty()).then(|| Observation::new(file, value, text))
}

fn sets_clock(line: &str) -> bool {
    let names = [
        "arm_freq",
        "arm_freq_min",
        "arm_boost",
        "core_freq",
        "force_turbo",
        "over_voltage",
        "over_voltage_delta",
        "over_voltage_min",
        "sdram_freq",
        "temp_limit",
        "temp_soft_limit",
    ];
    let known = |(name, value): (&str, &str)| names.contains(&name.trim()) && value.trim() != "0";
    line.split_once('=').is_some_and(known)
}

fn narrow_kernel(facts: &Facts<'_>) -> Option<Observation> {
    let word = facts.text(made::MACHINE).filter(|word| word.starts_with("armv"))?;
    let chips = ["bcm2837", "bcm2711", "bcm2712"];
    let chip = chips.into_iter().find(|chip| facts.is_board(chip))?;
    let text = format!("The kernel says {word}, and the {chip} can run 64 bits.");
    Some(Observation::new(made::MACHINE, word, text))
}

fn usb_network(facts: &Facts<'_>) -> Option<Observation> {
    let boards = ["2-model-b", "3-model-b", "model-b"];
    let names = boards.map(|name| format!("raspberrypi,{name}"));
    let board = names.iter().find(|name| facts.is_board(name))?;
    let model = facts.text("proc/device-tree/model").unwrap_or(board);
    let text = format!("The network port of this board ({model}) is a USB device inside it.");
    Some(Observation::new("proc/device-tree/compatible", board.clone(), text))
}
