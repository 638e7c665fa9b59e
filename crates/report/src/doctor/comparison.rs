//! What changed from one machine to another.

use super::{Detail, file, item, names, of_fact, of_option, of_setting};
use crate::document::style::Colour;
use crate::document::table::wrapped;
use crate::document::{Block, Change, Changes, Item, On, Section, to_terminal};
use crate::units::counted;
use latlab_doctor::comparison::{
    Comparison, ConfigChanges, ConfigTopic, FactChange, SettingChange,
};
use latlab_model::doctor::Diagnosis;
use latlab_model::run::Severity;

/// Options listed for each topic, unless verbose.
const LISTED_OPTIONS: usize = 12;

pub fn comparison(compared: &Comparison, detail: Detail) -> String {
    let Comparison { before, after, .. } = compared;
    let Detail { width, style, verbose } = detail;
    let sections = |all: Vec<Section>| to_terminal(&all, width, style);
    if compared.is_empty() {
        let said = format!("No changes from {before} to {after}.");
        let same = Section::new("same", "Changes").without_title().text(said);
        return sections([same].into_iter().chain(not_compared(compared, verbose)).collect());
    }
    let head = wrapped(&format!("Changes from {before} to {after}:"), width, 0);
    format!("{}\n\n{}", style.paint(Colour::Bold, &head), sections(all(compared, verbose)))
}

fn all(compared: &Comparison, verbose: bool) -> Vec<Section> {
    let parts = [
        changed(Section::new("facts", "Machine"), compared.machine.iter().map(of_fact).collect()),
        appeared(&compared.appeared, verbose),
        weighed(compared),
        gone(&compared.gone),
        settings(&compared.settings, verbose),
        options(compared.config.as_deref(), verbose),
        conditions(&compared.conditions),
        not_compared(compared, verbose),
        Some(total(compared)),
    ];
    parts.into_iter().flatten().collect()
}

fn changed(section: Section, rows: Vec<Change>) -> Option<Section> {
    (!rows.is_empty()).then(|| section.add(On::All, Block::Changes(Changes::new("Fact", rows))))
}

fn conditions(changes: &[FactChange]) -> Option<Section> {
    let section = Section::new("conditions", "Conditions, means over the runs");
    let row = |one: &FactChange| Change::new(&one.what, one.before.clone(), one.after.clone());
    changed(section, changes.iter().map(row).collect())
}

fn appeared(found: &[Diagnosis], verbose: bool) -> Option<Section> {
    let full = |one: &Diagnosis| one.severity > Severity::Info || verbose;
    let items: Vec<Item> = found.iter().map(|one| item(one, full(one))).collect();
    let section = Section::new("appeared", "New findings");
    (!items.is_empty()).then(|| section.add(On::All, Block::Diagnoses(items)))
}

fn weighed(compared: &Comparison) -> Option<Section> {
    let rows = compared.weighed.iter().map(|one| {
        let (before, now) = (one.before.to_string(), one.now.severity.to_string());
        Change::new(&one.now.code, Some(before), Some(now))
    });
    changed(Section::new("weighed", "Findings with another severity"), rows.collect())
}

fn gone(found: &[Diagnosis]) -> Option<Section> {
    let items: Vec<Item> = found.iter().map(|one| item(one, false)).collect();
    let section = Section::new("gone", "Findings that disappeared");
    (!items.is_empty()).then(|| section.add(On::All, Block::Diagnoses(items)))
}

fn settings(changes: &[SettingChange], verbose: bool) -> Option<Section> {
    let is_lone = |one: &&SettingChange| !one.partly && one.before.is_some() != one.after.is_some();
    let (lone, both): (Vec<&SettingChange>, Vec<&SettingChange>) =
        changes.iter().partition(is_lone);
    let listed = |title: &str, is_it: fn(&SettingChange) -> bool| {
        let mut files: Vec<String> =
            lone.iter().filter(|one| is_it(one)).map(|one| format!("/{}", one.file)).collect();
        files.dedup();
        (!files.is_empty()).then(|| format!("{title}: {}", names(&files, verbose)))
    };
    let only = [
        listed("Only before", |one| one.after.is_none()),
        listed("Only now", |one| one.before.is_none()),
    ];
    let rows: Vec<Change> = both.into_iter().map(of_setting).collect();
    let only: Vec<String> = only.into_iter().flatten().collect();
    let section = Section::new("settings", "Settings");
    let section = match rows.is_empty() {
        true => section,
        false => section.add(On::All, Block::Changes(Changes::new("Setting", rows))),
    };
    section.list(only).or_nothing()
}

fn options(topics: Option<&[ConfigChanges]>, verbose: bool) -> Option<Section> {
    let section = Section::new("options", "Kernel options");
    let Some(topics) = topics else {
        let said = "The kernel options of one or both are not known.";
        return Some(section.without_title().text(said));
    };
    let (listed, only_counted): (Vec<_>, Vec<_>) =
        topics.iter().partition(|one| one.topic.matters());
    let of_topic = |section: Section, one: &ConfigChanges| {
        let rows: Vec<Change> = one.options.iter().map(of_option).collect();
        let shown = if verbose { rows.len() } else { LISTED_OPTIONS };
        let changes = Changes::new("Option", rows).titled(title(one.topic)).first(shown);
        section.add(On::All, Block::Changes(changes))
    };
    let section = listed.into_iter().fold(section, of_topic);
    let counts =
        only_counted.iter().map(|one| format!("{} {}", title(one.topic), one.options.len()));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let line = format!("counted only: {counts}; --format json lists them");
    section.list(Vec::from_iter((!counts.is_empty()).then_some(line))).or_nothing()
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

fn not_compared(compared: &Comparison, verbose: bool) -> Option<Section> {
    let files: Vec<String> = compared.not_compared.iter().map(|path| file(path)).collect();
    let text = format!(
        "Not compared, because one of the two could not be read: {}. A finding that disappeared may \
         depend on such a file.",
        names(&files, verbose)
    );
    let section = Section::new("not-compared", "Not compared").without_title();
    (!files.is_empty()).then(|| section.text(text))
}

fn total(compared: &Comparison) -> Section {
    let options = compared.config.iter().flatten().map(|one| one.options.len()).sum::<usize>();
    let all = [
        (compared.machine.len(), "fact", "facts"),
        (compared.appeared.len(), "new finding", "new findings"),
        (compared.gone.len(), "finding that disappeared", "findings that disappeared"),
        (compared.weighed.len(), "other severity", "other severities"),
        (compared.settings.len(), "setting", "settings"),
        (options, "kernel option", "kernel options"),
        (compared.conditions.len(), "condition", "conditions"),
    ];
    let some = all.into_iter().filter(|(count, _, _)| *count > 0);
    let some = some.map(|(count, one, many)| counted(count as u64, one, many));
    let text = format!("Total: {}.", some.collect::<Vec<_>>().join(", "));
    Section::new("total", "Total").without_title().text(text)
}
