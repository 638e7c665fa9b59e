//! A campaign never pools results from different kernels, and states the result of each.

use crate::common::svg::{attribute, elements};
use crate::common::{Fixture, histogram, plan, verdict};
use latlab_model::campaign::{CAMPAIGN_VERSION, Campaign, CoolDown, Order, PlannedRun, Row};
use latlab_model::finding::{ConditionFinding, Finding};
use latlab_model::run::{MissBursts, VerdictReason, VerdictWord};
use latlab_model::{Nanos, Run, ThreadBins};
use latlab_report::campaign::{
    CampaignRun, PlannedResult, campaign_page, csv, markdown, multiples, planned, show, table,
    test_suite,
};
use latlab_report::campaign::{CampaignTable, CellAttempt, VariantComparison};
use latlab_report::{Options, Style};
use latlab_stats::MeasuredRun;
use latlab_store::CellWord;
use proptest::prelude::*;
use std::collections::BTreeMap;

type MadeRun = (Run, Vec<ThreadBins>);
type Counted<'a> = Option<(&'a Run, &'a [ThreadBins])>;

/// A campaign and its runs, some of which are still to be made.
struct Made {
    campaign: Campaign,
    runs: Vec<(PlannedRun, Option<MadeRun>)>,
}

/// A row: its name, the settings from the matrix, and the kernel.
fn row(scenario: &str, settings: &[(&str, &str)]) -> Row {
    let named = settings.iter().map(|(key, value)| format!(", {key} {value}"));
    let set = settings.iter().map(|(key, value)| (key.to_string(), value.to_string()));
    let set: BTreeMap<String, String> = set.collect();
    let mut plan = plan();
    plan.on.target = set.get("target").map(|text| text.parse().unwrap()).unwrap_or_default();
    plan.until.deadline_ns = Some(Nanos(100_000));
    Row {
        label: format!("{scenario}{}", named.collect::<String>()),
        scenario: scenario.to_string(),
        about: None,
        kernel: set.get("kernel").cloned(),
        settings: set,
        left_out: None,
        plan,
    }
}

/// A run with this kernel and this largest latency.
fn run(row: &Row, id: String, kernel: &str, max: i64) -> MadeRun {
    let mut counts = histogram((0..2_000).map(|at| 5_000 + at * 7).chain([max]));
    counts.misses = u64::from(max > 100_000);
    let mut fixture = Fixture::new(row.plan.clone(), vec![counts]);
    fixture.run.id = id;
    fixture.run.machine.kernel = kernel.to_string();
    let is_rt = kernel.contains("-rt");
    let preemption = if is_rt { "PREEMPT_RT" } else { "PREEMPT_DYNAMIC (voluntary)" };
    fixture.run.machine.preemption = Some(preemption.to_string());
    let word = if max > 100_000 { VerdictWord::Fail } else { VerdictWord::Pass };
    verdict(&mut fixture.run, word, None);
    let bins = fixture.bins();
    (fixture.run, bins)
}

impl Made {
    /// `repeats` runs of each row; `of` returns the kernel and the maximum of a run, by row and
    /// repeat.
    fn new(rows: Vec<Row>, repeats: u32, of: impl Fn(usize, u32) -> Option<(String, i64)>) -> Made {
        let planned = (1..=repeats)
            .flat_map(|repeat| (0..rows.len()).map(move |row| PlannedRun { row, repeat, seed: 1 }));
        let planned: Vec<PlannedRun> = planned.collect();
        let made = |one: &PlannedRun| {
            let (kernel, max) = of(one.row, one.repeat)?;
            let id = format!("2026-11-21T16-04-{:02}Z_run-{}", one.row, one.repeat);
            Some(run(&rows[one.row], id, &kernel, max))
        };
        let runs = planned.iter().map(|one| (*one, made(one))).collect();
        let campaign = Campaign {
            schema: CAMPAIGN_VERSION,
            latlab: "0".into(),
            id: "2026-11-21T16-04-30Z_kernels".into(),
            name: "kernels".into(),
            about: Some("Which kernel is good enough?".into()),
            begun: String::new(),
            repeats,
            scale: None,
            order: Order::Sequential,
            seed: 1,
            retries: 1,
            cool_down: CoolDown::default(),
            cpus: 1,
            runs: planned,
            rows,
            published: None,
            tune: None,
        };
        Made { campaign, runs }
    }

    fn table(&self) -> CampaignTable {
        let made: Vec<PlannedResult> = self
            .runs
            .iter()
            .map(|(planned, run)| PlannedResult {
                row: planned.row,
                repeat: planned.repeat,
                state: if run.is_some() { CellWord::Done } else { CellWord::Missing },
                reason: None,
                run: run.as_ref().map(|(run, bins)| MeasuredRun {
                    run,
                    bins,
                    spans: &[],
                    scenario: None,
                }),
                attempts: Vec::new(),
            })
            .collect();
        table(&self.campaign, &made)
    }

    fn page(&self) -> String {
        let runs = self.runs.iter().filter_map(|(_, run)| run.as_ref());
        let runs: Vec<CampaignRun> = runs
            .map(|(run, bins)| CampaignRun { run, bins, page: Some(format!("runs/{}", run.id)) })
            .collect();
        campaign_page(&self.table(), &runs, "0")
    }

    fn multiples(&self) -> String {
        let table = self.table();
        let of_row = |row: &latlab_report::campaign::CampaignRow| {
            let run = |cell: &latlab_report::campaign::CampaignCell| {
                let all = self.runs.iter().filter_map(|(_, run)| run.as_ref());
                let mut all = all.filter(|(run, _)| Some(&run.id) == cell.run.as_ref());
                all.next().map(|(run, bins)| (run, bins.as_slice()))
            };
            row.cells.iter().map(run).collect()
        };
        let rows: Vec<Vec<Counted>> = table.rows.iter().map(of_row).collect();
        multiples(&table, &rows, &Options::default())
    }
}

const STOCK: &str = "6.1.0-28-amd64";
const RT: &str = "6.1.0-28-rt-amd64";

/// Two kernels and two loads, twice each: the stock kernel fails under load.
fn two_kernels() -> Made {
    let rows = ["idle", "hackbench"]
        .into_iter()
        .flat_map(|scenario| [STOCK, RT].map(|kernel| row(scenario, &[("kernel", kernel)])));
    Made::new(rows.collect(), 2, |row, repeat| {
        let max = 40_000 + 1_000 * i64::from(repeat);
        Some(match row {
            0 => (STOCK.into(), max),
            2 => (STOCK.into(), 2_000_000 + max),
            _ => (RT.into(), max / 2),
        })
    })
}

/// Invariant (campaigns): The table lists each try of a run with its reason, and a missed deadline stays missed.
#[test]
fn what_earlier_tries_came_to_is_told_and_a_miss_of_them_counts() {
    let made = Made::new(vec![row("a", &[])], 1, |_, _| Some((RT.to_string(), 60_000)));
    let attempt = |attempt, run: Option<&str>, reason: Option<&str>, verdict| CellAttempt {
        attempt,
        run: run.map(str::to_string),
        reason: reason.map(str::to_string),
        verdict,
    };
    let table = |attempts: Vec<CellAttempt>, state| {
        let (run, bins) = made.runs[0].1.as_ref().unwrap();
        let run = Some(MeasuredRun { run, bins, spans: &[], scenario: None });
        let reason = (state == CellWord::Failed).then(|| "refused".to_string());
        let (row, repeat) = (0, 1);
        table(&made.campaign, &[PlannedResult { row, repeat, state, reason, run, attempts }])
    };
    let told = |table: &CampaignTable| show(table, 200, Style::default());
    let good = attempt(2, Some("two"), None, Some(VerdictWord::Pass));

    let refused = attempt(1, None, Some("refused"), None);
    let once = table(vec![refused.clone(), good.clone()], CellWord::Done);
    assert_eq!(once.rows[0].verdict, Some(VerdictWord::Pass));
    assert_eq!(once.rows[0].cells[0].tries, ["two"]);
    let text = told(&once);
    assert!(text.contains("a, repeat 1: measured at try 2; try 1: refused"), "{text}");

    let missed = attempt(1, Some("one"), Some("it was lost"), Some(VerdictWord::Fail));
    let missed = table(vec![missed, good.clone()], CellWord::Done);
    assert_eq!(missed.rows[0].verdict, Some(VerdictWord::Fail));
    let text = told(&missed);
    assert!(text.contains("try 1: the deadline was missed, and it was lost"), "{text}");
    let tests = format!("{:?}", test_suite(&missed).cases[0].problem);
    assert!(tests.contains("the deadline was missed"), "{tests}");

    // The same reason is not repeated.
    let given_up = table(vec![refused, attempt(2, None, Some("refused"), None)], CellWord::Failed);
    assert_eq!(given_up.rows[0].verdict, Some(VerdictWord::Invalid));
    let text = told(&given_up);
    assert!(text.contains("a, repeat 1: given up after try 2\n"), "{text}");

    let at_once = table(vec![CellAttempt { attempt: 1, ..good }], CellWord::Done);
    assert!(!told(&at_once).contains("try"), "{}", told(&at_once));
}

/// Invariant (campaigns): What was measured on another target, kernel or board is another row everywhere.
#[test]
fn a_kernel_that_fails_does_not_fail_the_other() {
    let table = two_kernels().table();
    let words: Vec<(&str, Option<VerdictWord>)> =
        table.rows.iter().map(|row| (row.kernel.as_deref().unwrap(), row.verdict)).collect();
    let (pass, fail) = (Some(VerdictWord::Pass), Some(VerdictWord::Fail));
    assert_eq!(words, [(STOCK, pass), (RT, pass), (STOCK, fail), (RT, pass)]);
    for row in &table.rows {
        let pooled = row.pooled.as_ref().unwrap();
        let largest = row.cells.iter().filter_map(|cell| cell.figures.max_ns).max();
        assert_eq!((pooled.runs, pooled.figures.max_ns), (2, largest), "{}", row.label);
        assert_eq!(pooled.figures.cycles, 2 * 2_001);
    }
    let answer = format!(
        "{STOCK} PREEMPT_DYNAMIC (voluntary) fails in 1 of 2 rows (hackbench); {RT} PREEMPT_RT \
         passes."
    );
    let text = show(&table, 160, Style::default());
    assert_eq!(text.lines().next(), Some(answer.as_str()), "{text}");
    assert!(markdown(&table).contains("fails in 1 of 2 rows"));
    let xml = test_suite(&table).junit();
    assert!(xml.contains("tests=\"4\" failures=\"1\""), "{xml}");
    let measured = "time=\"480.025\" timestamp=\"2026-11-21T16:04:31\" hostname=\"vm\"";
    assert!(xml.contains(measured) && xml.matches(" time=\"120.006\"").count() == 4, "{xml}");
    let failed = xml.split("<testcase").find(|case| case.contains("<failure")).unwrap();
    assert!(failed.contains(&format!("name=\"hackbench, kernel {STOCK}\"")), "{failed}");
    assert!(failed.contains("name=\"kernel\" value=\"6.1.0-28-amd64 PREEMPT"), "{failed}");
    let lines: Vec<String> = csv(&table).lines().map(String::from).collect();
    assert!(lines[0].starts_with("row,target,kernel,repeat,state,verdict,"), "{}", lines[0]);
    let rt = format!("\"hackbench, kernel {RT}\",local,{RT},2,done,pass,");
    assert!(lines.iter().any(|line| line.starts_with(&rt)), "{lines:#?}");
}

/// Invariant (campaigns): A row whose machine was not as it claims says so in every form of the table.
#[test]
fn a_busy_machine_in_an_idle_row_is_told_everywhere() {
    let mut made = two_kernels();
    let other_work = |cpus: &str| {
        let cpus = cpus.parse().unwrap();
        Finding::new(ConditionFinding::OtherWork { cpus, share: 1.0, threads: Vec::new() })
    };
    for (_, run) in made.runs.iter_mut().filter(|(planned, _)| planned.row == 0) {
        run.as_mut().unwrap().0.findings.push(other_work("1"));
    }
    made.runs[1].1.as_mut().unwrap().0.findings.push(other_work("0"));
    let table = made.table();
    let text = show(&table, 200, Style::default());
    let line = |label: &str| text.lines().find(|line| line.starts_with(label)).unwrap();
    assert!(line(&format!("idle, kernel {STOCK}")).trim_end().ends_with(" other-work"), "{text}");
    assert!(line(&format!("idle, kernel {RT}")).ends_with("other-work (1 of 2)"), "{text}");
    let told = "such as 1: The run is without a load, but other work took up to 100 % of CPU 1.";
    let page = made.page().replace('\u{a0}', " ");
    let forms = [text.as_str(), &markdown(&table), &test_suite(&table).junit(), &page];
    for (form, text) in forms.into_iter().enumerate() {
        assert!(text.contains(told) && text.matches("other-work").count() >= 2, "{form}");
    }
    let csv = csv(&table);
    let busy = csv.lines().filter(|line| line.ends_with(",other-work")).count();
    assert_eq!((busy, csv.lines().next().unwrap().ends_with(",conditions")), (3, true), "{csv}");
}

/// Invariant (campaigns): What was measured on another target, kernel or board is another row everywhere.
#[test]
fn a_row_that_was_gone_on_with_on_another_kernel_is_two() {
    let made = Made::new(vec![row("idle", &[])], 2, |_, repeat| {
        Some(if repeat == 1 { (STOCK.into(), 500_000) } else { (RT.into(), 20_000) })
    });
    let table = made.table();
    let words: Vec<_> = table.rows.iter().map(|row| (row.kernel.as_deref(), row.verdict)).collect();
    assert_eq!(
        words,
        [(Some(STOCK), Some(VerdictWord::Fail)), (Some(RT), Some(VerdictWord::Pass))]
    );
    let text = show(&table, 200, Style::default());
    assert!(text.contains(&format!("left out: measured on {RT}")), "{text}");
}

#[test]
fn targets_of_the_lab_are_named_as_short_as_they_differ() {
    let rows = ["stock-6.12", "rt-6.12"]
        .map(|kernel| row("idle", &[("target", &format!("lab:x86-64/{kernel}"))]));
    let made = Made::new(rows.into(), 1, |row, _| {
        Some(if row == 0 { (STOCK.into(), 500_000) } else { (RT.into(), 20_000) })
    });
    let text = show(&made.table(), 100, Style::default());
    assert_eq!(text.lines().next(), Some("stock-6.12 fails; rt-6.12 passes."));
}

/// Two lab kernels, of which the real-time one is four times as fast.
fn quick_and_slow(repeats: u32) -> Made {
    let rows = ["stock-6.12", "rt-6.12"]
        .map(|kernel| row("idle", &[("target", &format!("lab:x86-64/{kernel}"))]));
    let kernel = |row: usize| if row == 0 { STOCK } else { RT };
    let mut made = Made::new(rows.into(), repeats, |row, _| Some((kernel(row).into(), 60_000)));
    for (planned, one) in &mut made.runs {
        let Some((run, bins)) = one else { continue };
        let scale = if planned.row == 0 { 4 } else { 1 };
        let own = i64::from(planned.repeat) * 20;
        let counts = histogram((0..5_000).map(|at| (5_000 + at * 2 + own) * scale));
        let fixture = Fixture::new(run.asked.clone(), vec![counts]);
        (run.total, *bins) = (fixture.run.total.clone(), fixture.bins());
    }
    made
}

#[test]
fn a_campaign_of_two_kernels_says_which_is_better_and_how_sure_that_is() {
    let made = quick_and_slow(5);
    let better = "rt-6.12 is better at p99.9 by a factor of 4.00";
    assert!(made.page().contains(better));
    for said in [show(&made.table(), 200, Style::default()), markdown(&made.table())] {
        assert!(
            said.contains(&format!("{better} (95 %: 3.98 to 4.02), 5 repeats a side.")),
            "{said}"
        );
    }
    let few = show(&quick_and_slow(2).table(), 200, Style::default());
    let missing = "Cannot tell rt-6.12 from stock-6.12: too few repeats; each side needs at least 3 more repeats.";
    assert!(few.contains(missing), "{few}");
    // With many, the reason is stated once.
    let mut several = quick_and_slow(2).table();
    let another =
        VariantComparison { candidate: "rt-6.1".into(), ..several.comparisons[0].clone() };
    several.comparisons.push(another);
    let few = show(&several, 200, Style::default());
    let missing = "Cannot tell 2 others from stock-6.12: too few repeats; each side needs at least 3 more repeats.";
    assert!(few.contains(missing) && few.matches("Cannot tell").count() == 1, "{few}");
}

/// Four repeats of an hour with a limit, and the number of bursts in each.
fn limited(per_hour: f64, bursts: [u64; 4]) -> CampaignTable {
    let mut one = row("idle", &[]);
    one.plan.until.limit_per_hour = Some(per_hour);
    let mut made = Made::new(vec![one], 4, |_, _| Some((STOCK.into(), 60_000)));
    for ((_, run), count) in made.runs.iter_mut().zip(bursts) {
        let Some((run, _)) = run else { continue };
        run.measured_ns = Nanos(3_600_000_000_000);
        run.total.misses = Some(count);
        verdict(run, VerdictWord::Inconclusive, Some(VerdictReason::LimitOpen));
        let found = MissBursts { count, largest: 1, ..MissBursts::default() };
        run.verdict.as_mut().unwrap().bursts = Some(found);
    }
    made.table()
}

#[test]
fn repeats_are_judged_together_by_their_limit() {
    let kept = limited(1.0, [0; 4]);
    assert_eq!(kept.rows[0].verdict, Some(VerdictWord::Pass));
    let line = "idle: PASS. Deadline 100 us: 0 misses in 8 004 releases of 4 repeats (4 h). At most \
                0.75 bursts of misses an hour (95 % confidence), if load and machine do not change and bursts come independently. That keeps the limit of 1 in an hour.";
    for said in [show(&kept, 400, Style::default()), markdown(&kept), test_suite(&kept).junit()] {
        assert!(plain(&said).contains(line), "{said}");
    }
    let open = limited(0.1, [0; 4]);
    assert_eq!(open.rows[0].verdict, Some(VerdictWord::Inconclusive));
    let said = plain(&show(&open, 400, Style::default()));
    assert!(said.contains("26 h more without a miss would show that it is kept."), "{said}");
    assert!(test_suite(&open).junit().contains("<error message=\"idle: INCONCLUSIVE. Deadline"));
    let exceeded = limited(1.0, [5, 4, 6, 5]);
    assert_eq!(exceeded.rows[0].verdict, Some(VerdictWord::Fail));
    // One bad boot among good ones is not averaged away.
    let differ = limited(10.0, [0, 0, 0, 9]);
    assert_eq!(differ.rows[0].verdict, Some(VerdictWord::Inconclusive));
    let said = plain(&show(&differ, 400, Style::default()));
    assert!(
        said.contains("of the worst. 1 of 4 had a miss; with 95 % confidence at most 75"),
        "{said}"
    );
    // A missing or interrupted repeat prevents a pass.
    let mut cut = row("idle", &[]);
    cut.plan.until.limit_per_hour = Some(1e9);
    let missing =
        Made::new(vec![cut], 2, |_, repeat| (repeat == 1).then(|| (STOCK.into(), 60_000)));
    assert_eq!(missing.table().rows[0].verdict, Some(VerdictWord::Inconclusive));
}

/// Collapses whitespace, including non-breaking spaces.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Invariant (pictures): A kernel has one line and one colour in all pictures of its campaign.
#[test]
fn kernels_are_drawn_over_each_other_and_keep_their_colours() {
    let made = two_kernels();
    let small = made.multiples();
    let styles = |key: &str| -> Vec<String> {
        let paths = elements(&small, "path");
        let of = paths.into_iter().filter(|path| path.contains(&format!("data-thread=\"{key}\"")));
        of.map(|path| attribute(path, "style").to_string()).collect()
    };
    // Rows are ordered by kernel, two each.
    let all = styles("all repeats");
    assert_eq!(all.len(), 4);
    assert!(all[0] == all[2] && all[1] == all[3] && all[0] != all[1], "{all:#?}");
    let page = made.page();
    let overlaid: Vec<&str> = elements(&page, "path")
        .into_iter()
        .filter(|path| path.contains("data-thread=\"6.1.0-28"))
        .collect();
    let of = |kernel: &str| {
        let mine = overlaid.iter().filter(|path| {
            attribute(path, "data-thread").starts_with(&format!("{kernel} PREEMPT"))
        });
        mine.map(|path| attribute(path, "style").to_string()).collect::<Vec<_>>()
    };
    // Three widths of two scenarios.
    assert_eq!((of(STOCK).len(), of(RT).len()), (6, 6));
    assert!(of(STOCK).iter().all(|style| *style == all[0]), "{:#?}", of(STOCK));
    assert!(of(RT).iter().all(|style| *style == all[1]));
    // The interactive chart has the same lines.
    let head = page
        .split("id=\"lines\"")
        .nth(1)
        .unwrap()
        .split_once('>')
        .unwrap()
        .1
        .split("</script>")
        .next()
        .unwrap();
    let head: serde_json::Value = serde_json::from_str(head).unwrap();
    let lines: Vec<(&str, u64)> = head["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["group"].as_str().unwrap(), line["pen"].as_u64().unwrap()))
        .collect();
    assert_eq!(lines, [("idle", 0), ("idle", 1), ("hackbench", 0), ("hackbench", 1)]);
    let deadlines = head["lines"].as_array().unwrap().iter().map(|line| &line["deadline_ns"]);
    assert!(deadlines.into_iter().all(|deadline| *deadline == 100_000), "{head}");
}

#[test]
fn the_page_of_a_campaign_has_its_table_first_and_leads_to_the_runs() {
    let page = two_kernels().page();
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    let headline =
        format!("{STOCK} PREEMPT_DYNAMIC (voluntary) fails in 1 of 2 rows (hackbench); {RT}");
    assert!(
        at(&headline) < at("<table") && at("<table") < at("<figure"),
        "the answer, then the table"
    );
    // Each cell links to the page of its run, and no run is repeated below.
    assert_eq!(page.matches("href=\"runs/2026-11-21T16-04-").count(), 8);
    assert!(!page.contains("class=\"run\"") && !page.contains("Findings"), "a run is told again");
    assert_eq!(page.matches("badge fail").count() + page.matches("badge pass").count(), 4);
    // Kernels are overlaid; the charts of single rows are collapsed.
    assert!(at("data-picture=\"rows\"") < at("Each row alone"));
}

/// Whether a text contains all of these words regardless of line breaks.
fn holds(text: &str, words: &str) -> bool {
    words.split_whitespace().all(|word| text.contains(word))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
    #[test]
    fn no_width_costs_a_run_a_kernel_or_a_verdict(
        scenarios in prop::collection::vec("[a-z]{1,12}( [a-z]{1,12}){0,3}", 1..4),
        kernels in prop::collection::btree_set("[1-6]\\.[0-9]{1,2}\\.[0-9]{1,2}(-rt[0-9]{1,2})?(-amd64|-arm64-lpae)?", 1..4),
        repeats in 1u32..9,
        lab in any::<bool>(),
    ) {
        let scenarios: Vec<String> =
            scenarios.iter().enumerate().map(|(at, name)| format!("{name} s{at}")).collect();
        let kernels: Vec<String> = kernels.into_iter().collect();
        let rows = scenarios.iter().flat_map(|scenario| kernels.iter().map(move |kernel| {
            let target = format!("lab:x86-64/rt-6.1,smp=1,memory={}", 128);
            match lab {
                true => row(scenario, &[("kernel", kernel), ("target", &target)]),
                false => row(scenario, &[("kernel", kernel)]),
            }
        }));
        let made = Made::new(rows.collect(), repeats, |row, repeat| {
            let max = 30_000 + 1_111 * (row as i64 * 10 + i64::from(repeat));
            (row + repeat as usize != 3).then(|| (kernels[row % kernels.len()].clone(), max))
        });
        let table = made.table();
        for width in 60..=200 {
            let text = show(&table, width, Style::default());
            for row in &table.rows {
                prop_assert!(holds(&text, &row.label), "{width}: {} in\n{text}", row.label);
                prop_assert!(holds(&text, row.kernel.as_ref().unwrap()), "{width}:\n{text}");
                prop_assert!(text.contains(row.verdict.unwrap().as_str()), "{width}:\n{text}");
                for cell in row.cells.iter().filter_map(|cell| cell.figures.max_ns) {
                    let number = format!("{:.3}", cell.0 as f64 / 1e3);
                    let number = number.trim_end_matches('0').trim_end_matches('.');
                    prop_assert!(text.contains(number), "{width}: {number} in\n{text}");
                }
            }
            for repeat in 1..=repeats {
                prop_assert!(text.contains(&format!("repeat {repeat}")), "{width}:\n{text}");
            }
            let longest = text.lines().map(|line| line.chars().count()).max();
            prop_assert!(longest <= Some(width), "{width}:\n{text}");
            let dry = planned(&made.campaign, width, Style::default());
            for row in &made.campaign.rows {
                prop_assert!(holds(&dry, &row.label), "{width}: {} in\n{dry}", row.label);
            }
        }
    }
}
