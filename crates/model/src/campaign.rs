//! What a sheet expands to: rows, repeats, and the runs in order.

use crate::text_enum::text_enum;
use crate::tune::TunePlan;
use crate::{Nanos, Plan, Target};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Version of `campaign.json`.
pub const CAMPAIGN_VERSION: u32 = 1;

/// `campaign.json`: the plan of a campaign, fixed before the first run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Campaign {
    /// Version of this document.
    pub schema: u32,
    /// Version of latlab that wrote it.
    pub latlab: String,
    /// Folder name of the campaign.
    pub id: String,
    /// Name of the sheet.
    pub name: String,
    /// The question that the sheet answers.
    pub about: Option<String>,
    /// Start of the campaign, UTC (RFC 3339).
    pub begun: String,
    /// Number of times each row is measured.
    pub repeats: u32,
    /// Replacement for the length of all scenarios, as given to `--scale`; `None` if not given.
    pub scale: Option<String>,
    /// Order of the runs.
    pub order: Order,
    /// Seed of a random order and of the phases of the runs.
    pub seed: u64,
    /// How often a failed or invalid run is retried.
    pub retries: u32,
    /// Pause between two runs.
    pub cool_down: CoolDown,
    /// CPUs of the machine it was planned on, used to estimate its duration.
    pub cpus: u32,
    /// The scenarios, each with every setting of the matrix.
    pub rows: Vec<Row>,
    /// The runs in order.
    pub runs: Vec<PlannedRun>,
    /// Published figures of the same experiment.
    pub published: Option<Published>,
    /// What `latlab tune` searches for; `None` for a sheet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tune: Option<TunePlan>,
}

text_enum! {
    /// Order in which the rows are measured.
    Order {
        /// All rows, then all again.
        Sequential = "sequential",
        /// All rows, then all in reverse, and so on, so that a drift affects all rows alike.
        Abba = "abba",
        /// All rows in a new random order each time.
        Random = "random",
    }
}

/// What happens between two runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoolDown {
    /// Fixed pause.
    pub pause_ns: Nanos,
    /// Wait until no thermal zone is hotter than this, in thousandths of a degree Celsius.
    pub below_millicelsius: Option<i64>,
    /// Longest wait.
    pub limit_ns: Nanos,
}

/// A row: a scenario with one setting of the matrix.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Unique name of the row in the table.
    pub label: String,
    /// Name of its scenario.
    pub scenario: String,
    /// What the scenario is about.
    pub about: Option<String>,
    /// Options set by the matrix.
    pub settings: BTreeMap<String, String>,
    /// Kernel that must be running: its release, or a part of it.
    pub kernel: Option<String>,
    /// Why the row is left out; `None` if it is measured.
    pub left_out: Option<String>,
    /// The plan of its runs.
    pub plan: Plan,
}

impl Row {
    /// The scenario with its matrix settings except kernel and target.
    pub fn group(&self) -> String {
        let is_other = |key: &str| key != "kernel" && key != "target";
        let settings = self.settings.iter().filter(|(key, _)| is_other(key));
        let settings = settings.map(|(key, value)| format!(", {key} {value}"));
        format!("{}{}", self.scenario, settings.collect::<String>())
    }

    /// Whether the row can be measured on a kernel of this release.
    pub fn fits_kernel(&self, release: &str) -> bool {
        !self.plan.on.target.shares_kernel()
            || self.kernel.as_ref().is_none_or(|wanted| contains_release(release, wanted))
    }
}

/// Whether a release contains this part, with numbers matched whole: 6.12 does not match 6.1.
fn contains_release(release: &str, part: &str) -> bool {
    let number = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    release.match_indices(part).any(|(at, _)| {
        let (before, after) = (&release[..at], &release[at + part.len()..]);
        let begins_within = number(part.chars().next())
            && before.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        let ends_within = number(part.chars().last()) && number(after.chars().next());
        !begins_within && !ends_within
    })
}

/// A planned run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedRun {
    /// Index of its row, from 0.
    pub row: usize,
    /// Repeat number, from 1.
    pub repeat: u32,
    /// Seed of its phases.
    pub seed: u64,
}

/// A run's place in its campaign.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Id of the campaign.
    pub campaign: String,
    /// Label of the row.
    pub row: String,
    /// Repeat number, from 1.
    pub repeat: u32,
    /// Attempt, from 1.
    pub attempt: u32,
}

/// An attempt that left no run: a line of `failures.jsonl`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedAttempt {
    /// The run it was meant to be.
    pub cell: Cell,
    /// Time of the failure, UTC (RFC 3339).
    pub at: String,
    /// Why there is no run.
    pub reason: String,
}

/// Published figures of the same experiment.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// Authors, publication, date and hardware.
    pub source: String,
    /// What the published data leave open.
    pub doubts: Vec<String>,
    /// The published figures.
    pub figures: Vec<PublishedFigure>,
}

/// A published figure.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedFigure {
    /// The scenario it belongs to.
    pub scenario: String,
    /// What was measured, usually the kernel.
    pub of: String,
    /// Observed maximum; `None` if not published.
    pub max_ns: Option<Nanos>,
    /// Remark, quoted from the publication.
    pub note: Option<String>,
}

impl Campaign {
    /// The cell of a planned run at its first attempt.
    pub fn cell(&self, planned: &PlannedRun) -> Cell {
        let row = self.rows[planned.row].label.clone();
        Cell { campaign: self.id.clone(), row, repeat: planned.repeat, attempt: 1 }
    }

    /// The plan sent to the agent.
    pub fn plan(&self, planned: &PlannedRun, attempt: u32) -> Plan {
        let row = &self.rows[planned.row];
        let name = format!("{}-{}", row.label, planned.repeat);
        let cell = Some(Cell { attempt, ..self.cell(planned) });
        Plan { name, seed: Some(planned.seed), cell, ..row.plan.clone() }
    }

    /// The target of a planned run.
    pub fn target_of(&self, planned: &PlannedRun) -> &Target {
        &self.rows[planned.row].plan.on.target
    }

    /// What it searches for; `None` if it is no search for settings, or confirms one.
    pub fn search(&self) -> Option<&TunePlan> {
        self.tune.as_ref().filter(|tune| tune.confirms.is_none())
    }

    /// Whether rows ask for different kernels.
    pub fn has_kernels(&self) -> bool {
        self.rows.iter().any(|row| row.kernel.is_some())
    }
}

impl Plan {
    /// Number of measuring threads on a machine with this many CPUs.
    pub fn threads(&self, cpus: u32) -> u32 {
        let listed = self.who.cpus.as_ref().map(|list| list.len() as u32);
        self.who.threads.or(listed).unwrap_or(cpus).max(1)
    }

    /// Length of the run with its warm-up; `None` without a limit.
    pub fn duration(&self, cpus: u32) -> Option<Nanos> {
        let threads = self.threads(cpus);
        let cycles =
            self.until.cycles.zip(self.method.period_of(threads - 1)).map(|(count, slowest)| {
                Nanos(slowest.0.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX)))
            });
        let limits = [self.until.duration_ns, cycles];
        limits.into_iter().flatten().min().map(|length| {
            Nanos(length.0.saturating_add(self.until.warm_up_ns.unwrap_or_default().0))
        })
    }
}

impl Campaign {
    /// Length of all runs and pauses, as far as limits are set.
    pub fn total(&self) -> Nanos {
        self.run_time() + self.pause_time()
    }

    /// Length of a run with its warm-up; `None` without a limit.
    pub fn run_duration(&self, run: &PlannedRun) -> Option<Nanos> {
        self.rows[run.row].plan.duration(self.cpus)
    }

    /// Length of one measurement of a row; `None` without a limit.
    fn row_duration(&self, row: &Row) -> Option<Nanos> {
        row.plan
            .duration(self.cpus)
            .map(|length| length - row.plan.until.warm_up_ns.unwrap_or_default())
    }

    /// Shortest and longest measured time; `None` unless all runs have a limit.
    pub fn shortest_and_longest(&self) -> Option<(Nanos, Nanos)> {
        let rows = self.rows.iter().filter(|row| row.left_out.is_none());
        let lengths: Vec<Nanos> = rows.map(|row| self.row_duration(row)).collect::<Option<_>>()?;
        Some((*lengths.iter().min()?, *lengths.iter().max()?))
    }

    /// Length of all runs without warm-ups.
    pub fn measured_time(&self) -> Nanos {
        let length = |run: &PlannedRun| self.row_duration(&self.rows[run.row]).unwrap_or_default();
        self.runs.iter().map(length).sum()
    }

    /// Length of all runs with warm-ups.
    pub fn run_time(&self) -> Nanos {
        self.runs.iter().filter_map(|run| self.run_duration(run)).sum()
    }

    /// Length of all pauses.
    pub fn pause_time(&self) -> Nanos {
        self.pause_time_of(self.runs.len())
    }

    /// Length of the pauses between this number of runs.
    pub fn pause_time_of(&self, runs: usize) -> Nanos {
        self.cool_down.pause_ns * runs.saturating_sub(1) as i64
    }
}
