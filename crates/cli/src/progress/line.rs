//! A line of the live view: text in columns of a terminal, in which a wide letter takes two.

use latlab_report::{Colour, Style};
use unicode_width::UnicodeWidthChar;

/// Pieces of text, each with its weight.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Line(Vec<(Option<Colour>, String)>);

impl Line {
    /// Text of ordinary weight.
    pub fn plain(text: impl Into<String>) -> Line {
        Line(vec![(None, text.into())])
    }

    /// Text of this weight.
    pub fn painted(colour: Colour, text: impl Into<String>) -> Line {
        Line(vec![(Some(colour), text.into())])
    }

    /// Both, one behind the other.
    pub fn then(mut self, other: Line) -> Line {
        self.0.extend(other.0);
        self
    }

    /// As a terminal of this width gets it: what steers a terminal is left out, and what has no room.
    pub fn render(&self, width: usize, style: Style) -> String {
        let mut room = width;
        let pieces = self.0.iter().map(|(colour, text)| {
            let text = fitting_start(text, room);
            room -= width_of(&text);
            match colour {
                Some(colour) if !text.is_empty() => style.paint(*colour, &text),
                _ => text,
            }
        });
        pieces.collect()
    }
}

/// Columns of a letter; a control character, which is never written, has none.
fn width_of_letter(letter: char) -> usize {
    letter.width().unwrap_or(0)
}

/// Columns of a text.
pub fn width_of(text: &str) -> usize {
    text.chars().map(width_of_letter).sum()
}

/// As much of a text as there is room for.
fn fitting_start(text: &str, room: usize) -> String {
    let mut width = 0;
    let fits = |letter: &char| {
        width += width_of_letter(*letter);
        width <= room
    };
    text.chars().filter(|letter| !letter.is_control()).take_while(fits).collect()
}

/// A text in as many columns as there is room for, with a mark where it was cut.
pub fn cut(text: &str, room: usize) -> String {
    match (width_of(text) <= room, room) {
        (true, _) => text.to_string(),
        (false, 0) => String::new(),
        (false, _) => fitting_start(text, room - 1) + "…",
    }
}

/// The same, filled with blanks behind it.
pub fn left(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let blanks = " ".repeat(width - width_of(&text));
    text + &blanks
}

/// The same, filled with blanks before it.
pub fn right(text: &str, width: usize) -> String {
    let text = cut(text, width);
    " ".repeat(width - width_of(&text)) + &text
}
