//! Several runs side by side: the answer first, each change against the first run, and nothing lost
//! in a narrow terminal.

use crate::common::{self, Fixture, histogram, plan, verdict};
use latlab_model::load::Load;
use latlab_model::plan::{Policy, Until};
use latlab_model::run::VerdictWord;
use latlab_model::{Nanos, Plan, Run};
use latlab_report::{
    Glyphs, PictureSize, RunTable, Style, compare, histogram as picture, list, show, summarise,
};
use latlab_stats::{MeasuredRun, Tolerance, compare_runs};
use proptest::prelude::*;

const PLAIN: Style = Style { colour: false };
const STOCK: &str = "6.1.0-28-amd64";
const RT: &str = "6.1.0-28-rt-amd64";

/// A run with this name, kernel, load and largest latency, judged against 1 ms.
fn run(name: &str, kernel: &str, load: Option<&str>, max: i64) -> Fixture {
    let deadline_ns = Some(Nanos(1_000_000));
    let mut counts = histogram((0..20_000).map(|at| 5_000 + at % 900).chain([max]));
    counts.misses = u64::from(max > 1_000_000);
    let plan = Plan { name: name.into(), until: Until { deadline_ns, ..plan().until }, ..plan() };
    let mut fixture = Fixture::new(plan, vec![counts]);
    fixture.run.machine.kernel = kernel.into();
    let is_rt = kernel.contains("-rt");
    let preemption = if is_rt { "PREEMPT_RT" } else { "PREEMPT_DYNAMIC (voluntary)" };
    fixture.run.machine.preemption = Some(preemption.into());
    fixture.run.asked.on.loads =
        load.into_iter().map(|words| Load::new(words, words, "")).collect();
    let word = if max > 1_000_000 { VerdictWord::Fail } else { VerdictWord::Pass };
    verdict(&mut fixture.run, word, None);
    fixture
}

fn text(runs: &[&Run], width: usize) -> String {
    RunTable::new(runs.to_vec()).text(width, PLAIN)
}

#[test]
fn the_first_sentence_says_which_run_passes() {
    let (stock, rt) = (run("stock", STOCK, None, 25_183_336), run("rt", RT, None, 45_000));
    let said = text(&[&rt.run, &stock.run], 160);
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("rt passes; stock fails."));
    assert_eq!(
        lines.next(),
        Some("stock: 1 miss instead of none, largest 560 times as large, p99.9 as large.")
    );
    assert_eq!(
        lines.next(),
        Some("stock: 1 of 20 001 releases missed the 1 ms deadline; the largest took 25.2 ms.")
    );
    let of = |name: &str| {
        let mut rows = said.lines().filter(|line| line.starts_with(&format!("{name} ")));
        rows.next().unwrap_or_else(|| panic!("{name} in\n{said}")).to_string()
    };
    assert!(of("stock").contains("+25.1 ms, 560 x"), "{said}");
    assert!(of("stock").contains(STOCK) && of("stock").contains("fail"), "{said}");
    assert!(!of("rt").contains(" x"), "the baseline has no change: {said}");
}

/// Invariant (comparisons): A page of one run a side says first what the second has more and less of.
#[test]
fn two_runs_of_one_verdict_are_told_apart_by_their_figures() {
    let with = |misses: u64, max: i64| {
        let mut made = run(if misses > 100 { "stock" } else { "rt" }, RT, None, max);
        made.run.total.misses = Some(misses);
        made
    };
    let (stock, rt) = (with(4_100, 2_000_000), with(20, 1_010_000));
    let said = |runs: &[&Run]| text(runs, 160).lines().next().map(str::to_string).unwrap();
    assert_eq!(
        said(&[&stock.run, &rt.run]),
        "rt: 205 times fewer misses, largest half as large, p99.9 as large."
    );
    assert_eq!(
        said(&[&rt.run, &stock.run]),
        "stock: 205 times as many misses, largest twice as large, p99.9 as large."
    );
    assert_eq!(
        said(&[&rt.run, &with(23, 1_300_000).run]),
        "2026-11-21T16-04-30Z_rt: 15 % more misses, largest 29 % larger, p99.9 as large."
    );
    let page = common::pages(&[&stock, &rt]);
    let judged = "One run each: another boot may explain the difference; 5 a side decide.";
    assert!(page.contains(">rt: 205 times fewer misses") && page.contains(judged));
    // A run without a machine is named only once.
    let mut import = with(20, 1_010_000);
    (import.run.machine.hostname, import.run.machine.board) = (Some("rt".to_string()), None);
    assert!(!common::pages(&[&stock, &import]).contains("rt, rt"));
}

#[test]
fn without_a_deadline_nothing_passes_or_fails() {
    let (mut one, mut two) = (run("one", RT, None, 40_000), run("two", RT, None, 90_000));
    (one.run.verdict, two.run.verdict) = (None, None);
    let said = text(&[&one.run, &two.run], 160);
    assert!(
        said.starts_with(
            "two: largest 2.2 times as large, p99.9 as large.\nThe observed maximum was smallest in one (40 us) and largest in two (90 us)."
        ),
        "{said}"
    );
    assert!(!said.contains("pass") && !said.contains("fail"), "{said}");
}

#[test]
fn settings_that_differ_are_named_and_no_others() {
    let (one, mut two) = (run("one", RT, None, 40_000), run("two", RT, None, 90_000));
    two.run.asked.who.policy = Some(Policy::Fifo { priority: 20 });
    two.run.asked.seed = Some(77);
    two.run.machine.governor = Some("powersave".into());
    two.run.machine.boot_id = Some("another".into());
    let said = text(&[&one.run, &two.run], 160);
    let (_, settings) = said.split_once("Settings that differ:\n").unwrap();
    let names: Vec<&str> =
        settings.lines().skip(1).map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(names, ["Requested scheduling", "Governor"], "{said}");
    let same = text(&[&one.run, &one.run], 160);
    assert!(same.contains("All settings are the same."), "{same}");
}

#[test]
fn runs_of_one_name_are_told_apart_by_what_differs() {
    let (stock, rt) = (run("run", STOCK, None, 50_000), run("run", RT, None, 45_000));
    let said = text(&[&stock.run, &rt.run], 160);
    let both = format!("\n{STOCK} PREEMPT_DYNAMIC (voluntary) and {RT} PREEMPT_RT pass.\n");
    assert!(said.contains(&both), "{said}");
    let (idle, busy) = (run("run", RT, None, 50_000), run("run", RT, Some("hackbench"), 45_000));
    assert!(text(&[&idle.run, &busy.run], 160).contains("\nno load and hackbench pass.\n"));
}

#[test]
fn the_page_has_the_answer_and_a_row_for_each_run() {
    let (stock, rt) =
        (run("stock", STOCK, None, 25_183_336), run("rt", RT, Some("cyclic"), 45_000));
    let page = common::pages(&[&rt, &stock]);
    let (_, top) = page.split_once("id=\"comparison\"").unwrap();
    let (top, _) = top.split_once("<figure").unwrap();
    assert!(top.contains(">rt passes; stock fails.</h1>"), "{top}");
    for words in [STOCK, RT, "cyclic", "badge fail", "badge pass", "href=\"#run-2\"", "560"] {
        assert!(top.contains(words), "{words} in {top}");
    }
    let order = ["run", "kernel", "load", "verdict", "max"].map(|name| {
        top.find(&format!(">{name}</th>")).unwrap_or_else(|| panic!("{name} in {top}"))
    });
    assert!(order.is_sorted(), "kernel and load come first: {order:?}");
}

/// Whether no line is wider, except for a single long word.
fn fits(text: &str, width: usize) -> bool {
    let fits = |line: &str| line.chars().count() <= width || !line.trim().contains(' ');
    text.lines().all(fits)
}

/// Whether a text contains all of these words regardless of line breaks.
fn holds(text: &str, words: &str) -> bool {
    words.split_whitespace().all(|word| text.contains(word))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
    #[test]
    fn no_width_costs_a_compared_run_a_kernel_or_a_verdict(
        names in prop::collection::btree_set("[a-z]{1,10}(-[a-z]{1,12}){0,3}", 2..6),
        kernels in prop::collection::vec("[1-6]\\.[0-9]{1,2}\\.[0-9]{1,2}(-rt[0-9]{1,2})?(-amd64|-arm64-lpae)?", 5),
        loads in prop::collection::vec(prop::option::of("[a-z]{3,9}(,[a-z]{3,7}=[0-9]{1,4}){0,2}"), 5),
    ) {
        let made = names.iter().zip(kernels.iter().zip(&loads)).enumerate();
        let made: Vec<Fixture> = made
            .map(|(at, (name, (kernel, load)))| {
                let max = 300_000 * (at as i64 + 1) + 7_777;
                let mut made = run(name, kernel, load.as_deref(), max);
                made.run.id = format!("20261121T16043{at}Z_{name}");
                made
            })
            .collect();
        let runs: Vec<&Run> = made.iter().map(|one| &one.run).collect();
        for width in 20..=200 {
            let compared = text(&runs, width);
            let listed = list(&runs, width, PLAIN);
            for run in &runs {
                let word = run.verdict.as_ref().unwrap().word.as_str();
                let load = run.asked.on.loads.first().map_or("none", |load| &load.words);
                for words in [&run.asked.name, &run.machine.kernel, word, load] {
                    prop_assert!(holds(&compared, words), "{width}: {words} in\n{compared}");
                }
                for words in [&run.id, word] {
                    prop_assert!(holds(&listed, words), "{width}: {words} in\n{listed}");
                }
            }
            for said in [&compared, &listed] {
                prop_assert!(fits(said, width), "{width}:\n{said}");
            }
        }
    }
}

/// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
#[test]
fn no_width_costs_a_judged_comparison_a_run_a_metric_or_a_verdict() {
    let sides = [("base", 40_000), ("candidate", 90_000)].map(|(side, max)| {
        let one = |number: i64| {
            let mut made = run("idle", RT, None, max + number);
            made.run.id = format!("20261121T16043{number}Z_{side}-of-a-long-name");
            made
        };
        (0..3).map(one).collect::<Vec<Fixture>>()
    });
    let bins = sides.each_ref().map(|side| side.iter().map(Fixture::bins).collect::<Vec<_>>());
    let measured = |side: usize| -> Vec<MeasuredRun> {
        let each = sides[side].iter().zip(&bins[side]);
        each.map(|(one, bins)| MeasuredRun { run: &one.run, bins, spans: &[], scenario: None })
            .collect()
    };
    let runs = compare_runs(&measured(0), &measured(1), &Tolerance::default());
    let judged = compare::ComparedSides { runs, changes: Vec::new(), machines: None };
    let metrics = &judged.runs.scenarios[0].metrics;
    assert!(metrics.len() >= 3);
    for width in 60..=200 {
        let said = compare::show(&judged, width, PLAIN);
        for fixture in sides.iter().flatten() {
            assert!(said.contains(&fixture.run.id), "{} at {width}:\n{said}", fixture.run.id);
        }
        for metric in metrics {
            let line = format!("{} ", metric.metric);
            assert!(said.lines().any(|one| one.starts_with(&line)), "{line} at {width}:\n{said}");
        }
        let words = said.matches("CANNOT TELL").count();
        assert!(words > metrics.len(), "{words} at {width}:\n{said}");
        assert!(said.lines().all(|line| line.chars().count() <= width), "{width}:\n{said}");
    }
}

/// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
#[test]
fn no_width_costs_the_answer_of_a_run_its_kernel_or_its_verdict() {
    for (name, fixture) in common::all() {
        let run = &fixture.run;
        for width in 20..=200 {
            let drawn =
                picture(run, &fixture.bins(), PictureSize::brief(run, width), Glyphs::Unicode);
            assert!(
                fits(&drawn, width),
                "{name} at {width}:
{drawn}"
            );
            for said in [summarise(run, &drawn, width, PLAIN), show(run, "", width, PLAIN)] {
                assert!(holds(&said, &run.machine.kernel), "{name} at {width}:\n{said}");
                if let Some(verdict) = &run.verdict {
                    let word = verdict.word.as_str();
                    assert!(said.to_lowercase().contains(word), "{name} at {width}:\n{said}");
                }
            }
        }
    }
}
