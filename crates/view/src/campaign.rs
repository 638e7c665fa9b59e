//! A campaign as `report` shows it: from its folder.

use crate::{Result, measured};
use latlab_model::campaign::Planned;
use latlab_model::results::{CellWord, Table};
use latlab_model::{Run, ThreadBins};
use latlab_report::campaign::{Made, table};
use latlab_store::{CampaignFolder, CellState, Tried};
use std::path::PathBuf;

/// A run of a campaign, read with its counts; its texts are harmless.
struct Read {
    path: PathBuf,
    run: Run,
    bins: Vec<ThreadBins>,
}

/// What became of a planned run, its run by its place among those that were read.
struct Place {
    planned: Planned,
    state: CellWord,
    reason: Option<String>,
    run: Option<usize>,
    tries: Vec<String>,
}

/// A campaign, read from its folder.
pub struct ShownCampaign {
    runs: Vec<Read>,
    places: Vec<Place>,
    /// Its table.
    pub table: Table,
}

impl ShownCampaign {
    /// Reads all that is shown of a campaign.
    pub fn read(folder: &CampaignFolder) -> Result<ShownCampaign> {
        let campaign = &folder.campaign;
        let tried = folder.tried()?;
        let mut runs = Vec::new();
        let mut places = Vec::new();
        for planned in &campaign.runs {
            let mut place = place(folder, &tried, planned);
            if let Some(index) = place.run {
                let path = tried.runs[index].0.clone();
                let (run, bins) = measured(&path)?;
                place.run = Some(runs.len());
                runs.push(Read { path, run, bins });
            }
            places.push(place);
        }
        let made: Vec<Made> = places.iter().map(|place| made(place, &runs)).collect();
        let table = table(campaign, &made);
        Ok(ShownCampaign { table, runs, places })
    }

    /// The folders of the runs in its cells, in the order of the plan.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.runs.iter().map(|one| one.path.clone()).collect()
    }
}

/// The table of a campaign.
pub fn campaign_table(folder: &CampaignFolder) -> Result<Table> {
    Ok(ShownCampaign::read(folder)?.table)
}

fn place(folder: &CampaignFolder, tried: &Tried, planned: &Planned) -> Place {
    let campaign = &folder.campaign;
    let (state, run, reason) = match tried.standing(campaign, planned) {
        CellState::Done { run } => (CellWord::Done, Some(run), None),
        CellState::GivenUp { run, reason } => (CellWord::Failed, run, Some(reason)),
        CellState::Missing { .. } => (CellWord::Missing, None, None),
    };
    let tries = tried.of(&campaign.cell(planned)).map(|(_, run)| run.id.clone()).collect();
    Place { planned: *planned, state, reason, run, tries }
}

fn made<'a>(place: &Place, runs: &'a [Read]) -> Made<'a> {
    Made {
        row: place.planned.row,
        repeat: place.planned.repeat,
        state: place.state,
        reason: place.reason.clone(),
        run: place.run.map(|index| (&runs[index].run, runs[index].bins.as_slice())),
        tries: place.tries.clone(),
    }
}
