//! What the heads of columns say.

use crate::list::Unit;

/// Words that stand in a row of units.
const UNITS: [&str; 19] = [
    "second", "seconds", "volt", "volts", "v", "mv", "s", "ms", "us", "ns", "ps", "sequence",
    "logic", "none", "ampere", "a", "ma", "sec", "unknown",
];

/// `CH1 (V)`, `Time [s]` without their unit.
pub fn bare(name: &str) -> &str {
    name.split(['[', '(']).next().unwrap_or(name).trim()
}

/// What stands in brackets.
fn bracketed(name: &str) -> Option<&str> {
    let start = name.find(['[', '('])? + 1;
    let end = name[start..].find([']', ')'])?;
    Some(name[start..start + end].trim())
}

/// Whether a cell is a unit and no name.
pub fn is_unit(cell: &str) -> bool {
    let word = cell.trim_matches(['(', ')', '[', ']']).to_ascii_lowercase();
    UNITS.contains(&word.replace('µ', "u").as_str())
}

/// Whether a column of this name holds times.
pub fn is_time(name: &str) -> bool {
    let name = bare(name).to_ascii_lowercase();
    name.starts_with("time")
        || ["x-axis", "x", "t", "second", "seconds", "zeit"].contains(&name.as_str())
}

/// Seconds in the unit of a column of times, by its name or by the row below.
pub fn seconds(name: &str, below: Option<&str>) -> f64 {
    let below = below.map(|below| below.trim_matches(['(', ')', '[', ']']));
    let unit = bracketed(name).or(below).unwrap_or("s").replace('µ', "u").to_ascii_lowercase();
    match unit.as_str() {
        "ms" => 1e-3,
        "us" => 1e-6,
        "ns" => 1e-9,
        "ps" => 1e-12,
        _ => 1.0,
    }
}

/// The unit of a list of readings by the name of its column.
pub fn unit_of_readings(name: &str) -> Option<Unit> {
    let name = name.to_ascii_lowercase().replace('µ', "u");
    let says = |marks: &[&str], end: &str| {
        marks.iter().any(|mark| name.contains(mark))
            || name.ends_with(end)
            || bracketed(&name) == Some(&end[1..])
    };
    match () {
        () if says(&["nsec", "n_sec", "nano"], "_ns") => Some(Unit::Nano),
        () if says(&["usec", "u_sec", "micro"], "_us") => Some(Unit::Micro),
        () if says(&["msec", "m_sec", "milli"], "_ms") => Some(Unit::Milli),
        () if says(&["second"], "_s") => Some(Unit::Second),
        () => None,
    }
}
