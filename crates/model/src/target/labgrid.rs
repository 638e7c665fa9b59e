//! A board managed by labgrid: requested by place or by tags, and acquired for a run.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Prefix of a labgrid target's text.
pub(super) const LABGRID: &str = "labgrid:";

/// A requested labgrid place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LabgridTarget {
    /// The place with this name.
    Place(String),
    /// Any place with these tags.
    Tags(BTreeMap<String, String>),
}

/// The labgrid place acquired for a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldPlace {
    /// Place name.
    pub name: String,
    /// Tags of the place.
    pub tags: BTreeMap<String, String>,
    /// Address of its board: `ssh://[USER@]HOST[:PORT]`.
    pub board: String,
}

impl LabgridTarget {
    /// Parses the text of a labgrid target; rejects parts a program would take for an option.
    pub(super) fn read(text: &str) -> Result<LabgridTarget, String> {
        let wrong =
            || format!("'{text}': expected labgrid:PLACE or labgrid:TAG=VALUE[,TAG=VALUE]...");
        let is_word = |word: &str| {
            let is_known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            !word.is_empty() && !word.starts_with('-') && word.chars().all(is_known)
        };
        let asked = text.strip_prefix(LABGRID).unwrap_or(text);
        if is_word(asked) {
            return Ok(LabgridTarget::Place(asked.to_string()));
        }
        let tag = |pair: &str| {
            let (name, value) = pair.split_once('=').filter(|(a, b)| is_word(a) && is_word(b))?;
            Some((name.to_string(), value.to_string()))
        };
        asked.split(',').map(tag).collect::<Option<_>>().map(LabgridTarget::Tags).ok_or_else(wrong)
    }
}

impl Display for LabgridTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(LABGRID)?;
        match self {
            LabgridTarget::Place(name) => f.write_str(name),
            LabgridTarget::Tags(tags) => {
                tags.iter().enumerate().try_for_each(|(at, (tag, value))| {
                    write!(f, "{}{tag}={value}", if at > 0 { "," } else { "" })
                })
            }
        }
    }
}
