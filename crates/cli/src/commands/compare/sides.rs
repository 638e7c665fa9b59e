//! The runs of a side: found by name, read with what is compared.

use anyhow::bail;
use latlab_model::run::VerdictWord;
use latlab_model::{Run, ThreadBins};
use latlab_report::stored::RunTables;
use latlab_stats::MeasuredRun;
use latlab_store::{CampaignFolder, CellState, RunState, Store};
use std::path::{Path, PathBuf};

/// With more runs than this a side, an exact test takes too long.
const MOST_RUNS: usize = 50;
/// With fewer runs than this a side, earlier runs of the store are used as well.
const FEW_RUNS: usize = 5;

/// A run of a side, with what is compared.
pub struct StoredRun {
    pub run: Run,
    pub folder: PathBuf,
    scenario: Option<String>,
    tables: RunTables,
}

/// A run folder, and its row if it belongs to a campaign.
struct Found {
    folder: PathBuf,
    scenario: Option<String>,
}

impl StoredRun {
    fn read(found: Found) -> anyhow::Result<StoredRun> {
        let Found { folder, scenario } = found;
        let run = latlab_store::read_run(&folder)?;
        let tables = RunTables::read(&folder, &run)?;
        Ok(StoredRun { run, folder, scenario, tables })
    }

    pub fn measured(&self) -> MeasuredRun<'_> {
        MeasuredRun { scenario: self.scenario.as_deref(), ..self.tables.measured(&self.run) }
    }

    pub fn bins(&self) -> &[ThreadBins] {
        &self.tables.bins
    }

    /// Whether a finding invalidates the run's figures.
    fn is_invalid(&self) -> bool {
        self.run.verdict.as_ref().is_some_and(|verdict| verdict.word == VerdictWord::Invalid)
            || self.run.findings.iter().any(|finding| finding.invalidates())
    }
}

/// At most this many earlier runs, the newest ones, are used to estimate how much runs vary.
const MOST_EARLIER: usize = 50;

/// The valid runs of both sides, and the ids of the invalid ones.
pub struct Sides {
    pub base: Vec<StoredRun>,
    pub candidate: Vec<StoredRun>,
    pub invalid: Vec<String>,
    /// Other valid runs of the store on the same machines. Read only if the sides have few runs.
    pub earlier: Vec<StoredRun>,
}

impl Sides {
    pub fn read(store: &Store, base: &[String], candidate: &[String]) -> anyhow::Result<Sides> {
        let base = folders(store, base, "base")?;
        let candidate = folders(store, candidate, "candidate")?;
        if let Some(both) = candidate.iter().find(|one| contains(&base, &one.folder)) {
            bail!("run {} is on both sides", both.folder.display());
        }
        let mut invalid = Vec::new();
        let base = read_valid(base, "base", &mut invalid)?;
        let candidate = read_valid(candidate, "candidate", &mut invalid)?;
        let has_few = base.len().min(candidate.len()) < FEW_RUNS;
        let earlier = if has_few { earlier(store, &base, &candidate)? } else { Vec::new() };
        Ok(Sides { base, candidate, invalid, earlier })
    }
}

/// Runs of the store that are on neither side, but on a machine of one of them.
fn earlier(
    store: &Store,
    base: &[StoredRun],
    candidate: &[StoredRun],
) -> anyhow::Result<Vec<StoredRun>> {
    let sides = || base.iter().chain(candidate);
    let is_other = |path: &Path, run: &Run| {
        !sides().any(|one| one.folder == path || one.run.id == run.id)
            && sides().any(|one| one.run.machine.hostname == run.machine.hostname)
    };
    let found = store.list()?.into_iter().filter_map(|entry| match &entry.state {
        RunState::Finished(run) if is_other(&entry.path, run) => {
            Some(Found { folder: entry.path, scenario: None })
        }
        _ => None,
    });
    // An unreadable earlier run is skipped: it must not prevent the comparison.
    let read = found.take(MOST_EARLIER).filter_map(|found| StoredRun::read(found).ok());
    Ok(read.filter(|one| !one.is_invalid()).collect())
}

/// The valid runs that `specs` stand for (all stored runs if it is empty), and the ids of the
/// invalid ones.
pub fn read_runs(store: &Store, specs: &[String]) -> anyhow::Result<(Vec<StoredRun>, Vec<String>)> {
    let mut found: Vec<Found> = Vec::new();
    match specs {
        [] => found.extend(store.list()?.into_iter().filter_map(|entry| match entry.state {
            RunState::Finished(_) => Some(Found { folder: entry.path, scenario: None }),
            _ => None,
        })),
        specs => {
            for spec in specs {
                let more = find(store, spec)?;
                let new: Vec<Found> =
                    more.into_iter().filter(|one| !contains(&found, &one.folder)).collect();
                found.extend(new);
            }
        }
    }
    if found.is_empty() {
        bail!("no finished run in {}", store.root().display());
    }
    let mut invalid = Vec::new();
    let valid = read_valid(found, "series", &mut invalid)?;
    Ok((valid, invalid))
}

fn read_valid(
    found: Vec<Found>,
    name: &str,
    invalid: &mut Vec<String>,
) -> anyhow::Result<Vec<StoredRun>> {
    let all: Vec<StoredRun> = found.into_iter().map(StoredRun::read).collect::<Result<_, _>>()?;
    let (spoiled, valid): (Vec<_>, Vec<_>) = all.into_iter().partition(StoredRun::is_invalid);
    invalid.extend(spoiled.into_iter().map(|one| one.run.id));
    if valid.is_empty() {
        bail!("no run of the {name} is valid; invalid are: {}", invalid.join(", "));
    }
    Ok(valid)
}

fn folders(store: &Store, specs: &[String], name: &str) -> anyhow::Result<Vec<Found>> {
    let mut all: Vec<Found> = Vec::new();
    for spec in specs {
        for found in find(store, spec)? {
            // A name may match a run that was also given by its id.
            if !contains(&all, &found.folder) {
                all.push(found);
            }
        }
    }
    if all.len() > MOST_RUNS {
        bail!("the {name} has {} runs: name {MOST_RUNS} at most", all.len());
    }
    Ok(all)
}

fn contains(all: &[Found], folder: &Path) -> bool {
    all.iter().any(|one| one.folder == folder)
}

/// Expands a spec: a campaign or rows of it, all runs of a name, or one run.
fn find(store: &Store, spec: &str) -> anyhow::Result<Vec<Found>> {
    if spec.starts_with("--") {
        bail!("'{spec}' is not a run: put options before --");
    }
    let alone = |folder| Found { folder, scenario: None };
    let named = of_name(store, spec)?;
    if !named.is_empty() {
        return Ok(named.into_iter().map(alone).collect());
    }
    if let Some(campaign) = store.find_campaign(spec)? {
        return of_campaign(&campaign, "");
    }
    if let Some((name, row)) = spec.split_once(':')
        && let Some(campaign) = store.find_campaign(name)?
    {
        return of_campaign(&campaign, row);
    }
    Ok(vec![alone(store.find(spec)?)])
}

/// Finished runs with this name.
fn of_name(store: &Store, name: &str) -> anyhow::Result<Vec<PathBuf>> {
    let entries = store
        .list()?
        .into_iter()
        .filter(|entry| matches!(&entry.state, RunState::Finished(run) if run.asked.name == name));
    Ok(entries.map(|entry| entry.path).collect())
}

/// Finished runs of a campaign in rows whose name contains `row_part`.
fn of_campaign(folder: &CampaignFolder, row_part: &str) -> anyhow::Result<Vec<Found>> {
    let (campaign, tried) = (&folder.campaign, folder.progress()?);
    let mut all = Vec::new();
    for planned in &campaign.runs {
        let row = &campaign.rows[planned.row];
        if let CellState::Done { run } = tried.cell_state(campaign, planned)
            && row.label.contains(row_part)
        {
            let folder = tried.runs[run].0.clone();
            all.push(Found { folder, scenario: Some(row.group()) });
        }
    }
    if all.is_empty() {
        let labels: Vec<&str> = campaign.rows.iter().map(|row| row.label.as_str()).collect();
        bail!("no finished run of a row with '{row_part}'; the rows are: {}", labels.join("; "));
    }
    Ok(all)
}
