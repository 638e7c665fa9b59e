//! Output of a board: lines that begin with a mark, and pieces of known length between them.

use super::ssh::{Connection, last_line};
use crate::{Failure, StopFlag};
use latlab_model::sanitize::escape_controls;
use latlab_sys::terminal;
use std::time::{Duration, Instant};

/// Start of each protocol line; others are output of a talkative login shell.
const MARK: &str = "latlab-board ";
/// Longest output of a login shell before the first protocol line.
const LONGEST_BANNER: usize = 64 << 10;
/// Longest answer to a question.
const LONGEST_ANSWER: usize = 1 << 20;
/// How long a board may take to answer; a password prompt may take longer.
pub const ANSWER: Duration = Duration::from_secs(40);
const PERSON: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(100);

/// Reads the marked lines of a board, with limits on time and length.
pub struct Lines<'a> {
    connection: &'a mut Connection,
    stop: &'a StopFlag,
    until: Instant,
    is_greeted: bool,
    /// Bytes of lines since the last question.
    heard: usize,
    /// Output before the first protocol line.
    banner: String,
}

impl<'a> Lines<'a> {
    /// For a fresh connection, or for the rest of one.
    pub fn new(connection: &'a mut Connection, stop: &'a StopFlag) -> Lines<'a> {
        let patience = if terminal::can_be_asked() { PERSON } else { ANSWER };
        let until = Instant::now() + patience;
        Lines { connection, stop, until, is_greeted: false, heard: 0, banner: String::new() }
    }

    /// Sets how long the next answer may take.
    pub fn patience(&mut self, time: Duration) {
        self.until = Instant::now() + time;
    }

    /// An error that names the board.
    pub fn failure(&self, text: &str) -> Failure {
        Failure::Board(format!("{}: {text}", self.connection.board))
    }

    /// The error for an invalid answer.
    pub fn meaningless(&self, line: &str) -> Failure {
        self.failure(&format!("it sent '{line}', which is not an answer that latlab knows"))
    }

    pub fn say(&mut self, line: &str) -> Result<(), Failure> {
        self.send(line.as_bytes())
    }

    pub fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.heard = 0;
        match self.connection.send(bytes) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.ended()),
        }
    }

    /// Copies the agent; the board's next line confirms it.
    pub fn copy(&mut self, program: Vec<u8>) -> Result<(), Failure> {
        let sender = self.connection.send_in_background(program).map_err(Failure::Thread)?;
        while !sender.is_finished() {
            if self.is_over() {
                // This also ends the sender.
                self.connection.kill();
                return Err(self.silent());
            }
            std::thread::sleep(LOOK / 10);
        }
        self.connection.resume_sending(sender);
        Ok(())
    }

    /// The rest of the next line, which must begin with `word`.
    pub fn expect(&mut self, word: &str) -> Result<String, Failure> {
        let line = self.next()?;
        match line.strip_prefix(word) {
            Some(rest) => Ok(rest.trim().to_string()),
            None => Err(self.meaningless(&line)),
        }
    }

    /// The next protocol line; other output before the first is skipped.
    pub fn next(&mut self) -> Result<String, Failure> {
        let mut line = Vec::new();
        loop {
            if self.is_over() {
                return Err(self.silent());
            }
            let Some(source) = self.connection.source() else { return Err(self.ended()) };
            match source.next_byte(LOOK) {
                Err(_) => return Err(self.ended()),
                Ok(None) => continue,
                Ok(Some(b'\n')) => {
                    let said = String::from_utf8_lossy(&line).trim_end().to_string();
                    // A prompt without a newline may precede the mark.
                    if let Some((_, ours)) = said.split_once(MARK) {
                        self.is_greeted = true;
                        return Ok(escape_controls(ours));
                    }
                    if !said.is_empty() {
                        self.banner = said;
                    }
                    line.clear();
                }
                Ok(Some(byte)) => line.push(byte),
            }
            self.heard += 1;
            let (most, what) = match self.is_greeted {
                false => {
                    (LONGEST_BANNER, "more than 64 KiB, and no answer to our command among it")
                }
                true => (LONGEST_ANSWER, "more than 1 MiB in answer to one question"),
            };
            if self.heard > most {
                self.connection.kill();
                return Err(self.failure(&format!("what it sends makes no sense: {what}")));
            }
        }
    }

    /// Reads exactly this many bytes, passing each part to `take` as it arrives.
    pub fn piece(
        &mut self,
        bytes: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut left = bytes;
        while left > 0 {
            if self.is_over() {
                return Err(self.silent());
            }
            let Some(source) = self.connection.source() else { return Err(self.ended()) };
            let most = usize::try_from(left).unwrap_or(usize::MAX);
            let Ok(part) = source.next_bytes(most, LOOK) else { return Err(self.ended()) };
            let length = part.len() as u64;
            take(part)?;
            left -= length;
            if length > 0 {
                self.patience(ANSWER);
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.stop.is_set() || Instant::now() > self.until || self.connection.is_late()
    }

    fn silent(&self) -> Failure {
        match self.stop.is_set() {
            true => Failure::Nothing,
            false => self.failure(match self.is_greeted {
                false => "no answer in time: see whether `ssh` reaches it and a command ends there",
                true => "no answer in time while its agent was to start: try again",
            }),
        }
    }

    /// The error after ssh or the shell there has ended.
    fn ended(&mut self) -> Failure {
        let end = self.connection.wait();
        let said = last_line(&self.banner).filter(|_| !self.is_greeted && end.agent_died());
        let reason = match said {
            Some(said) => format!(
                "no POSIX shell runs a command there; its last line: {}",
                escape_controls(said)
            ),
            None => end.reason(),
        };
        self.failure(&reason)
    }
}
