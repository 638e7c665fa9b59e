use latlab_model::sanitize::*;

/// What an untrusted source may put into a name.
const HOSTILE: &str =
    "a\u{1b}[2Jb\u{202e}c\u{2066}d\u{200f}e\u{61c}f\u{200b}g\u{ad}h\u{9b}i\u{e0041}j\nk";

#[test]
fn what_steers_or_hides_is_shown_as_an_escape() {
    let shown =
        r"a\u{1b}[2Jb\u{202e}c\u{2066}d\u{200f}e\u{61c}f\u{200b}g\u{ad}h\u{9b}i\u{e0041}j\nk";
    assert_eq!(escape_controls(HOSTILE), shown);
    assert_eq!(escape_lines(HOSTILE), shown.replace(r"\nk", "\nk"));
    assert_eq!(escape_lines("a\tb\r\n"), "a b\\r\n");
    // Letters of all scripts, blanks and symbols stay unchanged.
    let plain = "Größe 4 µs, ≥ 99 %, שלום, 日本語, a\u{a0}b 🙂";
    assert_eq!(escape_controls(plain), plain);
}

#[test]
fn bidirectional_characters_are_hidden_without_exception() {
    let ranges = ['\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}', '\u{200e}'..='\u{200f}'];
    let all = ranges.into_iter().flatten().chain(['\u{61c}']);
    assert!(all.chain('\0'..='\u{1f}').chain('\u{7f}'..='\u{9f}').all(is_hidden));
}

#[test]
fn a_text_of_the_user_is_taken_or_refused_in_a_line() {
    assert_eq!(plain_line("idle, 4 CPUs").as_deref(), Ok("idle, 4 CPUs"));
    for (text, reason) in [
        ("a\nb", "contains a line break (U+000A): remove it"),
        ("a\tb", "contains a tab (U+0009): remove it"),
        ("\u{1b}[31m", "contains a control character (U+001B): remove it"),
        ("gnp.\u{202e}exe", "contains an invisible character (U+202E): remove it"),
    ] {
        assert_eq!(plain_line(text), Err(reason.to_string()));
    }
}

#[test]
fn every_text_and_every_name_of_a_document_is_escaped_and_numbers_stay() {
    let document = serde_json::json!({ "a\u{202e}": ["b\u{1b}", 7, null], "c": { "d": "e\nf" } });
    let cleaned = serde_json::json!({ "a\\u{202e}": ["b\\u{1b}", 7, null], "c": { "d": "e\\nf" } });
    assert_eq!(sanitize_document(&document).unwrap(), cleaned);
    assert_eq!(sanitize_lines(&document).unwrap()["c"]["d"], "e\nf");
}
