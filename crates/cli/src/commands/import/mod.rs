//! `latlab import`: turns recordings of other tools into runs.

pub mod args;
pub mod document;
mod source;

use crate::exit::{ExitError, error_code, exit_code, heaviest_code};
use crate::flags::Format;
use crate::output::{escape_controls, print_json, print_text, style, warn, width};
use crate::render::run_text;
use crate::store::{open_store, recover};
use args::ImportArgs;
use document::{Imported, ImportedRun, Looked, LookedRecording, RefusedFile};
use latlab_formats::read::{ImportQuery, Recording};
use latlab_model::nanos::duration;
use latlab_model::plan::Method;
use latlab_model::shell::{self, Line};
use latlab_model::{Nanos, Plan};
use latlab_report::Column;
use latlab_store::{Finished, Store, new_id};
use source::SourceFile;
use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Each run names at most this many of the other runs from its file.
const MOST_SIBLINGS: usize = 5;
/// Longest reason that is printed for a refused file, in characters.
const LONGEST_REASON: usize = 1000;

pub fn import(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    args.check().map_err(ExitError::usage)?;
    let files = source::expand(&args.files)?;
    let mut refused = Refused::default();
    if args.look {
        let mut recordings = Vec::new();
        for file in files {
            match read_file(args, &file.path) {
                Ok((_, all)) => {
                    recordings.extend(all.iter().map(|one| LookedRecording::new(&file.path, one)))
                }
                Err(error) => refused.push(file, &error),
            }
        }
        refused.say_folders();
        let code = refused.code;
        print_look(args, recordings, refused.files)?;
        return Ok(ExitCode::from(code));
    }
    let store = open_store(args.runs.common.out.as_deref());
    recover(&store);
    let mut imported: Vec<(PathBuf, Finished)> = Vec::new();
    for file in files {
        match import_file(args, &store, &file.path) {
            Ok(runs) => imported.extend(runs.into_iter().map(|run| (file.path.clone(), run))),
            Err(error) => refused.push(file, &error),
        }
    }
    refused.say_folders();
    let codes = imported.iter().map(|(_, one)| exit_code(&one.run));
    let code = heaviest_code(codes.chain([refused.code]));
    print_end(args, &imported, refused.files)?;
    Ok(ExitCode::from(code))
}

/// The files that were refused, and the worst exit code.
#[derive(Default)]
struct Refused {
    files: Vec<RefusedFile>,
    code: u8,
    /// Files found in folders: the reason, the first file, and how many share the reason.
    of_folders: Vec<(String, String, u64)>,
}

impl Refused {
    /// Reports a refused file. For files found in folders, each reason is printed once, at the end.
    fn push(&mut self, file: SourceFile, error: &anyhow::Error) {
        let SourceFile { path, is_of_folder } = file;
        let reason = match source::other_reader(&path) {
            Some(command) => format!("read it with `{command}`; {error:#}"),
            None => format!("{error:#}"),
        };
        let reason = shortened(reason);
        let file = path.display().to_string();
        self.code = heaviest_code([self.code, error_code(error)]);
        match is_of_folder {
            true => self.count(&kind_of(&path, &reason), &file),
            false => warn(format!("{file}: {reason}")),
        }
        self.files.push(RefusedFile { file, reason });
    }

    fn count(&mut self, reason: &str, file: &str) {
        match self.of_folders.iter_mut().find(|(known, ..)| known == reason) {
            Some((.., count)) => *count += 1,
            None => self.of_folders.push((reason.to_string(), file.to_string(), 1)),
        }
    }

    fn say_folders(&self) {
        for (reason, first, count) in &self.of_folders {
            match count {
                1 => warn(format!("{first}: {reason}")),
                count => warn(format!("{count} files, the first is {first}: {reason}")),
            }
        }
    }
}

/// The reason with the file's name replaced by FILE where it quotes the command that reads such
/// files, so that equal reasons are counted together.
fn kind_of(path: &Path, reason: &str) -> String {
    let any = Path::new("FILE").with_extension(path.extension().unwrap_or_default());
    match source::other_reader(path).zip(source::other_reader(&any)) {
        Some((own, any)) => reason.replace(own.as_str(), any.as_str()),
        None => reason.to_string(),
    }
}

/// A reason may quote a line of the file, which can have any length.
fn shortened(reason: String) -> String {
    match reason.char_indices().nth(LONGEST_REASON) {
        Some((at, _)) => format!("{}…", &reason[..at]),
        None => reason,
    }
}

/// Opens a file and reads the recordings in it.
fn read_file(args: &ImportArgs, path: &Path) -> anyhow::Result<(File, Vec<Recording>)> {
    let file = source::open(path, args.max_size)?;
    let query = ImportQuery {
        format: args.file_format,
        column: args.column.clone(),
        unit: args.unit,
        period: args.period,
    };
    let recordings = latlab_formats::read::read_file(&file, &query).map_err(ExitError::usage)?;
    Ok((file, recordings))
}

fn import_file(args: &ImportArgs, store: &Store, path: &Path) -> anyhow::Result<Vec<Finished>> {
    let (mut file, mut recordings) = read_file(args, path)?;
    // Each run stores a copy of the file.
    let length = file.metadata()?.len().saturating_mul(recordings.len() as u64);
    source::expect_room(store.root(), length)?;
    name_siblings(args, path, &mut recordings);
    recordings.iter().map(|one| store_recording(args, store, path, &mut file, one)).collect()
}

/// Notes in each recording of a file which runs the others become.
fn name_siblings(args: &ImportArgs, path: &Path, recordings: &mut [Recording]) {
    let names: Vec<String> = recordings.iter().map(|one| run_name(args, path, one)).collect();
    for (at, recording) in recordings.iter_mut().enumerate() {
        let others: Vec<&str> = names
            .iter()
            .enumerate()
            .filter(|other| other.0 != at)
            .map(|it| it.1.as_str())
            .collect();
        if (1..=MOST_SIBLINGS).contains(&others.len()) {
            let runs = if others.len() == 1 { "the run" } else { "the runs" };
            recording.note(format!("The same file gave {runs} {}.", others.join(", ")));
        }
    }
}

/// Stores one recording with a copy of its file, or leaves nothing behind.
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
        let mut plan = Plan::without_machine(name, method);
        plan.note = args.runs.note.clone();
        plan.command = Some(command(args, path));
        plan.until.deadline_ns = args.runs.deadline;
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

/// The run's name: the file's name without extensions, and the part if the file has several.
fn run_name(args: &ImportArgs, path: &Path, recording: &Recording) -> String {
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let file = file.filter(|name| name != "-").unwrap_or_else(|| "import".to_string());
    let packed = [".gz", ".xz", ".zst"].iter().find_map(|ending| file.strip_suffix(ending));
    let stem = Path::new(packed.unwrap_or(&file)).file_stem();
    let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
    let name = args.runs.name.clone().or(stem).unwrap_or_else(|| "import".to_string());
    match &recording.part {
        Some(part) => format!("{name}-{part}"),
        None => name,
    }
}

/// The command that repeats this import.
fn command(args: &ImportArgs, path: &Path) -> String {
    let line = Line::new("latlab import").word(path);
    line.option("--as", args.file_format.map(|format| format.id))
        .option("--column", args.column.as_ref())
        .option("--unit", args.unit.map(|unit| unit.as_str()))
        .option("--period", args.period.map(duration))
        .option("--deadline", args.runs.deadline.map(duration))
        .to_string()
}

fn print_look(
    args: &ImportArgs,
    recordings: Vec<LookedRecording>,
    refused: Vec<RefusedFile>,
) -> anyhow::Result<()> {
    if args.runs.common.format == Format::Json {
        return print_json(&Looked { recordings, refused });
    }
    match recordings.is_empty() {
        true => Ok(()),
        false => print_text(&table(&recordings, None)),
    }
}

/// Prints the result: a single run in full, several as a table.
fn print_end(
    args: &ImportArgs,
    imported: &[(PathBuf, Finished)],
    refused: Vec<RefusedFile>,
) -> anyhow::Result<()> {
    if args.runs.common.format == Format::Json {
        let runs = imported.iter().map(|(path, one)| ImportedRun::new(path, one)).collect();
        return print_json(&Imported { runs, refused });
    }
    match imported {
        [] => Ok(()),
        [(_, Finished { run, path })] => {
            let (text, shown) = (run_text(path, run)?, path.display());
            let page = shell::latlab("report", path);
            print_text(&format!("{text}\nStored in {shown}\nAs a page: {page}\n"))
        }
        several => {
            let rows = several.iter().map(|(path, one)| LookedRecording::of_run(path, &one.run));
            let ids: Vec<String> = several.iter().map(|(_, one)| one.run.id.clone()).collect();
            let is_one_file = several.iter().all(|(path, _)| *path == several[0].0);
            let together = match is_one_file && several.len() <= MOST_SIBLINGS + 1 {
                true => {
                    format!("\nSide by side: {}\n", Line::new("latlab report").operands(&ids))
                }
                false => String::new(),
            };
            print_text(&(table(&rows.collect::<Vec<_>>(), Some(ids)) + &together))
        }
    }
}

/// A row for each recording, with the ids of the runs if they were stored.
fn table(rows: &[LookedRecording], ids: Option<Vec<String>>) -> String {
    let column = |head: &str, rank: u8, cell: &dyn Fn(&LookedRecording) -> String| {
        Column::new(head, rank, rows.iter().map(cell))
    };
    let time = |time: Option<Nanos>| time.map_or("-".to_string(), |time| time.to_string());
    let part = |one: &LookedRecording| {
        let part = one.part.as_deref().map(|part| format!(" ({part})")).unwrap_or_default();
        format!("{}{part}", one.format)
    };
    let max = |one: &LookedRecording| {
        let at_least = if one.max_is_at_least { ">=" } else { "" };
        one.max_ns.map_or("-".to_string(), |max| format!("{at_least}{max}"))
    };
    let mean = |one: &LookedRecording| one.mean_ns.map(|mean| Nanos(mean.round() as i64));
    let mut columns = vec![
        column("file", 0, &|one| escape_controls(&one.file)).left(),
        column("format", 0, &part).left(),
        column("threads", 3, &|one| one.threads.to_string()),
        column("latencies", 1, &|one| one.latencies.to_string()),
        column("min", 4, &|one| time(one.min_ns)),
        column("mean", 4, &|one| time(mean(one))),
        column("max", 0, &max),
        column("findings", 2, &|one| one.findings.len().to_string()),
    ];
    if rows.iter().any(|one| one.verdict.is_some()) {
        let word = |one: &LookedRecording| {
            one.verdict.as_ref().map_or("-".to_string(), |(word, _)| word.to_string())
        };
        columns.push(column("verdict", 0, &word).left());
    }
    let reasons = rows.iter().filter_map(|one| {
        let (word, reason) = one.verdict.as_ref()?;
        let reason = escape_controls(reason.as_deref()?);
        Some(format!("{}: {word}: {reason}.", escape_controls(&one.file)))
    });
    let reasons: String =
        reasons.map(|line| latlab_report::wrapped(&line, width(), 2) + "\n").collect();
    columns.extend(ids.map(|ids| Column::new("run", 0, ids).left()));
    latlab_report::table(columns, width(), style()) + &reasons
}
