//! Every word that a reader of a run sees, for handmade runs.

use crate::common::{self, Fixture};
use latlab_digest::window::{LargeLatency, Window, WindowThread};
use latlab_model::finding::{ConditionFinding, ImportFinding};
use latlab_model::run::{EndReason, Finding, StoredFile};
use latlab_model::{Nanos, Run};
use latlab_report::{Options, Style, latency_picture, list, markdown, show, window};

const PLAIN: Style = Style { colour: false };

#[test]
fn the_terminal_says_what_a_run_was() {
    for (name, fixture) in common::all() {
        for width in [80, 160] {
            let text = show(&fixture.run, "", width, PLAIN);
            insta::assert_snapshot!(format!("show-{name}-{width}"), text);
        }
    }
}

#[test]
fn no_line_of_the_terminal_is_too_wide() {
    for (name, fixture) in common::all().into_iter().chain(common::odd()) {
        for width in [80, 100, 120, 160] {
            let text = show(&fixture.run, "", width, PLAIN);
            // The command to repeat a run stays on one line, to be copied.
            for line in text.lines().filter(|line| !line.contains("latlab run")) {
                assert!(line.chars().count() <= width, "{name} at {width}: {line}");
            }
        }
    }
}

/// The tenth and eleventh second of a run, with its figures.
fn stretch(run: &Run) -> Window {
    let first = run.threads.first().map_or(Nanos::ZERO, |one| one.setup.first_release_ns);
    let large = |rank: u32| {
        let micros = 123_456 * rank;
        LargeLatency {
            time: format!("2026-11-21T16:04:42.{micros:06}Z"),
            thread: rank % 2,
            cpu: (rank != 3).then_some(rank % 2),
            release_ns: first + Nanos(11_000_000_000) + Nanos(1_000) * micros.into(),
            latency_ns: Nanos(214_417 / i64::from(rank)),
            latency_ps: None,
        }
    };
    let thread = |one: &latlab_model::run::ThreadRun| WindowThread {
        thread: one.setup.thread,
        cpu: one.setup.cpu,
        summary: one.summary.clone(),
    };
    Window {
        run: run.id.clone(),
        from_ns: first + Nanos(10_000_000_000),
        to_ns: first + Nanos(12_500_000_000),
        from: "2026-11-21T16:04:41.204000Z".into(),
        to: "2026-11-21T16:04:43.704000Z".into(),
        threads: run.threads.iter().map(thread).collect(),
        total: run.total.clone(),
        responses: None,
        largest: if run.total.max_ns.is_some() { (1..=4).map(large).collect() } else { vec![] },
    }
}

#[test]
fn a_window_looks_like_the_run() {
    for (name, fixture) in common::all() {
        for width in [80, 160] {
            let text = window(&fixture.run, &stretch(&fixture.run), width, PLAIN);
            insta::assert_snapshot!(format!("window-{name}-{width}"), text);
        }
    }
}

#[test]
fn no_line_of_a_window_is_too_wide_and_colour_only_adds_marks() {
    for (name, fixture) in common::all().into_iter().chain(common::odd()) {
        let stretch = stretch(&fixture.run);
        for width in [80, 100, 120, 160] {
            let text = window(&fixture.run, &stretch, width, PLAIN);
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{name} at {width}: {line}");
            }
            let coloured = window(&fixture.run, &stretch, width, Style { colour: true });
            assert_eq!(without_colour(&coloured), text);
        }
    }
}

#[test]
fn missed_releases_are_not_known_where_samples_were_lost_and_not_defined_without_releases() {
    let shown = |fixture: &Fixture| {
        let mut stretch = stretch(&fixture.run);
        let threads = stretch.threads.iter_mut().map(|thread| &mut thread.summary);
        threads.chain([&mut stretch.total]).for_each(|summary| summary.overruns = None);
        window(&fixture.run, &stretch, 120, PLAIN)
    };
    let lost = shown(&common::normal());
    assert!(lost.contains("not known") && !lost.contains("not defined"), "{lost}");
    let relative = shown(&common::relative());
    assert!(relative.contains("not defined") && !relative.contains("not known"), "{relative}");
}

#[test]
fn a_run_says_how_many_samples_it_stored() {
    let mut fixture = common::normal();
    assert!(!show(&fixture.run, "", 80, PLAIN).contains("samples stored"));
    let file = StoredFile { bytes: 216_650, sha256: String::new() };
    fixture.run.files.insert("samples.parquet".into(), file);
    let text = show(&fixture.run, "", 80, PLAIN);
    assert!(text.contains("\n120 360 samples stored, in 1.80 bytes each"), "{text}");
    fixture.run.losses.samples = 360;
    fixture.run.threads[0].end = None;
    let text = show(&fixture.run, "", 80, PLAIN);
    assert!(text.contains("\nAbout 120 000 samples stored, in about 1.81 bytes each"), "{text}");
}

#[test]
fn the_list_has_a_line_for_each_run() {
    let all = common::all();
    let entries: Vec<&Run> = all.iter().map(|(_, fixture)| &fixture.run).collect();
    for width in [80, 120] {
        insta::assert_snapshot!(format!("list-{width}"), list(&entries, width, PLAIN));
    }
    insta::assert_snapshot!("list-none", list(&[], 80, PLAIN));
}

/// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
#[test]
fn a_narrow_list_has_every_run_and_its_verdict() {
    let long = "2026-11-21T16-04-30Z_a-run-with-a-name-that-is-longer-than-a-line-of-the-list-00";
    let fixtures = common::all();
    let narrow: Vec<&Run> = fixtures.iter().map(|(_, fixture)| &fixture.run).collect();
    let with_long_name = Run { id: long.to_string(), ..narrow[0].clone() };
    let all: Vec<&Run> = narrow.iter().copied().chain([&with_long_name]).collect();
    for (entries, width) in (20..=200).flat_map(|width| [(&all, width), (&narrow, width)]) {
        let text = list(entries, width, PLAIN);
        for entry in entries {
            let mut words = entry.id.split(' ');
            assert!(words.all(|word| text.contains(word)), "{width}: {}\n{text}", entry.id);
            let verdict = entry.verdict.as_ref().map_or("-", |verdict| verdict.word.as_str());
            let from = text.find(entry.id.split(' ').next().unwrap()).unwrap();
            assert!(text[from..].contains(verdict), "{width}: {verdict}\n{text}");
        }
        let verdicts = entries.iter().filter(|entry| entry.verdict.is_some()).count();
        let words = text.split_whitespace().filter(|word| ["pass", "invalid"].contains(word));
        assert_eq!(words.count(), verdicts, "{width}:\n{text}");
        let fitting = text.lines().all(|line| line.chars().count() <= width.max(long.len()));
        assert!(fitting, "{width}:\n{text}");
    }
}

#[test]
fn colour_only_adds_marks() {
    for (_, fixture) in common::all() {
        let coloured = show(&fixture.run, "", 100, Style { colour: true });
        assert!(coloured.contains('\u{1b}'));
        assert_eq!(without_colour(&coloured), show(&fixture.run, "", 100, PLAIN));
    }
}

fn without_colour(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
}

#[test]
fn the_page_is_golden_but_for_its_pictures() {
    for (name, fixture) in common::all() {
        let page = common::page(&fixture);
        insta::assert_snapshot!(format!("page-{name}"), without_pictures_and_style(&page));
    }
}

#[test]
fn the_picture_is_golden() {
    for (name, fixture) in [("normal", common::normal()), ("empty", common::empty())] {
        let picture = latency_picture(&fixture.run, &fixture.bins(), &Options::default());
        insta::assert_snapshot!(format!("picture-{name}"), picture.replace("><", ">\n<"));
    }
}

#[test]
fn a_stream_that_broke_off_may_have_lost_something() {
    let mut fixture = common::normal();
    assert!(show(&fixture.run, "", 80, PLAIN).contains("Nothing was lost"));
    fixture.run.ended = EndReason::Lost;
    for text in [common::page(&fixture), show(&fixture.run, "", 160, PLAIN)] {
        assert!(!text.contains("Nothing was lost"));
        assert!(text.contains("Up to about a second of data was lost"));
    }
}

#[test]
fn missing_readings_are_no_reason_to_say_that_nothing_was_lost() {
    let mut fixture = common::normal();
    let lost = ConditionFinding::TelemetryLost { readings: 3 };
    fixture.run.findings.push(Finding::new(lost));
    for text in [common::page(&fixture), show(&fixture.run, "", 160, PLAIN), markdown(&fixture.run)]
    {
        assert!(!text.contains("Nothing was lost"), "{text}");
        assert!(text.contains("No latency was lost; other readings are missing"), "{text}");
    }
}

#[test]
fn an_incomplete_file_is_told_beside_its_maximum() {
    let mut fixture = common::normal();
    let missing = "its footer is not there".to_string();
    fixture.run.findings.push(Finding::new(ImportFinding::ImportIncomplete { missing }));
    for text in [common::page(&fixture), show(&fixture.run, "", 160, PLAIN), markdown(&fixture.run)]
    {
        assert!(!text.contains("Nothing was lost"), "{text}");
        assert!(text.contains("The file does not have every value"), "{text}");
        assert!(text.contains("larger values may be missing"), "{text}");
    }
}

#[test]
fn no_line_of_the_terminal_ends_between_a_number_and_its_unit() {
    for (name, fixture) in common::all() {
        for width in 80..160 {
            let text = show(&fixture.run, "", width, PLAIN);
            let lines: Vec<&str> = text.lines().collect();
            // The head of the table stands above its units.
            for pair in lines.windows(2).filter(|pair| !pair[0].starts_with("thread  cpu")) {
                let number = pair[0].ends_with(|c: char| c.is_ascii_digit());
                let word = pair[1].trim_start().split([' ', ')', '.', ',']).next();
                let parted = ["%", "s", "ms", "us", "ns"].contains(&word.unwrap_or_default());
                assert!(!(number && parted), "{name} at {width}: {pair:?}");
            }
        }
    }
}

#[test]
fn commands_repeat_their_runs() {
    let commands: Vec<String> =
        common::all().iter().map(|(_, fixture)| fixture.run.asked.repeat().to_string()).collect();
    insta::assert_snapshot!("commands", commands.join("\n"));
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    for (_, fixture) in common::all().into_iter().chain(common::odd()) {
        let page = common::page(&fixture);
        // tests/lab/page.sh checks in a browser what scripts need.
        let page = cut(&page, "<script", "</script>").replace("http://www.w3.org/2000/svg", "");
        // The page embeds the font of the charts.
        let page = page.replace("url(data:font/woff2;base64,", "");
        for word in ["http:", "https:", "src=", "url(", "@import", "<link"] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(!page.to_lowercase().contains("worst"));
    }
}

/// Invariant (page and server): No text of a run ends its data or becomes part of the page.
#[test]
fn no_text_of_a_run_ends_its_data() {
    let mut fixture = common::normal();
    fixture.run.asked.note = Some("</script><b id=stray>é\u{202e}<!--".into());
    fixture.run.asked.name = "</SCRIPT >".into();
    let page = common::page(&fixture);
    assert!(!page.contains("</script><b") && !page.contains("</SCRIPT"), "it ends a script");
    let json = page.split_once("id=\"document\">").unwrap().1.split_once("</script>").unwrap().0;
    assert!(json.is_ascii());
    let carried: Run = serde_json::from_str(json).unwrap();
    assert_eq!(carried, fixture.run);
}

#[test]
fn every_anchor_of_a_page_of_several_runs_leads_somewhere() {
    let other = Fixture::new(common::plan(), vec![]);
    let page = common::pages(&[&common::normal(), &other]);
    let ids: Vec<&str> = attributes(&page, " id=\"");
    let known: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(known.len(), ids.len(), "an id is there twice");
    for anchor in attributes(&page, " href=\"#") {
        assert!(known.contains(anchor), "{anchor}");
    }
    for labels in attributes(&page, " aria-labelledby=\"") {
        assert!(labels.split(' ').all(|label| known.contains(label)), "{labels}");
    }
    assert_eq!(page.matches("<h1").count(), 1);
}

fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    page.split(name).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// Writes the pages to a folder, for viewing in a browser.
#[test]
fn pages_to_look_at() {
    let Some(folder) = std::env::var_os("LATLAB_REPORT_LOOK") else { return };
    let folder = std::path::PathBuf::from(folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (name, fixture) in common::all().into_iter().chain(common::odd()) {
        write_look(&folder, name, &fixture);
    }
}

fn write_look(folder: &std::path::Path, name: &str, fixture: &Fixture) {
    let page = common::page(fixture);
    std::fs::write(folder.join(format!("{name}.html")), page).unwrap();
    let picture = latency_picture(&fixture.run, &fixture.bins(), &Options::default());
    std::fs::write(folder.join(format!("{name}.svg")), picture).unwrap();
}

fn without_pictures_and_style(page: &str) -> String {
    let page = cut(page, "<svg", "</svg>");
    let page = cut(&page, "<style>", "</style>");
    // The script exists only if npm was available; the data has its own tests.
    cut(&page.replace("<script id=\"script\">", "<script>"), "<script", "</script>")
        .replace("[…]</body>", "</body>")
        .replace("><", ">\n<")
}

fn cut(text: &str, from: &str, to: &str) -> String {
    let mut parts = text.split(from);
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + "[…]" + part.split_once(to).unwrap().1)
}
