//! Guests and boards measured in parallel: a line for each, with the elapsed guest time and
//! wall-clock time.

use crate::output::{escape_controls, width};
use latlab_conduct::campaign::RunPosition;
use latlab_conduct::live::LiveRun;
use latlab_model::{Nanos, Plan};
use latlab_report::units::span;
use latlab_sys::terminal;
use std::collections::BTreeMap;
use std::io::{Write, stderr};
use std::time::{Duration, Instant};

/// Interval between progress lines without a terminal.
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// The runs that are in progress.
pub struct Lines {
    running: BTreeMap<usize, RunLine>,
    /// Whether lines can be overwritten.
    terminal: bool,
    /// Lines on the terminal that the next update overwrites.
    standing: usize,
    due: Instant,
}

struct RunLine {
    row: String,
    boots_for_each_run: bool,
    of: Option<Nanos>,
    since: Instant,
    state: Option<State>,
}

struct State {
    measured: Nanos,
    max: Nanos,
}

impl Lines {
    pub fn new() -> Lines {
        let terminal = terminal::stderr_is_terminal() && terminal::in_foreground();
        Lines { running: BTreeMap::new(), terminal, standing: 0, due: Instant::now() + TOLD_EVERY }
    }

    pub fn start_run(&mut self, position: &RunPosition, plan: &Plan) {
        let RunPosition { number, row, .. } = position;
        let (row, of) = (row.clone(), plan.until.duration_ns);
        let boots_for_each_run = plan.on.target.boots_for_each_run();
        let line = RunLine { row, boots_for_each_run, of, since: Instant::now(), state: None };
        self.running.insert(*number, line);
    }

    pub fn update_run(&mut self, position: &RunPosition, live: &LiveRun) {
        let Some(line) = self.running.get_mut(&position.number) else { return };
        let max = live.threads.iter().map(|thread| thread.total.max_ns).max();
        line.state = max.map(|max| State { measured: live.measured, max });
        if self.terminal {
            self.clear();
            self.draw();
        } else if Instant::now() >= self.due {
            self.due = Instant::now() + TOLD_EVERY;
            self.draw();
        }
    }

    pub fn end_run(&mut self, position: &RunPosition) {
        self.running.remove(&position.number);
        self.clear();
    }

    /// Erases the lines, to make room for text that stays.
    pub fn clear(&mut self) {
        for _ in 0..std::mem::take(&mut self.standing) {
            let _ = write!(stderr(), "\x1b[A\x1b[2K");
        }
    }

    fn draw(&mut self) {
        let room = width().saturating_sub(4);
        let longest = self.running.values().map(|run| run.row.chars().count()).max();
        for run in self.running.values() {
            let line = run.text(run.since.elapsed(), longest.unwrap_or(0));
            // A wrapped line could not be overwritten.
            let line: String = line.chars().take(room).collect();
            let _ = writeln!(stderr(), "  {}", escape_controls(&line));
        }
        if self.terminal {
            self.standing = self.running.len();
        }
    }
}

impl RunLine {
    /// One progress line; the row's name is padded to `longest` columns.
    fn text(&self, elapsed: Duration, longest: usize) -> String {
        let (row, elapsed) = (format!("{:longest$}", self.row), elapsed.as_secs());
        let (begins, time) = match self.boots_for_each_run {
            true => ("booting", " of guest time"),
            false => ("connecting", ""),
        };
        let Some(State { measured, max }) = &self.state else {
            return format!("{row}  {begins}, {elapsed} s");
        };
        let of = self.of.map(|of| format!(" of {}", span(of))).unwrap_or_default();
        if *max == Nanos::ZERO {
            return format!("{row}  warming up, {elapsed} s");
        }
        let measured = span(*measured);
        format!("{row}  {measured}{of}{time} in {elapsed} s, observed maximum {max}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::nanos::SECOND;

    #[test]
    fn a_line_names_both_times() {
        let (row, of) = ("hackbench".to_string(), Some(SECOND * 5));
        let mut line =
            RunLine { row, boots_for_each_run: true, of, since: Instant::now(), state: None };
        let elapsed = Duration::from_secs(14);
        assert_eq!(line.text(elapsed, 0), "hackbench  booting, 14 s");
        line.state = Some(State { measured: Nanos::ZERO, max: Nanos::ZERO });
        assert_eq!(line.text(elapsed, 0), "hackbench  warming up, 14 s");
        line.state = Some(State { measured: SECOND * 2, max: Nanos(5000) });
        assert_eq!(
            line.text(elapsed, 11),
            "hackbench    2 s of 5 s of guest time in 14 s, observed maximum 5 us"
        );
        let board = RunLine { boots_for_each_run: false, ..line };
        assert_eq!(board.text(elapsed, 9), "hackbench  2 s of 5 s in 14 s, observed maximum 5 us");
    }
}
