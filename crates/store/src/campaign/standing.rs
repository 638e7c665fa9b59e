//! What of a campaign is done, and what comes next.

use crate::id;
use latlab_model::Run;
use latlab_model::campaign::{Campaign, Cell, FailedTry, Planned};
use latlab_model::guest::TIME_LIMIT_FINDING;
use latlab_model::results::Tally;
use latlab_model::run::EndReason;
use std::path::PathBuf;

/// All that has been tried.
#[derive(Clone, Debug, Default)]
pub struct Tried {
    /// The runs that are stored, with their folders, the oldest first.
    pub runs: Vec<(PathBuf, Run)>,
    /// Tries that left no run.
    pub failures: Vec<FailedTry>,
    /// Folders of runs whose document cannot be read, with the reason, the oldest first: what they
    /// were of is told only by their names.
    pub damaged: Vec<(PathBuf, String)>,
    /// So many of the failures count no more, the oldest first.
    forgiven: usize,
}

/// How a planned run stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CellState {
    /// It is still to be made.
    Missing {
        /// As the how many-th try.
        attempt: u32,
    },
    /// It is made.
    Done {
        /// Its place among the runs.
        run: usize,
    },
    /// All its tries failed.
    GivenUp {
        /// The last one that left a run, by its place.
        run: Option<usize>,
        /// Why the last one failed.
        reason: String,
    },
}

/// What comes next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// A run.
    Run {
        /// Its place in the order.
        index: usize,
        /// The how many-th try.
        attempt: u32,
    },
    /// Another kernel must be booted first.
    Boot {
        /// Which one.
        kernel: String,
        /// Runs that wait for it.
        runs: usize,
    },
    /// Nothing.
    End,
}

/// What became of a try.
enum Outcome {
    /// Somebody or something cut it short: it says nothing of the scenario.
    Cut,
    Good,
    Bad(String),
}

fn outcome(run: &Run) -> Outcome {
    // Tried again it would take as long.
    if let Some(limit) = run.findings.iter().find(|finding| finding.code() == TIME_LIMIT_FINDING) {
        return Outcome::Bad(limit.text());
    }
    match run.ended {
        EndReason::Interrupted => return Outcome::Cut,
        EndReason::Lost if run.recovered => return Outcome::Cut,
        EndReason::Finished | EndReason::StopAbove => {}
        other => return Outcome::Bad(format!("it ended by itself: {other}")),
    }
    match run.findings.iter().find(|finding| finding.invalidates()) {
        Some(finding) => Outcome::Bad(finding.text()),
        None => Outcome::Good,
    }
}

fn is_of(cell: &Cell, wanted: &Cell) -> bool {
    cell.row == wanted.row && cell.repeat == wanted.repeat
}

impl Tried {
    /// These runs and failures.
    pub fn new(runs: Vec<(PathBuf, Run)>, failures: Vec<FailedTry>) -> Tried {
        Tried { runs, failures, ..Tried::default() }
    }

    /// The same, but what left no run so far is to be tried as often as if it were new.
    pub fn tried_anew(self) -> Tried {
        Tried { forgiven: self.failures.len(), ..self }
    }

    /// The runs of a planned one, with their places.
    pub fn of<'a>(&'a self, wanted: &'a Cell) -> impl Iterator<Item = (usize, &'a Run)> {
        let runs = self.runs.iter().enumerate().map(|(place, (_, run))| (place, run));
        runs.filter(move |(_, run)| run.asked.cell.as_ref().is_some_and(|cell| is_of(cell, wanted)))
    }

    /// The newest run of a planned one whose document cannot be read, with the reason.
    pub fn damaged_of(&self, campaign: &Campaign, planned: &Planned) -> Option<&(PathBuf, String)> {
        let name = id::cleaned(&campaign.plan(planned, 1).name);
        self.damaged.iter().rev().find(|(path, _)| {
            path.file_name().is_some_and(|found| id::name_of(&found.to_string_lossy()) == name)
        })
    }

    /// How a planned run stands.
    pub fn standing(&self, campaign: &Campaign, planned: &Planned) -> CellState {
        let wanted = campaign.cell(planned);
        let (mut bad, mut tries, mut last) = (0, 0, None);
        for (place, run) in self.of(&wanted) {
            tries += 1;
            match outcome(run) {
                Outcome::Good => return CellState::Done { run: place },
                Outcome::Cut => {}
                Outcome::Bad(reason) => {
                    bad += 1;
                    last = Some((place, reason));
                }
            }
        }
        let mine = |failed: &&FailedTry| is_of(&failed.cell, &wanted);
        let failures: Vec<&FailedTry> = self.failures.iter().filter(mine).collect();
        let counted = self.failures.iter().skip(self.forgiven).filter(mine).count();
        let (bad, tries) = (bad + counted, tries + failures.len() as u32);
        if bad <= campaign.retries as usize {
            return CellState::Missing { attempt: tries + 1 };
        }
        let run = last.as_ref().map(|(place, _)| *place);
        let reason = last.map(|(_, reason)| reason);
        let reason = reason.or(failures.last().map(|failed| failed.reason.clone()));
        CellState::GivenUp { run, reason: reason.unwrap_or_default() }
    }

    /// What comes next where this kernel runs: a row that asks for another one is put off.
    pub fn next(&self, campaign: &Campaign, release: &str) -> Next {
        let mut waiting: Vec<&str> = Vec::new();
        for (index, planned) in campaign.runs.iter().enumerate() {
            let CellState::Missing { attempt } = self.standing(campaign, planned) else { continue };
            match &campaign.rows[planned.row] {
                row if row.fits(release) => return Next::Run { index, attempt },
                row => waiting.extend(row.kernel.as_deref()),
            }
        }
        match waiting.first() {
            Some(first) => Next::Boot {
                kernel: first.to_string(),
                runs: waiting.iter().filter(|kernel| *kernel == first).count(),
            },
            None => Next::End,
        }
    }

    /// The missing runs whose targets boot for each run, by their places and attempts.
    pub fn missing_side_by_side(&self, campaign: &Campaign) -> Vec<(usize, u32)> {
        let runs = campaign.runs.iter().enumerate();
        let booting = runs.filter(|(_, run)| campaign.target_of(run).boots_for_each_run());
        let missing = booting.filter_map(|(index, run)| match self.standing(campaign, run) {
            CellState::Missing { attempt } => Some((index, attempt)),
            _ => None,
        });
        missing.collect()
    }

    /// How many planned runs stand how.
    pub fn tally(&self, campaign: &Campaign) -> Tally {
        let mut tally = Tally { planned: campaign.runs.len(), ..Tally::default() };
        for planned in &campaign.runs {
            match self.standing(campaign, planned) {
                CellState::Missing { .. } => {}
                CellState::Done { .. } => tally.measured += 1,
                CellState::GivenUp { run: Some(_), .. } => tally.invalid += 1,
                CellState::GivenUp { run: None, .. } => tally.failed += 1,
            }
        }
        tally
    }
}
