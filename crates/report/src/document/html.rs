//! Sections as parts of a page, each collapsed under its title, preceded by a table of contents.
//! The anchor of a section is inside its `<details>`, so that a browser opens it on following a
//! link, without a script.

use super::outline::{Outline, firm, prose};
use super::table::{Column, Table, markup};
use super::{Block, Changes, Item, KeyFigure, On, Section};
use crate::units::with_fixed_spaces;
use latlab_model::shell::Line;
use maud::{Markup, html};

pub fn folds(outline: &Outline, all: &[Section]) -> Markup {
    let shown = || all.iter().filter(|one| !one.blocks(is_on_page).is_empty());
    html! {
        nav.contents aria-label="Contents" {
            @for one in shown() { a href={ "#" (outline.id(one.name)) } { (one.title) } }
        }
        @for one in shown() { (fold(outline, one)) }
    }
}

fn fold(outline: &Outline, section: &Section) -> Markup {
    let title = format!("{}-title", section.name);
    html! {
        details.fold {
            summary {
                (outline.title(&title, html! { (section.title) }))
                @if let Some(sum) = &section.sum { span.sum { (with_fixed_spaces(sum)) } }
            }
            section id=(outline.id(section.name)) aria-labelledby=(outline.id(&title)) { (content(section)) }
        }
    }
}

/// A section that is not collapsed, with its heading.
pub fn open(outline: &Outline, section: &Section) -> Markup {
    outline.section(section.name, &section.title, content(section))
}

/// Sections that are not collapsed; those without a title have no heading.
pub fn opened(outline: &Outline, all: &[Section]) -> Markup {
    html! {
        @for one in all.iter().filter(|one| !one.blocks(is_on_page).is_empty()) {
            @if one.title.is_empty() { (content(one)) } @else { (open(outline, one)) }
        }
    }
}

/// A section without its heading.
pub fn content(section: &Section) -> Markup {
    html! { @for block in section.blocks(is_on_page) { (drawn(block)) } }
}

fn is_on_page(on: On) -> bool {
    matches!(on, On::All | On::Page | On::Document)
}

fn drawn(block: &Block) -> Markup {
    html! {
        @match block {
            Block::Text(text) => p { (prose(text)) },
            Block::Sentences(all) => @for text in all { p { (prose(text)) } },
            Block::Table(table) => (markup(table)),
            Block::Changes(all) => (changes(all)),
            Block::Figures(all) => dl.facts { @for one in all { (figure(one)) } },
            Block::Items(items) | Block::Diagnoses(items) => ul.findings { @for one in items { (item(one)) } },
            Block::List(name, facts) => {
                @if !name.is_empty() { p { strong { (name) } } }
                ul { @for fact in facts { li { (prose(fact)) } } }
            },
            Block::Command(line) => pre { code { (line) } },
            Block::Chart(chart) => (chart.html),
            Block::Output(text) => pre { (text) },
            Block::Folded(title, blocks) => details { summary { (title) } @for one in blocks { (drawn(one)) } },
        }
    }
}

fn figure(of: &KeyFigure) -> Markup {
    let KeyFigure { name, value, share, whole, interval, is_over } = of;
    html! {
        div class=[is_over.then_some("over")] {
            dt { (name) }
            dd {
                (firm(value))
                @if let Some(share) = share { small { (firm(share)) " " (whole) } }
                @if let Some(interval) = interval { small { "95 %: " (with_fixed_spaces(interval)) } }
            }
        }
    }
}

/// A table; collapsed if it has a title.
fn changes(of: &Changes) -> Markup {
    let columns = vec![
        Column::new(&of.what.to_lowercase(), 0, of.rows.iter().map(|one| one.name.clone())).left(),
        Column::new("base", 0, of.rows.iter().map(|one| one.words(&one.before))).left(),
        Column::new("candidate", 0, of.rows.iter().map(|one| one.words(&one.after))).left(),
    ];
    let table = markup(&Table::new(format!("{}s that differ", of.what), columns).stacked());
    html! {
        @match of.heading() {
            Some(title) => details { summary { (title) } (table) },
            None => (table),
        }
    }
}

fn item(of: &Item) -> Markup {
    html! {
        li class=(of.severity) {
            p {
                span.tag { (of.severity) (of.effect) }
                " " span.where {
                    code { (of.code) }
                    @if let Some(place) = &of.place {
                        // Scripts turn a place with a time into a link to that time.
                        " · " span data-at=[of.since_start.as_deref()] { (with_fixed_spaces(place)) }
                    }
                }
            }
            p { (prose(&of.text)) }
            @if let Some(remedy) = &of.remedy { p.remedy { strong { "Remedy: " } (prose(remedy.as_str())) } }
            @if !of.reasons.is_empty() {
                dl.reasons {
                    @for (label, text) in &of.reasons { dt { (label) } dd { (prose(text)) } }
                    @for (label, line) in &of.remedies { dt { (label) } dd { (command_or_text(line)) } }
                }
            }
        }
    }
}

/// A command stays as it is, to be copied.
fn command_or_text(line: &Line) -> Markup {
    html! { @if line.is_command() { pre { code { (line) } } } @else { (prose(line.as_str())) } }
}
