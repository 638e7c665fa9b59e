//! `latlab fleet-rows`: prints the run folders named on standard input as lines of JSON.

use crate::output::print;
use latlab_model::Run;
use latlab_report::InWords;
use latlab_report::fleet::{FleetEntry, run_row};
use latlab_store::{expect_tables, read_run};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Reads each run as it was stored; a damaged one becomes a row with the reason.
pub fn rows() -> anyhow::Result<ExitCode> {
    for line in io::stdin().lines() {
        let path: String = serde_json::from_str(&line?)?;
        print(&(serde_json::to_string(&entry(&path))? + "\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn entry(path: &str) -> FleetEntry<'_> {
    let folder = Path::new(path);
    let read = read_run(folder).and_then(|run| expect_tables(folder, &run).map(|()| run));
    match read {
        Ok(run) => FleetEntry {
            path,
            damaged: None,
            findings: run.findings.iter().map(InWords::rendered).collect(),
            tables: tables(&run),
            run: Some(run_row(&run)),
        },
        Err(error) => FleetEntry {
            path,
            damaged: Some(error.to_string()),
            run: None,
            findings: Vec::new(),
            tables: Vec::new(),
        },
    }
}

fn tables(run: &Run) -> Vec<String> {
    run.files.keys().filter_map(|name| name.strip_suffix(".parquet")).map(str::to_string).collect()
}
