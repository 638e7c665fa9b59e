//! Flags of `latlab export`.

use crate::flags::{value_parser_of, whole};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use latlab_formats::write::{ExportQuery, FORMATS, Format, OutputUnit, Table, format_of_id};
use std::path::PathBuf;

/// Flags of `latlab export`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// Id of a run, a part of it, `last`, or the path of a run folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Format to write
    #[arg(long = "to", value_name = "FORMAT", value_parser = format_parser(),
          hide_possible_values = true)]
    pub format: &'static Format,
    /// File to write, which must not exist yet [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What csv and parquet hold: samples, histogram [default: samples, where the run has them]
    #[arg(long, value_name = "TABLE", value_parser = value_parser_of(Table::ALL, Table::as_str),
          hide_possible_values = true)]
    pub table: Option<Table>,
    /// Number of bins of cyclictest, jitterdebugger and osadl; longer latencies count as overflow [default:
    /// as many as the largest latency needs, at most 1000000]
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub bins: Option<u32>,
    /// Length of these bins: us, ns [default: us, or that of the imported file]
    #[arg(long, value_name = "UNIT", value_parser = value_parser_of(OutputUnit::ALL, OutputUnit::as_str),
          hide_possible_values = true)]
    pub unit: Option<OutputUnit>,
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  latlab export last --to cyclictest -o output.txt        for scripts that draw cyclictest -h
  latlab export night --to csv | head                     every latency, if the run has samples
  latlab export night --to perfetto -o night.perfetto     for ui.perfetto.dev
  latlab export last --to prometheus -o latlab.prom       for the textfile collector
  latlab export last --to ktap                            for a kernel's continuous integration

Formats: cyclictest, cyclictest-json, jitterdebugger, osadl (RT Dataset 1.0), hdr (HdrHistogram log),
csv, parquet, prometheus, openmetrics, openmetrics-native (native histograms), perfetto, ktap, junit,
lava.

What a format cannot carry is reported on standard error, a line each, and in a comment of the file
where the format has comments.";

fn format_parser() -> impl TypedValueParser<Value = &'static Format> {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.id))
        .try_map(|text| format_of_id(&text).ok_or(text))
}

impl ExportArgs {
    /// The export's options apart from the format; an error is one line for the user.
    pub fn query(&self) -> Result<ExportQuery, String> {
        let id = self.format.id;
        let has_table = matches!(id, "csv" | "parquet");
        let has_bins = matches!(id, "cyclictest" | "cyclictest-json" | "jitterdebugger" | "osadl");
        if self.table.is_some() && !has_table {
            return Err(format!("--table is only for --to csv and --to parquet, not {id}"));
        }
        if (self.bins.is_some() || self.unit.is_some()) && !has_bins {
            return Err(format!(
                "--bins and --unit are only for --to cyclictest, cyclictest-json, jitterdebugger and \
                 osadl, not {id}"
            ));
        }
        if self.bins.is_some_and(|bins| !(1..=1_000_000).contains(&bins)) {
            return Err("--bins must be 1 to 1000000".to_string());
        }
        Ok(ExportQuery { table: self.table, bins: self.bins, unit: self.unit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::parse;

    #[test]
    fn options_that_a_format_does_not_have_are_refused() {
        let query = |flags: &str| parse::<ExportArgs>(flags.split(' ')).unwrap().query();
        assert_eq!(query("--to csv --table histogram").unwrap().table, Some(Table::Histogram));
        assert_eq!(query("--to osadl --bins 400").unwrap().bins, Some(400));
        assert!(query("--to hdr --bins 400").unwrap_err().contains("not hdr"));
        assert!(query("--to ktap --table samples").unwrap_err().contains("not ktap"));
        assert!(query("--to cyclictest --bins 0").is_err());
    }
}
