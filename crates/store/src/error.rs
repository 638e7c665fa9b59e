//! What can go wrong with a run folder, and what to do about it.

use latlab_digest::window::WindowError;
use latlab_model::shell::Line;
use std::io;
use std::path::{Path, PathBuf};

/// The result of everything that touches a folder.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("cannot {doing} {}: {error}{}", .path.display(), advice(.doing, .error))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A table cannot be read or written.
    #[error("{}: {reason}", .path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is not the one that was stored.
    #[error("{} was changed after it was stored: {reason}; check all files with `latlab verify`", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// A file that was written and synced has another content when it is read back.
    #[error(
        "{} is not what was written to it: check the disk and the memory; the journal stays, and \
         the next command finishes the run",
        .0.display()
    )]
    NotAsWritten(PathBuf),
    /// The folder of a run that goes on was renamed, and nobody knows where to.
    #[error(
        "{} was renamed during the run, or a folder above it: `latlab list --out FOLDER` finishes \
         the run in its new place",
        .0.display()
    )]
    Moved(PathBuf),
    /// The folder of an unfinished run belongs to somebody whom root does not trust.
    #[error(
        "{} belongs to user {owner}: run `latlab list` as that user to finish it",
        .path.display()
    )]
    OfAnother {
        /// The folder.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// The folder of a campaign belongs to somebody whose programs it would run.
    #[error(
        "{} belongs to user {owner}, and a campaign runs the programs that its folder names: read them \
         with `{}`, then continue it as that user, or a copy of your own (`cp -r`)",
        .path.display(), Line::new("latlab run --dry-run --resume").word(.path)
    )]
    CampaignOfAnother {
        /// The folder.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// A window was asked for of a run that cannot have one.
    #[error(
        "{} has no samples, which --window needs: measure with `latlab run --samples`",
        .0.display()
    )]
    NoSamples(PathBuf),
    /// A window that names no stretch of the run.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// `run.json` is not what it should be.
    #[error("{} cannot be read: {reason}", .path.display())]
    Damaged {
        /// The file.
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
        /// Whether counts are in the journal all the same, so that it is worth keeping.
        holds_counts: bool,
    },
    /// Text that cannot be the name of a folder of ours.
    #[error("'{0}' is not a valid run id: use letters, digits, '.', '_' and '-'")]
    BadId(String),
    /// Another program works on the campaign.
    #[error(
        "campaign {id} is already running in process {holder}: wait for it, or end it with Ctrl-C"
    )]
    CampaignGoesOn {
        /// Its folder.
        id: String,
        /// The process that has it.
        holder: String,
    },
    /// A path at which something else lies.
    #[error("{} is not the folder of a run: it has no run.json", .0.display())]
    NotARun(PathBuf),
    /// No run fits.
    #[error("no run '{spec}' in {}{}", .root.display(), others(.spec, .known))]
    NotFound {
        /// What was asked for.
        spec: String,
        /// Where it was looked for.
        root: PathBuf,
        /// The newest runs that are there.
        known: Vec<String>,
    },
    /// More than one run fits.
    #[error("'{spec}' is ambiguous{}", listed(":", .candidates))]
    Ambiguous {
        /// What was asked for.
        spec: String,
        /// All that fit.
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

    /// Says of a full disk that nothing has been measured yet, for `map_err`.
    pub(crate) fn at_begin(self) -> Error {
        match self {
            Error::Io { path, error, .. } if is_full(&error) => {
                Error::Io { doing: BEGIN, path, error }
            }
            other => other,
        }
    }

    /// Wraps what the system said, for `map_err`.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |error| Error::Io { doing, path, error }
    }
}

/// What is tried before anything is measured.
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

/// The runs that there are, or where others may be.
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
