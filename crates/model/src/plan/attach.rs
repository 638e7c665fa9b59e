//! The method `attach`: cycles of a program's own threads, from kernel events.

use crate::sanitize::plain_name;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The program to attach to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AttachTarget {
    /// A program started for the run and ended with it.
    Command {
        /// Program and arguments.
        words: Vec<String>,
        /// File for its output; `None` to discard it.
        output: Option<String>,
        /// Whether it keeps latlab's privileges under sudo.
        as_root: bool,
    },
    /// A process by its id, or that of one of its threads.
    Process {
        /// Process or thread id.
        id: u32,
    },
    /// All processes that have this name or a thread with this name.
    Name {
        /// Name, in which `*` matches anything.
        pattern: String,
    },
}

impl fmt::Display for AttachTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachTarget::Command { words, .. } => f.write_str(&words.join(" ")),
            AttachTarget::Process { id } => write!(f, "process {id}"),
            AttachTarget::Name { pattern } => write!(f, "'{pattern}'"),
        }
    }
}

text_enum! {
    /// Time of a cycle that is judged by the deadline.
    JudgedTime {
        /// From the release to the end.
        Response = "response",
        /// From the release to the start.
        WakeUp = "wake-up",
    }
}

/// A program whose threads are measured as they are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attach {
    /// The program to attach to.
    pub target: AttachTarget,
    /// Time of a cycle that is judged, and stored as its latency.
    pub judged: JudgedTime,
    /// Calls that end a cycle, such as `read:7`; empty to detect them.
    pub activation: Vec<String>,
    /// Name of the threads that are judged, in which `*` matches anything; `None` for those with a
    /// real-time policy, or all if there are none.
    pub thread: Option<String>,
}

impl Default for Attach {
    fn default() -> Attach {
        Attach {
            target: AttachTarget::Command { words: Vec::new(), output: None, as_root: false },
            judged: JudgedTime::Response,
            activation: Vec::new(),
            thread: None,
        }
    }
}

impl Attach {
    /// Checks the parameters by themselves; an error is one line for the user.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.target.is_open() {
            true => {
                Err("attach needs a program: `latlab attach -- PROGRAM`, --pid ID or --comm NAME"
                    .to_string())
            }
            false => Ok(()),
        }
    }
}

impl AttachTarget {
    /// Default name of the run.
    pub fn name(&self) -> String {
        let name = match self {
            AttachTarget::Command { words, .. } => {
                words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default().into()
            }
            AttachTarget::Process { id } => format!("process-{id}"),
            AttachTarget::Name { pattern } => pattern.replace('*', ""),
        };
        plain_name(&name).unwrap_or_else(|_| "attach".to_string())
    }

    /// Whether no program has been named yet.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, AttachTarget::Command { words, .. } if words.is_empty())
    }
}

/// Whether a name matches a pattern in which `*` matches anything.
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name) in [
            ("ec_*", "ec_cyclic"),
            ("*", ""),
            ("a*b*c", "axxbyyc"),
            ("jackd", "jackd"),
            ("a*a", "aa"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("ec_*", "xec_"), ("jackd", "jackdbus"), ("a*a", "a"), ("", "a")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
