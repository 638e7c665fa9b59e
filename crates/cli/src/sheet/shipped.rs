//! The sheets that come with the program.

/// A sheet that comes with the program.
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        &[$(Shipped {
            name: $name,
            text: include_str!(concat!("../../../../scenarios/", $name, ".toml")),
        }),+]
    };
}

/// All of them, those to begin with first.
pub const SHIPPED: &[Shipped] = shipped![
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
pub fn find(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|one| one.name == name)
}
