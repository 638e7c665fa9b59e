//! The file of a load.

use super::parameter::Parameter;
use super::rates::compile;
use super::template::{Template, words};
use super::values::Values;
use latlab_model::load::{EndSignal, Evidence};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a load is, before its parameters have values.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Definition {
    /// Its name, which is that of its file.
    #[serde(skip)]
    pub name: String,
    /// What it loads, in one line.
    pub about: String,
    /// Whether it is started again when it ends.
    #[serde(default)]
    pub restart: bool,
    /// What the user may choose.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    /// Its processes; the last one is the load, those before serve it.
    pub process: Vec<Process>,
    /// Variables that its processes see.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// How its version is asked for.
    pub version: Option<Version>,
    /// Its own figures.
    #[serde(default)]
    pub rate: Vec<Rate>,
    /// The counter of the kernel that shows it as well.
    pub evidence: Option<Counter>,
    /// With less than this it did not run.
    #[serde(default)]
    pub least: MinimumRate,
    /// What of the machine it takes.
    #[serde(default)]
    pub needs: RequirementTexts,
    /// How it is ended.
    #[serde(default)]
    pub end: End,
    /// The package that holds it, by the name of the system.
    #[serde(default)]
    pub packages: BTreeMap<String, String>,
}

/// A process of a load.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// Its program.
    pub program: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<Argument>,
    /// What its output says when the next process may start.
    pub ready: Option<String>,
}

/// An argument, or several.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    /// One, with parameters in braces.
    One(String),
    /// The words of a text parameter.
    Words {
        /// Its name.
        words: String,
    },
    /// These as many times as a count says, `{number}` from 0 on.
    Repeat {
        /// Name of the count.
        repeat: String,
        /// What is repeated.
        args: Vec<String>,
    },
    /// These where a parameter is neither 0 nor empty.
    When {
        /// Its name.
        when: String,
        /// What is added.
        args: Vec<String>,
    },
}

/// How its version is asked for.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// Arguments of the last process' program.
    pub args: Vec<String>,
    /// A regular expression with the group `version`.
    pub pattern: String,
}

/// A figure in the output.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rate {
    /// What it is.
    pub name: String,
    /// A text that every line with it holds.
    pub line: String,
    /// A regular expression with the group `value`, and perhaps `of` and `scale`.
    pub pattern: String,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// Whether it counts where it is printed after the load was asked to end.
    #[serde(default)]
    pub at_end: bool,
}

/// A counter of the kernel.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// Its name.
    pub counter: Evidence,
}

/// With less than this it did not run.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct MinimumRate {
    /// Share of one CPU.
    pub cpu_share: f64,
    /// Growth of its counter each second.
    pub evidence_per_second: f64,
}

/// What of the machine it takes, as numbers or products of parameters: `{groups*fds*2}`.
#[derive(Clone, PartialEq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RequirementTexts {
    /// Bytes of memory.
    pub memory: Option<String>,
    /// Bytes of the disk.
    pub disk: Option<String>,
    /// Processes and threads.
    pub processes: Option<String>,
}

/// How it is ended.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct End {
    /// By which signal.
    pub signal: EndSignal,
    /// What is left after this time is killed.
    pub grace: String,
}

impl Default for End {
    fn default() -> End {
        End { signal: EndSignal::Term, grace: "5s".to_string() }
    }
}

/// What is wrong with a file, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// Line, from 1 on.
    pub line: usize,
    /// What is wrong, and what was expected.
    pub text: String,
}

impl Definition {
    /// The definition that a file holds; every mistake that can be seen without running it is told.
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

    /// A word that stands where the mistake is, and the mistake.
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

    /// Every text that may hold parameters.
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
    /// The arguments that it comes to.
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
