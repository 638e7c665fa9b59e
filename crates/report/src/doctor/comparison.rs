//! What changed from one machine to another, for the terminal.

use super::{Detail, block, file, headline, names};
use crate::document::style::Colour;
use crate::document::table::wrapped;
use crate::units::bytes;
use latlab_doctor::comparison::{
    Comparison, ConfigChanges, ConfigTopic, FactChange, SettingChange,
};
use latlab_model::run::Severity;

/// Options listed for each topic, unless verbose.
const LISTED_OPTIONS: usize = 12;

pub fn comparison(compared: &Comparison, detail: Detail) -> String {
    let Comparison { before, after, .. } = compared;
    if compared.is_empty() {
        let said = format!("No changes from {before} to {after}.");
        return format!("{}\n{}", wrapped(&said, detail.width, 0), not_compared(compared, detail));
    }
    let head = wrapped(&format!("Changes from {before} to {after}:"), detail.width, 0);
    let parts = [
        format!("{}\n", detail.style.paint(Colour::Bold, &head)),
        facts(&compared.machine, detail),
        findings(compared, detail),
        settings(&compared.settings, detail),
        options(compared.config.as_deref(), detail),
        conditions(&compared.conditions, detail),
        not_compared(compared, detail),
        counts(compared, detail),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn heading(title: &str, detail: Detail) -> String {
    format!("{}:\n", detail.style.paint(Colour::Bold, title))
}

fn facts(changes: &[FactChange], detail: Detail) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let each = changes.iter().map(|change| {
        let FactChange { what, before, after } = change;
        match what.strip_suffix("_bytes") {
            Some(name) => change_lines(name, &sized(before), &sized(after), "none", detail),
            None => change_lines(&what.replace('_', " "), before, after, "none", detail),
        }
    });
    heading("Machine", detail) + &each.collect::<String>()
}

fn conditions(changes: &[FactChange], detail: Detail) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let each = changes.iter().map(|FactChange { what, before, after }| {
        change_lines(what, before, after, "none", detail)
    });
    heading("Conditions, means over the runs", detail) + &each.collect::<String>()
}

fn sized(count: &Option<String>) -> Option<String> {
    let text = count.as_ref()?;
    Some(text.parse().map_or_else(|_| text.clone(), bytes))
}

/// A value before and after, on one line if both fit, else on two.
fn change_lines(
    name: &str,
    before: &Option<String>,
    after: &Option<String>,
    none: &str,
    detail: Detail,
) -> String {
    let text = |value: &Option<String>| match value.as_deref() {
        None => none.to_string(),
        Some("") => "(empty)".to_string(),
        Some(text) => text.to_string(),
    };
    let line = format!("  {name}: {} -> {}", text(before), text(after));
    if !line.contains('\n') && line.chars().count() <= detail.width {
        return line + "\n";
    }
    sides(name, before, after, detail)
}

/// A value before and after, on two lines.
fn sides(name: &str, before: &Option<String>, after: &Option<String>, detail: Detail) -> String {
    let side = |mark: char, value: &Option<String>| {
        let lines = value.iter().flat_map(|value| value.lines());
        let lines = lines.map(|line| format!("    {mark} {}\n", wrapped(line, detail.width, 6)));
        lines.collect::<String>()
    };
    format!("  {name}:\n{}{}", side('-', before), side('+', after))
}

fn findings(compared: &Comparison, detail: Detail) -> String {
    let mut text = String::new();
    if !compared.appeared.is_empty() {
        text += &heading("New findings", detail);
        for finding in &compared.appeared {
            let full = finding.severity > Severity::Info || detail.verbose;
            text += &if full { block(finding, detail) } else { headline(finding, detail) };
        }
    }
    if !compared.weighed.is_empty() {
        text += if text.is_empty() { "" } else { "\n" };
        text += &heading("Findings with another severity", detail);
        for weighed in &compared.weighed {
            let (before, now) = (weighed.before.to_string(), weighed.now.severity.to_string());
            text += &change_lines(&weighed.now.code, &Some(before), &Some(now), "none", detail);
        }
    }
    if !compared.gone.is_empty() {
        text += if text.is_empty() { "" } else { "\n" };
        text += &heading("Findings that disappeared", detail);
        text += &compared.gone.iter().map(|one| headline(one, detail)).collect::<String>();
    }
    text
}

fn settings(changes: &[SettingChange], detail: Detail) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let name = |change: &SettingChange| match &change.of {
        Some(of) => format!("/{} ({of})", change.file),
        None => format!("/{}", change.file),
    };
    let is_lone = |one: &&SettingChange| !one.partly && one.before.is_some() != one.after.is_some();
    let (lone, both): (Vec<_>, Vec<_>) = changes.iter().partition(is_lone);
    let both = both.into_iter();
    let line = |one: &SettingChange| match one.partly {
        true => sides(&name(one), &one.before, &one.after, detail),
        false => change_lines(&name(one), &one.before, &one.after, "none", detail),
    };
    let mut text: String = both.map(line).collect();
    let lone = [
        ("Only before", lone.iter().filter(|one| one.after.is_none()).collect::<Vec<_>>()),
        ("Only now", lone.iter().filter(|one| one.before.is_none()).collect()),
    ];
    for (title, files) in lone.into_iter().filter(|(_, files)| !files.is_empty()) {
        let mut files: Vec<String> =
            files.into_iter().map(|one| format!("/{}", one.file)).collect();
        files.dedup();
        let listed = format!("{title}: {}", names(&files, detail.verbose));
        text += &format!("  {}\n", wrapped(&listed, detail.width, 4));
    }
    heading("Settings", detail) + &text
}

fn options(topics: Option<&[ConfigChanges]>, detail: Detail) -> String {
    let Some(topics) = topics else {
        return "The kernel options of one or both are not known.\n".to_string();
    };
    if topics.is_empty() {
        return String::new();
    }
    let mut text = heading("Kernel options", detail);
    let (listed, counted): (Vec<_>, Vec<_>) = topics.iter().partition(|one| one.topic.matters());
    for ConfigChanges { topic, options } in listed {
        text += &format!("  {} ({}):\n", title(*topic), options.len());
        let shown = if detail.verbose { options.len() } else { LISTED_OPTIONS };
        for option in options.iter().take(shown) {
            let (name, none) = (format!("  {}", option.what), "not set");
            text += &change_lines(&name, &option.before, &option.after, none, detail);
        }
        if options.len() > shown {
            text += &format!("    and {} more\n", options.len() - shown);
        }
    }
    if !counted.is_empty() {
        let counts =
            counted.iter().map(|one| format!("{} {}", title(one.topic), one.options.len()));
        let counts = counts.collect::<Vec<_>>().join(", ");
        let counts = format!("counted only: {counts}; --format json lists them");
        text += &format!("  {}\n", wrapped(&counts, detail.width, 4));
    }
    text
}

fn title(topic: ConfigTopic) -> &'static str {
    match topic {
        ConfigTopic::Scheduling => "preemption and scheduling",
        ConfigTopic::Timers => "timers and tick",
        ConfigTopic::Rcu => "RCU",
        ConfigTopic::Power => "power and frequency",
        ConfigTopic::Security => "security and mitigations",
        ConfigTopic::FileSystems => "file systems",
        topic => topic.as_str(),
    }
}

fn not_compared(compared: &Comparison, detail: Detail) -> String {
    let files: Vec<String> = compared.not_compared.iter().map(|path| file(path)).collect();
    if files.is_empty() {
        return String::new();
    }
    let listed = names(&files, detail.verbose);
    let text = format!(
        "Not compared, because one of the two could not be read: {listed}. A finding that \
         disappeared may depend on such a file."
    );
    format!("{}\n", wrapped(&text, detail.width, 0))
}

fn counts(compared: &Comparison, detail: Detail) -> String {
    let options = compared.config.iter().flatten().map(|one| one.options.len()).sum::<usize>();
    let counted = [
        (compared.machine.len(), "fact", "facts"),
        (compared.appeared.len(), "new finding", "new findings"),
        (compared.gone.len(), "finding that disappeared", "findings that disappeared"),
        (compared.weighed.len(), "other severity", "other severities"),
        (compared.settings.len(), "setting", "settings"),
        (options, "kernel option", "kernel options"),
        (compared.conditions.len(), "condition", "conditions"),
    ];
    let counted = counted.into_iter().filter(|(count, _, _)| *count > 0);
    let counted = counted.map(|(n, one, many)| format!("{n} {}", if n == 1 { one } else { many }));
    let text = format!("Total: {}.", counted.collect::<Vec<_>>().join(", "));
    format!("{}\n", wrapped(&text, detail.width, 0))
}
