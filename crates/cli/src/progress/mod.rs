//! Progress of a run.

pub mod console;
mod line;
mod screen;
mod table;
#[cfg(test)]
mod tests;
mod view;

use console::Console;
use latlab_conduct::live::LiveRun;
use latlab_model::{Nanos, Plan};
use latlab_sys::terminal;
use screen::Screen;
use std::io::{Write, stderr};
use std::time::{Duration, Instant};
use view::{LiveView, progress_line};

/// Interval between progress lines without a terminal.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// Shows progress: a table on a terminal, elsewhere a line from time to time.
pub struct Progress {
    plan: Plan,
    title: String,
    quiet: bool,
    screen: Option<Screen>,
    console: Option<Console>,
    started: Instant,
    line_due: Instant,
}

impl Progress {
    pub fn new(plan: &Plan, quiet: bool, console: bool, title: String) -> Progress {
        // A table would overwrite the kernel's messages.
        let wanted =
            !quiet && !console && terminal::stderr_is_terminal() && terminal::in_foreground();
        let screen = if wanted { Screen::open() } else { None };
        let started = Instant::now();
        let plan = plan.clone();
        let (console, line_due) = (console.then(Console::default), started + PROGRESS_EVERY);
        Progress { plan, title, quiet, screen, console, started, line_due }
    }

    pub fn show(&mut self, live: &LiveRun) {
        if let Some(console) = &mut self.console {
            let _ = write!(stderr(), "{}", console.read_new(&self.plan.on.target, live));
        }
        let elapsed = Nanos(self.started.elapsed().as_nanos() as i64);
        let view = LiveView { live, plan: &self.plan, title: &self.title, elapsed };
        match &mut self.screen {
            Some(screen) => screen.draw(&view),
            None if !self.quiet && Instant::now() >= self.line_due => {
                self.line_due += PROGRESS_EVERY;
                let _ = writeln!(stderr(), "{}", progress_line(&view));
            }
            None => {}
        }
    }
}
