//! The runs of a side: found by their names, read with what is compared of them.

use anyhow::bail;
use latlab_model::run::VerdictWord;
use latlab_model::{Run, ThreadBins};
use latlab_report::stored::RunTables;
use latlab_stats::MeasuredRun;
use latlab_store::{CampaignFolder, CellState, RunState, Store};
use std::path::{Path, PathBuf};

/// More runs than these are not tested exactly in a reasonable time.
const MOST_RUNS: usize = 50;
/// With fewer runs a side, others of the store may help.
const FEW_RUNS: usize = 5;

/// A run of a side, with what is compared of it.
pub struct StoredRun {
    pub run: Run,
    pub folder: PathBuf,
    scenario: Option<String>,
    tables: RunTables,
}

/// Where a run lies, and the row of its campaign.
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

    /// What is compared of it.
    pub fn measured(&self) -> MeasuredRun<'_> {
        MeasuredRun { scenario: self.scenario.as_deref(), ..self.tables.measured(&self.run) }
    }

    /// The counts of its threads.
    pub fn bins(&self) -> &[ThreadBins] {
        &self.tables.bins
    }

    /// Whether something spoiled its figures.
    fn is_invalid(&self) -> bool {
        self.run.verdict.as_ref().is_some_and(|verdict| verdict.word == VerdictWord::Invalid)
            || self.run.findings.iter().any(|finding| finding.invalidates())
    }
}

/// Earlier runs that may say how much runs differ are no more than these, the newest ones.
const MOST_EARLIER: usize = 50;

/// The valid runs of both sides, and the ids of those that are invalid.
pub struct Sides {
    pub base: Vec<StoredRun>,
    pub candidate: Vec<StoredRun>,
    pub invalid: Vec<String>,
    /// Other valid runs of the store on the same machines, if the sides have few.
    pub earlier: Vec<StoredRun>,
}

impl Sides {
    /// Finds and reads the runs of both sides.
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

/// Runs of the store that are on no side, of a machine of one of them.
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
    // One that cannot be read says nothing, and takes no answer away.
    let read = found.take(MOST_EARLIER).filter_map(|found| StoredRun::read(found).ok());
    Ok(read.filter(|one| !one.is_invalid()).collect())
}

/// The valid runs that these words stand for, of all stored ones where there is no word, and the ids of
/// those that are invalid.
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
            // A name may stand for a run that is given by its id as well.
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

/// All runs that a word stands for: a campaign or rows of it, all runs of a name, or a run.
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

/// The finished runs that have this name.
fn of_name(store: &Store, name: &str) -> anyhow::Result<Vec<PathBuf>> {
    let entries = store
        .list()?
        .into_iter()
        .filter(|entry| matches!(&entry.state, RunState::Finished(run) if run.asked.name == name));
    Ok(entries.map(|entry| entry.path).collect())
}

/// The finished runs of a campaign whose rows contain these words.
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
