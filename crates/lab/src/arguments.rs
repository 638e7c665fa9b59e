//! The arguments of a command, as they are put together.

use std::fmt::Display;

#[derive(Default)]
pub struct Arguments(pub Vec<String>);

impl Arguments {
    /// Adds each word of a text.
    pub fn words(&mut self, text: &str) {
        self.0.extend(text.split_whitespace().map(str::to_string));
    }

    /// Adds an option with its value, which may hold blanks.
    pub fn option(&mut self, option: &str, value: impl Display) {
        self.0.extend([option.to_string(), value.to_string()]);
    }
}
