//! `latlab export`: a stored run in the format of another tool.

pub mod args;

use crate::exit::ExitError;
use crate::output::{sanitize_run, warn, write_new, write_stdout};
use crate::store::{open_store, recover};
use anyhow::bail;
use args::ExportArgs;
use latlab_digest::window::{SampleBlock, WindowSpec};
use latlab_digest::{IntervalRow, SpikeRow, TelemetryRow};
use latlab_formats::write::{Error, Notes, Rows, Source, Tables};
use latlab_model::Run;
use latlab_store::WindowReader;
use latlab_sys::terminal;
use std::cell::OnceCell;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

pub fn export(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let query = args.query().map_err(ExitError::usage)?;
    let output = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if args.format.is_binary && output.is_none() && terminal::stdout_is_terminal() {
        bail!(
            "{} is binary and is not written to a terminal: name a file with -o",
            args.format.title
        );
    }
    let store = open_store(args.out.as_deref());
    recover(&store);
    if store.find_campaign(&args.run)?.is_some() {
        bail!("{} is a campaign: name a run of it", args.run);
    }
    let folder = store.find(&args.run)?;
    let stored = latlab_store::read_run(&folder)?;
    let bins = latlab_store::histograms(&folder, &stored)?;
    let wall = latlab_store::wall_clock(&folder, &stored)?;
    let run = sanitize_run(&stored)?;
    let tables = StoredTables { folder: &folder, run: &stored, samples: OnceCell::new() };
    let source = Source { run: &run, bins: &bins, wall: &wall, tables: &tables, query };
    let write = |out: &mut (dyn Write + Send)| args.format.write(&source, out).map_err(failed);
    let notes: Notes = match output {
        Some(path) => write_new(path, write)?,
        None => write_stdout(write)?.unwrap_or_default(),
    };
    notes.iter().for_each(warn);
    Ok(ExitCode::SUCCESS)
}

struct StoredTables<'a> {
    folder: &'a Path,
    run: &'a Run,
    samples: OnceCell<WindowReader<'a>>,
}

impl Tables for StoredTables<'_> {
    fn samples(&self) -> latlab_formats::write::Result<Option<Rows<'_, SampleBlock>>> {
        if self.samples.get().is_none() {
            match WindowReader::open(self.folder, self.run, &WindowSpec::whole()) {
                Ok(reader) => drop(self.samples.set(reader)),
                Err(latlab_store::Error::NoSamples(_)) => return Ok(None),
                Err(error) => return Err(unreadable(error)),
            }
        }
        let Some(reader) = self.samples.get() else { return Ok(None) };
        Ok(Some(Box::new(reader.samples().map(|block| block.map_err(unreadable)))))
    }

    fn intervals(&self) -> latlab_formats::write::Result<Rows<'_, Vec<IntervalRow>>> {
        let rows = latlab_store::intervals(self.folder, self.run).map_err(unreadable)?;
        Ok(Box::new(rows.map(|rows| rows.map_err(unreadable))))
    }

    fn spikes(&self) -> latlab_formats::write::Result<Vec<SpikeRow>> {
        latlab_store::spikes(self.folder, self.run).map_err(unreadable)
    }

    fn telemetry(&self) -> latlab_formats::write::Result<Option<Rows<'_, Vec<TelemetryRow>>>> {
        let rows = latlab_store::telemetry(self.folder, self.run).map_err(unreadable)?;
        Ok(rows.map(|rows| Box::new(rows.map(|rows| rows.map_err(unreadable))) as Rows<'_, _>))
    }
}

fn unreadable(error: latlab_store::Error) -> Error {
    Error::Read(Box::new(error))
}

/// Gives an export error the exit code of its cause.
fn failed(error: Error) -> anyhow::Error {
    match error {
        Error::Refused(text) => ExitError::usage(text).into(),
        Error::Write(error) => error.into(),
        Error::Read(error) => match error.downcast::<latlab_store::Error>() {
            Ok(error) => anyhow::Error::new(*error),
            Err(other) => anyhow::Error::from_boxed(other),
        },
    }
}
