//! What a campaign came to: its table.

use crate::Nanos;
use crate::campaign::{Published, PublishedFigure};
use crate::explanation::CauseCounts;
use crate::finding::Finding;
use crate::run::{BurstLimit, Run, VerdictWord, is_false};
use crate::run_comparison::{BurstRate, RunComparison};
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The table of a campaign: a row for each scenario, setting, target and kernel, and a cell for each
/// repeat. Runs of different targets, kernels or boards are never in one row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CampaignTable {
    /// Name of the campaign's folder.
    pub id: String,
    /// Name of the sheet.
    pub name: String,
    /// The question that the sheet answers.
    pub about: Option<String>,
    /// What replaced the ends of all scenarios, in the words of `--scale`.
    pub scale: Option<String>,
    /// How long the shortest run is measured; none where a run has no limit.
    pub shortest_ns: Option<Nanos>,
    /// How long the longest run is measured; none where a run has no limit.
    pub longest_ns: Option<Nanos>,
    /// How many of its runs stand how.
    #[serde(flatten)]
    pub tally: CampaignCounts,
    /// Times that each row is measured: so many cells it has.
    pub repeats: u32,
    /// The rows.
    pub rows: Vec<CampaignRow>,
    /// What was measured on another target, kernel or board, against the first of them.
    pub comparisons: Vec<VariantComparison>,
    /// Where the published figures come from, and what they leave open.
    pub published: Option<Published>,
    /// Whether guests in virtual time were measured, where an instruction takes a nanosecond.
    pub virtual_time: bool,
}

/// The rows of one target, kernel or board against those of another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VariantComparison {
    /// What the base is called.
    pub base: String,
    /// What the candidate is called.
    pub candidate: String,
    /// What the runs come to, scenario by scenario.
    pub compared: RunComparison,
}

/// How many runs of a campaign stand how; the others are still to be made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CampaignCounts {
    /// Runs that were planned.
    pub planned: usize,
    /// Runs that are made.
    pub measured: usize,
    /// Runs that are made, and invalid at every try.
    pub invalid: usize,
    /// Runs that left nothing to store at the last of their tries.
    pub failed: usize,
    /// Runs that were made, and whose files are damaged.
    pub damaged: usize,
}

impl CampaignCounts {
    /// Runs that have not had all their tries.
    pub fn missing(&self) -> usize {
        self.planned.saturating_sub(self.measured + self.invalid + self.failed + self.damaged)
    }
}

impl fmt::Display for CampaignCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} measured", self.measured, self.planned)?;
        let others =
            [(self.invalid, "invalid"), (self.failed, "failed"), (self.damaged, "damaged")];
        for (count, word) in others.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {count} {word}")?;
        }
        Ok(())
    }
}

/// What a list of campaigns says of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CampaignSummary {
    /// How many of its runs stand how.
    pub counts: CampaignCounts,
    /// How many of its runs were given each verdict; those that no run was given are left out.
    pub verdicts: Vec<(VerdictWord, usize)>,
}

/// A row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CampaignRow {
    /// Its name, with the kernel and the target that the matrix asks for.
    pub label: String,
    /// The name without kernel and target: rows that have it in common differ in these alone.
    pub group: String,
    /// Its scenario.
    pub scenario: String,
    /// What is measured: `local`, or a machine of the laboratory.
    pub target: String,
    /// Release of the kernel that was measured; before the first run, what the sheet asks for.
    pub kernel: Option<String>,
    /// How that kernel can be preempted, as far as it says.
    pub preemption: Option<String>,
    /// Board or system model that was measured, as far as it is known.
    pub board: Option<String>,
    /// What that is about.
    pub about: Option<String>,
    /// The deadline it is judged by.
    pub deadline_ns: Option<Nanos>,
    /// A cell for each repeat.
    pub cells: Vec<CampaignCell>,
    /// All repeats together; none before the first of them is done.
    pub pooled: Option<PooledRow>,
    /// The heaviest verdict of its cells, or with a tolerated rate of bursts that of all repeats
    /// together; without a deadline none, but for a cell that failed, or is invalid or damaged.
    pub verdict: Option<VerdictWord>,
    /// All repeats together against the tolerated rate of bursts; none where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<RepeatsVerdict>,
    /// What others have published of the same scenario.
    pub published: Vec<PublishedFigure>,
}

/// The repeats of a row together against a tolerated rate of miss bursts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatsVerdict {
    /// What they come to.
    pub word: VerdictWord,
    /// How many there are.
    pub runs: usize,
    /// Their deadline misses.
    pub misses: u64,
    /// Releases that were due in them.
    pub activations: u64,
    /// Their bursts and their time.
    pub bursts: BurstRate,
    /// The tolerated rate, and what they say of it; where they differ, what the one with the most bursts
    /// in its time says.
    pub limit: BurstLimit,
    /// Repeats in which a release missed.
    pub runs_with_misses: usize,
    /// With 95 % confidence no larger share of such runs has a miss.
    pub at_most_share_of_runs: f64,
    /// Whether their bursts differ by more than chance, so that each must keep the limit by itself.
    pub differ: bool,
    /// Repeats that were not measured as planned, which shows no limit to be kept.
    pub undecided: usize,
}

text_enum! {
    /// How a cell stands.
    CellWord {
        /// Its run is made.
        Done = "done",
        /// All tries failed or are invalid.
        Failed = "failed",
        /// Its run is still to be made.
        Missing = "missing",
        /// Its run was made, and its files are damaged.
        Damaged = "damaged",
        /// It was left out, since a program is missing.
        LeftOut = "left-out",
    }
}

/// A cell: one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CampaignCell {
    /// The how many-th of its row.
    pub repeat: u32,
    /// How it stands.
    pub state: CellWord,
    /// Why it failed, was left out, or is damaged: the run's folder is named there. Of a run that is done,
    /// what forbids a pass.
    pub reason: Option<String>,
    /// Id of its run; none where there is none.
    pub run: Option<String>,
    /// First counted release of its run, in UTC.
    pub started: Option<String>,
    /// How long its run was measured.
    pub measured_ns: Option<Nanos>,
    /// Name of the machine that was measured.
    pub hostname: Option<String>,
    /// All tries that left a run, this one among them.
    pub tries: Vec<String>,
    /// All tries, in their order, also those that left no run.
    pub attempts: Vec<CellAttempt>,
    /// Its figures.
    #[serde(flatten)]
    pub figures: CellFigures,
    /// In what the machine was not as the row claims, as the findings of a run are: other work on an idle
    /// machine, heat, stolen time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")
    )]
    pub conditions: Vec<Finding>,
    /// The verdict of the run; `invalid` also without a deadline, and `fail` where any try has missed it.
    pub verdict: Option<VerdictWord>,
}

/// A try to make the run of a cell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellAttempt {
    /// The number of the try, from 1.
    pub attempt: u32,
    /// Id of the run that it left; none where it left none.
    pub run: Option<String>,
    /// Why it does not count; none of one that does.
    pub reason: Option<String>,
    /// The verdict of its run.
    pub verdict: Option<VerdictWord>,
}

impl CampaignCell {
    /// Whether a try that does not count has missed the deadline: a later one takes nothing back.
    pub fn has_failed_before(&self) -> bool {
        self.attempts.iter().any(CellAttempt::has_failed)
    }
}

/// The verdict of a cell of which this run is shown; `has_failed` says whether a try that does not count has
/// missed the deadline.
pub fn cell_verdict(state: CellWord, run: Option<&Run>, has_failed: bool) -> Option<VerdictWord> {
    let of_run = run.and_then(|run| run.verdict.as_ref()).map(|verdict| verdict.word);
    let has_ended = matches!(state, CellWord::Done | CellWord::Failed);
    // A deadline that was missed was missed, whatever else is wrong with the run or came after it.
    if has_ended && has_failed {
        return Some(VerdictWord::Fail);
    }
    let is_spoilt = state == CellWord::Failed && run.is_some();
    if is_spoilt && of_run != Some(VerdictWord::Fail) {
        return Some(VerdictWord::Invalid);
    }
    of_run
}

impl CellAttempt {
    /// Whether it does not count and has missed the deadline.
    pub fn has_failed(&self) -> bool {
        self.reason.is_some() && self.verdict == Some(VerdictWord::Fail)
    }
}

/// Figures of a run, or of several together.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellFigures {
    /// Latencies recorded.
    pub cycles: u64,
    /// Observed maximum.
    pub max_ns: Option<Nanos>,
    /// Whether latencies may be missing, so that the true maximum may be larger.
    #[serde(default, skip_serializing_if = "is_false")]
    pub max_is_at_least: bool,
    /// 99.9 %; none where fewer than 1000 latencies were recorded.
    pub p99_9_ns: Option<Nanos>,
    /// What p99.9 lies above, where no more is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_9_above_ns: Option<Nanos>,
    /// Missed releases; none where they are not defined.
    pub missed: Option<u64>,
    /// Releases later than the deadline; none without a deadline.
    pub misses: Option<u64>,
}

/// All repeats of a row together.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PooledRow {
    /// Runs that it is made of: those that are done.
    pub runs: usize,
    /// Every latency counts alike, so that a thread with more of them counts more.
    #[serde(flatten)]
    pub figures: CellFigures,
    /// 99.9 % where every thread counts alike, however many latencies it has; only where the
    /// threads have different periods.
    pub p99_9_equal_weight_ns: Option<Nanos>,
    /// Each thread over all repeats; only where the threads have different periods.
    pub threads: Vec<PooledThread>,
    /// Causes of the recorded spikes; none where none was recorded.
    pub causes: Option<CauseCounts>,
}

/// A thread over all repeats.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PooledThread {
    /// Its number.
    pub thread: u32,
    /// Its period; none where nobody knows it.
    pub period_ns: Option<Nanos>,
    /// Latencies recorded.
    pub cycles: u64,
    /// Observed maximum.
    pub max_ns: Option<Nanos>,
    /// 99.9 %; none where fewer than 1000 latencies were recorded.
    pub p99_9_ns: Option<Nanos>,
}
