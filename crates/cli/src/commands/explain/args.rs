//! Flags of `latlab explain`.

use crate::flags::value_parser_of;
use clap::Args;
use std::path::PathBuf;

/// How spikes are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExplainFormat {
    /// For a terminal.
    Text,
    /// For programs.
    Json,
    /// For ui.perfetto.dev.
    Perfetto,
}

impl ExplainFormat {
    pub const ALL: &[ExplainFormat] =
        &[ExplainFormat::Text, ExplainFormat::Json, ExplainFormat::Perfetto];

    pub fn as_str(self) -> &'static str {
        match self {
            ExplainFormat::Text => "text",
            ExplainFormat::Json => "json",
            ExplainFormat::Perfetto => "perfetto",
        }
    }
}

/// Flags of `latlab explain`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExplainArgs {
    /// Id of a run, a part of it, `last`, or the path of a run folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Run the guest of a run in virtual time again, and tell from its instructions, to the nanosecond
    #[arg(long)]
    pub replay: bool,
    /// With --replay: also count the parts of all wake-ups
    #[arg(long, requires = "replay")]
    pub all: bool,
    /// Show the spike of this number; with --replay, the latency of this rank, 1 being the largest
    #[arg(long, value_name = "N", conflicts_with = "top")]
    pub spike: Option<u32>,
    /// Number of spikes to show, the largest first
    #[arg(long, value_name = "K", default_value = "3")]
    pub top: usize,
    /// Output: text, json, perfetto
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true,
          value_parser = value_parser_of(ExplainFormat::ALL, ExplainFormat::as_str))]
    pub format: ExplainFormat,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  latlab run --explain --for 60s        record the kernel's events around each spike
  latlab explain                        the causes of that run, and its three largest spikes
  latlab attach -- ./control && latlab explain        its longest cycles, from release to end
  latlab explain last --spike 7         one spike from its release to its wake-up
  latlab explain last --top 20 --format json
  latlab explain --top 20 --format perfetto -o spikes.perfetto     for ui.perfetto.dev
  latlab explain last --replay          the three largest latencies of a guest, by what it executed
  latlab explain last --replay --all    and which parts all its wake-ups had

The parts of a spike are computed from its stored pages each time, so that a later latlab can tell
more of an old run.";
