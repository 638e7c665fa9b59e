//! docs/reference/invariants.md, from the lines `Invariant (TOPIC): …` above tests.

use super::{differs, folder};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const HEAD: &str = "\
# Invariants

What must stay true, and the tests that fail when it does not. A test states its invariant in a line
`Invariant (TOPIC): …` above it; `make reference` generates this page from those lines. The first ten
topics are the invariants of [ARCHITECTURE.md](../../ARCHITECTURE.md).
";

/// The topics with their titles, in the order of the page.
const TOPICS: &[(&str, &str)] = &[
    ("releases", "Every release is accounted for"),
    ("losses", "Losses are counted"),
    ("kills", "A kill costs at most one second"),
    ("undo", "Everything changed is undone"),
    ("settings", "Every setting is read back"),
    ("tune", "A search for settings says nothing false, and puts everything back"),
    ("loop", "The loop is small"),
    ("agent", "The agent does no analysis, the conductor measures nothing"),
    ("purity", "Pure crates read no clock, file or environment"),
    ("unsafe", "`unsafe` is in `sys` only"),
    ("old data", "Old data stays readable"),
    ("trust", "Trust"),
    ("instruments", "Instruments"),
    ("conditions", "Conditions of a run"),
    ("doctor", "Doctor"),
    ("pictures", "Pictures"),
    ("page and server", "Page and server"),
    ("command line", "Command line"),
    ("campaigns", "Campaigns"),
    ("comparisons", "Comparisons of runs"),
    ("captures", "Captures"),
    ("imports", "Imports"),
    ("exports", "Exports"),
    ("fleet", "Tables of many runs"),
    ("laboratory", "Laboratory"),
    ("boards", "Boards"),
    ("watch", "Watching"),
    ("packages", "Packages"),
    ("documents", "Documents"),
];

/// Folders with tests, and the extensions of test files.
const PLACES: &[(&str, &[&str])] =
    &[("crates", &["rs"]), ("tests", &["sh", "py"]), ("benches", &["py"]), ("web/test", &["js"])];

#[test]
fn invariants_are_those_of_the_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Topic → sentence → tests.
    let mut found: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for (place, endings) in PLACES {
        for path in files(&root.join(place), endings) {
            let name = path.strip_prefix(&root).expect("below the root").display().to_string();
            let text = fs::read_to_string(&path).expect("a test can be read");
            for (topic, sentence, test) in invariants(&name, &text) {
                let known = TOPICS.iter().any(|(known, _)| *known == topic);
                assert!(known, "{name}: an invariant of '{topic}', which is not a topic");
                found.entry(topic).or_default().entry(sentence).or_default().push(test);
            }
        }
    }
    let missing: Vec<&str> = TOPICS
        .iter()
        .map(|(topic, _)| *topic)
        .filter(|topic| !found.contains_key(*topic))
        .collect();
    assert!(missing.is_empty(), "no test states an invariant of {missing:?}");
    let sections = TOPICS.iter().map(|(topic, title)| section(title, &found[*topic]));
    let page = format!("{HEAD}{}", sections.collect::<String>());
    assert!(
        !differs(&folder("invariants.md"), &page),
        "docs/reference/invariants.md differs from the tests: run `make reference`"
    );
}

fn section(title: &str, of_it: &BTreeMap<String, Vec<String>>) -> String {
    let row = |(sentence, tests): (&String, &Vec<String>)| {
        let mut lines: Vec<String> = Vec::new();
        for test in tests {
            if !lines.contains(test) {
                lines.push(test.clone());
            }
        }
        format!("| {sentence} | {} |\n", lines.join("<br>"))
    };
    let rows: String = of_it.iter().map(row).collect();
    format!("\n## {title}\n\n| invariant | test |\n|---|---|\n{rows}")
}

/// The invariants in a file: topic, sentence, and the test below it, or the file if there is none.
fn invariants(file: &str, text: &str) -> Vec<(String, String, String)> {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let comment = line.trim_start_matches(['/', '!', '#']);
        if comment.len() == line.len() {
            continue;
        }
        let Some(rest) = comment.strip_prefix(" Invariant (") else { continue };
        let Some((topic, first)) = rest.split_once("): ") else { continue };
        let sentence = whole_sentence(first, &lines[at + 1..]);
        let function = || {
            let after = lines[at..].iter().find_map(|line| line.strip_prefix("fn "))?;
            after.split('(').next()
        };
        let test = match line.strip_prefix("/// ").and_then(|_| function()) {
            Some(name) => format!("`{name}` ({})", home(file)),
            None => home(file),
        };
        found.push((topic.to_string(), sentence, test));
    }
    found
}

/// A sentence can continue on the next lines of the comment.
fn whole_sentence(first: &str, further: &[&str]) -> String {
    let mut sentence = first.trim_end().to_string();
    for line in further {
        let comment = line.trim_start_matches(['/', '!', '#']);
        if sentence.ends_with('.') || comment.len() == line.len() {
            break;
        }
        sentence.push(' ');
        sentence.push_str(comment.trim());
    }
    assert!(sentence.ends_with('.'), "an invariant is a sentence: '{sentence}'");
    sentence
}

/// The crate of a test, whose files may move, or the script's path.
fn home(file: &str) -> String {
    match file.strip_prefix("crates/").and_then(|path| path.split('/').next()) {
        Some(name) => format!("crate `{name}`"),
        None => format!("[{file}](../../{file})"),
    }
}

/// All files below a folder with these extensions, sorted.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder with tests");
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            found.extend(files(&path, endings));
        } else if path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn an_invariant_belongs_to_the_test_below_it_or_to_its_file() {
    let text = "//! Invariant (loop): Whole.\n/// Invariant (losses): One.\n#[test]\nfn one() {}\n";
    let found = invariants("crates/a/src/b.rs", text);
    let expected = [
        ("loop", "Whole.", "crate `a`".to_string()),
        ("losses", "One.", "`one` (crate `a`)".to_string()),
    ];
    let expected = expected.map(|(topic, text, test)| (topic.to_string(), text.to_string(), test));
    assert_eq!(found, expected);
}
