//! Recordings for tests.

use latlab_formats::read::{ImportQuery, InputError, Recording, read};
use latlab_model::finding::Finding;
use latlab_report::InWords;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A recording from the repository.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = root().join("fixtures/recordings").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folder of recordings whose licences keep them out of the repository: next to it, or absent.
pub fn recordings() -> Option<PathBuf> {
    let folders = ["../shared/data", "../../shared/data"].map(|folder| root().join(folder));
    let found = folders.into_iter().find(|folder| folder.join("MANIFEST.json").exists());
    if found.is_none() {
        eprintln!("SKIPPED: the recordings are not in ../shared/data");
    }
    found
}

/// Reads bytes as a file.
pub fn try_read(
    bytes: impl Into<Vec<u8>>,
    query: &ImportQuery,
) -> Result<Vec<Recording>, InputError> {
    read(Cursor::new(bytes.into()), query)
}

/// The only recording of a file.
pub fn one(bytes: impl Into<Vec<u8>>) -> Recording {
    let mut all = try_read(bytes, &ImportQuery::default()).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// The codes of the findings, in order.
pub fn codes(recording: &Recording) -> Vec<&str> {
    recording.findings.iter().map(Finding::code).collect()
}

/// The sentences of the findings.
pub fn texts(recording: &Recording) -> String {
    recording.findings.iter().map(InWords::text).collect::<Vec<_>>().join("\n")
}
