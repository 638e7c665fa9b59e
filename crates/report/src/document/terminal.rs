//! Sections as terminal text.

use super::style::{Colour, Style, severity_colour};
use super::table::{Cell, Column, footnotes, kept, table, wrapped};
use super::{Block, Change, Changes, Item, KeyFigure, On, Section};

/// Column of an item's text, after its severity.
const ITEM: usize = 10;

/// The sections in at most `width` columns, separated by blank lines.
pub fn to_terminal(sections: &[Section], width: usize, style: Style) -> String {
    let drawn = sections.iter().map(|section| one(section, width, style));
    drawn.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn one(section: &Section, width: usize, style: Style) -> String {
    let blocks = section.blocks(|on| !matches!(on, On::Page | On::Document));
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
        Block::Figures(all) => table(figures(all), width, style),
        Block::Items(items) => items.iter().map(|one| item(one, width, style)).collect(),
        Block::Diagnoses(items) => items.iter().map(|one| diagnosis(one, width, style)).collect(),
        Block::Changes(all) => changes(all, width),
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

/// The figures next to each other, with their shares and intervals below.
pub fn figures(all: &[KeyFigure]) -> Vec<Column> {
    // Shares of something else stand behind their figure on a page only.
    let whole = all.iter().find(|one| one.share.is_some()).map(|one| one.whole);
    let whole = whole.filter(|_| all.first().is_some_and(|one| one.share.is_some()));
    let interval = all.iter().any(|one| one.interval.is_some()).then_some("95 % interval");
    let names = [Some(""), whole, interval].into_iter().flatten().map(str::to_string);
    let known = |text: &Option<String>| Cell::from(text.clone());
    let column = |one: &KeyFigure| {
        let share = whole.map(|_| known(&one.share));
        let interval = interval.map(|_| known(&one.interval));
        let cells = [Some(Cell::from(one.value.clone())), share, interval];
        Column::new(one.name, 0, cells.into_iter().flatten())
    };
    let first = Column::new("", 0, names).left();
    [first].into_iter().chain(all.iter().map(column)).collect()
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

/// Column of the details of a diagnosis, after their label.
const DETAIL: usize = 10;

/// A diagnosis, set off from others if it has details.
fn diagnosis(of: &Item, width: usize, style: Style) -> String {
    let Item { severity, text, code, reasons, remedies, .. } = of;
    let text = wrapped(&format!("{code}: {text}"), width, 4);
    let text = text.replacen(code, &style.paint(severity_colour(*severity), code), 1);
    let labelled = |label: &str, text: &str| {
        let label = style.paint(Colour::Dim, &format!("{:<4}", label.to_lowercase()));
        format!("    {label}  {text}\n")
    };
    let reasons =
        reasons.iter().map(|(label, text)| labelled(label, &wrapped(text, width, DETAIL)));
    // A command stays on one line, to be copied.
    let remedies = remedies.iter().map(|(label, line)| match line.is_command() {
        true => labelled(label, line.as_str()),
        false => labelled(label, &wrapped(line.as_str(), width, DETAIL)),
    });
    let details: String = reasons.chain(remedies).collect();
    let gap = if details.is_empty() { "" } else { "\n" };
    format!("{gap}  {text}\n{details}")
}

fn changes(of: &Changes, width: usize) -> String {
    let title = of.heading().map(|title| format!("  {title}:\n"));
    let indent = if title.is_some() { 4 } else { 2 };
    let (shown, more) = of.in_text();
    let shown: String = shown.iter().map(|one| change(one, indent, width)).collect();
    let more = (more > 0).then(|| format!("{:indent$}and {more} more\n", ""));
    title.unwrap_or_default() + &shown + &more.unwrap_or_default()
}

/// A value before and after, on one line if both fit, else on two.
fn change(of: &Change, indent: usize, width: usize) -> String {
    let Change { name, before, after, .. } = of;
    let line = format!("{:indent$}{name}: {} -> {}", "", of.words(before), of.words(after));
    if !of.is_partial && !line.contains('\n') && line.chars().count() <= width {
        return line + "\n";
    }
    let side = |mark: char, value: &Option<String>| {
        let lines = value.iter().flat_map(|value| value.lines());
        let lines = lines.map(|line| format!("    {mark} {}\n", wrapped(line, width, 6)));
        lines.collect::<String>()
    };
    format!("{:indent$}{name}:\n{}{}", "", side('-', before), side('+', after))
}
