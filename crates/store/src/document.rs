//! `run.json`: written with a checksum (its seal), and read only if that is right.

use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::files::{
    checksum, compare_size, hexadecimal, read_back, write_file, write_private_file,
};
use crate::trust::open_file;
use latlab_model::finding::{Finding, LossFinding};
use latlab_model::flight::EventCapture;
use latlab_model::run::{SCHEMA_VERSION, StoredFile, VerdictReason, VerdictWord};
use latlab_model::snapshot::ParseSnapshotError;
use latlab_model::{Run, Snapshot};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Name of the document in a run folder.
pub const RUN_JSON: &str = "run.json";
/// Name of the document in a campaign folder.
pub const CAMPAIGN_JSON: &str = "campaign.json";
/// Name of the target's kernel files in a run folder.
pub const SNAPSHOT_JSON: &str = "snapshot.json";
/// Name of the description needed to read the pages of the flight recorder.
pub const RECORDING_JSON: &str = "recording.json";
/// Name of a guest's kernel messages, which its emulator writes during the run.
pub const CONSOLE: &str = "console.txt";
/// Prefix of the file that an imported run was made from.
pub const ORIGINAL: &str = "original-";
/// A run of 4096 threads has a document of some MiB.
const LARGEST_DOCUMENT: u64 = 256 << 20;

/// Reads `run.json` of a run folder.
pub fn read_run(folder: &Path) -> Result<Run> {
    read_run_with_text(folder).map(|(run, _)| run)
}

/// Also returns the text that was read.
pub fn read_run_with_text(folder: &Path) -> Result<(Run, String)> {
    let path = folder.join(RUN_JSON);
    let mut text = Vec::new();
    let file = open_file(&path)?;
    if file.metadata().is_ok_and(|there| there.len() > LARGEST_DOCUMENT) {
        let reason = format!("it is longer than {} MiB", LARGEST_DOCUMENT >> 20);
        return Err(Error::Damaged { path, reason });
    }
    file.take(LARGEST_DOCUMENT).read_to_end(&mut text).map_err(Error::io("read", &path))?;
    let because = |reason: String| Error::Damaged { path: path.clone(), reason };
    let damaged = |error: serde_json::Error| because(error.to_string());
    // The version comes first, because the meaning of the rest depends on it.
    let Version { schema } = serde_json::from_slice(&text).map_err(damaged)?;
    if schema != u64::from(SCHEMA_VERSION) {
        let known = SCHEMA_VERSION;
        return Err(Error::OtherVersion { path, what: "schema", found: schema, known });
    }
    let text = String::from_utf8(text).map_err(|error| because(error.to_string()))?;
    let run = serde_json::from_str(&text).map_err(damaged)?;
    match flaw(&text, &run) {
        None => Ok((with_changed_files(folder, run), text)),
        Some(flaw) => Err(because(format!("damaged or changed: {flaw}"))),
    }
}

/// Checks the other files of the run as far as is cheap: a missing file, or one of another length,
/// forbids a pass. Checksums are compared when a file is read.
fn with_changed_files(folder: &Path, mut run: Run) -> Run {
    let changed = run.files.iter().filter_map(|(name, stored)| {
        let bytes = folder.join(name).symlink_metadata().ok().map(|there| there.len());
        (bytes != Some(stored.bytes)).then(|| {
            let (name, stored_bytes) = (name.clone(), stored.bytes);
            Finding::new(LossFinding::StoredFileChanged { name, bytes, stored_bytes })
        })
    });
    let changed: Vec<Finding> = changed.collect();
    let (Some(first), others) = (changed.first().cloned(), changed.len().saturating_sub(1)) else {
        return run;
    };
    if let Some(verdict) = run.verdict.as_mut().filter(|one| one.word == VerdictWord::Pass) {
        verdict.word = VerdictWord::Inconclusive;
        verdict.reason =
            Some(VerdictReason::PassForbidden { finding: first, others: others as u64 });
        (verdict.at_most_share, verdict.at_most_per_second, verdict.bursts) = (None, None, None);
    }
    run.findings.extend(changed);
    run
}

#[derive(serde::Deserialize)]
struct Version {
    schema: u64,
}

/// Start of the line with the checksum of all before it.
const CHECKSUM: &str = "\n  \"checksum\": \"";

/// SHA-256 of the lines before the checksum, as in `head -n -2 run.json | sha256sum`.
fn checksum_of(before: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(before);
    hash.update(b"\n");
    hexadecimal(hash)
}

/// What is wrong with a document, as far as its checksum shows.
fn flaw(text: &str, run: &Run) -> Option<&'static str> {
    let Some(checksum) = &run.checksum else { return Some("its checksum is missing") };
    let fits = text.rsplit_once(CHECKSUM).is_some_and(|(before, rest)| {
        *checksum == checksum_of(before) && rest == format!("{checksum}\"\n}}\n")
    });
    (!fits).then_some("wrong checksum")
}

/// Writes the target's kernel files, one per line; readable by the owner only if they contain what
/// the kernel shows only to root.
pub fn write_snapshot(disk: &Disk, path: &Path, snapshot: &Snapshot) -> Result<StoredFile> {
    let text = serde_json::to_string_pretty(snapshot)
        .map_err(|error| Error::Damaged { path: path.into(), reason: error.to_string() })?;
    match snapshot.is_restricted() {
        true => write_private_file(disk, path, &(text + "\n")),
        false => write_file(disk, path, &(text + "\n")),
    }
}

/// Reads the target's kernel files of a run, which must be unchanged.
pub fn read_snapshot(folder: &Path, run: &Run) -> Result<Option<Snapshot>> {
    let Some((path, text)) = read_stored(folder, run, SNAPSHOT_JSON)? else { return Ok(None) };
    let damaged = |error: ParseSnapshotError| Error::Damaged { path, reason: error.to_string() };
    Snapshot::from_json(&text).map(Some).map_err(damaged)
}

/// Writes the description needed to read the pages of the flight recorder.
pub fn write_recording(disk: &Disk, path: &Path, recording: &EventCapture) -> Result<StoredFile> {
    let text = serde_json::to_string(recording)
        .map_err(|error| Error::Damaged { path: path.into(), reason: error.to_string() })?;
    write_file(disk, path, &(text + "\n"))
}

/// Reads the description, which must be unchanged; `None` if nothing was recorded.
pub fn read_recording(folder: &Path, run: &Run) -> Result<Option<EventCapture>> {
    let Some((path, text)) = read_stored(folder, run, RECORDING_JSON)? else { return Ok(None) };
    let damaged = |error: serde_json::Error| Error::Damaged { path, reason: error.to_string() };
    serde_json::from_slice(&text).map(Some).map_err(damaged)
}

/// Reads a document of a run folder, which must be unchanged; `None` if it does not exist.
fn read_stored(folder: &Path, run: &Run, name: &str) -> Result<Option<(PathBuf, Vec<u8>)>> {
    let Some(stored) = run.files.get(name) else { return Ok(None) };
    let path = folder.join(name);
    let file = open_file(&path)?;
    if let Some(reason) = compare_size(&file, &path, stored)? {
        return Err(Error::Damaged { path, reason });
    }
    let mut text = Vec::new();
    file.take(LARGEST_DOCUMENT).read_to_end(&mut text).map_err(Error::io("read", &path))?;
    if checksum(&text[..], &path)? != *stored {
        return Err(Error::Damaged { path, reason: "wrong SHA-256".to_string() });
    }
    Ok(Some((path, text)))
}

/// Writes the document of a run with its checksum, and reads it back.
pub fn write_document(disk: &Disk, path: &Path, run: &mut Run) -> Result<()> {
    let pretty = |run: &Run| {
        serde_json::to_string_pretty(run)
            .map_err(|error| Error::Damaged { path: path.into(), reason: error.to_string() })
    };
    run.checksum = Some(String::new());
    let draft = pretty(run)?;
    run.checksum = draft.rsplit_once(CHECKSUM).map(|(before, _)| checksum_of(before));
    let text = pretty(run)? + "\n";
    read_back(disk, path, &write_file(disk, path, &text)?)
}
