//! Where the runs lie; what earlier programs left there is finished.

use crate::leftovers::restore;
use crate::output::{escape_controls, print_text, warn};
use anyhow::bail;
use latlab_lab::Cache;
use latlab_model::Run;
use latlab_store::{Quarantined, Recovered, RecoveryOutcome, Store, calling_user};
use std::env;
use std::path::{Path, PathBuf};

/// Where runs live unless somebody says otherwise.
const RUNS: &str = "runs";

/// The folder of the runs, where this flag may name it.
pub fn open_store(out: Option<&Path>) -> Store {
    let folder = out.map(PathBuf::from).or_else(|| folder_in("LATLAB_RUNS"));
    Store::new(folder.unwrap_or_else(|| RUNS.into())).owned_by(calling_user())
}

/// Refuses a folder that is not there, where a mistyped name would look like a folder without runs.
pub fn require_folder(store: &Store) -> anyhow::Result<()> {
    if !store.root().is_dir() {
        bail!("{} is not a folder", escape_controls(&store.root().to_string_lossy()));
    }
    Ok(())
}

/// Finishes what earlier programs left, and says so; what cannot be finished is no obstacle.
pub fn recover(store: &Store) {
    restore();
    finish_leftovers(store);
}

/// Finishes the runs that earlier programs left, and says so.
pub fn finish_leftovers(store: &Store) {
    match store.recover() {
        Ok(all) => all.iter().for_each(|recovered| warn(sentence(recovered))),
        Err(error) => warn(error),
    }
}

/// Finishes the runs that earlier programs left, those of campaigns too, and moves aside what never
/// can be finished; whether nothing is left unfinished.
pub fn quarantine(store: &Store) -> anyhow::Result<bool> {
    let mut finished = true;
    let mut stores = vec![store.clone()];
    stores.extend(store.campaign_stores()?);
    for store in &stores {
        for Quarantined { recovered, moved } in store.quarantine()? {
            match (&moved, &recovered.outcome) {
                (Some(path), RecoveryOutcome::Left(error)) => {
                    let (id, path) = (&recovered.id, path.display());
                    print_text(&format!(
                        "moved {id} to {path}: {}\n",
                        escape_controls(&error.to_string())
                    ))?;
                }
                (_, outcome) => {
                    finished &= !matches!(outcome, RecoveryOutcome::Left(_));
                    warn(sentence(&recovered));
                }
            }
        }
    }
    Ok(finished)
}

fn sentence(Recovered { id, outcome }: &Recovered) -> String {
    match outcome {
        RecoveryOutcome::Finished(path) => {
            match latlab_store::read_run(path).ok().and_then(last_instant) {
                Some(last) => format!(
                    "recovered interrupted run {id}, measured up to {last:.3}: {}",
                    path.display()
                ),
                None => format!("recovered interrupted run {id}: {}", path.display()),
            }
        }
        RecoveryOutcome::Removed(reason) => format!(
            "removed interrupted run {id}, which had measured \
                                             nothing: {reason}"
        ),
        RecoveryOutcome::Left(error) if error.is_final() => format!(
            "cannot finish interrupted run {id}: {error}; `latlab doctor --quarantine` moves it aside"
        ),
        RecoveryOutcome::Left(error) => format!("cannot finish interrupted run {id}: {error}"),
    }
}

/// The folders of runs to be compared, the baseline first; a run that is named twice is refused.
pub fn find_runs(
    store: &Store,
    runs: &[String],
    baseline: Option<&str>,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for name in runs {
        if runs.len() > 1 && store.find_campaign(name)?.is_some() {
            bail!("{name} is a campaign: show it alone, or name runs of it");
        }
        let folder = store.find(name)?;
        if folders.contains(&folder) {
            let id = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
            bail!("run {id} is given twice");
        }
        folders.push(folder);
    }
    if let Some(name) = baseline {
        let baseline = store.find(name)?;
        folders.retain(|folder| *folder != baseline);
        if folders.is_empty() {
            bail!("--baseline {name} names the only run: name another one to compare with it");
        }
        folders.insert(0, baseline);
    }
    Ok(folders)
}

/// Where the counts of a run end, in UTC.
fn last_instant(run: Run) -> Option<jiff::Timestamp> {
    let started: jiff::Timestamp = run.started.parse().ok()?;
    started.checked_add(jiff::SignedDuration::from_nanos(run.measured_ns.0)).ok()
}

/// Where kernels and programs of guests are kept.
pub fn cache() -> Cache {
    let usual = user_folder("XDG_CACHE_HOME", ".cache")
        .unwrap_or_else(|| "/var/tmp".into())
        .join("latlab/lab");
    Cache::new(folder_in("LATLAB_LAB").unwrap_or(usual))
}

/// A folder of the user's: the one that the variable names, else the usual one at home.
pub fn user_folder(variable: &str, usual: &str) -> Option<PathBuf> {
    folder_in(variable).or_else(|| Some(folder_in("HOME")?.join(usual)))
}

/// The folder that a variable of the environment names; an empty one names none.
fn folder_in(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
