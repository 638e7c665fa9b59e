//! `latlab plan`: how long a run must be to exclude a rate of deadline misses.

use crate::flags::{Format, rate_per_hour};
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

/// A confidence in percent, from 50 on.
fn confidence(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match number.filter(|number| (50.0..=99.9999).contains(number)) {
        Some(number) => Ok(number / 100.0),
        None => Err(format!("'{text}' is not a share from 50% to 99.9999%")),
    }
}

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
    fn a_confidence_is_a_share_from_a_half_on() {
        assert_eq!(confidence("99%"), Ok(0.99));
        for wrong in ["99", "100%", "40%", "x%"] {
            assert!(confidence(wrong).is_err(), "{wrong}");
        }
    }
}
