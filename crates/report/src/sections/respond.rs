//! How fast pins answer pins: the figures of responders side by side, and their interpretation.

use crate::InWords;
use crate::document::table::{Column, Table};
use crate::document::{Block, Item, On, Section};
use crate::facts::is_timed;
use crate::figures::{LatencyBound, SaidLatency, figure_head, known, resolution};
use crate::pictures::axis::one_two_five;
use crate::units::{grouped, percent, span, trimmed};
use latlab_model::finding::Finding;
use latlab_model::gpio::GpioWire;
use latlab_model::plan::Instrument;
use latlab_model::respond::{ChannelLevels, Respond, ResponseFigures, Responses};
use latlab_model::run::{Severity, VerdictWord};
use latlab_model::units::counted;
use latlab_model::{Nanos, Run};

/// Bodies smaller than the largest response by this factor get a separate, zoomed chart.
const SQUEEZED: f64 = 5.0;
/// More decimals are beyond any measurement.
const MOST_DECIMALS: usize = 4;

/// The figures of responders' runs, a row each; `None` if a run is of another instrument.
pub(crate) fn columns(runs: &[&Run]) -> Option<Vec<Column>> {
    let all: Option<Vec<&Responses>> = runs.iter().map(|run| run.responses()).collect();
    let all = all?;
    let count = |name: &str, rank, of: &dyn Fn(&Responses) -> u64| {
        Column::new(name, rank, all.iter().map(|one| of(one).to_string()))
    };
    let names = runs.iter().map(|run| run.asked.name.clone());
    let answered = runs.iter().map(|run| run.total.cycles.to_string());
    let mut columns = vec![
        Column::new("responder", 0, names).left(),
        Column::new("n", 0, answered),
        count("stimuli", 6, &|one| one.stimuli),
        count("censored", 0, &|one| one.censored + one.impossible),
        timed_out_column(&all),
        count("missing", 1, &|one| one.missing),
        count("late", 2, &|one| one.late),
        count("double", 8, &|one| one.double),
        count("spurious", 9, &|one| one.spurious),
    ];
    let unit = Unit::for_responses(&all);
    let figures = runs.iter().zip(&all).map(|(run, one)| FigureRow::new(run, &one.figures));
    columns.extend(figure_columns(&figures.collect::<Vec<_>>(), &unit));
    let cpu = all.iter().map(|one| one.cpu.map_or("-".into(), |cpu| unit.number(cpu.total_ns())));
    if all.iter().any(|one| one.cpu.is_some()) {
        columns.push(Column::new("CPU", 2, cpu).unit(unit.sign));
    }
    let below = runs.iter().map(|run| share_below(run.total.cycles).unwrap_or("-".to_string()));
    columns.push(Column::new(SURE, 1, below).footnote(SURE_MEANS));
    if runs.iter().any(|run| run.verdict.is_some()) {
        let word = |run: &&Run| {
            run.verdict
                .as_ref()
                .map_or("-", |verdict| VerdictWord::as_str(verdict.word))
                .to_string()
        };
        columns.push(Column::new(figure_head("verdict"), 0, runs.iter().map(word)).left());
    }
    columns.retain(|column| !column.is_void());
    Some(columns)
}

/// The figures of a row, and their certainty.
struct FigureRow<'a> {
    figures: &'a ResponseFigures,
    resolution_ns: Option<f64>,
    /// How the maximum relates to the true one.
    bound: LatencyBound,
}

impl<'a> FigureRow<'a> {
    fn new(run: &Run, figures: &'a ResponseFigures) -> FigureRow<'a> {
        let bound = match run.total.max_is_at_least {
            true => LatencyBound::AtLeast,
            false => LatencyBound::Known,
        };
        FigureRow { figures, resolution_ns: resolution(run), bound }
    }
}

fn figure_columns(all: &[FigureRow], unit: &Unit) -> Vec<Column> {
    let column = |figure: &ResponseFigure| {
        let cell = |row: &FigureRow| {
            let Some(ns) = (figure.get)(row.figures) else { return "-".to_string() };
            let said = match figure.id {
                "max_ns" => SaidLatency { ns, bound: row.bound }.resolved(row.resolution_ns),
                // A deviation is not limited by the resolution of the capture.
                "deviation_ns" => known(ns),
                _ => known(ns).resolved(row.resolution_ns),
            };
            said.in_column(|ns| unit.number(ns))
        };
        Column::new(figure.head(), figure.rank, all.iter().map(cell)).unit(unit.sign)
    };
    FIGURES.iter().map(column).collect()
}

/// A figure of responses, which are finer than the nanoseconds of other latencies.
pub(crate) struct ResponseFigure {
    id: &'static str,
    rank: u8,
    pub get: fn(&ResponseFigures) -> Option<f64>,
}

/// The figures of responses, in column order.
static FIGURES: [ResponseFigure; 8] = [
    ResponseFigure { id: "min_ns", rank: 0, get: |of| of.min_ns },
    ResponseFigure { id: "p50_ns", rank: 0, get: |of| of.median_ns },
    ResponseFigure { id: "mean_ns", rank: 0, get: |of| of.mean_ns },
    ResponseFigure { id: "deviation_ns", rank: 5, get: |of| of.deviation_ns },
    ResponseFigure { id: "p95_ns", rank: 3, get: |of| of.p95_ns },
    ResponseFigure { id: "p99_ns", rank: 0, get: |of| of.p99_ns },
    ResponseFigure { id: "p99_9_ns", rank: 7, get: |of| of.p99_9_ns },
    ResponseFigure { id: "max_ns", rank: 0, get: |of| of.max_ns },
];

impl ResponseFigure {
    /// The figure with this id.
    pub fn of(id: &str) -> &'static ResponseFigure {
        FIGURES.iter().find(|one| one.id == id).expect("a figure of responses")
    }

    /// The head of its column: that of other latencies, unless only responses have it.
    pub fn head(&self) -> &'static str {
        match self.id {
            "deviation_ns" => "sd",
            "p95_ns" => "p95",
            id => figure_head(id),
        }
    }
}

/// The figures of a window of a run, with the precision of its capture.
pub(crate) fn stretch_columns(run: &Run, n: u64, figures: &ResponseFigures) -> Vec<Column> {
    let largest = figures.max_ns.map(|max| known(max).resolved(resolution(run)).ns);
    let unit = Unit::for_times(largest, resolution(run));
    let mut columns = vec![
        Column::new("responder", 0, [run.asked.name.clone()]).left(),
        Column::new("n", 0, [n.to_string()]),
    ];
    columns.extend(figure_columns(&[FigureRow::new(run, figures)], &unit));
    columns.retain(|column| !column.is_void());
    columns
}

/// The headline of a window of a run.
pub(crate) fn stretch_headline(run: &Run, n: u64, figures: &ResponseFigures, of: Nanos) -> String {
    let (name, responses) = (&run.asked.name, counted(n, "response", "responses"));
    let unit = Unit::for_times(figures.max_ns, resolution(run));
    match figures.max_ns {
        Some(max) => {
            let within = match resolution(run).filter(|resolution| max < *resolution) {
                Some(resolution) => within_resolution(resolution),
                None => format!("within at most {} {}", trimmed(unit.number(max)), unit.sign),
            };
            let of = if is_timed(run) { format!(" over {}", span(of)) } else { String::new() };
            format!("{name} answered {within} in {responses}{of}.")
        }
        None => format!("{name} answered nothing in this part."),
    }
}

/// Times formatted with the precision of the run: the unit, and the text of each.
pub(crate) fn exact_times(run: &Run, picoseconds: &[i64]) -> (&'static str, Vec<String>) {
    let times = || picoseconds.iter().map(|&one| one as f64 / 1e3);
    let unit = Unit::for_times(times(), resolution(run));
    let resolution = resolution(run);
    let words = |ns: f64| known(ns).resolved(resolution).in_column(|ns| unit.number(ns));
    (unit.sign, times().map(words).collect())
}

/// The statement for responses that are all shorter than the resolution.
fn within_resolution(resolution: f64) -> String {
    format!("in less than the resolution of {}", short(resolution))
}

/// Readings that timed out; all cells are `-` if none did.
fn timed_out_column(all: &[&Responses]) -> Column {
    let any = all.iter().any(|one| one.timed_out > 0);
    let cell = |one: &&Responses| if any { one.timed_out.to_string() } else { "-".to_string() };
    Column::new("timed out", 1, all.iter().map(cell))
}

/// The figures of several responders; `None` if a run is of another instrument.
pub fn section(runs: &[&Run]) -> Option<Section> {
    let table = Table::new(MEANING, columns(runs)?);
    let section = Section::new("responders", "").without_title().table(table);
    Some(section.add(On::Text, Block::Text(MEANING.to_string())))
}

/// The findings of several runs, the heaviest of each first.
pub fn findings(runs: &[&Run]) -> Option<Section> {
    let of_run = |run: &&Run| -> Vec<Item> {
        let findings = run.findings_by_weight().into_iter();
        let weighty = findings.filter(|one| one.severity() > Severity::Info);
        let item = |one: &Finding| {
            let said = format!("{}: {}", run.asked.name, one.text());
            Item::new(one.severity(), said, one.code().to_string())
        };
        weighty.map(item).collect()
    };
    let all: Vec<Item> = runs.iter().flat_map(of_run).collect();
    (!all.is_empty()).then(|| Section::new("findings", "Findings").on(On::Text).items(all))
}

/// Head of the column for the share that is, with confidence, no later than the observed maximum.
const SURE: &str = "95 % confident";

const SURE_MEANS: &str = "With 95 % confidence at least the share under \"95 % confident\" of all \
                          responses is no later than the observed maximum.";

/// Explains columns whose names do not.
pub const MEANING: &str = "n responses were measured; censored responses have no value and are in no \
                           figure. Quantiles that need more than n responses are not given. CPU is \
                           the CPU time for each stimulus, where it is known.";

/// With 95 % confidence, this share of all responses is no later than the largest of `count`.
fn share_below(count: u64) -> Option<String> {
    let missing = (1.0 - 0.05_f64.powf(1.0 / count.max(1) as f64)) * 100.0;
    // Two digits of the remainder, rounded so that it is not understated.
    let decimals = (1.0 - missing.log10().floor()).clamp(0.0, 9.0) as i32;
    let last = 10f64.powi(-decimals);
    let missing = (missing / last).ceil() * last;
    (count > 0).then(|| format!("{:.*} %", decimals as usize, 100.0 - missing))
}

/// The upper end of the body, if slow responses or slow responders squeeze it; `None` if everything
/// is readable at once, or if other runs are among them.
pub(crate) fn body<'a>(runs: impl Iterator<Item = &'a Run>) -> Option<Nanos> {
    let all: Option<Vec<&Responses>> = runs.map(Run::responses).collect();
    let all = all?;
    let largest = all.iter().filter_map(|one| one.figures.max_ns).fold(0.0, f64::max);
    let usual = all.iter().filter_map(|one| one.figures.p99_ns);
    let end = usual.filter(|p99| p99 * SQUEEZED < largest).fold(0.0, f64::max);
    (end > 0.0).then(|| Nanos(one_two_five(end * 1.1) as i64))
}

/// Sentences on a responder's run, in addition to its figures.
pub fn sentences(run: &Run) -> Vec<String> {
    let Some(responses) = run.responses() else {
        let cut_off = "The run was cut off: how many stimuli got no response is unknown.";
        return Vec::from_iter(run.asked.method.is_response().then(|| cut_off.to_string()));
    };
    [
        resolution_sentence(responses),
        levels(responses),
        below(run),
        window_sentence(responses),
        cpu(run, responses),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The threshold of each channel with measured levels.
fn levels(responses: &Responses) -> Option<String> {
    let of_channel = |one: &ChannelLevels| {
        let channel = &one.channel;
        // Covers microvolts as well as kilovolts.
        let decimals =
            (3.0 - (one.high - one.low).abs().max(1e-12).log10()).ceil().clamp(0.0, 12.0);
        let number = |level: f64| format!("{level:.*}", decimals as usize);
        let (low, high) = (number(one.low), number(one.high));
        let levels = format!("channel {channel} has the levels {low} and {high}");
        match one.threshold.zip(one.hysteresis) {
            Some((threshold, wide)) => {
                let (threshold, wide) = (number(threshold), number(wide));
                format!("{levels}; its edges are at {threshold}, with a hysteresis of {wide}.")
            }
            None => format!("{levels}, which are noise."),
        }
    };
    let all: Vec<String> = responses.levels.iter().map(of_channel).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// The headline of a responder's run.
pub fn headline(run: &Run, responses: &Responses) -> String {
    let name = &run.asked.name;
    let (answered, stimuli) = (grouped(run.total.cycles), grouped(responses.stimuli));
    match responses.figures.max_ns {
        Some(max) => {
            let most =
                if run.total.max_is_at_least { "the longest seen in" } else { "within at most" };
            let within = match responses.resolution_ns.filter(|resolution| max < *resolution) {
                Some(resolution) => within_resolution(resolution),
                None => format!("{most} {}", exact(max, responses)),
            };
            format!("{name} answered {answered} of {stimuli} stimuli, {within}.")
        }
        None => format!("{name} answered none of {stimuli} stimuli."),
    }
}

/// The fate of the stimuli, if not all were answered once and in time.
pub fn class_counts(responses: &Responses) -> Option<String> {
    let stimuli = grouped(responses.stimuli);
    let of = |count: u64, what: &str| {
        (count > 0).then(|| format!("{} of {stimuli} {what}", grouped(count)))
    };
    let plain = |count: u64, what: &str| (count > 0).then(|| format!("{} {what}", grouped(count)));
    let told: Vec<String> = [
        of(responses.censored, "not measured"),
        of(responses.timed_out, "timed out"),
        of(responses.impossible, "with an impossible value"),
        of(responses.missing, "without a response"),
        of(responses.late, "answered after the window"),
        plain(responses.double, "double"),
        plain(responses.spurious, "spurious"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!told.is_empty()).then(|| format!("Problems: {}.", told.join(", ")))
}

/// The median, to stand next to the maximum.
pub fn median(responses: &Responses) -> Option<String> {
    let figures = &responses.figures;
    let (median, min) = (figures.median_ns?, figures.min_ns?);
    Some(format!(
        "The median is {}, the minimum {}.",
        exact(median, responses),
        exact(min, responses)
    ))
}

fn resolution_sentence(responses: &Responses) -> Option<String> {
    let resolution = responses.resolution_ns?;
    Some(format!(
        "The {} has a resolution of {}: every figure is uncertain by that amount.",
        responses.format,
        short(resolution)
    ))
}

fn below(run: &Run) -> Option<String> {
    let share = share_below(run.total.cycles)?;
    Some(format!(
        "With 95 % confidence at least {share} of all responses are no later than the observed \
         maximum, if conditions do not change."
    ))
}

fn window_sentence(responses: &Responses) -> Option<String> {
    let marked = responses.marked.as_ref()?;
    let share = marked.count as f64 / responses.stimuli.max(1) as f64;
    Some(format!("{} of the stimuli coincided with {}.", percent(share), marked.by))
}

/// The responder's CPU use; one that never sleeps uses a whole CPU.
fn cpu(run: &Run, responses: &Responses) -> Option<String> {
    let cpu = responses.cpu?;
    let used = cpu.total_ns() * responses.stimuli as f64;
    let share = used / run.measured_ns.0.max(1) as f64;
    let part = |ns: Option<f64>| ns.map_or("none".to_string(), |ns| exact(ns, responses));
    Some(format!(
        "Each stimulus took {} of CPU time, {} of a CPU: {} in its interrupt, {} in threads.",
        exact(cpu.total_ns(), responses),
        percent(share.min(1.0)),
        part(cpu.interrupt_ns),
        part(cpu.threads_ns)
    ))
}

/// A time with the precision of the capture.
fn exact(nanos: f64, responses: &Responses) -> String {
    let said = known(nanos).resolved(responses.resolution_ns);
    let unit = Unit::for_times([said.ns], responses.resolution_ns);
    said.words(|ns| format!("{} {}", trimmed(unit.number(ns)), unit.sign))
}

/// Formats times below a nanosecond too.
fn short(nanos: f64) -> String {
    match nanos {
        less if less < 1.0 => format!("{} ps", (less * 1e3).round()),
        more if more < 1_000.0 => format!("{} ns", trimmed(format!("{more:.3}"))),
        more => Nanos(more.round() as i64).to_string(),
    }
}

/// A unit with as many decimals as the captures have.
struct Unit {
    sign: &'static str,
    nanos: f64,
    decimals: usize,
}

impl Unit {
    fn for_responses(all: &[&Responses]) -> Unit {
        let resolutions = all.iter().filter_map(|one| one.resolution_ns);
        let finest = resolutions.fold(f64::INFINITY, f64::min);
        let finest = finest.is_finite().then_some(finest);
        let largest =
            |one: &&Responses| Some(known(one.figures.max_ns?).resolved(one.resolution_ns).ns);
        Unit::for_times(all.iter().filter_map(largest), finest)
    }

    fn for_times(times: impl IntoIterator<Item = f64>, resolution: Option<f64>) -> Unit {
        let largest = times.into_iter().fold(0.0, f64::max);
        let (sign, nanos) = match largest {
            largest if largest < 1e3 => ("ns", 1.0),
            largest if largest < 1e8 => ("us", 1e3),
            largest if largest < 1e11 => ("ms", 1e6),
            _ => ("s", 1e9),
        };
        let told =
            resolution.map_or(3.0, |resolution| (nanos / resolution.max(1e-3)).log10().ceil());
        Unit { sign, nanos, decimals: (told.max(0.0) as usize).min(MOST_DECIMALS) }
    }

    fn number(&self, nanos: f64) -> String {
        // Round half up, as readers expect.
        let digits = 10f64.powi(self.decimals as i32);
        format!("{:.*}", self.decimals, (nanos / self.nanos * digits).round() / digits)
    }
}

/// How responses were found, as labelled facts.
pub fn method(asked: &Respond) -> Vec<(&'static str, String)> {
    let wires = asked.wires.clone().unwrap_or_default();
    let (linux, gpio) = (asked.linux.as_ref(), asked.gpio.as_ref());
    let scope = asked.scope.clone().unwrap_or_default();
    let window = match (asked.window_ns, &asked.scope) {
        (Some(window), _) => window.to_string(),
        (None, Some(_)) => String::new(),
        (None, None) => "up to the next stimulus".to_string(),
    };
    vec![
        ("Responder", linux.map_or(String::new(), |linux| linux.argv.join(" "))),
        ("Instrument", Instrument::Respond.to_string()),
        ("Captures", asked.files.join(", ")),
        ("Line of the stimulus", gpio.map_or(String::new(), |wire| wire.stimulus.to_string())),
        ("Line that shows it", gpio.map_or(String::new(), |wire| wire.loopback.to_string())),
        ("Answered by", gpio.map_or(String::new(), answered_by)),
        ("Captured by", asked.captured_by.clone().unwrap_or_default()),
        ("Oscilloscope", scope.resource),
        ("Generator", scope.generator.unwrap_or_default()),
        ("Simulated", asked.simulated.clone().unwrap_or_default()),
        ("Stimulus", wires.stimulus),
        ("Response", wires.response),
        ("Marker", wires.marker.unwrap_or_default()),
        ("Threshold", wires.threshold),
        ("Threshold of the response", wires.response_threshold.unwrap_or_default()),
        ("Hysteresis", wires.hysteresis),
        ("Edges of the stimulus", wires.edge),
        ("Edges of the response", wires.response_edge),
        ("Quiet before a stimulus", asked.quiet_ns.map_or(String::new(), |it| it.to_string())),
        ("Window", window),
    ]
}

/// What answers the edges of a wire.
fn answered_by(wire: &GpioWire) -> String {
    match (&wire.answer, wire.external) {
        (_, true) => "another responder".to_string(),
        (Some(line), false) => format!("latlab, on {line}"),
        (None, false) => "latlab, which takes the stimulus back".to_string(),
    }
}

/// As `method`, on one line.
pub fn method_name(run: &Run) -> String {
    let Some(asked) = run.asked.method.respond() else { return String::new() };
    let wires = asked.wires.as_ref().map(|wires| {
        format!(
            "from {} ({}) to {} ({}), threshold {}{}, hysteresis {}",
            wires.stimulus,
            wires.edge,
            wires.response,
            wires.response_edge,
            wires.threshold,
            wires
                .response_threshold
                .as_ref()
                .map(|threshold| format!(" and {threshold}"))
                .unwrap_or_default(),
            wires.hysteresis
        )
    });
    let resource = asked.scope.as_ref().map(|scope| scope.resource.clone());
    let source = asked.simulated.clone().or(resource).unwrap_or_else(|| asked.files.join(", "));
    let format = run.responses().map(|one| one.format.clone()).unwrap_or_default();
    let all = [Some(format!("respond, {format} {source}")), wires, Some(run.id.clone())];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_n_can_support_is_rounded_down() {
        assert_eq!(share_below(0), None);
        assert_eq!(share_below(1).unwrap(), "5 %");
        assert_eq!(share_below(500).unwrap(), "99.40 %");
        assert_eq!(share_below(50_000).unwrap(), "99.9940 %");
    }

    #[test]
    fn times_have_the_digits_of_their_capture() {
        let told = |nanos: f64, resolution_ns| {
            exact(nanos, &Responses { resolution_ns: Some(resolution_ns), ..Responses::default() })
        };
        assert_eq!(told(9_103.3, 0.1), "9.1033 us");
        assert_eq!(told(4_833.3, 41.667), "4.83 us");
        assert_eq!(told(6_625.0, 62.5), "6.63 us");
        assert_eq!(told(7_937.5, 0.1), "7.9375 us");
        assert_eq!(short(0.1), "100 ps");
        assert_eq!(short(41.667), "41.667 ns");
        assert_eq!(short(2_000.0), "2 us");
    }
}
