//! Phrases that a reader has to decode do not come back, in comments, texts and documents.

use std::fs;
use std::path::{Path, PathBuf};

/// Phrases, in small letters, with what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("none where", "`None` if"),
    ("nobody", "whom it concerns, such as \"no process\""),
    ("somebody", "whom it concerns, such as \"another user\""),
    ("whoever", "whom it concerns, such as \"the caller\""),
    ("the how many-th", "\"number, from 1\""),
    ("the begin of", "\"the start of\""),
    ("it is told", "who reports it"),
    ("it is looked", "who looks, or \"a check\""),
    ("missed release", "\"overrun\""),
    ("missed releases", "\"overruns\""),
    ("legs", "\"parts\", or the breakdown"),
    ("the holder", "\"the cause\", or the blocker"),
    ("care limit", "\"margin\""),
    ("stroboscope", "\"period-aliases-tick\""),
    ("rival", "\"competing thread\""),
];

/// Where people write.
const PLACES: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "benches",
    "crates",
    "docs/README.md",
    "docs/decisions",
    "docs/dependencies.md",
    "docs/glossary.md",
    "docs/guide",
    "loads",
    "packaging",
    "python/src",
    "replay",
    "responders",
    "scenarios",
    "scripts",
    "tests",
    "web/src",
];

const ENDINGS: &[&str] = &["bash", "c", "js", "md", "py", "rs", "sh", "toml"];

#[test]
fn phrases_that_have_to_be_decoded_do_not_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for path in PLACES.iter().flat_map(|place| files(&root.join(place))) {
        // This list itself.
        if path.ends_with("tests/it/words.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text can be read").to_lowercase();
        for (number, line) in text.lines().enumerate() {
            for (phrase, instead) in PHRASES.iter().filter(|(phrase, _)| has(line, phrase)) {
                let path = path.strip_prefix(&root).expect("a path below the root").display();
                found.push(format!("{path}:{}: \"{phrase}\": write {instead}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{} phrases:\n{}", found.len(), found.join("\n"));
}

/// Whether a line has a phrase as words, and not as a part of a name in code.
fn has(line: &str, phrase: &str) -> bool {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(phrase).any(|(at, _)| {
        !line[..at].ends_with(is_of_name) && !line[at + phrase.len()..].starts_with(is_of_name)
    })
}

/// The texts below a place, or the place itself.
fn files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        let ending = place.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        return Vec::from_iter(ENDINGS.contains(&ending).then(|| place.to_path_buf()));
    }
    let entries = fs::read_dir(place).expect("a folder can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    // What was built or linked in stands elsewhere.
    paths.retain(|path| {
        !path.is_symlink() && !path.ends_with("node_modules") && !path.ends_with("build")
    });
    paths.sort();
    paths.iter().flat_map(|path| files(path)).collect()
}
