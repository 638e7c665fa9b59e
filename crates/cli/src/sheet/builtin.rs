//! The ready-made sheets in the program.

pub struct BuiltinSheet {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! builtin {
    ($($name:literal),+ $(,)?) => {
        &[$(BuiltinSheet {
            name: $name,
            text: include_str!(concat!("../../scenarios/", $name, ".toml")),
        }),+]
    };
}

/// All ready-made sheets, starting with those for beginners.
pub const BUILTIN_SHEETS: &[BuiltinSheet] = builtin![
    "quick",
    "idle",
    "stress-five",
    "lab-stress-five",
    "lab-threads",
    "threads",
    "rt-night",
    "audio",
    "control-1khz",
    "control-8khz",
    "telecom-polling",
    "tunings",
    "pi-4.9",
    "pi-4.14",
    "imx8-five",
    "pi3-threads",
];

pub fn find(name: &str) -> Option<&'static BuiltinSheet> {
    BUILTIN_SHEETS.iter().find(|one| one.name == name)
}
