//! Flags of `latlab plot`, and what they mean.

use crate::flags::{format_of, value_parser_of};
use clap::{Args, ValueEnum};
use latlab_digest::window::WindowSpec;
use latlab_model::Nanos;
use latlab_report::time::{self, LatencyScale, TimeOptions};
use latlab_report::{Axis, Kind, Options, Spacing};
use std::path::PathBuf;
use std::str::FromStr;

/// Flags of `latlab plot`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct PlotArgs {
    /// Ids, parts of them, `last`, or paths of run folders
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// What to draw: latency, tail, cdf, ccdf, cpus, overlay, boxes; over time: flow, heatmap,
    /// telemetry; phase
    #[arg(short, long, value_name = "KIND", default_value = "latency",
          value_parser = value_parser_of(Picture::ALL, Picture::as_str), hide_possible_values = true)]
    pub kind: Picture,
    /// The picture to write, - for standard output [default: KIND.svg in the first run's folder]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the picture: svg, png [default: by the end of the file's name, else svg]
    #[arg(long, hide_possible_values = true, value_name = "FORMAT")]
    pub format: Option<PictureFormat>,
    /// Draw only latencies in this range; the picture counts the others
    #[arg(long, value_name = "FROM..TO")]
    pub range: Option<Range>,
    /// Only this part of the run, over time: UTC, or since the first release (+10s)
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub window: Option<WindowSpec>,
    /// With --kind phase, the period to fold with [default: that of the run's marker]
    #[arg(long, value_name = "TIME")]
    pub fold: Option<Nanos>,
    /// A linear axis of latencies [default: depends on the runs]
    #[arg(long, conflicts_with = "log")]
    pub linear: bool,
    /// A logarithmic axis of latencies
    #[arg(long)]
    pub log: bool,
    /// Width of the picture in pixels, 280 to 10000
    #[arg(long, value_name = "N", default_value = "960",
          value_parser = clap::value_parser!(u32).range(280..=10_000))]
    pub width: u32,
    /// Pixels of a PNG for each pixel of the width
    #[arg(long, value_name = "N", default_value = "2")]
    pub scale: f32,
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  latlab plot                                       latency.svg in the folder of the last run
  latlab plot night --kind tail -o tail.svg
  latlab plot stock rt --kind ccdf -o both.svg      two runs in one chart
  latlab plot c python kmod --kind boxes            a box for each run; overlay draws their histograms
                                                    over each other
  latlab plot stock rt --range 0..400us             both up to 400 us; larger values are counted
  latlab plot night --kind flow --window +1h..+1h2s -o flow.png

Kinds: latency (histogram, one line per thread), tail (mean, quantiles and maximum as bars), cdf and
ccdf (the share of latencies up to, or above, each value), cpus (one small chart per CPU). Of one run
over time: flow (latencies, with temperature, frequency and load below), heatmap (density of
latencies), telemetry (the conditions). Of one responder's run: phase (each response against the
phase of its stimulus).

Either side of a range may be left out. A range with an end is linear without --log. A window of a
run with samples is drawn cycle by cycle, if it has at most 10 million of them.";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Picture {
    /// Latencies of one or more runs.
    Latencies(Kind),
    /// One run over time.
    OverTime(time::Kind),
    /// One responder's run, against the phase of its stimuli.
    Phase,
}

impl Picture {
    const ALL: &[Picture] = &[
        Picture::Latencies(Kind::Latency),
        Picture::Latencies(Kind::Tail),
        Picture::Latencies(Kind::Cdf),
        Picture::Latencies(Kind::Ccdf),
        Picture::Latencies(Kind::Cpus),
        Picture::Latencies(Kind::Overlay),
        Picture::Latencies(Kind::Boxes),
        Picture::OverTime(time::Kind::Flow),
        Picture::OverTime(time::Kind::Heatmap),
        Picture::OverTime(time::Kind::Telemetry),
        Picture::Phase,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Picture::Latencies(kind) => kind.as_str(),
            Picture::OverTime(kind) => kind.as_str(),
            Picture::Phase => "phase",
        }
    }
}

/// How a picture is written.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum PictureFormat {
    #[default]
    Svg,
    Png,
}

impl PictureFormat {
    /// The file name's extension.
    pub fn extension(self) -> &'static str {
        match self {
            PictureFormat::Svg => "svg",
            PictureFormat::Png => "png",
        }
    }
}

/// A range of latencies; either side may be open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    from: Option<Nanos>,
    to: Option<Nanos>,
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Range, String> {
        let (from, to) = text.split_once("..").ok_or_else(|| {
            format!("'{text}' is not a range: expected FROM..TO, such as 0..400us")
        })?;
        let side = |text: &str| match text.trim() {
            "" => Ok(None),
            time => time.parse::<Nanos>().map(Some).map_err(|error| error.to_string()),
        };
        let range = Range { from: side(from)?, to: side(to)? };
        if range.from.unwrap_or_default() < Nanos::ZERO {
            return Err(format!("'{text}' begins below zero"));
        }
        // The finest bins are 1 ns wide; a shorter range would show almost nothing.
        if range.to.is_some_and(|to| to < range.from.unwrap_or_default() + Nanos(10)) {
            return Err(format!("'{text}' ends less than 10 ns after its beginning"));
        }
        Ok(range)
    }
}

impl PlotArgs {
    /// The format from the flag, else from the file's name.
    pub fn picture_format(&self) -> anyhow::Result<PictureFormat> {
        format_of(self.format, self.output.as_deref())
    }

    pub fn time_options(&self) -> TimeOptions {
        let scale = match (self.linear, self.log) {
            (true, _) => LatencyScale::Linear,
            (_, true) => LatencyScale::Log,
            _ => LatencyScale::Auto,
        };
        TimeOptions { width: self.width, scale, id: self.kind.as_str().to_string() }
    }

    pub fn options(&self) -> Options {
        let spacing = match (self.linear, self.log) {
            (true, _) => Spacing::Linear,
            (_, true) => Spacing::Log,
            _ => Spacing::Auto,
        };
        let range = self.range.unwrap_or(Range { from: None, to: None });
        Options {
            width: self.width,
            plot_height: if self.width < 600 { 300 } else { 400 },
            axis: Axis { spacing, from: range.from, to: range.to },
            id: self.kind.as_str().to_string(),
            ..Options::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::parse;

    fn parsed(flags: &str) -> Result<PlotArgs, String> {
        parse(flags.split_whitespace()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_format_is_that_of_the_name_unless_said() {
        let format = |flags: &str| {
            parsed(flags).unwrap().picture_format().map_err(|error| error.to_string())
        };
        assert_eq!(format(""), Ok(PictureFormat::Svg));
        assert_eq!(format("-o a.PNG"), Ok(PictureFormat::Png));
        assert_eq!(format("-o a.png --format svg"), Ok(PictureFormat::Svg));
        assert_eq!(format("-o - --format png"), Ok(PictureFormat::Png));
        assert_eq!(format("-o a"), Ok(PictureFormat::Svg));
        let unknown =
            "a.pdf: '.pdf' is not a format of this command: expected .svg or .png, or --format";
        assert_eq!(format("-o a.pdf"), Err(unknown.to_string()));
        assert_eq!(format("-o a.pdf --format png"), Ok(PictureFormat::Png));
    }

    #[test]
    fn flags_make_the_axis() {
        let axis = |flags: &str| parsed(flags).unwrap().options().axis;
        assert_eq!(axis(""), Axis::default());
        let to = |from, to, spacing| Axis { spacing, from, to };
        let end = Some(Nanos(400_000));
        assert_eq!(axis("--range 0..400us"), to(Some(Nanos(0)), end, Spacing::Auto));
        assert_eq!(axis("--range ..400us --log"), to(None, end, Spacing::Log));
        assert_eq!(axis("--range 5us.. --linear"), to(Some(Nanos(5_000)), None, Spacing::Linear));
    }

    #[test]
    fn mistakes_are_told() {
        for (flags, expected) in [
            ("--range 400us", "expected FROM..TO"),
            ("--range 10us..10us", "less than 10 ns"),
            ("--range 1ms..10us", "less than 10 ns"),
            ("--range 0..400", "has no unit"),
            (
                "--kind pie",
                "latency, tail, cdf, ccdf, cpus, overlay, boxes, flow, heatmap, telemetry",
            ),
            ("--linear --log", "cannot be used with"),
            ("--width 10", "280..=10000"),
            ("--format gif", "svg, png"),
        ] {
            let error = parsed(flags).map(|_| ()).unwrap_err();
            assert!(error.contains(expected), "{flags}: {error}");
        }
    }
}
