//! `latlab cyclictest`, or this program under the name `cyclictest`: cyclictest's options and
//! output.
//!
//! The options become the plan of an ordinary run whose agent is threads of this process. The
//! output is rendered from what the threads counted, and the run is stored as well. The option
//! table, the splitting of arguments and the plan are separate from the printing, which is pure.

mod check;
mod dialect;
mod getopt;
#[cfg(test)]
mod golden;
mod histogram;
mod json;
mod lines;
pub mod option_table;
mod options;
mod output;
mod own_words;
mod plan;
mod printer;
mod snapshot;
mod spikes;
mod state;
mod values;
mod verbose;

use crate::exit::{EXIT_CANNOT_MEASURE, ExitError};
use crate::leftovers::{restore, undo_leftovers};
use crate::output::{print, warn};
use crate::store::{finish_leftovers, open_store};
use clap::Args;
use latlab_conduct::link::{InProcess, Link};
use latlab_conduct::{Failure, InProcessResult, check_disk_space, run_in_process};
use latlab_model::Plan;
use latlab_model::run::EndReason;
use latlab_model::shell::Line;
use latlab_store::{Store, new_id};
use options::Options;
use output::Output;
use own_words::own_words;
use plan::CpuLimits;
use printer::Printer;
use snapshot::Snapshots;
use state::State;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Words of `latlab cyclictest`.
#[derive(Args)]
pub struct CyclictestArgs {
    /// The options of cyclictest
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// The threads' counts, shared by the agent, the reader of its stream and the printer.
type SharedState = Arc<Mutex<State>>;

fn lock(shared: &SharedState) -> MutexGuard<'_, State> {
    // Every change leaves the state consistent, so a panic elsewhere does no harm.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The command line from the name on, if it is meant for cyclictest.
pub fn options_of(words: &[OsString]) -> Option<Vec<String>> {
    let name = words.first().map(Path::new).and_then(Path::file_name)?;
    let by_name = name.to_string_lossy().ends_with("cyclictest");
    let by_word = words.get(1).is_some_and(|word| word == "cyclictest");
    let text = |words: &[OsString]| -> Vec<String> {
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    };
    match (by_name, by_word) {
        (true, _) => Some(text(words)),
        (false, true) => Some(text(&words[1..])),
        (false, false) => None,
    }
}

/// Runs cyclictest; `words` starts with the program's name.
pub fn cyclictest(words: &[String]) -> anyhow::Result<ExitCode> {
    let mut options = Options::parse(&words[1..]).map_err(ExitError::usage)?;
    if options.help {
        print(&option_table::usage(&options.dialect.version))?;
        return Ok(ExitCode::SUCCESS);
    }
    let now = jiff::Timestamp::now();
    let machine = CpuLimits::read();
    let mut plan = plan::plan(&mut options, &machine, now.as_nanosecond() as u64)
        .map_err(|error| ExitError::usage(own_words(error)))?;
    plan.command = Some(Line::new("latlab cyclictest").words(&words[1..]).to_string());
    options.notes.iter().for_each(warn);
    let output = Output::open(&options, words, now).map_err(ExitError::usage)?;
    let snapshots = Snapshots::begin(&options).map_err(ExitError::usage)?;
    if options.resolution {
        printer::resolution(&plan);
    }
    restore();
    let store = options.store.then(|| open_store(options.out.as_deref()));
    let store = store.filter(|store| has_disk_space(&plan, store));
    let shared: SharedState = Arc::new(Mutex::new(State::new(&plan)));
    let id = new_id(now, &plan.name);
    let mut link = InProcess::new(agent(Arc::clone(&shared)), undo_leftovers);
    let place = store.as_ref().map(|store| (store, id.as_str()));
    let mut show = Printer::new(&options, &plan, &machine, snapshots);
    let result = conduct(&plan, &mut link, place, &shared, &mut show);
    link.restore().iter().map(own_words).for_each(warn);
    let result = result.map_err(|failure| {
        let error = ExitError::from(failure);
        ExitError { text: own_words(&error.text), ..error }
    })?;
    show.finish(&shared);
    output.finish(&options, &lock(&shared), show.buckets())?;
    print_end(&lock(&shared), &result, store.as_ref());
    let failed = lock(&shared).threads.iter().any(|thread| {
        matches!(thread.ended, None | Some(EndReason::Failed | EndReason::RecorderFull))
    });
    Ok(ExitCode::from(if failed { EXIT_CANNOT_MEASURE } else { 0 }))
}

/// The agent, which also adds its counts to the shared state as they happen.
fn agent(
    shared: SharedState,
) -> impl FnOnce(std::io::PipeReader, std::io::PipeWriter) -> Result<(), String> + Send + 'static {
    let watch: latlab_agent::IntervalObserver =
        Box::new(move |thread, sealed| lock(&shared).add_interval(thread, sealed));
    move |input, output| latlab_agent::serve_with_observer(input, output, Some(watch))
}

/// Runs the plan in a second thread and prints from this one, which may block on a terminal.
fn conduct(
    plan: &Plan,
    link: &mut dyn Link,
    store: Option<(&Store, &str)>,
    shared: &SharedState,
    show: &mut Printer<'_>,
) -> Result<InProcessResult, Failure> {
    std::thread::scope(|scope| {
        let (done_in, done) = sync_channel(1);
        let work = move || {
            // The result that is sent below is always received.
            let observe = |message: &_| lock(shared).add_message(message);
            let _ = done_in.send(run_in_process(plan, link, store, observe));
        };
        std::thread::Builder::new().spawn_scoped(scope, work).map_err(Failure::Thread)?;
        show.until(shared, &done)
    })
}

/// Whether the disk can hold the run. If not, it is measured without being stored.
fn has_disk_space(plan: &Plan, store: &Store) -> bool {
    let space = check_disk_space(plan, store);
    space
        .inspect_err(|failure| warn(format_args!("the run is not stored: {}", own_words(failure))))
        .is_ok()
}

/// Prints what cyclictest's output does not show, and where the run is stored.
fn print_end(state: &State, result: &InProcessResult, store: Option<&Store>) {
    match state.overruns() {
        0 => {}
        1 => warn("1 release was missed, which cyclictest skips silently"),
        overruns => {
            warn(format_args!("{overruns} releases were missed, which cyclictest skips silently"))
        }
    }
    if state.unprinted > 0 {
        warn(format_args!(
            "{} latencies were not printed, because the output was not read in time; all are \
             counted",
            state.unprinted
        ));
    }
    result.problems.iter().map(own_words).for_each(warn);
    if let Some(store) = store {
        finish_leftovers(store);
    }
    if let Some(finished) = &result.finished {
        warn(format_args!("stored in {}", finished.path.display()));
    }
}
