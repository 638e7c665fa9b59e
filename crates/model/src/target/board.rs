//! A board reached by ssh, its state, and its detached runs.

use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::time::Duration;

/// Prefix of a board's text.
pub(super) const SSH: &str = "ssh://";

/// How often the conductor shows a board's agent that it is alive, with another [`Message::Hello`].
///
/// [`Message::Hello`]: crate::frame::Message::Hello
pub const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// A conductor silent for this long counts as lost, since a dead link may never report an end.
pub const SILENCE: Duration = Duration::from_secs(20);

/// A machine as passed to `ssh`, whose configuration resolves the name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BoardTarget {
    /// User name; `None` for ssh's default.
    pub user: Option<String>,
    /// Host, without the brackets of an IPv6 address.
    pub host: String,
    /// Port; `None` for ssh's default.
    pub port: Option<u16>,
}

/// State of a board, and latlab's activity there.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoardState {
    /// Machine name from `uname -m`.
    pub machine: String,
    /// Kernel release.
    pub kernel: String,
    /// Number of CPUs.
    pub cpus: u32,
    /// Privileges of an agent there, in words.
    pub right: String,
    /// How far its clock is ahead of the host's.
    pub clock_off_ns: Nanos,
    /// Whether an agent is installed, of any version.
    pub has_agent: bool,
    /// Ids of the runs being measured.
    pub runs: Vec<String>,
    /// Detached runs, both active and ended.
    pub detached: Vec<DetachedRun>,
}

/// A detached run on a board that has not been collected.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetachedRun {
    /// Run id.
    pub id: String,
    /// Progress of the run.
    pub state: DetachedState,
    /// Current length of its stream, in bytes.
    pub bytes: u64,
    /// Folder on the board that contains the run's folder.
    pub folder: String,
}

/// Progress of a detached run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DetachedState {
    /// Its agent is measuring.
    Measures,
    /// Its agent has ended.
    Ended,
    /// Its agent disappeared without an end: it was killed, or the board went down.
    Cut,
}

impl FromStr for DetachedState {
    type Err = ();

    fn from_str(text: &str) -> Result<DetachedState, ()> {
        match text {
            "measures" => Ok(DetachedState::Measures),
            "ended" => Ok(DetachedState::Ended),
            "cut" => Ok(DetachedState::Cut),
            _ => Err(()),
        }
    }
}

impl BoardTarget {
    /// Parses the text of a board; rejects parts that ssh would take for an option.
    pub(super) fn read(text: &str) -> Result<BoardTarget, String> {
        let wrong = || format!("'{text}': expected ssh://[USER@]HOST[:PORT]");
        let place = text.strip_prefix(SSH).unwrap_or(text).trim_end_matches('/');
        let (user, place) = match place.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, place),
        };
        let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, "")) => (address, None),
            Some((address, port)) => (address, Some(port.strip_prefix(':').ok_or_else(wrong)?)),
            None => match place.rsplit_once(':') {
                Some((host, port)) if !host.contains(':') => (host, Some(port)),
                _ => (place, None),
            },
        };
        let is_name = |name: &str, marks: &str| {
            let is_known = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
            !name.is_empty() && !name.starts_with('-') && name.chars().all(is_known)
        };
        if !is_name(host, "-._:%") || user.is_some_and(|user| !is_name(user, "-._+")) {
            return Err(wrong());
        }
        let port = match port.map(str::parse) {
            Some(Ok(0) | Err(_)) => return Err(wrong()),
            Some(Ok(port)) => Some(port),
            None => None,
        };
        Ok(BoardTarget { user: user.map(str::to_string), host: host.to_string(), port })
    }

    /// File name for the board; the same for every user, since the board is the same.
    pub fn file_name(&self) -> String {
        let board = BoardTarget { user: None, ..self.clone() }.to_string();
        board.trim_start_matches(SSH).replace(['[', ']'], "")
    }
}

impl Display for BoardTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(SSH)?;
        self.user.iter().try_for_each(|user| write!(f, "{user}@"))?;
        match self.host.contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => f.write_str(&self.host)?,
        }
        self.port.iter().try_for_each(|port| write!(f, ":{port}"))
    }
}
