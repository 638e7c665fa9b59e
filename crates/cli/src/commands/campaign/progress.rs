//! What is shown while a campaign goes on: a line for each run, and the run itself.

mod lines;

use crate::output::{visible, warn};
use crate::progress::Progress;
use crate::progress::console::Console;
use latlab_conduct::campaign::{CoolDownState, Event, Position};
use latlab_conduct::live::Live;
use latlab_model::campaign::Campaign;
use latlab_model::{Nanos, Plan};
use latlab_report::units::span;
use lines::Lines;
use std::io::{Write, stderr};

/// The progress of a campaign on standard error.
pub struct CampaignProgress<'a> {
    quiet: bool,
    campaign: &'a Campaign,
    run: Option<Progress>,
    console: Option<Console>,
    guests: Lines,
    cooling: bool,
}

impl CampaignProgress<'_> {
    /// Of a campaign that begins or goes on.
    pub fn new(quiet: bool, console: bool, campaign: &Campaign) -> CampaignProgress<'_> {
        let (guests, console) = (Lines::new(), console.then(Console::default));
        CampaignProgress { quiet, campaign, run: None, console, guests, cooling: false }
    }

    /// Shows what happens.
    pub fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Cools(state) => self.cools(state),
            Event::Begins(position, plan) => self.begins(position, plan),
            Event::GoesOn(position, live) => match &mut self.run {
                Some(run) => run.show(live),
                None => self.guest_goes_on(position, live),
            },
            Event::Restored(position, change) => {
                self.ends(position);
                warn(change);
            }
            Event::Ended(position, finished) => {
                self.ends(position);
                let run = &finished.run;
                let max = run
                    .total
                    .max_ns
                    .map_or("no latencies".to_string(), |max| format!("observed maximum {max}"));
                let verdict = run.verdict.as_ref().map(|verdict| format!(", {}", verdict.word));
                self.say(&format!("{}: {max}{}", name(position), verdict.unwrap_or_default()));
            }
            Event::Failed(position, reason) => {
                self.ends(position);
                warn(format_args!("{}: nothing measured: {reason}", name(position)));
            }
        }
    }

    fn guest_goes_on(&mut self, position: &Position, live: &Live) {
        if let Some(console) = &mut self.console {
            let lines = console.news(&position.row, live);
            if !lines.is_empty() {
                self.guests.clear();
                let _ = write!(stderr(), "{lines}");
            }
        }
        if !self.quiet {
            self.guests.goes_on(position, live);
        }
    }

    fn begins(&mut self, position: &Position, plan: &Plan) {
        self.cooling = false;
        let left = match position.left_ns {
            Nanos::ZERO => String::new(),
            left if !plan.target.shares_clock() => {
                format!(", {} of guests' time left", span(left))
            }
            left => format!(", {} left", span(left)),
        };
        let line = format!("{}{left}", name(position));
        self.say(&line);
        if plan.target.boots_for_each_run() {
            self.guests.begins(position, plan);
            return;
        }
        let title = format!("latlab run {}: {line}", self.campaign.name);
        self.run = Some(Progress::new(plan, self.quiet, false, title));
    }

    fn ends(&mut self, position: &Position) {
        self.guests.ends(position);
        self.run = None;
    }

    fn cools(&mut self, state: &CoolDownState) {
        let celsius = |milli: i64| format!("{:.1} C", milli as f64 / 1000.0);
        let hottest = state.hottest_millicelsius.map(celsius);
        if let (true, Some(hottest)) = (state.given_up, &hottest) {
            warn(format_args!(
                "the machine is still at {hottest} at the end of cool-down-limit; measuring anyway"
            ));
        } else if !std::mem::replace(&mut self.cooling, true) {
            let hottest = hottest.map(|now| format!(", hottest zone {now}")).unwrap_or_default();
            self.say(&format!("cooling down for {}{hottest}", span(state.left_ns)));
        }
    }

    fn say(&mut self, line: &str) {
        if !self.quiet {
            self.guests.clear();
            let _ = writeln!(stderr(), "{}", visible(line));
        }
    }
}

fn name(position: &Position) -> String {
    let Position { number, of, row, repeat, attempt, .. } = position;
    let again = if *attempt > 1 { format!(", try {attempt}") } else { String::new() };
    format!("run {number} of {of}, {row}, repeat {repeat}{again}")
}
