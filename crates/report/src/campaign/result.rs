//! The results of a campaign as a table.

use crate::figures::CellFigures;
use latlab_model::Nanos;
use latlab_model::campaign::{Published, PublishedFigure};
use latlab_model::explanation::CauseCounts;
use latlab_model::finding::Finding;
use latlab_model::run::VerdictWord;
use latlab_stats::RepeatsVerdict;
use latlab_stats::comparison::RunComparison;
use latlab_store::{CampaignCounts, CellWord};
use serde::{Deserialize, Serialize};

/// The table of a campaign: a row for each scenario, setting, target and kernel, and a cell for
/// each repeat. Runs of different targets, kernels or boards never share a row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CampaignTable {
    /// Folder name of the campaign.
    pub id: String,
    /// Name of the sheet.
    pub name: String,
    /// The question that the sheet answers.
    pub about: Option<String>,
    /// Replacement for the length of all scenarios, as given to `--scale`; `None` if not given.
    pub scale: Option<String>,
    /// Planned length of the shortest run; `None` if a run has no limit.
    pub shortest_ns: Option<Nanos>,
    /// Planned length of the longest run; `None` if a run has no limit.
    pub longest_ns: Option<Nanos>,
    /// Number of runs by state.
    #[serde(flatten)]
    pub tally: CampaignCounts,
    /// Number of times each row is measured, and so of cells in it.
    pub repeats: u32,
    /// Rows of the table.
    pub rows: Vec<CampaignRow>,
    /// Other targets, kernels or boards compared with the first.
    pub comparisons: Vec<VariantComparison>,
    /// Source of the published figures, and what they leave open.
    pub published: Option<Published>,
    /// Whether guests in virtual time were measured, where an instruction takes a nanosecond.
    pub virtual_time: bool,
}

/// Rows of one target, kernel or board compared with those of another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VariantComparison {
    /// Name of the base.
    pub base: String,
    /// Name of the candidate.
    pub candidate: String,
    /// The comparison, scenario by scenario.
    pub compared: RunComparison,
}

/// A row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CampaignRow {
    /// Row name, with the kernel and target set by the matrix.
    pub label: String,
    /// Row name without kernel and target: rows with the same group differ only in these.
    pub group: String,
    /// Name of its scenario.
    pub scenario: String,
    /// What is measured: `local`, or another target.
    pub target: String,
    /// Release of the measured kernel; before the first run, the one the sheet asks for.
    pub kernel: Option<String>,
    /// Preemption model of that kernel, as far as it reports one.
    pub preemption: Option<String>,
    /// Board or system model, if known.
    pub board: Option<String>,
    /// What the scenario is about.
    pub about: Option<String>,
    /// Deadline; `None` if the row is not judged.
    pub deadline_ns: Option<Nanos>,
    /// A cell for each repeat.
    pub cells: Vec<CampaignCell>,
    /// All repeats together; `None` until the first is done.
    pub pooled: Option<PooledRow>,
    /// The most severe verdict of its cells, or with a tolerated burst rate that of all repeats
    /// together. Without a deadline `None`, unless a cell failed or is invalid or damaged.
    pub verdict: Option<VerdictWord>,
    /// All repeats together against the tolerated burst rate; `None` if no rate is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<RepeatsVerdict>,
    /// Published figures of the same scenario.
    pub published: Vec<PublishedFigure>,
}

/// A cell: one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CampaignCell {
    /// Repeat number, from 1.
    pub repeat: u32,
    /// State of the cell.
    pub state: CellWord,
    /// Why it failed, was left out or is damaged (naming the run's folder). For a run that is done:
    /// what prevents a pass.
    pub reason: Option<String>,
    /// Id of its run; `None` if there is none.
    pub run: Option<String>,
    /// First counted release of its run, in UTC.
    pub started: Option<String>,
    /// Measured time of its run.
    pub measured_ns: Option<Nanos>,
    /// Host name of the measured machine.
    pub hostname: Option<String>,
    /// Ids of all attempts that left a run, including this one.
    pub tries: Vec<String>,
    /// All attempts in order, including those that left no run.
    pub attempts: Vec<CellAttempt>,
    /// Figures of its run.
    #[serde(flatten)]
    pub figures: CellFigures,
    /// Findings that the machine was not as the row claims: other work on an idle machine, heat,
    /// stolen time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")
    )]
    pub conditions: Vec<Finding>,
    /// Verdict of the run; `invalid` even without a deadline, and `fail` if any attempt missed it.
    pub verdict: Option<VerdictWord>,
}

/// An attempt to make the run of a cell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellAttempt {
    /// Attempt, from 1.
    pub attempt: u32,
    /// Id of the run it left; `None` if it left none.
    pub run: Option<String>,
    /// Why it does not count; `None` if it does.
    pub reason: Option<String>,
    /// Verdict of its run.
    pub verdict: Option<VerdictWord>,
}

impl CampaignCell {
    /// Whether an attempt that does not count missed the deadline; a later attempt does not undo
    /// that.
    pub fn has_failed_before(&self) -> bool {
        self.attempts.iter().any(CellAttempt::has_failed)
    }
}

impl CellAttempt {
    /// Whether it does not count but missed the deadline.
    pub fn has_failed(&self) -> bool {
        self.reason.is_some() && self.verdict == Some(VerdictWord::Fail)
    }
}

/// All repeats of a row pooled.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PooledRow {
    /// Number of runs pooled: those that are done.
    pub runs: usize,
    /// Pooled figures; every latency counts alike, so threads with more latencies weigh more.
    #[serde(flatten)]
    pub figures: CellFigures,
    /// p99.9 with equal weight for each thread; only if the threads have different periods.
    pub p99_9_equal_weight_ns: Option<Nanos>,
    /// Each thread over all repeats; only if the threads have different periods.
    pub threads: Vec<PooledThread>,
    /// Causes of the recorded spikes; `None` if none was recorded.
    pub causes: Option<CauseCounts>,
}

/// A thread over all repeats.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PooledThread {
    /// Number of the measuring thread.
    pub thread: u32,
    /// Period; `None` if unknown.
    pub period_ns: Option<Nanos>,
    /// Latencies recorded.
    pub cycles: u64,
    /// Observed maximum.
    pub max_ns: Option<Nanos>,
    /// p99.9; `None` if fewer than 1000 latencies were recorded.
    pub p99_9_ns: Option<Nanos>,
}
