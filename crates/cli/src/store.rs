//! The folder of the runs, and recovery of runs that were left unfinished.

use crate::leftovers::restore;
use crate::output::{escape_controls, print_text, warn};
use anyhow::bail;
use latlab_model::Run;
use latlab_store::{Quarantined, Recovered, RecoveryOutcome, Store, calling_user};
use std::env;
use std::path::{Path, PathBuf};

/// Default folder of the runs.
const RUNS: &str = "runs";

/// Opens the folder that the flag names, else the default one.
pub fn open_store(out: Option<&Path>) -> Store {
    let folder = out.map(PathBuf::from).or_else(|| folder_in("LATLAB_RUNS"));
    Store::new(folder.unwrap_or_else(|| RUNS.into())).owned_by(calling_user())
}

/// Refuses a folder that does not exist: a mistyped name would look like a folder without runs.
pub fn require_folder(store: &Store) -> anyhow::Result<()> {
    if !store.root().is_dir() {
        bail!("{} is not a folder", escape_controls(&store.root().to_string_lossy()));
    }
    Ok(())
}

/// Finishes interrupted runs, with a message for each. A failure is no obstacle.
pub fn recover(store: &Store) {
    restore();
    finish_leftovers(store);
}

/// Finishes interrupted runs, with a message for each.
pub fn finish_leftovers(store: &Store) {
    match store.recover() {
        Ok(all) => all.iter().for_each(|recovered| warn(sentence(recovered))),
        Err(error) => warn(error),
    }
}

/// Finishes interrupted runs, including those of campaigns, and moves aside those that cannot be
/// finished. Returns whether none is left unfinished.
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

/// The folders of the runs to compare, the baseline first. Refuses a run that is named twice.
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

/// The end of the measured time, in UTC.
fn last_instant(run: Run) -> Option<jiff::Timestamp> {
    let started: jiff::Timestamp = run.started.parse().ok()?;
    started.checked_add(jiff::SignedDuration::from_nanos(run.measured_ns.0)).ok()
}

/// The folder of kernels and programs for guests.
pub fn lab_folder() -> PathBuf {
    let usual = user_folder("XDG_CACHE_HOME", ".cache")
        .unwrap_or_else(|| "/var/tmp".into())
        .join("latlab/lab");
    folder_in("LATLAB_LAB").unwrap_or(usual)
}

/// A user folder: the one that the variable names, else the default below the home folder.
pub fn user_folder(variable: &str, usual: &str) -> Option<PathBuf> {
    folder_in(variable).or_else(|| Some(folder_in("HOME")?.join(usual)))
}

/// The folder that an environment variable names. `None` if it is unset or empty.
fn folder_in(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
