//! Duplicate keys in an object of a document: JSON parsers silently keep one of the values.

use std::collections::HashSet;

/// Most duplicates listed.
const MOST: usize = 100;

/// The duplicate keys of objects in a JSON text.
pub fn repeated(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    // The keys of each open object; an array has none.
    let mut open: Vec<HashSet<&str>> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => open.push(HashSet::new()),
            b'}' | b']' => drop(open.pop()),
            b'"' => {
                let end = end_of_string(bytes, at + 1);
                let string = &text[at + 1..end];
                let is_key = bytes[end..]
                    .get(1..)
                    .is_some_and(|rest| rest.trim_ascii_start().first() == Some(&b':'));
                let keys = open.last_mut().filter(|_| is_key);
                if keys.is_some_and(|keys| !keys.insert(string)) && found.len() < MOST {
                    found.push(string.to_string());
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Position of the closing quote of a string.
fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_compared_within_their_object() {
        let text =
            r#"{"a": {"max": 3}, "b": {"max": 4, "x": "max"}, "c": ["b", {"d": 1}], "q\"": 1}"#;
        assert_eq!(repeated(text), [""; 0]);
        let text = r#"{"a": {"12": 5, "13": {"12": 1}, "12" : 941}, "a": 1, "q\"": 1, "q\"": 2}"#;
        assert_eq!(repeated(text), ["12", "a", "q\\\""]);
        for cut in 0..text.len() {
            repeated(&text[..cut]);
        }
    }
}
