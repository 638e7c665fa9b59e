//! Sections in GitHub Markdown. Names and texts come from the machine and from users, so all are
//! escaped.

use super::terminal::figures;
use super::{Block, Change, Changes, Item, On, Section, table};
use latlab_model::sanitize::escape_lines;
use latlab_model::shell::Line;

/// The sections, separated by blank lines.
pub fn to_markdown(sections: &[Section]) -> String {
    let drawn = sections.iter().map(one);
    drawn.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn one(section: &Section) -> String {
    let blocks = section.blocks(|on| matches!(on, On::All | On::Text | On::Document));
    if blocks.is_empty() {
        return String::new();
    }
    let heading = section.heading().map(|text| format!("{}\n", escaped(&text)));
    let blocks = blocks.into_iter().map(drawn).filter(|text| !text.is_empty());
    heading.into_iter().chain(blocks).collect::<Vec<_>>().join("\n")
}

fn drawn(block: &Block) -> String {
    match block {
        Block::Text(text) => paragraph(text),
        Block::Sentences(all) if all.len() == 1 => paragraph(&all[0]),
        Block::Sentences(all) => all.iter().map(|text| format!("- {}\n", escaped(text))).collect(),
        Block::Table(one) => {
            let title = one.title.as_ref().map(|title| format!("{}\n\n", escaped(title)));
            let notes = table::footnotes(&one.columns).map(|text| format!("\n{}\n", escaped(text)));
            title.unwrap_or_default() + &table::markdown(&one.columns) + &notes.collect::<String>()
        }
        Block::Figures(all) => table::markdown(&figures(all)),
        Block::Items(items) | Block::Diagnoses(items) => items.iter().map(item).collect(),
        Block::Changes(all) => changes(all),
        Block::List(name, facts) => {
            let facts = facts.iter().map(|fact| format!("- {}\n", escaped(fact)));
            let name = Some(name).filter(|name| !name.is_empty());
            let name = name.map(|name| format!("**{}**\n\n", escaped(name)));
            name.into_iter().chain(facts).collect()
        }
        Block::Command(line) => fenced(line.as_str()),
        Block::Output(text) => fenced(text),
        Block::Folded(title, blocks) => {
            let blocks: String = blocks.iter().map(drawn).collect();
            format!("<details><summary>{}</summary>\n\n{blocks}\n</details>\n", escaped(title))
        }
        Block::Chart(_) => String::new(),
    }
}

fn item(of: &Item) -> String {
    let place = of.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
    let remedy = of.remedy.as_ref().map(|line| format!(" → {}", code_or_text(line)));
    format!(
        "- **{}**: {} \\[{}\\]{}\n",
        of.severity,
        escaped(&format!("{}{place}", of.text)),
        escaped(&of.code),
        remedy.unwrap_or_default()
    )
}

fn changes(of: &Changes) -> String {
    let title = of.heading().map(|title| format!("**{}**\n\n", escaped(&title)));
    let (shown, more) = of.in_text();
    let line = |one: &Change| {
        let (before, after) = (one.words(&one.before), one.words(&one.after));
        format!("- {}\n", escaped(&format!("{}: {before} -> {after}", one.name)))
    };
    let more = (more > 0).then(|| format!("- and {more} more\n"));
    title.into_iter().chain(shown.iter().map(line)).chain(more).collect()
}

/// A paragraph whose first character cannot start a list, a heading or a rule.
fn paragraph(text: &str) -> String {
    let text = escaped(text);
    match text.starts_with(|c: char| !c.is_alphanumeric()) {
        true => format!("\\{text}\n"),
        false if text.is_empty() => text,
        false => format!("{text}\n"),
    }
}

/// Text as a code block that its content cannot close.
fn fenced(text: &str) -> String {
    let text = escape_lines(text);
    let fence = fence(&text, 3);
    format!("{fence}sh\n{text}\n{fence}\n")
}

/// A command as code that its content cannot close, a sentence as text.
fn code_or_text(line: &Line) -> String {
    if !line.is_command() {
        return escaped(line.as_str());
    }
    let fence = fence(line.as_str(), 1);
    format!("{fence} {line} {fence}")
}

/// A fence longer than any run of backticks in the text.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(least))
}

/// Escapes text for a paragraph, a list or a table cell.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut before = ' ';
    for c in escape_lines(text).chars() {
        match c {
            '\n' => safe.push(' '),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$'
            | '!' => {
                safe.extend(['\\', c]);
            }
            // GitHub links #1 and @name even if they are escaped.
            c if matches!(before, '#' | '@') && c.is_alphanumeric() => {
                safe.push_str("<!-- -->");
                safe.push(c);
            }
            c => safe.push(c),
        }
        before = c;
    }
    safe
}
