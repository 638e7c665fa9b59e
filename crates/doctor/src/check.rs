//! An entry of the catalogue, and how it turns an observation into a diagnosis.

use crate::effect::Effect;
use crate::facts::Facts;
use latlab_model::doctor::{CheckEntry, Diagnosis, Topic};
use latlab_model::run::Severity;
use latlab_model::shell::{Line, pattern, word};

/// One condition that the doctor checks.
///
/// `remedy` and `undo` may contain `{file}`, with its leading slash, and `{value}`.
pub struct Check {
    /// Stable name for scripts.
    pub code: &'static str,
    /// Default severity; an observation may override it.
    pub severity: Severity,
    pub topic: Topic,
    /// Effect on latencies.
    pub effect: Effect,
    /// A few words for the catalogue.
    pub title: &'static str,
    /// Why it matters, in one sentence.
    pub why: &'static str,
    /// Typical cost.
    pub cost: &'static str,
    /// The command that fixes it, or instructions if no command does.
    pub remedy: Option<&'static str>,
    /// How to undo the remedy.
    pub undo: Option<&'static str>,
    /// Returns an observation if the condition holds.
    pub observe: fn(&Facts<'_>) -> Option<Observation>,
}

/// What a check has seen.
pub struct Observation {
    /// The file that shows it.
    pub file: String,
    /// Its content, or the relevant part of it.
    pub value: String,
    /// What that means here, in one sentence.
    pub text: String,
    /// Overrides the severity of the catalogue.
    pub severity: Option<Severity>,
    /// Overrides the remedy of the catalogue and how to undo it.
    pub remedy: Option<(Remedy, Option<Remedy>)>,
}

impl Observation {
    /// An observation of this value in this file.
    pub fn new(
        file: impl Into<String>,
        value: impl Into<String>,
        text: impl Into<String>,
    ) -> Observation {
        let (file, value, text) = (file.into(), value.into(), text.into());
        Observation { file, value, text, severity: None, remedy: None }
    }

    /// Overrides the severity.
    pub fn with_severity(self, severity: Severity) -> Observation {
        Observation { severity: Some(severity), ..self }
    }

    /// Overrides the remedy.
    pub fn with_remedy(self, remedy: impl Into<Remedy>, undo: Option<Remedy>) -> Observation {
        Observation { remedy: Some((remedy.into(), undo)), ..self }
    }
}

/// A remedy, or how to undo it.
pub enum Remedy {
    /// With `{file}` and `{value}` for what was seen.
    Template(&'static str),
    /// Used literally.
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
    /// The catalogue entry.
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

    /// The diagnosis for an observation.
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
