//! The definition file of a load.

use super::parameter::Parameter;
use super::rates::compile;
use super::template::{Template, words};
use super::values::Values;
use latlab_model::load::{EndSignal, Evidence};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A load before its parameters have values.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Definition {
    /// Same as that of its file.
    #[serde(skip)]
    pub name: String,
    /// What it loads, in one line.
    pub about: String,
    /// Whether it is restarted when it ends.
    #[serde(default)]
    pub restart: bool,
    /// What the user may choose.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    /// Its processes; the last one is the load, those before serve it.
    pub process: Vec<Process>,
    /// Environment variables of its processes.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// How to query its version.
    pub version: Option<Version>,
    /// Its own figures.
    #[serde(default)]
    pub rate: Vec<Rate>,
    /// The kernel counter that also shows its activity.
    pub evidence: Option<Counter>,
    /// Below this rate it did not run.
    #[serde(default)]
    pub least: MinimumRate,
    /// Resources it takes from the machine.
    #[serde(default)]
    pub needs: RequirementTexts,
    /// How to end it.
    #[serde(default)]
    pub end: End,
    /// The package that provides it, by distribution.
    #[serde(default)]
    pub packages: BTreeMap<String, String>,
}

/// A process of a load.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    pub program: String,
    #[serde(default)]
    pub args: Vec<Argument>,
    /// Output after which the next process may start.
    pub ready: Option<String>,
}

/// One or more arguments.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    /// A single one, with parameters in braces.
    One(String),
    /// The words of a text parameter.
    Words { words: String },
    /// These, repeated; `{number}` counts from 0.
    Repeat {
        /// Name of the count parameter.
        repeat: String,
        /// What is repeated.
        args: Vec<String>,
    },
    /// These if a parameter is neither 0 nor empty.
    When {
        when: String,
        /// What is added.
        args: Vec<String>,
    },
}

/// How to query its version.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// Arguments for the program of the last process.
    pub args: Vec<String>,
    /// A regular expression with the group `version`.
    pub pattern: String,
}

/// A figure in the output.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rate {
    pub name: String,
    /// A text that every line with the figure contains.
    pub line: String,
    /// A regular expression with the group `value`, and optionally `of` and `scale`.
    pub pattern: String,
    #[serde(default)]
    pub unit: String,
    /// Whether it counts if printed after the load was asked to end.
    #[serde(default)]
    pub at_end: bool,
}

/// A kernel counter.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    pub counter: Evidence,
}

/// Below this rate it did not run.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct MinimumRate {
    /// Share of one CPU.
    pub cpu_share: f64,
    /// Growth of its counter per second.
    pub evidence_per_second: f64,
}

/// Resources it takes, as numbers or products of parameters: `{groups*fds*2}`.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RequirementTexts {
    /// Bytes of memory.
    pub memory: Option<String>,
    /// Bytes of disk.
    pub disk: Option<String>,
    /// Processes and threads.
    pub processes: Option<String>,
}

/// How to end it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct End {
    pub signal: EndSignal,
    /// Processes left after this time are killed.
    pub grace: String,
}

impl Default for End {
    fn default() -> End {
        End { signal: EndSignal::Term, grace: "5s".to_string() }
    }
}

/// An error in a file, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// The error, and what was expected.
    pub text: String,
}

impl Definition {
    /// Parses a definition; reports every mistake that can be detected without running it.
    pub fn parse(name: &str, text: &str) -> Result<Definition, Mistake> {
        let mut definition: Definition = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            Mistake { line: line_of(text, at), text: error.message().replace('\n', ", ") }
        })?;
        definition.name = name.to_string();
        definition.check().map_err(|(word, reason)| Mistake {
            line: text.find(&word).map_or(1, |at| line_of(text, at)),
            text: reason,
        })?;
        Ok(definition)
    }

    /// The error is a word at its place in the file, and the message.
    fn check(&self) -> Result<(), (String, String)> {
        let wrong = |word: &str, text: String| Err((word.to_string(), text));
        if self.process.is_empty() {
            return wrong("process", "expected at least one [[process]]".into());
        }
        for (name, parameter) in &self.parameters {
            parameter.value(None).map_err(|text| (name.clone(), format!("{name}: {text}")))?;
        }
        for text in self.templates() {
            let unknown = |name: &str| name != "number" && !self.parameters.contains_key(name);
            let template = Template::parse(&text).map_err(|reason| (text.clone(), reason))?;
            if let Some(name) = template.names().into_iter().find(|name| unknown(name)) {
                return wrong(&text, format!("'{text}': unknown parameter '{name}'"));
            }
        }
        for argument in self.process.iter().flat_map(|process| &process.args) {
            let (Argument::Words { words: name }
            | Argument::Repeat { repeat: name, .. }
            | Argument::When { when: name, .. }) = argument
            else {
                continue;
            };
            if !self.parameters.contains_key(name) {
                return wrong(name, format!("unknown parameter '{name}'"));
            }
        }
        let rates = self.rate.iter().map(|rate| (&rate.pattern, "value"));
        for (pattern, group) in rates.chain(self.version.iter().map(|v| (&v.pattern, "version"))) {
            compile(pattern, group).map_err(|reason| (pattern.clone(), reason))?;
        }
        if let Err(error) = self.end.grace.parse::<latlab_model::Nanos>() {
            return wrong(&self.end.grace, error.to_string());
        }
        Ok(())
    }

    /// Every text that may contain parameters.
    fn templates(&self) -> Vec<String> {
        let arguments = |argument: &Argument| match argument {
            Argument::One(text) => vec![text.clone()],
            Argument::Words { .. } => Vec::new(),
            Argument::Repeat { args, .. } | Argument::When { args, .. } => args.clone(),
        };
        let args = self.process.iter().flat_map(|process| process.args.iter().flat_map(arguments));
        let needs = [&self.needs.memory, &self.needs.disk, &self.needs.processes];
        args.chain(self.environment.values().cloned())
            .chain(needs.into_iter().flatten().cloned())
            .collect()
    }
}

impl Argument {
    /// The resulting arguments.
    pub(crate) fn expand(&self, values: &Values) -> Result<Vec<String>, String> {
        let each = |texts: &[String], values: &Values| {
            texts.iter().map(|text| Template::parse(text)?.fill(values)).collect()
        };
        match self {
            Argument::One(text) => Ok(vec![Template::parse(text)?.fill(values)?]),
            Argument::Words { words: name } => words(&values.text(name)?),
            Argument::When { when, args } => match values.text(when)?.as_str() {
                "0" | "" => Ok(Vec::new()),
                _ => each(args, values),
            },
            Argument::Repeat { repeat, args } => {
                let mut all = Vec::new();
                for number in 0..values.number(repeat)? {
                    all.extend::<Vec<String>>(each(args, &values.with_number(number))?);
                }
                Ok(all)
            }
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at.min(text.len())].matches('\n').count() + 1
}
