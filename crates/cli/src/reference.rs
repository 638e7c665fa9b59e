//! Tests of the generated part of docs/reference: man pages and completions from the flags, JSON
//! Schemas from the types, tables of findings from their sources. `make reference` writes the
//! files; without it, a difference is a failure.

mod catalogue;
mod causes;
mod findings;
mod invariants;
mod man_pages;
mod sheet_schema;

use crate::command_line::program;
use crate::commands::collect::CollectedRun;
use crate::commands::completions::Shell;
use crate::commands::explain::replay::Replayed;
use crate::commands::import::document::{Imported, Looked};
use crate::commands::lab::paths::KernelPaths;
use crate::commands::respond::documents::{CaptureListing, Responded};
use crate::commands::run::DetachedRunStart;
use crate::commands::target::ListedTarget;
use crate::commands::tune::apply::TuneStatus;
use crate::documents::{
    CampaignReported, CampaignResult, DryRun, Explained, List, ListedLoad, Reported, ShippedSheet,
    WatchAlarm,
};
use clap::Command;
use latlab_digest::window::Window;
use latlab_doctor::comparison::Comparison;
use latlab_model::campaign::Campaign;
use latlab_model::doctor::{CheckEntry, Examination};
use latlab_model::target::BoardState;
use latlab_model::tune::TuneResult;
use latlab_model::{Run, Snapshot};
use latlab_report::campaign::CampaignTable;
use latlab_report::compare::ComparedSides;
use latlab_report::fleet::{FleetAnswer, RunColumn, run_columns};
use latlab_stats::RunLength;
use latlab_stats::builds::Trend;
use latlab_store::Verification;
use man_pages::man_page;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that makes these tests write the files; `make reference` sets it.
const WRITE: &str = "LATLAB_WRITE_REFERENCE";

/// Invariant (documents): Man pages, completions and schemas are generated from options and types.
#[test]
fn man_pages_are_those_of_the_flags() {
    let program = shown_commands();
    let commands = std::iter::once(&program).chain(program.get_subcommands());
    compare("man", commands.map(man_page).collect());
}

/// Invariant (documents): Man pages, completions and schemas are generated from options and types.
#[test]
fn completions_are_those_of_the_flags() {
    use clap_complete::Shell as Shells;
    let script = |shell: Shells| {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut shown_commands(), "latlab", &mut text);
        String::from_utf8(text).expect("a script is text")
    };
    let files = [
        ("latlab.bash", Shell::Bash, Shells::Bash),
        ("_latlab", Shell::Zsh, Shells::Zsh),
        ("latlab.fish", Shell::Fish, Shells::Fish),
    ];
    compare("completions", files.map(|(name, _, shell)| (name.into(), script(shell))).into());
    for (name, shell, _) in files {
        let file = fs::read_to_string(folder("completions").join(name)).expect(name);
        assert!(shell.script() == file || writing(), "{name} differs from what latlab prints");
    }
}

/// Invariant (documents): Man pages, completions and schemas are generated from options and types.
#[test]
fn schemas_are_those_of_the_types() {
    let files = vec![
        ("run.schema.json".to_string(), schema::<Run>()),
        ("list.schema.json".to_string(), schema::<List>()),
        ("compare.schema.json".to_string(), schema::<ComparedSides>()),
        ("plan.schema.json".to_string(), schema::<RunLength>()),
        ("trend.schema.json".to_string(), schema::<Trend>()),
        ("report.schema.json".to_string(), schema::<Reported>()),
        ("respond.schema.json".to_string(), schema::<Responded>()),
        ("import.schema.json".to_string(), schema::<Imported>()),
        ("import-look.schema.json".to_string(), schema::<Looked>()),
        ("respond-look.schema.json".to_string(), schema::<Vec<CaptureListing>>()),
        ("window.schema.json".to_string(), schema::<Window>()),
        ("watch-alarm.schema.json".to_string(), schema::<WatchAlarm<'_>>()),
        ("fleet-query.schema.json".to_string(), schema::<FleetAnswer>()),
        ("explain.schema.json".to_string(), schema::<Explained<'_>>()),
        ("replay.schema.json".to_string(), schema::<Replayed<'_>>()),
        ("lab-paths.schema.json".to_string(), schema::<KernelPaths<'_>>()),
        ("verify.schema.json".to_string(), schema::<Vec<Verification>>()),
        ("doctor.schema.json".to_string(), schema::<Examination>()),
        ("doctor-against.schema.json".to_string(), schema::<Comparison>()),
        ("doctor-list.schema.json".to_string(), schema::<Vec<CheckEntry>>()),
        ("loads.schema.json".to_string(), schema::<Vec<ListedLoad>>()),
        ("load.schema.json".to_string(), schema::<ListedLoad>()),
        ("targets.schema.json".to_string(), schema::<Vec<ListedTarget>>()),
        ("detach.schema.json".to_string(), schema::<DetachedRunStart>()),
        ("collect.schema.json".to_string(), schema::<Vec<CollectedRun>>()),
        ("target-status.schema.json".to_string(), schema::<BoardState>()),
        ("campaign.schema.json".to_string(), schema::<Campaign>()),
        ("campaign-dry-run.schema.json".to_string(), schema::<DryRun>()),
        ("campaign-run.schema.json".to_string(), schema::<CampaignResult>()),
        ("campaign-report.schema.json".to_string(), schema::<CampaignReported>()),
        ("tune.schema.json".to_string(), schema::<TuneResult>()),
        ("tune-status.schema.json".to_string(), schema::<TuneStatus>()),
        ("campaign-table.schema.json".to_string(), schema::<CampaignTable>()),
        ("scenarios.schema.json".to_string(), schema::<Vec<ShippedSheet>>()),
        ("sheet.schema.json".to_string(), format!("{:#}\n", sheet_schema::schema())),
        ("snapshot.schema.json".to_string(), schema::<Snapshot>()),
    ];
    for (name, text) in &files {
        assert!(!text.contains("[`"), "{name} has a link that only rustdoc can follow");
    }
    compare("", files);
}

/// Invariant (documents): The columns of the tables of many runs are those that the program prints.
#[test]
fn the_columns_of_python_are_those_of_a_row() {
    let column = |one: RunColumn| format!("  \"{}\": \"{}\"", one.name, one.sql_type());
    let text = format!("{{\n{}\n}}\n", run_columns().map(column).collect::<Vec<_>>().join(",\n"));
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/src/latlab/fleet/runs.json");
    assert!(!differs(&file, &text), "runs.json differs from the rows: run `make reference`");
}

/// A folder below docs/reference.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name)
}

fn writing() -> bool {
    std::env::var_os(WRITE).is_some()
}

/// Fails unless the folder has exactly these files, or writes them.
fn compare(name: &str, files: Vec<(String, String)>) {
    let folder = folder(name);
    let generated: BTreeSet<&String> = files.iter().map(|(name, _)| name).collect();
    let there = fs::read_dir(&folder).expect("a folder of docs/reference");
    let mut wrong: Vec<String> = there
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file() && path.extension().is_none_or(|kind| kind != "md"))
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .filter(|name| !generated.contains(name))
        .collect();
    wrong.extend(
        files
            .iter()
            .filter(|(name, text)| differs(&folder.join(name), text))
            .map(|(name, _)| name.clone()),
    );
    assert!(
        wrong.is_empty(),
        "docs/reference/{name} differs from the flags and types: {}. Run `make reference`; delete \
         a file that it no longer generates.",
        wrong.join(", ")
    );
}

/// Whether the file's content differs; in writing mode it is then written.
fn differs(path: &Path, text: &str) -> bool {
    if fs::read_to_string(path).ok().as_deref() == Some(text) {
        return false;
    }
    if writing() {
        fs::write(path, text).expect("docs/reference can be written");
    }
    !writing()
}

/// All commands except hidden ones.
fn shown_commands() -> Command {
    let all = program();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set());
    let mut program = Command::new("latlab")
        .about(all.get_about().expect("a first line").clone())
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(all.get_after_help().expect("examples").clone())
        .propagate_version(true)
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .subcommands(shown.cloned());
    program.build();
    program
}

/// Invariant (documents): Documents name no link, flag or finding that does not exist.
#[test]
fn the_guide_has_each_format_that_is_read() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/import.md");
    let guide = fs::read_to_string(guide).expect("the guide of imports");
    let (_, table) = guide.split_once("| `--as` |").expect("a table of formats");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let told: BTreeSet<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let read: BTreeSet<&str> = latlab_formats::read::FORMATS.iter().map(|one| one.id).collect();
    assert_eq!(told, read);
}

/// The JSON Schema of a type, as it is serialized.
fn schema<T: JsonSchema>() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = generator.into_root_schema_for::<T>();
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}
