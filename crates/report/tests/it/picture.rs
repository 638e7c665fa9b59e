//! A chart shows what the run holds: parsed again, its steps and words add up to the input.

use crate::common::svg::{attribute, elements, number};
use crate::common::{self, Fixture};
use latlab_model::Nanos;
use latlab_report::{Axis, Options, latency_picture};

/// A line of a chart as it was drawn.
struct Line {
    thread: u32,
    count: u64,
    drawn: u64,
    outside: u64,
    max: String,
    steps: Vec<PictureText>,
}

/// A step as it was drawn.
struct PictureText {
    /// Left end.
    x: f64,
    /// Vertical position.
    height: f64,
    /// Latencies per unit of width.
    density: f64,
    /// The count that its height and width represent.
    count: f64,
}

/// The heights of the grid lines for densities of one and of ten, found by their labels.
fn scale(picture: &str) -> (f64, f64) {
    let height = |name: &str| {
        let before = picture.split(&format!(">{name}</text>")).next().unwrap();
        let label = before.rsplit("<text").next().unwrap();
        assert_eq!(attribute(label, "text-anchor"), "end");
        number(label, "y") - 4.5
    };
    (height("1"), height("10"))
}

fn lines(picture: &str) -> Vec<Line> {
    let (one, ten) = scale(picture);
    let paths = elements(picture, "path").into_iter().filter(|path| path.contains("data-thread"));
    paths
        .map(|path| {
            let path = format!(" {path}\"");
            let integer = |name| attribute(&path, name).parse::<u64>().unwrap();
            Line {
                thread: integer("data-thread") as u32,
                count: integer("data-count"),
                drawn: integer("data-drawn"),
                outside: integer("data-below") + integer("data-beyond"),
                max: attribute(&path, "data-max-ns").to_string(),
                steps: steps(attribute(&path, "d"))
                    .map(|(x, end, height)| {
                        let density = 10f64.powf((one - height) / (one - ten));
                        let width = (end - x) / number(&path, "data-unit");
                        PictureText { x, height, density, count: density * width }
                    })
                    .collect(),
            }
        })
        .collect()
}

/// Both ends and the height of each step; a path going down is not followed by one to the right.
fn steps(path: &str) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
    let mut at = f64::NAN;
    path.split_inclusive(['M', 'V']).zip(path.split(['M', 'V']).skip(1)).filter_map(
        move |(way, part)| {
            if way.ends_with('M') {
                at = part.split(' ').next()?.parse().ok()?;
                return None;
            }
            let (height, end) = part.split_once('H')?;
            let from = at;
            at = end.parse().ok()?;
            Some((from, at, height.parse().ok()?))
        },
    )
}

/// The height of a line where the count is zero.
fn bottom(picture: &str) -> f64 {
    let path = elements(picture, "path").into_iter().find(|path| path.contains("data-thread"));
    let path = format!(" {}\"", path.unwrap());
    attribute(&path, "d").rsplit('V').next().unwrap().parse().unwrap_or(f64::INFINITY)
}

fn fixtures() -> Vec<(&'static str, Fixture)> {
    common::all().into_iter().chain(common::odd()).collect()
}

fn options() -> [Options; 4] {
    let base = Options::default();
    [
        base.clone(),
        Options { width: 400, plot_height: 300, ..base.clone() },
        Options { axis: Axis::log(), ..base.clone() },
        Options { axis: Axis::linear_to(Nanos(20_000)), ..base },
    ]
}

#[test]
fn everything_drawn_and_what_lies_outside_is_the_whole() {
    for (name, fixture) in fixtures() {
        for options in options() {
            let picture = latency_picture(&fixture.run, &fixture.bins(), &options);
            let lines = lines(&picture);
            assert_eq!(lines.len(), fixture.histograms.len(), "{name}");
            for line in &lines {
                let counts = &fixture.histograms[line.thread as usize];
                assert_eq!(line.count, counts.count, "{name}");
                assert_eq!(line.drawn + line.outside, counts.count, "{name}");
                // Coordinates are rounded to a hundredth of a pixel.
                let drawn = line.drawn as f64;
                let (least, most) = (drawn * 0.98, drawn * 1.02);
                let seen: f64 = line.steps.iter().map(|step| step.count).sum();
                assert!(seen >= least, "{name}: {seen}");
                // A step in a wide bin may represent less than its height of one.
                let higher = line.steps.iter().filter(|step| step.density > 1.01);
                let seen: f64 = higher.map(|step| step.count).sum();
                assert!(seen <= most, "{name}: {seen}");
            }
        }
    }
}

#[test]
fn every_latency_that_is_not_zero_is_seen() {
    for (name, fixture) in fixtures() {
        let picture = latency_picture(&fixture.run, &fixture.bins(), &Options::default());
        for line in lines(&picture) {
            assert!(line.steps.iter().all(|step| step.density > 0.98), "{name}");
            assert!(line.steps.iter().all(|step| step.count > 0.98), "{name}");
            assert!(line.steps.iter().all(|step| bottom(&picture) - step.height > 1.0), "{name}");
        }
    }
}

/// Latencies spread evenly over a wide range, so that only the drawing could create a step.
fn smooth() -> Fixture {
    let samples = (0..400_000).map(|n| (1_000.0 * 4_000f64.powf(f64::from(n) / 4e5)) as i64);
    Fixture::new(common::plan(), vec![common::histogram(samples)])
}

#[test]
fn no_step_comes_from_the_widths_of_bins() {
    let fixture = smooth();
    for axis in [Axis::log(), Axis::linear_to(Nanos(4_000_000))] {
        for width in [400, 700, 1120] {
            let options = Options { width, axis, ..Options::default() };
            let picture = latency_picture(&fixture.run, &fixture.bins(), &options);
            let line = lines(&picture).remove(0);
            for pair in line.steps[1..line.steps.len() - 1].windows(2) {
                let ratio = pair[1].density / pair[0].density;
                // A linear axis begins where this density falls fast.
                let steep = axis != Axis::log() && pair[0].x < 100.0 + f64::from(width) * 0.1;
                assert!(steep || (0.8..1.25).contains(&ratio), "{axis:?}, {width}: {ratio}");
            }
        }
    }
}

#[test]
fn maxima_are_the_runs_and_the_largest_comes_first() {
    for (name, fixture) in fixtures() {
        let picture = latency_picture(&fixture.run, &fixture.bins(), &Options::default());
        for line in lines(&picture) {
            let max = fixture.run.threads[line.thread as usize].summary.max_ns;
            assert_eq!(line.max, max.map(|max| max.0.to_string()).unwrap_or_default(), "{name}");
        }
        let mut maxima: Vec<_> =
            fixture.run.threads.iter().map(|thread| thread.summary.max_ns).collect();
        maxima.sort();
        let named: Vec<&str> = picture.split("observed maximum ").skip(1).collect();
        if let Some(largest) = maxima.last().copied().flatten() {
            let said =
                |most: i64| Nanos(largest.0.saturating_add(most / 2) / most * most).to_string();
            let mut rounded = (0..17).map(|power| said(10i64.pow(power)));
            assert!(rounded.any(|said| named[0].starts_with(&said)), "{name}");
        }
    }
}

#[test]
fn what_is_beyond_the_axis_is_said_in_words() {
    let (_, fixture) = common::odd().into_iter().find(|(name, _)| *name == "beyond").unwrap();
    let options = Options { axis: Axis::linear_to(Nanos(100_000)), ..Options::default() };
    let picture = latency_picture(&fixture.run, &fixture.bins(), &options);
    let beyond = fixture.histograms[0].rows();
    let beyond: u64 =
        beyond.iter().filter(|bin| bin.low_ns >= Nanos(100_000)).map(|bin| bin.count).sum();
    assert!(beyond >= 3);
    assert!(picture.contains(&format!("{beyond} beyond 100 us")));
    assert!(picture.contains("up to 310.5 us"));
}

#[test]
fn a_picture_has_alternative_text_and_no_number_that_is_none() {
    for (name, fixture) in fixtures() {
        for options in options() {
            let picture = latency_picture(&fixture.run, &fixture.bins(), &options);
            assert!(
                picture.contains("role=\"img\" aria-labelledby=\"latency-title latency-desc\"")
            );
            assert!(picture.contains("<title id=\"latency-title\">"), "{name}");
            assert!(picture.contains("<desc id=\"latency-desc\">"), "{name}");
            for wrong in ["NaN", "inf", "--"] {
                let drawn = picture.replace("var(--ll-", "");
                assert!(!drawn.contains(wrong), "{name}: {wrong}");
            }
            let again = latency_picture(&fixture.run, &fixture.bins(), &options);
            assert_eq!(picture, again);
        }
    }
}

#[test]
fn a_host_may_have_any_name() {
    let mut fixture = common::normal();
    fixture.run.machine.hostname = Some("a<b>&\"c\u{1}\u{0}".into());
    let picture = latency_picture(&fixture.run, &fixture.bins(), &Options::default());
    assert!(picture.contains("a&lt;b&gt;&amp;&quot;c"));
    assert!(!picture.contains(|c: char| c.is_control()));
}
