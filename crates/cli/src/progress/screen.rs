//! The terminal of the live view: taken at the start of a run, and restored however the run ends.

use crate::progress::line::Line;
use crate::progress::view::{LiveView, draw};
use latlab_report::Style;
use latlab_sys::terminal::{NoEcho, stderr_size};
use std::io::{self, Write, stderr};

/// At most this many columns and rows are drawn: a terminal may report up to 65535.
const LARGEST: (u16, u16) = (500, 200);

/// Enters the alternate screen and hides the cursor, with ECMA-48 and xterm's private modes, which
/// all current terminals support.
const OPEN: &str = "\u{1b}[?1049h\u{1b}[?25l";
/// Undoes [`OPEN`].
const CLOSE: &str = "\u{1b}[?1049l\u{1b}[?25h";
const CLEAR: &str = "\u{1b}[2J";

/// The alternate screen on standard error. Standard output stays free for the result.
pub struct Screen {
    size: (u16, u16),
    /// The lines on the screen.
    shown: Vec<Line>,
    _quiet: Option<NoEcho>,
}

impl Screen {
    /// Enters the alternate screen. `None` if there is no terminal to draw on.
    pub fn open() -> Option<Screen> {
        let size = size()?;
        write(&format!("{OPEN}{CLEAR}")).ok()?;
        Some(Screen { size, shown: Vec::new(), _quiet: NoEcho::start() })
    }

    /// Redraws what has changed.
    pub fn draw(&mut self, view: &LiveView) {
        // A closed terminal has no size, and must not end the measurement.
        let Some(size) = size() else { return };
        let mut text = String::new();
        if size != self.size {
            self.size = size;
            self.shown.clear();
            text += CLEAR;
        }
        let lines = draw(view, size.0.into(), size.1.into());
        text += &changes(&self.shown, &lines, size.0.into());
        self.shown = lines;
        let _ = write(&text);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = write(CLOSE);
    }
}

/// Escape sequences that replace only the changed lines. A line is erased before it is written:
/// erasing after its last column would also clear that column.
pub fn changes(before: &[Line], lines: &[Line], width: usize) -> String {
    let style = Style { colour: true };
    let changed = (1..).zip(lines).filter(|(row, line)| before.get(row - 1) != Some(line));
    let write = |(row, line): (usize, &Line)| {
        format!("\u{1b}[{row}H\u{1b}[2K{}", line.render(width, style))
    };
    changed.map(write).collect()
}

/// One write, so that no partial update is visible.
fn write(text: &str) -> io::Result<()> {
    stderr().write_all(text.as_bytes())
}

/// The part of the terminal that is drawn on.
fn size() -> Option<(u16, u16)> {
    let (width, height) = stderr_size()?;
    Some((width.min(LARGEST.0), height.min(LARGEST.1)))
}
