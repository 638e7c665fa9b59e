//! Which runs of a campaign are done, and what comes next.

use super::{CampaignCounts, CampaignSummary, CellWord, cell_verdict};
use crate::id;
use latlab_model::campaign::{Campaign, Cell, FailedAttempt, PlannedRun};
use latlab_model::finding::Finding;
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
#[derive(Clone, PartialEq, Debug)]
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
        problem: AttemptProblem,
    },
}

/// Why an attempt does not count.
#[derive(Clone, PartialEq, Debug)]
pub enum AttemptProblem {
    /// It was interrupted.
    Interrupted,
    /// latlab was killed, or its disk was full.
    Killed,
    /// It ended early, and no finding says why.
    Ended(EndReason),
    /// A finding of the run says why.
    Finding(Box<Finding>),
    /// It left no run; the error as it was stored.
    NoRun(String),
}

/// An attempt to make a planned run.
#[derive(Clone, PartialEq, Debug)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// Id of the run that it left.
    pub run: Option<String>,
    /// Why it does not count.
    pub problem: Option<AttemptProblem>,
    /// The verdict of its run.
    pub verdict: Option<VerdictWord>,
}

impl Attempt {
    /// Whether it does not count and has missed the deadline.
    pub fn has_failed(&self) -> bool {
        self.problem.is_some() && self.verdict == Some(VerdictWord::Fail)
    }
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
    Good,
    /// Interrupted from outside: says nothing about the scenario.
    Cut(AttemptProblem),
    /// The target or link disappeared, perhaps temporarily.
    Lost(AttemptProblem),
    Bad(AttemptProblem),
}

fn run_outcome(run: &Run) -> RunOutcome {
    let found = |finding: &Finding| AttemptProblem::Finding(Box::new(finding.clone()));
    // Another attempt would take as long.
    if let Some(limit) = run.findings.iter().find(|finding| finding.code() == TIME_LIMIT_FINDING) {
        return RunOutcome::Bad(found(limit));
    }
    match run.ended {
        EndReason::Interrupted => return RunOutcome::Cut(AttemptProblem::Interrupted),
        EndReason::Lost if run.recovered => return RunOutcome::Cut(AttemptProblem::Killed),
        EndReason::Lost => {
            let ended = AttemptProblem::Ended(EndReason::Lost);
            return RunOutcome::Lost(run.lost_by().map_or(ended, found));
        }
        EndReason::Finished | EndReason::StopAbove | EndReason::Decided => {}
        other => return RunOutcome::Bad(AttemptProblem::Ended(other)),
    }
    match run.findings.iter().find(|finding| finding.invalidates()) {
        Some(finding) => RunOutcome::Bad(found(finding)),
        None => RunOutcome::Good,
    }
}

/// The number of the attempt that left a run.
fn attempt_of(run: &Run) -> u32 {
    run.asked.cell.as_ref().map_or(1, |cell| cell.attempt)
}

fn no_run(failed: &FailedAttempt) -> AttemptProblem {
    AttemptProblem::NoRun(failed.reason.clone())
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
                RunOutcome::Lost(problem) | RunOutcome::Bad(problem) => {
                    bad += usize::from(!is_forgiven(place, run));
                    last = Some((place, attempt_of(run), problem));
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
        let of_run = last.map(|(_, attempt, problem)| (attempt, problem));
        let failed = failures.last().map(|failed| (failed.cell.attempt, no_run(failed)));
        let newest = of_run.into_iter().chain(failed).max_by_key(|(attempt, _)| *attempt);
        match newest {
            Some((_, problem)) => CellState::GivenUp { run, problem },
            None => CellState::Missing { attempt: tries + 1 },
        }
    }

    /// All attempts at a planned run, in order.
    pub fn attempts(&self, campaign: &Campaign, planned: &PlannedRun) -> Vec<Attempt> {
        let wanted = campaign.cell(planned);
        let of_run = |(_, run): (usize, &Run)| Attempt {
            number: attempt_of(run),
            run: Some(run.id.clone()),
            problem: match run_outcome(run) {
                RunOutcome::Good => None,
                RunOutcome::Cut(problem) | RunOutcome::Lost(problem) | RunOutcome::Bad(problem) => {
                    Some(problem)
                }
            },
            verdict: run.verdict.as_ref().map(|verdict| verdict.word),
        };
        let of_failure = |failed: &FailedAttempt| Attempt {
            number: failed.cell.attempt,
            run: None,
            problem: Some(no_run(failed)),
            verdict: None,
        };
        let failures = self.failures.iter().filter(|failed| is_same_cell(&failed.cell, &wanted));
        let runs = self.runs_of(&wanted).map(of_run);
        let mut attempts: Vec<Attempt> = runs.chain(failures.map(of_failure)).collect();
        attempts.sort_by_key(|one| one.number);
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
            let attempts = self.attempts(campaign, planned);
            cell_verdict(state, run, attempts.iter().any(Attempt::has_failed))
        };
        let given: Vec<VerdictWord> = campaign.runs.iter().filter_map(verdict).collect();
        let count = |word: &VerdictWord| given.iter().filter(|one| *one == word).count();
        let counts = VerdictWord::ALL.iter().map(|word| (*word, count(word)));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}
