//! Sends command lines to an instrument and reads its answers.

use super::resource::Resource;
use crate::StopFlag;
use latlab_model::sanitize::escape_controls;
use latlab_sys::usbtmc::Usbtmc;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Longest answer of one number or word.
const LONGEST_ANSWER: usize = 1 << 16;
/// Characters of a wrong answer that are shown.
const SHOWN: usize = 60;
/// How often the stop flag is checked while waiting.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, thiserror::Error)]
pub enum InstrumentError {
    /// It does not exist or refuses the connection.
    #[error("cannot open {resource}: {error}")]
    Unreachable { resource: String, error: io::Error },
    /// It disconnected.
    #[error("the connection to {resource} has ended: {error}")]
    Lost { resource: String, error: io::Error },
    /// It did not answer in time.
    #[error("{resource} did not answer '{query}' within {timeout:?}")]
    Silent { resource: String, query: String, timeout: Duration },
    /// Its answer does not end.
    #[error(
        "the answer of {resource} to '{query}' has no end: {LONGEST_ANSWER} bytes without a line feed"
    )]
    Endless { resource: String, query: String },
    /// Its answer is invalid.
    #[error("{resource} answered '{query}' with '{answer}', expected {expected}")]
    Wrong {
        resource: String,
        query: String,
        answer: String,
        /// What was expected.
        expected: &'static str,
    },
    /// Nothing was measured in several tries.
    #[error(
        "{resource} measured nothing: each of {tries} readings timed out after {timeout:?}; is the \
         trigger set to the stimulus, and does the stimulus come?"
    )]
    Nothing {
        resource: String,
        tries: u64,
        /// Of each try.
        timeout: Duration,
    },
    /// The user ended it.
    #[error("interrupted: nothing is stored")]
    Interrupted,
}

pub struct Connection<'a> {
    resource: Resource,
    timeout: Duration,
    stop: &'a StopFlag,
    stream: Stream,
    /// Bytes received of an unfinished answer.
    pending: Vec<u8>,
}

enum Stream {
    Socket(TcpStream),
    Usb(Usbtmc),
}

impl<'a> Connection<'a> {
    /// Opens an instrument, with a timeout per answer; `stop` ends the waiting.
    pub fn open(
        resource: &Resource,
        timeout: Duration,
        stop: &'a StopFlag,
    ) -> Result<Connection<'a>, InstrumentError> {
        let stream = open(resource, timeout).map_err(|error| InstrumentError::Unreachable {
            resource: resource.to_string(),
            error,
        })?;
        let resource = resource.clone();
        Ok(Connection { resource, timeout, stop, stream, pending: Vec::new() })
    }

    /// Reopens it, so that a late answer is not taken for one to a later question.
    pub fn reopen(&mut self) -> Result<(), InstrumentError> {
        self.pending.clear();
        match &self.stream {
            Stream::Usb(usb) => usb.clear().map_err(|error| self.lost(error)),
            Stream::Socket(_) => {
                *self = Connection::open(&self.resource, self.timeout, self.stop)?;
                Ok(())
            }
        }
    }

    /// Its identification: maker, model, serial number and version.
    pub fn identity(&mut self) -> Result<String, InstrumentError> {
        const QUERY: &str = "*IDN?";
        let identity = self.ask(QUERY)?;
        match identity.split(',').count() >= 3 && !identity.starts_with(',') {
            true => Ok(identity),
            false => Err(self.wrong(QUERY, &identity, "MAKER,MODEL,SERIAL,VERSION")),
        }
    }

    pub fn send(&mut self, command: &str) -> Result<(), InstrumentError> {
        let line = format!("{command}\n");
        let sent = match &mut self.stream {
            Stream::Socket(socket) => socket.write_all(line.as_bytes()),
            Stream::Usb(usb) => usb.send(line.as_bytes()),
        };
        sent.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => self.silent(command),
            _ => self.lost(error),
        })
    }

    /// Sends a query and waits for its answer, one line.
    pub fn ask(&mut self, query: &str) -> Result<String, InstrumentError> {
        if !self.pending.is_empty() {
            let more = String::from_utf8_lossy(&self.pending).into_owned();
            return Err(self.wrong(query, &more, "one line for each question"));
        }
        let until = Instant::now() + self.timeout;
        self.send(query)?;
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim().to_string());
            }
            if self.pending.len() > LONGEST_ANSWER {
                let resource = self.resource.to_string();
                return Err(InstrumentError::Endless { resource, query: query.to_string() });
            }
            self.receive(query, until)?;
        }
    }

    /// Waits for more of an answer.
    fn receive(&mut self, query: &str, until: Instant) -> Result<(), InstrumentError> {
        let mut chunk = [0; 4096];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if self.stop.is_set() {
                return Err(InstrumentError::Interrupted);
            }
            if left.is_zero() {
                return Err(self.silent(query));
            }
            let (got, is_message) = match &mut self.stream {
                Stream::Socket(socket) => {
                    let waited = socket.set_read_timeout(Some(left.min(LOOK)));
                    (waited.and_then(|()| socket.read(&mut chunk)), false)
                }
                Stream::Usb(usb) => (usb.receive(&mut chunk), true),
            };
            match got {
                Ok(0) if !is_message => return Err(self.lost(ErrorKind::UnexpectedEof.into())),
                Ok(length) => {
                    self.pending.extend(&chunk[..length]);
                    // The bus marks the end of a message.
                    if is_message && length < chunk.len() && !self.pending.ends_with(b"\n") {
                        self.pending.push(b'\n');
                    }
                    return Ok(());
                }
                Err(error) if is_message && error.kind() == ErrorKind::TimedOut => {
                    return Err(self.silent(query));
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(self.lost(error)),
                },
            }
        }
    }

    fn lost(&self, error: io::Error) -> InstrumentError {
        InstrumentError::Lost { resource: self.resource.to_string(), error }
    }

    fn silent(&self, query: &str) -> InstrumentError {
        let (resource, query) = (self.resource.to_string(), query.to_string());
        InstrumentError::Silent { resource, query, timeout: self.timeout }
    }

    /// The error for an invalid answer.
    pub fn wrong(&self, query: &str, answer: &str, expected: &'static str) -> InstrumentError {
        let shown: String = answer.chars().take(SHOWN).collect();
        let more = if shown.len() < answer.len() { "…" } else { "" };
        InstrumentError::Wrong {
            resource: self.resource.to_string(),
            query: query.to_string(),
            answer: format!("{}{more}", escape_controls(&shown)),
            expected,
        }
    }

    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// Per answer.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }
}

fn open(resource: &Resource, timeout: Duration) -> io::Result<Stream> {
    let Resource::Socket { host, port } = resource else {
        let file = resource.file().ok_or(io::Error::from(ErrorKind::NotFound))?;
        return Usbtmc::open(&file, timeout).map(Stream::Usb);
    };
    let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
    for address in (host.as_str(), *port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                socket.set_write_timeout(Some(timeout))?;
                return Ok(Stream::Socket(socket));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}
