//! Terminal colours, which only repeat what the words say.

use latlab_model::run::{Severity, VerdictWord};

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Style {
    pub colour: bool,
}

/// Colours by meaning; a word next to each always says the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// Titles and maxima.
    Bold,
    /// Less important text.
    Dim,
    /// A pass.
    Good,
    /// A doubt.
    Warn,
    /// A failure.
    Bad,
}

impl Colour {
    const ALL: [Colour; 5] = [Colour::Bold, Colour::Dim, Colour::Good, Colour::Warn, Colour::Bad];

    /// The rest of the escape sequence after `ESC [`.
    fn code(self) -> &'static str {
        match self {
            Colour::Bold => "1m",
            Colour::Dim => "2m",
            Colour::Good => "32m",
            Colour::Warn => "33m",
            Colour::Bad => "1;31m",
        }
    }
}

/// Resets the colour, after `ESC [`.
const PLAIN: &str = "0m";

impl Style {
    /// The escape sequence of latlab's that a text starts with, without `ESC [`.
    pub fn sequence_of(text: &str) -> Option<&'static str> {
        let ours = Colour::ALL.map(Colour::code).into_iter().chain([PLAIN]);
        ours.into_iter().find(|code| text.starts_with(code))
    }

    /// Wraps a text in its colour if colours are enabled.
    pub fn paint(self, colour: Colour, text: &str) -> String {
        let code = colour.code();
        match self.colour {
            true => format!("\u{1b}[{code}{text}\u{1b}[{PLAIN}"),
            false => text.to_string(),
        }
    }
}

pub(crate) fn severity_colour(severity: Severity) -> Colour {
    match severity {
        Severity::Info => Colour::Dim,
        Severity::Warning => Colour::Warn,
        Severity::Error => Colour::Bad,
    }
}

pub(crate) fn verdict_colour(word: VerdictWord) -> Colour {
    match word {
        VerdictWord::Pass => Colour::Good,
        VerdictWord::Inconclusive => Colour::Warn,
        VerdictWord::Fail | VerdictWord::Invalid => Colour::Bad,
    }
}
