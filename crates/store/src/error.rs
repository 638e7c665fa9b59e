//! Errors about run folders, with remedies.

use latlab_digest::window::WindowError;
use latlab_model::shell::Line;
use std::io;
use std::path::{Path, PathBuf};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {doing} {}: {error}{}", .path.display(), advice(.doing, .error))]
    Io {
        /// What was attempted.
        doing: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    /// A table cannot be read or written.
    #[error("{}: {reason}", .path.display())]
    Table {
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file was changed since it was stored.
    #[error("{} was changed after it was stored: {reason}; check all files with `latlab verify`", .path.display())]
    Changed {
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// A file that was written and synced has different content when read back.
    #[error(
        "{} is not what was written to it: check the disk and the memory; the journal stays, and \
         the next command finishes the run",
        .0.display()
    )]
    NotAsWritten(PathBuf),
    /// The folder of a run in progress was renamed, and the new path is unknown.
    #[error(
        "{} was renamed during the run, or a folder above it: `latlab list --out FOLDER` finishes \
         the run in its new place",
        .0.display()
    )]
    Moved(PathBuf),
    /// The folder of an unfinished run belongs to a user whom root does not trust.
    #[error(
        "{} belongs to user {owner}: run `latlab list` as that user to finish it",
        .path.display()
    )]
    OfAnother {
        path: PathBuf,
        /// Uid.
        owner: u32,
    },
    /// The folder of a campaign belongs to another user, whose programs it would run.
    #[error(
        "{} belongs to user {owner}, and a campaign runs the programs that its folder names: read them \
         with `{}`, then continue it as that user, or a copy of your own (`cp -r`)",
        .path.display(), Line::new("latlab run --dry-run --resume").word(.path)
    )]
    CampaignOfAnother {
        path: PathBuf,
        /// Uid.
        owner: u32,
    },
    /// A window was requested of a run that cannot have one.
    #[error(
        "{} has no samples, which --window needs: measure with `latlab run --samples`",
        .0.display()
    )]
    NoSamples(PathBuf),
    /// The window is not within the run.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// `run.json` is invalid.
    #[error("{} cannot be read: {reason}", .path.display())]
    Damaged {
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Written by another version of the program.
    #[error(
        "{} has {what} {found}, and this latlab reads {what} {known}: use the latlab that wrote it",
        .path.display()
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Whose version: that of a document, or of the stream.
        what: &'static str,
        /// Its version.
        found: u64,
        /// The version that is known here.
        known: u32,
    },
    /// The journal ends before anything was measured.
    #[error("nothing was measured: {reason} ({})", .path.display())]
    NothingMeasured {
        /// The journal.
        path: PathBuf,
        /// What is missing.
        reason: String,
        /// Whether the journal has counts all the same and is worth keeping.
        holds_counts: bool,
    },
    /// Not a valid name for a run folder.
    #[error("'{0}' is not a valid run id: use letters, digits, '.', '_' and '-'")]
    BadId(String),
    /// Another program works on the campaign.
    #[error(
        "campaign {id} is already running in process {holder}: wait for it, or end it with Ctrl-C"
    )]
    CampaignGoesOn {
        /// The campaign's folder.
        id: String,
        /// The process that has it.
        holder: String,
    },
    /// The path is something other than a run.
    #[error("{} is not the folder of a run: it has no run.json", .0.display())]
    NotARun(PathBuf),
    /// No run matches.
    #[error("no run '{spec}' in {}{}", .root.display(), others(.spec, .known))]
    NotFound {
        spec: String,
        /// The folder that was searched.
        root: PathBuf,
        /// The newest existing runs.
        known: Vec<String>,
    },
    /// More than one run matches.
    #[error("'{spec}' is ambiguous{}", listed(":", .candidates))]
    Ambiguous {
        spec: String,
        /// All matches.
        candidates: Vec<String>,
    },
}

impl Error {
    /// A stream of another version.
    pub(crate) fn other_stream(path: PathBuf, found: u32) -> Error {
        let known = latlab_model::frame::STREAM_VERSION;
        Error::OtherVersion { path, what: "stream version", found: found.into(), known }
    }

    /// Whether an unfinished run with this error stays unfinished, however often it is tried.
    pub fn is_final(&self) -> bool {
        matches!(self, Error::NothingMeasured { .. } | Error::Damaged { .. })
    }

    /// For `map_err`: adds to a full-disk error that nothing has been measured yet.
    pub(crate) fn at_begin(self) -> Error {
        match self {
            Error::Io { path, error, .. } if is_full(&error) => {
                Error::Io { doing: BEGIN, path, error }
            }
            other => other,
        }
    }

    /// For `map_err`: wraps a system error.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |error| Error::Io { doing, path, error }
    }
}

/// The action attempted before anything is measured.
const BEGIN: &str = "begin a run in";

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn advice(doing: &str, error: &io::Error) -> &'static str {
    match error.kind() {
        _ if is_full(error) && doing == BEGIN => {
            "; free some space, or delete some files if `df -i` shows none free"
        }
        _ if is_full(error) => "; free some space: what was measured is stored by the next command",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose another folder with --out"
        }
        _ => "",
    }
}

/// Lists the existing runs, or where to look for others.
fn others(spec: &str, known: &[String]) -> String {
    match known.is_empty() {
        _ if spec.starts_with('-') => "; options come before the word '--'".to_string(),
        true => ", which has no runs; --out or LATLAB_RUNS names another folder".to_string(),
        false => listed("; there are", known),
    }
}

fn listed(word: &str, names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("{word} {}", names.join(", ")) }
}
