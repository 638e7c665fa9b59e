//! Sections as terminal text.

use super::style::{Colour, Style, severity_colour};
use super::table::{footnotes, kept, table, wrapped};
use super::{Block, Item, On, Section};

/// Column of an item's text, after its severity.
const ITEM: usize = 10;

/// The sections in at most `width` columns, separated by blank lines.
pub fn to_terminal(sections: &[Section], width: usize, style: Style) -> String {
    let drawn = sections.iter().map(|section| one(section, width, style));
    drawn.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn one(section: &Section, width: usize, style: Style) -> String {
    let blocks = section.blocks(|on| on != On::Page);
    if blocks.is_empty() {
        return String::new();
    }
    let heading = section.heading();
    let mut text = heading.map(|text| wrapped(&text, width, 0) + "\n").unwrap_or_default();
    let mut after_table = false;
    for block in blocks {
        // Keep a second table apart from the first.
        let is_table = matches!(block, Block::Table(_));
        text += if after_table && is_table { "\n" } else { "" };
        after_table = is_table;
        text += &drawn(block, width, style);
    }
    text
}

fn drawn(block: &Block, width: usize, style: Style) -> String {
    match block {
        Block::Text(text) => wrapped(text, width, 0) + "\n",
        Block::Sentences(all) => all.iter().map(|text| wrapped(text, width, 2) + "\n").collect(),
        Block::Table(one) => {
            let title = one.title.as_ref().map(|title| wrapped(title, width, 0) + "\n");
            let columns = kept(one.columns.clone(), width);
            let notes = footnotes(&columns).map(|text| wrapped(text, width, 0) + "\n");
            let notes: String = notes.collect();
            title.unwrap_or_default() + &table(columns, width, style) + &notes
        }
        Block::Items(items) => items.iter().map(|one| item(one, width, style)).collect(),
        Block::List(name, facts) if name.is_empty() => {
            facts.iter().map(|fact| format!("  {}\n", wrapped(fact, width, 4))).collect()
        }
        Block::List(name, facts) => {
            let facts = facts.iter().map(|fact| format!("    {}\n", wrapped(fact, width, 6)));
            format!("  {}\n{}", style.paint(Colour::Bold, name), facts.collect::<String>())
        }
        Block::Command(line) => format!("  {line}\n"),
        Block::Chart(chart) => chart.characters.clone(),
        Block::Folded(_, blocks) => blocks.iter().map(|one| drawn(one, width, style)).collect(),
        Block::Output(text) => text.lines().map(|line| format!("  {line}\n")).collect(),
    }
}

fn item(of: &Item, width: usize, style: Style) -> String {
    let Item { severity, text, code, place, remedy, .. } = of;
    let word = style.paint(severity_colour(*severity), &format!("{severity:<7}"));
    let place = place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
    let text = wrapped(&format!("{text}{place} [{code}]"), width, ITEM);
    // A command stays on one line, to be copied.
    let remedy = remedy.as_ref().map(|remedy| match remedy.is_command() {
        true => format!("{:ITEM$}-> {remedy}\n", ""),
        false => format!("{:ITEM$}-> {}\n", "", wrapped(remedy.as_str(), width, ITEM + 3)),
    });
    format!("  {word} {text}\n{}", remedy.unwrap_or_default())
}
