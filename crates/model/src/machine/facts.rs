//! The facts of a machine as a table, from which pages and comparisons take their rows, and the tables of many runs
//! their columns.

use super::Machine;
use crate::CpuSet;

/// What is known of a fact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FactValue {
    /// A text.
    Text(String),
    /// A size.
    Bytes(u64),
    /// A rate.
    Hertz(u32),
    /// Microseconds of each period that real-time threads may take; -1 for no limit.
    RealtimeLimit(i64),
}

/// A fact of a machine.
#[derive(Debug)]
pub struct MachineFact {
    /// Its name in `run.json`.
    pub id: &'static str,
    /// Its name on a page.
    pub name: &'static str,
    /// Whether a comparison lists it. Settings and options show some facts already, and the boot id always differs.
    pub is_compared: bool,
    /// Whether its value is a number.
    pub is_number: bool,
    /// The value; `None` if it is not known.
    pub value: fn(&Machine) -> Option<FactValue>,
}

fn text(value: &str) -> Option<FactValue> {
    (!value.is_empty()).then(|| FactValue::Text(value.to_string()))
}

fn known(value: &Option<String>) -> Option<FactValue> {
    value.as_deref().and_then(text)
}

fn cpus(set: &CpuSet) -> Option<FactValue> {
    text(&set.to_string())
}

/// A row: a field of [`Machine`], its name, whether it is compared, and how its value is read, which is a text or a
/// number.
macro_rules! fact {
    ($field:ident, $name:literal, $is_compared:literal, number $read:expr) => {
        fact!($field, $name, $is_compared, true, $read)
    };
    ($field:ident, $name:literal, $is_compared:literal, text $read:expr) => {
        fact!($field, $name, $is_compared, false, $read)
    };
    ($field:ident, $name:literal, $is_compared:literal, $is_number:literal, $read:expr) => {
        MachineFact {
            id: stringify!($field),
            name: $name,
            is_compared: $is_compared,
            is_number: $is_number,
            value: |machine| $read(&machine.$field),
        }
    };
}

/// All facts, in the order of a page.
pub const FACTS: &[MachineFact] = &[
    fact!(hostname, "Host", true, text known),
    fact!(board, "Board", true, text known),
    fact!(cpu_model, "Processor", true, text known),
    fact!(architecture, "Architecture", true, text text),
    fact!(kernel, "Kernel", true, text text),
    fact!(kernel_version, "Kernel version", true, text text),
    fact!(preemption, "Preemption", true, text known),
    fact!(tick_hz, "Tick", false, number |rate: &Option<u32>| rate.map(FactValue::Hertz)),
    fact!(command_line, "Command line", true, text known),
    fact!(distribution, "Distribution", true, text known),
    fact!(virtualisation, "Virtualisation", true, text known),
    fact!(cpus_online, "CPUs online", true, text cpus),
    fact!(cpus_allowed, "CPUs allowed", true, text cpus),
    fact!(cpus_isolated, "CPUs isolated", true, text cpus),
    fact!(cpus_nohz_full, "CPUs without tick", true, text cpus),
    fact!(clocksource, "Clock source", true, text known),
    fact!(governor, "Governor", false, text known),
    fact!(rt_runtime_us, "Real-time limit", false, number |limit: &Option<i64>| {
        limit.map(FactValue::RealtimeLimit)
    }),
    fact!(memory_bytes, "Memory", true, number |bytes: &Option<u64>| bytes.map(FactValue::Bytes)),
    fact!(microcode, "Microcode", true, text known),
    fact!(boot_id, "Boot id", false, text known),
];
