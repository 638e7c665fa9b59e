//! The system-wide files that are read each time.

use super::Extent;
use super::pace::Pace;
use super::parsers::{
    FREQUENCY, FREQUENCY_LIMIT, clocksource, idle, interrupts, memory, number, pages, pressure,
    softirqs, stat, temperature, throttle_flags, throttles,
};
use super::register::Register;
use latlab_model::Nanos;
use latlab_sys::clock::Clock;
use latlab_sys::files::{OpenFile, Root};
use latlab_sys::release_times::BEFORE;

/// Parses a file's text into the register; the subject comes from its path.
type Parse = fn(&str, &str, &mut Register);

/// A file that is read each time.
struct Source {
    file: OpenFile,
    subject: String,
    parse: Parse,
}

/// All files that tell of this machine's conditions.
pub struct Sources {
    /// Files whose reading soon returns the CPU.
    short: Vec<Source>,
    /// Files whose reading ends before the next release if it begins between two.
    medium: Vec<Source>,
    /// Files whose reading may hold the CPU for long.
    long: Vec<Source>,
    extent: Extent,
    /// Whether the medium files are as quick as expected on this machine.
    pub fit_between_releases: bool,
}

/// The longest time that reading a file may take between releases.
const MOST_BETWEEN: i64 = BEFORE / 2;

/// System-wide files whose reading may hold the CPU for long.
const LONG: &[(&str, &str, Parse)] = &[
    ("proc/interrupts", "", interrupts),
    ("proc/softirqs", "", softirqs),
    ("proc/vmstat", "", pages),
];

/// System-wide files whose reading holds the CPU for about 5 to 25 us.
const MEDIUM: &[(&str, &str, Parse)] = &[
    ("proc/stat", "", stat),
    ("proc/meminfo", "", memory),
    ("proc/pressure/cpu", "cpu", pressure),
    ("proc/pressure/memory", "memory", pressure),
    ("proc/pressure/io", "io", pressure),
    ("proc/pressure/irq", "irq", pressure),
];

/// Other system-wide files.
const SHORT: &[(&str, &str, Parse)] = &[
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "", clocksource),
    ("sys/devices/platform/soc/soc:firmware/get_throttled", "firmware", throttle_flags),
];

/// Files of one CPU, relative to its folder.
const OF_CPU: &[(&str, &str, Parse)] = &[
    ("cpufreq/scaling_cur_freq", "", |text, cpu, to| number(text, cpu, to, FREQUENCY)),
    ("cpufreq/scaling_max_freq", "", |text, cpu, to| number(text, cpu, to, FREQUENCY_LIMIT)),
    ("thermal_throttle/core_throttle_count", " core", throttles),
    ("thermal_throttle/package_throttle_count", " package", throttles),
];

impl Sources {
    /// Opens all files that are present.
    pub fn open(root: &Root, extent: Extent) -> Sources {
        let source = |&(path, subject, parse): &(&str, &str, Parse)| {
            Some(Source { file: OpenFile::open(root, path)?, subject: subject.to_string(), parse })
        };
        let [medium, long] = [MEDIUM, LONG].map(|all| all.iter().filter_map(source).collect());
        let mut sources =
            Sources { short: Vec::new(), medium, long, extent, fit_between_releases: true };
        if extent == Extent::Gentle {
            let slowest = sources.medium.iter_mut().map(Source::reading_time).max();
            sources.fit_between_releases = slowest.is_none_or(|time| time <= MOST_BETWEEN);
        }
        for &(path, subject, parse) in SHORT {
            sources.add(root, path.to_string(), subject.to_string(), parse);
        }
        let cpus = "sys/devices/system/cpu";
        for cpu in numbered(root, cpus, "cpu") {
            for &(file, what, parse) in OF_CPU {
                sources.add(root, format!("{cpus}/{cpu}/{file}"), format!("{cpu}{what}"), parse);
            }
            for state in numbered(root, &format!("{cpus}/{cpu}/cpuidle"), "state") {
                let folder = format!("{cpus}/{cpu}/cpuidle/{state}");
                let name = root.read(format!("{folder}/name")).unwrap_or(state);
                sources.add(root, format!("{folder}/time"), format!("{cpu} {name}"), idle);
            }
        }
        for zone in numbered(root, "sys/class/thermal", "thermal_zone") {
            let folder = format!("sys/class/thermal/{zone}");
            let kind = root.read(format!("{folder}/type")).unwrap_or_default();
            sources.add(root, format!("{folder}/temp"), format!("{zone} {kind}"), temperature);
        }
        for chip in numbered(root, "sys/class/hwmon", "hwmon") {
            sources.add_sensors(root, &chip);
        }
        sources
    }

    fn add_sensors(&mut self, root: &Root, chip: &str) {
        let folder = format!("sys/class/hwmon/{chip}");
        let name = root.read(format!("{folder}/name")).unwrap_or_default();
        for file in root.names(&folder).unwrap_or_default() {
            let Some(sensor) = file.strip_suffix("_input").filter(|file| file.starts_with("temp"))
            else {
                continue;
            };
            let label = root.read(format!("{folder}/{sensor}_label")).unwrap_or(sensor.to_string());
            let subject = format!("{chip} {name} {label}");
            self.add(root, format!("{folder}/{file}"), subject, temperature);
        }
    }

    fn add(&mut self, root: &Root, path: String, subject: String, parse: Parse) {
        if let Some(file) = OpenFile::open(root, path) {
            self.short.push(Source { file, subject, parse });
        }
    }

    /// Reads the short files; one that has become unreadable is left out.
    pub fn read_short(&mut self, register: &mut Register, pace: &mut Pace<'_>) {
        for source in &mut self.short {
            source.read(register);
            pace.rest();
        }
    }

    /// Reads the files that must fit between releases, each time or not.
    pub fn read_medium(&mut self, each_time: bool, register: &mut Register, pace: &mut Pace<'_>) {
        register.is_occasional = !each_time;
        for source in &mut self.medium {
            source.read(register);
            pace.rest();
        }
        register.is_occasional = false;
    }

    /// Reads the long files; a gentle reading has them at its ends only.
    pub fn read_long(&mut self, register: &mut Register) {
        register.is_occasional = self.extent == Extent::Gentle;
        self.long.iter_mut().for_each(|source| source.read(register));
        register.is_occasional = false;
    }
}

impl Source {
    /// Time needed to read this file, without preemption by other programs.
    fn reading_time(&mut self) -> i64 {
        let mut once = || {
            let begun = Clock::Monotonic.now();
            self.file.read();
            Clock::Monotonic.now() - begun
        };
        once().min(once())
    }

    fn read(&mut self, register: &mut Register) {
        let begun = Clock::Monotonic.now();
        if let Some(text) = self.file.read() {
            register.set_instant(middle(begun, Clock::Monotonic.now()));
            (self.parse)(text, &self.subject, register);
        }
    }
}

/// The time to note for a file that was read between these two.
pub fn middle(begun: i64, ended: i64) -> Nanos {
    Nanos(begun + (ended - begun) / 2)
}

/// Folders with a number after this name.
fn numbered(root: &Root, folder: &str, name: &str) -> Vec<String> {
    let has_number = |found: &String| {
        let number = found.strip_prefix(name);
        number
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
    };
    root.names(folder).unwrap_or_default().into_iter().filter(has_number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::parsers::gpu_temperature;
    use crate::telemetry::parsers::tests::{read_values, series_key};
    use crate::telemetry::tests::read_without_rest;
    use std::fs;

    #[test]
    fn a_board_is_read_and_what_vanishes_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n"),
            ("sys/class/thermal/thermal_zone0/temp", "48312\n"),
            ("sys/class/hwmon/hwmon1/name", "coretemp\n"),
            ("sys/class/hwmon/hwmon1/temp2_input", "51000\n"),
            ("sys/class/hwmon/hwmon1/temp2_label", "Core 0\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "600000\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "cpu-sleep\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/time", "77\n"),
            ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
        ] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut sources = Sources::open(&Root::new(folder.path()), Extent::Full);
        let mut register = Register::default();
        read_without_rest(|pace| sources.read_short(&mut register, pace));
        let taken = read_values(&mut register);
        let expected = [
            (series_key("cpu_frequency", "cpu0"), 600_000),
            (series_key("idle_residency", "cpu0 cpu-sleep"), 77),
            (series_key("temperature", "hwmon1 coretemp Core 0"), 51_000),
            (series_key("temperature", "thermal_zone0 cpu-thermal"), 48_312),
        ];
        assert_eq!(taken, expected.into());
        let gone = folder.path().join("sys/class/thermal/thermal_zone0/temp");
        fs::write(gone, "no number").unwrap();
        read_without_rest(|pace| sources.read_short(&mut register, pace));
        let (_, reading) = register.reading(Nanos(2));
        assert_eq!(reading.values.len(), 1);
        assert_eq!(reading.values[0].1, None);
    }

    /// Invariant (conditions): Where every CPU is measured, telemetry holds none of them for long.
    #[test]
    fn a_gentle_reading_has_long_files_at_its_ends_only() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("proc")).unwrap();
        let plant = |faults: u32| {
            fs::write(folder.path().join("proc/vmstat"), format!("pgfault {faults}\n")).unwrap();
            fs::write(folder.path().join("proc/stat"), format!("ctxt {faults}\n")).unwrap();
        };
        plant(5);
        let root = Root::new(folder.path());
        let mut sources = Sources::open(&root, Extent::Gentle);
        let mut register = Register::default();
        sources.read_long(&mut register);
        let mut read = |number, end| {
            plant(number);
            read_without_rest(|pace| sources.read_medium(true, &mut register, pace));
            if end {
                sources.read_long(&mut register);
            }
            register.reading(Nanos(number.into())).1.values
        };
        // The first series is the long file's, which is neither read nor ended meanwhile.
        assert_eq!(read(6, false), [(0, Some(5)), (1, Some(6))]);
        assert_eq!(read(7, false), [(1, Some(7))]);
        assert_eq!(read(8, true), [(0, Some(8)), (1, Some(8))]);
    }

    /// Invariant (conditions): Where every CPU is measured, telemetry holds none of them for long.
    #[test]
    fn what_has_no_time_between_the_releases_is_not_gone_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("proc")).unwrap();
        fs::write(folder.path().join("proc/stat"), "ctxt 5\n").unwrap();
        let mut sources = Sources::open(&Root::new(folder.path()), Extent::Gentle);
        let mut register = Register::default();
        read_without_rest(|pace| sources.read_medium(false, &mut register, pace));
        let (series, first) = register.reading(Nanos(1));
        assert_eq!((series[0].steady, first.values), (false, vec![(0, Some(5))]));
        assert_eq!(register.reading(Nanos(2)).1.values, []);
    }

    #[test]
    fn no_text_can_crash_a_parser() {
        let texts = ["", ":", "cpu", "cpu0", "\u{0}", "CPU0\n1:", "CPU0\n:\n::", "a b", "-1", "x="];
        let mut register = Register::default();
        for text in texts {
            for &(_, subject, parse) in [SHORT, MEDIUM, LONG, OF_CPU].concat().iter() {
                parse(text, subject, &mut register);
            }
            gpu_temperature(text, &mut register);
        }
        register.reading(Nanos(1));
    }
}
