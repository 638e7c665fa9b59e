//! `latlab list`, `latlab show`, `latlab report`: what is stored, and how it is shown.

use crate::args::{Common, Format, ListArgs, ReportArgs, ShowArgs, ShowFormat};
use crate::doctor::restore;
use crate::documents::{List, Reported};
use crate::window;
use anyhow::{Context, bail};
use latlab_model::Run;
use latlab_report::{ListEntry, Style};
use latlab_store::{Entry, Outcome, Recovered, State, Store, calling_user};
use latlab_sys::terminal;
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where runs live unless somebody says otherwise.
const RUNS: &str = "runs";

/// The folder of the runs.
pub fn open_store(common: &Common) -> Store {
    store_in(common.out.as_deref())
}

fn store_in(out: Option<&Path>) -> Store {
    let folder = out.map(PathBuf::from);
    let folder = folder.or_else(|| {
        std::env::var_os("LATLAB_RUNS").filter(|name| !name.is_empty()).map(PathBuf::from)
    });
    Store::new(folder.unwrap_or_else(|| RUNS.into())).owned_by(calling_user())
}

/// Finishes what earlier programs left, and says so; what cannot be finished is no obstacle.
pub fn recover(store: &Store) {
    restore();
    match store.recover() {
        Ok(all) => all.iter().for_each(|recovered| warn(sentence(recovered))),
        Err(error) => warn(error),
    }
}

fn sentence(Recovered { id, outcome }: &Recovered) -> String {
    match outcome {
        Outcome::Finished(path) => match latlab_store::load(path).ok().and_then(last_instant) {
            Some(last) => format!(
                "recovered {id}, which was cut off: what was measured up to {last:.3} is in {}",
                path.display()
            ),
            None => format!("recovered {id}, which was cut off: see {}", path.display()),
        },
        Outcome::Removed(reason) => format!("removed {id}, which measured nothing: {reason}"),
        Outcome::Left(error) => format!("{id} was cut off and cannot be finished yet: {error}"),
    }
}

/// Where the counts of a run end, in UTC.
fn last_instant(run: Run) -> Option<jiff::Timestamp> {
    let started: jiff::Timestamp = run.started.parse().ok()?;
    started.checked_add(jiff::SignedDuration::from_nanos(run.measured_ns.0)).ok()
}

/// How text for standard output may be marked up.
pub fn style() -> Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Style { colour: wanted && terminal::stdout_is_terminal() }
}

/// Columns to fill on standard output.
pub fn width() -> usize {
    terminal::columns().map_or(120, usize::from)
}

/// Prints text; a reader that has seen enough (`| head`) is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// The run without control characters in its texts, which could steer the reader's terminal.
pub fn harmless(run: &Run) -> anyhow::Result<Run> {
    fn clean(value: &mut Value) {
        match value {
            Value::String(text) if text.contains(char::is_control) => {
                *text = text.replace(char::is_control, "\u{fffd}");
            }
            Value::Array(values) => values.iter_mut().for_each(clean),
            Value::Object(fields) => fields.values_mut().for_each(clean),
            _ => {}
        }
    }
    let mut document = serde_json::to_value(run)?;
    clean(&mut document);
    Ok(serde_json::from_value(document)?)
}

/// Says something beside the result; nobody may be there to read it.
pub fn warn(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "latlab: {}", visible(&text.to_string()));
}

/// Text in one line that cannot steer the reader's terminal.
fn visible(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// Prints a document for programs.
pub fn print_json(document: &impl Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string_pretty(document)? + "\n"))
}

/// `latlab list`.
pub fn list(args: &ListArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(&args.common);
    recover(&store);
    let entries = store.list()?;
    match args.common.format {
        Format::Json => print_json(&List::new(&entries))?,
        Format::Text => print(&listing(&store, &entries))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn listing(store: &Store, entries: &[Entry]) -> String {
    if entries.is_empty() {
        return format!(
            "No runs in {}. `latlab run --for 10s` makes one.\n",
            store.root().display()
        );
    }
    let finished: Vec<ListEntry> = entries
        .iter()
        .filter_map(|entry| match &entry.state {
            State::Finished(run) => Some(ListEntry::from(run.as_ref())),
            _ => None,
        })
        .collect();
    let mut text = String::new();
    if !finished.is_empty() {
        text += &latlab_report::list(&finished, width(), style());
    }
    for entry in entries {
        let state = match &entry.state {
            State::Finished(_) => continue,
            State::GoingOn => "is being measured now".to_string(),
            State::Unfinished => "was cut off and is not finished yet".to_string(),
            State::Damaged(reason) => format!("cannot be read: {}", visible(reason)),
        };
        text += &format!("{}: {state}\n", entry.id);
    }
    text
}

/// `latlab show`.
pub fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    if args.format == ShowFormat::Csv && args.window.is_none() {
        bail!(
            "--format csv prints the samples of a window: add --window, such as --window ..+1min"
        );
    }
    let store = store_in(args.out.as_deref());
    recover(&store);
    let folder = store.find(&args.run)?;
    let run = latlab_store::load(&folder)?;
    match (&args.window, args.format) {
        (Some(spec), format) => window::show(&folder, &run, spec, format)?,
        (None, ShowFormat::Json) => print_json(&run)?,
        (None, _) => print(&latlab_report::show(&harmless(&run)?, width(), style()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// `latlab report`.
pub fn report(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(&args.common);
    recover(&store);
    let folder = store.find(&args.run)?;
    let run = latlab_store::load(&folder)?;
    let bins = latlab_store::histograms(&folder, &run)?;
    let run = harmless(&run)?;
    let page = latlab_report::page(&run, &bins);
    let path = args.output.clone().unwrap_or_else(|| folder.join("report.html"));
    if path.as_os_str() == "-" {
        print(&page)?;
        return Ok(ExitCode::SUCCESS);
    }
    write_whole(&path, page.as_bytes())?;
    match args.common.format {
        Format::Json => print_json(&Reported {
            run: &run.id,
            page: path.display().to_string(),
            bytes: page.len(),
        })?,
        Format::Text => print(&format!("{}\n", path.display()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a file whole or not at all; what is there and is no file (a pipe, a device) is written
/// into, and a link is followed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let there = fs::metadata(&path);
    if there.as_ref().is_ok_and(|there| !there.is_file()) {
        return fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|mut file| file.write_all(bytes))
            .with_context(cannot);
    }
    let Some(name) = path.file_name() else {
        bail!("{} is not the name of a file", path.display());
    };
    let draft = path.with_file_name(format!(".{}.draft", name.to_string_lossy()));
    let written = fs::write(&draft, bytes).and_then(|()| {
        if let Ok(there) = there {
            fs::set_permissions(&draft, there.permissions())?;
        }
        if let Some((user, group)) = calling_user() {
            // A file system without owners is no reason to have no page.
            let _ = lchown(&draft, Some(user), Some(group));
        }
        fs::rename(&draft, &path)
    });
    written.or_else(|error| {
        let _ = fs::remove_file(&draft);
        Err(error).with_context(cannot)
    })
}
