//! The built-in load definitions.

macro_rules! builtin {
    ($($name:literal),+ $(,)?) => {
        /// Name and text of each.
        pub const BUILTIN_LOADS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../loads/", $name, ".toml")))),+];
    };
}

builtin!("command", "cyclictest", "fio", "hackbench", "iperf3", "stress-ng", "stressapptest");
