//! What a file does not contain: maxima that are "at least", quantiles "above" the end of the bins,
//! and why a run does not pass.

use crate::common::svg::{attribute, elements};
use crate::common::{self, Fixture};
use latlab_model::finding::{Finding, ImportFinding};
use latlab_model::import::{Import, ImportFact};
use latlab_model::plan::{Method, Until};
use latlab_model::run::{VerdictReason, VerdictWord};
use latlab_model::{BinLayout, Histogram, Nanos, Plan};
use latlab_report::test_suite::of_run;
use latlab_report::{
    Glyphs, Kind, Options, PictureSize, RunTable, RunWithBins, Style, histogram, list, markdown,
    markdown_list, plot, rendered, show, summarise,
};

const PLAIN: Style = Style { colour: false };

/// An imported run of these latencies in bins of 1 us up to 400 us.
fn imported(latencies: impl IntoIterator<Item = i64>, facts: Vec<ImportFact>) -> Fixture {
    let layout = BinLayout::equal(Nanos::ZERO, Nanos(1_000), 400).unwrap();
    let counts = Histogram::with_layout(layout, latencies.into_iter().map(Nanos));
    let import = Import {
        file: "hist.txt".to_string(),
        format: "cyclictest histogram".to_string(),
        quantity: "wake-up latency".to_string(),
        facts,
        ..Import::default()
    };
    let plan = Plan {
        name: "hist".to_string(),
        method: Method::Import(Box::new(import)),
        until: Until { deadline_ns: Some(Nanos(2_000_000)), ..common::plan().until },
        ..common::plan()
    };
    let mut fixture = Fixture::new(plan.clone(), vec![counts.clone()]);
    let summary = latlab_stats::summary(&plan, &counts, None);
    fixture.run.threads[0].summary = summary.clone();
    fixture.run.total = summary;
    fixture.run.measured_ns = Nanos::ZERO;
    fixture.run.agent = None;
    fixture
}

/// Half of the latencies lie beyond the last bin, up to 1.28 ms.
fn overflowing() -> Fixture {
    let latencies =
        (0..2_000).map(|at| if at < 1_000 { 12_000 + at } else { 400_000 + 880 * (at - 999) });
    let mut fixture = imported(latencies, Vec::new());
    fixture.run.total.max_ns = Some(Nanos(1_280_000));
    fixture.run.threads[0].summary.max_ns = Some(Nanos(1_280_000));
    let finding = ImportFinding::ImportOverflow {
        count: 1_000,
        end_ns: Nanos(400_000),
        largest_ns: Some(Nanos(1_280_000)),
        stated_mean_ns: None,
    };
    fixture.run.findings.push(Finding::new(finding).of_thread(0));
    common::verdict(&mut fixture.run, VerdictWord::Pass, None);
    fixture
}

/// A file with an unreadable line.
fn damaged() -> Fixture {
    let mut fixture = imported((0..999).map(|at| 12_000 + 40 * at), Vec::new());
    let finding = Finding::new(ImportFinding::ImportLeftOut {
        count: 1,
        items: "lines".to_string(),
        first_line: Some(4),
        first: "0004x0 000009".to_string(),
    });
    fixture.run.findings.push(finding.clone());
    fixture.run.total.max_is_at_least = true;
    fixture.run.threads[0].summary.max_is_at_least = true;
    let reason = VerdictReason::PassForbidden { finding, others: 0 };
    common::verdict(&mut fixture.run, VerdictWord::Inconclusive, Some(reason));
    fixture
}

fn summary_of(fixture: &Fixture) -> String {
    let size = PictureSize::brief(&fixture.run, 160);
    let picture = histogram(&fixture.run, &fixture.bins(), size, Glyphs::Unicode);
    summarise(&fixture.run, &picture, 160, PLAIN)
}

const WHY: &str = "1 line that may hold latencies could not be read: line 4: '0004x0 000009'";

#[test]
fn the_reason_against_a_pass_is_in_every_output() {
    let fixture = damaged();
    let run = &fixture.run;
    let entries = [run];
    let json = serde_json::to_string(&rendered(run)).unwrap();
    let suite = of_run(run);
    let table = RunTable::new(vec![run, run]);
    for text in [
        summary_of(&fixture),
        show(run, "", 160, PLAIN),
        markdown(run),
        list(&entries, 160, PLAIN),
        markdown_list(&entries),
        suite.junit(),
        suite.ktap(),
        suite.lava(),
        json,
    ] {
        let text = text.replace("&apos;", "'").replace("&#39;", "'").replace("\\'", "'");
        assert!(text.contains(WHY), "{text}");
    }
    let page = common::page(&fixture).replace(['\u{a0}', '\u{202f}'], " ");
    assert!(page.contains("1 line that may hold latencies could not be read"), "{page}");
    let compared = latlab_report::wrapped(&table.text(160, PLAIN), 10_000, 0);
    assert!(compared.contains(WHY), "{compared}");
    let headline = summary_of(&fixture);
    let headline = headline.replace("\n  ", " ").replace('\n', " ");
    assert!(
        headline.starts_with(&format!(
            "INCONCLUSIVE: none of 999 latencies missed the 2 ms deadline, but {WHY}; the largest took \
             at least 51.9 us."
        )),
        "{headline}"
    );
}

#[test]
fn the_maximum_of_an_incomplete_file_is_at_least() {
    let fixture = damaged();
    let run = &fixture.run;
    for text in [show(run, "", 160, PLAIN), markdown(run), common::page(&fixture)] {
        assert!(text.contains(">=51.92") || text.contains("&gt;=51.92"), "{text}");
        assert!(!text.contains("Nothing was lost"), "{text}");
    }
    let listed = list(&[run], 160, PLAIN);
    assert!(listed.contains(">=51.92"), "{listed}");
    let json = serde_json::to_value(rendered(run)).unwrap();
    assert_eq!(json["total"]["max_is_at_least"], true);
    let whole = overflowing();
    let json = serde_json::to_value(rendered(&whole.run)).unwrap();
    assert_eq!(json["total"].get("max_is_at_least"), None);
}

#[test]
fn a_contradiction_lacks_no_value_and_is_no_intact_file_either() {
    let mut fixture = imported((0..999).map(|at| 12_000 + 40 * at), Vec::new());
    let finding = ImportFinding::ImportContradiction {
        about: "Number of latencies".to_string(),
        stated: "5000".to_string(),
        counted: "999 in the bins".to_string(),
    };
    fixture.run.findings.push(Finding::new(finding));
    let text = show(&fixture.run, "", 160, PLAIN);
    assert!(!text.contains("Nothing was lost") && !text.contains("not have every value"), "{text}");
    assert!(text.contains("Latencies may be missing"), "{text}");
}

#[test]
fn a_single_latency_beyond_the_bins_is_known() {
    let latencies = (0..999).map(|at| 12_000 + at).chain([1_280_000]);
    let mut fixture = imported(latencies, Vec::new());
    let finding = ImportFinding::ImportOverflow {
        count: 1,
        end_ns: Nanos(400_000),
        largest_ns: Some(Nanos(1_280_000)),
        stated_mean_ns: None,
    };
    fixture.run.findings.push(Finding::new(finding));
    let text = show(&fixture.run, "", 160, PLAIN);
    assert!(text.contains("Nothing was lost"), "{text}");
    let picture = histogram(&fixture.run, &fixture.bins(), PictureSize::full(160), Glyphs::Unicode);
    assert!(!picture.contains('░'), "{picture}");
}

#[test]
fn a_quantile_beyond_the_bins_is_above_their_end() {
    let fixture = overflowing();
    let quantiles = fixture.run.total.quantiles.as_ref().unwrap();
    assert_eq!((quantiles.p99_ns, quantiles.above_ns), (None, Some(Nanos(400_000))));
    let summary = summary_of(&fixture);
    assert!(summary.contains("above 400 us") && !summary.contains("p99.9 1.28"), "{summary}");
    for text in [show(&fixture.run, "", 160, PLAIN), markdown(&fixture.run), common::page(&fixture)]
    {
        assert!(text.contains(">400") || text.contains("&gt;400"), "{text}");
    }
    let table = RunTable::new(vec![&fixture.run, &fixture.run]).text(160, PLAIN);
    assert!(table.contains(">400 us"), "{table}");
    // Their number and the largest are known, so none is missing.
    let text = show(&fixture.run, "", 160, PLAIN);
    assert!(
        text.contains("p99 is above 400 us, where the bins end")
            && text.contains("Nothing was lost")
    );
}

#[test]
fn what_is_of_unknown_size_is_hatched_and_drawn_nowhere() {
    let fixture = overflowing();
    let bins = fixture.bins();
    let text = histogram(&fixture.run, &bins, PictureSize::full(120), Glyphs::Unicode);
    assert!(
        text.contains("░ 1 000 latencies between 400 us and 1.28 ms, of unknown size"),
        "{text}"
    );
    let runs = [RunWithBins { run: &fixture.run, bins: &bins }];
    for kind in [Kind::Latency, Kind::Cdf, Kind::Ccdf, Kind::Boxes, Kind::Cpus, Kind::Tail] {
        let picture = plot(&runs, kind, &Options::default());
        let words = picture.replace('\u{a0}', " ");
        assert!(words.contains("1 000 latencies between 400 us and 1.28 ms"), "{}", kind.as_str());
        let hatched = elements(&picture, "rect");
        let hatched = hatched.iter().filter(|one| one.contains("data-open")).count();
        assert_eq!(hatched, usize::from(kind != Kind::Tail), "{}", kind.as_str());
    }
    // Lines end at the last known latency.
    let picture = plot(&runs, Kind::Latency, &Options::default());
    let line =
        elements(&picture, "path").into_iter().find(|one| one.contains("data-drawn")).unwrap();
    assert_eq!(attribute(&format!(" {line}\""), "data-drawn"), "1000");
}

#[test]
fn the_load_of_a_file_is_what_it_says_and_else_unknown() {
    let fixture = overflowing();
    assert!(summary_of(&fixture).contains("load unknown"));
    let fact = ImportFact { name: "Load".to_string(), text: "hackbench".to_string() };
    let stated = imported([12_000], vec![fact]);
    assert!(summary_of(&stated).contains("load: hackbench"));
    let table = RunTable::new(vec![&fixture.run, &stated.run]).text(160, PLAIN);
    assert!(table.contains("unknown") && table.contains("hackbench"), "{table}");
    for text in [summary_of(&fixture), common::page(&fixture), markdown(&fixture.run), table] {
        assert!(!text.contains("no load"), "{text}");
    }
}
