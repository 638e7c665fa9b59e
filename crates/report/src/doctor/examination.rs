//! The doctor's report on a machine, for the terminal.

use crate::document::style::{Colour, Style, severity_colour};
use crate::document::table::wrapped;
use crate::facts::kernel_words;
use latlab_model::doctor::{CheckEntry, Diagnosis, Examination};
use latlab_model::machine::Machine;
use latlab_model::run::Severity;
use latlab_model::shell::{self, Line};
use latlab_model::snapshot::made;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Default, Debug)]
pub struct Detail {
    /// Columns to fill, at least 80.
    pub width: usize,
    pub style: Style,
    pub verbose: bool,
}

/// The examined machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject<'a> {
    /// The machine latlab runs on.
    Here,
    /// The machine of a stored run.
    Run(&'a str),
    /// A snapshot or a folder.
    Elsewhere(&'a str),
}

/// File names listed unless verbose.
const NAMED_FILES: usize = 6;

/// Longer values are truncated, such as processor flags.
const LONGEST_VALUE: usize = 160;

/// What could not be examined, and all findings, heaviest first. `left_out` is the number of
/// findings filtered out.
pub fn examination(
    examined: &Examination,
    subject: Subject<'_>,
    left_out: usize,
    detail: Detail,
) -> String {
    let findings = |severity: Severity| group(examined, severity, detail);
    let parts = [
        head(&examined.machine, subject, detail),
        unreadable(&examined.unreadable, detail),
        findings(Severity::Error),
        findings(Severity::Warning),
        findings(Severity::Info),
        next(examined, subject, left_out, detail),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn head(machine: &Machine, subject: Subject<'_>, detail: Detail) -> String {
    let line = wrapped(&sentence(machine), detail.width, 0);
    let line = detail.style.paint(Colour::Bold, &line);
    let of = match subject {
        Subject::Here => return format!("{line}\n"),
        Subject::Run(id) => format!("Machine of run {id}:"),
        Subject::Elsewhere(path) => format!("Snapshot {path}:"),
    };
    format!("{}\n{line}\n", detail.style.paint(Colour::Dim, &wrapped(&of, detail.width, 0)))
}

/// The machine in one sentence.
fn sentence(machine: &Machine) -> String {
    let cpus = match (machine.cpus_online.len(), &machine.cpu_model) {
        (0, model) => model.clone(),
        (count, model) => {
            let plural = if count == 1 { "" } else { "s" };
            let known = machine.board.as_ref();
            let model = model.as_ref().filter(|model| known.is_none_or(|b| !b.contains(*model)));
            let model = model.map(|model| format!(" ({model})")).unwrap_or_default();
            Some(format!("{count} CPU{plural}{model}"))
        }
    };
    let what: Vec<String> = machine.board.clone().into_iter().chain(cpus).collect();
    let kernel = kernel_words(&machine.kernel, machine.preemption.as_deref());
    let isolated = match machine.cpus_isolated.is_empty() {
        true => "no CPU isolated".to_string(),
        false => format!("isolated CPUs {}", machine.cpus_isolated),
    };
    let known = !machine.kernel.is_empty();
    let parts = [
        (!what.is_empty()).then(|| what.join(", ")),
        known.then(|| format!("Linux {kernel}")),
        machine.virtualisation.clone(),
        known.then_some(isolated),
        machine.clocksource.as_ref().map(|name| format!("clocksource {name}")),
        machine.governor.as_ref().map(|name| format!("governor {name}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match (&machine.hostname, parts.is_empty()) {
        (_, true) => "Unknown machine.".to_string(),
        (Some(name), false) => format!("{name}: {}.", parts.join("; ")),
        (None, false) => format!("{}.", parts.join("; ")),
    }
}

fn group(examined: &Examination, severity: Severity, detail: Detail) -> String {
    let found: Vec<&Diagnosis> =
        examined.findings.iter().filter(|finding| finding.severity == severity).collect();
    if found.is_empty() {
        return String::new();
    }
    let short = severity == Severity::Info && !detail.verbose;
    let title = match severity {
        Severity::Error => "Errors",
        Severity::Warning => "Warnings",
        Severity::Info => "Information",
    };
    let heading = detail.style.paint(severity_colour(severity), title);
    let shown = found.iter().map(|finding| match short {
        true => headline(finding, detail),
        false => format!("\n{}", block(finding, detail)),
    });
    format!("{heading} ({}):\n{}", found.len(), shown.collect::<String>())
}

/// The observation with its code.
pub(crate) fn headline(finding: &Diagnosis, detail: Detail) -> String {
    let text = wrapped(&format!("{}: {}", finding.code, finding.text), detail.width, 4);
    let text = text.replacen(&finding.code, &detail.style.paint(Colour::Bold, &finding.code), 1);
    format!("  {text}\n")
}

pub(crate) fn block(finding: &Diagnosis, detail: Detail) -> String {
    let mut text = headline(finding, detail);
    text += &labelled("in", &place(finding), detail);
    text += &labelled("why", &finding.why, detail);
    text += &labelled("cost", &finding.cost, detail);
    let remedies = [("do", &finding.remedy), ("undo", &finding.undo)];
    for (label, remedy) in remedies {
        text += &remedy.as_ref().map_or_else(String::new, |line| instruction(label, line, detail));
    }
    text
}

/// The file, and its content unless the sentence says it.
fn place(finding: &Diagnosis) -> String {
    let file = file(&finding.file);
    let value = finding.value.lines().next().unwrap_or_default().trim();
    if value.is_empty() || finding.text.contains(value) {
        return file;
    }
    match value.chars().count() > LONGEST_VALUE {
        true => format!("{file}: {}…", value.chars().take(LONGEST_VALUE).collect::<String>()),
        false => format!("{file}: {value}"),
    }
}

/// The name shown for a file of a snapshot; some are not files of the kernel.
pub(crate) fn file(path: &str) -> String {
    match path {
        made::COALESCING => "ethtool -c".to_string(),
        made::KERNEL_CONFIG => "the kernel configuration".to_string(),
        made::KERNEL_LOG => "the kernel log".to_string(),
        made::THREADS => "the list of threads".to_string(),
        made::MACHINE => "uname -m".to_string(),
        made::THROTTLED => "vcgencmd get_throttled".to_string(),
        made::GPU_TEMPERATURE => "vcgencmd measure_temp".to_string(),
        path => format!("/{}", path.trim_start_matches('/')),
    }
}

/// Indent of the text below a finding.
const INDENT: usize = 10;

/// A remedy; a command is not wrapped, so that it can be copied.
fn instruction(label: &str, line: &Line, detail: Detail) -> String {
    match line.is_command() {
        true => unbroken(label, line.as_str(), detail),
        false => labelled(label, line.as_str(), detail),
    }
}

fn labelled(label: &str, text: &str, detail: Detail) -> String {
    unbroken(label, &wrapped(text, detail.width, INDENT), detail)
}

fn unbroken(label: &str, text: &str, detail: Detail) -> String {
    let label = detail.style.paint(Colour::Dim, &format!("{label:<4}"));
    format!("    {label}  {text}\n")
}

fn unreadable(files: &BTreeMap<String, String>, detail: Detail) -> String {
    if files.is_empty() {
        return String::new();
    }
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, reason) in files {
        reasons.entry(reason).or_default().push(file(path));
    }
    let each = reasons.into_iter().map(|(reason, files)| {
        let text = format!("{reason}: {}", names(&files, detail.verbose));
        format!("  {}\n", wrapped(&text, detail.width, 4))
    });
    let (files, them) = match files.len() {
        1 => ("1 file".to_string(), "it"),
        count => (format!("{count} files"), "them"),
    };
    let said = format!("{files} could not be read; checks that need {them} were not made:");
    let said = wrapped(&said, detail.width, 0);
    format!("{said}\n{}", each.collect::<String>())
}

/// The first names, and the number of the others.
pub(crate) fn names(all: &[String], verbose: bool) -> String {
    let shown = if verbose { all.len() } else { NAMED_FILES };
    let more = all.len().saturating_sub(shown);
    let listed = all.iter().take(shown).cloned().collect::<Vec<_>>().join(", ");
    if more == 0 { listed } else { format!("{listed} and {more} more") }
}

/// The counts, and what to do next.
fn next(examined: &Examination, subject: Subject<'_>, left_out: usize, detail: Detail) -> String {
    let count = |severity: Severity| {
        examined.findings.iter().filter(|finding| finding.severity == severity).count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let infos = count(Severity::Info);
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let mut text = match examined.findings.len() {
        0 => "No findings.".to_string(),
        _ => format!(
            "{errors} error{}, {warnings} warning{}, {infos} of severity info.",
            plural(errors),
            plural(warnings)
        ),
    };
    if infos > 0 && !detail.verbose {
        text += " Use -v for reasons and remedies.";
    }
    if left_out > 0 {
        let them = if left_out == 1 { "finding was" } else { "findings were" };
        text += &format!(" {left_out} {them} left out by --only or --ignore.");
    }
    text += &match (subject, errors + warnings) {
        (Subject::Here, 0) => " Next: `latlab run --for 60s --deadline 1ms`.".to_string(),
        (Subject::Here, _) => " Fix the first one, run `latlab doctor` again, then measure: \
                               `latlab run --for 60s --deadline 1ms`."
            .to_string(),
        (Subject::Run(id), _) => {
            return format!("{}\n", with_command(&text, id, detail));
        }
        (Subject::Elsewhere(_), _) => String::new(),
    };
    format!("{}\n", wrapped(&text, detail.width, 0))
}

/// The command stays on one line, to be copied.
fn with_command(text: &str, id: &str, detail: Detail) -> String {
    let command = shell::latlab("doctor --against", id);
    format!("{}\nTo see later changes: `{command}`.", wrapped(text, detail.width, 0))
}

/// The catalogue, a line or two for each entry.
pub fn catalogue(entries: &[CheckEntry], width: usize, style: Style) -> String {
    let longest = entries.iter().map(|entry| entry.code.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut topic = None;
    for entry in entries {
        if topic != Some(entry.topic) {
            let gap = if topic.is_some() { "\n" } else { "" };
            text += &format!("{gap}{}\n", style.paint(Colour::Bold, entry.topic.as_str()));
            topic = Some(entry.topic);
        }
        let severity = format!("{:<7}", entry.severity);
        let severity = style.paint(severity_colour(entry.severity), &severity);
        let title = wrapped(&entry.title, width, longest + 13);
        text += &format!("  {:<longest$}  {severity}  {title}\n", entry.code);
    }
    text
}
