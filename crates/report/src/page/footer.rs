//! The list of files at the end of a run's page.

use crate::document::Section;
use crate::document::table::{Column, Table};
use crate::units::{bytes, counted};
use latlab_model::Run;

pub fn files(run: &Run) -> Option<Section> {
    if run.files.is_empty() {
        return None;
    }
    let columns = vec![
        Column::new("file", 0, run.files.keys().cloned()).left(),
        Column::new("size", 0, run.files.values().map(|file| bytes(file.bytes))),
        Column::new("SHA-256", 0, run.files.values().map(|file| file.sha256.clone())).left(),
    ];
    let table = Table::new("SHA-256 of each file of the run", columns).stacked();
    let sum = Some(counted(run.files.len() as u64, "file", "files"));
    Some(Section::new("files", "Files of the run").sum(sum).table(table))
}
