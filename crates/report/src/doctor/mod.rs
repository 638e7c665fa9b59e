//! The doctor's findings, for the terminal and the page.

mod changes;
mod comparison;
mod examination;
pub(crate) mod summary;

pub(crate) use changes::{of_fact, of_option, of_setting};
pub use comparison::comparison;
pub use examination::{Detail, Subject, catalogue, examination};

use crate::document::Item;
use latlab_model::doctor::Diagnosis;
use latlab_model::snapshot::made;

/// File names listed unless verbose.
const NAMED_FILES: usize = 6;

/// Longer values are truncated, such as processor flags.
const LONGEST_VALUE: usize = 160;

/// A diagnosis, with its place, reasons and remedies if all of it is to be shown.
fn item(of: &Diagnosis, is_full: bool) -> Item {
    let item = Item::new(of.severity, of.text.clone(), of.code.clone());
    if !is_full {
        return item;
    }
    let remedies = [("Do", &of.remedy), ("Undo", &of.undo)];
    Item {
        reasons: vec![("In", place(of)), ("Why", of.why.clone()), ("Cost", of.cost.clone())],
        remedies: remedies
            .into_iter()
            .filter_map(|(label, line)| Some((label, line.clone()?)))
            .collect(),
        ..item
    }
}

/// The file, and its content unless the sentence says it.
fn place(finding: &Diagnosis) -> String {
    let file = file(&finding.file);
    let value = finding.value.lines().next().unwrap_or_default().trim();
    if value.is_empty() || finding.text.contains(value) {
        return file;
    }
    match value.chars().count() > LONGEST_VALUE {
        true => format!("{file}: {}…", value.chars().take(LONGEST_VALUE).collect::<String>()),
        false => format!("{file}: {value}"),
    }
}

/// The name shown for a file of a snapshot; some are not files of the kernel.
fn file(path: &str) -> String {
    match path {
        made::COALESCING => "ethtool -c".to_string(),
        made::KERNEL_CONFIG => "the kernel configuration".to_string(),
        made::KERNEL_LOG => "the kernel log".to_string(),
        made::THREADS => "the list of threads".to_string(),
        made::MACHINE => "uname -m".to_string(),
        made::THROTTLED => "vcgencmd get_throttled".to_string(),
        made::GPU_TEMPERATURE => "vcgencmd measure_temp".to_string(),
        path => format!("/{}", path.trim_start_matches('/')),
    }
}

/// The first names, and the number of the others.
fn names(all: &[String], verbose: bool) -> String {
    let shown = if verbose { all.len() } else { NAMED_FILES };
    let more = all.len().saturating_sub(shown);
    let listed = all.iter().take(shown).cloned().collect::<Vec<_>>().join(", ");
    if more == 0 { listed } else { format!("{listed} and {more} more") }
}
