//! What is shown while a run goes on.

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

/// Time between two progress lines where there is no terminal.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// What is shown while it goes on: a table on a terminal, a line now and then elsewhere.
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
    /// Of a run that begins.
    pub fn new(plan: &Plan, quiet: bool, console: bool, title: String) -> Progress {
        // Lines of a kernel and a table would write over each other.
        let wanted =
            !quiet && !console && terminal::stderr_is_terminal() && terminal::in_foreground();
        let screen = if wanted { Screen::open() } else { None };
        let started = Instant::now();
        let plan = plan.clone();
        let (console, line_due) = (console.then(Console::default), started + PROGRESS_EVERY);
        Progress { plan, title, quiet, screen, console, started, line_due }
    }

    /// Shows it as it stands.
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
