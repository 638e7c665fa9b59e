//! Colours of the terminal, which only ever add to what words say.

use latlab_model::run::{Severity, VerdictWord};

/// How text may be marked up.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Style {
    /// Whether the terminal's colours may be used.
    pub colour: bool,
}

/// What is told apart by colour, always besides a word that says the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// Titles and maxima.
    Bold,
    /// What is of less weight.
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

    /// The end of its sequence, behind `ESC [`.
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

/// Ends what a colour began, behind `ESC [`.
const PLAIN: &str = "0m";

impl Style {
    /// The sequence of ours that a text begins with, behind `ESC [`.
    pub fn sequence_of(text: &str) -> Option<&'static str> {
        let ours = Colour::ALL.map(Colour::code).into_iter().chain([PLAIN]);
        ours.into_iter().find(|code| text.starts_with(code))
    }

    /// A text with the sequences of its colour, where there are colours.
    pub fn paint(self, colour: Colour, text: &str) -> String {
        let code = colour.code();
        match self.colour {
            true => format!("\u{1b}[{code}{text}\u{1b}[{PLAIN}"),
            false => text.to_string(),
        }
    }
}

/// The colour of a weight.
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
