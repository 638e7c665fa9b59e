//! A table for the terminal: where it does not fit it gives up what is of less weight, then wraps
//! its words, and at last stands on its side.

use crate::terminal::style::{Colour, Style};
use crate::units::with_fixed_spaces;
use latlab_model::sanitize::escape_lines;
use maud::{Markup, html};

/// One column; `rank` 0 is never given up, the highest rank goes first. Runs, kernels and verdicts
/// have rank 0.
pub struct Column {
    head: String,
    unit: &'static str,
    cells: Vec<(String, Option<Colour>)>,
    left: bool,
    rank: u8,
}

impl Column {
    /// A column of numbers, aligned to the right.
    pub fn new(head: &str, rank: u8, cells: impl IntoIterator<Item = String>) -> Column {
        let cells = cells.into_iter().map(|text| (text, None)).collect();
        Column { head: head.to_string(), unit: "", cells, left: false, rank }
    }

    /// With a unit below its head.
    pub fn unit(self, unit: &'static str) -> Column {
        Column { unit, ..self }
    }

    /// Aligned to the left, as words are.
    pub fn left(self) -> Column {
        Column { left: true, ..self }
    }

    /// With the colour of each cell.
    pub(crate) fn coloured(mut self, colour: impl Fn(&str) -> Option<Colour>) -> Column {
        for (text, cell_colour) in &mut self.cells {
            *cell_colour = colour(text);
        }
        self
    }

    /// Whether no cell says anything.
    pub fn is_void(&self) -> bool {
        self.rank > 0 && self.cells.iter().all(|(text, _)| text == "-")
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|(text, _)| text.chars().count());
        cells.chain([self.head.chars().count(), self.unit.len()]).max().unwrap_or(0)
    }

    /// The least width in which no word of it is cut.
    fn least_width(&self) -> usize {
        if !self.left {
            return self.width();
        }
        let cells = self.cells.iter().map(|(text, _)| longest_word(text));
        cells.chain([self.head.chars().count(), self.unit.len()]).max().unwrap_or(0)
    }

    fn padded(&self, text: &str, width: usize) -> String {
        match self.left {
            true => format!("{text:<width$}"),
            false => format!("{text:>width$}"),
        }
    }
}

const GAP: &str = "  ";

fn longest_word(text: &str) -> usize {
    with_fixed_spaces(text).split(' ').map(|word| word.chars().count()).max().unwrap_or(0)
}

/// The lines of the table, no wider than `width` wherever no word is.
pub fn table(mut columns: Vec<Column>, width: usize, style: Style) -> String {
    while total_width(&columns) > width {
        let Some(index) = least_wanted(&columns) else { break };
        columns.remove(index);
    }
    let Some(widths) = fitted(&columns, width) else { return on_its_side(&columns, width, style) };
    let mut text = row(&columns, &widths, |column| (column.head.clone(), Some(Colour::Dim)), style);
    if columns.iter().any(|column| !column.unit.is_empty()) {
        text += &row(&columns, &widths, |c| (c.unit.to_string(), Some(Colour::Dim)), style);
    }
    for index in 0..rows(&columns) {
        let cell = |column: &Column| column.cells.get(index).cloned().unwrap_or_default();
        text += &row(&columns, &widths, cell, style);
    }
    text
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
        let cell = |column: &Column| column.cells.get(index).cloned().unwrap_or_default();
        let name = wrapped(&cell(first).0, width, 2);
        if !name.is_empty() {
            text += &format!("{}\n", style.paint(Colour::Bold, &name));
        }
        for column in others {
            let (words, colour) = cell(column);
            let is_number = words.contains(|c: char| c.is_ascii_digit());
            let unit = if is_number && !column.unit.is_empty() { column.unit } else { "" };
            let words = format!("{words} {unit}");
            let painted = |indent| {
                let words = wrapped(words.trim(), width, indent);
                colour.map_or(words.clone(), |colour| style.paint(colour, &words))
            };
            // Beside a long name nothing would fit.
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

/// The whole table in the Markdown of GitHub.
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
        text += &row(&|c| c.cells.get(index).map_or(String::new(), |(cell, _)| escaped(cell)));
    }
    text
}

/// The whole table for a page, in a box that scrolls.
pub fn markup(columns: &[Column], caption: &str) -> Markup {
    let class = |column: &Column| column.left.then_some("word");
    let rows = rows(columns);
    let cell = |column: &Column, row: usize| {
        column.cells.get(row).map(|(text, _)| text.clone()).unwrap_or_default()
    };
    html! {
        div.scroll role="region" tabindex="0" aria-label=(caption) {
            table {
                caption { span { (with_fixed_spaces(caption)) } }
                thead {
                    tr {
                        @for column in columns {
                            th scope="col" class=[class(column)] {
                                (column.head) @if !column.unit.is_empty() { small { (column.unit) } }
                            }
                        }
                    }
                }
                tbody {
                    @for row in 0..rows {
                        tr {
                            @for (at, column) in columns.iter().enumerate() {
                                @if at == 0 { th scope="row" class="word" { (cell(column, row)) } }
                                @else { td class=[class(column)] { (cell(column, row)) } }
                            }
                        }
                    }
                }
            }
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

/// The widths, words in the widest columns wrapped; none where not even that fits.
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

/// A row, in as many lines as its longest cell needs.
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

/// Blanks stay outside of the colour, so that a line can lose them at its end.
fn painted(padded: &str, colour: Colour, style: Style) -> String {
    match padded.trim() {
        "" => padded.to_string(),
        text => padded.replacen(text, &style.paint(colour, text), 1),
    }
}

/// Text in lines of at most `width` characters, each after the first with an indent; no line ends
/// between a number and its unit.
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let room = width.saturating_sub(indent).max((width / 2).min(20));
    filled(text, room).join(&format!("\n{}", " ".repeat(indent)))
}

/// Text in lines of at most `room` characters; a longer word has a line of its own.
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

/// Text in Markdown that means nothing but itself, in a paragraph, a list or a cell of a table.
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
            // GitHub makes links of #1 and @name even where they are escaped.
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
