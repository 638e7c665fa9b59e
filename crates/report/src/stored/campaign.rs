//! A campaign as `report` shows it, read from its folder.

use super::{Result, RunTables};
use crate::InWords;
use crate::Options;
use crate::campaign::{CampaignRow, CampaignTable, CellAttempt};
use crate::campaign::{CampaignRun, PlannedResult, campaign_page, multiples, table};
use crate::findings::LOST;
use crate::sanitize::sanitize_run;
use latlab_model::Run;
use latlab_model::campaign::PlannedRun;
use latlab_model::run::EndReason;
use latlab_model::sanitize::{escape_controls, sanitize_document};
use latlab_stats::MeasuredRun;
use latlab_store::CellWord;
use latlab_store::{
    Attempt, AttemptProblem, CampaignFolder, CampaignProgress, CellState, read_run,
};
use std::path::{Path, PathBuf};

/// A run of a campaign with its counts; its texts are sanitized.
struct CampaignRunWithBins {
    path: PathBuf,
    run: Run,
    tables: RunTables,
}

impl CampaignRunWithBins {
    fn read(path: &Path) -> Result<CampaignRunWithBins> {
        let run = read_run(path)?;
        let tables = RunTables::read(path, &run)?;
        Ok(CampaignRunWithBins { path: path.to_path_buf(), run: sanitize_run(&run)?, tables })
    }

    fn measured(&self) -> MeasuredRun<'_> {
        self.tables.measured(&self.run)
    }
}

/// The outcome of a planned run. Its run is an index into those that were read.
struct LoadedCell {
    planned: PlannedRun,
    state: CellWord,
    reason: Option<String>,
    run: Option<usize>,
    attempts: Vec<CellAttempt>,
}

impl LoadedCell {
    /// Records that the run in this folder cannot be shown.
    fn set_damaged(&mut self, path: &Path, reason: &str) {
        (self.state, self.run) = (CellWord::Damaged, None);
        // The local path of the campaign is of no use to readers of its page.
        let folder = format!("{}/", path.parent().unwrap_or(path).display());
        let reason = reason.replace(&folder, "");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.reason = Some(match reason.contains(&*name) {
            true => reason,
            false => format!("{name}: {reason}"),
        });
    }
}

pub struct LoadedCampaign {
    runs: Vec<CampaignRunWithBins>,
    latlab: String,
    /// The stored table, for programs.
    pub table: CampaignTable,
    /// The table with sanitized texts, for people.
    pub shown: CampaignTable,
}

impl LoadedCampaign {
    pub fn read(folder: &CampaignFolder) -> Result<LoadedCampaign> {
        let campaign = &folder.campaign;
        let tried = folder.progress()?;
        let mut runs = Vec::new();
        let mut places = Vec::new();
        for planned in &campaign.runs {
            let mut place = load_cell(folder, &tried, planned);
            if let Some(index) = place.run {
                let (path, run) = &tried.runs[index];
                match latlab_store::expect_files(path, run)
                    .map_err(super::Error::from)
                    .and_then(|()| CampaignRunWithBins::read(path))
                {
                    Ok(run) => {
                        place.run = Some(runs.len());
                        runs.push(run);
                    }
                    Err(error) => place.set_damaged(path, &error.to_string()),
                }
            }
            places.push(place);
        }
        let made: Vec<PlannedResult> =
            places.iter().map(|place| planned_result(place, &runs)).collect();
        let table = table(campaign, &made);
        let shown = sanitize_document(&table)?;
        Ok(LoadedCampaign { table, shown, runs, latlab: escape_controls(&campaign.latlab) })
    }

    /// The whole page; `page_of` returns the relative link to the page of a run's folder.
    pub fn page(&self, page_of: impl Fn(&Path) -> Option<String>) -> String {
        let runs: Vec<CampaignRun> = self
            .runs
            .iter()
            .map(|one| CampaignRun {
                run: &one.run,
                bins: &one.tables.bins,
                page: page_of(&one.path),
            })
            .collect();
        campaign_page(&self.shown, &runs, &self.latlab)
    }

    /// The latencies of each row in a small chart, as an SVG element.
    pub fn multiples(&self, options: &Options) -> String {
        let by_id = |id: &String| self.runs.iter().find(|one| one.run.id == *id);
        let of_row = |row: &CampaignRow| {
            let runs = row.cells.iter().map(|cell| cell.run.as_ref().and_then(by_id));
            runs.map(|one| Some((&one?.run, one?.tables.bins.as_slice()))).collect()
        };
        let rows: Vec<Vec<_>> = self.shown.rows.iter().map(of_row).collect();
        multiples(&self.shown, &rows, options)
    }

    /// The folders of the runs in its cells, in the order of the plan.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.runs.iter().map(|one| one.path.clone()).collect()
    }
}

pub fn campaign_table(folder: &CampaignFolder) -> Result<CampaignTable> {
    Ok(LoadedCampaign::read(folder)?.table)
}

fn load_cell(
    folder: &CampaignFolder,
    tried: &CampaignProgress,
    planned: &PlannedRun,
) -> LoadedCell {
    let campaign = &folder.campaign;
    let (state, run, reason) = match tried.cell_state(campaign, planned) {
        CellState::Done { run } => (CellWord::Done, Some(run), None),
        CellState::GivenUp { run, problem } => (CellWord::Failed, run, Some(in_words(&problem))),
        CellState::Missing { .. } => (CellWord::Missing, None, None),
    };
    let damaged = tried.damaged_of(campaign, planned).filter(|_| state == CellWord::Missing);
    let attempts = tried.attempts(campaign, planned).into_iter().map(cell_attempt).collect();
    let mut place = LoadedCell { planned: *planned, state, reason, run, attempts };
    if let Some((path, reason)) = damaged {
        place.set_damaged(path, reason);
    }
    place
}

fn planned_result<'a>(place: &LoadedCell, runs: &'a [CampaignRunWithBins]) -> PlannedResult<'a> {
    PlannedResult {
        row: place.planned.row,
        repeat: place.planned.repeat,
        state: place.state,
        reason: place.reason.clone(),
        run: place.run.map(|index| runs[index].measured()),
        attempts: place.attempts.clone(),
    }
}

fn cell_attempt(attempt: Attempt) -> CellAttempt {
    let Attempt { number, run, problem, verdict } = attempt;
    CellAttempt { attempt: number, run, reason: problem.as_ref().map(in_words), verdict }
}

/// Why an attempt does not count.
fn in_words(problem: &AttemptProblem) -> String {
    match problem {
        AttemptProblem::Interrupted => "it was interrupted".to_string(),
        AttemptProblem::Killed => "latlab was killed, or its disk was full".to_string(),
        AttemptProblem::Ended(EndReason::Lost) => LOST.to_string(),
        AttemptProblem::Ended(reason) => format!("it ended early: {reason}"),
        AttemptProblem::Finding(finding) => finding.text(),
        AttemptProblem::NoRun(error) => error.clone(),
    }
}
