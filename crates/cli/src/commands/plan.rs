//! `latlab plan`: how long a run must be to exclude a rate of deadline misses.

use crate::flags::Format;
use crate::output::{print_json, print_text, style, width};
use clap::Args;
use latlab_model::Nanos;
use std::process::ExitCode;

/// Flags of `latlab plan`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlanArgs {
    /// The rate to exclude: bursts of misses in a time, such as 0.1/h or 1/d
    #[arg(long, value_name = "RATE", value_parser = rate_per_hour)]
    pub limit: f64,
    /// The deadline, for the command that is printed
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<Nanos>,
    /// How sure the answer must be
    #[arg(long, value_name = "SHARE", default_value = "95%", value_parser = confidence)]
    pub confidence: f64,
    /// How to print the result: text, json
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

const EXAMPLES: &str = "\
Examples:
  latlab plan --deadline 125us --limit 0.1/h
  latlab plan --limit 1/week --confidence 99%

A run without a miss excludes a rate only if it is long enough: 3.00 times the time between two bursts
at 95 %, 4.61 times at 99 %. Each burst that comes makes the run longer.";

/// Times that a rate may be given in, in hours.
const TIMES: [(&str, f64); 5] =
    [("s", 1.0 / 3600.0), ("min", 1.0 / 60.0), ("h", 1.0), ("d", 24.0), ("week", 168.0)];

/// A rate as events an hour.
fn rate_per_hour(text: &str) -> Result<f64, String> {
    let expected = || format!("'{text}' is not a rate such as 0.1/h, 1/d, 1/week");
    let (count, time) = text.split_once('/').ok_or_else(expected)?;
    let count: f64 = count.trim().parse().map_err(|_| expected())?;
    let (_, hours) = TIMES.iter().find(|(name, _)| *name == time.trim()).ok_or_else(expected)?;
    let rate = count / hours;
    match (1e-6..=1e6).contains(&rate) {
        true => Ok(rate),
        false => Err(format!("{}: at least 0.000001/h, at most 1000000/h", expected())),
    }
}

/// A share in percent from a half on.
fn confidence(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match number.filter(|number| (50.0..=99.9999).contains(number)) {
        Some(number) => Ok(number / 100.0),
        None => Err(format!("'{text}' is not a share from 50% to 99.9999%")),
    }
}

/// What `latlab plan` does.
pub fn plan(args: &PlanArgs) -> anyhow::Result<ExitCode> {
    let length = latlab_stats::run_length(args.limit, args.confidence);
    match args.format {
        Format::Json => print_json(&length)?,
        Format::Text => {
            print_text(&latlab_report::run_length(&length, args.deadline, width(), style()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_its_time() {
        assert_eq!(rate_per_hour("0.1/h"), Ok(0.1));
        assert_eq!(rate_per_hour("24/d"), Ok(1.0));
        assert_eq!(rate_per_hour("1 / min"), Ok(60.0));
        for wrong in ["0.1", "0/h", "-1/h", "NaN/h", "inf/h", "1/y", "1e9/h", "/h"] {
            assert!(rate_per_hour(wrong).is_err(), "{wrong}");
        }
        assert_eq!(confidence("99%"), Ok(0.99));
        for wrong in ["99", "100%", "40%", "x%"] {
            assert!(confidence(wrong).is_err(), "{wrong}");
        }
    }
}
