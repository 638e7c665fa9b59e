//! `latlab import`: recordings of other tools become runs.

pub mod args;
pub mod document;
mod source;

use crate::exit::{ExitError, error_code, exit_code};
use crate::flags::Format;
use crate::output::{escape_controls, print_json, print_text, warn};
use crate::render::run_text;
use crate::store::{open_store, recover};
use args::ImportArgs;
use document::{Imported, ImportedRun, Looked, LookedRecording, RefusedFile};
use latlab_import::{Query, Recording, read};
use latlab_model::plan::Method;
use latlab_model::{Nanos, Plan, shell};
use latlab_store::{Finished, Store, new_id};
use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `latlab import`.
pub fn import(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    args.check().map_err(ExitError::usage)?;
    let files = source::expand(&args.files)?;
    let mut refused = Refused::default();
    if args.look {
        let mut recordings = Vec::new();
        for path in files {
            match read_file(args, &path) {
                Ok((_, all)) => {
                    recordings.extend(all.iter().map(|one| LookedRecording::new(&path, one)))
                }
                Err(error) => refused.push(&path, &error),
            }
        }
        let code = refused.code;
        print_look(args, recordings, refused.files)?;
        return Ok(ExitCode::from(code));
    }
    let store = open_store(args.common.out.as_deref());
    recover(&store);
    let mut imported: Vec<(PathBuf, Finished)> = Vec::new();
    for path in files {
        match import_file(args, &store, &path) {
            Ok(runs) => imported.extend(runs.into_iter().map(|run| (path.clone(), run))),
            Err(error) => refused.push(&path, &error),
        }
    }
    // A file that cannot be read outweighs a verdict.
    let code = match refused.files.is_empty() {
        true => imported.iter().map(|(_, one)| exit_code(&one.run)).max().unwrap_or(0),
        false => refused.code,
    };
    print_end(args, &imported, refused.files)?;
    Ok(ExitCode::from(code))
}

/// The files that gave no run, and the exit code of the worst.
#[derive(Default)]
struct Refused {
    files: Vec<RefusedFile>,
    code: u8,
}

impl Refused {
    /// Says why a file gives no run.
    fn push(&mut self, path: &Path, error: &anyhow::Error) {
        let (file, reason) = (path.display().to_string(), format!("{error:#}"));
        warn(format!("{file}: {reason}"));
        self.code = self.code.max(error_code(error));
        self.files.push(RefusedFile { file, reason });
    }
}

/// A file with the recordings in it.
fn read_file(args: &ImportArgs, path: &Path) -> anyhow::Result<(File, Vec<Recording>)> {
    let file = source::open(path)?;
    let query = Query { format: args.file_format, column: args.column.clone(), unit: args.unit };
    let recordings = read(file.try_clone()?, &query).map_err(ExitError::usage)?;
    Ok((file, recordings))
}

fn import_file(args: &ImportArgs, store: &Store, path: &Path) -> anyhow::Result<Vec<Finished>> {
    let (mut file, recordings) = read_file(args, path)?;
    recordings.iter().map(|one| store_recording(args, store, path, &mut file, one)).collect()
}

/// Stores one recording with a copy of its file; nothing stays of one that cannot be stored.
fn store_recording(
    args: &ImportArgs,
    store: &Store,
    path: &Path,
    file: &mut File,
    recording: &Recording,
) -> anyhow::Result<Finished> {
    let name = run_name(args, path, recording);
    let mut open = store.begin(&new_id(jiff::Timestamp::now(), &name))?;
    let shown = match path.file_name() {
        Some(name) if path != Path::new("-") => name.to_string_lossy().into_owned(),
        _ => "standard-input".to_string(),
    };
    let stored = (|| -> anyhow::Result<()> {
        file.rewind()?;
        let original = open.add_original(&shown, file)?;
        let method = Method::Import(Box::new(recording.import(shown, Some(original))));
        let plan = Plan {
            note: args.note.clone(),
            deadline_ns: args.deadline,
            command: Some(command(args, path)),
            ..Plan::without_machine(name, method)
        };
        for message in recording.messages(&plan, open.id(), env!("CARGO_PKG_VERSION")) {
            open.append(&message.encode())?;
        }
        Ok(())
    })();
    match stored {
        Ok(()) => Ok(open.finish()?),
        Err(error) => {
            open.discard()?;
            Err(error)
        }
    }
}

/// The name of a run: that of its file without endings, and which part of the file it is.
fn run_name(args: &ImportArgs, path: &Path, recording: &Recording) -> String {
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let file = file.filter(|name| name != "-").unwrap_or_else(|| "import".to_string());
    let packed = [".gz", ".xz", ".zst"].iter().find_map(|ending| file.strip_suffix(ending));
    let stem = Path::new(packed.unwrap_or(&file)).file_stem();
    let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
    let name = args.name.clone().or(stem).unwrap_or_else(|| "import".to_string());
    match &recording.part {
        Some(part) => format!("{name}-{part}"),
        None => name,
    }
}

/// The command that imports this file again.
fn command(args: &ImportArgs, path: &Path) -> String {
    let mut words = vec!["latlab import".to_string(), shell::quoted(&path.display().to_string())];
    let mut option = |flag: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("{flag} {}", shell::quoted(&value))));
    };
    option("--as", args.file_format.map(|format| format.id.to_string()));
    option("--column", args.column.clone());
    option("--unit", args.unit.map(|unit| unit.as_str().to_string()));
    option("--deadline", args.deadline.map(|time| format!("{}ns", time.0)));
    words.join(" ")
}

/// What the files hold.
fn print_look(
    args: &ImportArgs,
    recordings: Vec<LookedRecording>,
    refused: Vec<RefusedFile>,
) -> anyhow::Result<()> {
    if args.common.format == Format::Json {
        return print_json(&Looked { recordings, refused });
    }
    match recordings.is_empty() {
        true => Ok(()),
        false => {
            let rows = recordings.into_iter().map(|one| (one, String::new())).collect::<Vec<_>>();
            print_text(&table(&rows).replacen("  run\n", "\n", 1))
        }
    }
}

/// What came of it: all of a single run, a table of several.
fn print_end(
    args: &ImportArgs,
    imported: &[(PathBuf, Finished)],
    refused: Vec<RefusedFile>,
) -> anyhow::Result<()> {
    if args.common.format == Format::Json {
        let runs = imported.iter().map(|(path, one)| ImportedRun::new(path, one)).collect();
        return print_json(&Imported { runs, refused });
    }
    match imported {
        [] => Ok(()),
        [(_, Finished { run, path })] => {
            let (text, shown) = (run_text(path, run)?, path.display());
            print_text(&format!("{text}\nStored in {shown}\nAs a page: latlab report {shown}\n"))
        }
        several => {
            let row = |(path, one): &(PathBuf, Finished)| {
                (LookedRecording::of_run(path, &one.run), one.run.id.clone())
            };
            print_text(&table(&several.iter().map(row).collect::<Vec<_>>()))
        }
    }
}

/// What was understood of each file, and the id of its run, where it was stored.
fn table(rows: &[(LookedRecording, String)]) -> String {
    let time = |time: Option<Nanos>| time.map_or("-".to_string(), |time| time.to_string());
    let mut lines = vec![
        ["file", "format", "threads", "latencies", "min", "mean", "max", "findings", "run"]
            .map(str::to_string),
    ];
    lines.extend(rows.iter().map(|(one, id)| {
        let part = one.part.as_deref().map(|part| format!(" ({part})")).unwrap_or_default();
        [
            escape_controls(&one.file),
            format!("{}{part}", one.format),
            one.threads.to_string(),
            one.latencies.to_string(),
            time(one.min_ns),
            time(one.mean_ns.map(|mean| Nanos(mean.round() as i64))),
            time(one.max_ns),
            one.findings.len().to_string(),
            escape_controls(id),
        ]
    }));
    let wide =
        |column: usize| lines.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(wide).collect();
    let line = |row: &[String; 9]| {
        let cell = |(column, text): (usize, &String)| match column {
            0 | 1 | 8 => format!("{text:<0$}", widths[column]),
            _ => format!("{text:>0$}", widths[column]),
        };
        let line = row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ");
        line.trim_end().to_string() + "\n"
    };
    lines.iter().map(line).collect()
}
