//! Findings: codes with parameters and weights. Their texts are in `latlab-report`, so that
//! improved texts also apply to old runs.

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
pub use capture::{CaptureFinding, ImpossibleReading};
pub use condition_parts::{
    CompetingThread, Latencies, LatencyComparison, ThreadShare, Throttling, When,
};
pub use conditions::{ConditionFinding, RT_THROTTLING};
pub use ends::{CpuRate, EndFinding};
pub use import::ImportFinding;
pub use journal::{JournalFinding, JournalPart};
pub use kinds::FindingRow;
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
    /// Severity of a finding.
    Severity {
        /// Worth knowing.
        Info = "info",
        /// May have affected the figures.
        Warning = "warning",
        /// Makes figures worthless or incomplete.
        Error = "error",
    }
}

text_enum! {
    /// Effect of a finding on the verdict.
    VerdictEffect {
        /// No effect: the counts decide.
        None = "none",
        /// Latencies may be missing, so a run without a miss is `inconclusive`.
        ForbidsPass = "no-pass",
        /// The figures do not answer the question: the verdict is `invalid`.
        MakesInvalid = "invalid",
    }
}

/// Severity of a finding and its effect on the verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Weight {
    /// Severity.
    pub severity: Severity,
    /// Effect on the verdict.
    pub effect: VerdictEffect,
}

const INFO: Weight = Weight { severity: Severity::Info, effect: VerdictEffect::None };
const WARNING: Weight = Weight { severity: Severity::Warning, effect: VerdictEffect::None };
const ERROR: Weight = Weight { severity: Severity::Error, effect: VerdictEffect::None };
const NO_PASS: Weight = Weight { severity: Severity::Warning, effect: VerdictEffect::ForbidsPass };
const ERROR_NO_PASS: Weight = Weight { effect: VerdictEffect::ForbidsPass, ..ERROR };
const INVALID: Weight = Weight { severity: Severity::Error, effect: VerdictEffect::MakesInvalid };

/// Names no parameter of a finding may have, because output adds fields of these names.
pub const RESERVED: [&str; 8] =
    ["code", "at_ns", "thread", "more", "severity", "text", "remedy", "effect"];

/// Something to know about a run: a code with its parameters.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Code and parameters.
    #[serde(flatten)]
    pub kind: FindingKind,
    /// Time on CLOCK_MONOTONIC; `None` if it has no single time.
    pub at_ns: Option<Nanos>,
    /// Number of the measuring thread; `None` if it concerns no single thread.
    pub thread: Option<u32>,
    /// Its texts; printed only, never stored.
    #[serde(flatten)]
    rendered: Option<Box<Rendered>>,
}

/// What output adds to a finding's parameters.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Rendered {
    /// Severity.
    severity: Severity,
    /// The finding in sentences.
    text: String,
    /// What to do about it.
    remedy: Option<Line>,
    /// Effect on the verdict.
    effect: VerdictEffect,
}

/// Code and parameters of a finding, by topic.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FindingKind {
    /// About the machine.
    Machine(MachineFinding),
    /// About a capture.
    Capture(CaptureFinding),
    /// About an imported file.
    Import(ImportFinding),
    /// About the conditions of the run.
    Condition(ConditionFinding),
    /// About other runs of latlab, and about settings.
    Setup(SetupFinding),
    /// About the loads.
    Load(LoadFinding),
    /// About the threads of an attached program.
    Attach(AttachFinding),
    /// About latlab's own threads.
    OwnThread(OwnThreadFinding),
    /// About the end of threads, agent or guest.
    End(EndFinding),
    /// About lost data.
    Loss(LossFinding),
    /// About the journal.
    Journal(JournalFinding),
    /// Stands for further findings of one code.
    More(MoreFindings),
    /// A finding from another version.
    Unknown(UnknownFinding),
}

/// Stands for findings of one code that were counted but not kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MoreFindings {
    /// Code of these findings.
    pub code: String,
    /// Number of further findings.
    pub more: u64,
    /// Weight of the last one.
    pub weight: Weight,
}

/// A finding this version does not know, kept as it was stored.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnknownFinding {
    /// Stable name for scripts.
    pub code: String,
    /// Weight, if the document states it.
    #[serde(skip)]
    pub weight: Option<Weight>,
    /// Parameters as stored.
    #[serde(flatten)]
    pub parameters: Map<String, Value>,
}

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
                    FindingKind::Unknown(unknown) => &unknown.code,
                }
            }

            /// Severity and effect on the verdict.
            pub fn weight(&self) -> Weight {
                match &self.kind {
                    $(FindingKind::$topic(finding) => finding.weight(),)+
                    FindingKind::More(more) => more.weight,
                    FindingKind::Unknown(unknown) => unknown.weight.unwrap_or(WARNING),
                }
            }
        }

        /// Parses a stored finding; `None` if this version does not know the code.
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

    /// Sets the time on CLOCK_MONOTONIC, if known.
    pub fn at(self, time: impl Into<Option<Nanos>>) -> Finding {
        Finding { at_ns: time.into(), ..self }
    }

    /// Sets the measuring thread it belongs to, if any.
    pub fn of_thread(self, thread: impl Into<Option<u32>>) -> Finding {
        Finding { thread: thread.into(), ..self }
    }

    /// Severity, from its weight.
    pub fn severity(&self) -> Severity {
        self.weight().severity
    }

    /// Effect on the verdict, from its weight.
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

    /// Whether a latency larger than the known maximum may be missing.
    pub fn hides_maximum(&self) -> bool {
        match &self.kind {
            FindingKind::Import(finding) => finding.hides_maximum(),
            FindingKind::Capture(finding) => finding.hides_responses(),
            _ => self.forbids_pass(),
        }
    }

    /// Whether latencies may be missing, so that the true quantiles and maximum may be larger.
    pub fn hides_latencies(&self) -> bool {
        match &self.kind {
            FindingKind::Import(finding) => finding.hides_latencies(),
            FindingKind::Capture(finding) => finding.hides_responses(),
            _ => self.forbids_pass(),
        }
    }

    /// The finding that stands for further ones of this code.
    pub fn and_more(&self, more: u64) -> Finding {
        let (code, weight) = (self.code().to_string(), self.weight());
        Finding::new(FindingKind::More(MoreFindings { code, more, weight }))
    }

    /// Adds the texts that commands print.
    pub fn with_words(&self, text: String, remedy: Option<Line>) -> Finding {
        let Weight { severity, effect } = self.weight();
        let rendered = Rendered { severity, text, remedy, effect };
        Finding { rendered: Some(Box::new(rendered)), ..self.clone() }
    }
}

impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Finding, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        let field = |name: &str| fields.get(name).cloned().unwrap_or(Value::Null);
        let at_ns = Option::deserialize(field("at_ns")).map_err(D::Error::custom)?;
        let thread = Option::deserialize(field("thread")).map_err(D::Error::custom)?;
        let fields = Value::Object(fields);
        let kind = kind_of(fields).map_err(D::Error::custom)?;
        Ok(Finding { kind, at_ns, thread, rendered: None })
    }
}

fn kind_of(fields: Value) -> Result<FindingKind, serde_json::Error> {
    if fields.get("more").is_some() {
        return MoreFindings::deserialize(fields).map(FindingKind::More);
    }
    let code = fields.get("code").and_then(Value::as_str).unwrap_or_default();
    if let Some(kind) = known_kind(code, &fields) {
        return Ok(kind);
    }
    let code = String::deserialize(fields.get("code").unwrap_or(&Value::Null))?;
    let weight = Weight::deserialize(&fields).ok();
    let mut parameters = Map::deserialize(fields)?;
    parameters.retain(|name, _| !RESERVED.contains(&name.as_str()));
    Ok(FindingKind::Unknown(UnknownFinding { code, weight, parameters }))
}
