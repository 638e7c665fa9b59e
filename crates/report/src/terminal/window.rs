//! A window of a run for the terminal, formatted like a whole run.

use crate::document::style::{Colour, Style};
use crate::document::table::{Column, table, wrapped};
use crate::document::to_terminal;
use crate::facts;
use crate::sections::respond;
use crate::sections::threads;
use crate::sentence;
use crate::units::{Scale, span};
use latlab_digest::window::{LargeLatency, Window};
use latlab_model::{Nanos, Run};

/// The figures of a window, in at most `width` columns (at least 80).
pub fn window(run: &Run, window: &Window, width: usize, style: Style) -> String {
    let shown = within(run, window);
    let parts = [
        head(&shown, run, window, width, style),
        figures(run, &shown, window, width, style),
        largest(run, window, width, style),
        findings(&shown, window, width),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The figures; those of responses have the precision of their capture.
fn figures(run: &Run, shown: &Run, window: &Window, width: usize, style: Style) -> String {
    match &window.responses {
        Some(figures) => {
            table(respond::stretch_columns(run, window.total.cycles, figures), width, style)
        }
        None => to_terminal(&Vec::from_iter(threads::section(shown)), width, style),
    }
}

/// The run as if only the window had been measured.
fn within(run: &Run, window: &Window) -> Run {
    let mut run = run.clone();
    run.measured_ns = window.to_ns - window.from_ns;
    run.total = window.total.clone();
    // Self-interference is only known for the largest latencies of the whole run.
    run.self_interference = None;
    for thread in &mut run.threads {
        let number = thread.setup.thread;
        if let Some(found) = window.threads.iter().find(|found| found.thread == number) {
            thread.summary = found.summary.clone();
        }
        // The fate of the stimuli is only known for the whole run.
        if let Some(end) = &mut thread.end {
            end.responded = None;
        }
    }
    run
}

fn head(run: &Run, whole: &Run, window: &Window, width: usize, style: Style) -> String {
    let (headline, lead) = match &window.responses {
        Some(figures) => {
            let length = window.to_ns - window.from_ns;
            let n = window.total.cycles;
            (respond::stretch_headline(whole, n, figures, length), String::new())
        }
        None => (sentence::headline(run), sentence::window_lead(run).join(" ")),
    };
    let (headline, lead) = (wrapped(&headline, width, 0), wrapped(&lead, width, 0));
    let place = format!(
        "{} to {} (+{} to +{}) of {}",
        window.from,
        window.to,
        seconds(run, window.from_ns),
        seconds(run, window.to_ns),
        run.id,
    );
    let place = style.paint(Colour::Dim, &wrapped(&place, width, 0));
    let lines = [style.paint(Colour::Bold, &headline), lead, place];
    lines.iter().filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

/// Time since the first release, in the format that `--window` takes.
fn seconds(run: &Run, at: Nanos) -> String {
    format!("{:.6}s", (at - run.first_release().unwrap_or_default()).as_secs_f64())
}

fn largest(run: &Run, window: &Window, width: usize, style: Style) -> String {
    let largest = &window.largest;
    if largest.is_empty() {
        return String::new();
    }
    let each =
        |cell: &dyn Fn(&LargeLatency) -> String| largest.iter().map(cell).collect::<Vec<_>>();
    let fine: Option<Vec<i64>> = largest.iter().map(|one| one.latency_ps).collect();
    let (unit, latencies) = match fine {
        Some(picoseconds) => respond::exact_times(run, &picoseconds),
        None => {
            let scale = Scale::for_times(largest.iter().map(|one| one.latency_ns));
            (scale.unit(), each(&|one| scale.number(one.latency_ns)))
        }
    };
    let cpu = |one: &LargeLatency| one.cpu.map_or_else(|| "-".to_string(), |cpu| cpu.to_string());
    let columns = vec![
        Column::new("latency", 0, latencies).unit(unit),
        Column::new("thread", 0, each(&|one| one.thread.to_string())),
        Column::new("cpu", 0, each(&cpu)),
        Column::new("release in UTC", 0, each(&|one| one.time.clone())).left(),
        Column::new("in the run", 1, each(&|one| format!("+{}", seconds(run, one.release_ns)))),
    ];
    format!("The largest latencies:\n{}", table(columns, width, style))
}

/// Refers to the findings of the whole run, which are not repeated here but must not be overlooked.
fn findings(run: &Run, window: &Window, width: usize) -> String {
    let within = |at: Nanos| (window.from_ns..window.to_ns).contains(&at);
    let here = run.findings.iter().filter(|finding| finding.at_ns.is_some_and(within)).count();
    let all = run.findings.len();
    if all == 0 {
        return String::new();
    }
    let worthless = match facts::is_invalid(run) {
        true => " One makes its figures worthless or incomplete.",
        false => "",
    };
    let text = format!(
        "The run has {all} finding{}, {here} of them in this part of {}: `latlab show \
         {}`.{worthless}",
        if all == 1 { "" } else { "s" },
        span(window.to_ns - window.from_ns),
        run.id,
    );
    format!("{}\n", wrapped(&text, width, 0))
}
