//! Repairs invalid JSON: unescaped quotes in command lines, and truncated documents.

/// The document with the quotes in its command line escaped, as in `"cmdline:": "… \"…\" …",`.
pub fn with_escaped_command(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        match value_of_command(line) {
            Some((from, to)) => {
                let value = line[from..to].replace("\\\"", "\"").replace('\\', "\\\\");
                escaped += &line[..from];
                escaped += &value.replace('"', "\\\"");
                escaped += &line[to..];
            }
            None => escaped += line,
        }
    }
    escaped
}

/// Start and end of a command line's value in its line.
fn value_of_command(line: &str) -> Option<(usize, usize)> {
    if !line.trim_start().starts_with("\"cmdline") {
        return None;
    }
    let from = line.find("\": \"")? + 4;
    let to = line.rfind('"')?;
    (from <= to).then_some((from, to))
}

/// The document up to its last complete member, with open brackets closed.
pub fn repaired(text: &str) -> String {
    let mut open = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    let mut whole: (usize, Vec<u8>) = (0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                open.push(if byte == b'{' { b'}' } else { b']' });
                whole = (at + 1, open.clone());
            }
            b'}' | b']' => {
                open.pop();
                whole = (at + 1, open.clone());
            }
            b',' => whole = (at, open.clone()),
            _ => {}
        }
        if open.len() > 64 {
            break;
        }
    }
    let mut closed = text[..whole.0].to_string();
    closed.extend(whole.1.iter().rev().map(|byte| char::from(*byte)));
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_document_cut_anywhere_keeps_its_whole_members() {
        let text = r#"{"a": {"b": [1, 2, {"c": "x,}\"y"}], "d": 4}, "e": 5}"#;
        for cut in 1..text.len() {
            let closed = repaired(&text[..cut]);
            let value: Result<Value, _> = serde_json::from_str(&closed);
            assert!(value.is_ok(), "{cut}: {closed}");
        }
        let cut = text.find("4}").unwrap() + 2;
        let value: Value = serde_json::from_str(&repaired(&text[..cut])).unwrap();
        assert_eq!(value["a"]["d"], 4);
    }

    #[test]
    fn quotes_in_a_command_line_are_escaped() {
        let text = "{\n \"cmdline:\": \"cyclictest --x=\"a b\" -q\",\n \"n\": 1\n}";
        let value: Value = serde_json::from_str(&with_escaped_command(text)).unwrap();
        assert_eq!(value["cmdline:"], "cyclictest --x=\"a b\" -q");
    }
}
