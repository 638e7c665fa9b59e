//! What only a Raspberry Pi has: the flags of its firmware, its config.txt, its USB controller.

use crate::check::{Check, Observation};
use crate::effect::{Effect, acts, ms, us};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::snapshot::made;

pub const CHECKS: &[Check] = &[
    Check {
        code: "firmware-throttles",
        severity: Severity::Error,
        topic: Topic::Heat,
        effect: acts(us(5), ms(10)),
        title: "the firmware throttles the clock now",
        why: "The firmware has lowered the clock without telling the kernel, so results do not \
              show what the board can do.",
        cost: "latencies grow by the ratio of the clocks, often by a factor of two or three",
        remedy: Some(
            "if the voltage is low, use a stronger supply and cable; if it is hot, add a heat \
             sink or a fan",
        ),
        undo: None,
        observe: firmware_throttles,
    },
    Check {
        code: "firmware-has-throttled",
        severity: Severity::Warning,
        topic: Topic::Heat,
        effect: acts(us(5), ms(10)),
        title: "the firmware has throttled the clock since boot",
        why: "It may throttle again in the middle of a run.",
        cost: "all code runs slower during that time",
        remedy: Some(
            "if the voltage is low, use a stronger supply and cable; if it is hot, add a heat \
             sink or a fan",
        ),
        undo: None,
        observe: firmware_has_throttled,
    },
    Check {
        code: "low-voltage",
        severity: Severity::Error,
        topic: Topic::Heat,
        effect: acts(us(5), ms(10)),
        title: "the supply voltage is too low",
        why: "Below its minimum voltage the board lowers its clock and may malfunction.",
        cost: "all code runs slower during that time",
        remedy: Some("use a stronger supply and cable, and power USB devices separately"),
        undo: None,
        observe: low_voltage,
    },
    Check {
        code: "usb-fast-interrupt",
        severity: Severity::Warning,
        topic: Topic::Platform,
        effect: acts(us(5), ms(1)),
        title: "the USB driver uses fast interrupts on a real-time kernel",
        why: "The kernel cannot mask the fast interrupt (FIQ) of the dwc_otg driver, and several \
              real-time kernels locked up with it.",
        cost: "a hang on some kernels; a few microseconds 8000 times a second on others, \
               invisible to tracers",
        remedy: Some(
            "add dwc_otg.fiq_enable=0 dwc_otg.fiq_fsm_enable=0 to the single line of cmdline.txt \
             and reboot; this costs about a tenth of a CPU",
        ),
        undo: Some("remove both parameters from cmdline.txt and reboot"),
        observe: usb_fast_interrupt,
    },
    Check {
        code: "board-clock",
        severity: Severity::Info,
        topic: Topic::Platform,
        effect: Effect::NONE,
        title: "config.txt changes clocks or voltages",
        why: "Results of this board are not comparable with a board at its default clocks, and a \
              higher clock throttles earlier.",
        cost: "none if supply and cooling are sufficient",
        remedy: Some("remove the lines from config.txt and reboot"),
        undo: Some("add the lines again and reboot"),
        observe: board_clock,
    },
    Check {
        code: "narrow-kernel",
        severity: Severity::Info,
        topic: Topic::Platform,
        effect: Effect::NONE,
        title: "a 64-bit board runs a 32-bit kernel",
        why: "Results of a 32-bit kernel are not comparable with those of a 64-bit kernel on the \
              same board, and new real-time kernels are tested mostly with 64 bits.",
        cost: "no general figure is known",
        remedy: Some("set arm_64bit=1 in config.txt and install a 64-bit system"),
        undo: None,
        observe: narrow_kernel,
    },
    Check {
        code: "usb-network",
        severity: Severity::Info,
        topic: Topic::Platform,
        effect: Effect::NONE,
        title: "the network port is a USB device",
        why: "Each packet passes through the USB controller, whose interrupts all go to one CPU.",
        cost: "thousands of interrupts a second during transfers, a few microseconds each",
        remedy: Some("avoid network traffic during a run, and keep real-time work off that CPU"),
        undo: None,
        observe: usb_network,
    },
];

/// Bits of the firmware's flags; 16 higher are the sticky ones since boot.
const FLAGS: [(u32, &str); 4] = [
    (0, "low voltage"),
    (1, "limited frequency"),
    (2, "throttling"),
    (3, "soft temperature limit"),
];
const SINCE_START: u32 = 16;

/// The file, its content, and the flags: `50005`, or `throttled=0x50005`.
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
    let text = format!("The firmware reports: {words} ({value}).");
    (!words.is_empty()).then(|| Observation::new(file, value, text))
}

fn firmware_has_throttled(facts: &Facts<'_>) -> Option<Observation> {
    let (file, value, flags) = flags(facts)?;
    let words = words(flags, SINCE_START);
    let text = format!("The firmware reports since boot: {words} ({value}).");
    (!words.is_empty()).then(|| Observation::new(file, value, text))
}

fn low_voltage(facts: &Facts<'_>) -> Option<Observation> {
    let alarms = facts.snapshot.matching("sys/class/hwmon/hwmon*/in*_lcrit_alarm");
    let (file, value) = alarms.into_iter().find(|(_, value)| *value == "1")?;
    // The firmware's flags have reported it already.
    if flags(facts).is_some_and(|(_, _, flags)| flags & 1 != 0) {
        return None;
    }
    let name = facts.text(&format!("{}/name", file.rsplit_once('/')?.0)).unwrap_or("A sensor");
    let text = format!("{name} reports low voltage.");
    Some(Observation::new(file, value, text))
}

fn usb_fast_interrupt(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/module/dwc_otg/parameters/fiq_enable";
    let value = facts.text(file).filter(|value| ["Y", "1"].contains(value))?;
    if !facts.is_realtime() {
        return None;
    }
    Some(Observation::new(
        file,
        value,
        "dwc_otg uses its fast interrupt (FIQ) on a PREEMPT_RT \
                                        kernel.",
    ))
}

fn board_clock(facts: &Facts<'_>) -> Option<Observation> {
    let files = ["boot/firmware/config.txt", "boot/config.txt"];
    let (file, text) = files.into_iter().find_map(|file| Some((file, facts.text(file)?)))?;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| sets_clock(line)).collect();
    let value = lines.join(", ");
    let text = format!("/{file} has {value}.");
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
    let text = format!("The kernel is {word}, but the {chip} supports 64 bits.");
    Some(Observation::new(made::MACHINE, word, text))
}

fn usb_network(facts: &Facts<'_>) -> Option<Observation> {
    let boards = ["2-model-b", "3-model-b", "model-b"];
    let names = boards.map(|name| format!("raspberrypi,{name}"));
    let board = names.iter().find(|name| facts.is_board(name))?;
    let model = facts.text("proc/device-tree/model").unwrap_or(board);
    let text = format!("The network port of this board ({model}) is an internal USB device.");
    Some(Observation::new("proc/device-tree/compatible", board.clone(), text))
}
