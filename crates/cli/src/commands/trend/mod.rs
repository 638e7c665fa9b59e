//! `latlab trend`: a metric over builds, and whether the newest level is higher.

pub mod args;

use crate::commands::compare::sides::{StoredRun, read_runs};
use crate::commands::result_output::ResultOutput;
use crate::store::{open_store, recover};
use anyhow::bail;
use args::{BuildBy, TrendArgs};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use latlab_model::Run;
use latlab_model::plan::Method;
use latlab_model::sanitize::sanitize_lines;
use latlab_report::Style;
use latlab_report::test_suite::TestSuite;
use latlab_report::trend::{markdown, page, show, test_suite};
use latlab_stats::builds::Trend;
use latlab_stats::comparison::ComparisonWord;
use latlab_stats::{BuildRun, trend};
use std::collections::BTreeSet;
use std::process::ExitCode;

pub fn follow(args: &TrendArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(args.result.out.as_deref());
    recover(&store);
    let (mut runs, invalid) = read_runs(&store, &args.runs)?;
    runs.retain(|one| is_meant(&one.run, args));
    if runs.is_empty() {
        bail!("no valid run of that kind");
    }
    let by = args.by.unwrap_or_else(|| usual(&runs));
    let names: Vec<String> = runs.iter().map(|one| build(&one.run, by)).collect();
    let recorded: Vec<Option<String>> = runs.iter().map(|one| recorded(&one.run)).collect();
    let series: Vec<BuildRun> = runs
        .iter()
        .zip(names.iter().zip(&recorded))
        .map(|(one, (build, recorded))| BuildRun {
            build,
            run: one.measured(),
            recorded: recorded.as_deref(),
        })
        .collect();
    let found = Trend { invalid, ..trend(&series, args.metric, args.margin) };
    args.result.print(&found)
}

impl ResultOutput for Trend {
    fn word(&self) -> ComparisonWord {
        self.word
    }

    fn text(&self, width: usize, style: Style) -> anyhow::Result<String> {
        Ok(show(&sanitize_lines(self)?, width, style))
    }

    fn markdown(&self) -> anyhow::Result<String> {
        Ok(markdown(&sanitize_lines(self)?))
    }

    fn test_suite(&self) -> anyhow::Result<TestSuite> {
        Ok(test_suite(&sanitize_lines(self)?))
    }

    fn page(&self) -> anyhow::Result<String> {
        Ok(page(&sanitize_lines(self)?))
    }
}

/// Whether a run is within the time and of the board that the flags select.
fn is_meant(run: &Run, args: &TrendArgs) -> bool {
    let board = |text: &String| {
        let names = [&run.machine.board, &run.machine.hostname];
        names.into_iter().flatten().any(|name| name.contains(text.as_str()))
    };
    // RFC 3339 times in UTC sort as text.
    let started = recorded(run).unwrap_or_else(|| run.started.clone());
    args.since.as_ref().is_none_or(|since| started.as_str() >= since.as_str())
        && args.board.as_ref().is_none_or(board)
}

/// When an imported recording was made, in UTC, if its file says so.
fn recorded(run: &Run) -> Option<String> {
    let Method::Import(import) = &run.asked.method else { return None };
    let text = import.recorded.as_deref()?.trim();
    let zoned = rfc2822::parse(text).map(|time| time.timestamp());
    let time = zoned.or_else(|_| text.parse::<Timestamp>()).or_else(|_| {
        // A time without a zone is taken as UTC: only the order matters.
        text.parse::<DateTime>()
            .and_then(|time| time.to_zoned(TimeZone::UTC))
            .map(|time| time.timestamp())
    });
    time.ok().map(|time| time.to_string())
}

/// The default for `--by`: the first build property in which the runs differ.
fn usual(runs: &[StoredRun]) -> BuildBy {
    let differs = |by: &BuildBy| {
        runs.iter().map(|one| build(&one.run, *by)).collect::<BTreeSet<_>>().len() > 1
    };
    [BuildBy::Kernel, BuildBy::Name].into_iter().find(differs).unwrap_or(BuildBy::Run)
}

/// Names the build of a run.
fn build(run: &Run, by: BuildBy) -> String {
    match by {
        BuildBy::Kernel => {
            let machine = &run.machine;
            // The same kernel release may be built more than once.
            let number = machine.kernel_version.split_whitespace().next().unwrap_or_default();
            format!("{} {number}", machine.kernel).trim().to_string()
        }
        BuildBy::Name => run.asked.name.clone(),
        BuildBy::Run => run.id.clone(),
    }
}
