//! The machine to examine: this one, a board, or one from a run, a file or a folder.

use super::args::DoctorArgs;
use crate::exit::ExitError;
use crate::leftovers::restore;
use crate::store::{open_store, recover};
use anyhow::{Context, bail};
use latlab_conduct::StopFlag;
use latlab_conduct::link::read_board_snapshot;
use latlab_model::Snapshot;
use latlab_model::shell;
use latlab_model::target::BoardTarget;
use latlab_model::telemetry::Conditions;
use latlab_report::Subject;
use latlab_store::Store;
use latlab_sys::files::Root;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;

/// A larger file is no snapshot.
const LARGEST_SNAPSHOT: u64 = 256 << 20;
const HERE: &str = "this machine";

/// A machine's settings, and where they come from.
pub struct SnapshotSource {
    /// What reports call it.
    pub name: String,
    pub snapshot: Snapshot,
    /// The conditions of the run. `None` if the snapshot is not from a run.
    pub conditions: Option<Conditions>,
    kind: Kind,
}

enum Kind {
    Here,
    Run,
    Elsewhere,
}

impl SnapshotSource {
    pub fn open(args: &DoctorArgs) -> anyhow::Result<SnapshotSource> {
        match (&args.run, &args.root, &args.target) {
            (Some(run), ..) => of_run(&recovered(args), run),
            (None, Some(path), _) => of_path(path),
            (None, None, Some(board)) => of_board(board),
            (None, None, None) => of_this_machine(),
        }?
        .require_findings()
    }

    /// Refuses an empty snapshot: it would look like a machine without problems.
    fn require_findings(self) -> anyhow::Result<SnapshotSource> {
        if self.snapshot.has_folder("proc/") || self.snapshot.has_folder("sys/") {
            return Ok(self);
        }
        let text =
            format!("cannot examine {}: no file below its /proc and /sys could be read", self.name);
        Err(ExitError::cannot_measure(text).into())
    }

    /// Opens what `--against` names: an existing path, else a run.
    pub fn open_compared(args: &DoctorArgs, name: &str) -> anyhow::Result<SnapshotSource> {
        let path = Path::new(name);
        let is_run = path.join("run.json").exists() || path.ends_with("run.json");
        let is_folder =
            path.is_dir() && ["proc", "sys", "etc"].iter().any(|n| path.join(n).exists());
        match !is_run && (is_folder || path.exists() && !path.is_dir()) {
            true => of_path(path),
            false => of_run(&recovered(args), name),
        }?
        .require_findings()
    }

    pub fn is_here(&self) -> bool {
        matches!(self.kind, Kind::Here)
    }

    pub fn subject(&self) -> Subject<'_> {
        match self.kind {
            Kind::Here => Subject::Here,
            Kind::Run => Subject::Run(&self.name),
            Kind::Elsewhere => Subject::Elsewhere(&self.name),
        }
    }
}

fn recovered(args: &DoctorArgs) -> Store {
    let store = open_store(args.common.out.as_deref());
    recover(&store);
    store
}

/// This machine, as an agent sees it.
fn of_this_machine() -> anyhow::Result<SnapshotSource> {
    restore();
    let own = std::env::current_exe().map_err(|error| {
        ExitError::cannot_measure(format!(
            "cannot examine this machine: {error}; is /proc mounted?"
        ))
    })?;
    let mut agent = Command::new(own);
    agent.arg("agent");
    let snapshot = latlab_conduct::read_snapshot(agent).map_err(|failure| {
        ExitError::cannot_measure(format!("cannot examine this machine: {failure}"))
    })?;
    Ok(SnapshotSource { name: HERE.to_string(), snapshot, conditions: None, kind: Kind::Here })
}

/// Takes a snapshot of a board, through its agent.
fn of_board(board: &BoardTarget) -> anyhow::Result<SnapshotSource> {
    let stop = StopFlag::on_signals(false)?;
    let snapshot = read_board_snapshot(board, stop).map_err(ExitError::from)?;
    let name = board.to_string();
    Ok(SnapshotSource { name, snapshot, conditions: None, kind: Kind::Elsewhere })
}

fn of_run(store: &Store, spec: &str) -> anyhow::Result<SnapshotSource> {
    let hint = match Path::new(spec).exists() {
        true => "; --root examines a snapshot file or a folder that looks like /",
        false => "",
    };
    let folder = store.find(spec).map_err(|error| anyhow::anyhow!("{error}{hint}"))?;
    let run = latlab_store::read_run(&folder)?;
    let Some(snapshot) = latlab_store::read_snapshot(&folder, &run)? else {
        bail!(
            "{} has no snapshot.json: its machine was not read, and cannot be examined",
            folder.display()
        );
    };
    Ok(SnapshotSource { name: run.id, snapshot, conditions: run.conditions, kind: Kind::Run })
}

fn of_path(path: &Path) -> anyhow::Result<SnapshotSource> {
    let snapshot = if path.is_dir() { of_folder(path)? } else { of_file(path)? };
    let name = path.display().to_string();
    Ok(SnapshotSource { name, snapshot, conditions: None, kind: Kind::Elsewhere })
}

fn of_folder(path: &Path) -> anyhow::Result<Snapshot> {
    if path.join("run.json").exists() {
        bail!("{} is a run folder: use `{}`", path.display(), shell::latlab("doctor", path));
    }
    let snapshot = latlab_agent::snapshot_of(&Root::new(path));
    if snapshot.files.is_empty() {
        bail!("{} does not look like a root folder: expected proc and sys in it", path.display());
    }
    Ok(snapshot)
}

fn of_file(path: &Path) -> anyhow::Result<Snapshot> {
    let cannot = || format!("cannot read {}", path.display());
    let mut text = Vec::new();
    let file = File::open(path).with_context(cannot)?;
    file.take(LARGEST_SNAPSHOT).read_to_end(&mut text).with_context(cannot)?;
    Snapshot::from_json(&text).with_context(|| path.display().to_string())
}
