//! Splits a line into cells, and parses a cell as a number.
//!
//! The crate `csv` would replace only [`Cells`]: it does not split at runs of blanks, and the
//! dialect, decimal commas and bounded, numbered lines would remain ours.

use super::instants::Instant;
use super::names;
use crate::error::ParseError;

/// How a table's cells are separated and its numbers written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dialect {
    pub delimiter: char,
    pub decimal_comma: bool,
    /// Whether `0x1F` is a number; if no other cell is written so, it is a damaged one.
    pub hexadecimal: bool,
}

/// The dialects to try, in this order: a comma may be part of a number, a tab never.
pub const DIALECTS: [Dialect; 6] = [
    Dialect::new('\t', false),
    Dialect::new(';', false),
    Dialect::new(',', false),
    Dialect::new(';', true),
    Dialect::new('\t', true),
    Dialect::new(' ', false),
];

impl Dialect {
    pub const fn new(delimiter: char, decimal_comma: bool) -> Dialect {
        Dialect { delimiter, decimal_comma, hexadecimal: true }
    }

    /// The cells of a line, without surrounding blanks and quotes.
    pub fn cells<'a>(&self, line: &'a str) -> Cells<'a> {
        Cells { rest: Some(line), delimiter: self.delimiter as u8 }
    }

    /// A cell as a number, in volts if it has a unit; infinite if it is beyond the range of its
    /// instrument.
    pub fn number(&self, cell: &str) -> Option<f64> {
        let number = cell.strip_prefix('+').unwrap_or(cell);
        let first = number.bytes().next()?;
        // The usual notation.
        if (first.is_ascii_digit() || first == b'-')
            && !self.decimal_comma
            && let Ok(number) = number.parse::<f64>()
            && number.is_finite()
        {
            return Some(number);
        }
        match () {
            () if !(first.is_ascii_digit() || b"-.,".contains(&first)) => unmeasured(cell),
            () if is_hexadecimal(number) => hexadecimal(number).filter(|_| self.hexadecimal),
            () => self.plain(number).or_else(|| unmeasured(cell)).or_else(|| self.volts(cell)),
        }
    }

    /// A number without unit or digit groups.
    fn plain(&self, number: &str) -> Option<f64> {
        let parsed: Option<f64> = match self.decimal_comma {
            true if number.contains('.') => None,
            true => number.replace(',', ".").parse().ok(),
            false => number.parse().ok(),
        };
        // The digits of 1e999 mean nothing.
        parsed.filter(|number| number.is_finite())
    }

    /// `3.30 V`, `-200 mV`, `1 200`.
    fn volts(&self, cell: &str) -> Option<f64> {
        let Quantity { number, unit, .. } = self.quantity(cell)?;
        Some(number * names::volts_of(unit)?)
    }

    /// A number followed by a unit, with optional digit groups: `1.000 000 ms`.
    pub fn quantity<'a>(&self, cell: &'a str) -> Option<Quantity<'a>> {
        let cell = cell.trim();
        let end = cell.rfind(|c: char| c.is_ascii_digit())? + 1;
        let (number, unit) = cell.split_at(end);
        let number = self.ungrouped(number)?;
        let last_digit = last_digit(&number)?;
        let number = self.plain(number.strip_prefix('+').unwrap_or(&number))?;
        Some(Quantity { number, unit: unit.trim(), last_digit })
    }

    /// A number without the blanks between groups of three digits.
    fn ungrouped(&self, number: &str) -> Option<String> {
        let is_separator = |c: char| c.is_whitespace() || c == '\'';
        if !number.contains(is_separator) {
            return Some(number.to_string());
        }
        let is_group = |group: &str, least: usize| {
            (least..=3).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit())
        };
        let point = if self.decimal_comma { ',' } else { '.' };
        let (whole, decimals) = number.split_once(point).unwrap_or((number, ""));
        let mut wholes = whole.trim_start_matches(['+', '-']).split(is_separator);
        let first = wholes.next().is_some_and(|group| is_group(group, 1));
        let last = decimals.rsplit(is_separator).next()?;
        let mut others = decimals.rsplit(is_separator).skip(1);
        let is_grouped = first
            && wholes.all(|group| is_group(group, 3))
            && (decimals.is_empty() || is_group(last, 1))
            && others.all(|group| is_group(group, 3));
        is_grouped.then(|| number.chars().filter(|c| !is_separator(*c)).collect())
    }

    /// A time with its unit in the cell, in seconds, and the seconds of its last digit.
    pub fn seconds(&self, cell: &str) -> Option<(f64, f64)> {
        let Quantity { number, unit, last_digit } = self.quantity(cell)?;
        let unit = names::seconds_of(unit)?;
        Some((number * unit, last_digit * unit))
    }

    /// Whether a cell holds a number or a time.
    pub fn is_value(&self, cell: &str) -> bool {
        self.number(cell).is_some()
            || Instant::parse(cell).is_some()
            || self.seconds(cell).is_some()
    }

    /// Whether a line is a row of values: at least one is a number or a time, and the others are,
    /// or are empty or unknown.
    pub fn is_row(&self, line: &str) -> bool {
        let mut numbers = 0;
        for cell in self.cells(line).filter(|cell| !cell.is_empty()) {
            match () {
                () if self.is_value(cell) => numbers += 1,
                () if is_unknown(cell) || is_bare_hexadecimal(cell) => {}
                () => return false,
            }
        }
        numbers > 0
    }

    /// Whether a line may be a row of values mixed with words: it begins with a number or a time
    /// and has another one.
    pub fn is_row_with_words(&self, line: &str) -> bool {
        let mut cells = self.cells(line);
        cells.next().is_some_and(|cell| self.is_value(cell)) && cells.any(|it| self.is_value(it))
    }
}

/// A number with its unit.
pub struct Quantity<'a> {
    pub number: f64,
    /// As written; empty if there is none.
    pub unit: &'a str,
    /// Value of the last digit of the number.
    pub last_digit: f64,
}

/// What instruments write for a missing or out-of-range value.
fn unmeasured(cell: &str) -> Option<f64> {
    let is = |words: &[&str]| words.iter().any(|word| cell.eq_ignore_ascii_case(word));
    match () {
        // Some write asterisks instead of a value.
        () if is(&["NaN", "-NaN", "1.#QNAN", "-1.#QNAN", "-1.#IND"])
            || cell.bytes().all(|byte| byte == b'*') =>
        {
            Some(f64::NAN)
        }
        () if is(&["∞", "+∞", "Inf", "+Inf", "Infinity", "+Infinity", "1.#INF"]) => {
            Some(f64::INFINITY)
        }
        () if is(&["-∞", "-Inf", "-Infinity", "-1.#INF"]) => Some(f64::NEG_INFINITY),
        () => None,
    }
}

/// Words for a level that is unknown, or neither low nor high.
pub fn is_unknown(cell: &str) -> bool {
    let words = ["x", "z", "u", "w", "?", "-", "--", "---", "n/a", "na", "null", "none"];
    words.iter().any(|word| cell.eq_ignore_ascii_case(word))
        // A bus, bit by bit: `1x0z`.
        || !cell.is_empty() && cell.bytes().all(|byte| b"01xXzZ".contains(&byte))
}

/// Whether a cell is written as a hexadecimal number.
pub fn is_hexadecimal(number: &str) -> bool {
    number.starts_with("0x") || number.starts_with("0X")
}

fn hexadecimal(number: &str) -> Option<f64> {
    u64::from_str_radix(&number[2..], 16).ok().map(|number| number as f64)
}

/// `7F`, `A5h`: a number that cannot be distinguished from a word.
fn is_bare_hexadecimal(cell: &str) -> bool {
    let digits = cell.strip_suffix(['h', 'H']).unwrap_or(cell);
    (1..=32).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Iterates over the cells of a line.
pub struct Cells<'a> {
    rest: Option<&'a str>,
    delimiter: u8,
}

impl<'a> Iterator for Cells<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let mut rest = self.rest?;
        if self.delimiter == b' ' {
            // Several blanks separate as one does.
            rest = rest.trim_matches(' ');
            if rest.is_empty() {
                return None;
            }
        }
        let bytes = rest.as_bytes();
        let from = end_of_quotes(rest).unwrap_or(0);
        let end = bytes[from..].iter().position(|byte| *byte == self.delimiter);
        self.rest = end.map(|end| &rest[from + end + 1..]);
        let cell = end.map_or(rest, |end| &rest[..from + end]).trim_ascii();
        let is_quoted = cell.starts_with('"');
        Some(if is_quoted { cell.trim_matches('"').trim_ascii() } else { cell })
    }
}

impl Cells<'_> {
    /// Whether a non-empty cell remains.
    pub fn has_more(&mut self) -> bool {
        self.rest.is_some() && self.any(|cell| !cell.is_empty())
    }
}

/// Within quotes a delimiter is part of the cell.
fn end_of_quotes(rest: &str) -> Option<usize> {
    let inside = rest.trim_start_matches(' ').strip_prefix('"')?;
    Some(rest.len() - inside.len() + inside.find('"')? + 1)
}

/// Whether a line is a comment.
pub fn is_comment(line: &str) -> bool {
    line.trim_start_matches('"').starts_with(['#', ';', '%', '!'])
}

/// The text of a comment.
pub fn uncommented(line: &str) -> &str {
    line.trim_start_matches(['"', '#', ';', '%', '!', ' '])
}

/// Value of the last digit of a number: `9.1033E-6` is known to 1E-10.
pub fn last_digit(cell: &str) -> Option<f64> {
    let (mantissa, exponent) = match cell.find(['e', 'E']) {
        Some(at) => (&cell[..at], cell[at + 1..].parse::<i32>().ok()?),
        None => (cell, 0),
    };
    let decimals = mantissa.find(['.', ',']).map_or(0, |at| mantissa.len() - at - 1);
    Some(10f64.powi(exponent.clamp(-300, 300) - decimals.min(300) as i32))
}

/// Distance of a number from the whole number `from`, without losing digits of `1700000000.000001`.
pub fn distance(dialect: &Dialect, cell: &str, from: i64) -> Option<f64> {
    let point = if dialect.decimal_comma { ',' } else { '.' };
    let (whole, decimals) = cell.split_once(point).unwrap_or((cell, ""));
    let is_plain = !whole.starts_with('-') && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let whole: i64 = whole.parse().ok().filter(|_| is_plain)?;
    let rest: f64 = format!("0.{decimals}0").parse().ok()?;
    Some(whole.checked_sub(from)? as f64 + rest)
}

/// The error for a cell that is not a number.
pub fn no_number(cell: &str, index: usize, line: u64) -> ParseError {
    let found: String = cell.chars().take(24).collect();
    ParseError::line(line, format!("expected a number in column {}, found '{found}'", index + 1))
}

/// The number in a cell; `None` if the cell is empty.
pub fn number_in(
    dialect: &Dialect,
    cell: &str,
    index: usize,
    line: u64,
) -> Result<Option<f64>, ParseError> {
    if cell.is_empty() {
        return Ok(None);
    }
    dialect.number(cell).map(Some).ok_or_else(|| no_number(cell, index, line))
}
