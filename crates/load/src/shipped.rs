//! The definitions that every latlab has.

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        /// Name and text of each.
        pub const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../loads/", $name, ".toml")))),+];
    };
}

shipped!("command", "cyclictest", "fio", "hackbench", "iperf3", "stress-ng", "stressapptest");
