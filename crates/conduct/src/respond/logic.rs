//! A logic analyser: sigrok-cli captures its channels into a session file, which is read like any
//! other.
//!
//! sigrok is under the GPL; latlab only starts it.

use crate::StopFlag;
use latlab_model::{Nanos, shell};
use latlab_sys::child;
use latlab_sys::process::KillSignal;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const PROGRAM: &str = "sigrok-cli";
/// Polling interval for its end.
const POLL: Duration = Duration::from_millis(10);
/// How much longer than the capture it may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, PartialEq, Debug)]
pub struct LogicCapture {
    /// The sigrok driver with its options: `fx2lafw:conn=1.5`.
    pub driver: String,
    /// Samples per second in sigrok's notation; `None` for the analyser's setting.
    pub samplerate: Option<String>,
    pub duration: Nanos,
    /// Empty for all.
    pub channels: Vec<String>,
    /// Further options of sigrok-cli.
    pub options: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum LogicError {
    #[error("cannot start {PROGRAM}: {0} (Debian and Fedora have a package {PROGRAM})")]
    NoProgram(io::Error),
    /// It captured nothing.
    #[error("{PROGRAM} captured nothing: {0}")]
    Nothing(String),
    /// It does not end.
    #[error("{PROGRAM} still ran {} s after the end of the capture, and was ended", PATIENCE.as_secs())]
    Stuck,
    /// The user ended it before anything was captured.
    #[error("interrupted: nothing is stored")]
    Interrupted,
    #[error("cannot write {}: {}", .0.display(), .1)]
    File(PathBuf, io::Error),
}

/// A session file, deleted on drop.
pub struct LogicSession {
    pub path: PathBuf,
    /// Whether the user ended it.
    pub is_interrupted: bool,
    _folder: TempDir,
}

/// Captures; `stop` ends the capture early and keeps what was captured.
pub fn capture(order: &LogicCapture, stop: &StopFlag) -> Result<LogicSession, LogicError> {
    let folder = tempfile::Builder::new().prefix("latlab-logic-").tempdir();
    let folder = folder.map_err(|error| LogicError::File(std::env::temp_dir(), error))?;
    let path = folder.path().join(order.file());
    let arguments = order.arguments();
    let log = folder.path().join("said");
    let file = File::create(&log).map_err(|error| LogicError::File(log.clone(), error))?;
    let child = Command::new(PROGRAM)
        .args(&arguments)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .spawn();
    let ended = wait(child.map_err(LogicError::NoProgram)?, order.duration, stop)?;
    let is_interrupted = stop.is_set();
    if !is_interrupted && !ended.success() || !path.exists() {
        return Err(match is_interrupted {
            true => LogicError::Interrupted,
            false => LogicError::Nothing(reason(&log, ended)),
        });
    }
    Ok(LogicSession { path, is_interrupted, _folder: folder })
}

impl LogicCapture {
    /// The command line.
    pub fn command(&self) -> String {
        let words: Vec<String> =
            std::iter::once(PROGRAM.to_string()).chain(self.arguments()).collect();
        shell::words(&words)
    }

    /// The name of the session file.
    fn file(&self) -> String {
        format!("{}.sr", self.driver.split(':').next().unwrap_or_default())
    }

    fn arguments(&self) -> Vec<String> {
        let mut words = vec!["--driver".to_string(), self.driver.clone()];
        let mut option = |name: &str, value: String| words.extend([name.to_string(), value]);
        if let Some(rate) = &self.samplerate {
            option("--config", format!("samplerate={rate}"));
        }
        if !self.channels.is_empty() {
            option("--channels", self.channels.join(","));
        }
        let milliseconds = (self.duration.0 / 1_000_000).max(1);
        option("--time", format!("{milliseconds}ms"));
        option("--output-format", "srzip".to_string());
        option("--output-file", self.file());
        words.extend(self.options.iter().cloned());
        words
    }
}

/// Waits for the program, and ends it when the user asks.
fn wait(mut child: Child, duration: Nanos, stop: &StopFlag) -> Result<ExitStatus, LogicError> {
    let begun = std::time::Instant::now();
    let longest = Duration::from_nanos(duration.0.unsigned_abs()).saturating_add(PATIENCE);
    loop {
        // It writes while it captures, so what it has written is valid.
        if stop.is_set() {
            child::signal(child.id(), KillSignal::INT);
            return child.wait().map_err(LogicError::NoProgram);
        }
        match child.try_wait().map_err(LogicError::NoProgram)? {
            Some(ended) => return Ok(ended),
            None if begun.elapsed() > longest => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(LogicError::Stuck);
            }
            None => thread::sleep(POLL),
        }
    }
}

/// The last line that the program printed, which is its error.
fn reason(log: &Path, ended: ExitStatus) -> String {
    let said = fs::read(log).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.map_or(format!("it ended with {ended}"), latlab_model::sanitize::escape_controls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_captures_what_was_asked_for() {
        let order = LogicCapture {
            driver: "fx2lafw:conn=1.5".to_string(),
            samplerate: Some("24m".to_string()),
            duration: Nanos(1_500_000_000),
            channels: vec!["D0".to_string(), "D1".to_string()],
            options: vec!["--triggers".to_string(), "D0=r".to_string()],
        };
        let words = order.arguments().join(" ");
        assert_eq!(
            words,
            "--driver fx2lafw:conn=1.5 --config samplerate=24m --channels D0,D1 --time 1500ms \
             --output-format srzip --output-file fx2lafw.sr --triggers D0=r"
        );
    }
}
