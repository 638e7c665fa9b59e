//! `latlab list`, `latlab show`, `latlab report`: what is stored, and how it is shown.

pub mod args;

use crate::common::Common;
use crate::documents::List;
use crate::leftovers::restore;
use crate::output::{glyphs, harmless, print, print_json, style, visible, warn, width};
use crate::window;
use anyhow::bail;
use args::{ListArgs, ListFormat, ShowArgs, ShowFormat};
use latlab_model::Run;
use latlab_report::ListEntry;
use latlab_report::campaign::CampaignEntry;
use latlab_store::{CampaignFolder, Entry, Outcome, Recovered, State, Store, calling_user};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where runs live unless somebody says otherwise.
const RUNS: &str = "runs";

/// The folder of the runs.
pub fn open_store(common: &Common) -> Store {
    store_in(common.out.as_deref())
}

/// The folder of the runs, where this flag may name it.
pub fn store_in(out: Option<&Path>) -> Store {
    let folder = out.map(PathBuf::from);
    let folder = folder.or_else(|| {
        std::env::var_os("LATLAB_RUNS").filter(|name| !name.is_empty()).map(PathBuf::from)
    });
    Store::new(folder.unwrap_or_else(|| RUNS.into())).owned_by(calling_user())
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

fn sentence(Recovered { id, outcome }: &Recovered) -> String {
    match outcome {
        Outcome::Finished(path) => match latlab_store::load(path).ok().and_then(last_instant) {
            Some(last) => format!(
                "recovered {id}, which was cut off: what was measured up to {last:.3} is in {}",
                path.display()
            ),
            None => format!("recovered {id}, which was cut off: see {}", path.display()),
        },
        Outcome::Removed(reason) => format!("removed {id}, which measured nothing: {reason}"),
        Outcome::Left(error) => format!("{id} was cut off and cannot be finished yet: {error}"),
    }
}

/// Where the counts of a run end, in UTC.
fn last_instant(run: Run) -> Option<jiff::Timestamp> {
    let started: jiff::Timestamp = run.started.parse().ok()?;
    started.checked_add(jiff::SignedDuration::from_nanos(run.measured_ns.0)).ok()
}

/// `latlab list`.
pub fn list(args: &ListArgs) -> anyhow::Result<ExitCode> {
    let store = store_in(args.out.as_deref());
    recover(&store);
    let entries = store.list()?;
    let campaigns = campaigns(&store)?;
    match args.format {
        ListFormat::Json => print_json(&List::new(&entries))?,
        ListFormat::Text => print(&listing(&store, &entries, &campaigns))?,
        ListFormat::Markdown => print(&latlab_report::markdown_list(&finished(&entries)))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The campaigns, newest first; one that cannot be read says why.
fn campaigns(store: &Store) -> anyhow::Result<Vec<CampaignEntry>> {
    let entry = |(id, opened): (String, latlab_store::Result<CampaignFolder>)| {
        let tally = opened.and_then(|folder| Ok(folder.tried()?.tally(&folder.campaign)));
        CampaignEntry { id, tally: tally.map_err(|error| visible(&error.to_string())) }
    };
    Ok(store.campaigns()?.into_iter().map(entry).collect())
}

/// Those that can be shown with their figures.
fn finished(entries: &[Entry]) -> Vec<ListEntry> {
    let finished = entries.iter().filter_map(|entry| match &entry.state {
        State::Finished(run) => Some(ListEntry::from(run.as_ref())),
        _ => None,
    });
    finished.collect()
}

fn listing(store: &Store, entries: &[Entry], campaigns: &[CampaignEntry]) -> String {
    if entries.is_empty() && campaigns.is_empty() {
        return format!(
            "No runs in {}. `latlab run --for 10s` makes one.\n",
            store.root().display()
        );
    }
    let finished = finished(entries);
    let mut text = String::new();
    if !finished.is_empty() {
        text += &latlab_report::list(&finished, width(), style());
    }
    for entry in entries {
        let state = match &entry.state {
            State::Finished(_) => continue,
            State::GoingOn => "is being measured now".to_string(),
            State::Unfinished => "was cut off and is not finished yet".to_string(),
            State::Damaged(reason) => format!("cannot be read: {}", visible(reason)),
        };
        text += &format!("{}: {state}\n", entry.id);
    }
    text + &latlab_report::campaign::campaigns(campaigns)
}

/// `latlab show`.
pub fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    if args.format == ShowFormat::Csv && args.window.is_none() {
        bail!(
            "--format csv prints the samples of a window: add --window, such as --window ..+1min"
        );
    }
    let store = store_in(args.out.as_deref());
    recover(&store);
    if let Some(campaign) = store.find_campaign(&args.run)? {
        crate::campaign::shown::show(&campaign, args)?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = store.find(&args.run)?;
    let run = latlab_store::load(&folder)?;
    match (&args.window, args.format) {
        (Some(spec), format) => window::show(&folder, &run, spec, format)?,
        (None, ShowFormat::Json) => print_json(&run)?,
        (None, ShowFormat::Markdown) => print(&latlab_report::markdown(&harmless(&run)?))?,
        (None, _) => print(&shown(&folder, &run)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A stored run as text.
pub fn shown(folder: &Path, run: &Run) -> anyhow::Result<String> {
    Ok(latlab_report::show(&harmless(run)?, &picture(folder, run), width(), style()))
}

/// The latencies as a picture of characters, or why there is none.
fn picture(folder: &Path, run: &Run) -> String {
    match latlab_store::histograms(folder, run) {
        Ok(bins) => latlab_report::histogram(run, &bins, width(), glyphs()),
        Err(error) => format!("No picture of the latencies: {}\n", visible(&error.to_string())),
    }
}
