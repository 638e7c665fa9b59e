//! Generates the man pages from the flags, with descriptions, exit codes, environment and files.

use super::shown_commands;
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use latlab_report::STORED_FILES;

/// A section of terms with explanations.
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

const RUN_FILES: Terms = &[
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
];

const OTHER_FILES: Terms = &[
    ("report.html", "The page of the run, unless latlab report has -o."),
    ("comparison.html", "The page of this run and others, unless latlab report has -o."),
    (
        "/run/latlab/",
        "Records of what current runs use or changed: measured CPUs (cpus-), files of --set, --tune, \
         --breakdown and timerlat (undo-), processes of loads (load-). Those of other users are below \
         /run/lock/latlab-UID, else /run/user/UID, else /tmp.",
    ),
    ("~/.config/latlab/targets.toml", "Names of boards, see latlab-target(1)."),
    ("~/.config/latlab/loads/", "Your own loads, see latlab-loads(1)."),
];

const PAGES_OF_OTHERS: &[&str] = &["cyclictest(8)", "sched(7)", "capabilities(7)"];

/// A placeholder that becomes an empty date: the pages must be the same on every day.
const NO_DATE: &str = "NO_DATE";

/// Long descriptions for man pages. Commands whose help says everything have none.
const DESCRIPTIONS: Terms = &[
    (
        "latlab",
        "latlab measures the wake-up latency of a Linux machine: the time between the instant \
             at which a thread asked to be woken, its release, and its first instruction. It \
             accounts for every release, stores what it measured in a folder, and judges it \
             against a deadline.",
    ),
    (
        "run",
        "Measuring threads, by default one on each CPU, sleep until their next release and \
             record how late they were woken. Releases that are already past when a cycle ends \
             are overruns, and are counted too.\n\nOn a terminal a live table shows each \
             thread; elsewhere latlab prints a line every ten seconds. Both go to standard error, \
             the result to standard output. SIGINT (Ctrl-C), SIGTERM and, without --keep-going, \
             SIGHUP end the run cleanly and store it.\n\nReal-time priority, locked memory and \
             shallow idle states need rights: root, or CAP_SYS_NICE, CAP_IPC_LOCK and a writable \
             /dev/cpu_dma_latency. Without the right to the priority latlab measures nothing and \
             explains how to get it. Any other refused setting is a finding of the run, and if it \
             matters the verdict is invalid.",
    ),
    (
        "watch",
        "Measures for some seconds, again and again, until it is interrupted, with the flags of \
             latlab run. All rounds together take no more than a share of a CPU, and their runs no \
             more than a size of the disk: the oldest runs of the same name are removed, except those \
             that are marked by a file named keep in their folder, and those that are being read. \
             Runs of other names are not touched. Each round prints a line with its figures and with \
             what it took; what is removed is named on standard error. A round that cannot be measured, \
             also because the disk is full, is reported, and the next one is tried.\n\nThe command of \
             --on-fail gets a line of JSON on its input: why nothing was measured, or what was, and how \
             many rounds failed one after the other (docs/reference/watch-alarm.schema.json). It may \
             take 30 seconds.",
    ),
    (
        "list",
        "Lists the runs in the folder of runs, newest first, with observed maximum and \
             verdict. Interrupted runs are finished first.",
    ),
    (
        "show",
        "Prints the result of a run: one line for each thread, the findings, the verdict, and \
             the command that repeats it. With --format json it prints run.json with the \
             sentences of its findings and of its verdict.\n\nWith --window it prints the figures \
             of a part of a run that has samples, and with --format csv the samples themselves.",
    ),
    (
        "explain",
        "Prints the causes of the spikes of a run with --explain, and some spikes from release \
             to wake-up with who had the CPU. Both are computed from the stored pages of the \
             kernel's trace.",
    ),
    (
        "verify",
        "Compares the size and the checksum of every file of a run with run.json, and the \
             sums of the tables with each other. Files that do not belong to the run are listed \
             and are not damage.",
    ),
    (
        "report",
        "Writes a self-contained page: it needs no network and no other file. It can be \
             written again at any time.",
    ),
    (
        "plot",
        "Writes a chart of a run as a self-contained SVG, or as PNG. Values beyond the axis \
             are counted in the chart with their maximum, and figures that the data does not \
             support are drawn hollow. Several runs are drawn on one scale and named after their \
             differences.",
    ),
    (
        "agent",
        "The part of latlab that runs on the measured machine. It does no analysis and writes \
             no file; the other part stores what it sends. A static program serves machines \
             like its own; builds by `make dist` contain the part for three types of machines.",
    ),
    (
        "doctor",
        "Reads the kernel files of this machine, of the machine of a stored run, of a folder \
             that looks like /, or of a snapshot file, and lists what in them costs latency: the \
             file and its content, the reason, the typical cost, the command that changes it, and \
             how to undo that. It changes nothing. docs/reference/doctor.md lists all checks, as \
             --list does.\n\nWith --against it lists changes: facts about the machine, findings \
             that appeared or disappeared, settings, and kernel options by topic.\n\nWith \
             --restore it restores what --set and --tune changed for a run whose latlab was \
             killed. Every other command does the same before its work; changes made by root need \
             root. Files that were changed again since then are not touched.",
    ),
    (
        "cyclictest",
        "Takes the options of cyclictest(8), measures with latlab, and prints the output of \
             cyclictest, so that existing scripts continue to work. A link named cyclictest does \
             the same. The run is stored as well; the last line on standard error names it. \
             Standard error also reports what cyclictest hides: overruns, and latencies \
             that were not printed in time. SIGUSR1 prints the current figures to standard error, \
             SIGUSR2 writes them to /dev/shm/cyclictestPID.",
    ),
    (
        "import",
        "Makes a run of each recording in the files, with the bins of the file. The original is \
             kept beside the run with its checksum, and what the file leaves open or contradicts is \
             a finding. docs/guide/import.md lists the formats.",
    ),
    (
        "export",
        "Writes a stored run in the format of another tool, to standard output or to a file that \
             does not exist yet. What the format cannot carry is one line each on standard error, \
             and a comment of the file where the format has comments. docs/guide/export.md lists \
             the formats.",
    ),
    (
        "fleet",
        "Keeps the runs of many boards in tables of Delta Lake, which can be rebuilt from the run \
             folders at any time, and answers questions over all of them with DuckDB or Apache Spark. \
             It is a part of the Python package: in a clone of latlab, `pip install \
             './python[fleet]'` after `make` installs it. `latlab fleet COMMAND --help` lists the options of a command; docs/guide/fleet.md describes queries and tables.",
    ),
    (
        "completions",
        "Prints the shell script that completes the commands and flags of latlab. `make \
             install` installs the same script.",
    ),
];

/// The name and content of a command's page.
pub fn man_page(command: &Command) -> (String, String) {
    let name = command.get_display_name().unwrap_or("latlab").to_string();
    let usage = command.clone().render_usage().to_string();
    let described = DESCRIPTIONS.iter().find(|(of, _)| *of == command.get_name());
    let about = described.map(|(_, text)| text.to_string());
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
    // The version is already in the footer, and the groups of options belong together.
    text.truncate(text.find(".SH VERSION").unwrap_or(text.len()));
    for heading in command.get_arguments().filter_map(|argument| argument.get_help_heading()) {
        for quote in ["", "\""] {
            let section = format!(".SH {quote}{}{quote}\n", heading.to_uppercase());
            text = text.replace(&section, &format!(".SS {quote}{heading}{quote}\n"));
        }
    }
    let mut more = Roff::new();
    // Subcommands of a command have no pages of their own; this page documents them.
    if command.get_name() != "latlab" && command.has_subcommands() {
        text.truncate(text.find(".SH COMMANDS").unwrap_or(text.len()));
        subcommands(&mut more, command);
    }
    sections(&mut more, command.get_name());
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

/// Exit codes, environment and files, as far as they concern the command.
fn sections(page: &mut Roff, command: &str) {
    match command {
        "watch" => {
            section(page, "EXIT STATUS", EXIT_STATUS_OF_WATCH);
            section(page, "ENVIRONMENT", ENVIRONMENT);
        }
        "latlab" | "run" => {
            section(page, "EXIT STATUS", EXIT_STATUS);
            section(page, "ENVIRONMENT", ENVIRONMENT);
            section(page, "FILES", &[RUN_FILES, STORED_FILES, OTHER_FILES].concat());
        }
        "doctor" => {
            section(page, "EXIT STATUS", EXIT_STATUS_OF_DOCTOR);
            section(page, "ENVIRONMENT", ENVIRONMENT);
        }
        "fleet" => section(page, "EXIT STATUS", EXIT_STATUS_OF_FLEET),
        "verify" => {
            section(page, "EXIT STATUS", EXIT_STATUS_OF_VERIFY);
            section(page, "ENVIRONMENT", ENVIRONMENT);
        }
        "respond" | "import" | "lab" => section(page, "EXIT STATUS", EXIT_STATUS),
        "compare" | "trend" => section(page, "EXIT STATUS", EXIT_STATUS_OF_COMPARISON),
        "cyclictest" => section(page, "EXIT STATUS", EXIT_STATUS_OF_CYCLICTEST),
        "list" | "show" | "explain" | "report" | "plot" | "export" | "serve" => {
            section(page, "EXIT STATUS", EXIT_STATUS_OF_READING);
            section(page, "ENVIRONMENT", ENVIRONMENT);
        }
        _ => section(page, "EXIT STATUS", EXIT_STATUS_OF_OTHERS),
    }
}

fn section(page: &mut Roff, title: &str, terms: &[(&str, &str)]) {
    page.control("SH", [title]);
    for (term, meaning) in terms {
        page.control("TP", []).text([bold(*term)]).text([roman(*meaning)]);
    }
}

/// Documents the subcommands: how each is called, and its options.
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

/// A section of preformatted lines.
fn as_it_is(page: &mut Roff, title: &str, text: &str) {
    page.control("SH", [title]).control("EX", []);
    for line in text.lines() {
        page.text([roman(line)]);
    }
    page.control("EE", []);
}

/// The examples of the help, and the text below them.
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
            // Exit codes have a separate section.
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
