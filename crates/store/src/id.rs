//! Ids of runs, which are the names of their folders.

use jiff::Timestamp;

/// Longer names are cut, so that the folder's name fits every file system.
const LONGEST_NAME: usize = 80;

/// An id for a run that begins now: `20261121T160501Z_name`.
pub fn new_id(now: Timestamp, name: &str) -> String {
    format!("{}_{}", now.strftime("%Y%m%dT%H%M%SZ"), sanitize(name))
}

/// The form of a name in an id.
pub fn sanitize(name: &str) -> String {
    let mut clean = String::new();
    for letter in name.trim().chars().take(LONGEST_NAME) {
        match letter {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '.' | '_' | '-' => clean.push(letter),
            _ if clean.ends_with('-') => {}
            _ => clean.push('-'),
        }
    }
    if clean.is_empty() { "run".to_string() } else { clean }
}

/// Whether this can be the name of a run's folder.
pub fn is_valid(id: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    !id.is_empty() && id.len() <= 200 && !id.starts_with('.') && id.chars().all(letters)
}

/// The name part of an id.
pub(crate) fn name_of(id: &str) -> &str {
    id.split_once('_').map_or(id, |(_, name)| name)
}

/// The time part of an id.
pub(crate) fn time_of(id: &str) -> Option<Timestamp> {
    let (time, _) = id.split_once('_').unwrap_or((id, ""));
    let civil = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", time).ok()?;
    civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn now() -> Timestamp {
        "2026-11-21T16:05:01.9Z".parse().unwrap()
    }

    #[test]
    fn an_id_is_a_time_and_a_name() {
        assert_eq!(new_id(now(), "idle_4.1-rt"), "20261121T160501Z_idle_4.1-rt");
        assert_eq!(new_id(now(), "../my run / ä"), "20261121T160501Z_..-my-run-");
        assert_eq!(new_id(now(), "  "), "20261121T160501Z_run");
    }

    proptest! {
        #[test]
        fn every_name_makes_a_valid_id_with_its_time(name in ".{0,120}") {
            let id = new_id(now(), &name);
            prop_assert!(is_valid(&id), "{}", id);
            prop_assert_eq!(time_of(&id), Some("2026-11-21T16:05:01Z".parse().unwrap()));
        }
    }

    #[test]
    fn what_leads_elsewhere_is_no_id() {
        for id in ["", "..", ".hidden", "a/b", "a b", "ä"] {
            assert!(!is_valid(id), "{id}");
        }
        assert_eq!(time_of("idle"), None);
    }
}
