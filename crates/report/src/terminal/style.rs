//! Colours of the terminal, which only ever add to what words say.

/// How text may be marked up.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Style {
    /// Whether the terminal's colours may be used.
    pub colour: bool,
}

/// What is told apart by colour, always besides a word that says the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Colour {
    Bold,
    Dim,
    Good,
    Warn,
    Bad,
}

impl Style {
    pub(crate) fn paint(self, colour: Colour, text: &str) -> String {
        let code = match colour {
            Colour::Bold => "1",
            Colour::Dim => "2",
            Colour::Good => "32",
            Colour::Warn => "33",
            Colour::Bad => "1;31",
        };
        match self.colour {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_string(),
        }
    }
}
