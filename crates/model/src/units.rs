//! Numbers for people, formatted the same in every sentence.

use crate::Nanos;

/// A whole number with digits in groups of three: `1 234 567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 page`, `1 234 pages`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{} {many}", grouped(count)),
    }
}

/// Text with a lower-case initial for use within a sentence; words in capitals keep them.
pub fn within_sentence(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && !second.is_uppercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_string(),
    }
}

/// A part of a time as a share of the whole.
pub fn ratio(part: Nanos, whole: Nanos) -> f64 {
    part.0 as f64 / whole.0.max(1) as f64
}

/// Bytes in the unit that fits: `9.4 MiB`.
pub fn bytes(count: u64) -> String {
    const STEP: f64 = 1024.0;
    let value = count as f64;
    match value {
        v if v < STEP => format!("{count} B"),
        v if v < STEP * STEP => format!("{:.1} KiB", v / STEP),
        v if v < STEP * STEP * STEP => format!("{:.1} MiB", v / (STEP * STEP)),
        v => format!("{:.1} GiB", v / (STEP * STEP * STEP)),
    }
}

/// A share in percent with two significant digits, from 100 % on with three: `0.0025 %`, `60 200 %`.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value <= 0.0 || !value.is_finite() {
        return "0 %".to_string();
    }
    let magnitude = value.log10().floor();
    if magnitude >= 3.0 {
        let unit = 10_f64.powf(magnitude - 2.0);
        return format!("{} %", grouped(((value / unit).round() * unit) as u64));
    }
    let decimals = (1.0 - magnitude).clamp(0.0, 12.0) as usize;
    format!("{} %", trimmed(format!("{value:.decimals$}")))
}

/// A number without trailing zeros.
pub fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}
