//! A stored run as text for the terminal.

use crate::output::{escape_controls, glyphs, sanitize_run, style, width};
use latlab_model::Run;
use std::path::Path;

/// The run of a folder, with a picture of its latencies.
pub fn run_text(folder: &Path, run: &Run) -> anyhow::Result<String> {
    Ok(latlab_report::show(&sanitize_run(run)?, &picture(folder, run), width(), style()))
}

/// The latencies as a picture of characters, or why there is none.
fn picture(folder: &Path, run: &Run) -> String {
    match latlab_store::histograms(folder, run) {
        Ok(bins) => latlab_report::histogram(run, &bins, width(), glyphs()),
        Err(error) => {
            format!("No chart of the latencies: {}\n", escape_controls(&error.to_string()))
        }
    }
}
