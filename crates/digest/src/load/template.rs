//! Texts with parameters in braces: `io-{number}`, `{groups*fds*2}`.

use super::values::Values;

/// A text in parts.
pub struct Template(Vec<Part>);

enum Part {
    Plain(String),
    /// Factors to multiply, names and numbers; a single name may be a text.
    Product(Vec<String>),
}

impl Template {
    /// Splits a text; a literal brace is doubled.
    pub fn parse(text: &str) -> Result<Template, String> {
        let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find(['{', '}']) {
            plain += &rest[..at];
            let brace = &rest[at..at + 1];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                plain += brace;
                rest = after;
                continue;
            }
            let (inside, after) = match brace {
                "{" => rest.split_once('}').ok_or(format!("'{text}': unmatched opening brace"))?,
                _ => return Err(format!("'{text}': unmatched closing brace")),
            };
            parts.push(Part::Plain(std::mem::take(&mut plain)));
            parts.push(Part::Product(inside.split('*').map(|f| f.trim().to_string()).collect()));
            rest = after;
        }
        parts.push(Part::Plain(plain + rest));
        Ok(Template(parts))
    }

    pub fn names(&self) -> Vec<&str> {
        let products = self.0.iter().filter_map(|part| match part {
            Part::Product(factors) => Some(factors),
            Part::Plain(_) => None,
        });
        products.flatten().map(String::as_str).filter(|f| f.parse::<u64>().is_err()).collect()
    }

    /// The text with values filled in.
    pub fn fill(&self, values: &Values) -> Result<String, String> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Plain(plain) => text += plain,
                Part::Product(factors) => match &factors[..] {
                    [one] => text += &values.text(one)?,
                    several => {
                        let mut product = 1u64;
                        for factor in several {
                            let factor = values.number(factor)?;
                            product = product.checked_mul(factor).ok_or("a number is too large")?;
                        }
                        text += &product.to_string();
                    }
                },
            }
        }
        Ok(text)
    }
}

/// Splits a text into words like a shell, without any other expansion.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    match quote {
        Some(_) => Err(format!("'{text}': unmatched quotation mark")),
        None => Ok(words.into_iter().chain(word).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        let split = |text: &str| words(text).unwrap();
        assert_eq!(split("--cpu 2  --vm 1"), ["--cpu", "2", "--vm", "1"]);
        assert_eq!(split(r#"a 'b c' "d \" e"f '' \ g"#), ["a", "b c", "d \" ef", "", " g"]);
        assert!(split(" ").is_empty());
        assert!(words("'a").unwrap_err().contains("unmatched"));
    }
}
