//! Whether a run folder is as it was stored.

use crate::recover::step;
use latlab_digest::testing::SyntheticRun;
use latlab_model::run::VerdictWord;
use latlab_store::Verification;
use latlab_store::{Store, WindowReader, histograms, read_run, verify};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const TABLES: [&str; 5] = [
    "clocks.parquet",
    "histogram.parquet",
    "intervals.parquet",
    "samples.parquet",
    "spikes.parquet",
];

fn run() -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let mut run = Store::new(root.path()).begin("one").unwrap();
    run.append(&SyntheticRun { samples: true, ..SyntheticRun::default() }.bytes()).unwrap();
    let path = run.finish().unwrap().path;
    (root, path)
}

fn mismatches(checked: &Verification) -> Vec<(&str, &str)> {
    checked.wrong.iter().map(|wrong| (wrong.file.as_str(), wrong.what.as_str())).collect()
}

fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Changes `run.json` of a folder, and updates its checksum.
fn edit(folder: &Path, from: &str, to: &str) {
    let path = folder.join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    let text = text.replacen(from, to, 1);
    let (before, _) = text.rsplit_once("\n  \"checksum\"").unwrap();
    let sum = Sha256::digest(format!("{before}\n"));
    let checksum: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(path, format!("{before}\n  \"checksum\": \"{checksum}\"\n}}\n")).unwrap();
}

#[test]
fn what_was_stored_is_whole() {
    let (_root, path) = run();
    let checked = verify(&path);
    assert!(checked.whole && checked.extra.is_empty(), "{checked:?}");
    assert_eq!((checked.run.as_str(), checked.files), ("one", 5));
    let sizes = TABLES.map(|name| fs::metadata(path.join(name)).unwrap().len());
    assert_eq!(checked.bytes, sizes.iter().sum::<u64>());
}

/// Invariant (losses): A run whose files were cut or removed after it does not pass.
#[test]
fn a_run_that_was_cut_or_removed_from_does_not_pass() {
    let word = |path: &Path| read_run(path).unwrap().verdict.unwrap().word;
    for name in TABLES {
        let (_root, path) = run();
        assert_eq!(word(&path), VerdictWord::Pass);
        let bytes = fs::read(path.join(name)).unwrap();
        fs::write(path.join(name), &bytes[1..]).unwrap();
        assert_eq!(word(&path), VerdictWord::Inconclusive, "{name} was cut");
        fs::remove_file(path.join(name)).unwrap();
        assert_eq!(word(&path), VerdictWord::Inconclusive, "{name} was removed");
        let run = read_run(&path).unwrap();
        let told = serde_json::to_value(run.findings.last().unwrap()).unwrap();
        assert_eq!((&told["name"], &told["bytes"]), (&name.into(), &serde_json::Value::Null));
    }
}

#[test]
fn a_flipped_bit_a_cut_and_a_missing_file_are_told_of_any_file() {
    for name in TABLES {
        let (_root, path) = run();
        flip(&path.join(name));
        assert_eq!(mismatches(&verify(&path)), [(name, "wrong SHA-256")]);
        let bytes = fs::read(path.join(name)).unwrap();
        fs::write(path.join(name), &bytes[1..]).unwrap();
        let size = format!("it has {} bytes instead of {}", bytes.len() - 1, bytes.len());
        assert_eq!(mismatches(&verify(&path)), [(name, size.as_str())]);
        fs::remove_file(path.join(name)).unwrap();
        assert_eq!(mismatches(&verify(&path)), [(name, "it is missing")]);
    }
}

#[test]
fn extra_files_are_named_and_harm_nothing() {
    let (_root, path) = run();
    for name in ["report.html", "notes.txt"] {
        fs::write(path.join(name), "x").unwrap();
    }
    let checked = verify(&path);
    assert!(checked.whole);
    assert_eq!(checked.extra, ["notes.txt"]);
}

#[test]
fn sums_that_do_not_agree_are_told() {
    let (_root, path) = run();
    let run = read_run(&path).unwrap();
    let cycles = run.threads[0].summary.cycles;
    // The first is that of a summary; the thread's own end repeats it.
    edit(&path, &format!("\"cycles\": {cycles}"), &format!("\"cycles\": {}", cycles + 1));
    let checked = verify(&path);
    let text = format!("it has {cycles} cycles of thread 0, which ran {}", cycles + 1);
    let tables = ["histogram.parquet", "intervals.parquet"];
    assert_eq!(mismatches(&checked), tables.map(|table| (table, text.as_str())));
    edit(&path, "\"samples\": 0", "\"samples\": 3");
    let checked = verify(&path);
    assert!(mismatches(&checked)[2].1.contains("of which 3 were lost"), "{checked:?}");
}

#[test]
fn a_document_that_cannot_be_read_is_told_and_leads_nowhere() {
    let (_root, path) = run();
    edit(&path, "\"clocks.parquet\"", "\"../../clocks.parquet\"");
    let checked = verify(&path);
    assert!(mismatches(&checked)[0].1.contains("not a file name"), "{checked:?}");
    fs::write(path.join("run.json"), "{").unwrap();
    let checked = verify(&path);
    assert_eq!((checked.wrong[0].file.as_str(), checked.run.as_str()), ("run.json", "one"));
    fs::remove_file(path.join("run.json")).unwrap();
    assert_eq!(mismatches(&verify(&path)), [("run.json", "it is missing")]);
}

/// Invariant (losses): A changed table is reported and not used.
#[test]
fn a_changed_table_is_not_used() {
    let (_root, path) = run();
    let run = read_run(&path).unwrap();
    let window = "..".parse().unwrap();
    assert!(histograms(&path, &run).is_ok() && WindowReader::open(&path, &run, &window).is_ok());
    for name in ["histogram.parquet", "clocks.parquet"] {
        flip(&path.join(name));
    }
    for (name, error) in [
        ("histogram.parquet", histograms(&path, &run).map(|_| ()).unwrap_err()),
        ("clocks.parquet", WindowReader::open(&path, &run, &window).map(|_| ()).unwrap_err()),
    ] {
        let error = error.to_string();
        assert!(error.contains(name) && error.contains("SHA-256"), "{error}");
        assert!(error.contains("latlab verify") && !error.contains('\n'));
    }
}

/// Invariant (losses): A changed table is reported and not used.
#[test]
fn damage_in_the_samples_is_an_error_and_never_a_number() {
    let (_root, path) = run();
    let run = read_run(&path).unwrap();
    let file = path.join("samples.parquet");
    let good = fs::read(&file).unwrap();
    let window = "..".parse().unwrap();
    let figures = || WindowReader::open(&path, &run, &window).and_then(|stretch| stretch.figures());
    let whole = figures().unwrap();
    // Pages carry gzip's checksum; elsewhere a flip may go unnoticed if the bytes are not read.
    for at in (0..good.len()).step_by(step(61)) {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        fs::write(&file, bad).unwrap();
        if let Ok(found) = figures() {
            assert_eq!(found.total, whole.total, "byte {at}");
        }
    }
}

/// Invariant (losses): A document without its seal, or under another name, is not as it was stored.
#[test]
fn a_document_without_its_seal_or_under_another_name_is_told() {
    let (root, path) = run();
    let copy = root.path().join("two");
    fs::rename(&path, &copy).unwrap();
    let checked = verify(&copy);
    assert_eq!(checked.run, "two");
    let what = "it belongs to run one: the folder was renamed or copied";
    assert_eq!(mismatches(&checked), [("run.json", what)]);

    fs::rename(&copy, &path).unwrap();
    let text = fs::read_to_string(path.join("run.json")).unwrap();
    let (before, _) = text.rsplit_once(",\n  \"checksum\"").unwrap();
    fs::write(path.join("run.json"), format!("{before}\n}}\n")).unwrap();
    assert!(mismatches(&verify(&path))[0].1.contains("its checksum is missing"));
}

/// Invariant (losses): Every table is read whole, and what is said of a thread must be in it.
#[test]
fn a_table_that_fits_its_sum_and_lies_is_told() {
    for (name, text) in [
        ("spikes.parquet", "it lacks the largest latency of thread 0"),
        ("clocks.parquet", "its first and last reading are not those of the run"),
    ] {
        let (_root, path) = run();
        let document = read_run(&path).unwrap();
        match name {
            "spikes.parquet" => {
                let at = document.threads[0].summary.max_at_ns.unwrap().0;
                edit(&path, &format!("\"max_at_ns\": {at}"), &format!("\"max_at_ns\": {}", at + 1));
            }
            _ => {
                let at = document.clocks.unwrap().0.monotonic_ns.0;
                let new = format!("\"monotonic_ns\": {}", at + 1);
                edit(&path, &format!("\"monotonic_ns\": {at}"), &new);
            }
        }
        assert!(mismatches(&verify(&path)).contains(&(name, text)), "{:?}", verify(&path));
    }
}

/// Invariant (losses): A file that may not be read is not called damaged.
#[test]
fn a_right_that_is_missing_is_no_damage() {
    let (_root, path) = run();
    fs::set_permissions(path.join("spikes.parquet"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(path.join("spikes.parquet")).is_ok() {
        // Root may read everything; tests/folders.sh tries it as another user.
        return;
    }
    let checked = verify(&path);
    assert!(checked.wrong.is_empty() && !checked.whole, "{checked:?}");
    assert_eq!(checked.unread[0].file, "spikes.parquet");
}
