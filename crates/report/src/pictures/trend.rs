//! A metric over builds, with its levels and the builds at which they change.

use crate::pictures::area::{Area, BELOW, Sides, Tick};
use crate::pictures::axis::{Axis, LatencyAxis, PooledLatencies};
use crate::pictures::legend::{Entry, Legend};
use crate::pictures::options::Options;
use crate::pictures::picture::Picture;
use crate::pictures::svg::{Anchor, INK, MUTED, PAPER, Pen, TEXT_SIZE, line, n, outlined, text};
use crate::terms::LATENCY;
use crate::units::short;
use latlab_model::{Bin, Nanos};
use latlab_stats::builds::{Build, Trend};
use latlab_stats::comparison::ComparisonWord;
use maud::{Markup, html};

/// Top edge; the chart has no heading.
const TOP: f64 = 22.0;
/// Height of a latency label.
const NAME_UP: f64 = 30.0;
pub const DEADLINE: &str = "var(--ll-deadline,#d4372c)";
/// Width of a build label.
const NAME_ACROSS: f64 = 110.0;

struct ScaledPoints {
    area: Area,
    axis: LatencyAxis,
    builds: usize,
}

impl ScaledPoints {
    fn place(&self, at: f64) -> f64 {
        (at + 0.5) / self.builds.max(1) as f64
    }

    fn x(&self, at: f64) -> f64 {
        self.area.x(self.place(at))
    }

    fn y(&self, latency: f64) -> f64 {
        self.area.y(self.axis.place(latency))
    }
}

/// Empty if there are no builds.
pub fn draw(of: &Trend, options: &Options) -> String {
    let width = options.drawn_width();
    let area = Area::across(width, TOP, options.drawn_height(), Sides::default());
    let values = of.builds.iter().flat_map(|build| build.values_ns.iter().copied());
    // A deadline far above everything would flatten the series.
    let most = values.clone().fold(0.0, f64::max);
    let deadline = of.deadline_ns.filter(|deadline| (deadline.0 as f64) < most * 20.0);
    let heights = values.chain(deadline.map(|deadline| deadline.0 as f64));
    let bins: Vec<Bin> = heights
        .map(|value| Nanos(value as i64))
        .map(|value| Bin { low_ns: value, high_ns: value, count: 1 })
        .collect();
    let max = bins.iter().map(|bin| bin.high_ns).max();
    let axis = LatencyAxis::choose(&PooledLatencies::from_bins(bins.iter(), max), Axis::default());
    let places = ScaledPoints { area, axis, builds: of.builds.len() };
    let up = places.axis.ticks(area.height(), NAME_UP);
    let legend = Legend::new(entries(of, deadline.is_some()), width);
    let picture = Picture {
        options,
        height: area.bottom + BELOW + legend.height() + 12.0,
        title: format!("{} over {} builds", of.metric, of.builds.len()),
        description: description(of),
        latencies: 0,
    };
    picture.render(html! {
        @if let Some(deadline) = deadline { (beyond(deadline, &places)) }
        (area.furniture((&names(&places, &of.builds), "Build"), (&up, &format!("{}: {}", of.metric, places.axis.title(&LATENCY)))))
        (levels(of, &places))
        (points(of, &places))
        (legend.render(area.bottom + BELOW + 8.0))
        @if of.builds.is_empty() {
            @let (x, y) = area.middle();
            (text(x, y, Anchor::Middle, TEXT_SIZE, MUTED, "No run supports this metric."))
        }
    })
}

fn entries(of: &Trend, has_deadline: bool) -> Vec<Entry> {
    let many = of.builds.iter().any(|build| build.values_ns.len() > 1);
    let median =
        if many { "median of the runs of a build; a ring for each run" } else { "a build" };
    let mut entries = vec![
        Entry::line(point_pen(), median.to_string()).with_mark(),
        Entry::line(Pen::all(), "level between two steps".to_string()),
    ];
    match of.deadline_ns {
        Some(deadline) if has_deadline => {
            let style = format!("fill:{DEADLINE};fill-opacity:.1;stroke:{DEADLINE}");
            entries.push(Entry::area(style, format!("above the deadline of {deadline}")));
        }
        Some(deadline) => {
            entries.push(Entry::note(format!("deadline {deadline}, far above the picture")));
        }
        None => {}
    }
    entries
}

fn point_pen() -> Pen {
    Pen::number(0).solid()
}

fn beyond(deadline: Nanos, places: &ScaledPoints) -> Markup {
    let (area, y) = (&places.area, places.y(deadline.0 as f64));
    let style = format!("fill:{DEADLINE};fill-opacity:.08");
    html! {
        rect x=(n(area.left)) y=(n(area.top)) width=(n(area.width())) height=(n(y - area.top))
            style=(style) data-deadline=(deadline.0) {}
        (line((area.left, y), (area.right, y), DEADLINE, 1.2))
    }
}

/// As many build labels as fit, including the newest.
fn names(places: &ScaledPoints, builds: &[Build]) -> Vec<Tick> {
    let most = (places.area.width() / NAME_ACROSS).max(1.0) as usize;
    let every = builds.len().div_ceil(most).max(1);
    let is_named = |at: &usize| (builds.len() - 1 - at).is_multiple_of(every);
    let named = (0..builds.len()).filter(is_named);
    // The last label is centred below a point near the edge.
    let margin = (1.0 - places.place(builds.len() as f64 - 1.0)) * places.area.width() + 30.0;
    let room = (places.area.width() / builds.len().div_ceil(every) as f64).min(2.0 * margin);
    let letters = (room / 8.0) as usize;
    named
        .map(|at| Tick { place: places.place(at as f64), name: end_of(&builds[at].name, letters) })
        .collect()
}

/// The end of a name, which distinguishes builds.
fn end_of(name: &str, letters: usize) -> String {
    let count = name.chars().count();
    match count > letters.max(4) {
        true => format!("…{}", name.chars().skip(count - letters.max(4) + 1).collect::<String>()),
        false => name.to_string(),
    }
}

/// The levels between the steps, each as its first build, the build after its last, and its median.
pub fn levels_of(of: &Trend) -> Vec<(usize, usize, f64)> {
    let begins = [0].into_iter().chain(of.steps.iter().map(|step| step.at));
    let ends = of.steps.iter().map(|step| step.at).chain([of.builds.len()]);
    let known = |(from, to)| Some((from, to, level(&of.builds[from..to])?));
    begins.zip(ends).filter_map(known).collect()
}

fn levels(of: &Trend, places: &ScaledPoints) -> Markup {
    html! {
        @for (from, to, level) in levels_of(of) {
            @let y = places.y(level);
            (line((places.x(from as f64 - 0.4), y), (places.x(to as f64 - 0.6), y), INK, 2.0))
        }
        @for step in &of.steps {
            @let x = places.x(step.at as f64 - 0.5);
            @let colour = if step.word == ComparisonWord::Regressed { DEADLINE } else { MUTED };
            (line((x, places.area.top), (x, places.area.bottom), colour, 1.2))
            (outlined(x, places.area.top - 6.0, Anchor::Middle, TEXT_SIZE, &format!("x{:.2}", step.ratio)))
        }
    }
}

fn level(builds: &[Build]) -> Option<f64> {
    let mut values: Vec<f64> = builds.iter().map(|build| build.value_ns).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn points(of: &Trend, places: &ScaledPoints) -> Markup {
    let pen = point_pen();
    let all: Vec<String> = (0..of.builds.len())
        .map(|at| format!("{} {}", n(places.x(at as f64)), n(places.y(of.builds[at].value_ns))))
        .collect();
    let ring = format!("fill:{PAPER};stroke:{};stroke-width:0.8", pen.colour);
    html! {
        @if !all.is_empty() { path d={ "M" (all.join("L")) } style=(pen.style()) data-builds=(all.len()) {} }
        @for (at, build) in of.builds.iter().enumerate() {
            @if build.values_ns.len() > 1 {
                @for value in &build.values_ns {
                    circle cx=(n(places.x(at as f64))) cy=(n(places.y(*value))) r="2.2" style=(ring) {}
                }
            }
        }
        @for (at, build) in of.builds.iter().enumerate() {
            (pen.mark(places.x(at as f64), places.y(build.value_ns)))
        }
    }
}

fn description(of: &Trend) -> String {
    let ends = of.builds.first().zip(of.builds.last()).map(|(first, last)| {
        format!(
            "From {} ({}) to {} ({})",
            first.name,
            short(first.value_ns),
            last.name,
            short(last.value_ns)
        )
    });
    let steps =
        of.steps.iter().map(|step| format!("a step of x{:.2} at {}", step.ratio, step.build));
    let steps: Vec<String> = steps.collect();
    let steps = if steps.is_empty() { "no step".to_string() } else { steps.join(", ") };
    format!("{}; {steps}.", ends.unwrap_or_else(|| "No build".to_string()))
}
