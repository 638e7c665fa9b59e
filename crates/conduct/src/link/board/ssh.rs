//! One `ssh` process: its command, output and errors. Nothing from the other side is stored without
//! a limit.

use super::failed;
use super::ssh_error::remedy;
use crate::{Failure, lock};
use latlab_model::shell;
use latlab_model::target::BoardTarget;
use latlab_sys::child::ignore_terminal_signals;
use latlab_sys::terminal;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// The script for the board's shell.
const REACH: &str = include_str!("reach.sh");
/// The command and options to reach a board, if not `ssh`.
const COMMAND: &str = "LATLAB_SSH";
/// Size of a read, and how many such pieces may be queued.
const PIECE: usize = 64 << 10;
const PIECES: usize = 16;
/// Bytes kept from the end of the stderr of ssh and the board's programs.
const KEPT: usize = 4096;
/// Exit code of ssh's own failures; others are those of the remote command.
const SSH_FAILED: i32 = 255;
/// How long a process may take to end when it should.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long reading the rest of stderr may take after a process has ended.
const ERRORS: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);
/// Seconds after which a board that does not answer is given up; a silent link is lost after the
/// same time and the probes in [`ALIVE`].
const CONNECT: &str = "ConnectTimeout=15";
const ALIVE: [&str; 2] = ["ServerAliveInterval=5", "ServerAliveCountMax=3"];

/// What is requested from a board.
pub enum BoardCommand<'a> {
    /// Serve a plan.
    Run { id: &'a str, wants_root: bool },
    /// Serve a plan without a link, in a new folder below `folder` or the usual one.
    Detach { id: &'a str, wants_root: bool, folder: Option<&'a str> },
    /// Collect detached runs; `folder` is searched in addition to the usual ones.
    Collect { folder: Option<&'a str> },
    /// Undo what a killed agent left.
    Restore,
    /// Report what the board is and what runs there.
    Status { folder: Option<&'a str> },
    /// Report which of these programs exist.
    Programs(&'a [&'a str]),
}

/// An ssh process with its three streams.
pub struct Connection {
    pub board: BoardTarget,
    child: Child,
    to_board: Option<ChildStdin>,
    from_board: Option<Source>,
    errors: Arc<Mutex<VecDeque<u8>>>,
    errors_reader: Option<JoinHandle<()>>,
    until: Option<Instant>,
}

/// How a connection ended.
pub struct ConnectionEnd {
    status: Option<ExitStatus>,
    complaint: Option<String>,
    board: BoardTarget,
}

impl Connection {
    /// Starts ssh, which may ask for a password; whether it reaches the board shows later.
    pub fn open(
        board: &BoardTarget,
        board_command: &BoardCommand<'_>,
    ) -> Result<Connection, Failure> {
        Connection::start(board, board_command, true)
    }

    /// Starts ssh; `may_ask` allows password prompts.
    pub fn start(
        board: &BoardTarget,
        board_command: &BoardCommand<'_>,
        may_ask: bool,
    ) -> Result<Connection, Failure> {
        let mut command = command(board, board_command, may_ask);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // In our process group, so that it may ask for a password; Ctrl-C is for us alone.
        ignore_terminal_signals(&mut command);
        let mut child = command.spawn().map_err(|error| failed(board, &error))?;
        let errors = Arc::<Mutex<VecDeque<u8>>>::default();
        let to_board = child.stdin.take();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut connection = Connection {
            board: board.clone(),
            child,
            to_board,
            from_board: None,
            errors,
            errors_reader: None,
            until: None,
        };
        if let (Some(stdout), Some(stderr)) = (stdout, stderr) {
            let kept = Arc::clone(&connection.errors);
            let reader = std::thread::Builder::new()
                .spawn(move || keep_last(stderr, &kept))
                .map_err(Failure::Thread)?;
            connection.errors_reader = Some(reader);
            connection.from_board = Some(Source::start(stdout).map_err(Failure::Thread)?);
        }
        Ok(connection)
    }

    /// A fake board that sends these bytes regardless of its input.
    #[cfg(test)]
    pub fn scripted(board: BoardTarget, said: impl Read + Send + 'static) -> Connection {
        let mut listener = Command::new("cat");
        let listener = listener.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = listener.spawn().expect("a program that listens");
        Connection {
            board,
            to_board: child.stdin.take(),
            child,
            from_board: Some(Source::start(said).expect("a thread")),
            errors: Arc::default(),
            errors_reader: None,
            until: None,
        }
    }

    /// Ends everything still in progress after this time.
    pub fn limit(&mut self, time: Duration) {
        self.until = Some(Instant::now() + time);
        if let Some(source) = &mut self.from_board {
            source.until = self.until;
        }
    }

    /// Whether the limit has passed.
    pub fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let pipe = self.to_board.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        pipe.write_all(bytes).and_then(|()| pipe.flush())
    }

    /// Writes a large amount to the board without waiting.
    pub fn send_in_background(&mut self, bytes: Vec<u8>) -> io::Result<JoinHandle<ChildStdin>> {
        let mut pipe = self.to_board.take().ok_or(io::ErrorKind::BrokenPipe)?;
        std::thread::Builder::new().spawn(move || {
            // The board notices what it did not receive.
            let _ = pipe.write_all(&bytes).and_then(|()| pipe.flush());
            pipe
        })
    }

    /// Takes back the pipe that [`Connection::send_in_background`] used.
    pub fn resume_sending(&mut self, sender: JoinHandle<ChildStdin>) {
        self.to_board = sender.join().ok();
    }

    pub fn close_input(&mut self) {
        self.to_board = None;
    }

    /// Output of the board, for the handshake.
    pub fn source(&mut self) -> Option<&mut Source> {
        self.from_board.as_mut()
    }

    /// The rest of the board's output.
    pub fn stream(&mut self) -> Source {
        self.from_board.take().unwrap_or_else(Source::ended)
    }

    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
    }

    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    pub fn wait(&mut self) -> ConnectionEnd {
        self.close_input();
        let until = Instant::now() + PATIENCE;
        while !self.has_ended() && Instant::now() < until {
            sleep(LOOK);
        }
        self.kill();
        let status = self.child.wait().ok();
        if !status.is_some_and(|status| status.success()) {
            self.wait_for_errors();
        }
        let kept: Vec<u8> = lock(&self.errors).iter().copied().collect();
        let complaint = String::from_utf8_lossy(&kept).into_owned();
        let complaint = Some(complaint).filter(|text| !text.trim().is_empty());
        ConnectionEnd { status, complaint, board: self.board.clone() }
    }

    /// Waits until ssh's stderr was read, which is usually at once; only for a short time if a
    /// program that ssh started survives and keeps the pipe open.
    fn wait_for_errors(&self) {
        let until = Instant::now() + ERRORS;
        let is_read = || self.errors_reader.as_ref().is_none_or(JoinHandle::is_finished);
        while !is_read() && Instant::now() < until {
            sleep(LOOK);
        }
    }

    /// As [`Connection::wait`], and drops the connection.
    pub fn end(mut self) -> ConnectionEnd {
        self.wait()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.to_board = None;
        self.kill();
        let _ = self.child.wait();
    }
}

impl ConnectionEnd {
    /// Whether the agent was killed while the board went on.
    pub fn agent_died(&self) -> bool {
        self.status.and_then(|status| status.code()).is_some_and(|code| code != SSH_FAILED)
    }

    /// Why the connection ended and how to fix it, in one line.
    pub fn reason(&self) -> String {
        let said = self.complaint.as_deref().unwrap_or_default();
        match self.status.and_then(|status| status.code()) {
            Some(SSH_FAILED) => remedy(&self.board, said),
            Some(code) => {
                let last = last_line(said).map(|line| format!(": {line}")).unwrap_or_default();
                agent_end(code, &last)
            }
            None => "the connection was ended from here".to_string(),
        }
    }
}

/// How an agent ended whose stream is incomplete, from the exit code that a shell reports.
pub fn agent_end(code: i32, last: &str) -> String {
    match (code, code - 128) {
        (0, _) => format!("the agent there ended without a last word{last}"),
        // Shells report a fatal signal like this.
        (_, signal @ 1..=64) => format!("the agent there was killed by signal {signal}{last}"),
        _ => format!("the agent there ended with exit code {code}{last}"),
    }
}

/// The last line that is not blank.
pub fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

fn keep_last(mut stderr: ChildStderr, kept: &Mutex<VecDeque<u8>>) {
    let mut piece = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut piece) {
        let mut kept = lock(kept);
        kept.extend(&piece[..count]);
        let too_many = kept.len().saturating_sub(KEPT);
        kept.drain(..too_many);
    }
}

/// Output of a board, read by a thread so that waiting for it can time out.
pub struct Source {
    pieces: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    read: usize,
    until: Option<Instant>,
    /// Bytes received.
    bytes: Arc<AtomicU64>,
}

impl Source {
    fn start(stdout: impl Read + Send + 'static) -> io::Result<Source> {
        let (to, pieces) = sync_channel(PIECES);
        let bytes = Arc::<AtomicU64>::default();
        let count = Arc::clone(&bytes);
        std::thread::Builder::new().spawn(move || read_pieces(stdout, &to, &count))?;
        Ok(Source { pieces, piece: Vec::new(), read: 0, until: None, bytes })
    }

    fn ended() -> Source {
        let (piece, bytes) = (Vec::new(), Arc::default());
        Source { pieces: sync_channel(0).1, piece, read: 0, until: None, bytes }
    }

    /// A shared count of the bytes received.
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.bytes)
    }

    /// The next byte; `None` if none arrives in time. An error says that none will come.
    pub fn next_byte(&mut self, within: Duration) -> Result<Option<u8>, RecvTimeoutError> {
        Ok(self.next_bytes(1, within)?.first().copied())
    }

    /// Up to `most` received bytes; empty if none arrive in time. An error says that none will
    /// come.
    pub fn next_bytes(&mut self, most: usize, within: Duration) -> Result<&[u8], RecvTimeoutError> {
        if self.read == self.piece.len() {
            match self.pieces.recv_timeout(within) {
                Ok(piece) => (self.piece, self.read) = (piece, 0),
                Err(RecvTimeoutError::Timeout) => return Ok(&[]),
                Err(ended) => return Err(ended),
            }
        }
        let from = self.read;
        self.read += most.min(self.piece.len() - from);
        Ok(&self.piece[from..self.read])
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.piece.len() {
            let next = match self.until {
                None => self.pieces.recv().ok(),
                Some(until) => {
                    self.pieces.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
                }
            };
            let Some(next) = next else { return Ok(0) };
            (self.piece, self.read) = (next, 0);
        }
        let count = buffer.len().min(self.piece.len() - self.read);
        buffer[..count].copy_from_slice(&self.piece[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

fn read_pieces(mut stdout: impl Read, to: &SyncSender<Vec<u8>>, bytes: &AtomicU64) {
    let mut piece = vec![0; PIECE];
    loop {
        match stdout.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                bytes.fetch_add(count as u64, Ordering::Relaxed);
                if to.send(piece[..count].to_vec()).is_err() {
                    // The receiver is gone.
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn command(board: &BoardTarget, board_command: &BoardCommand<'_>, may_ask: bool) -> Command {
    let own = std::env::var_os(COMMAND).filter(|words| !words.is_empty());
    let words = own.unwrap_or_else(|| OsString::from("ssh"));
    let words = words.to_string_lossy().into_owned();
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("ssh"));
    command.args(words).args(["-T", "-x", "-a"]);
    for option in ALIVE.iter().chain(&[CONNECT, "ClearAllForwardings=yes", "EscapeChar=none"]) {
        command.args(["-o", option]);
    }
    if !may_ask || !terminal::can_be_asked() {
        command.args(["-o", "BatchMode=yes"]);
    }
    if let Some(port) = board.port {
        command.args(["-p", &port.to_string()]);
    }
    if let Some(user) = &board.user {
        command.args(["-l", user]);
    }
    command.args(["--", &board.host, &remote_command(board_command)]);
    command
}

/// The command line for the board's login shell, whatever shell that is.
fn remote_command(board_command: &BoardCommand<'_>) -> String {
    let plain = |text: &str| -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
    };
    let all = |word: &str, wants_root: bool, folder: Option<&str>, id: &str| {
        let right = if wants_root { "root" } else { "user" };
        vec![word.to_string(), right.into(), folder.unwrap_or_default().into(), plain(id)]
    };
    let words: Vec<String> = match board_command {
        BoardCommand::Run { id, wants_root } => all("run", *wants_root, None, id),
        BoardCommand::Detach { id, wants_root, folder } => all("detach", *wants_root, *folder, id),
        BoardCommand::Collect { folder } => all("collect", true, *folder, "-"),
        BoardCommand::Restore => all("restore", true, None, "-"),
        BoardCommand::Status { folder } => all("status", true, *folder, "-"),
        BoardCommand::Programs(names) => {
            std::iter::once(&"programs").chain(*names).map(ToString::to_string).collect()
        }
    };
    format!("exec sh -c '{}' latlab-board {}", reach(), shell::words(&words))
}

fn reach() -> String {
    let is_sent = |line: &&str| !line.is_empty() && !line.starts_with('#');
    REACH.lines().filter(is_sent).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::path::Path;

    #[test]
    fn any_login_shell_hands_the_line_on_as_it_is() {
        let line = reach();
        assert!(!line.contains(['\'', '\\', '!', '\n']), "{line}");
        // An old dropbear accepts no more than this.
        assert!(line.len() < 8_000, "{}", line.len());
        let names = ["hackbench", "x; reboot"];
        assert!(remote_command(&BoardCommand::Programs(&names)).ends_with("hackbench 'x; reboot'"));
        let run = remote_command(&BoardCommand::Run { id: "a'b c", wants_root: true });
        assert!(run.ends_with("' latlab-board run root '' a_b_c"), "{run}");
        let folder = Some("/mnt/a; reboot");
        let detach = remote_command(&BoardCommand::Detach { id: "x", wants_root: false, folder });
        assert!(detach.ends_with("' latlab-board detach user '/mnt/a; reboot' x"), "{detach}");
    }

    /// Output of a board with this cache: its shell, then an agent copied there reporting about
    /// itself.
    fn board_says(cache: &Path, board_command: &str, folder: &Path) -> String {
        let agent = b"#!/bin/sh\n[ \"$1\" = --restore ] || echo \"agent $0\"\n";
        let sum: String = Sha256::digest(agent).iter().map(|byte| format!("{byte:02x}")).collect();
        let length = agent.len();
        let mut shell = Command::new("sh");
        shell.args(["-c", &reach(), "latlab-board", board_command, "user"]).arg(folder).arg("1Z_x");
        shell.env("XDG_CACHE_HOME", cache).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        // The agent is only sent if it is not there yet.
        let has_agent = cache.join("latlab/agents/agent-".to_string() + &sum).exists();
        let agent = if has_agent { b"" } else { &agent[..] };
        let words = [format!("{sum} {length}\n").as_bytes(), agent, b"4\nplan"].concat();
        // A shell that refuses reads no further.
        let _ = child.stdin.take().unwrap().write_all(&words);
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    /// Invariant (trust): A board starts no agent, and keeps no run, where others may put another file in its place.
    #[test]
    fn an_agent_lies_where_nobody_else_can_swap_it() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let (shared, own) = (top.join("shared"), top.join("own"));
        let (cache, nowhere) = (shared.join("cache"), Path::new(""));
        fs::create_dir_all(&cache).unwrap();
        fs::create_dir(&own).unwrap();
        let mode = |mode| fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
        let refused = format!("latlab-board failed unsafe {}\n", shared.display());
        let started = |folder: &Path| format!("agent {}/latlab/agents/agent-", folder.display());

        // Before and after the agent is copied.
        for has_agent in [false, true] {
            mode(0o777);
            let said = board_says(&cache, "run", nowhere);
            assert!(said.ends_with(&refused) && !said.contains("start"), "{has_agent}: {said}");
            for safe in [0o755, 0o1777] {
                mode(safe);
                let said = board_says(&cache, "run", nowhere);
                assert_eq!(said.contains("has-agent"), has_agent || safe == 0o1777, "{said}");
                assert!(said.contains(&started(&cache)), "{said}");
            }
        }
        // A link that another user may redirect does not change what is started.
        symlink(&own, shared.join("link")).unwrap();
        let said = board_says(&shared.join("link"), "run", nowhere);
        assert!(said.contains(&started(&own)), "{said}");

        mode(0o777);
        let said = board_says(&own, "detach", &shared.join("runs"));
        assert!(said.ends_with(&refused) && !said.contains("detached"), "{said}");
        mode(0o755);
        let said = board_says(&own, "detach", &shared.join("runs"));
        assert!(said.contains("latlab-board detached"), "{said}");
        // Only root can give a folder away.
        if chown(&own, Some(65534), None).is_ok() {
            let said = board_says(&own, "run", nowhere);
            let refused = format!("latlab-board failed unsafe {}\n", own.display());
            assert!(said.ends_with(&refused), "{said}");
        }
    }
}
