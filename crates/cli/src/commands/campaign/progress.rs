//! Progress of a campaign: a line for each run, and the run itself.

mod lines;

use crate::output::{escape_controls, warn};
use crate::progress::Progress;
use crate::progress::console::Console;
use latlab_conduct::campaign::{CampaignEvent, CoolDownState, RunPosition};
use latlab_conduct::live::LiveRun;
use latlab_model::campaign::Campaign;
use latlab_model::{Nanos, Plan};
use latlab_report::units::span;
use lines::Lines;
use std::io::{Write, stderr};

/// Prints the progress of a campaign to standard error.
pub struct ProgressPrinter<'a> {
    quiet: bool,
    campaign: &'a Campaign,
    run: Option<Progress>,
    console: Option<Console>,
    places: Lines,
    cooling: bool,
}

impl ProgressPrinter<'_> {
    pub fn new(quiet: bool, console: bool, campaign: &Campaign) -> ProgressPrinter<'_> {
        let (places, console) = (Lines::new(), console.then(Console::default));
        ProgressPrinter { quiet, campaign, run: None, console, places, cooling: false }
    }

    pub fn print_event(&mut self, event: CampaignEvent<'_>) {
        match event {
            CampaignEvent::CoolingDown(state) => self.print_cooling(state),
            CampaignEvent::BoardIsTaken(position, holder) => {
                let name = name(position);
                self.print_line(&format!("{name}: waiting for its board, which has {holder}"));
            }
            CampaignEvent::RunStarted(position, plan) => self.start_run(position, plan),
            CampaignEvent::RunProgress(position, live) => match &mut self.run {
                Some(run) => run.show(live),
                None => self.update_place(position, live),
            },
            CampaignEvent::Restored(position, change) => {
                self.end_run(position);
                warn(change);
            }
            CampaignEvent::RunStored(position, finished) => {
                self.end_run(position);
                let run = &finished.run;
                let max = run
                    .total
                    .max_ns
                    .map_or("no latencies".to_string(), |max| format!("observed maximum {max}"));
                let verdict = run.verdict.as_ref().map(|verdict| format!(", {}", verdict.word));
                self.print_line(&format!(
                    "{}: {max}{}",
                    name(position),
                    verdict.unwrap_or_default()
                ));
            }
            CampaignEvent::RunFailed(position, reason) => {
                self.end_run(position);
                warn(format_args!("{}: nothing measured: {reason}", name(position)));
            }
        }
    }

    fn update_place(&mut self, position: &RunPosition, live: &LiveRun) {
        if let Some(console) = &mut self.console {
            let lines = console.read_new(&position.row, live);
            if !lines.is_empty() {
                self.places.clear();
                let _ = write!(stderr(), "{lines}");
            }
        }
        if !self.quiet {
            self.places.update_run(position, live);
        }
    }

    fn start_run(&mut self, position: &RunPosition, plan: &Plan) {
        self.cooling = false;
        let left = match position.left_ns {
            Nanos::ZERO => String::new(),
            left if plan.on.target.boots_for_each_run() => {
                format!(", {} of guests' time left", span(left))
            }
            // The summed time of rows that are measured in parallel is not the time left.
            _ if position.is_beside_others => String::new(),
            left => format!(", {} left", span(left)),
        };
        let line = format!("{}{left}", name(position));
        self.print_line(&line);
        if position.is_beside_others {
            self.places.start_run(position, plan);
            return;
        }
        let title = format!("latlab run, {}: {line}", self.campaign.name);
        self.run = Some(Progress::new(plan, self.quiet, false, title));
    }

    fn end_run(&mut self, position: &RunPosition) {
        self.places.end_run(position);
        self.run = None;
    }

    fn print_cooling(&mut self, state: &CoolDownState) {
        let celsius = |milli: i64| format!("{:.1} C", milli as f64 / 1000.0);
        let hottest = state.hottest_millicelsius.map(celsius);
        if let (true, Some(hottest)) = (state.given_up, &hottest) {
            warn(format_args!(
                "the machine is still at {hottest} at the end of cool-down-limit; measuring anyway"
            ));
        } else if !std::mem::replace(&mut self.cooling, true) {
            let hottest = hottest.map(|now| format!(", hottest zone {now}")).unwrap_or_default();
            self.print_line(&format!("cooling down for {}{hottest}", span(state.left_ns)));
        }
    }

    fn print_line(&mut self, line: &str) {
        if !self.quiet {
            self.places.clear();
            let _ = writeln!(stderr(), "{}", escape_controls(line));
        }
    }
}

fn name(position: &RunPosition) -> String {
    let RunPosition { number, of, row, repeat, attempt, .. } = position;
    let again = if *attempt > 1 { format!(", try {attempt}") } else { String::new() };
    format!("run {number} of {of}, {row}, repeat {repeat}{again}")
}
