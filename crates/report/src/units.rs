//! Formats numbers for readers: one unit per column, digit groups, plain percentages.

use latlab_model::Nanos;
use latlab_model::histogram::{FINE_END, FINE_WIDTH};
pub use latlab_model::units::{bytes, grouped, percent, within_sentence};
pub(crate) use latlab_model::units::{counted, trimmed};

/// A unit and a number of decimals for a whole column, so that its numbers compare.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    unit: &'static str,
    nanos: f64,
    decimals: usize,
}

impl Scale {
    /// The scale for these times, in microseconds as long as that is readable.
    pub fn for_times(times: impl IntoIterator<Item = Nanos>) -> Scale {
        let times: Vec<u64> = times.into_iter().map(|time| time.0.unsigned_abs()).collect();
        let largest = times.iter().copied().max().unwrap_or(0) as f64;
        let (unit, nanos) = if times.is_empty() { ("us", 1e3) } else { unit_for(largest) };
        let wanted = if largest / nanos < 1000.0 { 3 } else { 1 };
        let decimals = (0..wanted).find(|&decimals| all_exact(&times, nanos, decimals));
        Scale { unit, nanos, decimals: decimals.unwrap_or(if unit == "ns" { 0 } else { wanted }) }
    }

    /// The scale of a linear axis: the largest unit that fits ten times or more, so that numbers
    /// are short, with all decimals of the step, so that they are exact.
    pub fn of_axis(end: Nanos, step: Nanos) -> Scale {
        let (unit, nanos) = match end.0 {
            ..1_000 => ("ns", 1.0),
            1_000..10_000_000 => ("us", 1e3),
            10_000_000..10_000_000_000 => ("ms", 1e6),
            _ => ("s", 1e9),
        };
        let exact = |decimals: &usize| all_exact(&[step.0.unsigned_abs()], nanos, *decimals);
        Scale { unit, nanos, decimals: (0..9).find(exact).unwrap_or(9) }
    }

    /// Fixes one decimal, so that a column that is redrawn does not jump.
    pub fn steady(self) -> Scale {
        Scale { decimals: if self.unit == "ns" { 0 } else { 1 }, ..self }
    }

    /// The unit's symbol, for the column head.
    pub fn unit(self) -> &'static str {
        self.unit
    }

    pub fn number(self, time: Nanos) -> String {
        self.number_f64(time.0 as f64)
    }

    /// The number of a time with fractional nanoseconds, such as a mean.
    pub fn number_f64(self, nanos: f64) -> String {
        format!("{:.*}", self.decimals, nanos / self.nanos)
    }
}

fn unit_for(largest: f64) -> (&'static str, f64) {
    match largest {
        l if l < 1e3 => ("ns", 1.0),
        l if l < 1e8 => ("us", 1e3),
        l if l < 1e11 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
}

/// Whether more decimals would only add zeros to the whole column.
fn all_exact(times: &[u64], nanos: f64, decimals: usize) -> bool {
    let last_digit = (nanos / 10f64.powi(decimals as i32)) as u64;
    last_digit > 0 && times.iter().all(|time| time.is_multiple_of(last_digit))
}

/// A quantile as printed: the last nanosecond of a bin becomes the following edge rather than an
/// unreadable number.
pub fn bin_edge(quantile: Nanos) -> Nanos {
    let width = FINE_WIDTH as i64;
    let is_edge = quantile.0.saturating_add(1) % width == 0;
    if quantile.0 < FINE_END as i64 && !is_edge {
        return quantile;
    }
    Nanos(quantile.0.saturating_add(width - 1).div_euclid(width).saturating_mul(width))
}

/// A time with three significant digits, where room is scarce: `42.3 ms`.
pub fn short(nanos: f64) -> String {
    rounded(nanos, 3)
}

/// A time for charts, with four significant digits; tables have all of them.
pub fn four_digits(time: Nanos) -> String {
    rounded(time.0 as f64, 4)
}

fn rounded(nanos: f64, significant: i32) -> String {
    let digits = nanos.abs().max(1.0).log10().floor() as i32 + 1;
    let last = 10f64.powi((digits - significant).max(0));
    Nanos(((nanos / last).round() * last) as i64).to_string()
}

/// A percentage with enough digits to distinguish it from 100 %: `99.98 %`.
pub fn reached(part: u64, whole: u64) -> String {
    let missing = whole.saturating_sub(part) as f64 / whole.max(1) as f64 * 100.0;
    if missing <= 0.0 {
        return "100 %".to_string();
    }
    let decimals = (1.0 - missing.log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{} %", trimmed(format!("{:.decimals$}", 100.0 - missing)))
}

/// A duration with three significant digits: `60 s`, `5.56 h`.
pub fn span(duration: Nanos) -> String {
    let (unit, nanos) = match duration.0.unsigned_abs() {
        0..1_000_000_000 => return duration.to_string(),
        1_000_000_000..120_000_000_000 => ("s", 1e9),
        120_000_000_000..3_599_500_000_000 => ("min", 6e10),
        3_599_500_000_000..172_800_000_000_000 => ("h", 3.6e12),
        _ => ("d", 8.64e13),
    };
    let value = duration.0 as f64 / nanos;
    format!(
        "{} {unit}",
        trimmed(format!(
            "{value:.*}",
            match value.abs() {
                v if v < 10.0 => 2,
                v if v < 100.0 => 1,
                _ => 0,
            }
        ))
    )
}

/// A share in percent; `None` if the whole is zero.
pub fn percent_of(part: u64, whole: u64) -> Option<String> {
    (whole > 0).then(|| percent(part as f64 / whole as f64))
}

/// Names that keep the following number on their line.
const NUMBERED: [&str; 5] = ["fifo", "rr", "thread", "CPU", "seed"];
const UNITS: [&str; 13] =
    ["%", "ns", "us", "ms", "s", "min", "h", "d", "Hz", "B", "KiB", "MiB", "GiB"];

/// Puts a non-breaking space between a number and its digit groups, its unit, its percent sign, or
/// the name before it.
pub fn with_fixed_spaces(text: &str) -> String {
    let mut words = text.split(' ');
    let mut joined = words.next().unwrap_or_default().to_string();
    let mut before = joined.clone();
    for word in words {
        joined.push(if belong_together(&before, word) { '\u{a0}' } else { ' ' });
        joined.push_str(word);
        before = word.to_string();
    }
    joined
}

fn belong_together(before: &str, word: &str) -> bool {
    let number = word.starts_with(|c: char| c.is_ascii_digit());
    let name = before.trim_start_matches(|c: char| !c.is_alphanumeric());
    let unit = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '%');
    match before.ends_with(|c: char| c.is_ascii_digit()) {
        true => number || UNITS.contains(&unit),
        false => number && NUMBERED.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(times: &[i64]) -> (String, Vec<String>) {
        let times: Vec<Nanos> = times.iter().copied().map(Nanos).collect();
        let scale = Scale::for_times(times.iter().copied());
        (scale.unit().to_string(), times.iter().map(|&time| scale.number(time)).collect())
    }

    #[test]
    fn a_column_has_one_unit_and_keeps_its_small_numbers() {
        let (unit, numbers) = column(&[1_834, 214_417]);
        assert_eq!((unit.as_str(), numbers), ("us", vec!["1.834".into(), "214.417".into()]));
        assert_eq!(column(&[5_500, 12_000]).1, ["5.5", "12.0"]);
        let (unit, numbers) = column(&[870, 12]);
        assert_eq!((unit.as_str(), numbers), ("ns", vec!["870".into(), "12".into()]));
        let (unit, numbers) = column(&[3 * 3_600_000_000_000, 5_000]);
        assert_eq!((unit.as_str(), numbers), ("s", vec!["10800.0".into(), "0.0".into()]));
        let (unit, numbers) = column(&[5_900_000, -214_417]);
        assert_eq!((unit.as_str(), numbers), ("us", vec!["5900.0".into(), "-214.4".into()]));
        assert_eq!(column(&[]).0, "us");
    }

    #[test]
    fn a_quantile_is_not_said_finer_than_its_bin() {
        for (quantile, said) in [
            (5_599, 5_600),
            (5_600, 5_600),
            (5_637, 5_637),
            (1_015_807, 1_015_900),
            (0, 0),
            (-1, 0),
        ] {
            assert_eq!(bin_edge(Nanos(quantile)), Nanos(said));
        }
        bin_edge(Nanos::MAX);
        bin_edge(-Nanos::MAX);
    }

    #[test]
    fn numbers_stay_with_what_belongs_to_them() {
        let text =
            "in 1 020 361 cycles over 2 s. (0.02 %) by fifo 90, 2 threads, thread 0 on CPU 1";
        let expected =
            "in 1~020~361 cycles over 2~s. (0.02~%) by fifo~90, 2 threads, thread~0 on CPU~1";
        assert_eq!(with_fixed_spaces(text).replace('\u{a0}', "~"), expected);
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(span(Nanos(60_003_000_000)), "60 s");
        assert_eq!(span(Nanos(20_016_000_000_000)), "5.56 h");
        assert_eq!(span(Nanos(3_599_998_000_000)), "1 h");
        assert_eq!(span(Nanos(1_800_000_000_000)), "30 min");
        assert_eq!(percent_of(1, 0), None);
        let short = [42_296_123.0, 999_600.0, 5_316.0, 87.4, 1.08e13].map(short);
        assert_eq!(short, ["42.3 ms", "1 ms", "5.32 us", "87 ns", "3 h"]);
        let four = [25_183_336, 214_417, 1_234_567_890, -5_316_789, 87];
        let four = four.map(|nanos| four_digits(Nanos(nanos)));
        assert_eq!(four, ["25.18 ms", "214.4 us", "1.235 s", "-5.317 ms", "87 ns"]);
        let shares = [(9_998, 10_000), (1, 1), (1, 2), (199_999, 200_000)];
        let shares = shares.map(|(part, whole)| reached(part, whole));
        assert_eq!(shares, ["99.98 %", "100 %", "50 %", "99.9995 %"]);
    }
}
