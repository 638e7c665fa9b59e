//! `--scale`: other ends than those of a sheet.

use latlab_model::Nanos;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// What replaces the ends of all scenarios.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// They last this long.
    Time(Nanos),
    /// They have this many cycles.
    Cycles(u64),
}

impl Display for Scale {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Scale::Time(time) => write!(f, "{time}"),
            Scale::Cycles(cycles) => write!(f, "{cycles}"),
        }
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        match text.parse::<u64>() {
            Ok(0) => Err("expected more than 0".to_string()),
            Ok(cycles) => Ok(Scale::Cycles(cycles)),
            Err(_) => text.parse().map(Scale::Time).map_err(|_| {
                "expected a time such as 20s, or a number of cycles such as 20000".to_string()
            }),
        }
    }
}
