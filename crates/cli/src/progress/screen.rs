//! The terminal of the live view: taken when a run starts, given back however it ends.

use crate::progress::line::Line;
use crate::progress::view::{LiveView, draw};
use latlab_report::Style;
use latlab_sys::terminal::{NoEcho, stderr_size};
use std::io::{self, Write, stderr};

/// More columns and rows than these are not drawn on: a terminal may claim 65535 of each.
const LARGEST: (u16, u16) = (500, 200);

/// Takes the alternate screen, and hides the cursor; ECMA-48 and xterm's private modes, which every
/// terminal of today knows.
const OPEN: &str = "\u{1b}[?1049h\u{1b}[?25l";
/// Gives back what [`OPEN`] took.
const CLOSE: &str = "\u{1b}[?1049l\u{1b}[?25h";
/// Empties the screen.
const CLEAR: &str = "\u{1b}[2J";

/// The alternate screen on standard error; standard output stays free for the result.
pub struct Screen {
    size: (u16, u16),
    /// What it shows, line by line.
    shown: Vec<Line>,
    _quiet: Option<NoEcho>,
}

impl Screen {
    /// Takes the terminal; `None` where it cannot be drawn on.
    pub fn open() -> Option<Screen> {
        let size = size()?;
        write(&format!("{OPEN}{CLEAR}")).ok()?;
        Some(Screen { size, shown: Vec::new(), _quiet: NoEcho::start() })
    }

    /// Shows the run as it stands.
    pub fn draw(&mut self, view: &LiveView) {
        // A terminal that has gone away has no size, and is no reason to stop measuring.
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

/// The lines that differ from those of before, each put in its place. A line is emptied before it is
/// written: behind its last column a terminal would empty that column too.
pub fn changes(before: &[Line], lines: &[Line], width: usize) -> String {
    let style = Style { colour: true };
    let changed = (1..).zip(lines).filter(|(row, line)| before.get(row - 1) != Some(line));
    let write = |(row, line): (usize, &Line)| {
        format!("\u{1b}[{row}H\u{1b}[2K{}", line.render(width, style))
    };
    changed.map(write).collect()
}

/// At once, so that no half of it is seen.
fn write(text: &str) -> io::Result<()> {
    stderr().write_all(text.as_bytes())
}

/// What is drawn on of the terminal.
fn size() -> Option<(u16, u16)> {
    let (width, height) = stderr_size()?;
    Some((width.min(LARGEST.0), height.min(LARGEST.1)))
}
