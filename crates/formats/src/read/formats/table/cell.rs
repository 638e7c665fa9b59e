//! Numbers in table cells, in the notations of several countries and with units.

use crate::read::input::InputUnit;

/// What a comma means in a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comma {
    /// Thousands separator.
    Thousands,
    /// Decimal point.
    Decimal,
}

/// Possible meanings of the commas in one cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hint {
    /// No comma; the number is whole.
    Whole,
    /// A decimal point.
    Point,
    /// Unambiguous.
    Only(Comma),
    /// `1,500`: either.
    Either,
}

/// How a number writes its thousands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Thousands {
    /// It has neither thousands nor decimals.
    Few,
    /// It has thousands without separators.
    Plain,
    /// Separated by something other than the decimal point.
    Parted,
    /// `1.500`: its point may separate them.
    PartedByPoint,
    /// Its point is a decimal point.
    Decimals,
}

/// A decimal number: digits, and the power of ten of the last one.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Decimal {
    is_negative: bool,
    digits: i128,
    fraction: u32,
    exponent: i32,
}

/// More digits than any measurement has.
const MOST_DIGITS: u32 = 30;

/// A cell: its number and the unit after it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cell {
    number: Decimal,
    /// The unit in the cell, if any.
    pub unit: Option<InputUnit>,
}

impl Cell {
    /// The number of a cell; `None` if it contains anything else. Nothing is truncated.
    pub fn read(text: &str, comma: Comma) -> Option<Cell> {
        let (number, unit) = split_unit(text.trim());
        let unit = match unit {
            "" => None,
            unit => Some(unit_of_sign(unit)?),
        };
        Some(Cell { number: Decimal::read(number, comma)?, unit })
    }

    /// Its value in nanoseconds, in this unit if the cell has none; `None` beyond 292 years.
    pub fn nanos(&self, unit: InputUnit) -> Option<i64> {
        self.number.times(self.unit.unwrap_or(unit).nanos())
    }
}

/// What the commas of a cell show.
pub fn hint(text: &str) -> Option<Hint> {
    let (number, _) = split_unit(text.trim());
    let number = number.trim_start_matches(['-', '+']);
    let is_number = number.bytes().any(|byte| byte.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == ',' || c == '.' || is_gap(c));
    if !is_number {
        return None;
    }
    let whole = number.split('.').next().unwrap_or_default();
    let groups: Vec<&str> = whole.split(',').collect();
    let are_thousands = groups[1..].iter().all(|group| group.len() == 3)
        && (1..=3).contains(&groups[0].len())
        && groups[0] != "0";
    Some(match (number.find('.'), number.find(',')) {
        (None, None) => Hint::Whole,
        (Some(_), None) => Hint::Point,
        (Some(point), Some(comma)) if point < comma => Hint::Only(Comma::Decimal),
        (Some(_), Some(_)) => Hint::Only(Comma::Thousands),
        (None, Some(_)) if !are_thousands => Hint::Only(Comma::Decimal),
        (None, Some(_)) if groups.len() > 2 => Hint::Only(Comma::Thousands),
        (None, Some(_)) => Hint::Either,
    })
}

/// How the number of a cell writes its thousands.
pub fn thousands(text: &str, comma: Comma) -> Thousands {
    let (number, _) = split_unit(text.trim());
    let number = number.trim_start_matches(['-', '+']);
    let (point, group) = match comma {
        Comma::Thousands => ('.', ','),
        Comma::Decimal => (',', '.'),
    };
    let (whole, fraction) = number.split_once(point).unwrap_or((number, ""));
    let has_one_group = (1..=3).contains(&whole.len()) && fraction.len() == 3 && whole != "0";
    let has_one_group = has_one_group && fraction.bytes().all(|byte| byte.is_ascii_digit());
    match () {
        () if whole.contains(|c| c == group || is_gap(c)) => Thousands::Parted,
        () if point == '.' && has_one_group => Thousands::PartedByPoint,
        () if !fraction.is_empty() => Thousands::Decimals,
        () if whole.len() > 3 => Thousands::Plain,
        () => Thousands::Few,
    }
}

/// Whether a character separates thousands in any country: blanks of all widths, and apostrophes.
fn is_gap(letter: char) -> bool {
    matches!(letter, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '\u{2019}')
}

/// The number and the text after it.
fn split_unit(text: &str) -> (&str, &str) {
    let end = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '\u{fffd}');
    let has_exponent = end.ends_with(|c: char| c.is_ascii_digit() || is_gap(c) || c == '.');
    match has_exponent {
        true => (end.trim_end(), &text[end.len()..]),
        false => (text, ""),
    }
}

/// The unit of a symbol like `us` or `µs`.
pub fn unit_of_sign(sign: &str) -> Option<InputUnit> {
    let sign = sign.replace(['µ', 'μ', '\u{fffd}'], "u").to_ascii_lowercase();
    let long = [
        ("nanosecond", "ns"),
        ("nano", "ns"),
        ("nsec", "ns"),
        ("microsecond", "us"),
        ("micro", "us"),
        ("usec", "us"),
        ("millisecond", "ms"),
        ("milli", "ms"),
        ("msec", "ms"),
        ("second", "s"),
        ("sec", "s"),
    ];
    let one = if sign.len() > 2 { sign.trim_end_matches('s') } else { &sign[..] };
    let sign = long.iter().find(|pair| pair.0 == one).map_or(&sign[..], |pair| pair.1);
    InputUnit::ALL.iter().copied().find(|unit| unit.as_str() == sign)
}

impl Decimal {
    fn read(text: &str, comma: Comma) -> Option<Decimal> {
        let is_negative = text.starts_with('-');
        let text = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
            None => (text, 0),
        };
        let (point, group) = match comma {
            Comma::Thousands => ('.', ','),
            Comma::Decimal => (',', '.'),
        };
        // In comma notation, a cell with only a point still means a decimal point.
        let point = if mantissa.contains(point) || !mantissa.contains('.') { point } else { '.' };
        let (whole, fraction) = mantissa.split_once(point).unwrap_or((mantissa, ""));
        let is_group = |c: char| (c == group && group != point) || is_gap(c);
        let mut digits = 0i128;
        let groups: Vec<&str> = whole.split(is_group).collect();
        let are_even = groups.len() < 2
            || ((1..=3).contains(&groups[0].len()) && groups[1..].iter().all(|one| one.len() == 3));
        let count = whole.len() + fraction.len();
        // A number that begins or ends with its point may have lost digits there.
        let lacks_fraction = mantissa.contains(point) && fraction.is_empty();
        let has_digits = !groups[0].is_empty() && !lacks_fraction;
        if !are_even || !has_digits || count > MOST_DIGITS as usize + groups.len() * 3 {
            return None;
        }
        for letter in groups.iter().flat_map(|group| group.chars()).chain(fraction.chars()) {
            digits = digits.checked_mul(10)? + i128::from(letter.to_digit(10)?);
        }
        Some(Decimal { is_negative, digits, fraction: fraction.len() as u32, exponent })
    }

    /// The number times this, rounded.
    fn times(&self, unit: i64) -> Option<i64> {
        let power = self.exponent.checked_sub(i32::try_from(self.fraction).ok()?)?;
        let all = self.digits.checked_mul(unit.into())?;
        let ten = 10i128.checked_pow(power.unsigned_abs().min(38));
        let size = match (power >= 0, ten) {
            (_, _) if self.digits == 0 => 0,
            (true, ten) => all.checked_mul(ten?)?,
            (false, Some(ten)) => (all + ten / 2) / ten,
            (false, None) => 0,
        };
        let size = i64::try_from(size).ok().filter(|size| *size < 9_000_000_000_000_000_000)?;
        Some(if self.is_negative { -size } else { size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(text: &str, comma: Comma) -> Option<i64> {
        Cell::read(text, comma)?.nanos(InputUnit::Microseconds)
    }

    #[test]
    fn numbers_are_read_as_what_they_are() {
        for (text, nanos) in [
            ("12", 12_000),
            ("12.5", 12_500),
            ("1,500", 1_500_000),
            ("1,234,567.5", 1_234_567_500),
            ("12 500", 12_500_000),
            ("12\u{202f}500", 12_500_000),
            ("12'500", 12_500_000),
            ("1.4E-4", 0),
            ("1.4e2", 140_000),
            ("-3", -3_000),
            ("+3", 3_000),
            ("900 ns", 900),
            ("1.5 ms", 1_500_000),
            ("2 µs", 2_000),
            ("3s", 3_000_000_000),
        ] {
            assert_eq!(us(text, Comma::Thousands), Some(nanos), "{text}");
        }
        assert_eq!(us("1,5", Comma::Decimal), Some(1_500));
        assert_eq!(us("1.234,5", Comma::Decimal), Some(1_234_500));
        assert_eq!(us("12.5", Comma::Decimal), Some(12_500));
        let exact = Cell::read("1714564800.123456789", Comma::Thousands).unwrap();
        assert_eq!(exact.nanos(InputUnit::Seconds), Some(1_714_564_800_123_456_789));
    }

    #[test]
    fn nothing_is_cut_off() {
        for text in [
            "inf",
            "nan",
            ">1000",
            "0x1F",
            "9x9",
            "9999x",
            "1,5",
            "12 50",
            "1 2",
            "",
            "-",
            ".",
            "1e999",
            "12 V",
            "1.2.3",
            "1,,000",
            "e5",
            "5e",
            "12;5",
            "99999999999999999999999999999999999999",
        ] {
            assert_eq!(us(text, Comma::Thousands), None, "{text}");
        }
    }

    #[test]
    fn commas_show_what_they_are_where_they_do() {
        for (text, expected) in [
            ("12", Some(Hint::Whole)),
            ("12.5", Some(Hint::Point)),
            ("1,500", Some(Hint::Either)),
            ("0,500", Some(Hint::Only(Comma::Decimal))),
            ("1,5", Some(Hint::Only(Comma::Decimal))),
            ("1.234,5", Some(Hint::Only(Comma::Decimal))),
            ("1,234,567", Some(Hint::Only(Comma::Thousands))),
            ("1,234.5", Some(Hint::Only(Comma::Thousands))),
            ("x", None),
        ] {
            assert_eq!(hint(text), expected, "{text}");
        }
    }
}
