//! Narrow strips that show the conditions on the time axis.

use super::canvas::{Canvas, Key, KeyStyle};
use super::data::{TimeData, number_in};
use super::panel::{band, stepped};
use super::track::{Counter, Step, Track};
use crate::pictures::axis::one_two_five;
use crate::pictures::run_pens::RunPens;
use crate::pictures::svg::{Pen, n};
use crate::units::trimmed;
use latlab_model::telemetry::metric;
use latlab_model::{Nanos, Run};
use latlab_stats::Span;
use maud::html;

/// If there are more lines, they are drawn as one band.
const LINES: usize = 6;

pub struct Strip {
    /// Name for scripts.
    pub kind: &'static str,
    pub title: &'static str,
    pub unit: &'static str,
    /// The lines by name.
    pub tracks: Vec<(String, Track)>,
    /// Pen of each line; a CPU has that of the thread on it.
    pub pens: Vec<usize>,
    /// What a single line stands for, used to label a band.
    each: &'static str,
    /// Whether zero is the lower end.
    from_zero: bool,
}

/// The strips of a run, and a description of the missing ones.
pub struct Strips {
    pub all: Vec<Strip>,
    pub absent: Option<String>,
}

/// Temperatures, frequencies, load and stolen time.
pub fn strips(run: &Run, data: &TimeData) -> Strips {
    let gauge = |name| -> Vec<(String, Track)> {
        let tracks = data.gauge_tracks(name).into_iter();
        tracks.map(|(subject, track)| (subject, track.clone())).collect()
    };
    let cpus = data.cpus.tracks();
    let of_cpus = |get: fn(&super::cpu::Cpu) -> &Track| -> Vec<(String, Track)> {
        let tracks = cpus.iter().map(|(cpu, one)| (format!("CPU {cpu}"), get(one).clone()));
        tracks.filter(|(_, track)| !track.is_empty()).collect()
    };
    let pens = RunPens::new(run);
    let strip = |kind, title, unit, each, from_zero, tracks: Vec<(String, Track)>| Strip {
        kind,
        title,
        unit,
        pens: numbers(&pens, each, &tracks),
        tracks,
        each,
        from_zero,
    };
    let all = [
        strip("temperature", "Temperature", "°C", "sensor", false, gauge(metric::TEMPERATURE)),
        strip("frequency", "Frequency", "MHz", "CPU", false, gauge(metric::FREQUENCY)),
        strip("busy", "CPU load", "%", "CPU", true, of_cpus(|cpu| &cpu.busy)),
        strip("stolen", "Stolen by the hypervisor", "%", "CPU", true, of_cpus(|cpu| &cpu.stolen)),
    ];
    let (all, without): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|strip| !strip.tracks.is_empty());
    // A machine without a hypervisor also has a counter of stolen time, which stays at zero.
    let stolen = |strip: &Strip| strip.tracks.iter().any(|(_, t)| t.range() != Some((0.0, 0.0)));
    let all = all.into_iter().filter(|strip| strip.kind != "stolen" || stolen(strip)).collect();
    Strips { all, absent: missing_strips(run, &without) }
}

fn missing_strips(run: &Run, without: &[Strip]) -> Option<String> {
    if run.conditions.is_none() {
        return Some("No conditions were recorded for this run.".to_string());
    }
    let names: Vec<String> = without
        .iter()
        .map(|strip| match strip.kind {
            "stolen" => "stolen time".to_string(),
            "busy" => strip.title.to_string(),
            _ => strip.title.to_lowercase(),
        })
        .collect();
    let names = match &names[..] {
        [] => return None,
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    };
    Some(format!("No data for {names}."))
}

/// All strips of the conditions.
pub fn measured_strips(run: &Run, data: &TimeData) -> Vec<Strip> {
    strips(run, data).all.into_iter().chain(cpu_users(run, data)).collect()
}

/// The pens of these lines: a CPU has its own, others go by position.
fn numbers(pens: &RunPens, each: &str, tracks: &[(String, Track)]) -> Vec<usize> {
    let number = |(index, (name, _)): (usize, &(String, Track))| match each {
        "CPU" => pens.cpu(number_in(name)),
        _ => index,
    };
    tracks.iter().enumerate().map(number).collect()
}

/// CPU use of interrupts and threads, for which the flow chart has no room.
pub fn cpu_users(run: &Run, data: &TimeData) -> impl Iterator<Item = Strip> {
    let cpus = data.cpus.tracks().into_iter();
    let interrupts = cpus.map(|(cpu, one)| (format!("CPU {cpu}"), one.interrupts)).collect();
    let shares = |counters: &mut dyn Iterator<Item = (&String, &Counter)>| {
        counters.map(|(name, one)| (name.clone(), one.track().clone())).collect()
    };
    let handlers = shares(&mut data.handlers.iter());
    let mut busiest: Vec<_> = shares(&mut data.busiest.iter().map(|(name, one)| (name, one)));
    busiest.truncate(LINES);
    let pens = RunPens::new(run);
    let strip = |kind, title, each, tracks: Vec<(String, Track)>| Strip {
        kind,
        title,
        unit: "%",
        pens: numbers(&pens, each, &tracks),
        tracks,
        each,
        from_zero: true,
    };
    let all = [
        strip("interrupts", "Interrupts and softirqs, share of a CPU", "CPU", interrupts),
        strip("handlers", "Interrupt threads, share of a CPU", "thread", handlers),
        strip("threads", "Busiest threads, share of a CPU", "thread", busiest),
    ];
    all.into_iter().filter_map(Strip::if_not_empty)
}

impl Strip {
    /// Drops lines without data; `None` if the rest is all zero.
    fn if_not_empty(mut self) -> Option<Strip> {
        let pens = std::mem::take(&mut self.pens);
        let known = self.tracks.into_iter().zip(pens).filter(|((_, track), _)| !track.is_empty());
        (self.tracks, self.pens) = known.unzip();
        (self.range()? != (0.0, 0.0)).then_some(self)
    }

    /// Minimum and maximum of all lines; `None` without data.
    pub fn range(&self) -> Option<(f64, f64)> {
        let ranges = self.tracks.iter().filter_map(|(_, track)| track.range());
        ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// A one-sentence description.
    pub fn words(&self) -> Option<String> {
        let (low, high) = self.range()?;
        let (low, high) = (number(low), number(high));
        Some(format!("{}: {low} to {high} {}", self.title, self.unit))
    }

    /// The ends of the vertical axis.
    fn axis(&self) -> (f64, f64) {
        let (low, high) = self.range().unwrap_or((0.0, 1.0));
        if self.from_zero {
            let top = if high > 50.0 { 100.0_f64.max(high) } else { one_two_five(high.max(0.1)) };
            return (0.0, top);
        }
        let step = one_two_five(((high - low) / 2.0).max(high.abs() / 50.0).max(0.1));
        let (from, to) = ((low / step).floor() * step, (high / step).ceil() * step);
        (from, if to > from { to } else { from + step })
    }

    pub fn draw(&self, canvas: &mut Canvas, data: &TimeData, height: f64) {
        canvas.keys(&format!("{} in {}", self.title, self.unit), self.keys());
        let area = canvas.area(height);
        let (from, to) = self.axis();
        let y = |value: f64| area.y(((value - from) / (to - from)).clamp(0.0, 1.0));
        canvas.level(&area, y(from), &number(from));
        canvas.level(&area, y(to), &number(to));
        let mut parts = Vec::new();
        for (index, (name, steps)) in self.curves().into_iter().enumerate() {
            let columns = columns(data, &steps);
            let value = |span: &Span| steps[data.fine.part(span.from)];
            let pen = self.pen(index);
            let ends = |span: &Span| value(span).map(|step| (y(step.low), y(step.high)));
            let spread = format!("fill:{};fill-opacity:.22;stroke:none", pen.colour);
            let known = steps.iter().flatten();
            let range = known.clone().map(|step| (step.low, step.high));
            let range = range.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
            parts.push(html! {
                g data-strip=(self.kind) data-subject=(name)
                    data-low=[range.map(|range| n(range.0))]
                    data-high=[range.map(|range| n(range.1))]
                {
                    path d=(band(canvas, &columns, ends)) style=(spread) {}
                    path d=(stepped(canvas, &columns, |span| value(span).map(|s| y(s.mean))))
                        style=(pen.style()) {}
                }
            });
        }
        parts.into_iter().rev().for_each(|part| canvas.draw(part));
        canvas.frame(&area);
    }

    /// The pen of a line; a band has that of the total.
    fn pen(&self, index: usize) -> Pen {
        match self.tracks.len() <= LINES {
            true => Pen::number(self.pens[index]),
            false => Pen::all(),
        }
    }

    fn keys(&self) -> Vec<Key> {
        let plain = |words: String| Key { look: KeyStyle::Plain, words };
        match &self.tracks[..] {
            [(name, _)] => vec![plain(name.clone())],
            many if many.len() <= LINES => {
                let line = |index: usize| KeyStyle::Line(self.pen(index).style());
                let keys = many.iter().enumerate();
                keys.map(|(index, (name, _))| Key { look: line(index), words: name.clone() })
                    .collect()
            }
            many => vec![plain(format!(
                "the mean of {} {}s, and from the smallest to the largest",
                many.len(),
                self.each
            ))],
        }
    }

    /// Each line, or one band if there are many.
    fn curves(&self) -> Vec<(String, Vec<Option<Step>>)> {
        if self.tracks.len() <= LINES {
            let tracks = self.tracks.iter();
            return tracks.map(|(name, track)| (name.clone(), track.steps().to_vec())).collect();
        }
        let len = self.tracks.iter().map(|(_, track)| track.steps().len()).max().unwrap_or(0);
        let at = |part: usize| {
            let known: Vec<Step> =
                self.tracks.iter().filter_map(|(_, track)| track.steps()[part]).collect();
            Step::of_many(&known)
        };
        vec![("all".to_string(), (0..len).map(at).collect())]
    }
}

/// The columns with data.
fn columns(data: &TimeData, steps: &[Option<Step>]) -> Vec<Span> {
    let known = steps.iter().enumerate().filter(|(_, step)| step.is_some());
    known
        .map(|(part, _)| {
            let stretch = data.fine.range_of(part);
            let to: Nanos = stretch.end.min(data.whole.end);
            Span { from: stretch.start, to, ..Span::default() }
        })
        .collect()
}

/// A number without superfluous digits.
pub fn number(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 || v == 0.0 => 0,
        v if v >= 1.0 => 1,
        _ => 2,
    };
    trimmed(format!("{value:.decimals$}"))
}
