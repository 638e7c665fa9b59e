//! `latlab show --window`: a part of a run, from its samples.

use crate::commands::runs::args::ShowFormat;
use crate::output::{note_print, print_json, print_text, sanitize_run, style, width};
use anyhow::bail;
use latlab_digest::window::WindowSpec;
use latlab_model::Run;
use latlab_store::{Error, WindowReader};
use std::io::{self, BufWriter};
use std::path::Path;

pub fn show(
    folder: &Path,
    run: &Run,
    window: &WindowSpec,
    format: ShowFormat,
) -> anyhow::Result<()> {
    let stretch = WindowReader::open(folder, run, window)?;
    match format {
        ShowFormat::Text => {
            let run = sanitize_run(run)?;
            print_text(&latlab_report::window(&run, &stretch.figures()?, width(), style()))
        }
        ShowFormat::Json => print_json(&stretch.figures()?),
        ShowFormat::Csv => csv(&stretch),
        ShowFormat::Markdown => {
            print_text(&latlab_report::window_markdown(&sanitize_run(run)?, &stretch.figures()?))
        }
        ShowFormat::Html => bail!("--format html does not support --window"),
    }
}

fn csv(stretch: &WindowReader) -> anyhow::Result<()> {
    note_print();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match stretch.csv(&mut out) {
        // A closed pipe (`| head`) is no error.
        Err(Error::Io { error, .. }) if error.kind() == io::ErrorKind::BrokenPipe => {
            let _ = out.into_parts();
            Ok(())
        }
        written => Ok(written?),
    }
}
