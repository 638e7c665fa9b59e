//! How the machines and plans of two sides differ, in full.

use super::ComparedSides;
use crate::doctor::{of_fact, of_option, of_setting};
use crate::document::{Block, Changes, On, Section};
use crate::units::counted;
use latlab_doctor::comparison::Comparison;

/// Summary: the number of differing facts, settings and kernel options.
pub fn sum(of: &ComparedSides) -> Option<String> {
    let settings = of.machines.as_ref().map_or(0, |one| one.settings.len());
    let options = of.machines.as_ref().map_or(0, options);
    let all = of.changes.len() + settings + options;
    (all > 0).then(|| {
        format!(
            "{}, {}, {}",
            counted(of.changes.len() as u64, "fact", "facts"),
            counted(settings as u64, "setting", "settings"),
            counted(options as u64, "kernel option", "kernel options")
        )
    })
}

fn options(of: &Comparison) -> usize {
    of.config.iter().flatten().map(|topic| topic.options.len()).sum()
}

/// Adds all differences, kernel options by topic, to the page.
pub fn listed(section: Section, of: &ComparedSides) -> Section {
    let section = match of.changes.is_empty() {
        true => said(section, "Machines, loads and methods are the same, as far as is known."),
        false => changes(section, Changes::new("Fact", of.changes.iter().map(of_fact).collect())),
    };
    match &of.machines {
        None => said(section, "Settings are not compared: a side has no snapshot of its machine."),
        Some(machines) => of_machines(section, machines),
    }
}

fn of_machines(section: Section, of: &Comparison) -> Section {
    let first = format!(
        "Settings and kernel options are those of the first run of each side: {} and {}.",
        of.before, of.after
    );
    let mut section = said(section, &first);
    if !of.settings.is_empty() {
        let rows = of.settings.iter().map(of_setting).collect();
        section = changes(section, Changes::new("Setting", rows));
    }
    section = match &of.config {
        None => said(section, "Kernel options are not compared: one side does not have them."),
        Some(topics) => topics.iter().fold(section, |section, topic| {
            let rows = topic.options.iter().map(of_option).collect();
            let title = format!("Kernel options: {}", topic.topic);
            changes(section, Changes::new("Option", rows).titled(title))
        }),
    };
    let unread = counted(of.not_compared.len() as u64, "setting", "settings");
    match of.not_compared.is_empty() {
        true => section,
        false => said(section, &format!("{unread} could not be read on one side at least.")),
    }
}

fn said(section: Section, text: &str) -> Section {
    section.add(On::Page, Block::Text(text.to_string()))
}

fn changes(section: Section, all: Changes) -> Section {
    section.add(On::Page, Block::Changes(all))
}
