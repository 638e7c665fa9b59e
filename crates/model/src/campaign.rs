//! What a sheet leads to: rows, repeats, and the runs in their order.

use crate::text_enum::text_enum;
use crate::{Nanos, Plan, Target};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Version of `campaign.json`.
pub const CAMPAIGN_VERSION: u32 = 1;

/// `campaign.json`: the plan of a campaign, all of it decided before the first run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Campaign {
    /// Version of this document.
    pub schema: u32,
    /// Version of the program.
    pub latlab: String,
    /// Name of the folder.
    pub id: String,
    /// Name of the sheet.
    pub name: String,
    /// The question that the sheet answers.
    pub about: Option<String>,
    /// When it was begun, in UTC (RFC 3339).
    pub begun: String,
    /// Times that each row is measured.
    pub repeats: u32,
    /// What replaced the ends of all scenarios, in the words of `--scale`.
    pub scale: Option<String>,
    /// In which order.
    pub order: Order,
    /// Seed of a random order, and of the phases of the runs.
    pub seed: u64,
    /// Times that a run which failed or is invalid is tried again.
    pub retries: u32,
    /// What lies between two runs.
    pub cool_down: CoolDown,
    /// CPUs of the machine that it was planned on, for the time that it takes.
    pub cpus: u32,
    /// The scenarios, each with each setting of the matrix.
    pub rows: Vec<Row>,
    /// The runs in their order.
    pub runs: Vec<PlannedRun>,
    /// What others have published of the same.
    pub published: Option<Published>,
}

text_enum! {
    /// In which order the rows are measured.
    Order {
        /// All rows, then all again.
        Sequential = "sequential",
        /// All rows, then all in reverse, and so on: a drift meets them all alike.
        Abba = "abba",
        /// All rows in an order of its own each time.
        Random = "random",
    }
}

/// What lies between two runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoolDown {
    /// A pause.
    pub pause_ns: Nanos,
    /// Until no thermal zone is hotter than this, in thousandths of a degree Celsius.
    pub below_millicelsius: Option<i64>,
    /// For this long at most.
    pub limit_ns: Nanos,
}

/// A row: a scenario with one setting of the matrix.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// What names it in the table; no other row has it.
    pub label: String,
    /// Its scenario.
    pub scenario: String,
    /// What the scenario is about.
    pub about: Option<String>,
    /// What the matrix sets, by option.
    pub settings: BTreeMap<String, String>,
    /// The kernel that must run, or a part of its release.
    pub kernel: Option<String>,
    /// Why it is left out.
    pub left_out: Option<String>,
    /// What is asked for.
    pub plan: Plan,
}

impl Row {
    /// Its scenario with what the matrix sets, but for kernel and target.
    pub fn group(&self) -> String {
        let is_other = |key: &str| key != "kernel" && key != "target";
        let settings = self.settings.iter().filter(|(key, _)| is_other(key));
        let settings = settings.map(|(key, value)| format!(", {key} {value}"));
        format!("{}{}", self.scenario, settings.collect::<String>())
    }

    /// Whether it can be measured while this machine runs a kernel of this release.
    pub fn fits_kernel(&self, release: &str) -> bool {
        !self.plan.on.target.shares_kernel()
            || self.kernel.as_ref().is_none_or(|wanted| contains_release(release, wanted))
    }
}

/// Whether a release holds a part of one, with whole numbers at its ends: 6.12 is no 6.1.
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

/// A run that is to be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedRun {
    /// Its row, from 0 on.
    pub row: usize,
    /// The how many-th of this row, from 1 on.
    pub repeat: u32,
    /// Seed of its phases.
    pub seed: u64,
}

/// Which run of a campaign a run is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// The campaign.
    pub campaign: String,
    /// Label of the row.
    pub row: String,
    /// The how many-th of this row, from 1 on.
    pub repeat: u32,
    /// The how many-th try, from 1 on.
    pub attempt: u32,
}

/// A try that left no run: a line of `failures.jsonl`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedAttempt {
    /// Which run it should have been.
    pub cell: Cell,
    /// When, in UTC (RFC 3339).
    pub at: String,
    /// Why there is no run.
    pub reason: String,
}

/// What others have published of the same experiment.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// Who, where, when, on what.
    pub source: String,
    /// What the published data leave open.
    pub doubts: Vec<String>,
    /// The figures.
    pub figures: Vec<PublishedFigure>,
}

/// A published figure.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedFigure {
    /// The scenario it belongs to.
    pub scenario: String,
    /// What was measured: the kernel, mostly.
    pub of: String,
    /// The observed maximum.
    pub max_ns: Option<Nanos>,
    /// In the words of those who published it.
    pub note: Option<String>,
}

impl Campaign {
    /// Which run of the campaign a planned one is, at its first try.
    pub fn cell(&self, planned: &PlannedRun) -> Cell {
        let row = self.rows[planned.row].label.clone();
        Cell { campaign: self.id.clone(), row, repeat: planned.repeat, attempt: 1 }
    }

    /// The order for the agent.
    pub fn plan(&self, planned: &PlannedRun, attempt: u32) -> Plan {
        let row = &self.rows[planned.row];
        let name = format!("{}-{}", row.label, planned.repeat);
        let cell = Some(Cell { attempt, ..self.cell(planned) });
        Plan { name, seed: Some(planned.seed), cell, ..row.plan.clone() }
    }

    /// What a planned run measures.
    pub fn target_of(&self, planned: &PlannedRun) -> &Target {
        &self.rows[planned.row].plan.on.target
    }

    /// Whether rows ask for different kernels.
    pub fn has_kernels(&self) -> bool {
        self.rows.iter().any(|row| row.kernel.is_some())
    }
}

impl Plan {
    /// How long the run takes with its warm-up, as far as its limits tell; none without a limit.
    pub fn duration(&self, cpus: u32) -> Option<Nanos> {
        let listed = self.who.cpus.as_ref().map(|list| list.len() as u32);
        let threads = self.who.threads.or(listed).unwrap_or(cpus).max(1);
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
    /// How long all runs take with what lies between them, as far as their limits tell.
    pub fn total(&self) -> Nanos {
        self.run_time() + self.pause_time()
    }

    /// How long a run takes with its warm-up, as far as its limits tell.
    pub fn run_duration(&self, run: &PlannedRun) -> Option<Nanos> {
        self.rows[run.row].plan.duration(self.cpus)
    }

    /// How long a row is measured each time, as far as its limits tell.
    fn row_duration(&self, row: &Row) -> Option<Nanos> {
        row.plan
            .duration(self.cpus)
            .map(|length| length - row.plan.until.warm_up_ns.unwrap_or_default())
    }

    /// How long the shortest and the longest run are measured, where all have a limit.
    pub fn shortest_and_longest(&self) -> Option<(Nanos, Nanos)> {
        let rows = self.rows.iter().filter(|row| row.left_out.is_none());
        let lengths: Vec<Nanos> = rows.map(|row| self.row_duration(row)).collect::<Option<_>>()?;
        Some((*lengths.iter().min()?, *lengths.iter().max()?))
    }

    /// How long all runs take without their warm-ups.
    pub fn measured_time(&self) -> Nanos {
        let length = |run: &PlannedRun| self.row_duration(&self.rows[run.row]).unwrap_or_default();
        self.runs.iter().map(length).sum()
    }

    /// How long all runs take with their warm-ups.
    pub fn run_time(&self) -> Nanos {
        self.runs.iter().filter_map(|run| self.run_duration(run)).sum()
    }

    /// How long the pauses between them take.
    pub fn pause_time(&self) -> Nanos {
        self.pause_time_of(self.runs.len())
    }

    /// How long the pauses between so many runs take.
    pub fn pause_time_of(&self, runs: usize) -> Nanos {
        self.cool_down.pause_ns * runs.saturating_sub(1) as i64
    }
}
