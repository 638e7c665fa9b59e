//! The user's terminal.

use crate::Errno;
use rustix::fs::FileType;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use std::fs::File;
use std::io::{self, ErrorKind, stderr, stdin, stdout};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// The value that disables a key in the terminal settings.
const NO_KEY: u8 = 0;

/// Whether standard error is a terminal.
pub fn stderr_is_terminal() -> bool {
    rustix::termios::isatty(stderr())
}

/// Whether standard output is a terminal.
pub fn stdout_is_terminal() -> bool {
    rustix::termios::isatty(stdout())
}

/// Set before `main`, since the standard library then opens `/dev/null` in place of a closed
/// output.
static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the C library calls the functions of this section before `main`, and this is one of their
// type.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_AT_STDOUT: extern "C" fn() = look_at_stdout;

extern "C" fn look_at_stdout() {
    // SAFETY: the kernel looks up a number, which need not be that of an open file.
    let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
    STDOUT_WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Whether standard output was closed when this program was started (`>&-`), so that nothing can be
/// printed.
pub fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

/// Whether a program that we start can ask the user for a password or a decision.
pub fn can_be_asked() -> bool {
    File::options().read(true).write(true).open("/dev/tty").is_ok()
}

/// Whether a write to standard output failed because the reader is gone: the pipe was closed, or
/// the terminal has disappeared.
pub fn has_no_reader(error: &io::Error) -> bool {
    let is_terminal = || {
        let status = rustix::fs::fstat(stdout());
        status.is_ok_and(|status| {
            FileType::from_raw_mode(status.st_mode) == FileType::CharacterDevice
        })
    };
    // A terminal that has disappeared fails as a terminal, but is still a device.
    error.kind() == ErrorKind::BrokenPipe
        || Errno::from_io_error(error) == Some(Errno::IO) && is_terminal()
}

/// Whether this process is in the terminal's foreground; one in the background is stopped when it
/// changes the terminal.
pub fn in_foreground() -> bool {
    let owner = rustix::termios::tcgetpgrp(stderr());
    owner.is_ok_and(|owner| owner == rustix::process::getpgrp())
}

/// Columns of the terminal at standard output or, behind a pipe, at standard error.
pub fn columns() -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(stdout());
    let size = size.or_else(|_| rustix::termios::tcgetwinsize(stderr()));
    size.ok().map(|size| size.ws_col).filter(|&columns| columns > 0)
}

/// Columns and rows of the terminal at standard error; `None` if it is gone or has no size.
pub fn stderr_size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(stderr()).ok()?;
    Some((size.ws_col, size.ws_row)).filter(|(columns, rows)| *columns > 0 && *rows > 0)
}

/// Switches a terminal or serial interface to raw mode.
pub fn make_raw(file: impl AsFd) {
    if let Ok(mut modes) = rustix::termios::tcgetattr(&file) {
        modes.make_raw();
        let _ = rustix::termios::tcsetattr(&file, OptionalActions::Now, &modes);
    }
}

/// Hides typed input until dropped. Of the keys that send signals only Ctrl-C works, because the
/// others would leave the screen as it is.
pub struct NoEcho(Termios);

impl NoEcho {
    /// Hides input from now on; `None` if standard input is not a terminal.
    pub fn start() -> Option<NoEcho> {
        let before = rustix::termios::tcgetattr(stdin()).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        for key in [SpecialCodeIndex::VQUIT, SpecialCodeIndex::VSUSP] {
            quiet.special_codes[key] = NO_KEY;
        }
        rustix::termios::tcsetattr(stdin(), OptionalActions::Now, &quiet).ok()?;
        Some(NoEcho(before))
    }
}

impl Drop for NoEcho {
    fn drop(&mut self) {
        if !in_foreground() {
            return;
        }
        // Input typed meanwhile had no addressee, so it is discarded.
        let _ = rustix::termios::tcsetattr(stdin(), OptionalActions::Flush, &self.0);
    }
}
