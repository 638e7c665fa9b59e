//! Text in Markdown.

/// Text that means nothing but itself, in a paragraph, a list or a cell of a table.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '\u{2028}' | '\u{2029}' => safe.push(' '),
            c if c.is_control() => safe.push(if c.is_whitespace() { ' ' } else { '\u{fffd}' }),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$'
            | '!' => {
                safe.extend(['\\', c]);
            }
            // GitHub makes links of #1 and @name even where they are escaped.
            c if matches!(before, '#' | '@') && c.is_alphanumeric() => {
                safe.push_str("<!-- -->");
                safe.push(c);
            }
            c => safe.push(c),
        }
        before = c;
    }
    safe
}
