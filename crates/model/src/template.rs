//! Texts with `{names}` in place of facts.

/// Fills the names that have a part; other braces stay. Inserted text is not searched for names.
pub fn filled(template: &str, part: impl Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        text += before;
        let named = behind.split_once('}').and_then(|(name, after)| Some((part(name)?, after)));
        match named {
            Some((part, after)) => {
                text += &part;
                rest = after;
            }
            None => {
                text.push('{');
                rest = behind;
            }
        }
    }
    text + rest
}
