//! The keys above all tables of a sheet: repeats, order, cool-down.

use super::errors::{SheetErrors, nearest};
use latlab_model::Nanos;
use latlab_model::campaign::{CoolDown, Order};
use latlab_model::nanos::SECOND;
use latlab_model::sanitize::{escape_controls, plain_line};
use std::ops::RangeInclusive;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub const KEYS: [&str; 9] = [
    "name",
    "about",
    "repeats",
    "order",
    "seed",
    "retries",
    "cool-down",
    "cool-below",
    "cool-down-limit",
];

/// How long to wait for `cool-below` unless the sheet sets `cool-down-limit`.
const LIMIT: Nanos = Nanos(SECOND.0 * 600);
/// Limit of repeats; more are taken for a mistake.
pub const MOST_REPEATS: u64 = 10_000;

/// Settings of the whole campaign.
pub struct Head {
    pub name: String,
    /// The question that the sheet answers.
    pub about: Option<String>,
    /// How often each row is measured.
    pub repeats: u32,
    pub order: Order,
    /// Seed of a random order. `None` takes one from the clock.
    pub seed: Option<u64>,
    /// How often a failed run is repeated.
    pub retries: u32,
    /// What happens between two runs.
    pub cool_down: CoolDown,
}

/// Reads the keys; mistakes are collected.
pub fn read(table: &DeTable, file_stem: &str, mistakes: &mut SheetErrors) -> Head {
    let mut keys = Keys { table, mistakes };
    let pause_ns = keys.value("cool-down", "a time such as \"30s\"", time).unwrap_or_default();
    let limit = keys.value("cool-down-limit", "a time such as \"10min\"", time);
    let below = keys.value("cool-below", "a temperature such as \"55C\"", temperature);
    if let (Some(_), None, Some(value)) = (limit, below, table.get("cool-down-limit")) {
        keys.mistakes.add(value.span(), "cool-down-limit requires cool-below");
    }
    let limit_ns = below.map_or(Nanos::ZERO, |_| limit.unwrap_or(LIMIT));
    Head {
        // A file name may contain control characters.
        name: keys
            .value("name", "a few plain words", name)
            .unwrap_or_else(|| escape_controls(file_stem)),
        about: keys.value("about", "a text", text).map(|about| in_one_line(&about)),
        repeats: keys.number("repeats", 1..=MOST_REPEATS).unwrap_or(1) as u32,
        order: keys.order(),
        seed: keys.number("seed", 0..=i64::MAX as u64),
        retries: keys.number("retries", 0..=100).unwrap_or(1) as u32,
        cool_down: CoolDown { pause_ns, below_millicelsius: below, limit_ns },
    }
}

struct Keys<'a, 'b, 'c> {
    table: &'a DeTable<'a>,
    mistakes: &'b mut SheetErrors<'c>,
}

impl Keys<'_, '_, '_> {
    fn value<T>(
        &mut self,
        key: &str,
        expected: &str,
        read: fn(&DeValue) -> Option<T>,
    ) -> Option<T> {
        let value = self.table.get(key)?;
        let read = read(value.get_ref());
        if read.is_none() {
            self.mistakes.add(value.span(), format!("{key}: expected {expected}"));
        }
        read
    }

    fn number(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let value: &Spanned<DeValue> = self.table.get(key)?;
        let number = value.get_ref().as_integer().filter(|number| number.radix() == 10);
        let number = number.and_then(|number| number.as_str().parse().ok());
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let text =
                format!("{key}: expected a number from {} to {}", range.start(), range.end());
            self.mistakes.add(value.span(), text);
        }
        number
    }

    fn order(&mut self) -> Order {
        let Some(value) = self.table.get("order") else { return Order::Sequential };
        let word = value.get_ref().as_str().unwrap_or_default();
        let known = Order::ALL.iter().find(|order| order.as_str() == word);
        known.copied().unwrap_or_else(|| {
            let words: Vec<&str> = Order::ALL.iter().map(|order| order.as_str()).collect();
            let meant = match nearest(word, &words) {
                Some(word) => format!("did you mean '{word}'?"),
                None => format!("expected {}", words.join(", ")),
            };
            self.mistakes.add(value.span(), format!("order: unknown value '{word}'; {meant}"));
            Order::Sequential
        })
    }
}

fn name(value: &DeValue) -> Option<String> {
    text(value).filter(|name| plain_line(name).is_ok())
}

/// Joins the lines of a text.
pub fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text(value: &DeValue) -> Option<String> {
    let text = value.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_string())
}

/// A duration of zero or more.
pub fn time(value: &DeValue) -> Option<Nanos> {
    value.as_str()?.parse().ok().filter(|time| *time >= Nanos::ZERO)
}

/// Parses `55C` to thousandths of a degree.
fn temperature(value: &DeValue) -> Option<i64> {
    let text = value.as_str()?;
    let number = text.trim_end_matches(['C', '°', ' ']);
    let degrees: f64 = number.parse().ok().filter(|_| text.ends_with('C'))?;
    (0.0..=150.0).contains(&degrees).then_some((degrees * 1000.0) as i64)
}
