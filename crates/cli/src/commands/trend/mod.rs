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
use latlab_model::run_comparison::ComparisonWord;
use latlab_model::sanitize::sanitize_lines;
use latlab_model::trend::Trend;
use latlab_report::Style;
use latlab_report::test_suite::TestSuite;
use latlab_report::trend::{markdown, page, show, test_suite};
use latlab_stats::{BuildRun, trend};
use std::collections::BTreeSet;
use std::process::ExitCode;

/// What `latlab trend` does.
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
    let found = Trend { invalid, ..trend(&series, args.metric, args.care) };
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

/// Whether a run is of the time and the board that are asked for.
fn is_meant(run: &Run, args: &TrendArgs) -> bool {
    let board = |text: &String| {
        let names = [&run.machine.board, &run.machine.hostname];
        names.into_iter().flatten().any(|name| name.contains(text.as_str()))
    };
    // Times are RFC 3339 in UTC, which sort as texts.
    let started = recorded(run).unwrap_or_else(|| run.started.clone());
    args.since.as_ref().is_none_or(|since| started.as_str() >= since.as_str())
        && args.board.as_ref().is_none_or(board)
}

/// When the file of an imported run says that it was recorded, in UTC.
fn recorded(run: &Run) -> Option<String> {
    let Method::Import(import) = &run.asked.method else { return None };
    let text = import.recorded.as_deref()?.trim();
    let zoned = rfc2822::parse(text).map(|time| time.timestamp());
    let time = zoned.or_else(|_| text.parse::<Timestamp>()).or_else(|_| {
        // Without a zone it is taken as UTC: what counts is the order.
        text.parse::<DateTime>()
            .and_then(|time| time.to_zoned(TimeZone::UTC))
            .map(|time| time.timestamp())
    });
    time.ok().map(|time| time.to_string())
}

/// The first of what tells builds apart in which the runs differ.
fn usual(runs: &[StoredRun]) -> BuildBy {
    let differs = |by: &BuildBy| {
        runs.iter().map(|one| build(&one.run, *by)).collect::<BTreeSet<_>>().len() > 1
    };
    [BuildBy::Kernel, BuildBy::Name].into_iter().find(differs).unwrap_or(BuildBy::Run)
}

/// The name of the build that a run is of.
fn build(run: &Run, by: BuildBy) -> String {
    match by {
        BuildBy::Kernel => {
            let machine = &run.machine;
            // The same release may be built again.
            let number = machine.kernel_version.split_whitespace().next().unwrap_or_default();
            format!("{} {number}", machine.kernel).trim().to_string()
        }
        BuildBy::Name => run.asked.name.clone(),
        BuildBy::Run => run.id.clone(),
    }
}
