//! Pages, charts and tables of stored runs and campaigns.

use latlab_digest::testing::SyntheticRun;
use latlab_digest::window::WindowSpec;
use latlab_model::Run;
use latlab_model::campaign::{CAMPAIGN_VERSION, Campaign, CoolDown, Order, PlannedRun, Row};
use latlab_model::frame::Message;
use latlab_report::campaign::{csv, markdown, show, test_suite};
use latlab_report::stored::{LoadedCampaign, LoadedRun, campaign_table, over_time, page};
use latlab_report::time::{Kind, TimeOptions};
use latlab_report::{Options, Style, units};
use latlab_store::CellWord;
use latlab_store::{CampaignFolder, Finished, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Stores a run from these messages.
pub fn store(store: &Store, id: &str, messages: impl IntoIterator<Item = Message>) -> Finished {
    let mut open = store.begin(id).unwrap();
    messages.into_iter().for_each(|message| open.append(&message.encode()).unwrap());
    open.finish().unwrap()
}

fn three_seconds() -> SyntheticRun {
    SyntheticRun { threads: 1, seconds: 3, ..SyntheticRun::default() }
}

#[test]
fn a_page_shows_a_stored_run_and_its_texts_are_harmless() {
    let root = tempfile::tempdir().unwrap();
    let note = "<script>alert(1)</script>\u{1b}[2J";
    let messages = three_seconds().messages().into_iter().map(|message| match message {
        Message::Plan(plan) => {
            Message::Plan(latlab_model::Plan { note: Some(note.to_string()), ..plan })
        }
        other => other,
    });
    let finished = store(&Store::new(root.path()), "20261121T160501Z_page", messages);
    let html = page(&[LoadedRun::read(&finished.path).unwrap()]);
    let max = finished.run.total.max_ns.unwrap();
    assert!(html.contains(&max.to_string()), "the observed maximum {max}");
    assert!(html.contains(&units::grouped(finished.run.total.cycles)));
    assert!(html.contains("Imaginary Core 4"));
    assert!(!html.contains("<script>alert") && !html.contains('\u{1b}'));
}

#[test]
fn a_page_of_a_run_whose_tables_are_gone_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let finished =
        store(&Store::new(root.path()), "20261121T160501Z_page", three_seconds().messages());
    fs::remove_file(finished.path.join("histogram.parquet")).unwrap();
    let error = LoadedRun::read(&finished.path).err().unwrap().to_string();
    assert!(error.contains("histogram.parquet"), "{error}");
}

/// The chart of a window of a run, with or without samples.
fn drawn(samples: bool, window: &str) -> String {
    let root = tempfile::tempdir().unwrap();
    let synthetic =
        SyntheticRun { samples, stall: latlab_model::Nanos(9_000_000), ..three_seconds() };
    let id = "20261121T160501Z_time";
    let finished = store(&Store::new(root.path()), id, synthetic.messages());
    let window: WindowSpec = window.parse().unwrap();
    let drawn = over_time(&finished.path, Kind::Flow, Some(&window), &TimeOptions::default());
    let drawn = drawn.unwrap();
    assert_eq!(drawn.too_many, None);
    drawn.svg
}

#[test]
fn a_window_of_samples_is_drawn_cycle_by_cycle() {
    let (long, short) = (drawn(true, "+0s..+3s"), drawn(true, "+1s..+1.1s"));
    assert!(long.starts_with("<svg") && short.starts_with("<svg"));
    // A thirtieth of the cycles, without the stall of 9 ms in the middle of a second.
    assert!(long.len() > 2 * short.len(), "{} and {} bytes", long.len(), short.len());
    assert!(long.contains("9 ms") || long.contains("10 ms"), "the axis reaches the stall");
    assert!(!short.contains("10 ms"));
}

#[test]
fn a_window_without_samples_is_drawn_by_intervals() {
    assert!(drawn(false, "+1s..+2s").starts_with("<svg"));
}

fn row(label: &str) -> Row {
    Row {
        label: label.into(),
        scenario: label.into(),
        about: None,
        settings: BTreeMap::new(),
        kernel: None,
        left_out: None,
        plan: three_seconds().plan(),
    }
}

/// Two repeats of rows with these labels, none measured yet.
fn campaign(root: &Path, labels: &[&str]) -> CampaignFolder {
    let rows: Vec<Row> = labels.iter().map(|label| row(label)).collect();
    let run = |row, repeat| PlannedRun { row, repeat, seed: u64::from(repeat) };
    let campaign = Campaign {
        schema: CAMPAIGN_VERSION,
        latlab: "0".into(),
        id: String::new(),
        name: "night".into(),
        about: Some("Which <b>kernel</b>?".into()),
        begun: "2026-11-21T16:05:01Z".into(),
        repeats: 2,
        scale: None,
        order: Order::Sequential,
        seed: 1,
        retries: 0,
        cool_down: CoolDown::default(),
        cpus: 1,
        runs: (1..=2).flat_map(|repeat| (0..rows.len()).map(move |row| run(row, repeat))).collect(),
        rows,
        published: None,
        tune: None,
    };
    Store::new(root).begin_campaign(campaign, "").unwrap()
}

/// Stores a run for a planned one; each is slower than the one before by 1 ms.
fn measure(folder: &CampaignFolder, index: usize) -> Run {
    let plan = folder.campaign.plan(&folder.campaign.runs[index], 1);
    let slower = latlab_model::Nanos(1_000_000 * index as i64);
    let synthetic = SyntheticRun { slower, deadline: None, ..three_seconds() };
    let messages = synthetic.messages().into_iter().map(|message| match message {
        Message::Plan(_) => Message::Plan(plan.clone()),
        other => other,
    });
    store(folder.runs(), &folder.run_id(&plan.name), messages).run
}

#[test]
fn the_table_of_a_campaign_says_of_each_cell_what_became_of_it() {
    let root = tempfile::tempdir().unwrap();
    let folder = campaign(root.path(), &["a", "b"]);
    let first = measure(&folder, 0);
    let second = measure(&folder, 1);
    let damaged = folder.runs().root().join(&second.id).join("histogram.parquet");
    fs::remove_file(damaged).unwrap();
    let cell = folder.campaign.cell(&folder.campaign.runs[2]);
    folder.record_failure(cell, "no such CPU".to_string()).unwrap();

    let table = campaign_table(&folder).unwrap();
    let state = |row: usize, repeat: usize| table.rows[row].cells[repeat].state;
    assert_eq!((state(0, 0), state(1, 0)), (CellWord::Done, CellWord::Damaged));
    assert_eq!((state(0, 1), state(1, 1)), (CellWord::Failed, CellWord::Missing));
    assert_eq!(table.rows[0].cells[0].figures.max_ns, first.total.max_ns);
    assert_eq!(table.rows[0].cells[1].reason.as_deref(), Some("no such CPU"));
    let reason = table.rows[1].cells[0].reason.as_deref().unwrap();
    assert!(reason.contains("histogram.parquet"), "{reason}");
    assert_eq!((table.tally.planned, table.tally.measured), (4, 1));
    assert_eq!((table.tally.failed, table.tally.damaged), (1, 1));
}

#[test]
fn the_page_of_a_campaign_leads_to_its_runs() {
    let root = tempfile::tempdir().unwrap();
    let folder = campaign(root.path(), &["a"]);
    let runs = [measure(&folder, 0), measure(&folder, 1)];
    let shown = LoadedCampaign::read(&folder).unwrap();
    let page_of = |path: &Path| Some(format!("{}/page.html", path.file_name()?.display()));
    let html = shown.page(page_of);
    for run in &runs {
        assert!(html.contains(&format!("{}/page.html", run.id)), "{}", run.id);
    }
    assert!(html.contains("Which &lt;b>kernel") || html.contains("Which &lt;b&gt;kernel"));
    assert_eq!(shown.folders().len(), 2);
    assert!(shown.multiples(&Options::default()).starts_with("<svg"));
}

/// Invariant (documents): Texts of strangers cannot steer, turn or hide a line, and are no formulas in CSV.
#[test]
fn labels_of_a_stranger_are_shown_as_escapes_and_are_no_formulas() {
    let root = tempfile::tempdir().unwrap();
    let labels = ["=HYPERLINK(\"x\")", "gnp.\u{202e}exe\u{1b}[2J", "-1;+2", "plain, 4"];
    let folder = campaign(root.path(), &labels);
    let run = measure(&folder, 0);
    let loaded = LoadedCampaign::read(&folder).unwrap();
    assert_eq!(loaded.table.rows[1].label, labels[1], "programs get it as it is stored");
    let table = csv(&loaded.shown);
    let texts = [
        markdown(&loaded.shown),
        test_suite(&loaded.shown).junit(),
        show(&loaded.shown, 120, Style::default()),
        loaded.page(|_| None),
        loaded.multiples(&Options::default()),
    ];
    for text in texts.iter().chain([&table]) {
        assert!(!text.contains(['\u{202e}', '\u{1b}']), "{text}");
    }
    assert!(texts[1].contains(r"gnp.\u{202e}exe\u{1b}[2J"), "{}", texts[1]);
    let field = |line: usize| table.lines().nth(line).unwrap();
    let figures = format!("{},{}", run.total.cycles, run.total.max_ns.unwrap().0);
    let kernel = &run.machine.kernel;
    let first =
        format!("\"'=HYPERLINK(\"\"x\"\")\",local,{kernel},1,done,pass,{},{figures},", run.id);
    assert!(field(1).starts_with(&first), "{}", field(1));
    assert!(field(3).starts_with(r"gnp.\u{202e}exe\u{1b}[2J,local,,1,missing,"), "{}", field(3));
    assert!(field(5).starts_with("\"'-1;+2\",local,,1,missing,"), "{}", field(5));
    assert!(field(7).starts_with("\"plain, 4\",local,,1,missing,"), "{}", field(7));
}
