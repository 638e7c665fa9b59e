//! The breakdown of latencies.

use crate::document::Section;
use crate::document::table::{Column, Table};
use crate::units::{Scale, bin_edge, grouped};
use latlab_model::breakdown::{
    BreakdownCost, BreakdownTally, CycleBreakdown, PartFigures, RunBreakdown, ThreadBreakdown,
};
use latlab_model::run::Summary;
use latlab_model::{Nanos, Run};
use maud::{Markup, html};

const INTRODUCTION: &str = "Breakdown of the wake-ups, all counted from the release: to the interrupt, \
                            to the thread on its CPU, and to its reading of the clock, which is \
                            the latency.";

const OF_A_WIRE: &str = "Breakdown of the answers: from the stimulus to the kernel's time stamp of the edge \
                         (event), from there to the program (wake-up), and from there to its answer. \
                         In every edge they add up to the whole.";

/// The text above the tables of a run.
fn introduction(run: &Run) -> &'static str {
    match run.asked.method.gpio() {
        Some(_) => OF_A_WIRE,
        None => INTRODUCTION,
    }
}

/// Minimum number of cycles above the p99 of both kinds; with fewer, a noisy second decides.
const ENOUGH_ABOVE_P99: u64 = 100;

/// `None` if no breakdown was requested.
pub fn section(run: &Run) -> Option<Section> {
    let breakdown = run.breakdown.as_ref()?;
    let bars = breakdown.threads.iter().map(part_bar).collect::<Vec<_>>();
    let section = Section::new("breakdown", "Breakdown")
        .text(introduction(run))
        .html(html! { @for bar in bars { (bar) } })
        .table(Table::new("Figures of each part", figures(run, breakdown)))
        .texts(sentences(run, breakdown));
    Some(match largest(run, breakdown) {
        Some(largest) => {
            let title = "Largest latencies with known breakdown";
            section.table(Table::new(title, largest).titled(format!("{title}:")))
        }
        None => section,
    })
}

/// Columns of a table of rows. The first `words` columns are text, the others times in this scale.
fn columns(heads: &[&str], words: usize, scale: Scale, rows: &[Vec<String>]) -> Vec<Column> {
    let columns = heads.iter().enumerate().map(|(at, head)| {
        let column = Column::new(head, 0, rows.iter().map(|row| row[at].clone()));
        match *head {
            "at" => column.unit("s"),
            "cycles" => column,
            _ if at < words => column.left(),
            _ => column.unit(scale.unit()),
        }
    });
    columns.collect()
}

/// Three rows for each thread, so that its parts are aligned.
fn figures(run: &Run, breakdown: &RunBreakdown) -> Vec<Column> {
    let mut rows: Vec<(String, &str, Option<PartFigures>)> = Vec::new();
    for thread in &breakdown.threads {
        let summary = run.threads.iter().find(|one| one.setup.thread == thread.thread);
        let latency = summary.and_then(|one| of_latency(&one.summary));
        let number = thread.thread.to_string();
        let parts = match thread.answer {
            Some(_) => vec![
                ("event", thread.irq.clone()),
                ("wake-up", thread.wake_up.clone()),
                ("answer", thread.answer.clone()),
                ("whole", latency),
            ],
            None => vec![
                ("IRQ", thread.irq.clone()),
                ("thread", thread.thread_part.clone()),
                ("latency", latency),
            ],
        };
        rows.extend(parts.into_iter().map(|(part, figures)| (number.clone(), part, figures)));
    }
    let known = rows.iter().filter_map(|(.., figures)| figures.as_ref());
    let scale = Scale::for_times(known.flat_map(times));
    let cells = |figures: &Option<PartFigures>| match figures {
        Some(one) => std::iter::once(grouped(one.count))
            .chain(times(one).map(|time| scale.number(time)))
            .collect(),
        None => vec!["-".to_string(); 5],
    };
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|(thread, part, figures)| {
            [thread.clone(), part.to_string()].into_iter().chain(cells(figures)).collect()
        })
        .collect();
    columns(&["thread", "part", "cycles", "min", "p50", "p99", "max"], 2, scale, &rows)
}

fn times(figures: &PartFigures) -> [Nanos; 4] {
    // No upper edge of a bin is above the observed maximum.
    let edge = |time: Nanos| bin_edge(time).min(figures.max_ns);
    [figures.min_ns, edge(figures.p50_ns), edge(figures.p99_ns), figures.max_ns]
}

/// The same figures for the whole latency.
fn of_latency(summary: &Summary) -> Option<PartFigures> {
    let quantiles = summary.quantiles.as_ref()?;
    Some(PartFigures {
        count: summary.cycles,
        min_ns: summary.min_ns?,
        p50_ns: quantiles.p50_ns?,
        p99_ns: quantiles.p99_ns?,
        max_ns: summary.max_ns?,
    })
}

fn sentences(run: &Run, breakdown: &RunBreakdown) -> Vec<String> {
    // If the kernel's own tracer measures, there is no untraced run to compare with.
    let cost = run.asked.method.has_breakdown().then(|| cost(breakdown));
    if run.asked.method.gpio().is_some() {
        return vec![format!(
            "The breakdown of {} answers is known.",
            grouped(breakdown.tally.known)
        )];
    }
    std::iter::once(tally_sentence(breakdown)).chain(cost).collect()
}

/// The medians of the parts of a wire's response, as a bar.
fn part_bar(thread: &ThreadBreakdown) -> Markup {
    const WIDTH: f64 = 640.0;
    let breakdown =
        [("event", &thread.irq), ("wake-up", &thread.wake_up), ("answer", &thread.answer)];
    let known: Option<Vec<(&str, Nanos)>> =
        breakdown.into_iter().map(|(name, part)| Some((name, part.as_ref()?.p50_ns))).collect();
    let Some(breakdown) = known else { return Markup::default() };
    let whole: f64 = breakdown.iter().map(|(_, time)| time.0 as f64).sum::<f64>().max(1.0);
    let mut at = 0.0;
    let parts = breakdown.iter().zip(["0.25", "0.5", "0.75"]).map(|((name, time), shade)| {
        let width = time.0 as f64 / whole * WIDTH;
        let left = at;
        at += width;
        (left, width, shade, format!("{name} {time}"))
    });
    let parts: Vec<_> = parts.collect();
    html! {
        svg viewBox="0 0 640 64" role="img" aria-label="Medians of the parts side by side" {
            @for (number, (left, width, shade, name)) in parts.iter().enumerate() {
                rect x=(format!("{left:.1}")) y="0" width=(format!("{width:.1}")) height="24"
                    fill="currentColor" fill-opacity=(shade) { title { (name) } }
                text x=(number * 213) y="48" font-size="14" fill="currentColor" { (name) }
            }
        }
    }
}

fn tally_sentence(breakdown: &RunBreakdown) -> String {
    let BreakdownTally { traced, known, events_lost, .. } = breakdown.tally;
    let (irq, switch) = breakdown
        .threads
        .iter()
        .map(ThreadBreakdown::known)
        .fold((0, 0), |sum, of_one| (sum.0 + of_one.0, sum.1 + of_one.1));
    let lost = match events_lost {
        0 => "no trace event was lost".to_string(),
        lost => format!("{} trace events were lost", grouped(lost)),
    };
    if (irq, switch) == (known, known) {
        let (known, traced) = (grouped(known), grouped(traced));
        return format!("The breakdown of {known} of {traced} traced cycles is known; {lost}.");
    }
    format!(
        "Of {} traced cycles the IRQ part is known in {}, the thread part in {}, both in {}; \
         {lost}. The figures of a part cover only the cycles in which it is known.",
        grouped(traced),
        grouped(irq),
        grouped(switch),
        grouped(known),
    )
}

/// The overhead of the tracepoints, as the run measured it.
fn cost(breakdown: &RunBreakdown) -> String {
    let Some(BreakdownCost { traced, untraced }) = &breakdown.cost else {
        return "The cost of tracing is unknown: there are fewer than 100 cycles with or without \
                it."
        .to_string();
    };
    let scale = Scale::for_times([traced.p50_ns, untraced.p50_ns]);
    let more = |with: Nanos, without: Nanos| {
        let sign = if with < without { "-" } else { "+" };
        format!("{sign}{} {}", scale.number(Nanos((with - without).0.abs())), scale.unit())
    };
    let above = traced.count.min(untraced.count) / 100;
    let (tail, too_few) = match above >= ENOUGH_ABOVE_P99 {
        true => (format!(" and {} at p99", more(traced.p99_ns, untraced.p99_ns)), String::new()),
        false => (
            String::new(),
            format!(
                " Their p99 is not compared: only {above} cycles are above it, and \
                 {ENOUGH_ABOVE_P99} are needed."
            ),
        ),
    };
    format!(
        "Tracing costs {} at the median (p50: {} with tracing, {} {} without){tail}; {} cycles \
         with it, {} without.{too_few}",
        more(traced.p50_ns, untraced.p50_ns),
        scale.number(traced.p50_ns),
        scale.number(untraced.p50_ns),
        scale.unit(),
        grouped(traced.count),
        grouped(untraced.count),
    )
}

fn largest(run: &Run, breakdown: &RunBreakdown) -> Option<Vec<Column>> {
    let first = run.first_release()?;
    let all = &breakdown.largest;
    let scale = Scale::for_times(all.iter().map(|one| one.latency_ns));
    let is_wire = run.asked.method.gpio().is_some();
    let rows = all.iter().map(|one| {
        let CycleBreakdown { release_ns, irq_ns, thread_ns } = one.breakdown;
        let (thread, at) = (one.thread.to_string(), (release_ns - first).as_secs_f64());
        let times = match is_wire {
            true => vec![irq_ns, thread_ns - irq_ns, one.latency_ns - thread_ns, one.latency_ns],
            false => vec![irq_ns, thread_ns, one.latency_ns],
        };
        let times = times.into_iter().map(|time| scale.number(time));
        [thread, format!("{at:.3}")].into_iter().chain(times).collect()
    });
    let heads: &[&str] = match is_wire {
        true => &["thread", "at", "event", "wake-up", "answer", "whole"],
        false => &["thread", "at", "IRQ", "thread", "latency"],
    };
    (!all.is_empty()).then(|| columns(heads, 1, scale, &rows.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(count: u64) -> PartFigures {
        let (min_ns, p50_ns, p99_ns) = (Nanos(1_000), Nanos(1_999), Nanos(4_999));
        PartFigures { count, min_ns, p50_ns, p99_ns, max_ns: Nanos(9_000) }
    }

    fn breakdown(irq: u64, both: u64, untraced: u64) -> RunBreakdown {
        let tally = BreakdownTally { traced: 20_000, known: both, ..BreakdownTally::default() };
        let (irq, thread_part) = (Some(figures(irq)), Some(figures(both)));
        let cost = BreakdownCost { traced: figures(20_000), untraced: figures(untraced) };
        let threads = vec![ThreadBreakdown {
            thread: 0,
            tally,
            irq,
            thread_part,
            wake_up: None,
            answer: None,
        }];
        RunBreakdown { threads, tally, largest: Vec::new(), cost: Some(cost) }
    }

    #[test]
    fn how_many_cycles_each_leg_stands_for_is_said() {
        assert!(
            tally_sentence(&breakdown(19_000, 19_000, 0))
                .starts_with("The breakdown of 19 000 of 20 000 ")
        );
        let apart = tally_sentence(&breakdown(19_000, 500, 0));
        assert!(
            apart.contains("IRQ part is known in 19 000, the thread part in 500, both in 500;")
        );
    }

    #[test]
    fn the_tail_is_compared_only_where_enough_cycles_lie_above_it() {
        assert!(cost(&breakdown(1, 1, 10_000)).contains(" us at p99;"));
        let few = cost(&breakdown(1, 1, 9_000));
        assert!(!few.contains("at p99") && few.contains("only 90 cycles are above it"), "{few}");
    }
}
