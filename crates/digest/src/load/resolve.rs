//! Turns a user's text and a definition into a fully specified load.

use super::definition::Definition;
use super::parameter::Kind;
use super::template::Template;
use super::values::Values;
use latlab_model::Nanos;
use latlab_model::load::{
    EndRule, Load, LoadProcess, MinimumRate, RateRule, Requirements, VersionRule,
};
use std::collections::BTreeMap;

/// The name of the definition that a text asks for.
pub fn name_of(words: &str) -> &str {
    words.split_once(',').map_or(words, |(name, _)| name).trim()
}

/// The load that a text asks for; an error is one line, without the text.
pub fn resolve(
    words: &str,
    definition: &Definition,
    definitions: Option<String>,
) -> Result<Load, String> {
    let values = values(words, definition)?;
    let process = |process: &super::definition::Process| {
        let mut argv = vec![process.program.clone()];
        for argument in &process.args {
            argv.extend(argument.expand(&values)?);
        }
        Ok::<_, String>(LoadProcess { argv, ready: process.ready.clone() })
    };
    let fill = |text: &String| Template::parse(text)?.fill(&values);
    let number = |text: &Option<String>| match text {
        None => Ok(0),
        Some(text) => {
            let text = fill(text)?;
            text.parse::<u64>().map_err(|_| format!("'{text}' is not a number"))
        }
    };
    let environment = definition.environment.iter();
    let environment = environment.map(|(name, value)| Ok((name.clone(), fill(value)?)));
    Ok(Load {
        words: words.trim().to_string(),
        name: definition.name.clone(),
        about: definition.about.clone(),
        definitions,
        processes: definition.process.iter().map(process).collect::<Result<_, _>>()?,
        environment: environment.collect::<Result<_, String>>()?,
        version: definition.version.as_ref().map(|version| VersionRule {
            args: version.args.clone(),
            pattern: version.pattern.clone(),
        }),
        rates: definition
            .rate
            .iter()
            .map(|rate| RateRule {
                name: rate.name.clone(),
                line: rate.line.clone(),
                pattern: rate.pattern.clone(),
                unit: rate.unit.clone(),
                at_end: rate.at_end,
            })
            .collect(),
        evidence: definition.evidence.as_ref().map(|evidence| evidence.counter),
        least: MinimumRate {
            cpu_share: definition.least.cpu_share,
            evidence_per_second: definition.least.evidence_per_second,
        },
        restart: definition.restart,
        end: EndRule {
            signal: definition.end.signal,
            grace_ns: definition.end.grace.parse::<Nanos>().map_err(|error| error.to_string())?,
        },
        needs: Requirements {
            memory_bytes: number(&definition.needs.memory)?,
            disk_bytes: number(&definition.needs.disk)?,
            processes: number(&definition.needs.processes)?,
        },
        packages: definition.packages.clone(),
    })
}

fn values(words: &str, definition: &Definition) -> Result<Values, String> {
    let mut given: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, value) in pairs(words, definition)? {
        if given.insert(name, value).is_some() {
            return Err(format!("{name} is given twice"));
        }
    }
    let mut values = BTreeMap::new();
    for (name, parameter) in &definition.parameters {
        let value = parameter.value(given.get(name.as_str()).copied());
        match value.map_err(|text| format!("{name}={text}"))? {
            Some(value) => values.insert(name.clone(), value),
            None => {
                return Err(format!("{name} is missing: {},{name}=…", definition.name));
            }
        };
    }
    Ok(Values::new(values))
}

/// The parts after the name. A text value may contain commas: it extends to the next known
/// parameter.
fn pairs<'a>(words: &'a str, definition: &Definition) -> Result<Vec<(&'a str, &'a str)>, String> {
    let takes = || match definition.parameters.is_empty() {
        true => "takes no parameters".to_string(),
        false => {
            let names: Vec<&str> = definition.parameters.keys().map(String::as_str).collect();
            format!("takes {}", names.join(", "))
        }
    };
    let Some((_, mut rest)) = words.split_once(',') else { return Ok(Vec::new()) };
    let mut pairs = Vec::new();
    loop {
        let Some((name, after)) = rest.split_once('=') else {
            return Err(format!("'{rest}': expected ARG=VALUE; {takes}", takes = takes()));
        };
        let name = name.trim();
        let Some(parameter) = definition.parameters.get(name) else {
            return Err(format!("{} has no parameter '{name}': {}", definition.name, takes()));
        };
        let end = match parameter.kind {
            Kind::Text => next_known(after, definition),
            _ => after.find(','),
        };
        let Some(end) = end else {
            pairs.push((name, after));
            return Ok(pairs);
        };
        pairs.push((name, &after[..end]));
        rest = &after[end + 1..];
    }
}

/// The comma before the next `NAME=` of a known parameter.
fn next_known(text: &str, definition: &Definition) -> Option<usize> {
    let commas = text.match_indices(',').map(|(at, _)| at);
    commas.into_iter().find(|at| {
        let name = text[at + 1..].split_once('=').map(|(name, _)| name.trim());
        name.is_some_and(|name| definition.parameters.contains_key(name))
    })
}
