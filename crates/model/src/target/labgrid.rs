//! A board that labgrid hands out: asked for by its place or by tags, and held for a run.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// What the text of a place of labgrid begins with.
pub(super) const LABGRID: &str = "labgrid:";

/// The place of labgrid that is asked for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LabgridTarget {
    /// The one of this name.
    Place(String),
    /// Any one with these tags.
    Tags(BTreeMap<String, String>),
}

/// The place of labgrid that was held for a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldPlace {
    /// Its name.
    pub name: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// How its board is reached: `ssh://[USER@]HOST[:PORT]`.
    pub board: String,
}

impl LabgridTarget {
    /// Reads a text that begins as one; no part of it can be taken for an option of a program.
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
