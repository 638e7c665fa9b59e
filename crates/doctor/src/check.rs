//! An entry of the catalogue, and what it makes of what it sees.

use crate::effect::Effect;
use crate::facts::Facts;
use latlab_model::doctor::{CheckEntry, Diagnosis, Topic};
use latlab_model::run::Severity;
use latlab_model::shell::{Line, pattern, word};

/// One thing that the doctor looks for.
///
/// `remedy` and `undo` may hold `{file}`, with its leading slash, and `{value}`.
pub struct Check {
    /// Stable name for scripts.
    pub code: &'static str,
    /// How much it weighs, unless what is seen says otherwise.
    pub severity: Severity,
    /// What it is about.
    pub topic: Topic,
    /// What it can do to latencies.
    pub effect: Effect,
    /// What it is, in a few words, for the catalogue.
    pub title: &'static str,
    /// Why it matters, in one sentence.
    pub why: &'static str,
    /// What it typically costs.
    pub cost: &'static str,
    /// The command that mends it, or what to do where no command does.
    pub remedy: Option<&'static str>,
    /// How to undo the remedy.
    pub undo: Option<&'static str>,
    /// Looks for it; none where it is not so, or where nothing tells.
    pub observe: fn(&Facts<'_>) -> Option<Observation>,
}

/// What a check has seen.
pub struct Observation {
    /// The file that says so.
    pub file: String,
    /// What stands in it, or the part of it that matters.
    pub value: String,
    /// What that means here, in one sentence.
    pub text: String,
    /// Another weight than that of the catalogue.
    pub severity: Option<Severity>,
    /// Another remedy than that of the catalogue, and how to undo it.
    pub remedy: Option<(Remedy, Option<Remedy>)>,
}

impl Observation {
    /// This stands in that file.
    pub fn new(
        file: impl Into<String>,
        value: impl Into<String>,
        text: impl Into<String>,
    ) -> Observation {
        let (file, value, text) = (file.into(), value.into(), text.into());
        Observation { file, value, text, severity: None, remedy: None }
    }

    /// It weighs this much here.
    pub fn with_severity(self, severity: Severity) -> Observation {
        Observation { severity: Some(severity), ..self }
    }

    /// Here something else mends it.
    pub fn with_remedy(self, remedy: impl Into<Remedy>, undo: Option<Remedy>) -> Observation {
        Observation { remedy: Some((remedy.into(), undo)), ..self }
    }
}

/// What to do, or how to undo it.
pub enum Remedy {
    /// With `{file}` and `{value}` for what was seen.
    Template(&'static str),
    /// As it is.
    Line(Line),
}

impl From<&'static str> for Remedy {
    fn from(template: &'static str) -> Remedy {
        Remedy::Template(template)
    }
}

impl From<Line> for Remedy {
    fn from(line: Line) -> Remedy {
        Remedy::Line(line)
    }
}

impl Check {
    /// What the catalogue says of it.
    pub fn entry(&self) -> CheckEntry {
        CheckEntry {
            code: self.code.to_string(),
            severity: self.severity,
            topic: self.topic,
            effect: self.effect.clone(),
            title: self.title.to_string(),
            why: self.why.to_string(),
            cost: self.cost.to_string(),
            remedy: self.remedy.map(Line::new),
            undo: self.undo.map(Line::new),
        }
    }

    /// What is said of what was seen.
    pub fn diagnosis(&self, seen: Observation) -> Diagnosis {
        let Observation { file, value, text, severity, remedy } = seen;
        let (remedy, undo) = match remedy {
            Some((remedy, undo)) => (Some(remedy), undo),
            None => (self.remedy.map(Remedy::from), self.undo.map(Remedy::from)),
        };
        // Values and names may come from an untrusted machine.
        let line = |remedy| match remedy {
            Remedy::Template(template) => {
                let file = pattern(&format!("/{file}"));
                Line::filled(template, &[("file", file), ("value", word(&value))])
            }
            Remedy::Line(line) => line,
        };
        let (remedy, undo) = (remedy.map(line), undo.map(line));
        Diagnosis {
            code: self.code.to_string(),
            severity: severity.unwrap_or(self.severity),
            topic: self.topic,
            effect: self.effect.clone(),
            text,
            why: self.why.to_string(),
            cost: self.cost.to_string(),
            remedy,
            undo,
            file,
            value,
        }
    }
}
