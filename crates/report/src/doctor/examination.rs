//! The doctor's report on a machine.

use super::{file, item, names};
use crate::document::style::{Colour, Style, severity_colour};
use crate::document::table::wrapped;
use crate::document::{Block, Item, On, Section, to_terminal};
use crate::facts::kernel_words;
use crate::units::counted;
use latlab_model::doctor::{CheckEntry, Diagnosis, Examination};
use latlab_model::machine::Machine;
use latlab_model::run::Severity;
use latlab_model::shell;
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

/// What could not be examined, and all findings, heaviest first. `left_out` is the number of
/// findings filtered out.
pub fn examination(
    examined: &Examination,
    subject: Subject<'_>,
    left_out: usize,
    detail: Detail,
) -> String {
    let Detail { width, style, verbose } = detail;
    let groups = [Severity::Error, Severity::Warning, Severity::Info]
        .map(|severity| group(examined, severity, verbose));
    let sections: Vec<Section> = [unreadable(&examined.unreadable, verbose)]
        .into_iter()
        .chain(groups)
        .flatten()
        .chain([next(examined, subject, left_out, verbose)])
        .collect();
    let head = head(&examined.machine, subject, detail);
    format!("{head}\n{}", to_terminal(&sections, width, style))
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

fn group(examined: &Examination, severity: Severity, verbose: bool) -> Option<Section> {
    let found: Vec<&Diagnosis> =
        examined.findings.iter().filter(|finding| finding.severity == severity).collect();
    let (name, title) = match severity {
        Severity::Error => ("errors", "Errors"),
        Severity::Warning => ("warnings", "Warnings"),
        Severity::Info => ("information", "Information"),
    };
    let is_full = severity > Severity::Info || verbose;
    let items: Vec<Item> = found.iter().map(|one| item(one, is_full)).collect();
    let section = Section::new(name, title).sum(Some(found.len().to_string()));
    (!items.is_empty()).then(|| section.add(On::All, Block::Diagnoses(items)))
}

fn unreadable(files: &BTreeMap<String, String>, verbose: bool) -> Option<Section> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, reason) in files {
        reasons.entry(reason).or_default().push(file(path));
    }
    let each = reasons.into_iter();
    let each = each.map(|(reason, files)| format!("{reason}: {}", names(&files, verbose)));
    let them = if files.len() == 1 { "it" } else { "them" };
    let said = format!(
        "{} could not be read; checks that need {them} were not made:",
        counted(files.len() as u64, "file", "files")
    );
    let section = Section::new("unreadable", "Not examined").without_title().text(said);
    (!files.is_empty()).then(|| section.list(each.collect()))
}

/// The counts, and what to do next.
fn next(examined: &Examination, subject: Subject<'_>, left_out: usize, verbose: bool) -> Section {
    let count = |severity: Severity| {
        examined.findings.iter().filter(|finding| finding.severity == severity).count() as u64
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let infos = count(Severity::Info);
    let mut text = match examined.findings.len() {
        0 => "No findings.".to_string(),
        _ => format!(
            "{}, {}, {infos} of severity info.",
            counted(errors, "error", "errors"),
            counted(warnings, "warning", "warnings")
        ),
    };
    if infos > 0 && !verbose {
        text += " Use -v for reasons and remedies.";
    }
    if left_out > 0 {
        let them = counted(left_out as u64, "finding was", "findings were");
        text += &format!(" {them} left out by --only or --ignore.");
    }
    text += match (subject, errors + warnings) {
        (Subject::Here, 0) => " Next: `latlab run --for 60s --deadline 1ms`.",
        (Subject::Here, _) => {
            " Fix the first one, run `latlab doctor` again, then measure: `latlab run --for 60s \
             --deadline 1ms`."
        }
        (Subject::Run(_), _) => " To see later changes:",
        (Subject::Elsewhere(_), _) => "",
    };
    let section = Section::new("next", "Next").without_title().text(text);
    match subject {
        Subject::Run(id) => {
            section.add(On::All, Block::Command(shell::latlab("doctor --against", id)))
        }
        _ => section,
    }
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
