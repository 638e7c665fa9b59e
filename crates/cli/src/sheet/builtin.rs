//! The sheets that come with the program.

/// A sheet that comes with the program.
pub struct BuiltinSheet {
    /// Its name.
    pub name: &'static str,
    /// Its text.
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

/// All of them, those to begin with first.
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

/// The one of a name.
pub fn find(name: &str) -> Option<&'static BuiltinSheet> {
    BUILTIN_SHEETS.iter().find(|one| one.name == name)
}
