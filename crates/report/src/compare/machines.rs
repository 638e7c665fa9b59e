//! The page's section on how the machines and plans of two sides differ.

use super::ComparedSides;
use crate::document::table::{Column, Table, markup};
use crate::units::counted;
use latlab_doctor::comparison::{Comparison, FactChange, SettingChange};
use maud::{Markup, html};

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

/// All differences, kernel options by topic.
pub fn content(of: &ComparedSides) -> Markup {
    html! {
        @if of.changes.is_empty() { p { "Machines, loads and methods are the same, as far as is known." } }
        @else { (changes("Fact", of.changes.iter().map(Row::of_fact))) }
        @match &of.machines {
            None => p { "Settings are not compared: a side has no snapshot of its machine." },
            Some(machines) => (of_machines(machines)),
        }
    }
}

fn of_machines(of: &Comparison) -> Markup {
    html! {
        p { "Settings and kernel options are those of the first run of each side: " (of.before) " and " (of.after) "." }
        @if !of.settings.is_empty() { (changes("Setting", of.settings.iter().map(Row::of_setting))) }
        @match &of.config {
            None => p { "Kernel options are not compared: one side does not have them." },
            Some(topics) => @for topic in topics {
                details {
                    summary { "Kernel options: " (topic.topic) " (" (topic.options.len()) ")" }
                    (changes("Option", topic.options.iter().map(Row::of_fact)))
                }
            },
        }
        @if !of.not_compared.is_empty() {
            p { (counted(of.not_compared.len() as u64, "setting", "settings")) " could not be read on one side at least." }
        }
    }
}

struct Row {
    name: String,
    before: Option<String>,
    after: Option<String>,
}

impl Row {
    fn of_fact(one: &FactChange) -> Row {
        Row {
            name: one.what.replace('_', " "),
            before: one.before.clone(),
            after: one.after.clone(),
        }
    }

    fn of_setting(one: &SettingChange) -> Row {
        let of = one.of.as_ref().map(|of| format!(" ({of})"));
        Row {
            name: format!("/{}{}", one.file, of.unwrap_or_default()),
            before: one.before.clone(),
            after: one.after.clone(),
        }
    }
}

fn changes(what: &str, rows: impl Iterator<Item = Row>) -> Markup {
    let rows: Vec<Row> = rows.collect();
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_string());
    let columns = vec![
        Column::new(&what.to_lowercase(), 0, rows.iter().map(|row| row.name.clone())).left(),
        Column::new("base", 0, rows.iter().map(|row| value(&row.before))).left(),
        Column::new("candidate", 0, rows.iter().map(|row| value(&row.after))).left(),
    ];
    markup(&Table::new(format!("{what}s that differ"), columns).stacked())
}
