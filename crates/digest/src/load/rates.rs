//! Figures in the output of a load.

use latlab_model::load::{LoadRate, RateRule};
use regex_lite::Regex;
use std::collections::BTreeMap;

/// Compiles a regular expression that must have a group of this name.
pub fn compile(pattern: &str, group: &str) -> Result<Regex, String> {
    let regex = Regex::new(pattern).map_err(|error| format!("'{pattern}': {error}"))?;
    match regex.capture_names().flatten().any(|name| name == group) {
        true => Ok(regex),
        false => Err(format!("'{pattern}': expected a group (?<{group}>…)")),
    }
}

/// The text of a pattern's group in a multi-line text.
pub fn find_group(pattern: &str, group: &str, text: &str) -> Option<String> {
    let regex = compile(pattern, group).ok()?;
    Some(regex.captures(text)?.name(group)?.as_str().to_string())
}

/// A figure found in a line.
#[derive(Clone, PartialEq, Debug)]
pub struct RateMatch {
    pub name: String,
    /// Subject, if there are several of one name.
    pub of: Option<String>,
    pub unit: String,
    pub value: f64,
}

/// Reads the figures of one load, line by line.
#[derive(Debug)]
pub struct RateReader {
    rules: Vec<(RateRule, Option<Regex>)>,
    rates: BTreeMap<(String, Option<String>, String), LoadRate>,
}

impl RateReader {
    /// A rule that is not a regular expression reads nothing.
    pub fn new(rules: &[RateRule]) -> RateReader {
        let rules = rules.iter();
        let rules = rules.map(|rule| (rule.clone(), compile(&rule.pattern, "value").ok()));
        RateReader { rules: rules.collect(), rates: BTreeMap::new() }
    }

    /// The figures in a line, which are also counted; after the load was asked to end, only those
    /// of the whole run.
    pub fn read(&mut self, line: &str, after_end: bool) -> Vec<RateMatch> {
        let counted = self.rules.iter().filter(|(rule, _)| rule.at_end || !after_end);
        let found: Vec<RateMatch> = counted.filter_map(|rule| match_rate(rule, line)).collect();
        found.iter().for_each(|figure| self.count(figure));
        found
    }

    fn count(&mut self, figure: &RateMatch) {
        let RateMatch { name, of, unit, value } = figure.clone();
        let key = (name.clone(), of.clone(), unit.clone());
        let rate = self.rates.entry(key).or_insert(LoadRate {
            name,
            of,
            unit,
            count: 0,
            min: value,
            mean: 0.0,
            max: value,
            last: value,
        });
        rate.count += 1;
        rate.min = rate.min.min(value);
        rate.max = rate.max.max(value);
        rate.mean += (value - rate.mean) / rate.count as f64;
        rate.last = value;
    }

    /// All figures, without those that stayed zero, as unused parts of a program do; if all did,
    /// they are kept.
    pub fn rates(self) -> Vec<LoadRate> {
        let is_something = |rate: &LoadRate| rate.min != 0.0 || rate.max != 0.0;
        let any = self.rates.values().any(is_something);
        self.rates.into_values().filter(|rate| !any || is_something(rate)).collect()
    }
}

/// The factor of an SI prefix.
fn thousands(prefix: &str) -> f64 {
    match prefix {
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => 1.0,
    }
}

fn match_rate((rule, regex): &(RateRule, Option<Regex>), line: &str) -> Option<RateMatch> {
    if !line.contains(&rule.line) {
        return None;
    }
    let groups = regex.as_ref()?.captures(line)?;
    let text = |group: &str| groups.name(group).map(|found| found.as_str().trim().to_string());
    let value: f64 = text("value")?.parse().ok()?;
    Some(RateMatch {
        name: rule.name.clone(),
        of: text("of"),
        unit: rule.unit.clone(),
        value: value * text("scale").map_or(1.0, |prefix| thousands(&prefix)),
    })
    .filter(|figure| figure.value.is_finite())
}
