//! docs/reference/doctor.md, from the catalogue of the doctor.

use super::{differs, folder};
use latlab_doctor::catalogue;
use latlab_model::doctor::{CheckEntry, Topic, is_command};

const HEAD: &str = "\
# What the doctor knows

`latlab doctor` looks for what is named here, and prints this list with `latlab doctor --list`. The
[guide](../guide/doctor.md) says how to read what it finds. This page is made from the catalogue by
`make reference`.

**Weight**: `info` is good to know, a `warning` may change the figures, an `error` makes figures
worthless or incomplete; what is seen may weigh more or less than the catalogue says. In commands
`{file}` stands for the file that was looked at, and `{value}` for what stood there: latlab prints
them filled in.
";

/// Invariant (documents): The reference of the doctor is generated from its checks.
#[test]
fn the_page_of_the_doctor_is_that_of_its_catalogue() {
    let entries: Vec<CheckEntry> = catalogue().map(|check| check.entry()).collect();
    let sections = Topic::ALL.iter().map(|topic| section(*topic, &entries));
    let page = format!("{HEAD}{}", sections.collect::<String>());
    assert!(
        !differs(&folder("doctor.md"), &page),
        "docs/reference/doctor.md is not what the catalogue says: `make reference` writes it anew"
    );
}

fn section(topic: Topic, entries: &[CheckEntry]) -> String {
    let of_it: Vec<&CheckEntry> = entries.iter().filter(|entry| entry.topic == topic).collect();
    if of_it.is_empty() {
        return String::new();
    }
    format!("\n## {}\n{}", title(topic), of_it.into_iter().map(entry_text).collect::<String>())
}

fn title(topic: Topic) -> &'static str {
    match topic {
        Topic::Kernel => "Preemption and scheduler",
        Topic::Timers => "Tick, clock source and timers",
        Topic::Cpu => "CPUs: frequency, idle states, siblings, isolation",
        Topic::Interrupts => "Interrupts",
        Topic::Memory => "Memory",
        Topic::Heat => "Heat, throttling and supply",
        Topic::Platform => "Hypervisor, container, firmware, board",
        Topic::Rights => "Rights",
        Topic::Tracing => "Tracing",
        Topic::Programs => "Programs that get in the way",
    }
}

fn entry_text(entry: &CheckEntry) -> String {
    let CheckEntry { code, severity, title, why, cost, remedy, undo, .. } = entry;
    let mut text = format!("\n### `{code}`: {title}\n\n");
    text += &filled(&format!("**{severity}** {why}"), "");
    text += &filled(&format!("Costs: {cost}"), "- ");
    for (label, remedy) in [("Do", remedy), ("Undo", undo)] {
        let Some(remedy) = remedy else { continue };
        text += &match is_command(remedy) {
            true => format!("- {label}: `{}`\n", remedy.replace('\n', "; ")),
            false => filled(&format!("{label}: {remedy}"), "- "),
        };
    }
    text
}

/// Text in lines of at most 100 characters, behind a mark.
pub(super) fn filled(text: &str, mark: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && mark.len() + line + 1 + word.chars().count() > 100 {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    let indent = " ".repeat(mark.len());
    let gap = if mark.is_empty() { "\n" } else { "" };
    format!("{mark}{}\n{gap}", lines.join(&format!("\n{indent}")))
}
