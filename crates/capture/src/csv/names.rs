//! Interprets column headings.

use crate::list::ListUnit;

/// Words in a row of units, apart from units of time.
const UNITS: [&str; 14] = [
    "volt", "volts", "v", "mv", "uv", "kv", "value", "sequence", "logic", "none", "ampere", "a",
    "ma", "unknown",
];

/// Words for units of time, and the seconds of each.
const TIMES: [(&[&str], f64); 5] = [
    (&["s", "sec", "second", "seconds"], 1.0),
    (&["ms", "msec", "millisecond", "milliseconds"], 1e-3),
    (&["us", "usec", "microsecond", "microseconds"], 1e-6),
    (&["ns", "nsec", "nanosecond", "nanoseconds"], 1e-9),
    (&["ps", "psec", "picosecond", "picoseconds"], 1e-12),
];

/// `CH1 (V)`, `Time [s]` without their unit; a bracket with anything else is part of the name.
pub fn bare(name: &str) -> &str {
    match name.find(['[', '(']) {
        Some(start) if name.ends_with([']', ')']) && is_unit(&name[start..]) => {
            name[..start].trim()
        }
        _ => name,
    }
}

/// The text in brackets.
pub fn bracketed(name: &str) -> Option<&str> {
    let start = name.find(['[', '('])? + 1;
    let end = name[start..].find([']', ')'])?;
    Some(name[start..start + end].trim())
}

/// A cell as a word for comparison: lower case, without brackets.
fn word(cell: &str) -> String {
    // Unicode has two letters for micro.
    let word = cell.trim().trim_matches(['(', ')', '[', ']']).replace(['µ', 'μ'], "u");
    word.trim().to_ascii_lowercase()
}

/// Whether a cell is a unit rather than a name.
pub fn is_unit(cell: &str) -> bool {
    UNITS.contains(&word(cell).as_str()) || seconds_of(cell).is_some()
}

/// The seconds in a unit of time.
pub fn seconds_of(unit: &str) -> Option<f64> {
    let unit = word(unit);
    TIMES.iter().find(|(words, _)| words.contains(&unit.as_str())).map(|(_, seconds)| *seconds)
}

/// Words for units of voltage, and the volts of each.
const VOLTAGES: [(&[&str], f64); 4] = [
    (&["", "v", "volt", "volts"], 1.0),
    (&["mv", "millivolt", "millivolts"], 1e-3),
    (&["uv", "microvolt", "microvolts"], 1e-6),
    (&["kv", "kilovolt", "kilovolts"], 1e3),
];

/// The volts in a unit; 1 if none is named, `None` if it is another quantity.
pub fn volts_of(unit: &str) -> Option<f64> {
    let unit = word(unit);
    VOLTAGES.iter().find(|(words, _)| words.contains(&unit.as_str())).map(|(_, volts)| *volts)
}

/// Whether a column with this name, above a row with this cell, holds the levels of a wire.
pub fn is_level(name: &str, below: &str) -> bool {
    let is_voltage = |unit: &str| !unit.is_empty() && volts_of(unit).is_some();
    let plain = word(name);
    let numbered = ["channel", "chan", "ch"].iter().find_map(|start| plain.strip_prefix(start));
    let is_numbered = numbered.is_some_and(|rest| rest.trim().parse::<u32>().is_ok());
    is_voltage(name)
        || is_numbered
        || plain == "voltage"
        || is_voltage(below)
        || bracketed(name).is_some_and(is_voltage)
}

/// Whether a column with this name holds times.
pub fn is_time(name: &str) -> bool {
    let name = word(name.split(['[', '(']).next().unwrap_or(name));
    let after_time = name.strip_prefix("time").map(|rest| rest.chars().next());
    after_time.is_some_and(|next| next.is_none_or(|next| !next.is_alphanumeric()))
        || ["times", "timestamp", "x-axis", "x", "t", "zeit", "in s"].contains(&name.as_str())
        || name.len() > 2 && seconds_of(&name).is_some()
}

/// The unit of a column of times, from its name or the row below; `None` if neither names one.
pub fn unit_of_times<'a>(name: &'a str, below: Option<&'a str>) -> Option<&'a str> {
    let last = name.rsplit(['_', ' ', '/']).next().filter(|last| seconds_of(last).is_some());
    bracketed(name).or(below.filter(|below| !below.is_empty())).or(last)
}

/// Whether a column with this name holds sample numbers.
pub fn is_number(name: &str) -> bool {
    let name = word(name);
    name.starts_with("sample") || ["index", "nr", "no", "n", "#", "number"].contains(&name.as_str())
}

/// The unit of a list of readings from the name of its column: `latency_ns`, `delay [us]`,
/// `n_secs`.
pub fn unit_of_readings(name: &str) -> Option<ListUnit> {
    let name = name.to_ascii_lowercase().replace(['µ', 'μ'], "u");
    let has = |marks: &[&str]| marks.iter().any(|mark| name.contains(mark));
    let last = name.trim_end_matches([']', ')', '"']).rsplit(['_', ' ', '/', '[', '(', '.']).next();
    let unit = last.and_then(seconds_of);
    match unit.map(|seconds| (seconds * 1e12) as i64) {
        Some(1) => Some(ListUnit::Pico),
        Some(1_000) => Some(ListUnit::Nano),
        Some(1_000_000) => Some(ListUnit::Micro),
        Some(1_000_000_000) => Some(ListUnit::Milli),
        Some(_) => Some(ListUnit::Second),
        None if has(&["psec", "p_sec", "pico"]) => Some(ListUnit::Pico),
        None if has(&["nsec", "n_sec", "nano"]) => Some(ListUnit::Nano),
        None if has(&["usec", "u_sec", "micro"]) => Some(ListUnit::Micro),
        None if has(&["msec", "m_sec", "milli"]) => Some(ListUnit::Milli),
        None if has(&["second"]) => Some(ListUnit::Second),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_no_readings() {
        for name in ["volts", "V", "CH1", "Channel 2", "Voltage", "A [mV]", "CH1 (V)"] {
            assert!(is_level(name, ""), "{name}");
        }
        for name in ["", "latency", "check", "v1", "delay [us]", "ch"] {
            assert!(!is_level(name, ""), "{name}");
        }
        assert!(is_level("A", "Volt"));
    }

    #[test]
    fn a_name_has_the_unit_of_its_readings() {
        for (name, unit) in [
            ("latency_ns", Some(ListUnit::Nano)),
            ("Latency (us)", Some(ListUnit::Micro)),
            ("delay [µs]", Some(ListUnit::Micro)),
            ("n_secs_delay", Some(ListUnit::Nano)),
            ("t/ms", Some(ListUnit::Milli)),
            ("seconds", Some(ListUnit::Second)),
            ("rtt_ps", Some(ListUnit::Pico)),
            ("# unit: us", Some(ListUnit::Micro)),
            ("latency", None),
            ("responses", None),
        ] {
            assert_eq!(unit_of_readings(name), unit, "{name}");
        }
    }
}
