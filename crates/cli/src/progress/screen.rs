//! The terminal of the live view: taken when a run starts, given back however it ends.

use crate::progress::view::{LiveView, draw};
use latlab_sys::terminal::NoEcho;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use std::io::{Stderr, stderr};

/// The alternate screen on standard error; standard output stays free for the result.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stderr>>,
    _quiet: Option<NoEcho>,
}

impl Screen {
    /// Takes the terminal; `None` where it cannot be drawn on.
    pub fn open() -> Option<Screen> {
        let terminal = Terminal::new(CrosstermBackend::new(stderr())).ok()?;
        execute!(stderr(), EnterAlternateScreen).ok()?;
        Some(Screen { terminal, _quiet: NoEcho::start() })
    }

    /// Shows the run as it stands.
    pub fn draw(&mut self, view: &LiveView) {
        // A terminal that has gone away is no reason to stop measuring.
        let _ = self.terminal.draw(|frame| draw(frame, view));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(stderr(), LeaveAlternateScreen, Show);
    }
}
