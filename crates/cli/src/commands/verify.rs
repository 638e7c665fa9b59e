//! `latlab verify`: whether stored runs are unchanged.

use crate::exit::{EXIT_CANNOT_MEASURE, EXIT_FAIL};
use crate::flags::{Common, Format};
use crate::output::{escape_controls, print_json, print_text, warn};
use crate::store::{open_store, recover, require_folder};
use clap::Args;
use latlab_report::units::bytes;
use latlab_store::{Mismatch, Verification};
use latlab_store::{RunEntry, RunState, Store};
use std::path::PathBuf;
use std::process::ExitCode;

/// Flags of `latlab verify`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// Runs to check: ids, parts of them, `last`, paths of run folders; all runs of a campaign
    #[arg(value_name = "RUN", default_value = "last", conflicts_with = "all")]
    pub runs: Vec<String>,
    /// Check every stored run, including those of campaigns
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub common: Common,
}

const EXAMPLES: &str = "\
Examples:
  latlab verify                   the last run
  latlab verify --all             every run, one line each

Compares size and SHA-256 of every file with run.json, reads every value of the tables, and compares
their sums with its counts. A run folder under another name than its own is not as it was stored.
Files that do not belong to a run are listed.

Exit codes:
  0  every run is as it was stored          2  wrong usage or input
  1  a run is damaged                       3  could not read a file, or not write the result";

/// Verifies all files of the runs, with a line for each run.
pub fn verify(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(args.common.out.as_deref());
    recover(&store);
    let mut all = Vec::new();
    for folder in folders(&store, args)? {
        let checked = latlab_store::verify(&folder);
        if args.common.format == Format::Text {
            print_text(&line(&checked))?;
        }
        all.push(checked);
    }
    if args.common.format == Format::Json {
        print_json(&all)?;
    }
    let damaged = all.iter().any(|checked| !checked.wrong.is_empty());
    let unread = all.iter().any(|checked| !checked.unread.is_empty());
    Ok(match (damaged, unread) {
        (true, _) => ExitCode::from(EXIT_FAIL),
        (false, true) => ExitCode::from(EXIT_CANNOT_MEASURE),
        (false, false) => ExitCode::SUCCESS,
    })
}

fn folders(store: &Store, args: &VerifyArgs) -> anyhow::Result<Vec<PathBuf>> {
    if args.all {
        require_folder(store)?;
        return Ok(finished_runs(
            store.list()?.into_iter().chain(store.list_of_campaigns()?).collect(),
        ));
    }
    let mut folders = Vec::new();
    for run in &args.runs {
        match store.find_campaign(run)? {
            Some(campaign) => folders.extend(finished_runs(campaign.runs().list()?)),
            None => folders.push(store.find(run)?),
        }
    }
    Ok(folders)
}

/// The folders of finished runs; warns about the others.
fn finished_runs(entries: Vec<RunEntry>) -> Vec<PathBuf> {
    let (finished, others): (Vec<_>, Vec<_>) = entries
        .into_iter()
        .partition(|entry| matches!(entry.state, RunState::Finished(_) | RunState::Damaged(_)));
    for entry in others {
        warn(format_args!("{} is not finished: skipped", entry.id));
    }
    finished.into_iter().map(|entry| entry.path).collect()
}

fn line(checked: &Verification) -> String {
    let extra = match &checked.extra[..] {
        [] => String::new(),
        extra => format!("; unknown files: {}", extra.join(", ")),
    };
    let each = |all: &[Mismatch]| {
        all.iter().map(|one| format!("{}: {}", one.file, one.what)).collect::<Vec<_>>().join("; ")
    };
    let said = match (&checked.wrong[..], &checked.unread[..]) {
        ([], []) => format!("ok, {} files, {}", checked.files, bytes(checked.bytes)),
        ([], unread) => format!("NOT READ: {}", each(unread)),
        (wrong, []) => format!("DAMAGED: {}", each(wrong)),
        (wrong, unread) => format!("DAMAGED: {}; NOT READ: {}", each(wrong), each(unread)),
    };
    let line = format!("{}: {said}{extra}", checked.run);
    // File names may contain control characters.
    format!("{}\n", escape_controls(&line))
}
