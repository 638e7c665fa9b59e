//! What the reader of a run must know: codes with parameters. Sentences are made when they are
//! shown, so that a better sentence also serves an old run.

mod attach;
mod capture;
mod condition_parts;
mod conditions;
mod ends;
mod import;
mod journal;
mod kinds;
mod loads;
mod losses;
mod machine;
mod own_threads;
mod setup;

pub use attach::AttachFinding;
pub use capture::{CaptureFinding, Reading};
pub use condition_parts::{
    Latencies, LatencyComparison, RivalThread, ThreadShare, Throttling, When,
};
pub use conditions::{ConditionFinding, RT_THROTTLING};
pub use ends::{CpuRate, EndFinding};
pub use import::ImportFinding;
pub use journal::{JournalFinding, JournalPart};
pub use kinds::FindingEntry;
pub use loads::{LoadDeath, LoadFinding, LoadShortfall, LoadStart};
pub use losses::{IntervalFlaw, LossFinding};
pub use machine::MachineFinding;
pub use own_threads::OwnThreadFinding;
pub use setup::SetupFinding;

use crate::Nanos;
use crate::shell::Line;
use crate::text_enum::text_enum;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::fmt;

text_enum! {
    /// How much a finding weighs.
    Severity {
        /// Good to know.
        Info = "info",
        /// May have changed the figures.
        Warning = "warning",
        /// Makes figures worthless or incomplete.
        Error = "error",
    }
}

text_enum! {
    /// What a finding does to the verdict.
    VerdictEffect {
        /// Nothing: the counts decide.
        None = "none",
        /// Latencies may be missing, so that a run without a miss is `inconclusive`.
        ForbidsPass = "no-pass",
        /// The figures do not say what was asked: the verdict is `invalid`.
        MakesInvalid = "invalid",
    }
}

/// How much a finding weighs, and what it does to the verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Weight {
    /// How much.
    pub severity: Severity,
    /// What it does to the verdict.
    #[serde(alias = "invalidates", deserialize_with = "stored_effect")]
    pub effect: VerdictEffect,
}

const INFO: Weight = Weight { severity: Severity::Info, effect: VerdictEffect::None };
const WARNING: Weight = Weight { severity: Severity::Warning, effect: VerdictEffect::None };
const ERROR: Weight = Weight { severity: Severity::Error, effect: VerdictEffect::None };
const NO_PASS: Weight = Weight { severity: Severity::Warning, effect: VerdictEffect::ForbidsPass };
const INVALID: Weight = Weight { severity: Severity::Error, effect: VerdictEffect::MakesInvalid };

/// Names that no parameter of a finding may have, because output puts them beside the parameters.
pub const RESERVED: [&str; 9] =
    ["code", "at_ns", "thread", "more", "severity", "text", "remedy", "effect", "invalidates"];

/// Something the reader of a run must know: a code with its parameters.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What happened.
    #[serde(flatten)]
    pub kind: FindingKind,
    /// When it happened, on CLOCK_MONOTONIC.
    pub at_ns: Option<Nanos>,
    /// The measuring thread it belongs to.
    pub thread: Option<u32>,
    /// Its sentences, in what a command prints only.
    #[serde(flatten)]
    rendered: Option<Box<Rendered>>,
}

/// What a command prints of a finding beside its parameters. Documents of schema 1 to 4 store it,
/// later ones do not.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Rendered {
    /// How much it weighs.
    severity: Severity,
    /// What happened, in sentences.
    text: String,
    /// What to do about it.
    remedy: Option<Line>,
    /// What it does to the verdict.
    effect: VerdictEffect,
}

/// What happened, by topic.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FindingKind {
    /// What the machine did.
    Machine(MachineFinding),
    /// What a capture shows.
    Capture(CaptureFinding),
    /// What an imported file does not tell.
    Import(ImportFinding),
    /// What the conditions did.
    Condition(ConditionFinding),
    /// Other runs of latlab, and what was set.
    Setup(SetupFinding),
    /// What the loads did.
    Load(LoadFinding),
    /// What the threads of a program did.
    Attach(AttachFinding),
    /// What latlab's own threads did.
    OwnThread(OwnThreadFinding),
    /// How threads, agent and guest ended.
    End(EndFinding),
    /// What was lost.
    Loss(LossFinding),
    /// What happened to the journal.
    Journal(JournalFinding),
    /// Further findings of a kind.
    More(MoreFindings),
    /// A finding as another version stored it.
    Recorded(RecordedFinding),
}

/// Stands for the findings of a kind that were counted, but not kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MoreFindings {
    /// The kind.
    pub code: String,
    /// How many.
    pub more: u64,
    /// What the last one weighed.
    pub weight: Weight,
}

/// A finding with its sentences: one of schema 1 to 4, or one that this version does not know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedFinding {
    /// Stable name for scripts.
    pub code: String,
    /// How much it weighs.
    #[serde(default = "unknown_severity")]
    pub severity: Severity,
    /// What happened, in one sentence.
    #[serde(default)]
    pub text: String,
    /// What it does to the verdict.
    #[serde(default = "no_effect", alias = "invalidates", deserialize_with = "stored_effect")]
    pub effect: VerdictEffect,
}

/// Of a kind that this version does not know.
fn unknown_severity() -> Severity {
    Severity::Warning
}

fn no_effect() -> VerdictEffect {
    VerdictEffect::None
}

/// Earlier documents only say whether a finding makes the verdict `invalid`.
fn stored_effect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<VerdictEffect, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Effect(VerdictEffect),
        Invalidates(bool),
    }
    Ok(match Stored::deserialize(deserializer)? {
        Stored::Effect(effect) => effect,
        Stored::Invalidates(true) => VerdictEffect::MakesInvalid,
        Stored::Invalidates(false) => VerdictEffect::None,
    })
}

/// The topics of the reference: title, introduction in Markdown, rows.
pub const TOPICS: &[(&str, &str, &[FindingEntry])] = &[
    ("The machine", "", MachineFinding::ROWS),
    ("Captures", "These come from [`latlab respond`](../guide/respond.md).", CaptureFinding::ROWS),
    (
        "Imported files",
        "These come from [`latlab import`](../guide/import.md).",
        ImportFinding::ROWS,
    ),
    (
        "The conditions",
        "These come from the [conditions](../guide/conditions.md) that latlab reads during every \
         run. Each names the time, the latencies of that time, and those of the rest of the run.",
        ConditionFinding::ROWS,
    ),
    ("Other runs, and settings", "", SetupFinding::ROWS),
    (
        "Loads",
        "These are about the programs of `--load`; see [loads](../guide/loads.md).",
        LoadFinding::ROWS,
    ),
    (
        "The threads of a program",
        "These come from [`latlab attach`](../guide/attach.md).",
        AttachFinding::ROWS,
    ),
    (
        "latlab's own threads",
        "These are about the threads of latlab that do not measure; see [what latlab costs \
         itself](../guide/own-threads.md).",
        OwnThreadFinding::ROWS,
    ),
    ("The end of threads, agent and guest", "", EndFinding::ROWS),
    ("Lost data", "", LossFinding::ROWS),
    ("The journal", "", JournalFinding::ROWS),
];

macro_rules! by_topic {
    ($($topic:ident($type:ident)),+) => {
        $(impl From<$type> for FindingKind {
            fn from(finding: $type) -> FindingKind { FindingKind::$topic(finding) }
        })+

        impl Finding {
            /// Stable name for scripts: `setting-refused`, `suspended`, `clock-stepped`.
            pub fn code(&self) -> &str {
                match &self.kind {
                    $(FindingKind::$topic(finding) => finding.code(),)+
                    FindingKind::More(more) => &more.code,
                    FindingKind::Recorded(recorded) => &recorded.code,
                }
            }

            /// How much it weighs, and what it does to the verdict.
            pub fn weight(&self) -> Weight {
                match &self.kind {
                    $(FindingKind::$topic(finding) => finding.weight(),)+
                    FindingKind::More(more) => more.weight,
                    FindingKind::Recorded(RecordedFinding { severity, effect, .. }) => {
                        Weight { severity: *severity, effect: *effect }
                    }
                }
            }

            /// What happened, in sentences.
            pub fn text(&self) -> String {
                match &self.kind {
                    $(FindingKind::$topic(finding) => finding.text(),)+
                    FindingKind::More(MoreFindings { code, more, .. }) => {
                        format!("There are {more} more findings with the code '{code}'.")
                    }
                    FindingKind::Recorded(recorded) => recorded.text.clone(),
                }
            }

            /// What to do about it.
            pub fn remedy(&self) -> Option<Line> {
                match &self.kind {
                    $(FindingKind::$topic(finding) => finding.remedy(),)+
                    // What stands in a file is not this program's advice.
                    FindingKind::More(_) | FindingKind::Recorded(_) => None,
                }
            }
        }

        /// The kind of a stored finding without its sentences; none where it is not known.
        fn known_kind(code: &str, fields: &Value) -> Option<FindingKind> {
            $(if $type::ROWS.iter().any(|row| row.code == code) {
                return $type::deserialize(fields).ok().map(FindingKind::$topic);
            })+
            None
        }
    };
}

by_topic! {
    Machine(MachineFinding),
    Capture(CaptureFinding),
    Import(ImportFinding),
    Condition(ConditionFinding),
    Setup(SetupFinding),
    Load(LoadFinding),
    Attach(AttachFinding),
    OwnThread(OwnThreadFinding),
    End(EndFinding),
    Loss(LossFinding),
    Journal(JournalFinding)
}

impl Finding {
    /// A finding without time or thread.
    pub fn new(kind: impl Into<FindingKind>) -> Finding {
        Finding { kind: kind.into(), at_ns: None, thread: None, rendered: None }
    }

    /// At this time of CLOCK_MONOTONIC, where it is known.
    pub fn at(self, time: impl Into<Option<Nanos>>) -> Finding {
        Finding { at_ns: time.into(), ..self }
    }

    /// Of this measuring thread, where it belongs to one.
    pub fn of_thread(self, thread: impl Into<Option<u32>>) -> Finding {
        Finding { thread: thread.into(), ..self }
    }

    /// How much it weighs.
    pub fn severity(&self) -> Severity {
        self.weight().severity
    }

    /// What it does to the verdict.
    pub fn effect(&self) -> VerdictEffect {
        self.weight().effect
    }

    /// Whether it makes the verdict `invalid`.
    pub fn invalidates(&self) -> bool {
        self.effect() == VerdictEffect::MakesInvalid
    }

    /// Whether latencies may be missing, so that a run without a miss does not pass.
    pub fn forbids_pass(&self) -> bool {
        self.effect() == VerdictEffect::ForbidsPass
    }

    /// Whether a larger latency than all known ones may be missing.
    pub fn hides_maximum(&self) -> bool {
        match &self.kind {
            FindingKind::Import(finding) => finding.hides_maximum(),
            FindingKind::Capture(finding) => finding.hides_responses(),
            _ => self.forbids_pass(),
        }
    }

    /// Whether latencies may be missing, so that quantiles and maximum may be larger.
    pub fn hides_latencies(&self) -> bool {
        match &self.kind {
            FindingKind::Import(finding) => finding.hides_latencies(),
            FindingKind::Capture(finding) => finding.hides_responses(),
            _ => self.forbids_pass(),
        }
    }

    /// The finding that stands for so many more of this kind.
    pub fn and_more(&self, more: u64) -> Finding {
        let (code, weight) = (self.code().to_string(), self.weight());
        Finding::new(FindingKind::More(MoreFindings { code, more, weight }))
    }

    /// With its sentences, as a command prints it.
    pub fn rendered(&self) -> Finding {
        let Weight { severity, effect } = self.weight();
        let (text, remedy) = (self.text(), self.remedy());
        let is_recorded = matches!(self.kind, FindingKind::Recorded(_));
        let rendered = Rendered { severity, text, remedy, effect };
        Finding { rendered: (!is_recorded).then(|| Box::new(rendered)), ..self.clone() }
    }
}

impl From<RecordedFinding> for FindingKind {
    fn from(finding: RecordedFinding) -> FindingKind {
        FindingKind::Recorded(finding)
    }
}

impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Finding, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        let field = |name: &str| fields.get(name).cloned().unwrap_or(Value::Null);
        let at_ns = Option::deserialize(field("at_ns")).map_err(D::Error::custom)?;
        let thread = Option::deserialize(field("thread")).map_err(D::Error::custom)?;
        let fields = Value::Object(fields);
        let kind = kind_of(&fields).map_err(D::Error::custom)?;
        Ok(Finding { kind, at_ns, thread, rendered: None })
    }
}

/// A finding with a text is kept as it was told, whatever this version would say.
fn kind_of(fields: &Value) -> Result<FindingKind, serde_json::Error> {
    if fields.get("text").is_none() {
        if fields.get("more").is_some() {
            return MoreFindings::deserialize(fields).map(FindingKind::More);
        }
        let code = fields.get("code").and_then(Value::as_str).unwrap_or_default();
        if let Some(kind) = known_kind(code, fields) {
            return Ok(kind);
        }
    }
    let mut recorded = RecordedFinding::deserialize(fields)?;
    if recorded.text.is_empty() {
        recorded.text =
            format!("This version of latlab does not know the finding '{}'.", recorded.code);
    }
    Ok(FindingKind::Recorded(recorded))
}
