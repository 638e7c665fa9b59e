//! What differs between the machines and the plans of two sides, as a part of the page.

use crate::page::folds::Fold;
use crate::page::markup::plural;
use latlab_model::comparison::{Comparison, FactChange, SettingChange};
use latlab_model::run_comparison::RunComparison;
use maud::{Markup, html};

/// All that is known to differ: facts, settings, kernel options by topic.
pub fn fold(of: &RunComparison) -> Fold {
    let settings = of.machines.as_ref().map_or(0, |one| one.settings.len());
    let options = of.machines.as_ref().map_or(0, options);
    let all = of.changes.len() + settings + options;
    let sum = match all {
        0 => "nothing is known to differ".to_string(),
        _ => format!(
            "{}, {}, {}",
            plural(of.changes.len(), "fact"),
            plural(settings, "setting"),
            plural(options, "kernel option")
        ),
    };
    Fold::new("changes", "What differs between the sides", content(of)).sum(Some(sum))
}

fn options(of: &Comparison) -> usize {
    of.config.iter().flatten().map(|topic| topic.options.len()).sum()
}

fn content(of: &RunComparison) -> Markup {
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
            p { (plural(of.not_compared.len(), "setting")) " could not be read on one side at least." }
        }
    }
}

/// A value of both sides.
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
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_string());
    html! {
        div.box { table.stacked.settings {
            caption { span { (what) "s that differ" } }
            thead { tr { th scope="col" { (what) } th scope="col" { "Base" } th scope="col" { "Candidate" } } }
            tbody { @for row in rows { tr {
                th scope="row" { (row.name) }
                td data-head="Base" { (value(&row.before)) }
                td data-head="Candidate" { (value(&row.after)) }
            } } }
        } }
    }
}
