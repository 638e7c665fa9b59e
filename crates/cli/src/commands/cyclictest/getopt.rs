//! Splits a command line as GNU getopt does: bundled short options, optional values, unambiguous
//! prefixes of long names, and operands anywhere.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// No value.
    Nothing,
    /// A required value.
    Value(&'static str),
    /// An optional value, which can be the next word if that looks like one.
    MaybeNext(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub short: Option<char>,
    /// The long name, which also identifies the option in this program.
    pub long: &'static str,
    pub takes: Takes,
}

/// An option that was given: long name and value.
pub type Given = (&'static str, Option<String>);

/// A split command line.
#[derive(PartialEq, Eq, Default, Debug)]
pub struct Split {
    /// The options, in order.
    pub options: Vec<Given>,
    /// Words that belong to no option.
    pub words: Vec<String>,
}

/// Splits a command line; an error is one line for the user.
pub fn split<'a>(
    specs: impl Iterator<Item = &'a Spec> + Clone,
    line: &[String],
) -> Result<Split, String> {
    let mut split = Split::default();
    let mut rest = line.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            split.words.extend(rest.cloned());
            break;
        }
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (long, None),
            };
            let spec = find(specs.clone(), name)?;
            let value = value_of(spec, &format!("--{}", spec.long), value, &mut rest)?;
            split.options.push((spec.long, value));
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let mut letters = letters.chars();
            while let Some(letter) = letters.next() {
                let mut known = specs.clone();
                let spec = known.find(|spec| spec.short == Some(letter));
                let spec = spec.ok_or_else(|| unknown(&format!("-{letter}")))?;
                let behind = (spec.takes != Takes::Nothing && !letters.as_str().is_empty())
                    .then(|| letters.as_str().to_string());
                let ends_word = behind.is_some();
                let value = value_of(spec, &format!("-{letter}"), behind, &mut rest)?;
                split.options.push((spec.long, value));
                if ends_word {
                    break;
                }
            }
        } else {
            split.words.push(word.clone());
        }
    }
    Ok(split)
}

/// The option with this long name, or the only one that starts with it.
fn find<'a>(specs: impl Iterator<Item = &'a Spec> + Clone, name: &str) -> Result<&'a Spec, String> {
    if let Some(spec) = specs.clone().find(|spec| spec.long == name) {
        return Ok(spec);
    }
    let fits: Vec<&Spec> = specs.filter(|spec| spec.long.starts_with(name)).collect();
    match fits[..] {
        [spec] => Ok(spec),
        [] => Err(unknown(&format!("--{name}"))),
        _ => {
            let names: Vec<String> = fits.iter().map(|spec| format!("--{}", spec.long)).collect();
            Err(format!("option --{name} is ambiguous: {}", names.join(" or ")))
        }
    }
}

fn unknown(option: &str) -> String {
    format!("unknown option {option}; see `cyclictest --help`")
}

fn value_of<'a>(
    spec: &Spec,
    written: &str,
    behind: Option<String>,
    rest: &mut (impl Iterator<Item = &'a String> + Clone),
) -> Result<Option<String>, String> {
    match (spec.takes, behind) {
        (Takes::Nothing, Some(value)) => {
            Err(format!("{written} takes no value, but got '{value}'"))
        }
        (_, Some(value)) => Ok(Some(value)),
        (Takes::Value(what), None) => match rest.next() {
            Some(value) => Ok(Some(value.clone())),
            None => Err(format!("{written} needs a value: {what}")),
        },
        (Takes::MaybeNext(_), None) => {
            let next = rest.clone().next().filter(|word| looks_like_value(word)).cloned();
            if next.is_some() {
                rest.next();
            }
            Ok(next)
        }
        (Takes::Nothing, None) => Ok(None),
    }
}

/// Whether a word after an option with an optional value is that value.
fn looks_like_value(word: &str) -> bool {
    word == "all" || word.starts_with(|first: char| first.is_ascii_digit() || "!+".contains(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: [Spec; 5] = [
        Spec { short: Some('S'), long: "smp", takes: Takes::Nothing },
        Spec { short: Some('p'), long: "priority", takes: Takes::Value("PRIO") },
        Spec { short: Some('t'), long: "threads", takes: Takes::MaybeNext("NUM") },
        Spec { short: None, long: "histfile", takes: Takes::Value("PATH") },
        Spec { short: Some('H'), long: "histofall", takes: Takes::Value("US") },
    ];

    fn split_line(line: &str) -> Result<Split, String> {
        let line: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        split(SPECS.iter(), &line)
    }

    fn options(line: &str) -> Vec<(&'static str, String)> {
        let split = split_line(line).unwrap();
        split.options.into_iter().map(|(name, value)| (name, value.unwrap_or_default())).collect()
    }

    #[test]
    fn bundles_values_and_missing_values_are_told_apart() {
        let priority = ("priority", "90".to_string());
        let smp = ("smp", String::new());
        assert_eq!(options("-Sp90"), [smp.clone(), priority.clone()]);
        assert_eq!(options("-S -p 90"), [smp.clone(), priority.clone()]);
        assert_eq!(options("--prio=90"), options("--priority 90"));
        for line in ["-t16", "-t 16", "--threads=16", "--threads 16", "--th=16"] {
            assert_eq!(options(line), [("threads", "16".to_string())], "{line}");
        }
        assert_eq!(options("-t -S"), [("threads", String::new()), smp]);
        assert_eq!(split_line("-t file").unwrap().words, ["file"]);
        assert_eq!(split_line("-S -- -p").unwrap().words, ["-p"]);
    }

    #[test]
    fn mistakes_are_one_line() {
        assert!(split_line("-p").unwrap_err().contains("needs a value: PRIO"));
        assert!(split_line("--smp=3").unwrap_err().contains("takes no value"));
        assert!(split_line("-Z").unwrap_err().contains("unknown option -Z"));
        assert!(split_line("--hist=4").unwrap_err().contains("--histfile or --histofall"));
    }
}
