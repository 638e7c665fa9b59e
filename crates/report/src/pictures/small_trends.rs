//! Many series in small charts, each on its own scale from zero, with their levels and steps.

use crate::pictures::options::Options;
use crate::pictures::picture::{FIRST_LINE, Heading, MARGIN, Picture};
use crate::pictures::svg::{Anchor, GRID, INK, MUTED, Pen, line, lines, n, text};
use crate::pictures::trend::{DEADLINE, levels_of};
use crate::units::short;
use latlab_stats::builds::Trend;
use latlab_stats::comparison::ComparisonWord;
use maud::{Markup, html};

/// Typical names of boards, scenarios and kernels fit next to the newest value.
const NARROWEST: f64 = 230.0;
const HEIGHT: f64 = 44.0;
/// Room for the name above.
const NAME: f64 = 17.0;
const GAP: f64 = 16.0;
const SMALL: f64 = 11.0;

pub fn draw(series: &[(String, &Trend)], options: &Options) -> String {
    let width = options.drawn_width();
    let title = "p99.9 over time".to_string();
    let heading = Heading::new(&title, &[], width);
    let top = if options.has_heading { FIRST_LINE + heading.height() } else { 4.0 };
    let columns = ((width - 2.0 * MARGIN + GAP) / (NARROWEST + GAP)).floor().max(1.0);
    let each = (width - 2.0 * MARGIN + GAP) / columns - GAP;
    let place = |at: usize| {
        let (row, column) = (at / columns as usize, at % columns as usize);
        (MARGIN + column as f64 * (each + GAP), top + row as f64 * (NAME + HEIGHT + GAP))
    };
    let rows = series.len().div_ceil(columns as usize) as f64;
    let with_steps = series.iter().filter(|(_, trend)| !trend.steps.is_empty()).count();
    let picture = Picture {
        options,
        height: top + rows.max(1.0) * (NAME + HEIGHT + GAP) + 8.0,
        title,
        description: format!("{} series, {with_steps} of them with steps.", series.len()),
        latencies: 0,
    };
    picture.render(html! {
        @if options.has_heading { (heading.render(FIRST_LINE)) }
        @for (at, (name, trend)) in series.iter().enumerate() {
            (small(name, trend, place(at), each))
        }
        @if series.is_empty() {
            (text(width / 2.0, top + HEIGHT / 2.0, Anchor::Middle, SMALL, MUTED, "No run has p99.9."))
        }
    })
}

fn small(name: &str, of: &Trend, (left, top): (f64, f64), width: f64) -> Markup {
    let (top, bottom) = (top + NAME, top + NAME + HEIGHT);
    let most = of.builds.iter().map(|build| build.value_ns).fold(1.0, f64::max);
    let x = |at: f64| left + width * (at + 0.5) / of.builds.len().max(1) as f64;
    let y = |value: f64| bottom - (HEIGHT - 2.0) * value / most;
    let points = of.builds.iter().enumerate().map(|(at, build)| (x(at as f64), y(build.value_ns)));
    let points: Vec<String> = points.map(|(x, y)| format!("{} {}", n(x), n(y))).collect();
    let newest = of.builds.last().map_or(String::new(), |build| short(build.value_ns));
    let room = width - 62.0;
    let mut words = lines(name, room, SMALL);
    let has_more = words.len() > 1;
    words.truncate(1);
    let words = words.concat() + if has_more { " …" } else { "" };
    html! {
        g data-builds=(of.builds.len()) data-steps=(of.steps.len()) {
            title { (name) ", newest " (newest) }
            (text(left, top - 5.0, Anchor::Start, SMALL, INK, &words))
            (text(left + width, top - 5.0, Anchor::End, SMALL, MUTED, &newest))
            (line((left, bottom), (left + width, bottom), GRID, 1.0))
            path d={ "M" (points.join("L")) } style=(Pen::number(0).solid().thin().style()) {}
            @for (from, to, level) in levels_of(of) {
                (line((x(from as f64 - 0.4), y(level)), (x(to as f64 - 0.6), y(level)), INK, 1.4))
            }
            @for step in &of.steps {
                @let colour = if step.word == ComparisonWord::Regressed { DEADLINE } else { MUTED };
                (line((x(step.at as f64 - 0.5), top), (x(step.at as f64 - 0.5), bottom), colour, 1.2))
            }
        }
    }
}
