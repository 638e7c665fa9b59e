//! `latlab run`.

use crate::commands::runs::shown;
use crate::flags::Format;
use crate::flags::run::RunArgs;
use crate::leftovers::undo_leftovers;
use crate::output::{print, print_json, warn};
use crate::progress::console::Console;
use crate::progress::screen::Screen;
use crate::progress::view::{View, progress_line};
use crate::store::{cache, open_store, recover};
use crate::{EXIT_CANNOT_MEASURE, EXIT_FAIL, EXIT_NO_ANSWER, EXIT_USAGE, Exit};
use latlab_conduct::link::Connector;
use latlab_conduct::live::Live;
use latlab_conduct::{Failure, RunRequest, StopFlag, Timing, check_disk_space};
use latlab_model::run::{EndReason, VerdictWord};
use latlab_model::{Nanos, Plan, Run};
use latlab_store::new_id;
use latlab_sys::terminal;
use std::io::{Write, stderr};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Distance of the progress lines where there is no terminal.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// Measures, stores, shows and judges.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let now = jiff::Timestamp::now();
    let seed = now.as_nanosecond() as u64;
    let wrong = |text| Exit(EXIT_USAGE, text);
    let loads = args.all_loads().map_err(wrong)?;
    let plan = Plan { loads, ..args.plan(seed).map_err(wrong)? };
    let store = open_store(&args.common);
    recover(&store);
    if let Some(arithmetic) = check_disk_space(&plan, &store).map_err(refused)?
        && !args.quiet
    {
        warn(arithmetic);
    }
    let (mut link, plan) = connector()?.connect(plan).map_err(refused)?;
    let id = new_id(now, &plan.name);
    let mut progress =
        Progress::new(&plan, args.quiet, args.guest.console, format!("latlab run {}", plan.name));
    let request = RunRequest {
        plan: &plan,
        link: link.as_mut(),
        store: &store,
        id: &id,
        stop: StopFlag::on_signals(args.keep_going)?,
        timing: Timing::default(),
    };
    let finished = latlab_conduct::run(request, |live| progress.show(live));
    drop(progress);
    link.restore().iter().for_each(warn);
    let finished = finished.map_err(refused)?;
    match args.common.format {
        Format::Json => print_json(&finished.run)?,
        Format::Text => {
            let shown = shown(&finished.path, &finished.run)?;
            let path = finished.path.display();
            print(&format!("{shown}\nStored in {path}\nAs a page: latlab report {path}\n"))?;
        }
    }
    Ok(ExitCode::from(exit_code(&finished.run)))
}

/// The ways to agents from this program.
pub fn connector() -> anyhow::Result<Connector> {
    let program = std::env::current_exe()?;
    Ok(Connector { program, cache: cache(), restore: undo_leftovers })
}

/// Why there is no run, with its exit code.
pub fn refused(failure: Failure) -> Exit {
    let code = match &failure {
        Failure::Refused(refusal) if refusal.plan_is_wrong => EXIT_USAGE,
        _ => EXIT_CANNOT_MEASURE,
    };
    Exit(code, failure.to_string())
}

/// What the run says to a script.
pub fn exit_code(run: &Run) -> u8 {
    match run.verdict.as_ref().map(|verdict| verdict.word) {
        _ if run.ended == EndReason::StopAbove => EXIT_FAIL,
        None => match run.ended {
            EndReason::Finished | EndReason::Interrupted => {
                // Without a deadline there is no verdict, and yet nothing that one could go by.
                let invalid = run.findings.iter().any(|finding| finding.invalidates);
                if invalid { EXIT_NO_ANSWER } else { 0 }
            }
            _ => EXIT_CANNOT_MEASURE,
        },
        Some(VerdictWord::Pass) => 0,
        Some(VerdictWord::Fail) => EXIT_FAIL,
        Some(VerdictWord::Inconclusive | VerdictWord::Invalid) => EXIT_NO_ANSWER,
    }
}

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
    pub fn show(&mut self, live: &Live) {
        if let Some(console) = &mut self.console {
            let _ = write!(stderr(), "{}", console.news(&self.plan.target, live));
        }
        let elapsed = Nanos(self.started.elapsed().as_nanos() as i64);
        let view = View { live, plan: &self.plan, title: &self.title, elapsed };
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
