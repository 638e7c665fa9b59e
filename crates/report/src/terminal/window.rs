//! A window of a run, formatted like a whole run.

use crate::document::style::{Colour, Style};
use crate::document::table::{Column, Table, wrapped};
use crate::document::{Section, escaped, to_markdown, to_terminal};
use crate::facts;
use crate::figures::figure_head;
use crate::sections::{respond, threads};
use crate::sentence;
use crate::terms;
use crate::units::{Scale, counted, span};
use latlab_digest::window::{LargeLatency, Window};
use latlab_model::{Nanos, Run, shell};

/// The figures of a window, in at most `width` columns (at least 80).
pub fn window(run: &Run, window: &Window, width: usize, style: Style) -> String {
    let shown = within(run, window);
    let headline = style.paint(Colour::Bold, &wrapped(&headline(run, &shown, window), width, 0));
    let place = style.paint(Colour::Dim, &wrapped(&place(run, window), width, 0));
    format!(
        "{headline}\n{}{place}\n\n{}",
        to_terminal(&Vec::from_iter(lead(&shown, window)), width, style),
        to_terminal(&sections(run, &shown, window), width, style)
    )
}

/// The figures of a window in GitHub Markdown.
pub fn window_markdown(run: &Run, window: &Window) -> String {
    let shown = within(run, window);
    let place = Section::new("place", "Place").without_title().text(place(run, window));
    let said = lead(&shown, window).into_iter().chain([place]);
    let all: Vec<Section> = said.chain(sections(run, &shown, window)).collect();
    let headline = escaped(&headline(run, &shown, window));
    format!("### {headline}\n\n{}", to_markdown(&all))
}

fn sections(run: &Run, shown: &Run, window: &Window) -> Vec<Section> {
    let all = [figures(run, shown, window), largest(run, window), findings(shown, window)];
    all.into_iter().flatten().collect()
}

/// The figures; those of responses have the precision of their capture.
fn figures(run: &Run, shown: &Run, window: &Window) -> Option<Section> {
    let Some(figures) = &window.responses else { return threads::section(shown) };
    let columns = respond::stretch_columns(run, window.total.cycles, figures);
    let table = Table::new(respond::MEANING, columns);
    Some(Section::new("threads", "Figures").without_title().table(table))
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

fn headline(run: &Run, shown: &Run, window: &Window) -> String {
    let Some(figures) = &window.responses else { return sentence::headline(shown) };
    let length = window.to_ns - window.from_ns;
    respond::stretch_headline(run, window.total.cycles, figures, length)
}

fn lead(shown: &Run, window: &Window) -> Option<Section> {
    let lead = sentence::window_lead(shown).join(" ");
    let section = Section::new("answer", "In words").without_title();
    (window.responses.is_none() && !lead.is_empty()).then(|| section.text(lead))
}

fn place(run: &Run, window: &Window) -> String {
    format!(
        "{} to {} (+{} to +{}) of {}",
        window.from,
        window.to,
        seconds(run, window.from_ns),
        seconds(run, window.to_ns),
        run.id,
    )
}

/// Time since the first release, in the format that `--window` takes.
fn seconds(run: &Run, at: Nanos) -> String {
    format!("{:.6}s", (at - run.first_release().unwrap_or_default()).as_secs_f64())
}

fn largest(run: &Run, window: &Window) -> Option<Section> {
    let largest = &window.largest;
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
        Column::new(terms::of_run(run).size, 0, latencies).unit(unit),
        Column::new("thread", 0, each(&|one| one.thread.to_string())),
        Column::new(figure_head("cpu"), 0, each(&cpu)),
        Column::new("release in UTC", 0, each(&|one| one.time.clone())).left(),
        Column::new("in the run", 1, each(&|one| format!("+{}", seconds(run, one.release_ns)))),
    ];
    let title = format!("The largest {}", terms::of_run(run).many);
    (!largest.is_empty()).then(|| {
        Section::new("largest", title).table(Table::new("From the first release on.", columns))
    })
}

/// Refers to the findings of the whole run, which are not repeated here but must not be overlooked.
fn findings(run: &Run, window: &Window) -> Option<Section> {
    let within = |at: Nanos| (window.from_ns..window.to_ns).contains(&at);
    let here = run.findings.iter().filter(|finding| finding.at_ns.is_some_and(within)).count();
    let worthless = match facts::is_invalid(run) {
        true => " One makes its figures worthless or incomplete.",
        false => "",
    };
    let text = format!(
        "The run has {}, {here} of them in this part of {}: `{}`.{worthless}",
        counted(run.findings.len() as u64, "finding", "findings"),
        span(window.to_ns - window.from_ns),
        shell::latlab("show", &run.id),
    );
    let section = Section::new("findings", "Findings").without_title();
    (!run.findings.is_empty()).then(|| section.text(text))
}
