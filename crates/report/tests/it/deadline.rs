//! The deadline in every chart, and the answer at the top of the page.

use crate::common::svg::{attribute, elements, number};
use crate::common::{self, Fixture};
use latlab_model::finding::{
    CompetingThread, ConditionFinding, EndFinding, Finding, LatencyComparison, When,
};
use latlab_model::outlier::{InterruptRate, Outlier, OutlierThread, Surroundings};
use latlab_model::run::VerdictWord;
use latlab_model::self_interference::OwnThread;
use latlab_model::{Nanos, ThreadBins};
use latlab_report::time::{self, TimeData, TimeOptions};
use latlab_report::{Kind, Options, RunWithBins, Style, plot, show, summarise};
use latlab_stats::Span;

fn with_deadline(deadline: i64) -> Fixture {
    let mut fixture = common::normal();
    fixture.run.asked.until.deadline_ns = Some(Nanos(deadline));
    fixture
}

/// Every kind of chart of a run, by name.
fn pictures(fixture: &Fixture) -> Vec<(&'static str, String)> {
    let bins: Vec<ThreadBins> = fixture.bins();
    let run = RunWithBins { run: &fixture.run, bins: &bins };
    let mut all: Vec<(&str, String)> = Vec::new();
    for kind in Kind::ALL {
        all.push((kind.as_str(), plot(&[run], *kind, &Options::default()).replace('\u{a0}', " ")));
    }
    let mut data = TimeData::new(&fixture.run, &[0, 1_000, 10_000, 100_000], None);
    let from = fixture.run.threads[0].setup.first_release_ns;
    let row = Span {
        from,
        to: from + Nanos(1_000_000_000),
        count: 3,
        min: Some(Nanos(5_000)),
        median: Some(6_000.0),
        max: Some(Nanos(214_417)),
        ..Span::default()
    };
    data.interval(0, &row, &[0, 2, 0, 1]);
    for kind in [time::Kind::Flow, time::Kind::Heatmap] {
        all.push((kind.as_str(), kind.draw(&fixture.run, &data, &TimeOptions::default())));
    }
    all
}

/// Invariant (page and server): Every picture of latencies has the deadline, and shades what lies beyond it.
#[test]
fn every_picture_has_the_deadline_and_shades_what_lies_beyond() {
    for (kind, picture) in pictures(&with_deadline(100_000)) {
        assert!(picture.contains("data-deadline-ns=\"100000\""), "{kind}");
        assert!(picture.contains("deadline 100 us<"), "{kind} does not name it");
    }
    for (kind, picture) in pictures(&with_deadline(2_000_000)) {
        assert!(
            picture.contains("data-deadline-ns=\"2000000\""),
            "{kind}: the axis ends before it"
        );
    }
}

#[test]
fn a_deadline_far_beyond_the_largest_is_named_and_does_not_squeeze_the_picture() {
    for (kind, picture) in pictures(&with_deadline(1_000_000_000)) {
        assert!(!picture.contains("data-deadline-ns"), "{kind}");
        assert!(picture.contains("deadline 1 s: off the chart<"), "{kind}");
    }
}

#[test]
fn bars_in_the_shade_are_those_that_break_the_deadline() {
    let fixture = with_deadline(100_000);
    let bins = fixture.bins();
    let run = RunWithBins { run: &fixture.run, bins: &bins };
    let picture = plot(&[run], Kind::Tail, &Options::default());
    let rects: Vec<String> =
        elements(&picture, "rect").into_iter().map(|one| format!(" {one}\"")).collect();
    let shade = rects.iter().find(|one| one.contains("data-deadline-ns")).unwrap();
    let end = number(shade, "y") + number(shade, "height");
    let bars: Vec<&String> = rects.iter().filter(|one| one.contains("data-ns")).collect();
    let breaking = bars.iter().filter(|bar| number(bar, "data-ns") > 100_000.0).count();
    assert!(breaking > 0 && breaking < bars.len());
    for bar in bars {
        let is_over = number(bar, "data-ns") > 100_000.0;
        assert_eq!(number(bar, "y") < end, is_over, "{}", attribute(bar, "data-ns"));
    }
}

#[test]
fn a_run_without_a_deadline_has_no_shade() {
    let mut fixture = common::normal();
    fixture.run.asked.until.deadline_ns = None;
    for (kind, picture) in pictures(&fixture) {
        assert!(!picture.contains("deadline"), "{kind}");
    }
}

#[test]
fn pictures_say_four_digits_and_tables_all() {
    for (kind, picture) in pictures(&common::normal()) {
        assert!(!picture.contains("214.417"), "{kind}");
    }
    assert!(common::page(&common::normal()).contains(">214.417<"));
}

#[test]
fn the_answer_comes_first_and_all_else_is_folded() {
    for (name, fixture) in common::all() {
        let page = common::page(&fixture);
        let (answer, rest) = page.split_once("<nav class=\"contents\"").unwrap();
        assert!(!answer.contains("<details"), "{name}");
        assert!(answer.contains("<h1") && answer.contains("data-picture=\"latency\""), "{name}");
        let links: Vec<&str> =
            rest.split("</nav>").next().unwrap().split("href=\"#").skip(1).collect();
        for link in &links {
            let id = link.split('"').next().unwrap();
            // A browser opens the `<details>` that contains an anchor, not one that has it.
            let (before, _) = rest.split_once(&format!("<section id=\"{id}\"")).expect(id);
            let open = before.matches("<details").count() - before.matches("</details>").count();
            assert_eq!(open, 1, "{name}: {id}");
        }
        assert!(links.len() >= 8, "{name}");
    }
}

fn outlier(latency: i64, around: Option<Surroundings>) -> Outlier {
    Outlier {
        thread: 1,
        cpu: Some(1),
        latency_ns: Nanos(latency),
        release_ns: Nanos(7_012_500_000_000),
        since_start_ns: Nanos(12_500_000_000),
        breakdown: None,
        own_threads: Vec::new(),
        loads: Vec::new(),
        surroundings: around,
    }
}

#[test]
fn the_largest_latencies_stand_with_what_is_known_of_them() {
    let mut fixture = common::normal();
    let around = Surroundings {
        busy_share: Some(0.981),
        stolen_share: Some(0.43),
        interrupts_share: Some(0.0),
        frequency_khz: Some(1_200_000),
        interrupts: vec![InterruptRate { source: "LOC".into(), per_second: 250.0 }],
        threads: vec![OutlierThread { name: "hackbench".into(), id: 7, share: 0.4 }],
    };
    let own = Outlier { own_threads: vec![OwnThread::Telemetry], ..outlier(187_030, None) };
    fixture.run.largest = vec![outlier(214_417, Some(around)), own, outlier(90_000, None)];
    let text = show(&fixture.run, "", 160, Style { colour: false });
    for words in [
        "The 3 largest latencies:",
        "12.500    1  214.417  stolen 43 %; busy 98 %; 1200 MHz; LOC 250/s; hackbench 40 %",
        "187.030  latlab's own thread telemetry",
        "Of the 3 largest: 1 with stolen time, 1 with work of latlab's own threads.",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let page = common::page(&fixture);
    assert!(
        page.contains("<section id=\"largest\"") && page.contains("LOC"),
        "the page has them too"
    );
}

fn seconds(from: i64, to: i64) -> When {
    When { from_ns: Nanos(from * common::SECOND), to_ns: Nanos(to * common::SECOND) }
}

fn load_changed(cpu: u32, when: When) -> Finding {
    let latencies = LatencyComparison { recorded: "latency".into(), then: None, otherwise: None };
    let (share, usual_share, threads, shorter_changes) = (0.9, 0.1, Vec::new(), 0);
    Finding::new(ConditionFinding::LoadChanged {
        cpu,
        share,
        usual_share,
        when,
        threads,
        shorter_changes,
        latencies,
    })
}

#[test]
fn a_cause_stands_with_its_share_of_the_largest_latencies() {
    let mut fixture = common::normal();
    fixture.run.largest =
        vec![outlier(214_417, None), outlier(90_000, None), outlier(80_000, None)];
    // At 40 s, far from the events.
    fixture.run.largest[2].since_start_ns = Nanos(40 * common::SECOND);
    let said = |findings: Vec<Finding>| {
        let run = latlab_model::Run { findings, ..fixture.run.clone() };
        let page =
            common::page(&Fixture { run: run.clone(), histograms: fixture.histograms.clone() });
        (summarise(&run, "", 100, Style { colour: false }), page)
    };
    let (text, page) = said(vec![load_changed(1, seconds(10, 15))]);
    assert!(text.contains(" [load-changed: 2 of 3 largest]\n"), "{text}");
    assert!(page.contains(" · 2 of the 3 largest latencies"));
    let (text, _) = said(vec![load_changed(0, seconds(10, 15))]);
    assert!(!text.contains("load-changed"), "on another CPU: {text}");
    let both = vec![load_changed(1, seconds(10, 15)), load_changed(1, seconds(39, 41))];
    assert!(said(both).0.contains(" [load-changed: 3 of 3 largest]\n"));
    let (text, _) = said(vec![load_changed(1, seconds(0, 59))]);
    assert!(text.contains(" [load-changed]\n"), "most of the run explains no moment: {text}");
}

#[test]
fn what_explains_most_of_the_largest_is_named_and_mended_first() {
    let mut fixture = common::normal();
    let latencies = LatencyComparison { recorded: "latency".into(), then: None, otherwise: None };
    let competing = CompetingThread {
        name: "hog".into(),
        id: 77,
        policy: "fifo 95".into(),
        mean_share: 0.1,
        peak_share: 0.6,
        peak_at_ns: Nanos(0),
    };
    let expensive = ConditionFinding::TelemetryCost { cpu_share: 0.006, limit_share: 0.005 };
    let (threads, others) = (vec![competing], 0);
    let cpus = [1].into_iter().collect();
    let competing = ConditionFinding::CompetingThread { cpus, threads, others, latencies };
    let hog = OutlierThread { name: "hog".into(), id: 77, share: 0.6 };
    let around = Surroundings { threads: vec![hog], ..Surroundings::default() };
    let run = &mut fixture.run;
    run.largest = vec![outlier(214_417, Some(around)), outlier(90_000, None)];
    run.findings = vec![Finding::new(expensive), Finding::new(competing)];
    run.verdict.as_mut().unwrap().word = VerdictWord::Fail;
    let said = |run: &latlab_model::Run| summarise(run, "", 100, Style { colour: false });
    let text = said(run);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} in\n{text}"));
    assert!(at("[competing-thread: 1 of 2 largest]") < at("[telemetry-cost]"), "{text}");
    assert!(text.contains("Try first [competing-thread]: Move them away (`taskset"), "{text}");
    run.largest.swap(0, 1);
    let text = said(run);
    assert!(!text.contains("Try first [competing-thread]"), "not the largest: {text}");
    run.largest.swap(0, 1);
    assert!(common::page(&fixture).contains("<code>taskset -cp CPUS 77</code>"));
    // What interrupted the run comes before possible causes of its latencies.
    let (target, reason) = ("ssh://pi".to_string(), "Connection reset by peer".to_string());
    let run = &mut fixture.run;
    run.findings.push(Finding::new(EndFinding::BoardLost { target, reason }));
    let text = summarise(run, "", 100, Style { colour: false });
    assert!(text.contains("Try first [board-lost]: See"), "{text}");
}
