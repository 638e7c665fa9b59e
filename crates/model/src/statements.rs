//! What text lines around another tool's data say about that data.

/// Words for missing data.
const LOSSES: [&str; 18] = [
    "lost",
    "dropped",
    "drops",
    "missed",
    "overflow",
    "overflows",
    "overrun",
    "overruns",
    "truncated",
    "aborted",
    "discarded",
    "incomplete",
    "skipped",
    "timeout",
    "timeouts",
    "overwritten",
    "saturated",
    "clipped",
];
/// Words that negate a loss.
const NONES: [&str; 5] = ["no", "none", "not", "nothing", "without"];

/// Whether a text says that data was lost: it has a word for a loss that is not negated.
pub fn states_loss(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let words =
        || lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let has = |known: &[&str]| words().any(|word| known.contains(&word));
    let mut numbers = words().filter_map(|word| word.parse::<u64>().ok()).peekable();
    let counts_none = numbers.peek().is_some() && numbers.all(|number| number == 0);
    has(&LOSSES) && !has(&NONES) && !counts_none
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_by_their_words() {
        for text in [
            "7 samples lost",
            "overflows: 7",
            "(7 samples dropped)",
            "ERROR: buffer overrun",
            "timeout",
        ] {
            assert!(states_loss(text), "{text}");
        }
        for text in [
            "nothing was lost",
            "overflows: 0",
            "0 samples dropped",
            "no overrun",
            "latency_us",
            "7",
        ] {
            assert!(!states_loss(text), "{text}");
        }
    }
}
