//! Differences in output between the versions of rt-tests.

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dialect {
    /// The version as `--help` and JSON print it.
    pub version: String,
    /// Whether `clock_nanosleep` must be asked for with `-n`. Such versions also print less.
    pub needs_n: bool,
    /// Whether it prints `# Total:`, and histogram rows and JSON histograms without any count.
    pub totals_and_empty_rows: bool,
}

/// The version in Debian 12.
pub const DEFAULT: &str = "2.4";

impl Dialect {
    /// Parses a version such as `2.4` or `1.0`.
    pub fn parse(version: &str) -> Result<Dialect, String> {
        let wrong = || format!("--rt-tests {version}: expected 1.0 to 2.10");
        let (major, minor) = version.split_once('.').ok_or_else(wrong)?;
        let minor: u32 = minor.parse().map_err(|_| wrong())?;
        // Versions print two digits: 2.4 as 2.40, and 2.10, the tenth after 2.0, as 2.10.
        let said = match minor {
            0..10 => format!("{major}.{minor}0"),
            _ => format!("{major}.{minor}"),
        };
        let (needs_n, totals_and_empty_rows) = match (major, minor) {
            ("1", 0..2) => (true, true),
            ("1", 2..=10) | ("2", 0..7) => (false, true),
            ("2", 7..=10) => (false, false),
            _ => return Err(wrong()),
        };
        Ok(Dialect { version: said, needs_n, totals_and_empty_rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart_where_their_output_changed() {
        let of = |version| Dialect::parse(version).unwrap();
        assert_eq!(of("2.4").version, "2.40");
        assert_eq!(of("2.10").version, "2.10");
        assert!(of("1.0").needs_n && !of("1.2").needs_n);
        assert!(of("2.6").totals_and_empty_rows && !of("2.7").totals_and_empty_rows);
        assert!(Dialect::parse("3.0").is_err() && Dialect::parse("2").is_err());
    }
}
