//! What searches for settings have found: read from their campaigns by the commands that show it.

use crate::commands::compare::comparison;
use crate::commands::compare::sides::Sides;
use crate::output::write_into;
use anyhow::Context;
use latlab_conduct::tune::Search;
use latlab_model::campaign::Campaign;
use latlab_model::doctor::Diagnosis;
use latlab_model::tune::{Confirmed, TunePlan, TuneResult, TunedFigure};
use latlab_stats::Tolerance;
use latlab_stats::comparison::{Metric, RunComparison};
use latlab_store::{CampaignFolder, Store};
use latlab_sys::files::read_text;

/// The answer of a search in its folder, for later commands.
const RESULT: &str = "tune.json";
/// A larger file is not an answer.
const LARGEST: u64 = 16 << 20;

/// The search that a campaign is, or confirms.
pub fn search_of(store: &Store, folder: &CampaignFolder) -> anyhow::Result<Option<CampaignFolder>> {
    let is_search = |found: &CampaignFolder| found.campaign.search().is_some();
    match confirmation_of(folder) {
        Some(id) => Ok(store.find_campaign(id)?.filter(is_search)),
        None if is_search(folder) => Ok(Some(store.open_campaign(folder.path())?)),
        None => Ok(None),
    }
}

/// The search that a campaign confirms.
fn confirmation_of(folder: &CampaignFolder) -> Option<&str> {
    folder.campaign.tune.as_ref()?.confirms.as_deref()
}

/// The newest campaign that confirms a search.
pub fn confirmation(store: &Store, id: &str) -> anyhow::Result<Option<CampaignFolder>> {
    let is_of = |folder: &CampaignFolder| confirmation_of(folder) == Some(id);
    Ok(store.campaigns()?.into_iter().filter_map(|(_, folder)| folder.ok()).find(is_of))
}

/// What a search says, without its confirmation.
pub fn of_search(folder: &CampaignFolder) -> anyhow::Result<TuneResult> {
    let mut search = Search::new(&folder.campaign).context("it is not a search for settings")?;
    search.update(&folder.progress()?)?;
    Ok(search.result())
}

/// What a search and its confirmation say.
pub fn result(store: &Store, folder: &CampaignFolder) -> anyhow::Result<TuneResult> {
    let found = of_search(folder)?;
    let fresh = confirmation(store, &folder.campaign.id)?;
    let confirmed = fresh.map(|fresh| confirmed(store, &fresh)).transpose()?.flatten();
    Ok(TuneResult { confirmed, ..found })
}

/// The comparison of a confirmation, if both sides have a run.
fn confirmed(store: &Store, fresh: &CampaignFolder) -> anyhow::Result<Option<Confirmed>> {
    let Campaign { id, tune: Some(tune), .. } = &fresh.campaign else { return Ok(None) };
    let side = |row: &str| [format!("{id}:{row}")];
    let progress = fresh.progress()?;
    if progress.counts(&fresh.campaign).measured < 2 {
        return Ok(None);
    }
    let Ok(sides) = Sides::read(store, &side("untouched"), &side("tuned")) else { return Ok(None) };
    let compared = comparison(&sides, &Tolerance::default())?;
    let runs = sides.base.len().min(sides.candidate.len());
    Ok(Some(in_short(id, tune, runs, &compared.runs)))
}

fn in_short(id: &str, tune: &TunePlan, runs: usize, compared: &RunComparison) -> Confirmed {
    let tail = tune
        .figures
        .iter()
        .copied()
        .find(|figure| figure.decides() && *figure != TunedFigure::Bursts);
    let figure = tail.unwrap_or(TunedFigure::P99);
    let wanted = match figure {
        TunedFigure::P99_9 => Metric::P99_9,
        TunedFigure::P99_99 => Metric::P99_99,
        _ => Metric::P99,
    };
    let scenario = compared.scenarios.first();
    let metric = scenario.and_then(|one| one.metrics.iter().find(|one| one.metric == wanted));
    let misses = scenario.and_then(|one| one.misses.as_ref());
    Confirmed {
        id: id.to_string(),
        settings: tune.candidates.iter().map(|one| one.name.clone()).collect(),
        runs,
        figure,
        ratio: metric.map(|one| one.ratio),
        interval: metric.and_then(|one| one.interval).map(|range| (range.low, range.high)),
        misses: misses.map(|one| (one.base, one.candidate)),
    }
}

/// Leaves the answer for later commands.
pub fn keep(folder: &CampaignFolder, result: &TuneResult) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(result)? + "\n";
    write_into(folder.path(), RESULT, text.as_bytes()).map(drop)
}

/// Adds what the newest search on the same machine and kernel has found to diagnoses; without one,
/// nothing.
pub fn add_results(store: &Store, diagnoses: &mut [Diagnosis], host: Option<&str>, kernel: &str) {
    let is_of = |result: &TuneResult| {
        result.host.is_some() && result.host.as_deref() == host && result.kernel == kernel
    };
    // Only searches keep an answer, so no campaign has to be opened.
    let mut kept = store.campaign_paths().unwrap_or_default().into_iter().filter_map(|path| {
        let text = read_text(&path.join(RESULT), LARGEST).ok()??;
        serde_json::from_str(&text).ok()
    });
    if let Some(newest) = kept.find(is_of) {
        latlab_report::tune::add_results(diagnoses, &newest);
    }
}
