//! What docs/reference holds that is generated: man pages and completions from the flags, JSON
//! Schemas from the types, the tables of the doctor and of the findings from their sources.
//! `make reference` writes it; without that a difference fails.

mod catalogue;
mod findings;
mod invariants;

use crate::command_line::Cli;
use crate::commands::completions::Shell;
use crate::documents::{
    CampaignReported, CampaignResult, CaptureListing, DryRun, List, ListedLoad, Reported,
    Responded, ShippedSheet,
};
use crate::sheet::schema::schema as sheet_schema;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use latlab_model::campaign::Campaign;
use latlab_model::campaign_table::CampaignTable;
use latlab_model::comparison::Comparison;
use latlab_model::doctor::{CheckEntry, Examination};
use latlab_model::verification::Verification;
use latlab_model::window::Window;
use latlab_model::{Run, Snapshot};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What the environment variable that has the files written is called; `make reference` sets it.
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
        assert!(shell.script() == file || writing(), "{name} is not what latlab prints");
    }
}

/// Invariant (documents): Man pages, completions and schemas are generated from options and types.
#[test]
fn schemas_are_those_of_the_types() {
    let files = vec![
        ("run.schema.json".to_string(), schema::<Run>()),
        ("list.schema.json".to_string(), schema::<List>()),
        ("report.schema.json".to_string(), schema::<Reported>()),
        ("respond.schema.json".to_string(), schema::<Responded>()),
        ("respond-look.schema.json".to_string(), schema::<Vec<CaptureListing>>()),
        ("window.schema.json".to_string(), schema::<Window>()),
        ("verify.schema.json".to_string(), schema::<Vec<Verification>>()),
        ("doctor.schema.json".to_string(), schema::<Examination>()),
        ("doctor-against.schema.json".to_string(), schema::<Comparison>()),
        ("doctor-list.schema.json".to_string(), schema::<Vec<CheckEntry>>()),
        ("loads.schema.json".to_string(), schema::<Vec<ListedLoad>>()),
        ("load.schema.json".to_string(), schema::<ListedLoad>()),
        ("campaign.schema.json".to_string(), schema::<Campaign>()),
        ("campaign-dry-run.schema.json".to_string(), schema::<DryRun>()),
        ("campaign-run.schema.json".to_string(), schema::<CampaignResult>()),
        ("campaign-report.schema.json".to_string(), schema::<CampaignReported>()),
        ("campaign-table.schema.json".to_string(), schema::<CampaignTable>()),
        ("scenarios.schema.json".to_string(), schema::<Vec<ShippedSheet>>()),
        ("sheet.schema.json".to_string(), format!("{:#}\n", sheet_schema())),
        ("snapshot.schema.json".to_string(), schema::<Snapshot>()),
    ];
    for (name, text) in &files {
        assert!(!text.contains("[`"), "{name} has a link that only rustdoc can follow");
    }
    compare("", files);
}

/// The folder below docs/reference.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name)
}

fn writing() -> bool {
    std::env::var_os(WRITE).is_some()
}

/// Fails where the folder does not hold these files and no others, or makes it so.
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
        "docs/reference/{name} is not what the flags and types say: {}. `make reference` writes \
         it anew; a file that nothing makes any more is yours to remove.",
        wrong.join(", ")
    );
}

/// Whether a file is not this text; it is made so where files are written.
fn differs(path: &Path, text: &str) -> bool {
    if fs::read_to_string(path).ok().as_deref() == Some(text) {
        return false;
    }
    if writing() {
        fs::write(path, text).expect("docs/reference can be written");
    }
    !writing()
}

/// All commands but the hidden ones.
fn shown_commands() -> Command {
    let all = Cli::command();
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

// Man pages

/// A section of terms and what they mean.
type Terms = &'static [(&'static str, &'static str)];

const EXIT_STATUS: Terms = &[
    ("0", "Done, or the verdict is pass."),
    ("1", "The verdict is fail, or a latency was above --stop-above."),
    ("2", "Wrong usage or input."),
    (
        "3",
        "Could not measure, or not write the result: a right, a feature of the kernel or disk \
         space is missing.",
    ),
    ("4", "The verdict is inconclusive or invalid."),
];

const EXIT_STATUS_OF_READING: Terms = &[
    ("0", "Done, whatever the verdict of the run is."),
    ("2", "Wrong usage or input, such as a run that does not exist."),
    (
        "3",
        "A file could not be read, or the result not be written: a right or disk space is missing.",
    ),
];

const EXIT_STATUS_OF_CYCLICTEST: Terms = &[
    ("0", "Done, whatever was measured; also where --breaktrace ended it."),
    ("2", "Wrong usage or input."),
    (
        "3",
        "Could not measure, or not write the result: a right, a feature of the kernel or disk \
         space is missing.",
    ),
];

const EXIT_STATUS_OF_VERIFY: Terms = &[
    ("0", "All runs are whole."),
    ("1", "At least one run is damaged."),
    ("2", "Wrong usage or input, such as a run that does not exist."),
    ("3", "The result could not be written."),
];

const EXIT_STATUS_OF_DOCTOR: Terms = &[
    ("0", "Done, whatever was found, unless --fail-on asks for more."),
    ("1", "What --fail-on asks for was found."),
    ("2", "Wrong usage or input, such as a run that does not exist or a file that is no snapshot."),
    ("3", "This machine could not be examined, or with --restore a file not be put back."),
];

const ENVIRONMENT: Terms = &[
    ("LATLAB_RUNS", "Folder of the runs, where --out does not name one; else it is ./runs."),
    ("NO_COLOR", "Set and not empty, it turns colours off."),
    (
        "SUDO_UID, SUDO_GID",
        "Who called sudo(8): what latlab writes as root belongs to that user and group.",
    ),
];

const FILES: Terms = &[
    (
        "runs/TIME_NAME/",
        "A run: a folder named by the time in UTC at which it began, and by --name. It appears \
         whole; until then it is .TIME_NAME.partial beside it and holds the journal, from which \
         the next command finishes a run that was cut off.",
    ),
    (
        "run.json",
        "What was asked and applied, the machine, the figures, the findings, the verdict, and the \
         checksums of the tables.",
    ),
    ("histogram.parquet", "Every bin of every thread."),
    ("intervals.parquet", "Each second of each thread."),
    ("spikes.parquet", "The 4096 largest latencies of each thread, with their releases."),
    (
        "legs.parquet",
        "With --legs or --instrument timerlat: every bin of each leg of every thread.",
    ),
    ("samples.parquet", "With --samples or --legs: every latency with its release."),
    ("trace.parquet", "With --legs: the recorded trace events from which the legs were computed."),
    ("clocks.parquet", "The monotonic, boot, real and TAI time side by side, each second."),
    (
        "/run/latlab/",
        "Records of what runs hold, locked as long as they go on: measured CPUs (cpus-), what --set, --tune, --legs or timerlat have changed (undo-), processes of loads (load-). Of other users below /run/lock/latlab-UID, else /run/user/UID, else /tmp.",
    ),
    (
        "snapshot.json",
        "The kernel files of the machine as they were at the start; latlab doctor examines them.",
    ),
    (
        "comparison.html",
        "The page of this run and others, where latlab report was not told another place for it.",
    ),
    ("report.html", "The page, where latlab report was not told another place for it."),
];

const PAGES_OF_OTHERS: &[&str] = &["cyclictest(8)", "sched(7)", "capabilities(7)"];

/// Stands for the date, which a page that is the same on every day does not have.
const NO_DATE: &str = "NO_DATE";

/// What a command does, for those who read its page and not only its help.
fn description(command: &str) -> &'static str {
    match command {
        "latlab" => {
            "latlab measures how late a Linux machine is: the time between the instant a thread \
             asked to be woken, its release, and its first instruction. It accounts for every \
             release, keeps what it measured in a folder, and judges it against a deadline."
        }
        "run" => {
            "Measuring threads, one on each CPU unless told otherwise, sleep until their next \
             release and count how late they were woken. Releases that are already past when a \
             cycle ends are missed releases, and are counted too.\n\n\
             On a terminal a live table shows each thread; elsewhere a line comes every ten \
             seconds. Both go to standard error, the result to standard output. SIGINT (Ctrl-C), \
             SIGTERM and, without --keep-going, SIGHUP end the run cleanly and keep it.\n\n\
             Real-time priority, locked memory and shallow idle states need rights: those of \
             root, or CAP_SYS_NICE, CAP_IPC_LOCK and a /dev/cpu_dma_latency that may be written. \
             Without the right to the priority nothing is measured, and one line says how to give \
             it; what else was refused is a finding of the run, and where it matters the verdict \
             is invalid."
        }
        "list" => {
            "Names the runs in the folder of runs, the newest first, with their observed maximum \
             and verdict. A run that was cut off is finished before."
        }
        "show" => {
            "Prints what a run measured: one line for each thread, the findings, the verdict, and \
             the command that repeats it. With --format json it is the run's run.json, with the \
             sentences of its findings and of its verdict.\n\n\
             With --window it prints the figures of a stretch of a run that has samples, and with \
             --format csv the samples themselves."
        }
        "verify" => {
            "Compares every file of a run with the size and the checksum that run.json has of it, and \
             the sums of the tables with each other. A file that is not of the run is named, and is \
             no damage."
        }
        "report" => {
            "Writes a page that needs nothing beside itself: no network, no other file. It can be \
             made again at any time."
        }
        "plot" => {
            "Writes a picture of what a run measured, as SVG that needs nothing beside itself. What \
             does not fit on the axis is told in the picture with its count and its maximum, and \
             a figure that the latencies do not support is drawn hollow. Several runs are drawn on \
             one scale and named by what they differ in."
        }
        "agent" => {
            "The half of latlab that runs on the machine that is measured. It does no analysis and \
             writes no file; the other half keeps what it says. Builds by `make dist` carry it for \
             three kinds of machines."
        }
        "doctor" => {
            "Reads the kernel files of this machine, of the machine of a stored run, of a folder that \
             looks like /, or of a snapshot file, and says what in them costs latency: what was \
             seen and in which file, why it matters, what it typically costs, the command that mends \
             it and how to undo that. It changes nothing. docs/reference/doctor.md holds all that it \
             knows, as --list prints it.\n\n\
             With --against it says what has changed: facts about the machine, findings that \
             appeared or went, settings, and options of the kernel by topic.\n\n\
             With --restore it puts back what --set and --tune have changed for a run whose \
             latlab was killed. Every other command does the same before its work; where root has \
             changed them, only root can. A file that somebody has changed since is left alone."
        }
        "cyclictest" => {
            "Takes the options of cyclictest(8), measures with the loop of latlab, and prints what \
             cyclictest prints, so that scripts made for it go on working. A link named cyclictest \
             does the same. The run is stored as well; the last line on standard error names it. \
             What the original hides is told there: missed releases, and latencies that nobody \
             took in time. SIGUSR1 prints the figures of the moment to standard error, SIGUSR2 \
             writes them to /dev/shm/cyclictestPID."
        }
        _ => {
            "Prints the script that completes the commands and flags of latlab in a shell. It is \
             the same that `make install` installs."
        }
    }
}

/// The name and the text of a command's page.
fn man_page(command: &Command) -> (String, String) {
    let name = command.get_display_name().unwrap_or("latlab").to_string();
    let usage = command.clone().render_usage().to_string();
    let shown = command
        .clone()
        .override_usage(usage.trim_start_matches("Usage: ").to_string())
        .long_about(description(command.get_name()))
        .subcommand_help_heading("COMMANDS")
        .after_help(None::<&str>);
    let mut text = Vec::new();
    Man::new(shown)
        .title(name.to_uppercase())
        .date(NO_DATE)
        .source(concat!("latlab ", env!("CARGO_PKG_VERSION")))
        .manual("User commands")
        .render(&mut text)
        .expect("a page can be rendered");
    let mut text = String::from_utf8(text).expect("a page is text").replace(NO_DATE, "\"\"");
    // The version is at the foot of the page already, and groups of options belong together.
    text.truncate(text.find(".SH VERSION").unwrap_or(text.len()));
    for heading in command.get_arguments().filter_map(|argument| argument.get_help_heading()) {
        for quote in ["", "\""] {
            let section = format!(".SH {quote}{}{quote}\n", heading.to_uppercase());
            text = text.replace(&section, &format!(".SS {quote}{heading}{quote}\n"));
        }
    }
    let mut more = Roff::new();
    match command.get_name() {
        "latlab" | "run" => {
            section(&mut more, "EXIT STATUS", EXIT_STATUS);
            section(&mut more, "ENVIRONMENT", ENVIRONMENT);
            section(&mut more, "FILES", FILES);
        }
        "doctor" => {
            section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_DOCTOR);
            section(&mut more, "ENVIRONMENT", ENVIRONMENT);
        }
        "verify" => {
            section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_VERIFY);
            section(&mut more, "ENVIRONMENT", ENVIRONMENT);
        }
        "cyclictest" => section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_CYCLICTEST),
        "list" | "show" | "report" | "plot" => {
            section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_READING);
            section(&mut more, "ENVIRONMENT", ENVIRONMENT);
        }
        _ => section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_READING),
    }
    if command.get_name() == "cyclictest" {
        as_it_is(
            &mut more,
            "OPTIONS OF CYCLICTEST",
            &crate::commands::cyclictest::option_table::plain_usage(),
        );
    } else if let Some(help) = command.get_after_help() {
        examples(&mut more, &help.to_string());
    }
    see_also(&mut more, &name);
    (format!("{name}.1"), text + &more.to_roff())
}

fn section(page: &mut Roff, title: &str, terms: Terms) {
    page.control("SH", [title]);
    for (term, meaning) in terms {
        page.control("TP", []).text([bold(*term)]).text([roman(*meaning)]);
    }
}

/// A section of lines that stay as they are.
fn as_it_is(page: &mut Roff, title: &str, text: &str) {
    page.control("SH", [title]).control("EX", []);
    for line in text.lines() {
        page.text([roman(line)]);
    }
    page.control("EE", []);
}

/// The examples of the help and what is said below them.
fn examples(page: &mut Roff, help: &str) {
    for paragraph in help.split("\n\n") {
        match paragraph.split_once(":\n") {
            Some(("Examples", lines)) => {
                page.control("SH", ["EXAMPLES"]).control("EX", []);
                for line in lines.lines() {
                    page.text([roman(line.trim_start())]);
                }
                page.control("EE", []);
            }
            // The exit codes have a section of their own.
            Some(_) => {}
            None => {
                page.control("PP", []).text([roman(paragraph.replace('\n', " "))]);
            }
        }
    }
}

fn see_also(page: &mut Roff, name: &str) {
    let program = shown_commands();
    let ours = std::iter::once(&program).chain(program.get_subcommands());
    let ours = ours.map(|command| command.get_display_name().unwrap_or("latlab"));
    let ours = ours.filter(|other| *other != name).map(|other| format!("{other}(1)"));
    let all: Vec<String> =
        ours.chain(PAGES_OF_OTHERS.iter().map(|page| page.to_string())).collect();
    page.control("SH", ["SEE ALSO"]).text([roman(all.join(", "))]);
}

// JSON Schemas

/// The schema of what is written as this type.
fn schema<T: JsonSchema>() -> String {
    let generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(accept_older))
        .into_generator();
    let schema = generator.into_root_schema_for::<T>();
    serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
}

/// A field with a default came with a later version; what an older one stored lacks it.
fn accept_older(schema: &mut Schema) {
    let Some(properties) = schema.get("properties").cloned() else { return };
    if let Some(required) = schema.get_mut("required").and_then(|names| names.as_array_mut()) {
        required.retain(|name| properties[name.as_str().unwrap_or("")].get("default").is_none());
    }
}
