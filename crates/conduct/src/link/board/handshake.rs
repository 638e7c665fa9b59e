//! The handshake between conductor and board until the agent runs: lines that begin with a mark,
//! and the agent program if the board does not have it.

use super::lines::{ANSWER, Lines};
use super::ssh::Connection;
use crate::{Failure, StopFlag, agents};
use latlab_model::Nanos;
use latlab_model::nanos::SECOND;
use latlab_model::sanitize::escape_controls;
use latlab_model::target::{BoardState, DetachedRun};
use latlab_store::is_id;
use sha2::{Digest, Sha256};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long copying the agent may take: 100 kbit/s is enough.
const COPY: Duration = Duration::from_secs(240);
/// Most restored changes that a board may report.
const MOST_TOLD: usize = 50;

/// The rights of a board's agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Right {
    /// Root, or the plan needs no more than the user's rights.
    Enough,
    /// The board has no sudo.
    NoSudo,
    /// sudo asks for a password.
    Password,
}

impl Right {
    /// What is missing and how to fix it, if anything.
    pub fn missing(self) -> Option<&'static str> {
        match self {
            Right::Enough => None,
            Right::NoSudo => Some("there is no `sudo`: install it there"),
            Right::Password => Some(
                "its `sudo` asks for a password: let it run without one (NOPASSWD in \
                 /etc/sudoers.d)",
            ),
        }
    }
}

/// What is known of a board when its agent starts.
pub struct Greeting {
    pub right: Right,
    /// How far its clock is ahead of ours.
    pub clock_off_ns: Nanos,
    /// Changes left by a killed agent and undone now.
    pub told: Vec<String>,
}

/// First line from a board.
pub struct BoardHello {
    machine: String,
    right: Right,
    /// As the board sends it.
    right_word: String,
    /// How far its clock is ahead of ours.
    pub clock_off_ns: Nanos,
}

impl BoardHello {
    pub fn hear(lines: &mut Lines<'_>) -> Result<BoardHello, Failure> {
        let hello = lines.expect("hello")?;
        let mut words = hello.split_whitespace();
        let machine = words.next().unwrap_or_default().to_string();
        let right_word = words.next().unwrap_or_default().to_string();
        let right = match right_word.as_str() {
            "none" => Right::NoSudo,
            "password" => Right::Password,
            _ => Right::Enough,
        };
        let clock_off_ns = words.next().map(clock_off).unwrap_or_default();
        Ok(BoardHello { machine, right, right_word, clock_off_ns })
    }
}

/// Asks a board what it is and what runs there; needs no agent.
pub fn state(connection: &mut Connection, stop: &StopFlag) -> Result<BoardState, Failure> {
    let mut lines = Lines::new(connection, stop);
    let BoardHello { machine, right_word, clock_off_ns, .. } = BoardHello::hear(&mut lines)?;
    let right = match right_word.as_str() {
        "root" => "root",
        "sudo" => "root by sudo",
        "password" => "an ordinary user, whose sudo asks for a password",
        _ => "an ordinary user without sudo",
    };
    let right = right.to_string();
    let mut state = BoardState { machine, right, clock_off_ns, ..BoardState::default() };
    loop {
        let line = lines.next()?;
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("kernel", release) => state.kernel = release.to_string(),
            ("cpus", count) => state.cpus = count.parse().unwrap_or(0),
            ("agent", _) => state.has_agent = true,
            ("process", words) => {
                let run = run_of(words).filter(|run| !state.runs.contains(run));
                state.runs.extend(run);
            }
            ("run", words) => {
                let run = detached_run(&lines, words)?;
                // The user may name the usual folder.
                let is_new = !state.detached.iter().any(|known| known.id == run.id);
                state.detached.extend(is_new.then_some(run));
            }
            ("done", _) => return Ok(state),
            _ => return Err(lines.meaningless(&line)),
        }
    }
}

/// A detached run as a board lists it: id, state, bytes, and the folder that contains its own.
pub fn detached_run(lines: &Lines<'_>, words: &str) -> Result<DetachedRun, Failure> {
    let read = || {
        let mut words = words.splitn(4, ' ');
        let id = words.next().filter(|id| is_id(id))?.to_string();
        let state = words.next()?.parse().ok()?;
        let bytes = words.next()?.parse().ok()?;
        Some(DetachedRun { id, state, bytes, folder: words.next()?.to_string() })
    };
    read().ok_or_else(|| lines.meaningless(words))
}

/// The run that an agent's process belongs to, from its command line with the zeros removed: the
/// path of the program ends with its SHA-256.
fn run_of(words: &str) -> Option<String> {
    let (_, rest) = words.rsplit_once("/agent-")?;
    let (sum, run) = rest.split_at_checked(64)?;
    let is_sum = sum.chars().all(|c| c.is_ascii_hexdigit());
    let is_run =
        run.starts_with(|c: char| c.is_ascii_digit()) && !run.contains(char::is_whitespace);
    (is_sum && is_run).then(|| run.to_string())
}

/// Handles the handshake until the agent starts.
pub fn greet(connection: &mut Connection, stop: &StopFlag) -> Result<Greeting, Failure> {
    greet_with(connection, stop, agent_for)
}

/// As [`greet`], with another source of agents.
pub fn greet_with(
    connection: &mut Connection,
    stop: &StopFlag,
    agent_for: impl Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Greeting, Failure> {
    let mut lines = Lines::new(connection, stop);
    let BoardHello { machine, right, clock_off_ns, .. } = BoardHello::hear(&mut lines)?;
    let program = agent_for(&machine).map_err(|text| lines.failure(&text))?;
    let sum: String = Sha256::digest(&program).iter().map(|byte| format!("{byte:02x}")).collect();
    lines.say(&format!("{sum} {}\n", program.len()))?;
    lines.patience(ANSWER);
    let mut told = Vec::new();
    let mut is_sent = false;
    loop {
        let line = lines.next()?;
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "has-agent" => {}
            // Only once: otherwise a board could request it forever.
            "send" if !std::mem::replace(&mut is_sent, true) => {
                lines.patience(COPY);
                lines.copy(program.clone())?;
            }
            "told" if told.len() < MOST_TOLD => told.push(rest.to_string()),
            "told" => {}
            "start" if rest == own_version() => {
                return Ok(Greeting { right, clock_off_ns, told });
            }
            "start" => {
                let text = format!("the agent there is '{rest}' and not '{}'", own_version());
                return Err(lines.failure(&text));
            }
            "failed" => return Err(lines.failure(&why_failed(rest, program.len()))),
            _ => return Err(lines.meaningless(&line)),
        }
    }
}

/// Those of the programs that the board has.
pub fn programs(connection: &mut Connection, stop: &StopFlag) -> Result<Vec<String>, Failure> {
    let mut lines = Lines::new(connection, stop);
    lines.expect("hello")?;
    let mut found = Vec::new();
    loop {
        let line = lines.next()?;
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("has", name) => found.push(name.to_string()),
            ("done", _) => return Ok(found),
            _ => return Err(lines.meaningless(&line)),
        }
    }
}

fn own_version() -> String {
    format!("latlab-agent {}", latlab_model::VERSION)
}

/// How far a clock that shows these seconds is ahead of ours.
fn clock_off(seconds: &str) -> Nanos {
    let ours = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64);
    let theirs: i64 = seconds.parse().unwrap_or(ours);
    SECOND * theirs.saturating_sub(ours).clamp(-9_000_000_000, 9_000_000_000)
}

/// The agent for a machine as in `uname -m` there; the error is one line.
fn agent_for(machine: &str) -> Result<Vec<u8>, String> {
    // What 32-bit programs see on a 64-bit ARM kernel.
    let machine = if machine == "armv8l" { "armv7l" } else { machine };
    match agents::agent_program(machine) {
        Some(Ok(program)) => Ok(program),
        Some(Err(error)) => Err(format!("the embedded agent for {machine} is damaged: {error}")),
        None => Err(format!(
            "its machine is '{}', for which this build has no agent {}",
            escape_controls(machine),
            agents::known_agents()
        )),
    }
}

/// A failure as reported by the board's shell, as one line.
pub fn why_failed(rest: &str, bytes: usize) -> String {
    let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let megabytes = bytes as f64 / 1e6;
    match word {
        "room" => {
            format!(
                "no place for the agent ({megabytes:.1} MB): make room in one of these, or let it be \
                 written: {rest}"
            )
        }
        "copy" if rest.is_empty() => {
            "the copy of the agent arrived damaged or was cut off: try again".to_string()
        }
        "copy" => format!("the agent ({megabytes:.1} MB) cannot be copied there: {rest}"),
        "folder" => format!("no folder for the run can be made there ({rest}): name another one"),
        "taken" => "a run of this name began there in this very second: try again".to_string(),
        "plan" => format!("the plan cannot be written there: make room in {rest}"),
        "sum" => {
            "nothing there computes a SHA-256, so the copied agent cannot be verified: install \
                  coreutils, busybox or openssl there"
                .to_string()
        }
        "unsafe" => format!(
            "the agent is not started from {rest} there: others may write to that folder, or it belongs \
             to another user; let XDG_CACHE_HOME or --board-folder name a folder of your own"
        ),
        "exec" => format!("the agent does not run there: {rest}"),
        _ => format!("it says '{word} {rest}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_a_full_disk_ended_is_not_called_damaged() {
        let full = why_failed("copy No space left on device", 3_400_000);
        assert_eq!(full, "the agent (3.4 MB) cannot be copied there: No space left on device");
        assert!(why_failed("copy", 1).contains("damaged or was cut off"));
    }

    #[test]
    fn runs_are_known_by_the_words_of_their_agents() {
        let sum = "0f".repeat(32);
        let agent = format!("/root/.cache/latlab/agents/agent-{sum}");
        let run = Some("20261124T045433Z_run".to_string());
        assert_eq!(run_of(&format!("{agent}20261124T045433Z_run")), run);
        assert_eq!(run_of(&format!("sudo-n{agent}20261124T045433Z_run")), run);
        for words in [format!("{agent}--restore"), agent.clone(), "agent-$sum".to_string()] {
            assert_eq!(run_of(&words), None, "{words}");
        }
    }
}
