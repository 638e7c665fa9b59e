//! Where a report is written, and what is printed of it.

use super::args::{ReportArgs, ReportFormat};
use crate::browser;
use crate::output::{is_stdout, print, print_json, print_text, write_into, write_whole};
use anyhow::bail;
use serde::Serialize;
use std::path::Path;

/// A page, and the file that it is written to.
pub struct ReportPage<'a> {
    pub html: &'a str,
    /// The file that was asked for; `-` is standard output.
    pub output: Option<&'a Path>,
    /// Without one, a file of this name in this folder.
    pub folder: &'a Path,
    pub name: &'a str,
}

/// Writes a page and prints its path, or the document that is made of path and size; then opens it.
/// Of a page on standard output nothing else is printed.
pub fn page<D: Serialize>(
    args: &ReportArgs,
    page: &ReportPage,
    document: impl FnOnce(String, usize) -> D,
) -> anyhow::Result<()> {
    let path = match page.output {
        Some(path) if is_stdout(path) => return print(page.html),
        Some(path) => {
            write_whole(path, page.html.as_bytes())?;
            path.to_path_buf()
        }
        None => write_into(page.folder, page.name, page.html.as_bytes())?,
    };
    let shown = path.display().to_string();
    match args.format {
        ReportFormat::Json => print_json(&document(shown, page.html.len()))?,
        _ => print_text(&format!("{shown}\n"))?,
    }
    if args.open {
        browser::open(&path);
    }
    Ok(())
}

/// Writes a report in another format than a page.
pub fn table(args: &ReportArgs, text: &str) -> anyhow::Result<()> {
    if args.open {
        bail!("--open cannot be used with --format {}", args.format.name());
    }
    match &args.output {
        Some(path) if !is_stdout(path) => write_whole(path, text.as_bytes()),
        _ => print(text),
    }
}
