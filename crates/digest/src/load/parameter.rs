//! Parameters of a load.

use latlab_model::Nanos;
use serde::Deserialize;

/// The type of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A whole number.
    Count,
    /// A size: `4096`, `64k`, `16M`, `1G`.
    Bytes,
    /// 0 to 100.
    Percent,
    /// `30s`, `5min`; passed to the program in whole seconds.
    Time,
    /// Anything.
    Text,
}

impl Kind {
    /// Its name in a definition.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Count => "count",
            Kind::Bytes => "bytes",
            Kind::Percent => "percent",
            Kind::Time => "time",
            Kind::Text => "text",
        }
    }
}

/// A parameter of a definition.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Parameter {
    #[serde(rename = "type")]
    pub kind: Kind,
    /// A few words of description.
    pub about: String,
    /// The default; `None` if a value is required.
    pub default: Option<Default>,
    /// Smallest valid number.
    #[serde(default)]
    pub least: u64,
    /// The valid texts; empty for any.
    #[serde(default)]
    pub choice: Vec<String>,
}

/// A default, as written in a file.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub enum Default {
    Number(u64),
    /// As a user would write it.
    Text(String),
}

/// A checked value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// For all types but text.
    Number(u64),
    /// For text.
    Text(String),
}

impl Parameter {
    /// The default as a user would write it.
    pub fn default_text(&self) -> Option<String> {
        self.default.as_ref().map(|value| match value {
            Default::Number(number) => number.to_string(),
            Default::Text(text) => text.clone(),
        })
    }

    /// The user's value, or the default; `None` if there is neither.
    pub fn value(&self, text: Option<&str>) -> Result<Option<Value>, String> {
        let Some(text) = text.map(str::to_string).or_else(|| self.default_text()) else {
            return Ok(None);
        };
        let number = match self.kind {
            Kind::Text if self.choice.is_empty() || self.choice.contains(&text) => {
                return Ok(Some(Value::Text(text)));
            }
            Kind::Text => Err(format!("expected {}", self.choice.join(", "))),
            Kind::Count => text.parse().map_err(|_| "expected a whole number".to_string()),
            Kind::Bytes => bytes(&text).ok_or("expected a size: 4096, 64k, 16M, 1G".to_string()),
            Kind::Percent => text
                .trim_end_matches(['%', ' '])
                .parse()
                .ok()
                .filter(|percent| *percent <= 100)
                .ok_or("expected 0 to 100".to_string()),
            Kind::Time => seconds(&text),
        };
        let number = number.map_err(|expected| format!("'{text}': {expected}"))?;
        match number < self.least {
            true => Err(format!("'{text}': expected {} or more", self.least)),
            false => Ok(Some(Value::Number(number))),
        }
    }
}

fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}

fn seconds(text: &str) -> Result<u64, String> {
    let time: Nanos = text.parse().map_err(|_| "expected a time: 30s, 5min".to_string())?;
    let whole = time.0 / 1_000_000_000;
    match time.0 % 1_000_000_000 == 0 && whole >= 0 {
        true => Ok(whole as u64),
        false => Err("expected whole seconds".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(kind: Kind, text: &str) -> Result<Option<Value>, String> {
        let parameter =
            Parameter { kind, about: "".into(), default: None, least: 1, choice: Vec::new() };
        parameter.value(Some(text))
    }

    #[test]
    fn each_kind_takes_what_it_says() {
        let number = |number| Ok(Some(Value::Number(number)));
        assert_eq!(value(Kind::Count, "4"), number(4));
        assert_eq!(value(Kind::Bytes, "64k"), number(65_536));
        assert_eq!(value(Kind::Bytes, "1GiB"), number(1 << 30));
        assert_eq!(value(Kind::Percent, "80%"), number(80));
        assert_eq!(value(Kind::Time, "2min"), number(120));
        assert_eq!(value(Kind::Text, "-x"), Ok(Some(Value::Text("-x".into()))));
        for (kind, text, expected) in [
            (Kind::Count, "four", "whole number"),
            (Kind::Count, "-1", "whole number"),
            (Kind::Count, "0", "1 or more"),
            (Kind::Bytes, "4 parsecs", "expected a size"),
            (Kind::Bytes, "99999999999G", "expected a size"),
            (Kind::Percent, "101", "0 to 100"),
            (Kind::Time, "soon", "expected a time"),
            (Kind::Time, "100ms", "whole seconds"),
        ] {
            let error = value(kind, text).unwrap_err();
            assert!(error.contains(expected) && error.contains(text), "{error}");
        }
    }
}
