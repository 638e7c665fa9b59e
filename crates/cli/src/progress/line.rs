//! Lines of the live view: text measured in terminal columns, where a wide letter takes two.

use latlab_report::{Colour, Style};
use unicode_width::UnicodeWidthChar;

/// Pieces of text, each with its colour.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Line(Vec<(Option<Colour>, String)>);

impl Line {
    pub fn plain(text: impl Into<String>) -> Line {
        Line(vec![(None, text.into())])
    }

    pub fn painted(colour: Colour, text: impl Into<String>) -> Line {
        Line(vec![(Some(colour), text.into())])
    }

    /// Appends the other line.
    pub fn then(mut self, other: Line) -> Line {
        self.0.extend(other.0);
        self
    }

    /// The line for a terminal: cut to the width, without control characters.
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

/// Columns of a letter. Control characters are never written and have none.
fn width_of_letter(letter: char) -> usize {
    letter.width().unwrap_or(0)
}

pub fn width_of(text: &str) -> usize {
    text.chars().map(width_of_letter).sum()
}

/// The longest prefix that fits.
fn fitting_start(text: &str, room: usize) -> String {
    let mut width = 0;
    let fits = |letter: &char| {
        width += width_of_letter(*letter);
        width <= room
    };
    text.chars().filter(|letter| !letter.is_control()).take_while(fits).collect()
}

/// Cuts text to the width, and marks the cut.
pub fn cut(text: &str, room: usize) -> String {
    match (width_of(text) <= room, room) {
        (true, _) => text.to_string(),
        (false, 0) => String::new(),
        (false, _) => fitting_start(text, room - 1) + "…",
    }
}

/// Cuts or pads the text, aligned to the left.
pub fn left(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let blanks = " ".repeat(width - width_of(&text));
    text + &blanks
}

/// Cuts or pads the text, aligned to the right.
pub fn right(text: &str, width: usize) -> String {
    let text = cut(text, width);
    " ".repeat(width - width_of(&text)) + &text
}
