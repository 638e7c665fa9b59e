//! The subjects of figures, whatever document they come from.

use super::resolution;
use crate::facts;
use crate::figures::CellFigures;
use latlab_model::run::{Quantiles, Summary, ThreadRun, VerdictWord};
use latlab_model::{Nanos, Run};
use latlab_stats::builds::Build;
use latlab_stats::comparison::ComparedRun;
use std::borrow::Cow;

/// A thread, a run, a build or a cell.
pub struct Counts<'a> {
    pub summary: Cow<'a, Summary>,
    pub run: Option<&'a Run>,
    /// `None` for all threads.
    pub thread: Option<&'a ThreadRun>,
    pub measured_ns: Option<Nanos>,
    pub started: &'a str,
    pub deadline_ns: Option<Nanos>,
    pub resolution_ns: Option<f64>,
    pub verdict: Option<VerdictWord>,
    /// Whether the quantiles are lower bounds.
    pub is_at_least: bool,
}

impl<'a> Counts<'a> {
    pub fn of_run(run: &'a Run) -> Counts<'a> {
        Counts {
            summary: Cow::Borrowed(&run.total),
            run: Some(run),
            thread: None,
            measured_ns: Some(run.measured_ns).filter(|_| facts::is_timed(run)),
            started: &run.started,
            deadline_ns: run.asked.until.deadline_ns,
            resolution_ns: resolution(run),
            is_at_least: false,
            verdict: run.verdict.as_ref().map(|verdict| verdict.word),
        }
    }

    pub fn of_thread(run: &'a Run, thread: &'a ThreadRun) -> Counts<'a> {
        let summary = Cow::Borrowed(&thread.summary);
        Counts { summary, thread: Some(thread), ..Counts::of_run(run) }
    }

    /// Without a run.
    pub fn of_summary(summary: Summary) -> Counts<'a> {
        Counts {
            summary: Cow::Owned(summary),
            run: None,
            thread: None,
            measured_ns: None,
            started: "",
            deadline_ns: None,
            resolution_ns: None,
            verdict: None,
            is_at_least: false,
        }
    }

    /// A cell of a campaign, or all repeats of a row pooled.
    pub fn of_cell(cell: &CellFigures, deadline_ns: Option<Nanos>) -> Counts<'a> {
        let quantiles = Quantiles {
            p99_9_ns: cell.p99_9_ns,
            above_ns: cell.p99_9_above_ns,
            ..Quantiles::default()
        };
        let summary = Summary {
            cycles: cell.cycles,
            overruns: cell.overruns,
            misses: cell.misses,
            min_ns: cell.min_ns,
            max_ns: cell.max_ns,
            max_is_at_least: cell.max_is_at_least,
            quantiles: Some(quantiles),
            ..Summary::default()
        };
        Counts { deadline_ns, ..Counts::of_summary(summary) }
    }
}

impl<'a> From<&'a Build> for Counts<'a> {
    fn from(build: &'a Build) -> Counts<'a> {
        let summary = Summary {
            releases: build.releases,
            misses: build.misses,
            min_ns: build.min_ns,
            max_ns: build.max_ns,
            ..Summary::default()
        };
        let measured_ns = Some(build.measured_ns).filter(|time| time.0 > 0);
        Counts { measured_ns, started: &build.started, ..Counts::of_summary(summary) }
    }
}

impl<'a> From<&'a ComparedRun> for Counts<'a> {
    fn from(run: &'a ComparedRun) -> Counts<'a> {
        let summary = Summary {
            cycles: run.cycles,
            releases: run.releases,
            overruns: run.overruns,
            misses: run.misses,
            min_ns: run.min_ns,
            max_ns: run.max_ns,
            ..Summary::default()
        };
        let measured_ns = Some(run.measured_ns).filter(|time| time.0 > 0);
        Counts { measured_ns, started: &run.started, ..Counts::of_summary(summary) }
    }
}
