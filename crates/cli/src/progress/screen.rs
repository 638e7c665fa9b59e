//! The terminal of the live view: taken when a run starts, given back however it ends.

use crate::progress::view::{LiveView, draw};
use latlab_sys::terminal::{NoEcho, stderr_size};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::io::{self, Write, stderr};

/// More columns or rows than these are not drawn on: a terminal may claim 65535 of each, whose cells
/// would take all memory.
const LARGEST: Rect = Rect::new(0, 0, 500, 200);

/// The alternate screen on standard error; standard output stays free for the result.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<LossyStderr>>,
    area: Rect,
    _quiet: Option<NoEcho>,
}

impl Screen {
    /// Takes the terminal; `None` where it cannot be drawn on.
    pub fn open() -> Option<Screen> {
        let area = area()?;
        let options = TerminalOptions { viewport: Viewport::Fixed(area) };
        let backend = CrosstermBackend::new(LossyStderr);
        let terminal = Terminal::with_options(backend, options).ok()?;
        execute!(stderr(), EnterAlternateScreen).ok()?;
        Some(Screen { terminal, area, _quiet: NoEcho::start() })
    }

    /// Shows the run as it stands.
    pub fn draw(&mut self, view: &LiveView) {
        // A terminal that has gone away has no size, and is no reason to stop measuring.
        let Some(area) = area() else { return };
        if area != self.area && self.terminal.resize(area).is_ok() {
            self.area = area;
        }
        let _ = self.terminal.draw(|frame| draw(frame, view));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(LossyStderr, LeaveAlternateScreen, Show);
    }
}

/// What is drawn on of the terminal.
fn area() -> Option<Rect> {
    let (width, height) = stderr_size()?;
    Some(LARGEST.intersection(Rect::new(0, 0, width, height)))
}

/// Standard error, where a terminal that has gone away takes everything: the library prints what
/// its `Drop` could not write, and a print macro ends the program where nobody reads.
struct LossyStderr;

impl Write for LossyStderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = stderr().flush();
        Ok(())
    }
}
