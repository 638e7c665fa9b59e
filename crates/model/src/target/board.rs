//! A board that is reached by ssh, its state, and the runs that go on there without the link.

use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::time::Duration;

/// What the text of a board begins with.
pub(super) const SSH: &str = "ssh://";

/// The conductor gives the agent of a board a sign of life this often: another [`Message::Hello`].
///
/// [`Message::Hello`]: crate::frame::Message::Hello
pub const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// A conductor that was silent for so long is taken for lost, since a dead link may have no end.
pub const SILENCE: Duration = Duration::from_secs(20);

/// A machine as `ssh` is asked for it; what the name means is known to its configuration alone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BoardTarget {
    /// The user there; none means what ssh takes.
    pub user: Option<String>,
    /// The host, without the brackets of an address.
    pub host: String,
    /// The port; none means what ssh takes.
    pub port: Option<u16>,
}

/// What a board is, and what latlab does there.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoardState {
    /// Its machine, by `uname -m`.
    pub machine: String,
    /// The release of its kernel.
    pub kernel: String,
    /// Its CPUs.
    pub cpus: u32,
    /// With which rights an agent runs there, in words.
    pub right: String,
    /// How far its clock is ahead of ours.
    pub clock_off_ns: Nanos,
    /// Whether an agent lies there, of whichever version.
    pub has_agent: bool,
    /// Ids of the runs that are measured there now.
    pub runs: Vec<String>,
    /// The runs that go on, or went on, without the link to them.
    pub detached: Vec<DetachedRun>,
}

/// A run that a board measures, or has measured, without the link, and that was not collected yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetachedRun {
    /// Its id.
    pub id: String,
    /// How far it is.
    pub state: DetachedState,
    /// Length of its stream so far.
    pub bytes: u64,
    /// The folder on the board in which that of the run lies.
    pub folder: String,
}

/// How far a detached run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DetachedState {
    /// Its agent measures.
    Measures,
    /// Its agent has ended.
    Ended,
    /// Its agent is gone without an end: it was killed, or the board went down.
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
    /// Reads a text that begins as one; neither part can be taken for an option of ssh.
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

    /// The name of a file about it, whoever is asked for there: it is the same board.
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
