//! The vocabulary, tested from outside.

mod campaign;
mod cpu;
mod deadline;
mod doctor;
mod edges;
mod explanation;
mod fault;
mod finding;
mod frame;
mod gpio;
mod histogram;
mod histogram_layout;
mod machine;
mod nanos;
mod own_work;
mod plan_older;
mod plan_tuning;
mod samples;
mod sanitize;
mod shell;
mod snapshot;
mod target;
mod trace;
mod units;

/// The sources are compiled without their tests, so that one there would never run.
#[test]
fn no_test_stands_where_none_is_run() {
    fn look(folder: &std::path::Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path);
            } else {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(!text.contains("#[test]"), "{}: move it to tests/it", path.display());
            }
        }
    }
    look(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
