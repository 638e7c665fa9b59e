//! What docs/reference holds that is generated: man pages and completions from the flags, JSON
//! Schemas from the types, the tables of the doctor and of the findings from their sources.
//! `make reference` writes it; without that a difference fails.

mod catalogue;
mod findings;
mod invariants;

use crate::command_line::program;
use crate::commands::collect::CollectedRun;
use crate::commands::completions::Shell;
use crate::commands::import::document::{Imported, Looked};
use crate::commands::run::DetachedRunStart;
use crate::commands::target::ListedTarget;
use crate::documents::{
    CampaignReported, CampaignResult, CaptureListing, DryRun, Explained, KernelPaths, List,
    ListedLoad, Replayed, Reported, Responded, ShippedSheet, WatchAlarm,
};
use crate::sheet::schema::schema as sheet_schema;
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use latlab_model::campaign::Campaign;
use latlab_model::campaign_table::CampaignTable;
use latlab_model::comparison::Comparison;
use latlab_model::doctor::{CheckEntry, Examination};
use latlab_model::fleet::FleetAnswer;
use latlab_model::run_comparison::RunComparison;
use latlab_model::run_length::RunLength;
use latlab_model::target::BoardState;
use latlab_model::trend::Trend;
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
        assert!(shell.script() == file || writing(), "{name} differs from what latlab prints");
    }
}

/// Invariant (documents): Man pages, completions and schemas are generated from options and types.
#[test]
fn schemas_are_those_of_the_types() {
    let files = vec![
        ("run.schema.json".to_string(), schema::<Run>()),
        ("list.schema.json".to_string(), schema::<List>()),
        ("compare.schema.json".to_string(), schema::<RunComparison>()),
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
        "docs/reference/{name} differs from the flags and types: {}. Run `make reference`; delete \
         a file that it no longer generates.",
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

const EXIT_STATUS_OF_WATCH: Terms = &[
    ("0", "Ended by a signal or after --rounds, whatever the verdicts were."),
    ("2", "Wrong usage, seen in the first round at the latest."),
    ("3", "The folder of the runs cannot be read."),
];

const EXIT_STATUS_OF_READING: Terms = &[
    ("0", "Done, whatever the verdict of the run is."),
    ("2", "Wrong usage or input, such as a run that does not exist."),
    (
        "3",
        "A file could not be read, or the result not be written: a right or disk space is missing.",
    ),
];

const EXIT_STATUS_OF_OTHERS: Terms = &[
    ("0", "Done."),
    ("2", "Wrong usage or input."),
    ("3", "A board could not be reached, a file not be read, or the result not be written."),
];

const EXIT_STATUS_OF_COMPARISON: Terms = &[
    ("0", "Done; with --gate, no regression above the limit."),
    ("1", "With --gate: regressed."),
    ("2", "Wrong usage or input, such as a run that does not exist."),
    (
        "3",
        "A file could not be read, or the result not be written: a right or disk space is missing.",
    ),
    ("4", "With --gate: the runs cannot tell."),
];

const EXIT_STATUS_OF_CYCLICTEST: Terms = &[
    ("0", "Done, whatever was measured; also after --breaktrace."),
    ("2", "Wrong usage or input."),
    (
        "3",
        "Could not measure, or not write the result: a right, a feature of the kernel or disk \
         space is missing.",
    ),
];

const EXIT_STATUS_OF_FLEET: Terms = &[
    ("0", "Done."),
    ("1", "A run is damaged and left out, or the tables are not as they should be."),
    ("2", "Wrong usage or input."),
    ("3", "Could not read or write, or the Python package is not installed."),
];

const EXIT_STATUS_OF_VERIFY: Terms = &[
    ("0", "No run is damaged."),
    ("1", "At least one run is damaged."),
    ("2", "Wrong usage or input, such as a run that does not exist."),
    ("3", "The result could not be written."),
];

const EXIT_STATUS_OF_DOCTOR: Terms = &[
    ("0", "Done, whatever was found, unless --fail-on says otherwise."),
    ("1", "A finding of --fail-on was found."),
    (
        "2",
        "Wrong usage or input, such as a run that does not exist or a file that is not a \
           snapshot.",
    ),
    ("3", "This machine could not be examined, or with --restore a file could not be restored."),
];

const ENVIRONMENT: Terms = &[
    ("LATLAB_RUNS", "Folder of the runs, unless --out is given; the default is ./runs."),
    (
        "LATLAB_SSH",
        "Command that reaches boards instead of ssh, with its options: `ssh -F lab.conf`.",
    ),
    ("LATLAB_LAB", "Folder of downloaded kernels of guests; the default is ~/.cache/latlab/lab."),
    ("BROWSER", "Program that --open starts; the default is xdg-open."),
    ("NO_COLOR", "If set and not empty, output has no colours."),
    (
        "SUDO_UID, SUDO_GID",
        "The user who called sudo(8): files that latlab writes as root belong to that user and \
         group.",
    ),
];

const FILES: Terms = &[
    (
        "runs/TIME_NAME/",
        "A run: a folder named after its start in UTC and its --name. It appears only when it is \
         complete; until then .TIME_NAME.partial beside it contains the journal, from which the \
         next command finishes an interrupted run.",
    ),
    (
        "run.json",
        "Requested and applied settings, machine, figures, findings, verdict, and the checksums \
         of the tables.",
    ),
    ("histogram.parquet", "Every bin of the histogram of every thread."),
    ("intervals.parquet", "The figures of each second of each thread."),
    ("spikes.parquet", "The 4096 largest latencies of each thread, with their releases."),
    ("samples.parquet", "With --samples or --legs: every latency with its release."),
    (
        "legs.parquet",
        "With --legs or --instrument timerlat: every bin of each leg of every thread.",
    ),
    ("trace.parquet", "With --legs: the recorded trace events from which the legs were computed."),
    ("pages.parquet", "With --explain: pages of the kernel's trace around the spikes."),
    ("recording.json", "With --explain: the spikes, and what is needed to read these pages."),
    (
        "telemetry.parquet",
        "Temperatures, frequencies, CPU time, interrupts and busy threads, each second.",
    ),
    ("clocks.parquet", "Monotonic, boot, real and TAI time, read together each second."),
    (
        "snapshot.json",
        "The kernel files of the machine at the start of the run; latlab doctor examines them.",
    ),
    ("report.html", "The page of the run, unless latlab report has -o."),
    ("comparison.html", "The page of this run and others, unless latlab report has -o."),
    (
        "/run/latlab/",
        "Records of what current runs use or changed: measured CPUs (cpus-), files of --set, --tune, \
         --legs and timerlat (undo-), processes of loads (load-). Those of other users are below \
         /run/lock/latlab-UID, else /run/user/UID, else /tmp.",
    ),
    ("~/.config/latlab/targets.toml", "Names of boards, see latlab-target(1)."),
    ("~/.config/latlab/loads/", "Your own loads, see latlab-loads(1)."),
];

const PAGES_OF_OTHERS: &[&str] = &["cyclictest(8)", "sched(7)", "capabilities(7)"];

/// Stands for the date, which a page that is the same on every day does not have.
const NO_DATE: &str = "NO_DATE";

/// What a command does, for those who read its page and not only its help; none where the first line of
/// the help says it all.
fn description(command: &str) -> Option<&'static str> {
    let text = match command {
        "latlab" => {
            "latlab measures the wake-up latency of a Linux machine: the time between the instant \
             at which a thread asked to be woken, its release, and its first instruction. It \
             accounts for every release, stores what it measured in a folder, and judges it \
             against a deadline."
        }
        "run" => {
            "Measuring threads, by default one on each CPU, sleep until their next release and \
             record how late they were woken. Releases that are already past when a cycle ends \
             are missed releases, and are counted too.\n\nOn a terminal a live table shows each \
             thread; elsewhere latlab prints a line every ten seconds. Both go to standard error, \
             the result to standard output. SIGINT (Ctrl-C), SIGTERM and, without --keep-going, \
             SIGHUP end the run cleanly and store it.\n\nReal-time priority, locked memory and \
             shallow idle states need rights: root, or CAP_SYS_NICE, CAP_IPC_LOCK and a writable \
             /dev/cpu_dma_latency. Without the right to the priority latlab measures nothing and \
             explains how to get it. Any other refused setting is a finding of the run, and if it \
             matters the verdict is invalid."
        }
        "watch" => {
            "Measures for some seconds, again and again, until it is told to end, with the flags of \
             latlab run. All rounds together take no more than a share of a CPU, and their runs no \
             more than a size of the disk: the oldest runs of the same name are removed, except those \
             that are marked by a file named keep in their folder, and those that somebody is reading. \
             Runs of other names are not touched. Each round prints a line with its figures and with \
             what it took; what is removed is named on standard error. A round that cannot be measured, \
             also because the disk is full, is told, and the next one is tried.\n\nThe command of \
             --on-fail gets a line of JSON on its input: why nothing was measured, or what was, and how \
             many rounds failed one after the other (docs/reference/watch-alarm.schema.json). It may \
             take 30 seconds."
        }
        "list" => {
            "Lists the runs in the folder of runs, newest first, with observed maximum and \
             verdict. Interrupted runs are finished first."
        }
        "show" => {
            "Prints the result of a run: one line for each thread, the findings, the verdict, and \
             the command that repeats it. With --format json it prints run.json with the \
             sentences of its findings and of its verdict.\n\nWith --window it prints the figures \
             of a part of a run that has samples, and with --format csv the samples themselves."
        }
        "explain" => {
            "Prints the causes of the spikes of a run with --explain, and some spikes from release \
             to wake-up with who had the CPU. Both are computed from the stored pages of the \
             kernel's trace."
        }
        "verify" => {
            "Compares the size and the checksum of every file of a run with run.json, and the \
             sums of the tables with each other. Files that do not belong to the run are listed \
             and are not damage."
        }
        "report" => {
            "Writes a self-contained page: it needs no network and no other file. It can be \
             written again at any time."
        }
        "plot" => {
            "Writes a chart of a run as a self-contained SVG, or as PNG. Values beyond the axis \
             are counted in the chart with their maximum, and figures that the data does not \
             support are drawn hollow. Several runs are drawn on one scale and named after their \
             differences."
        }
        "agent" => {
            "The part of latlab that runs on the measured machine. It does no analysis and writes \
             no file; the other part stores what it sends. Builds by `make dist` contain it for \
             three types of machines."
        }
        "doctor" => {
            "Reads the kernel files of this machine, of the machine of a stored run, of a folder \
             that looks like /, or of a snapshot file, and lists what in them costs latency: the \
             file and its content, the reason, the typical cost, the command that changes it, and \
             how to undo that. It changes nothing. docs/reference/doctor.md lists all checks, as \
             --list does.\n\nWith --against it lists changes: facts about the machine, findings \
             that appeared or disappeared, settings, and kernel options by topic.\n\nWith \
             --restore it restores what --set and --tune changed for a run whose latlab was \
             killed. Every other command does the same before its work; changes made by root need \
             root. Files that were changed again since then are not touched."
        }
        "cyclictest" => {
            "Takes the options of cyclictest(8), measures with latlab, and prints the output of \
             cyclictest, so that existing scripts continue to work. A link named cyclictest does \
             the same. The run is stored as well; the last line on standard error names it. \
             Standard error also reports what cyclictest hides: missed releases, and latencies \
             that were not printed in time. SIGUSR1 prints the current figures to standard error, \
             SIGUSR2 writes them to /dev/shm/cyclictestPID."
        }
        "import" => {
            "Makes a run of each recording in the files, with the bins of the file. The original is \
             kept beside the run with its checksum, and what the file leaves open or contradicts is \
             a finding. docs/guide/import.md lists the formats."
        }
        "export" => {
            "Writes a stored run in the format of another tool, to standard output or to a file that \
             does not exist yet. What the format cannot carry is one line each on standard error, \
             and a comment of the file where the format has comments. docs/guide/export.md lists \
             the formats."
        }
        "fleet" => {
            "Keeps the runs of many boards in tables of Delta Lake, which can be made anew of the run \
             folders at any time, and answers questions over all of them with DuckDB or Apache Spark. \
             It is a part of the Python package: pip install 'latlab[fleet]'. `latlab fleet COMMAND \
             --help` lists the options of a command; docs/guide/fleet.md describes queries and tables."
        }
        "completions" => {
            "Prints the shell script that completes the commands and flags of latlab. `make \
             install` installs the same script."
        }
        _ => return None,
    };
    Some(text)
}

/// The name and the text of a command's page.
fn man_page(command: &Command) -> (String, String) {
    let name = command.get_display_name().unwrap_or("latlab").to_string();
    let usage = command.clone().render_usage().to_string();
    let about = description(command.get_name()).map(str::to_string);
    let about = about.or_else(|| command.get_about().map(|line| format!("{line}.")));
    let shown = command
        .clone()
        .override_usage(usage.trim_start_matches("Usage: ").to_string())
        .long_about(about.unwrap_or_default())
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
    // The commands of a command have no pages of their own.
    if command.get_name() != "latlab" && command.has_subcommands() {
        text.truncate(text.find(".SH COMMANDS").unwrap_or(text.len()));
        subcommands(&mut more, command);
    }
    match command.get_name() {
        "watch" => {
            section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_WATCH);
            section(&mut more, "ENVIRONMENT", ENVIRONMENT);
        }
        "latlab" | "run" => {
            section(&mut more, "EXIT STATUS", EXIT_STATUS);
            section(&mut more, "ENVIRONMENT", ENVIRONMENT);
            section(&mut more, "FILES", FILES);
        }
        "doctor" => {
            section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_DOCTOR);
            section(&mut more, "ENVIRONMENT", ENVIRONMENT);
        }
        "fleet" => section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_FLEET),
        "verify" => {
            section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_VERIFY);
            section(&mut more, "ENVIRONMENT", ENVIRONMENT);
        }
        "respond" | "import" | "lab" => section(&mut more, "EXIT STATUS", EXIT_STATUS),
        "compare" | "trend" => section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_COMPARISON),
        "cyclictest" => section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_CYCLICTEST),
        "list" | "show" | "explain" | "report" | "plot" | "export" | "serve" => {
            section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_READING);
            section(&mut more, "ENVIRONMENT", ENVIRONMENT);
        }
        _ => section(&mut more, "EXIT STATUS", EXIT_STATUS_OF_OTHERS),
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

/// What can be done with a command that has commands: how each is called, and its own options.
fn subcommands(page: &mut Roff, command: &Command) {
    page.control("SH", ["COMMANDS"]);
    for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
        let usage = one.clone().render_usage().to_string();
        let about = one.get_about().map(|about| format!("{about}."));
        page.control("TP", [])
            .text([bold(usage.trim_start_matches("Usage: "))])
            .text([roman(about.unwrap_or_default())]);
        page.control("RS", []);
        let is_own = |argument: &&Arg| {
            !argument.is_global_set() && !matches!(argument.get_id().as_str(), "help" | "version")
        };
        for argument in one.get_arguments().filter(is_own) {
            let help = argument.get_help().map(ToString::to_string);
            page.control("TP", [])
                .text([bold(argument.to_string())])
                .text([roman(help.unwrap_or_default())]);
        }
        page.control("RE", []);
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
