//! JSON output of `latlab import`; the schemas are in docs/reference.

use latlab_formats::read::Recording;
use latlab_model::import::Import;
use latlab_model::run::{Finding, Summary, Verdict, VerdictWord};
use latlab_model::{Nanos, Run};
use latlab_report::InWords;
use latlab_report::{rendered_verdict, verdict_reason};
use latlab_store::Finished;
use serde::Serialize;
use std::path::Path;

/// `latlab import --format json`: the runs that were made, and the files that are no recordings.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Imported<'a> {
    /// The runs, in the order of the files.
    pub runs: Vec<ImportedRun<'a>>,
    /// The files that gave no run.
    pub refused: Vec<RefusedFile>,
}

/// A run that was made of a file.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ImportedRun<'a> {
    /// The file.
    file: String,
    /// Name of the folder of the run.
    id: &'a str,
    /// Path of that folder.
    path: String,
    /// Name of the run.
    name: &'a str,
    /// What the file says of its origin.
    import: Option<&'a Import>,
    /// The figures of each thread.
    threads: Vec<&'a Summary>,
    /// The figures of all threads together.
    total: &'a Summary,
    /// What the reader must know.
    findings: Vec<Finding>,
    /// The judgement, where a deadline was given.
    verdict: Option<Verdict>,
}

/// A file that gave no run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RefusedFile {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub reason: String,
}

/// `latlab import --look --format json`: what the files hold.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Looked {
    /// The recordings, in the order of the files.
    pub recordings: Vec<LookedRecording>,
    /// The files that are no recordings.
    pub refused: Vec<RefusedFile>,
}

/// A recording of a file.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LookedRecording {
    /// The file.
    pub file: String,
    /// Its format, in words.
    pub format: String,
    /// Which part of the file it is, where the file has several.
    pub part: Option<String>,
    /// Number of its threads.
    pub threads: usize,
    /// Latencies of all threads.
    pub latencies: u64,
    /// The smallest of them.
    pub min_ns: Option<Nanos>,
    /// The mean of those whose length is known.
    pub mean_ns: Option<f64>,
    /// The largest of them.
    pub max_ns: Option<Nanos>,
    /// Whether larger ones may be missing.
    #[serde(default)]
    pub max_is_at_least: bool,
    /// The verdict of its run with what the counts do not decide; `--look` has none.
    #[serde(skip)]
    pub verdict: Option<(VerdictWord, Option<String>)>,
    /// What the reader must know.
    pub findings: Vec<Finding>,
}

impl<'a> ImportedRun<'a> {
    pub fn new(file: &Path, finished: &'a Finished) -> ImportedRun<'a> {
        let run = &finished.run;
        ImportedRun {
            file: file.display().to_string(),
            id: &run.id,
            path: finished.path.display().to_string(),
            name: &run.asked.name,
            import: run.asked.method.import(),
            threads: run.threads.iter().map(|thread| &thread.summary).collect(),
            total: &run.total,
            findings: run.findings.iter().map(InWords::rendered).collect(),
            verdict: rendered_verdict(run),
        }
    }
}

impl LookedRecording {
    /// Describes a recording that was not stored.
    pub fn new(file: &Path, recording: &Recording) -> LookedRecording {
        let counts = || {
            recording.series.iter().map(|series| &series.counts).filter(|counts| counts.count > 0)
        };
        let (sum, summed) = counts().fold((0.0, 0), |(sum, summed), counts| {
            (sum + counts.sum_ns as f64, summed + counts.summed())
        });
        let known: Option<Vec<Nanos>> = counts().map(|counts| counts.max()).collect();
        LookedRecording {
            file: file.display().to_string(),
            format: recording.format.to_string(),
            part: recording.part.clone(),
            threads: recording.series.len(),
            latencies: recording.count(),
            min_ns: counts().filter_map(|counts| counts.min()).min(),
            mean_ns: (summed > 0).then(|| sum / summed as f64),
            max_ns: known.and_then(|known| known.into_iter().max()),
            max_is_at_least: recording.findings.iter().any(Finding::hides_maximum),
            verdict: None,
            findings: recording.findings.iter().map(InWords::rendered).collect(),
        }
    }

    /// Describes a recording that was stored as this run.
    pub fn of_run(file: &Path, run: &Run) -> LookedRecording {
        LookedRecording {
            file: file.display().to_string(),
            format: run.asked.method.import().map(|one| one.format.clone()).unwrap_or_default(),
            part: None,
            threads: run.threads.len(),
            latencies: run.total.cycles,
            min_ns: run.total.min_ns,
            mean_ns: run.total.mean_ns,
            max_ns: run.total.max_ns,
            max_is_at_least: run.total.max_is_at_least,
            verdict: run.verdict.as_ref().map(|verdict| (verdict.word, verdict_reason(run))),
            findings: run.findings.clone(),
        }
    }
}
