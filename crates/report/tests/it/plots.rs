//! Every kind of chart, of one run and of several: compared with snapshots, and parsed and checked
//! against the run.

use crate::common::svg::{attribute, elements, number};
use crate::common::{self, Fixture};
use latlab_model::{Nanos, ThreadBins};
use latlab_report::{Axis, Kind, Options, RunWithBins, Spacing, plot};
use latlab_stats::{latencies_needed, quantile};

/// The chart of these fixtures.
fn picture(fixtures: &[&Fixture], kind: Kind, options: &Options) -> String {
    let bins: Vec<Vec<ThreadBins>> = fixtures.iter().map(|fixture| fixture.bins()).collect();
    let runs = fixtures.iter().zip(&bins);
    let runs: Vec<RunWithBins> =
        runs.map(|(fixture, bins)| RunWithBins { run: &fixture.run, bins }).collect();
    plot(&runs, kind, options)
}

fn options(kind: Kind) -> Options {
    Options { id: kind.as_str().to_string(), ..Options::default() }
}

fn all() -> Vec<(&'static str, Fixture)> {
    common::all().into_iter().chain(common::odd()).collect()
}

fn named(name: &str) -> Fixture {
    let (_, fixture) = all().into_iter().find(|(found, _)| *found == name).unwrap();
    fixture
}

/// The elements of a picture with this attribute, for further queries.
fn with(picture: &str, name: &str, key: &str) -> Vec<String> {
    let found = elements(picture, name).into_iter().map(|element| format!(" {element}\""));
    found.filter(|element| element.contains(&format!(" {key}=\""))).collect()
}

/// Every line of text with its position.
fn texts(picture: &str) -> Vec<(f64, f64, String)> {
    let texts = picture.split("<text ").skip(1);
    texts
        .map(|rest| {
            let (element, content) = rest.split_once('>').unwrap();
            let element = format!(" {element}");
            let words = content.split("</text>").next().unwrap().to_string();
            (number(&element, "x"), number(&element, "y"), words)
        })
        .collect()
}

/// The vertical position of a label on the left axis.
fn height_of(picture: &str, name: &str) -> f64 {
    let all = texts(picture);
    let (_, y, _) = all.iter().find(|(x, _, words)| words == name && *x < 71.0).expect(name);
    y - 13.0 * 0.35
}

#[test]
fn every_kind_is_golden() {
    for kind in Kind::ALL.iter().copied() {
        for name in ["board", "empty", "one-sample", "all-equal", "hours"] {
            let picture = picture(&[&named(name)], kind, &options(kind));
            let golden = picture.replace("><", ">\n<");
            insta::assert_snapshot!(format!("{}-{name}", kind.as_str()), golden);
        }
        let (one, other) = (common::normal(), common::invalid());
        let picture = picture(&[&one, &other], kind, &options(kind));
        insta::assert_snapshot!(format!("{}-two", kind.as_str()), picture.replace("><", ">\n<"));
    }
    let many = picture(&[&common::many()], Kind::Cpus, &options(Kind::Cpus));
    insta::assert_snapshot!("cpus-many", many.replace("><", ">\n<"));
}

#[test]
fn every_picture_has_words_and_no_number_that_is_none() {
    let ranges = [
        Axis::default(),
        Axis { spacing: Spacing::Log, from: Some(Nanos(6_000)), to: Some(Nanos(40_000)) },
        Axis { spacing: Spacing::Auto, from: Some(Nanos(8_000)), to: None },
    ];
    for (name, fixture) in all() {
        for kind in Kind::ALL.iter().copied() {
            for (axis, width) in ranges.into_iter().zip([960, 400, 280]) {
                let options = Options { axis, width, ..options(kind) };
                // At full width, also draw the run twice, as two runs that do not differ.
                let first = width == 960;
                for fixtures in
                    [vec![&fixture], vec![&fixture; 2]].into_iter().take(1 + usize::from(first))
                {
                    let drawn = picture(&fixtures, kind, &options);
                    let told = format!("{name} as {}", kind.as_str());
                    let ids = format!("aria-labelledby=\"{0}-title {0}-desc\"", kind.as_str());
                    assert!(drawn.contains(&ids), "{told}");
                    for part in ["title", "desc"] {
                        let text = drawn.split(&format!("<{part} id=")).nth(1).expect(part);
                        assert!(text.split('<').next().unwrap().len() > 40, "{told}");
                    }
                    let plain = drawn.replace("var(--ll-", "");
                    for wrong in ["NaN", "inf", "--"] {
                        assert!(!plain.contains(wrong), "{told}: {wrong}");
                    }
                    assert!(!drawn.to_lowercase().contains("worst"));
                    if first {
                        assert_eq!(drawn, picture(&fixtures, kind, &options), "{told}");
                    }
                }
            }
        }
    }
}

/// Invariant (pictures): Pictures show what is stored: counts, maxima, shares, heights.
#[test]
fn counts_and_maxima_are_those_of_the_run() {
    for (name, fixture) in all() {
        let has_lines = |kind: &Kind| !matches!(kind, Kind::Tail | Kind::Boxes);
        for kind in Kind::ALL.iter().copied().filter(has_lines) {
            let picture = picture(&[&fixture], kind, &options(kind));
            let by_thread = matches!(kind, Kind::Latency | Kind::Cpus | Kind::Overlay);
            let key = if by_thread { "thread" } else { "line" };
            let key = format!("data-{key}");
            let lines = with(&picture, "path", &key);
            assert_eq!(lines.len(), fixture.histograms.len(), "{name} as {}", kind.as_str());
            for line in lines {
                let thread: usize = attribute(&line, &key).parse().unwrap();
                let counts = &fixture.histograms[thread];
                assert_eq!(number(&line, "data-count") as u64, counts.count, "{name}");
                let max = (counts.count > 0).then(|| counts.max_ns.0.to_string());
                assert_eq!(attribute(&line, "data-max-ns"), max.unwrap_or_default(), "{name}");
            }
        }
    }
}

/// Invariant (pictures): Pictures show what is stored: counts, maxima, shares, heights.
#[test]
fn bars_are_as_high_as_their_latencies_and_hollow_where_they_are_not_supported() {
    let fixture = named("board");
    for axis in [Axis::linear_to(Nanos(200_000)), Axis::log()] {
        let options = Options { axis, ..options(Kind::Tail) };
        let picture = picture(&[&fixture], Kind::Tail, &options).replace('\u{a0}', " ");
        let (low, high) = match axis.spacing {
            Spacing::Linear => ("0", "200"),
            _ => ("10 us", "100 us"),
        };
        let (low, high) = (height_of(&picture, low), height_of(&picture, high));
        let bars = with(&picture, "rect", "data-group");
        assert_eq!(bars.len(), 4 * 10);
        for bar in bars {
            let counts = &fixture.histograms[number(&bar, "data-line") as usize];
            let value = number(&bar, "data-ns");
            let at = match axis.spacing {
                Spacing::Linear => value / 200_000.0,
                _ => (value / 10_000.0).log10(),
            };
            let expected = low + at * (high - low);
            let y = number(&bar, "y");
            // Coordinates are rounded to a hundredth of a pixel, and the grid is found by its
            // labels.
            assert!((y - expected).abs() < 0.1, "{bar}: {y} and not {expected}");
            let (wanted, needed) = match attribute(&bar, "data-group") {
                "mean" => (counts.mean_ns().unwrap(), 0),
                "maximum" => (counts.max_ns.0 as f64, 0),
                quantile_of => {
                    let share: f64 = quantile_of.trim_end_matches(" %").parse().unwrap();
                    let millionths = (share * 1e4).round() as u32;
                    let value = quantile(counts, millionths).unwrap().0 as f64;
                    (value, latencies_needed(millionths))
                }
            };
            assert!(value >= wanted - 0.01 && value <= wanted + 100.0, "{bar}: {wanted}");
            let full = counts.count >= needed;
            assert_eq!(attribute(&bar, "data-state") == "full", full, "{bar}");
        }
        assert!(picture.contains(
            "99.999 % needs 368 887, 99.9999 % needs 3 688 878; this chart has 300 000."
        ));
        assert!(!picture.contains("99.99 % needs"));
    }
}

/// The corners of a path of horizontal and vertical lines.
fn corners(path: &str) -> Vec<(f64, f64)> {
    let (start, rest) = path[1..].split_at(path[1..].find(['H', 'V']).unwrap());
    let (x, y) = start.split_once(' ').unwrap();
    let mut at: (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
    let mut corners = vec![at];
    let mut rest = rest;
    while let Some(way) = rest.chars().next() {
        let end = rest[1..].find(['H', 'V']).map_or(rest.len(), |end| end + 1);
        let value: f64 = rest[1..end].parse().unwrap();
        at = if way == 'H' { (value, at.1) } else { (at.0, value) };
        corners.push(at);
        rest = &rest[end..];
    }
    corners
}

/// Invariant (pictures): Pictures show what is stored: counts, maxima, shares, heights.
#[test]
fn shares_are_those_of_the_run_and_end_at_one_latency() {
    let fixture = named("board");
    let counts = &fixture.histograms[0];
    let line = |picture: &str| {
        let lines = with(picture, "path", "data-line");
        lines.into_iter().find(|line| attribute(line, "data-line") == "0").unwrap()
    };
    let cumulative = picture(&[&fixture], Kind::Cdf, &options(Kind::Cdf));
    let (none, all) = (height_of(&cumulative, "0 %"), height_of(&cumulative, "100 %"));
    let path = corners(attribute(&line(&cumulative), "d"));
    assert!((path[0].1 - none).abs() < 0.02 && (path.last().unwrap().1 - all).abs() < 0.02);
    assert!(path.windows(2).all(|pair| pair[0].1 >= pair[1].1 && pair[0].0 <= pair[1].0));
    // Between two grid lines, the chart shows as many latencies as there are.
    let median = quantile(counts, 500_000).unwrap();
    let right = path.iter().find(|(_, y)| (none - y) / (none - all) >= 0.5).unwrap().0;
    let tick = |name: &str| {
        let all = texts(&cumulative);
        all.into_iter().find(|(_, y, words)| words == name && *y > none + 10.0).unwrap().0
    };
    let (zero, twenty) = (tick("0"), tick("20"));
    let drawn = (right - zero) / (twenty - zero) * 20_000.0;
    assert!((drawn - median.0 as f64).abs() < 300.0, "{drawn} and not {median}");

    let complementary = picture(&[&fixture], Kind::Ccdf, &options(Kind::Ccdf));
    let (tenth, thousandth) =
        (height_of(&complementary, "0.1"), height_of(&complementary, "0.001"));
    let drawn = line(&complementary);
    let path = corners(attribute(&drawn, "d"));
    let share = |y: f64| 10f64.powf(-1.0 - 2.0 * (y - tenth) / (thousandth - tenth));
    let last = share(path.last().unwrap().1) * counts.count as f64;
    assert!((last - 1.0).abs() < 0.01, "{last}");
    assert!(path.windows(2).all(|pair| pair[0].1 <= pair[1].1 && pair[0].0 <= pair[1].0));
    assert!(complementary.contains("data-zone=\"300000\""));
    // Both end at the maximum.
    assert_eq!(attribute(&drawn, "data-max-ns"), counts.max_ns.0.to_string());
}

/// Invariant (pictures): Pictures show what is stored: counts, maxima, shares, heights.
#[test]
fn what_a_range_leaves_out_is_told() {
    let fixture = named("beyond");
    let counts = &fixture.histograms[0].rows();
    let axis = Axis { spacing: Spacing::Auto, from: Some(Nanos(11_000)), to: Some(Nanos(100_000)) };
    let beyond = counts.iter().filter(|bin| bin.low_ns >= Nanos(100_000));
    let beyond: u64 = beyond.map(|bin| bin.count).sum();
    let below: u64 =
        counts.iter().filter(|bin| bin.high_ns <= Nanos(11_000)).map(|bin| bin.count).sum();
    assert!(beyond >= 3 && below > 1_000);
    let below = latlab_report::units::grouped(below);
    // Box plots state their ends in words, independent of the drawing.
    for kind in Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Boxes) {
        let picture = picture(&[&fixture], kind, &Options { axis, ..options(kind) });
        let plain = picture.replace('\u{a0}', " ");
        let tail = kind == Kind::Tail;
        let told = if tail { "Beyond 100 us: ".into() } else { format!("{beyond} beyond 100 us") };
        assert!(plain.contains(&told), "{}", kind.as_str());
        assert!(plain.contains("up to 310.5 us"), "{}", kind.as_str());
        assert!(tail || plain.contains(&below), "{}", kind.as_str());
    }
}

#[test]
fn several_runs_are_named_by_what_they_differ_in() {
    let fixtures = |change: fn(&mut Fixture)| {
        let (one, mut other) = (common::normal(), common::normal());
        change(&mut other);
        picture(&[&one, &other], Kind::Cdf, &options(Kind::Cdf)).replace('\u{a0}', " ")
    };
    let names = fixtures(|other| other.run.asked.name = "load".into());
    assert!(names.contains(">idle: observed maximum"), "names alone tell them apart");
    assert!(names.contains(">load: observed maximum"));
    let kernels = fixtures(|other| other.run.machine.kernel = "6.18.5-rt1".into());
    assert!(kernels.contains(">idle, 6.18.5-rt1 PREEMPT_DYNAMIC: observed maximum"));
    let hosts = fixtures(|other| other.run.machine.hostname = Some("pi".into()));
    assert!(hosts.contains(">idle, pi: observed maximum"));
    let same = fixtures(|_| ());
    assert!(same.contains(">2026-11-21T16-04-30Z_idle: observed maximum"));
}

#[test]
fn a_cpu_of_many_has_its_place_and_its_maximum() {
    let fixture = common::many();
    let picture = picture(&[&fixture], Kind::Cpus, &options(Kind::Cpus));
    let all = texts(&picture);
    let places: Vec<(f64, f64)> = (0..128)
        .map(|cpu| {
            let max = fixture.run.threads[cpu].summary.max_ns.unwrap();
            let words = [format!("CPU {cpu}: maximum {max}"), format!("CPU {cpu}: ")];
            let found = all.iter().find(|(_, _, text)| words.iter().any(|w| text.starts_with(w)));
            let (x, y, _) = found.expect("one small chart for each CPU");
            (*y, *x)
        })
        .collect();
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "sorted by CPU, row by row");
}

/// Invariant (pictures): Names of neighbouring charts do not run into each other.
#[test]
fn the_last_name_of_a_small_chart_ends_before_the_next_one_begins() {
    let mut random = common::Random(9);
    for cpus in 2..=9 {
        let spread = |random: &mut common::Random| {
            (0..4_000).map(|_| random.latency(6_000.0, 6_000.0)).collect::<Vec<_>>()
        };
        let histograms = (0..cpus).map(|_| common::histogram(spread(&mut random))).collect();
        let fixture = Fixture::new(common::plan(), histograms);
        let ends = |width: u32| [40_000, 9_999_000, 1_000_000_000].map(|to| (width, to));
        for (width, to) in (400..1700).step_by(90).flat_map(ends) {
            let axis = match to {
                1_000_000_000 => latlab_report::Axis {
                    to: Some(latlab_model::Nanos(to)),
                    from: Some(latlab_model::Nanos(1_000)),
                    ..latlab_report::Axis::log()
                },
                to => latlab_report::Axis::linear_to(latlab_model::Nanos(to)),
            };
            let picture =
                picture(&[&fixture], Kind::Cpus, &Options { width, axis, ..options(Kind::Cpus) });
            let mut names = texts(&picture);
            // Labels of the latency axis are numbers; those of the vertical axis stand left of
            // everything.
            let is_number = |text: &str| {
                let units = [" us", " ms", " s"];
                let number = units.iter().find_map(|unit| text.strip_suffix(unit));
                number.unwrap_or(text).chars().all(|c| c.is_ascii_digit() || ". ".contains(c))
            };
            names.retain(|(x, _, text)| *x > 68.0 && is_number(text));
            names.sort_by(|a, b| (a.1, a.0).partial_cmp(&(b.1, b.0)).unwrap());
            for pair in names.windows(2).filter(|pair| pair[0].1 == pair[1].1) {
                let half = |text: &str| text.chars().count() as f64 * 11.0 * 0.5 / 2.0;
                let room = pair[1].0 - half(&pair[1].2) - pair[0].0 - half(&pair[0].2);
                assert!(room > 1.0, "{cpus} CPUs, {width} px, to {to}: {pair:?}");
            }
        }
    }
}

#[test]
fn a_host_may_have_any_name() {
    let mut fixture = common::normal();
    fixture.run.machine.hostname = Some("a<b>&\"c\u{1}\u{0}".into());
    fixture.run.asked.name = "<svg>".into();
    for kind in Kind::ALL.iter().copied() {
        let picture = picture(&[&fixture, &common::normal()], kind, &options(kind));
        assert!(!picture.contains("<b>") && picture.matches("<svg").count() == 1);
        assert!(!picture.contains(|c: char| c.is_control()), "{}", kind.as_str());
    }
}

/// Writes the charts to a folder, for viewing in a browser.
#[test]
fn plots_to_look_at() {
    let Some(folder) = std::env::var_os("LATLAB_REPORT_LOOK") else { return };
    let folder = std::path::PathBuf::from(folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (name, fixture) in all() {
        for kind in Kind::ALL.iter().copied() {
            for width in [960, 400] {
                let plot_height = if width < 600 { 300 } else { 400 };
                let options = Options { width, plot_height, ..options(kind) };
                let file = format!("{}-{name}-{width}.svg", kind.as_str());
                std::fs::write(folder.join(file), picture(&[&fixture], kind, &options)).unwrap();
            }
        }
    }
}
