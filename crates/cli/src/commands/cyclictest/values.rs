//! Parses option values, strictly; an error is one line for the user.

use latlab_model::Nanos;
use latlab_model::nanos::SECOND;

/// A whole number between `least` and `most`.
pub fn number(name: &str, text: &str, least: i64, most: i64) -> Result<i64, String> {
    let number = text.trim().parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| match least..=most {
        range if *range.end() == i64::from(u32::MAX) => {
            format!("--{name} {text}: expected a whole number of at least {least}")
        }
        _ => format!("--{name} {text}: expected a whole number from {least} to {most}"),
    })
}

/// The policy by the name that plans use.
pub fn policy(text: &str) -> Result<&'static str, String> {
    let known = ["other", "batch", "idle", "fifo", "rr"];
    let wanted = if text.eq_ignore_ascii_case("normal") { "other" } else { text };
    known
        .into_iter()
        .find(|name| name.eq_ignore_ascii_case(wanted))
        .ok_or_else(|| format!("--policy {text}: expected other, normal, batch, idle, fifo or rr"))
}

/// A duration in seconds, or with a suffix for minutes, hours or days.
pub fn duration(text: &str) -> Result<Nanos, String> {
    let wrong = || format!("--duration {text}: expected seconds, or 5m, 2h, 1d");
    let (digits, seconds) = match text.strip_suffix(['s', 'm', 'h', 'd']) {
        Some(digits) => {
            (digits, [1, 60, 3600, 86_400]["smhd".find(&text[digits.len()..]).unwrap_or(0)])
        }
        None => (text, 1),
    };
    let number: i64 = digits.parse().map_err(|_| wrong())?;
    let length =
        number.checked_mul(seconds).filter(|length| (1..=i64::from(u32::MAX)).contains(length));
    Ok(SECOND * length.ok_or_else(wrong)?)
}
