//! The loads of a run with the evidence that they ran, and the list of available loads.

use crate::document::style::{Colour, Style};
use crate::document::table::wrapped;
use crate::document::{Block, On, Section};
use crate::units::{bytes, grouped, percent};
use latlab_model::load::{LoadRate, LoadRun, Spread};
use latlab_model::shell;
use latlab_model::{Nanos, Run};

/// Limit of printed rates, for a load with many streams.
const MOST_RATES: usize = 12;

/// A load that can be requested.
#[derive(Clone, Debug)]
pub struct LoadEntry {
    pub name: String,
    pub about: String,
    /// The parameters with their defaults.
    pub parameters: String,
    /// Notes on the program and the definition file.
    pub place: String,
    /// Whether the program is installed.
    pub is_here: bool,
}

/// Width of the names in the list of loads.
const NAME: usize = 14;

pub fn load_entry(entry: &LoadEntry, width: usize, style: Style) -> String {
    // A longer name gets its own line.
    let gap = match entry.name.chars().count() {
        length @ ..NAME => " ".repeat(NAME - length),
        _ => format!("\n{:NAME$}", ""),
    };
    let name = style.paint(Colour::Bold, &entry.name);
    let colour = if entry.is_here { Colour::Dim } else { Colour::Warn };
    let place = style.paint(colour, &wrapped(&entry.place, width, NAME));
    let mut text = format!("{name}{gap}{}\n", wrapped(&entry.about, width, NAME));
    if !entry.parameters.is_empty() {
        text += &format!("{:NAME$}{}\n", "", wrapped(&entry.parameters, width, NAME));
    }
    text + &format!("{:NAME$}{place}\n", "")
}

/// `None` for a run without loads.
pub fn section(run: &Run) -> Option<Section> {
    let add = |section: Section, load: &LoadRun| {
        let facts = Block::List(load.words.clone(), facts(run, load));
        let section = section.add(On::All, facts);
        if load.last_lines.is_empty() {
            return section;
        }
        let output = vec![Block::Output(load.last_lines.join("\n"))];
        section.add(On::Page, Block::Folded("Last output".to_string(), output))
    };
    run.loads.iter().fold(Section::new("load", "Load"), add).or_nothing()
}

/// The facts about a load, a sentence each.
fn facts(run: &Run, load: &LoadRun) -> Vec<String> {
    let version = load.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let program = load.program.as_deref().unwrap_or("never started");
    let commands: Vec<String> = load.argv.iter().map(|argv| shell::words(argv)).collect();
    let mut facts = vec![
        format!("{}{version} ({program}): {}", load.name, commands.join("; ")),
        when(run, load),
    ];
    if let Some(share) = &load.cpu_share {
        facts.push(format!("CPU of its processes: {}.", shares(share)));
    }
    if let Some(evidence) = &load.evidence {
        let Spread { min, mean, max } = evidence.per_second;
        let number = |value: f64| grouped(value.max(0.0).round() as u64);
        facts.push(format!(
            "With it, {} of the machine: mean {} {} ({} to {}).",
            evidence.counter,
            number(mean),
            evidence.unit,
            number(min),
            number(max)
        ));
    }
    facts.extend(load.rates.iter().take(MOST_RATES).map(rate));
    if let Some(more) = load.rates.len().checked_sub(MOST_RATES + 1) {
        facts.push(format!("And {} more figures, in run.json.", more + 1));
    }
    if load.lines_dropped > 0 {
        let count = grouped(load.lines_dropped);
        facts.push(format!("{count} lines with figures came too fast and were not read."));
    }
    facts
}

fn when(run: &Run, load: &LoadRun) -> String {
    let first = run.first_release().unwrap_or_default();
    let at = |time: Option<Nanos>| match time {
        Some(time) => since(time - first),
        None => "not known".to_string(),
    };
    let again = match load.restarts {
        0 => String::new(),
        1 => format!("; restarted once, at most {} without it", load.gap_ns),
        times => {
            format!(
                "; restarted {} times, at most {} without it in total",
                grouped(times),
                load.gap_ns
            )
        }
    };
    let status = load.status.map(|status| format!(", {status}")).unwrap_or_default();
    let killed = match load.killed {
        0 => String::new(),
        1 => ", 1 process was killed".to_string(),
        count => format!(", {count} processes were killed"),
    };
    format!(
        "On {}, from {} (CPU use seen at {}) to {}{status}{killed}{again}; it printed {}.",
        placed(&load.placement),
        at(load.started_ns),
        at(load.shown_ns),
        at(load.ended_ns),
        bytes(load.output_bytes)
    )
}

fn placed(cpus: &str) -> String {
    match cpus.contains([',', '-']) {
        true => format!("CPUs {cpus}"),
        false => format!("CPU {cpus}"),
    }
}

/// A time relative to the first counted release.
fn since(time: Nanos) -> String {
    format!("{:+.1} s", time.as_secs_f64())
}

fn shares(share: &Spread) -> String {
    let Spread { min, mean, max } = *share;
    format!("mean {} of one CPU ({} to {})", percent(mean), percent(min), percent(max))
}

fn rate(rate: &LoadRate) -> String {
    let of = rate.of.as_ref().map(|of| format!(" of {of}")).unwrap_or_default();
    let LoadRate { name, unit, count, min, mean, max, last, .. } = rate;
    match count {
        1 => format!("Its own {name}{of}: {} {unit}.", number(*last)),
        _ => format!(
            "Its own {name}{of}: {} {unit}, mean of {} ({} to {}, last {}).",
            number(rounded(*mean)),
            grouped(*count),
            number(*min),
            number(*max),
            number(*last)
        ),
    }
}

/// As the program printed it; large numbers in thousands, for readability.
fn number(value: f64) -> String {
    match value.abs() >= 10_000.0 {
        true => grouped(value.abs().round() as u64),
        false => value.to_string(),
    }
}

/// To four digits, the precision of a mean.
fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}
