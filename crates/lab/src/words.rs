//! A command line that grows.

use std::fmt::Display;

#[derive(Default)]
pub struct Words(pub Vec<String>);

impl Words {
    /// Each word of a text that holds no others.
    pub fn all(&mut self, text: &str) {
        self.0.extend(text.split_whitespace().map(str::to_string));
    }

    /// An option with its value, whatever is in that.
    pub fn pair(&mut self, option: &str, value: impl Display) {
        self.0.extend([option.to_string(), value.to_string()]);
    }
}
