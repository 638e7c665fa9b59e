//! The files of a run's folder, with what they hold.

use crate::document::Section;
use crate::document::table::{Column, Table};
use crate::facts::STORED_FILES;
use crate::units::{bytes, counted};
use latlab_model::Run;

/// `None` if the run is not stored.
pub fn section(run: &Run) -> Option<Section> {
    if run.files.is_empty() {
        return None;
    }
    let content = |name: &String| {
        let known = STORED_FILES.iter().find(|(known, _)| known == name);
        known.map_or("", |(_, content)| *content).to_string()
    };
    let columns = vec![
        Column::new("file", 0, run.files.keys().cloned()).left(),
        Column::new("size", 0, run.files.values().map(|file| bytes(file.bytes))),
        Column::new("content", 1, run.files.keys().map(content)).left(),
        Column::new("SHA-256", 2, run.files.values().map(|file| file.sha256.clone())).left(),
    ];
    let table = Table::new("Size, content and SHA-256 of each file", columns).stacked();
    let sum = Some(counted(run.files.len() as u64, "file", "files"));
    Some(Section::new("files", "Files of the run").sum(sum).table(table))
}
