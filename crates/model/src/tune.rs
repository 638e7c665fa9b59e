//! The search for settings that help: the settings it tries, and what it finds.

use crate::Nanos;
use crate::cpu::CpuSet;
use crate::plan::{IdleStates, KernelFile, Plan, Tuning};
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A reversible setting of a machine that is not made yet.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// Unique name.
    pub name: String,
    /// Kernel files with the values to write.
    pub kernel_files: Vec<KernelFile>,
    /// Named settings.
    pub tunings: Vec<Tuning>,
    /// Limit of idle states.
    pub idle_states: Option<IdleStates>,
    /// Present values, in the order of the kernel files; `None` where a value is unknown.
    pub before: Vec<Option<String>>,
    /// What it changes.
    pub effect: String,
    /// What it costs, apart from latencies.
    pub cost: Option<String>,
    /// What the present value protects from; `None` if nothing is lost.
    pub protects: Option<String>,
    /// Code of the doctor's check whose remedy it is.
    pub check: Option<String>,
}

impl Candidate {
    /// Adds the setting to a plan.
    pub fn apply_to(&self, plan: &mut Plan) {
        plan.on.kernel_files.extend(self.kernel_files.iter().cloned());
        plan.on.tunings.extend(self.tunings.iter().cloned());
        plan.on.idle_states = self.idle_states.or(plan.on.idle_states);
    }

    /// Whether both write a kernel file.
    pub fn writes_same(&self, other: &Candidate) -> bool {
        let is_written = |path: &String| other.kernel_files.iter().any(|file| file.path == *path);
        self.kernel_files.iter().any(|file| is_written(&file.path))
    }

    /// A setting that protects is left out unless it is among the `allowed`.
    pub fn unless_it_protects(self, allowed: &[String]) -> Result<Candidate, LeftOut> {
        match &self.protects {
            Some(lost) if !allowed.contains(&self.name) => {
                let reason = format!("it protects: {lost}");
                Err(LeftOut { name: self.name, reason })
            }
            _ => Ok(self),
        }
    }

    /// What it writes, in the words of `--set`, `--tune` and `--idle-states`.
    pub fn writes(&self) -> Vec<String> {
        let files = self.kernel_files.iter().map(ToString::to_string);
        let tunings = self.tunings.iter().map(|one| format!("--tune {one}"));
        let idle = self.idle_states.iter().map(|one| format!("--idle-states {one}"));
        files.chain(tunings).chain(idle).collect()
    }
}

/// A setting that is not tried.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The setting.
    pub name: String,
    /// Why it is not tried.
    pub reason: String,
}

/// What a campaign searches for; its rows are slots, each with the settings that are on in it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TunePlan {
    /// Id of the search whose choice is confirmed; `None` for a search.
    pub confirms: Option<String>,
    /// The settings.
    pub candidates: Vec<Candidate>,
    /// Settings of this machine that are not tried.
    pub left_out: Vec<LeftOut>,
    /// A smaller change of a figure makes no difference: 0.1 for 10 %.
    pub tolerance: f64,
    /// Figures that are judged.
    pub figures: Vec<TunedFigure>,
    /// Limit of the whole search, with what is spent between the runs.
    pub time_ns: Nanos,
    /// CPUs of the threads that are measured; `None` if they may run on any.
    pub measured: Option<CpuSet>,
}

text_enum! {
    /// A figure of a slot.
    TunedFigure {
        /// Bursts of deadline misses.
        Bursts = "bursts",
        /// 99 % of the latencies are smaller.
        P99 = "p99",
        /// 99.9 % of the latencies are smaller.
        P99_9 = "p99.9",
        /// 99.99 % of the latencies are smaller.
        P99_99 = "p99.99",
        /// The median: a cost.
        Median = "p50",
        /// What the first load got done: a cost.
        LoadRate = "load",
    }
}

impl TunedFigure {
    /// Whether it decides what helps; the other figures are costs.
    pub fn decides(self) -> bool {
        !matches!(self, TunedFigure::Median | TunedFigure::LoadRate)
    }

    /// Whether more is worse.
    pub fn is_bad(self) -> bool {
        self != TunedFigure::LoadRate
    }
}

text_enum! {
    /// What a setting does to a figure.
    Influence {
        /// The figure is smaller with it.
        Lowers = "lowers",
        /// The figure is larger with it.
        Raises = "raises",
        /// It changes the figure by less than the tolerance.
        NoDifference = "no-difference",
        /// The slots so far do not tell.
        Undecided = "undecided",
    }
}

text_enum! {
    /// The answer for a setting.
    SettingWord {
        /// It lowers a figure that decides, and raises none.
        Helps = "helps",
        /// It raises a figure that decides.
        Hurts = "hurts",
        /// It changes no figure that decides by as much as the tolerance.
        NoDifference = "no-difference",
        /// The slots so far do not tell.
        Undecided = "undecided",
    }
}

/// The effect of a setting on a figure, as the mean over the other settings on and off.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureEffect {
    /// The figure.
    pub figure: TunedFigure,
    /// What can be said.
    pub influence: Influence,
    /// The figure with the setting over the figure without it.
    pub ratio: f64,
    /// Lower bound of the ratio that holds for all settings at any time; `None` if open.
    pub low: Option<f64>,
    /// Upper bound of the ratio; `None` if open.
    pub high: Option<f64>,
}

/// What is known of a setting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettingResult {
    /// The setting.
    pub setting: Candidate,
    /// The answer.
    pub word: SettingWord,
    /// Its effects, in the order of the figures.
    pub effects: Vec<FigureEffect>,
    /// Estimate of the time that decides it; `None` if it is decided, or nothing points either way.
    pub more_ns: Option<Nanos>,
}

/// Two settings that do more together than each alone.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JointResult {
    /// The settings.
    pub settings: (String, String),
    /// The figure.
    pub figure: TunedFigure,
    /// By which factor both together change the figure, beyond what each does alone.
    pub ratio: f64,
}

/// Median of a figure over the runs of the untouched machine.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UntouchedFigure {
    /// The figure.
    pub figure: TunedFigure,
    /// Its median, in nanoseconds, bursts of a slot, or the unit of the load.
    pub median: f64,
}

/// The answer of `latlab tune`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuneResult {
    /// Id of the campaign with its runs.
    pub id: String,
    /// Name of the machine; `None` if unknown.
    pub host: Option<String>,
    /// Release of its kernel.
    pub kernel: String,
    /// A smaller change of a figure makes no difference.
    pub tolerance: f64,
    /// Pairs of slots that were measured.
    pub pairs: usize,
    /// Pairs that fit into the time.
    pub planned_pairs: usize,
    /// Measured length of a slot.
    pub slot_ns: Nanos,
    /// Whether every setting has its answer.
    pub is_decided: bool,
    /// The untouched machine.
    pub untouched: Vec<UntouchedFigure>,
    /// Runs of the untouched machine.
    pub untouched_runs: usize,
    /// The settings: those that help, that hurt, that make no difference, and the others.
    pub settings: Vec<SettingResult>,
    /// Settings that act together.
    pub joint: Vec<JointResult>,
    /// Settings of this machine that were not tried.
    pub left_out: Vec<LeftOut>,
    /// The settings that were chosen, against the untouched machine; `None` if none was chosen, or
    /// this was not measured.
    pub confirmed: Option<Confirmed>,
}

/// The chosen settings together, in fresh runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Confirmed {
    /// Id of the campaign with its runs.
    pub id: String,
    /// The settings.
    pub settings: Vec<String>,
    /// Runs of each side.
    pub runs: usize,
    /// The figure, as compared.
    pub figure: TunedFigure,
    /// The figure with the settings over the figure of the untouched machine; `None` if the
    /// comparison cannot tell.
    pub ratio: Option<f64>,
    /// Bounds of the ratio (95 % confidence).
    pub interval: Option<(f64, f64)>,
    /// Deadline misses of the untouched machine and with the settings; `None` without a deadline.
    pub misses: Option<(u64, u64)>,
}

impl Confirmed {
    /// Whether the settings are proven to help together.
    pub fn helps(&self) -> bool {
        self.interval.is_some_and(|(_, high)| high < 1.0)
    }
}

impl TuneResult {
    /// The settings with this answer.
    pub fn with(&self, word: SettingWord) -> impl Iterator<Item = &SettingResult> {
        self.settings.iter().filter(move |one| one.word == word)
    }

    /// The settings to use: those that help, and those that help only together.
    pub fn chosen(&self) -> Vec<&Candidate> {
        let together: Vec<&String> = self
            .joint
            .iter()
            .filter(|joint| joint.ratio < 1.0 && joint.figure.decides())
            .flat_map(|joint| [&joint.settings.0, &joint.settings.1])
            .collect();
        let is_chosen = |one: &&SettingResult| match one.word {
            SettingWord::Helps => true,
            SettingWord::Hurts => false,
            _ => together.contains(&&one.setting.name),
        };
        self.settings.iter().filter(is_chosen).map(|one| &one.setting).collect()
    }
}
