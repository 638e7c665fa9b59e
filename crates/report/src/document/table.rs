//! A table for the terminal. If it does not fit, it first drops columns of lower priority, then
//! wraps words, and finally prints each row as a paragraph.

use super::markdown::escaped;
use super::outline::{firm, with_breaks};
use super::style::{Colour, Style};
use crate::units::with_fixed_spaces;
use maud::{Markup, html};

/// Placeholder of an empty cell.
pub const NOTHING: &str = "-";
/// A table with more rows scrolls in its own box on a page.
const TALL: usize = 20;

#[derive(Clone)]
pub struct Table {
    pub columns: Vec<Column>,
    /// Title above the table in text output.
    pub title: Option<String>,
    /// What the figures mean, for a page.
    caption: String,
    /// Whether rows become paragraphs in a narrow window.
    is_stacked: bool,
    /// Whether the last row is the total.
    has_total: bool,
    /// Whether the ground of its cells has a meaning.
    is_of_cells: bool,
}

impl Table {
    pub fn new(caption: impl Into<String>, columns: Vec<Column>) -> Table {
        let caption = caption.into();
        Table {
            columns,
            title: None,
            caption,
            is_stacked: false,
            has_total: false,
            is_of_cells: false,
        }
    }

    pub fn titled(self, title: impl Into<String>) -> Table {
        Table { title: Some(title.into()), ..self }
    }

    pub fn stacked(self) -> Table {
        Table { is_stacked: true, ..self }
    }

    pub fn of_cells(self) -> Table {
        Table { is_of_cells: true, ..self }
    }

    pub fn with_total(self, has_total: bool) -> Table {
        Table { has_total, ..self }
    }
}

/// A cell: its main text, and notes that stand below in smaller type, or behind in parentheses.
#[derive(Clone, Default, Debug)]
pub struct Cell {
    pub text: String,
    notes: Vec<String>,
    /// Notes that weigh more: a verdict, a condition.
    words: Vec<String>,
    /// For a page: link target, tooltip and class.
    link: Option<String>,
    tip: Option<String>,
    class: Option<&'static str>,
    /// Class of the whole cell, whose text is then emphasised.
    ground: Option<&'static str>,
    colour: Option<Colour>,
}

impl Cell {
    pub fn note(self, note: Option<String>) -> Cell {
        self.notes(note)
    }

    pub fn notes(mut self, notes: impl IntoIterator<Item = String>) -> Cell {
        self.notes.extend(notes);
        self
    }

    pub fn words(mut self, words: impl IntoIterator<Item = String>) -> Cell {
        self.words.extend(words);
        self
    }

    pub fn ground(self, class: &'static str) -> Cell {
        Cell { ground: Some(class), ..self }
    }

    pub fn link(self, link: Option<String>) -> Cell {
        Cell { link, ..self }
    }

    pub fn tip(self, tip: Option<String>) -> Cell {
        Cell { tip, ..self }
    }

    /// A coloured word: a verdict.
    pub fn badge(self, class: &'static str, colour: Colour) -> Cell {
        Cell { class: Some(class), colour: Some(colour), ..self }
    }

    fn line(&self) -> String {
        let notes: Vec<&str> = self.notes.iter().chain(&self.words).map(String::as_str).collect();
        match (self.text.as_str(), notes.join(", ")) {
            (text, notes) if notes.is_empty() => text.to_string(),
            ("", notes) => notes,
            (text, notes) => format!("{text} ({notes})"),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell { text, ..Cell::default() }
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Cell {
        text.unwrap_or_else(|| NOTHING.to_string()).into()
    }
}

/// One column. `rank` 0 is never dropped; the highest rank is dropped first. Runs, kernels and
/// verdicts have rank 0.
#[derive(Clone)]
pub struct Column {
    head: String,
    unit: &'static str,
    cells: Vec<Cell>,
    left: bool,
    rank: u8,
    /// Tooltip of a page.
    about: Option<&'static str>,
    /// Explains the column below the table, unless the column was dropped.
    footnote: Option<&'static str>,
}

impl Column {
    /// A column of numbers, right-aligned.
    pub fn new<C: Into<Cell>>(head: &str, rank: u8, cells: impl IntoIterator<Item = C>) -> Column {
        let cells = cells.into_iter().map(Into::into).collect();
        Column {
            head: head.to_string(),
            unit: "",
            cells,
            left: false,
            rank,
            about: None,
            footnote: None,
        }
    }

    /// Puts a unit below the head.
    pub fn unit(self, unit: &'static str) -> Column {
        Column { unit, ..self }
    }

    /// Left-aligned, for words.
    pub fn left(self) -> Column {
        Column { left: true, ..self }
    }

    pub(crate) fn about(self, about: &'static str) -> Column {
        Column { about: Some(about), ..self }
    }

    pub(crate) fn footnote(self, text: &'static str) -> Column {
        Column { footnote: Some(text), ..self }
    }

    pub(crate) fn head(&self) -> &str {
        &self.head
    }

    /// Whether all cells are empty.
    pub(crate) fn is_void(&self) -> bool {
        self.rank > 0 && self.cells.iter().all(|cell| cell.text == NOTHING)
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.line().chars().count());
        cells.chain([self.head.chars().count(), self.unit.len()]).max().unwrap_or(0)
    }

    /// The least width in which no word is cut.
    fn least_width(&self) -> usize {
        if !self.left {
            return self.width();
        }
        let cells = self.cells.iter().map(|cell| longest_word(&cell.line()));
        cells.chain([self.head.chars().count(), self.unit.len()]).max().unwrap_or(0)
    }

    fn padded(&self, text: &str, width: usize) -> String {
        match self.left {
            true => format!("{text:<width$}"),
            false => format!("{text:>width$}"),
        }
    }

    fn cell(&self, row: usize) -> (String, Option<Colour>) {
        self.cells.get(row).map(|cell| (cell.line(), cell.colour)).unwrap_or_default()
    }
}

const GAP: &str = "  ";

fn longest_word(text: &str) -> usize {
    with_fixed_spaces(text).split(' ').map(|word| word.chars().count()).max().unwrap_or(0)
}

/// The table, no wider than `width` unless a single word is.
pub fn table(columns: Vec<Column>, width: usize, style: Style) -> String {
    let columns = kept(columns, width);
    let Some(widths) = fitted(&columns, width) else { return on_its_side(&columns, width, style) };
    let mut text = row(&columns, &widths, |column| (column.head.clone(), Some(Colour::Dim)), style);
    if columns.iter().any(|column| !column.unit.is_empty()) {
        text += &row(&columns, &widths, |c| (c.unit.to_string(), Some(Colour::Dim)), style);
    }
    for index in 0..rows(&columns) {
        text += &row(&columns, &widths, |column| column.cell(index), style);
    }
    text
}

/// The columns that fit the width, those of low priority dropped.
pub fn kept(mut columns: Vec<Column>, width: usize) -> Vec<Column> {
    while total_width(&columns) > width {
        let Some(index) = least_wanted(&columns) else { break };
        columns.remove(index);
    }
    columns
}

/// What is said of these columns below their table.
pub fn footnotes(columns: &[Column]) -> impl Iterator<Item = &str> {
    columns.iter().filter_map(|column| column.footnote)
}

fn rows(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.cells.len()).max().unwrap_or(0)
}

/// Each row as a paragraph: its first cell, and below it a line for each other column.
fn on_its_side(columns: &[Column], width: usize, style: Style) -> String {
    let Some((first, others)) = columns.split_first() else { return String::new() };
    let names = others.iter().map(|column| column.head.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for index in 0..rows(columns) {
        let name = wrapped(&first.cell(index).0, width, 2);
        if !name.is_empty() {
            text += &format!("{}\n", style.paint(Colour::Bold, &name));
        }
        for column in others {
            let (words, colour) = column.cell(index);
            let is_number = words.contains(|c: char| c.is_ascii_digit());
            let unit = if is_number && !column.unit.is_empty() { column.unit } else { "" };
            let words = format!("{words} {unit}");
            let painted = |indent| {
                let words = wrapped(words.trim(), width, indent);
                colour.map_or(words.clone(), |colour| style.paint(colour, &words))
            };
            // Nothing would fit next to a long name.
            let fits = names + 4 + longest_word(words.trim()) <= width;
            text += &match names <= width / 2 && fits {
                true => {
                    let head = style.paint(Colour::Dim, &column.head);
                    let blanks = " ".repeat(names - column.head.chars().count());
                    format!("  {head}{blanks}  {}\n", painted(names + 4))
                }
                false => {
                    let head = style.paint(Colour::Dim, &wrapped(&column.head, width, 2));
                    format!("  {head}\n    {}\n", painted(4))
                }
            };
        }
    }
    text
}

/// The table in GitHub Markdown.
pub fn markdown(columns: &[Column]) -> String {
    let row = |cell: &dyn Fn(&Column) -> String| {
        let cells = columns.iter().map(|column| format!(" {} |", cell(column)));
        format!("|{}\n", cells.collect::<String>())
    };
    let head = |column: &Column| match column.unit {
        "" => escaped(&column.head),
        unit => format!("{} ({unit})", escaped(&column.head)),
    };
    let mut text = row(&head) + &row(&|c| if c.left { ":---" } else { "---:" }.to_string());
    for index in 0..rows(columns) {
        text += &row(&|c| escaped(&c.cell(index).0));
    }
    text
}

/// The table for a page, in a scrolling box.
pub fn markup(table: &Table) -> Markup {
    let Table { columns, is_stacked, has_total, is_of_cells, .. } = table;
    let said = std::iter::once(table.caption.as_str()).chain(footnotes(columns));
    let caption = said.collect::<Vec<_>>().join(" ");
    let all = rows(columns);
    let body = if *has_total { all - 1 } else { all };
    let row = |at: usize| {
        html! { tr { @for (index, column) in columns.iter().enumerate() { (column.drawn(at, index == 0)) } } }
    };
    html! {
        div.scroll.tall[all > TALL] role="region" tabindex="0" aria-label=(caption) {
            table.stacked[*is_stacked].cells[*is_of_cells] {
                caption { span { (with_fixed_spaces(&caption)) } }
                thead { tr { @for column in columns { (column.drawn_head()) } } }
                tbody { @for at in 0..body { (row(at)) } }
                @if *has_total { tfoot { (row(body)) } }
            }
        }
    }
}

impl Column {
    fn class(&self) -> &'static str {
        if self.left { "word" } else { "number" }
    }

    fn drawn_head(&self) -> Markup {
        html! {
            th scope="col" class=(self.class()) title=[self.about] {
                (self.head) @if !self.unit.is_empty() { small { (self.unit) } }
            }
        }
    }

    fn drawn(&self, row: usize, is_name: bool) -> Markup {
        let cell = self.cells.get(row).cloned().unwrap_or_default();
        let words = cell.drawn(self.left);
        html! {
            @if is_name { th scope="row" class="word" title=[cell.tip] { (words) } }
            @else {
                @let class = [Some(self.class()), cell.ground].into_iter().flatten();
                @let class = class.collect::<Vec<_>>().join(" ");
                td class=(class) data-head=(self.head) title=[cell.tip] { (words) }
            }
        }
    }
}

impl Cell {
    fn drawn(&self, is_words: bool) -> Markup {
        let text = match self.text.as_str() {
            NOTHING => "–",
            text => text,
        };
        let words = html! { @if is_words { (with_breaks(text, ',')) } @else { (firm(text)) } };
        let words = match self.ground {
            Some(_) if !text.is_empty() => html! { strong { (words) } },
            _ => words,
        };
        html! {
            @match (&self.link, self.class) {
                (Some(link), _) => a href=(link) { (words) },
                (None, Some(class)) => span class={ "badge " (class) } { (words) },
                (None, None) => (words),
            }
            @for note in &self.notes { small { (with_fixed_spaces(note)) } }
            @for word in &self.words { small.word { (word) } }
        }
    }
}

fn total_width(columns: &[Column]) -> usize {
    let gaps = columns.len().saturating_sub(1) * GAP.len();
    columns.iter().map(Column::width).sum::<usize>() + gaps
}

fn least_wanted(columns: &[Column]) -> Option<usize> {
    let (index, column) = columns.iter().enumerate().max_by_key(|(_, column)| column.rank)?;
    (column.rank > 0).then_some(index)
}

/// Column widths with words wrapped in the widest columns; `None` if not even that fits.
fn fitted(columns: &[Column], width: usize) -> Option<Vec<usize>> {
    let mut widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let least: Vec<usize> = columns.iter().map(Column::least_width).collect();
    for _ in 0..total_width(columns).saturating_sub(width) {
        let wide = (0..widths.len()).filter(|&index| widths[index] > least[index]);
        let widest = wide.max_by_key(|&index| widths[index])?;
        widths[widest] -= 1;
    }
    Some(widths)
}

/// A row, on as many lines as its longest cell needs.
fn row(
    columns: &[Column],
    widths: &[usize],
    cell: impl Fn(&Column) -> (String, Option<Colour>),
    style: Style,
) -> String {
    let cells: Vec<(Vec<String>, Option<Colour>)> = columns
        .iter()
        .zip(widths)
        .map(|(column, &width)| {
            let (text, colour) = cell(column);
            (if text.chars().count() > width { filled(&text, width) } else { vec![text] }, colour)
        })
        .collect();
    let lines = cells.iter().map(|(lines, _)| lines.len()).max().unwrap_or(0);
    let line = |at: usize| {
        let parts =
            columns.iter().zip(widths).zip(&cells).map(|((column, &width), (lines, colour))| {
                let padded = column.padded(lines.get(at).map_or("", String::as_str), width);
                colour.map_or(padded.clone(), |colour| painted(&padded, colour, style))
            });
        format!("{}\n", parts.collect::<Vec<_>>().join(GAP).trim_end())
    };
    (0..lines).map(line).collect()
}

/// Padding stays outside of the colour, so that it can be trimmed at the end of a line.
fn painted(padded: &str, colour: Colour, style: Style) -> String {
    match padded.trim() {
        "" => padded.to_string(),
        text => padded.replacen(text, &style.paint(colour, text), 1),
    }
}

/// Wraps text to `width` characters and indents each line after the first. A number and its unit
/// stay on one line.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let room = width.saturating_sub(indent).max((width / 2).min(20));
    filled(text, room).join(&format!("\n{}", " ".repeat(indent)))
}

/// Wraps text to `room` characters; a longer word gets its own line.
fn filled(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in with_fixed_spaces(text).split([' ', '\n']).filter(|word| !word.is_empty()) {
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > 0 && used + 1 + word.chars().count() > room {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}
