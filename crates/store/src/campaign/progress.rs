//! Which runs of a campaign are done, and what comes next.

use crate::id;
use latlab_model::campaign::{Campaign, Cell, FailedAttempt, PlannedRun};
use latlab_model::campaign_table::{
    CampaignCounts, CampaignSummary, CellAttempt, CellWord, cell_verdict,
};
use latlab_model::guest::TIME_LIMIT_FINDING;
use latlab_model::run::{EndReason, VerdictWord};
use latlab_model::{Run, Target};
use std::path::PathBuf;

/// All attempts so far.
#[derive(Clone, Debug, Default)]
pub struct CampaignProgress {
    /// Stored runs with their folders, oldest first.
    pub runs: Vec<(PathBuf, Run)>,
    /// Attempts that left no run.
    pub failures: Vec<FailedAttempt>,
    /// Folders of runs with an unreadable document, with the reason, oldest first; only their names
    /// tell which runs they were.
    pub damaged: Vec<(PathBuf, String)>,
    /// This many of the oldest failures no longer count.
    forgiven: usize,
    /// This many of the oldest runs no longer count if their link was lost.
    forgiven_lost: usize,
}

/// The state of a planned run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CellState {
    Missing {
        /// From 1.
        attempt: u32,
    },
    Done {
        /// Index among the runs.
        run: usize,
    },
    /// All its attempts failed.
    GivenUp {
        /// The last attempt that left a run, by index.
        run: Option<usize>,
        /// Why the last one failed.
        reason: String,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextStep {
    Run {
        /// Place in the order.
        index: usize,
        /// From 1.
        attempt: u32,
    },
    /// Another kernel must be booted first.
    Boot {
        /// Its release.
        kernel: String,
        /// Runs that wait for it.
        runs: usize,
    },
    End,
}

/// The outcome of an attempt.
enum RunOutcome {
    /// Interrupted from outside: says nothing about the scenario.
    Cut(&'static str),
    Good,
    /// The target or link disappeared, perhaps temporarily.
    Lost(String),
    Bad(String),
}

fn run_outcome(run: &Run) -> RunOutcome {
    // Another attempt would take as long.
    if let Some(limit) = run.findings.iter().find(|finding| finding.code() == TIME_LIMIT_FINDING) {
        return RunOutcome::Bad(limit.text());
    }
    match run.ended {
        EndReason::Interrupted => return RunOutcome::Cut("it was interrupted"),
        EndReason::Lost if run.recovered => {
            return RunOutcome::Cut("latlab was killed, or its disk was full");
        }
        EndReason::Finished | EndReason::StopAbove | EndReason::Decided => {}
        other => {
            return match run.why_lost() {
                Some(why) => RunOutcome::Lost(why),
                None => RunOutcome::Bad(format!("it ended early: {other}")),
            };
        }
    }
    match run.findings.iter().find(|finding| finding.invalidates()) {
        Some(finding) => RunOutcome::Bad(finding.text()),
        None => RunOutcome::Good,
    }
}

/// The number of the attempt that left a run.
fn attempt_of(run: &Run) -> u32 {
    run.asked.cell.as_ref().map_or(1, |cell| cell.attempt)
}

fn is_same_cell(cell: &Cell, wanted: &Cell) -> bool {
    cell.row == wanted.row && cell.repeat == wanted.repeat
}

impl CampaignProgress {
    pub fn new(runs: Vec<(PathBuf, Run)>, failures: Vec<FailedAttempt>) -> CampaignProgress {
        CampaignProgress { runs, failures, ..CampaignProgress::default() }
    }

    /// Lets everything that left no run so far, or a run with a lost link, be tried as often as if
    /// it were new.
    pub fn forget_failures(self) -> CampaignProgress {
        let (forgiven, forgiven_lost) = (self.failures.len(), self.runs.len());
        CampaignProgress { forgiven, forgiven_lost, ..self }
    }

    /// Whether a resume would try anything, again or for the first time.
    pub fn can_be_resumed(self, campaign: &Campaign) -> bool {
        self.forget_failures().counts(campaign).missing() > 0
    }

    /// The stored runs of a planned one, with their indices.
    pub fn runs_of<'a>(&'a self, wanted: &'a Cell) -> impl Iterator<Item = (usize, &'a Run)> {
        let runs = self.runs.iter().enumerate().map(|(place, (_, run))| (place, run));
        runs.filter(move |(_, run)| {
            run.asked.cell.as_ref().is_some_and(|cell| is_same_cell(cell, wanted))
        })
    }

    /// The newest run of a planned one with an unreadable document, with the reason.
    pub fn damaged_of(
        &self,
        campaign: &Campaign,
        planned: &PlannedRun,
    ) -> Option<&(PathBuf, String)> {
        let name = id::sanitize(&campaign.plan(planned, 1).name);
        self.damaged.iter().rev().find(|(path, _)| {
            path.file_name().is_some_and(|found| id::name_of(&found.to_string_lossy()) == name)
        })
    }

    pub fn cell_state(&self, campaign: &Campaign, planned: &PlannedRun) -> CellState {
        let wanted = campaign.cell(planned);
        let (mut bad, mut tries, mut last) = (0, 0, None);
        let is_forgiven = |place: usize, run: &Run| {
            place < self.forgiven_lost && matches!(run_outcome(run), RunOutcome::Lost(_))
        };
        for (place, run) in self.runs_of(&wanted) {
            tries += 1;
            match run_outcome(run) {
                RunOutcome::Good => return CellState::Done { run: place },
                RunOutcome::Cut(_) => {}
                RunOutcome::Lost(reason) | RunOutcome::Bad(reason) => {
                    bad += usize::from(!is_forgiven(place, run));
                    last = Some((place, attempt_of(run), reason));
                }
            }
        }
        let mine = |failed: &&FailedAttempt| is_same_cell(&failed.cell, &wanted);
        let failures: Vec<&FailedAttempt> = self.failures.iter().filter(mine).collect();
        let counted = self.failures.iter().skip(self.forgiven).filter(mine).count();
        let (bad, tries) = (bad + counted, tries + failures.len() as u32);
        if bad <= campaign.retries as usize {
            return CellState::Missing { attempt: tries + 1 };
        }
        let run = last.as_ref().map(|(place, _, _)| *place);
        let of_run = last.map(|(_, attempt, reason)| (attempt, reason));
        let failed = failures.last().map(|failed| (failed.cell.attempt, failed.reason.clone()));
        let newest = of_run.into_iter().chain(failed).max_by_key(|(attempt, _)| *attempt);
        CellState::GivenUp { run, reason: newest.map(|(_, reason)| reason).unwrap_or_default() }
    }

    /// All attempts at a planned run, in order.
    pub fn attempts(&self, campaign: &Campaign, planned: &PlannedRun) -> Vec<CellAttempt> {
        let wanted = campaign.cell(planned);
        let of_run = |(_, run): (usize, &Run)| CellAttempt {
            attempt: attempt_of(run),
            run: Some(run.id.clone()),
            reason: match run_outcome(run) {
                RunOutcome::Good => None,
                RunOutcome::Cut(why) => Some(why.to_string()),
                RunOutcome::Lost(reason) | RunOutcome::Bad(reason) => Some(reason),
            },
            verdict: run.verdict.as_ref().map(|verdict| verdict.word),
        };
        let of_failure = |failed: &FailedAttempt| CellAttempt {
            attempt: failed.cell.attempt,
            run: None,
            reason: Some(failed.reason.clone()),
            verdict: None,
        };
        let failures = self.failures.iter().filter(|failed| is_same_cell(&failed.cell, &wanted));
        let runs = self.runs_of(&wanted).map(of_run);
        let mut attempts: Vec<CellAttempt> = runs.chain(failures.map(of_failure)).collect();
        attempts.sort_by_key(|one| one.attempt);
        attempts
    }

    /// The next step on this kernel: a row that needs another one is postponed.
    pub fn next_step(&self, campaign: &Campaign, release: &str) -> NextStep {
        let mut waiting: Vec<&str> = Vec::new();
        for (index, planned) in campaign.runs.iter().enumerate() {
            let CellState::Missing { attempt } = self.cell_state(campaign, planned) else {
                continue;
            };
            match &campaign.rows[planned.row] {
                row if row.fits_kernel(release) => return NextStep::Run { index, attempt },
                row => waiting.extend(row.kernel.as_deref()),
            }
        }
        match waiting.first() {
            Some(first) => NextStep::Boot {
                kernel: first.to_string(),
                runs: waiting.iter().filter(|kernel| *kernel == first).count(),
            },
            None => NextStep::End,
        }
    }

    /// The missing runs of targets that match, as places and attempts.
    pub fn missing(
        &self,
        campaign: &Campaign,
        is_such: impl Fn(&Target) -> bool,
    ) -> Vec<(usize, u32)> {
        let runs = campaign.runs.iter().enumerate();
        let of_such = runs.filter(|(_, run)| is_such(campaign.target_of(run)));
        let missing = of_such.filter_map(|(index, run)| match self.cell_state(campaign, run) {
            CellState::Missing { attempt } => Some((index, attempt)),
            _ => None,
        });
        missing.collect()
    }

    /// Number of planned runs in each state.
    pub fn counts(&self, campaign: &Campaign) -> CampaignCounts {
        let mut tally =
            CampaignCounts { planned: campaign.runs.len(), ..CampaignCounts::default() };
        for planned in &campaign.runs {
            match self.cell_state(campaign, planned) {
                CellState::Missing { .. } => {}
                CellState::Done { .. } => tally.measured += 1,
                CellState::GivenUp { run: Some(_), .. } => tally.invalid += 1,
                CellState::GivenUp { run: None, .. } => tally.failed += 1,
            }
        }
        tally
    }

    /// The entry in a list of campaigns.
    pub fn summary(&self, campaign: &Campaign) -> CampaignSummary {
        CampaignSummary { counts: self.counts(campaign), verdicts: self.verdicts(campaign) }
    }

    /// Number of runs with each verdict, in the order of `VerdictWord::ALL`; a run that was given
    /// up is invalid, unless one of its attempts missed the deadline.
    pub fn verdicts(&self, campaign: &Campaign) -> Vec<(VerdictWord, usize)> {
        let verdict = |planned| {
            let (state, run) = match self.cell_state(campaign, planned) {
                CellState::Done { run } => (CellWord::Done, Some(run)),
                CellState::GivenUp { run, .. } => (CellWord::Failed, run),
                CellState::Missing { .. } => (CellWord::Missing, None),
            };
            let run = run.map(|place| &self.runs[place].1);
            cell_verdict(state, run, &self.attempts(campaign, planned))
        };
        let given: Vec<VerdictWord> = campaign.runs.iter().filter_map(verdict).collect();
        let count = |word: &VerdictWord| given.iter().filter(|one| *one == word).count();
        let counts = VerdictWord::ALL.iter().map(|word| (*word, count(word)));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}
