//! Parses a sheet and collects all mistakes.

use super::errors::SheetErrors;
use super::head::{self, Head};
use super::options::{self, SheetOption, value_text};
use super::{published, texts};
use crate::flags::sheet::NOT_DETACHED;
use latlab_model::campaign::Published;
use latlab_model::sanitize::plain_name;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A parsed sheet.
pub struct Sheet {
    pub head: Head,
    /// Settings of every scenario that does not override them.
    pub defaults: Settings,
    /// The values of the matrix, grouped by option.
    pub matrix: Vec<Vec<SheetOption>>,
    pub scenarios: Vec<Scenario>,
    /// Published results to compare with.
    pub published: Option<Published>,
}

pub struct Scenario {
    pub name: String,
    /// The place of the name.
    pub at: Range<usize>,
    pub about: Option<String>,
    pub settings: Settings,
}

/// Settings of one table.
#[derive(Default)]
pub struct Settings {
    /// The valid ones.
    pub list: Vec<SheetOption>,
    /// Whether some were invalid, so that no plan can be made.
    pub spoiled: bool,
}

/// The only key of `[defaults]`, `[matrix]` and `[[scenario]]` that is no option of `latlab run`:
/// the kernel that must be running.
const KERNEL: &str = "kernel";

/// Parses a sheet; a mistake does not stop the parsing.
pub fn read(text: &str, file_stem: &str, mistakes: &mut SheetErrors) -> Sheet {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        mistakes.add(error.span().unwrap_or(0..0), error.message().replace('\n', ", "));
    }
    let table = table.get_ref();
    texts::check(text, table, mistakes);
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
                sheet.defaults = settings(table, &[], "[defaults]", mistakes);
            }
            ("matrix", DeValue::Table(table)) => sheet.matrix = matrix(table, mistakes),
            ("scenario", DeValue::Array(list)) => {
                begun = true;
                let read = |one| scenario(one, mistakes);
                sheet.scenarios = list.iter().filter_map(read).collect();
            }
            ("published", DeValue::Table(table)) => {
                sheet.published = Some(published::read(table, mistakes));
            }
            ("defaults" | "matrix" | "published", other) => {
                let text =
                    format!("expected a table, found {}: [{}]", other.type_str(), key.get_ref());
                mistakes.add(key.span(), text);
            }
            ("scenario", _) => mistakes.add(key.span(), "write scenarios as [[scenario]]"),
            (name, _) if head::KEYS.contains(&name) => {}
            (name, _) if options::find(name).is_some() => mistakes.add(
                key.span(),
                format!(
                    "'{name}' is outside of a scenario; move it to [defaults] for all scenarios"
                ),
            ),
            (name, _) => mistakes.unknown(key.span(), name, "a sheet", &all_keys()),
        }
    }
    if sheet.scenarios.is_empty() && !begun && errors.is_empty() {
        mistakes
            .add(0..0, "the sheet has no scenario; expected at least one [[scenario]] with a name");
    }
    check_duplicates(&sheet, mistakes);
    sheet
}

fn all_keys() -> Vec<&'static str> {
    head::KEYS.iter().copied().chain(["defaults", "matrix", "scenario", "published"]).collect()
}

fn check_duplicates(sheet: &Sheet, mistakes: &mut SheetErrors) {
    for (index, one) in sheet.scenarios.iter().enumerate() {
        if sheet.scenarios[..index].iter().any(|other| other.name == one.name) {
            mistakes.add(one.at.clone(), format!("duplicate scenario '{}'", one.name));
        }
        for figure in sheet.published.iter().flat_map(|published| &published.figures) {
            let known: Vec<&str> = sheet.scenarios.iter().map(|one| one.name.as_str()).collect();
            if index == 0 && !known.contains(&figure.scenario.as_str()) {
                let text = format!(
                    "a published figure names the scenario '{}'; available: {}",
                    figure.scenario,
                    known.join(", ")
                );
                mistakes.add(one.at.clone(), text);
            }
        }
    }
}

fn scenario(value: &Spanned<DeValue>, mistakes: &mut SheetErrors) -> Option<Scenario> {
    let DeValue::Table(table) = value.get_ref() else {
        mistakes.add(value.span(), "write scenarios as [[scenario]]");
        return None;
    };
    let text = |key: &str, mistakes: &mut SheetErrors| {
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
    let about = text("about", mistakes).map(|(about, _)| head::in_one_line(&about));
    let mut settings = settings(table, &["about", "name"], "a scenario", mistakes);
    match &name {
        None if table.get("name").is_none() => {
            mistakes.add(value.span(), "scenario without a name; add name = \"…\"")
        }
        Some((name, at)) if plain_name(name).is_err() => {
            mistakes.add(at.clone(), "name: expected a few plain words")
        }
        _ => {}
    }
    settings.spoiled |= name.is_none();
    let (name, at) = name.unwrap_or_else(|| (String::new(), value.span()));
    Some(Scenario { name, at, about, settings })
}

fn settings(table: &DeTable, others: &[&str], place: &str, mistakes: &mut SheetErrors) -> Settings {
    let before = mistakes.count();
    let mut list = Vec::new();
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        if others.contains(&name) {
            continue;
        }
        match check_known(key, place, others, mistakes) {
            true if name == KERNEL => list.extend(kernel(value, mistakes)),
            true => list.extend(options::setting(key, value, mistakes)),
            false => {}
        }
    }
    Settings { list, spoiled: mistakes.count() > before }
}

/// Whether a key is known in this place; if not, adds a mistake.
fn check_known(
    key: &Spanned<impl AsRef<str>>,
    place: &str,
    others: &[&str],
    mistakes: &mut SheetErrors,
) -> bool {
    let name = key.get_ref().as_ref();
    if name == KERNEL || options::find(name).is_some() {
        return true;
    }
    if matches!(name, "detach" | "board-folder") {
        mistakes.add(key.span(), NOT_DETACHED.to_string());
    } else if options::is_of_the_command(name) {
        let text = format!(
            "'{name}' is an option of the command, not of a scenario; give it to latlab run"
        );
        mistakes.add(key.span(), text);
    } else if head::KEYS.contains(&name) {
        mistakes.add(
            key.span(),
            format!("'{name}' applies to the whole sheet; put it above all tables"),
        );
    } else {
        let known: Vec<&str> = options::options()
            .map(|option| option.name)
            .chain([KERNEL])
            .chain(others.iter().copied())
            .collect();
        mistakes.unknown(key.span(), name, place, &known);
    }
    false
}

fn kernel(value: &Spanned<DeValue>, mistakes: &mut SheetErrors) -> Option<SheetOption> {
    let at = value.span();
    match value.get_ref() {
        DeValue::String(text) if !text.trim().is_empty() => {
            let shown = value_text(value.get_ref());
            Some(SheetOption { key: KERNEL.into(), words: Vec::new(), text: shown, at })
        }
        _ => {
            mistakes.add(at, format!("{KERNEL}: expected a text"));
            None
        }
    }
}

fn matrix(table: &DeTable, mistakes: &mut SheetErrors) -> Vec<Vec<SheetOption>> {
    // In the order of the file: the last key changes fastest.
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    let mut matrix = Vec::new();
    for (key, value) in keys {
        if !check_known(key, "[matrix]", &[], mistakes) {
            continue;
        }
        let DeValue::Array(values) = value.get_ref() else {
            let text = format!(
                "{}: expected a list of values; put a single value into [defaults]",
                key.get_ref()
            );
            mistakes.add(value.span(), text);
            continue;
        };
        if values.is_empty() {
            mistakes.add(value.span(), format!("{}: empty list", key.get_ref()));
        }
        let each = values.iter().filter_map(|value| match key.get_ref() == KERNEL {
            true => kernel(value, mistakes),
            false => options::setting(key, value, mistakes),
        });
        matrix.push(each.collect());
    }
    matrix
}
