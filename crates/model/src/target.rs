//! Where a run is measured: this machine, a machine of the laboratory, or a board.

mod board;
mod lab;
mod labgrid;

pub use board::{BoardState, BoardTarget, DetachedRun, DetachedState, SIGN_OF_LIFE, SILENCE};
pub use lab::{KernelFiles, LEAST_MEMORY, LabKernel, LabOptions, LabTarget};
pub use labgrid::{HeldPlace, LabgridTarget};

use board::SSH;
use lab::LAB;
use labgrid::LABGRID;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The text of [`Target::Local`].
pub const LOCAL: &str = "local";

/// What is measured, written as `local`, `lab:MACHINE/KERNEL[,OPTION]...`,
/// `ssh://[USER@]HOST[:PORT]`, `labgrid:PLACE` or `labgrid:TAG=VALUE[,TAG=VALUE]...`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Target {
    /// The machine latlab runs on.
    #[default]
    Local,
    /// A virtual machine of the laboratory.
    Lab(LabTarget),
    /// A board reached by ssh.
    Board(BoardTarget),
    /// A labgrid place, acquired for each run, whose board is reached by ssh.
    Labgrid(LabgridTarget),
}

/// What a target shares with the machine latlab runs on.
impl Target {
    /// Whether the measured CPUs belong to this machine, so that helper threads must avoid them.
    pub fn shares_cpus(&self) -> bool {
        matches!(self, Target::Local)
    }

    /// Whether its times are from this machine's clocks.
    pub fn shares_clock(&self) -> bool {
        matches!(self, Target::Local)
    }

    /// Whether it runs the kernel that this machine runs.
    pub fn shares_kernel(&self) -> bool {
        matches!(self, Target::Local)
    }

    /// Whether the programs of loads are those installed on this machine.
    pub fn shares_packages(&self) -> bool {
        matches!(self, Target::Local)
    }

    /// Whether each run boots a separate machine, so that several can run in parallel.
    pub fn boots_for_each_run(&self) -> bool {
        matches!(self, Target::Lab(_))
    }

    /// Whether it is reached over a link that can break while its agent continues.
    pub fn is_behind_a_link(&self) -> bool {
        matches!(self, Target::Board(_) | Target::Labgrid(_))
    }

    /// Whether its time advances with executed instructions, so that the same seed gives the same
    /// result.
    pub fn has_virtual_time(&self) -> bool {
        matches!(self, Target::Lab(target) if !target.realtime)
    }

    /// Whether the plan's seed also seeds the machine, whatever is measured.
    pub fn is_seeded(&self) -> bool {
        matches!(self, Target::Lab(_))
    }

    /// Whether it is the machine latlab runs on.
    pub fn is_this_machine(&self) -> bool {
        matches!(self, Target::Local)
    }

    /// The board that ssh reaches directly; that of a labgrid place is known only once it is
    /// acquired.
    pub fn board(&self) -> Option<&BoardTarget> {
        match self {
            Target::Board(board) => Some(board),
            Target::Local | Target::Lab(_) | Target::Labgrid(_) => None,
        }
    }

    /// Its text without a guest's `lab:` prefix.
    pub fn short_name(&self) -> String {
        short_name(&self.to_string()).to_string()
    }

    /// Parses a target; options given separately override those in the text.
    ///
    /// `lab:` may be omitted, as in `x86-64/rt`. An error is one line.
    pub fn with_options(text: &str, options: LabOptions) -> Result<Target, String> {
        match text.split_once(':') {
            _ if text == LOCAL && options == LabOptions::default() => Ok(Target::Local),
            _ if options != LabOptions::default()
                && (text == LOCAL || text.starts_with(SSH) || text.starts_with(LABGRID)) =>
            {
                Err("options of a lab target require lab:MACHINE".to_string())
            }
            _ if text.starts_with(SSH) => BoardTarget::read(text).map(Target::Board),
            _ if text.starts_with(LABGRID) => LabgridTarget::read(text).map(Target::Labgrid),
            Some((kind, _)) if !kind.contains(['/', ',', '=']) && kind != "lab" => Err(format!(
                "unknown kind of target '{kind}:': expected local, lab:MACHINE/KERNEL, ssh://HOST or \
                 labgrid:PLACE"
            )),
            _ => {
                let wrong = |reason| format!("'{text}': {reason}");
                LabTarget::with_options(text, options).map(Target::Lab).map_err(wrong)
            }
        }
    }
}

/// A target's text or name without a guest's `lab:` prefix.
pub fn short_name(target: &str) -> &str {
    target.strip_prefix(LAB).unwrap_or(target)
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        Target::with_options(text, LabOptions::default())
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Target::Local => f.pad(LOCAL),
            Target::Lab(target) => target.fmt(f),
            Target::Board(target) => target.fmt(f),
            Target::Labgrid(target) => target.fmt(f),
        }
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Target {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Target".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "What is measured: `local`, `lab:MACHINE/KERNEL` with options after \
                            commas, `ssh://[USER@]HOST[:PORT]`, `labgrid:PLACE` or \
                            `labgrid:TAG=VALUE[,TAG=VALUE]...`.",
            "pattern": "^(local|lab:.+|ssh://.+|labgrid:.+)$",
        })
    }
}
