//! Charts over time show what the rows hold: parsed again, maxima, counts and marks are those of
//! the run.

use crate::common::{self, Fixture, Random, SECOND};
use latlab_model::finding::{ConditionFinding, EndFinding, Finding, LatencyComparison, When};
use latlab_model::frame::Spike;
use latlab_model::histogram::{bin_low, bin_of};
use latlab_model::samples::Sample;
use latlab_model::telemetry::{BusyThread, Conditions, Series};
use latlab_model::{Histogram, Nanos, Run};
use latlab_report::time::{LatencyScale, TimeData, TimeOptions, flow, heatmap, telemetry};
use latlab_stats::Span;

type Draw = fn(&Run, &TimeData, &TimeOptions) -> String;
const KINDS: [(&str, Draw); 3] = [("flow", flow), ("heatmap", heatmap), ("telemetry", telemetry)];

/// Rows of a fictitious run.
struct MadeRun {
    run: Run,
    rows: Vec<(u32, Span, Vec<i32>)>,
    telemetry: Vec<(Series, Nanos, Option<i64>)>,
}

fn edges() -> Vec<i64> {
    let steps = (0..=70).map(|step| 10_f64.powf(3.0 + f64::from(step) / 10.0));
    std::iter::once(0).chain(steps.map(|e| bin_low(bin_of(e.round() as u64)) as i64)).collect()
}

fn run(threads: usize, seconds: i64) -> Run {
    let histograms = vec![common::histogram([5_000]); threads];
    let mut run = Fixture::new(common::plan(), histograms).run;
    run.measured_ns = Nanos(seconds * SECOND);
    run
}

fn first(run: &Run) -> Nanos {
    run.threads.first().map_or(Nanos::ZERO, |one| one.setup.first_release_ns)
}

fn row(from: Nanos, p50: i64, p99_9: i64, max: i64, overruns: u64) -> (Span, Vec<i32>) {
    let mut coarse = vec![0; edges().len()];
    let mut count = |latency: i64, many: i32| {
        coarse[edges().partition_point(|edge| *edge <= latency) - 1] += many;
    };
    count(p50 * 7 / 10, 300);
    count(p50, 699);
    count(p99_9, 1);
    count(max, 1);
    let to = from + Nanos(SECOND);
    let (min, median) = (Some(Nanos(p50 * 7 / 10)), Some(p50 as f64));
    let (p99_9, max) = (Some(Nanos(p99_9)), Some(Nanos(max)));
    (Span { from, to, count: 1_001, overruns, min, median, p99_9, max, ..Span::default() }, coarse)
}

impl MadeRun {
    /// Each thread has a row for each second; late cycles come from the generator.
    fn new(threads: usize, seconds: i64, every: i64) -> MadeRun {
        let mut made = MadeRun { run: run(threads, seconds), rows: vec![], telemetry: vec![] };
        let (mut random, start) = (Random(5), first(&made.run));
        for thread in 0..threads as u32 {
            for second in (0..seconds).step_by(every as usize) {
                let p50 = random.latency(5_000.0, 0.0);
                let p99_9 = p50 * 3 + random.latency(4_000.0, 0.0);
                let max = p99_9 + random.latency(9_000.0, 300_000.0);
                let overruns = u64::from(max > 300_000);
                let (mut span, coarse) =
                    row(start + Nanos(second * SECOND), p50, p99_9, max, overruns);
                span.to = span.from + Nanos(every * SECOND);
                made.rows.push((thread, span, coarse));
            }
        }
        made.sum()
    }

    /// Computes the figures of the run from its rows.
    fn sum(mut self) -> MadeRun {
        let of = |thread: u32| self.rows.iter().filter(move |row| row.0 == thread);
        for one in &mut self.run.threads {
            let thread = one.setup.thread;
            one.summary.max_ns = of(thread).filter_map(|row| row.1.max).max();
            one.summary.max_at_ns = None;
        }
        self.run.total.cycles = self.rows.iter().map(|row| row.1.count).sum();
        self.run.total.overruns = Some(self.rows.iter().map(|row| row.1.overruns).sum());
        self.run.total.max_ns = self.rows.iter().filter_map(|row| row.1.max).max();
        self
    }

    fn data(&self) -> TimeData {
        let mut data = TimeData::new(&self.run, &edges(), None);
        self.rows.iter().for_each(|(thread, span, coarse)| data.interval(*thread, span, coarse));
        for (series, at, value) in &self.telemetry {
            data.telemetry(series, *at, *value);
        }
        data
    }
}

fn series(metric: &str, subject: &str, counter: bool) -> Series {
    let (metric, subject, unit) = (metric.to_string(), subject.to_string(), "1".to_string());
    Series { number: 0, metric, subject, unit, counter, steady: true }
}

/// Two threads for a minute, with a hog on CPU 1 from 22 s to 27 s.
fn hog() -> MadeRun {
    let mut made = MadeRun::new(2, 60, 1);
    let start = first(&made.run);
    for (thread, span, coarse) in &mut made.rows {
        let second = (span.from - start).0 / SECOND;
        if *thread == 1 && (22..27).contains(&second) {
            (*span, *coarse) = row(span.from, 9_000, 90_000, 4_100_000 + second, 4);
        }
    }
    let mut ticks = [[0; 4]; 2];
    for second in 0..=60 {
        let at = start + Nanos(second * SECOND);
        for (cpu, ticks) in ticks.iter_mut().enumerate() {
            for (kind, value) in ["user", "idle", "steal", "softirq"].iter().zip(*ticks) {
                let series = series("cpu_time", &format!("cpu{cpu} {kind}"), true);
                made.telemetry.push((series, at, Some(value)));
            }
            let busy = if cpu == 1 && (22..27).contains(&second) { 98 } else { 6 };
            ticks[0] += busy - 2;
            ticks[1] += 99 - busy;
            ticks[2] += 1;
            ticks[3] += 2;
        }
        let heat = 45_000 + second * 150;
        made.telemetry.push((series("temperature", "zone0 cpu", false), at, Some(heat)));
        let used = (second - 22).clamp(0, 5) * SECOND * 49 / 50;
        made.telemetry.push((series("thread_cpu_time", "yes/77", true), at, Some(used)));
        let handled = second * SECOND / 50;
        let handler = series("thread_cpu_time", "irq/41-eth0/91", true);
        made.telemetry.push((handler, at, Some(handled)));
    }
    let busy = BusyThread {
        name: "yes".to_string(),
        id: 77,
        policy: "other".to_string(),
        cpus: [1].into_iter().collect(),
        mean_share: 0.08,
        peak_share: 0.98,
        peak_at_ns: start + Nanos(22 * SECOND),
    };
    made.run.conditions = Some(Conditions { threads: vec![busy], ..Conditions::default() });
    let changed = ConditionFinding::LoadChanged {
        cpu: 1,
        share: 0.98,
        usual_share: 0.05,
        when: When { from_ns: Nanos(22 * SECOND), to_ns: Nanos(24 * SECOND) },
        threads: vec![],
        shorter_changes: 0,
        latencies: LatencyComparison {
            recorded: "latency".to_string(),
            then: None,
            otherwise: None,
        },
    };
    made.run.findings = vec![
        Finding::new(changed).at(start + Nanos(22 * SECOND)),
        Finding::new(EndFinding::GuestEnded {}),
    ];
    made.sum()
}

fn empty() -> MadeRun {
    let mut run = run(0, 0);
    run.total = Fixture::new(common::plan(), vec![Histogram::default()]).run.total;
    MadeRun { run, rows: vec![], telemetry: vec![] }
}

fn one_row() -> MadeRun {
    MadeRun::new(1, 1, 1)
}

/// A day on a large machine, in rows of five minutes so that the test is fast.
fn large() -> MadeRun {
    MadeRun::new(128, 86_400, 300)
}

fn made() -> Vec<(&'static str, MadeRun)> {
    vec![("hog", hog()), ("empty", empty()), ("one", one_row()), ("large", large())]
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let start = element.find(&format!(" {name}=\""))? + name.len() + 3;
    element[start..].split('"').next()
}

fn number(element: &str, name: &str) -> f64 {
    attribute(element, name).unwrap_or_else(|| panic!("{name} in {element}")).parse().unwrap()
}

/// All elements with this attribute.
fn with<'a>(picture: &'a str, name: &str) -> Vec<&'a str> {
    let elements = picture.split('<').map(|element| element.split('>').next().unwrap());
    elements.filter(|element| attribute(element, name).is_some()).collect()
}

/// The heights of a line.
fn heights(path: &str) -> Vec<f64> {
    let d = attribute(path, "d").unwrap();
    d.split(['M', 'V'])
        .skip(1)
        .map(|part| part.split('H').next().unwrap().rsplit(' ').next().unwrap().parse().unwrap())
        .collect()
}

/// The latency at a height.
fn latency(panel: &str, y: f64) -> f64 {
    let (top, bottom) = (number(panel, "data-top"), number(panel, "data-bottom"));
    let (from, to) = (number(panel, "data-from-ns"), number(panel, "data-to-ns"));
    let share = (bottom - y) / (bottom - top);
    match attribute(panel, "data-log") {
        Some("false") => from + share * (to - from),
        _ => from * (to / from).powf(share),
    }
}

/// Invariant (pictures): Pictures over time show every row.
#[test]
fn flow_draws_every_maximum_and_every_missed_release() {
    for (name, made) in made() {
        for scale in [LatencyScale::Auto, LatencyScale::Linear, LatencyScale::Log] {
            let options = TimeOptions { scale, ..TimeOptions::default() };
            let picture = flow(&made.run, &made.data(), &options);
            let panels: Vec<&str> = with(&picture, "data-log");
            let lines: Vec<&str> = with(&picture, "data-line");
            let lines = lines.iter().filter(|line| attribute(line, "data-line") == Some("max"));
            let mut largest = 0.0_f64;
            for (panel, line) in panels.iter().zip(lines) {
                let Some(max) = attribute(panel, "data-max-ns") else { continue };
                let max: f64 = max.parse().unwrap();
                let top = heights(line).into_iter().fold(f64::MAX, f64::min);
                let drawn = latency(panel, top);
                assert!((drawn / max - 1.0).abs() < 0.02, "{name}: {drawn} for {max}");
                largest = largest.max(max);
            }
            let known = made.run.total.max_ns.map_or(0.0, |max| max.0 as f64);
            assert_eq!(largest, known, "{name}");
            let marks = with(&picture, "data-overruns");
            let marks = marks.iter().filter(|mark| mark.starts_with("rect"));
            let overruns: f64 = marks.map(|mark| number(mark, "data-overruns")).sum();
            assert_eq!(overruns as u64, made.run.total.overruns.unwrap_or(0), "{name}");
            let counted = panels.iter().filter(|panel| attribute(panel, "data-count").is_some());
            let count: f64 = counted.map(|panel| number(panel, "data-count")).sum();
            assert_eq!(count as u64, made.run.total.cycles, "{name}");
        }
    }
}

/// Invariant (pictures): The worst seconds have a p99.9 or its upper limit, which is marked.
#[test]
fn a_second_with_few_cycles_has_an_upper_limit_of_its_quantile() {
    let mut made = hog();
    for (thread, span, _) in &mut made.rows {
        if *thread == 1 && span.overruns > 1 {
            *span = Span { count: 997, p99_9: None, ..*span }.with_limit();
        }
    }
    let picture = flow(&made.run, &made.data(), &TimeOptions::default());
    let panels = with(&picture, "data-log");
    let panel = panels.iter().find(|panel| attribute(panel, "data-thread") == Some("1")).unwrap();
    let limits: Vec<&str> = with(&picture, "data-line")
        .into_iter()
        .filter(|line| attribute(line, "data-line") == Some("p99.9-limit"))
        .collect();
    assert_eq!(limits.len(), 1, "the other thread needs none");
    let drawn = heights(limits[0]).into_iter().fold(f64::MAX, f64::min);
    let max = number(panel, "data-max-ns");
    assert!((latency(panel, drawn) / max - 1.0).abs() < 0.02, "it is the largest");
    assert!(picture.contains(">upper limit of p99.9<"), "the key says what it is");
    assert!(picture.contains("it is at most the largest"));
    let whole = hog();
    let whole = flow(&whole.run, &whole.data(), &TimeOptions::default());
    assert!(!whole.contains("upper limit"), "with enough cycles there is none");
}

/// Invariant (pictures): One thing keeps its colour in every picture of a run.
#[test]
fn a_cpu_has_the_colour_of_its_thread_in_both_halves() {
    let made = hog();
    let maxima: Vec<Option<Nanos>> =
        made.run.threads.iter().map(|thread| thread.summary.max_ns).collect();
    assert!(maxima[1] > maxima[0], "by their maxima the colours would go the other way");
    let colour = |element: &str| {
        let style = attribute(element, "style").unwrap();
        style.split(';').find_map(|part| part.strip_prefix("stroke:")).unwrap().to_string()
    };
    let over_time = flow(&made.run, &made.data(), &TimeOptions::default());
    let lines = with(&over_time, "data-line");
    let of_threads: Vec<String> = lines
        .iter()
        .filter(|line| attribute(line, "data-line") == Some("max"))
        .map(|line| colour(line))
        .collect();
    let of_cpu = |picture: &str, kind: &str, cpu: &str| {
        let group = picture.split("<g ").find(|group| {
            let head = format!(" {}", group.split('>').next().unwrap());
            attribute(&head, "data-strip") == Some(kind)
                && attribute(&head, "data-subject") == Some(cpu)
        });
        colour(group.unwrap().split("<path").nth(2).unwrap().split('>').next().unwrap())
    };
    let conditions = telemetry(&made.run, &made.data(), &TimeOptions::default());
    let fixture = common::normal();
    let mut fixture = Fixture { run: fixture.run, histograms: fixture.histograms };
    fixture.run.threads[1].summary.max_ns = Some(Nanos(9_000_000));
    let sizes = latlab_report::latency_picture(
        &fixture.run,
        &fixture.bins(),
        &latlab_report::Options::default(),
    );
    for (thread, own) in of_threads.iter().enumerate() {
        let cpu = format!("CPU {thread}");
        for kind in ["busy", "stolen"] {
            assert_eq!(of_cpu(&over_time, kind, &cpu), *own, "{kind} {cpu}");
            assert_eq!(of_cpu(&conditions, kind, &cpu), *own, "{kind} {cpu}");
        }
        let line = with(&sizes, "data-drawn")
            .into_iter()
            .find(|line| attribute(line, "data-thread") == Some(thread.to_string().as_str()));
        assert_eq!(colour(line.unwrap()), *own, "histogram of thread {thread}");
    }
    assert_ne!(of_threads[0], of_threads[1]);
}

#[test]
fn each_thread_has_its_own_maximum() {
    let made = hog();
    let picture = flow(&made.run, &made.data(), &TimeOptions::default());
    for panel in with(&picture, "data-log") {
        let thread = number(panel, "data-thread") as usize;
        let max = made.run.threads[thread].summary.max_ns.unwrap();
        assert_eq!(attribute(panel, "data-max-ns"), Some(max.0.to_string().as_str()));
    }
}

/// Invariant (pictures): Pictures over time show every row.
#[test]
fn the_heatmap_counts_every_latency_once() {
    for (name, made) in made() {
        let picture = heatmap(&made.run, &made.data(), &TimeOptions::default());
        let levels = with(&picture, "data-level");
        let count: f64 = levels.iter().map(|level| number(level, "data-count")).sum();
        assert_eq!(count as u64, made.run.total.cycles, "{name}");
        let line = with(&picture, "data-line")[0];
        if let Some(max) = made.run.total.max_ns {
            assert_eq!(attribute(line, "data-max-ns"), Some(max.0.to_string().as_str()));
            let top = heights(line).into_iter().fold(f64::MAX, f64::min);
            assert!((latency(line, top) / max.0 as f64 - 1.0).abs() < 0.02, "{name}");
        }
    }
}

#[test]
fn a_planted_hog_is_seen_in_its_seconds() {
    let made = hog();
    let data = made.data();
    let picture = flow(&made.run, &data, &TimeOptions::default());
    let marks = with(&picture, "data-code");
    assert_eq!(marks.len(), 1, "one finding has a time");
    assert_eq!(attribute(marks[0], "data-code"), Some("load-changed"));
    let at = first(&made.run) + Nanos(22 * SECOND);
    assert_eq!(attribute(marks[0], "data-at-ns"), Some(at.0.to_string().as_str()));
    let x = number(marks[0], "x1");
    assert!((x - (66.0 + 22.0 / 60.0 * (960.0 - 18.0 - 66.0))).abs() < 0.5, "{x}");
    assert!(picture.contains(">load-changed</text>"));
    let strip = |picture: &str, kind: &str, subject: &str| {
        let strips = with(picture, "data-strip");
        let found = strips.into_iter().find(|strip| {
            attribute(strip, "data-strip") == Some(kind)
                && attribute(strip, "data-subject") == Some(subject)
        });
        let found = found.unwrap_or_else(|| panic!("{kind} {subject}"));
        (number(found, "data-low"), number(found, "data-high"))
    };
    assert_eq!(strip(&picture, "busy", "CPU 0"), (6.0, 6.0));
    assert_eq!(strip(&picture, "busy", "CPU 1"), (6.0, 98.0));
    assert_eq!(strip(&picture, "stolen", "CPU 1"), (1.0, 1.0));
    assert_eq!(strip(&picture, "temperature", "zone0 cpu"), (45.0, 54.0));
    let conditions = telemetry(&made.run, &data, &TimeOptions::default());
    assert_eq!(strip(&conditions, "threads", "yes/77"), (0.0, 98.0));
    assert_eq!(strip(&conditions, "handlers", "irq/41-eth0/91"), (2.0, 2.0));
    assert_eq!(strip(&conditions, "interrupts", "CPU 1"), (2.0, 2.0));
}

#[test]
fn what_was_not_read_is_said_and_never_zero() {
    let made = hog();
    for draw in [flow as Draw, telemetry] {
        let picture = draw(&made.run, &made.data(), &TimeOptions::default());
        assert!(picture.contains("No data for frequency"), "{picture}");
        assert!(!picture.contains("data-strip=\"frequency\""));
    }
    let none = one_row();
    let picture = telemetry(&none.run, &none.data(), &TimeOptions::default());
    assert!(picture.contains("No conditions were recorded for this run."));
    assert!(with(&picture, "data-strip").is_empty());
}

#[test]
fn a_window_with_samples_has_a_dot_for_each() {
    let made = hog();
    let from = first(&made.run) + Nanos(22 * SECOND);
    let window = from..from + Nanos(SECOND);
    let mut data = TimeData::of_samples(&made.run, &edges(), window);
    let period = made.run.threads[0].setup.period_ns.unwrap();
    let mut release_ns = from;
    for cycle in 0..900_i64 {
        let latency_ns = Nanos(if cycle == 400 { 4_100_000 } else { 5_000 + cycle });
        data.sample(0, Sample::new(release_ns, latency_ns));
        release_ns += period * if cycle == 400 { 5 } else { 1 };
    }
    data.spike(Spike { release_ns: from, latency_ns: Nanos(4_100_000) });
    let picture = flow(&made.run, &data, &TimeOptions::default());
    let dots = with(&picture, "data-samples");
    assert_eq!(number(dots[0], "data-samples"), 900.0);
    let overruns = with(&picture, "data-overruns");
    let overruns = overruns.iter().find(|mark| mark.starts_with("rect")).unwrap();
    assert_eq!(number(overruns, "data-overruns"), 4.0);
    let words = picture.replace('\u{a0}', " ");
    assert!(words.contains("drawn: 1 s from +22.000 s on"));
    let density = heatmap(&made.run, &data, &TimeOptions::default());
    let counts = with(&density, "data-count");
    assert_eq!(counts.iter().map(|cell| number(cell, "data-count")).sum::<f64>(), 900.0);
    let max = with(&density, "data-max-ns");
    assert_eq!(number(max[0], "data-max-ns"), 4_100_000.0);
}

#[test]
fn pictures_are_sound_and_small_and_the_same_each_time() {
    for (name, made) in made() {
        let data = made.data();
        for (kind, draw) in KINDS {
            for width in [280, 400, 960, 1600] {
                let options = TimeOptions { width, ..TimeOptions::default() };
                let picture = draw(&made.run, &data, &options);
                let drawn = picture.replace("var(--ll-", "");
                for wrong in ["NaN", "inf ", "--", "H-", "M-"] {
                    assert!(!drawn.contains(wrong), "{name} {kind} {width}: {wrong}");
                }
                assert!(picture.contains("<title id=\"time-title\">"));
                assert!(picture.contains("<desc id=\"time-desc\">"));
                assert!(picture.len() < 900_000, "{name} {kind}: {}", picture.len());
                assert_eq!(picture, draw(&made.run, &data, &options));
            }
        }
    }
}

#[test]
fn pictures_look_as_they_did() {
    for (name, made) in made().into_iter().filter(|(name, _)| *name != "large") {
        for (kind, draw) in KINDS {
            let picture = draw(&made.run, &made.data(), &TimeOptions::default());
            insta::assert_snapshot!(format!("{kind}-{name}"), picture.replace("><", ">\n<"));
        }
    }
}
