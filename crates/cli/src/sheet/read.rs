//! From the text of a sheet to what it says; every mistake on the way is noted.

use super::head::{self, Head};
use super::mistakes::Mistakes;
use super::options::{Setting, Vocabulary, shown};
use super::published;
use latlab_lab::Target;
use latlab_model::campaign::{LOCAL, Published};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What a sheet says.
pub struct Sheet {
    /// What holds for the whole campaign.
    pub head: Head,
    /// What holds for every scenario that does not say otherwise.
    pub defaults: Settings,
    /// The settings that every scenario is measured with, by option.
    pub matrix: Vec<Vec<Setting>>,
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// What others have published.
    pub published: Option<Published>,
}

/// A scenario.
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub at: Range<usize>,
    /// What it is about.
    pub about: Option<String>,
    /// What it sets.
    pub settings: Settings,
}

/// Settings of one table.
#[derive(Default)]
pub struct Settings {
    /// Those that are right.
    pub list: Vec<Setting>,
    /// Whether others were wrong, so that no plan can be made of these.
    pub spoiled: bool,
}

/// Keys that are no options of `latlab run` and have a place in `[defaults]`, `[matrix]` and
/// `[[scenario]]`.
const PLACES: [&str; 2] = ["kernel", "target"];

/// Reads a sheet; what is wrong is noted, and the rest is read on.
pub fn read(text: &str, file_stem: &str, mistakes: &mut Mistakes) -> Sheet {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        mistakes.add(error.span().unwrap_or(0..0), error.message().replace('\n', ", "));
    }
    let table = table.get_ref();
    let vocabulary = Vocabulary::new();
    let mut sheet = Sheet {
        head: head::read(table, file_stem, mistakes),
        defaults: Settings::default(),
        matrix: Vec::new(),
        scenarios: Vec::new(),
        published: None,
    };
    let mut begun = false;
    for (key, value) in table {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("defaults", DeValue::Table(table)) => {
                sheet.defaults = settings(table, &[], "[defaults]", &vocabulary, mistakes);
            }
            ("matrix", DeValue::Table(table)) => sheet.matrix = matrix(table, &vocabulary, mistakes),
            ("scenario", DeValue::Array(list)) => {
                begun = true;
                let read = |one| scenario(one, &vocabulary, mistakes);
                sheet.scenarios = list.iter().filter_map(read).collect();
            }
            ("published", DeValue::Table(table)) => {
                sheet.published = Some(published::read(table, mistakes));
            }
            ("defaults" | "matrix" | "published", other) => {
                let text = format!("a {} where a table was expected: [{}]", other.type_str(), key.get_ref());
                mistakes.add(key.span(), text);
            }
            ("scenario", _) => mistakes.add(key.span(), "scenarios are written [[scenario]]"),
            (name, _) if head::KEYS.contains(&name) => {}
            (name, _) if vocabulary.get(name).is_some() => mistakes.add(
                key.span(),
                format!("'{name}' stands outside of a scenario; for all of them it belongs to [defaults]"),
            ),
            (name, _) => mistakes.unknown(key.span(), name, "a sheet", &all_keys()),
        }
    }
    if sheet.scenarios.is_empty() && !begun && errors.is_empty() {
        mistakes
            .add(0..0, "the sheet has no scenario; expected a [[scenario]] with a name at least");
    }
    twice(&sheet, mistakes);
    sheet
}

fn all_keys() -> Vec<&'static str> {
    head::KEYS.iter().copied().chain(["defaults", "matrix", "scenario", "published"]).collect()
}

fn twice(sheet: &Sheet, mistakes: &mut Mistakes) {
    for (index, one) in sheet.scenarios.iter().enumerate() {
        if sheet.scenarios[..index].iter().any(|other| other.name == one.name) {
            mistakes.add(
                one.at.clone(),
                format!("a second scenario '{}'; each needs a name of its own", one.name),
            );
        }
        for figure in sheet.published.iter().flat_map(|published| &published.figures) {
            let known: Vec<&str> = sheet.scenarios.iter().map(|one| one.name.as_str()).collect();
            if index == 0 && !known.contains(&figure.scenario.as_str()) {
                let text = format!(
                    "a published figure names the scenario '{}'; there are {}",
                    figure.scenario,
                    known.join(", ")
                );
                mistakes.add(one.at.clone(), text);
            }
        }
    }
}

fn scenario(
    value: &Spanned<DeValue>,
    vocabulary: &Vocabulary,
    mistakes: &mut Mistakes,
) -> Option<Scenario> {
    let DeValue::Table(table) = value.get_ref() else {
        mistakes.add(value.span(), "scenarios are written [[scenario]]");
        return None;
    };
    let text = |key: &str, mistakes: &mut Mistakes| {
        let value = table.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some((text.to_string(), value.span())),
            _ => {
                mistakes.add(value.span(), format!("{key}: expected a text"));
                None
            }
        }
    };
    let name = text("name", mistakes);
    let about = text("about", mistakes).map(|(about, _)| about);
    let mut settings = settings(table, &["about", "name"], "a scenario", vocabulary, mistakes);
    let wrong = |name: &String| name.trim().is_empty() || name.contains(char::is_control);
    match &name {
        None if table.get("name").is_none() => {
            mistakes.add(value.span(), "a scenario without a name; add name = \"…\"")
        }
        Some((name, at)) if wrong(name) => {
            mistakes.add(at.clone(), "name: expected a few plain words")
        }
        _ => {}
    }
    settings.spoiled |= name.is_none();
    let (name, at) = name.unwrap_or_else(|| (String::new(), value.span()));
    Some(Scenario { name, at, about, settings })
}

fn settings(
    table: &DeTable,
    others: &[&str],
    place: &str,
    vocabulary: &Vocabulary,
    mistakes: &mut Mistakes,
) -> Settings {
    let before = mistakes.count();
    let mut list = Vec::new();
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        if others.contains(&name) {
            continue;
        }
        match known(key, place, others, vocabulary, mistakes) {
            true if PLACES.contains(&name) => list.extend(at_a_place(key, value, mistakes)),
            true => list.extend(vocabulary.setting(key, value, mistakes)),
            false => {}
        }
    }
    Settings { list, spoiled: mistakes.count() > before }
}

/// Whether a key is known there; if not, that is noted.
fn known(
    key: &Spanned<impl AsRef<str>>,
    place: &str,
    others: &[&str],
    vocabulary: &Vocabulary,
    mistakes: &mut Mistakes,
) -> bool {
    let name = key.get_ref().as_ref();
    if PLACES.contains(&name) || vocabulary.get(name).is_some() {
        return true;
    }
    if vocabulary.is_of_the_command(name) {
        let text = format!(
            "'{name}' says how a command behaves, not what is measured; give it to latlab run"
        );
        mistakes.add(key.span(), text);
    } else if head::KEYS.contains(&name) {
        mistakes.add(
            key.span(),
            format!("'{name}' holds for the whole sheet; it stands above all tables"),
        );
    } else {
        let known: Vec<&str> =
            vocabulary.names().into_iter().chain(PLACES).chain(others.iter().copied()).collect();
        mistakes.unknown(key.span(), name, place, &known);
    }
    false
}

/// A kernel or a target.
fn at_a_place(
    key: &Spanned<impl AsRef<str>>,
    value: &Spanned<DeValue>,
    mistakes: &mut Mistakes,
) -> Option<Setting> {
    let name = key.get_ref().as_ref();
    let shown = match (name, value.get_ref()) {
        (_, DeValue::String(text)) if text.trim().is_empty() => Err("expected a text".to_string()),
        ("target", DeValue::String(text)) if text != LOCAL => {
            let target = text.parse::<Target>().map(|target| target.to_string());
            target.map_err(|text| format!("{text}, or \"{LOCAL}\" for this machine"))
        }
        (_, DeValue::String(_)) => Ok(shown(value.get_ref())),
        _ => Err("expected a text".to_string()),
    };
    let at = value.span();
    match shown {
        Ok(shown) => Some(Setting { key: name.into(), words: Vec::new(), shown, at }),
        Err(refused) => {
            mistakes.add(at, format!("{name}: {refused}"));
            None
        }
    }
}

fn matrix(table: &DeTable, vocabulary: &Vocabulary, mistakes: &mut Mistakes) -> Vec<Vec<Setting>> {
    // As they stand in the file: the last one changes fastest.
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    let mut matrix = Vec::new();
    for (key, value) in keys {
        if !known(key, "[matrix]", &[], vocabulary, mistakes) {
            continue;
        }
        let DeValue::Array(values) = value.get_ref() else {
            let text = format!(
                "{}: expected a list of values; one value belongs to [defaults]",
                key.get_ref()
            );
            mistakes.add(value.span(), text);
            continue;
        };
        if values.is_empty() {
            mistakes.add(
                value.span(),
                format!("{}: the list is empty; nothing would be measured", key.get_ref()),
            );
        }
        let each =
            values.iter().filter_map(|value| match PLACES.contains(&key.get_ref().as_ref()) {
                true => at_a_place(key, value, mistakes),
                false => vocabulary.setting(key, value, mistakes),
            });
        matrix.push(each.collect());
    }
    matrix
}
