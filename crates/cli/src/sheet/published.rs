//! Published results of the experiment that a sheet repeats.

use super::errors::SheetErrors;
use super::head::time;
use latlab_model::campaign::{Published, PublishedFigure};
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 3] = ["source", "doubts", "figure"];
const FIGURE_KEYS: [&str; 4] = ["scenario", "of", "maximum", "note"];

pub fn read(table: &DeTable, mistakes: &mut SheetErrors) -> Published {
    let mut published = Published::default();
    for (key, value) in table {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("source", DeValue::String(text)) => published.source = text.to_string(),
            ("doubts", DeValue::Array(list)) => {
                published.doubts = list
                    .iter()
                    .filter_map(|one| Some(one.get_ref().as_str()?.to_string()))
                    .collect();
            }
            ("figure", DeValue::Array(list)) => {
                let tables = list.iter().filter_map(|one| one.get_ref().as_table());
                published.figures = tables.map(|table| figure(table, mistakes)).collect();
            }
            (name, other) if KEYS.contains(&name) => {
                let expected = if name == "source" { "a text" } else { "a list" };
                let text = format!("{name}: expected {expected}, found {}", other.type_str());
                mistakes.add(value.span(), text);
            }
            (name, _) => mistakes.unknown(key.span(), name, "[published]", &KEYS),
        }
    }
    published
}

fn figure(table: &DeTable, mistakes: &mut SheetErrors) -> PublishedFigure {
    let mut figure = PublishedFigure::default();
    for (key, value) in table {
        let text = || value.get_ref().as_str().unwrap_or_default().to_string();
        match key.get_ref().as_ref() {
            "scenario" => figure.scenario = text(),
            "of" => figure.of = text(),
            "note" => figure.note = Some(text()),
            "maximum" => match time(value.get_ref()) {
                Some(time) => figure.max_ns = Some(time),
                None => mistakes.add(value.span(), "maximum: expected a time such as \"71us\""),
            },
            name => mistakes.unknown(key.span(), name, "a published figure", &FIGURE_KEYS),
        }
    }
    figure
}
