//! Which runs of a campaign are done, and what comes next.

use latlab_digest::testing::SyntheticRun;
use latlab_model::campaign::{
    CAMPAIGN_VERSION, Campaign, Cell, CoolDown, FailedAttempt, Order, PlannedRun, Row,
};
use latlab_model::finding::{EndFinding, Finding, MachineFinding};
use latlab_model::run::{EndReason, VerdictWord};
use latlab_model::{Plan, Run};
use latlab_store::{AttemptProblem, CampaignProgress, CellState, Error, NextStep, Store, read_run};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

const RELEASE: &str = "6.12.1-rt1";

fn row(label: &str, kernel: Option<&str>) -> Row {
    Row {
        label: label.into(),
        scenario: label.into(),
        about: None,
        settings: BTreeMap::new(),
        kernel: kernel.map(str::to_string),
        left_out: None,
        plan: Plan::default(),
    }
}

/// One repeat of each row.
fn campaign(rows: Vec<Row>) -> Campaign {
    Campaign {
        schema: CAMPAIGN_VERSION,
        latlab: "0".into(),
        id: String::new(),
        name: "night".into(),
        about: None,
        begun: String::new(),
        repeats: 1,
        scale: None,
        order: Order::Sequential,
        seed: 1,
        retries: 1,
        cool_down: CoolDown::default(),
        cpus: 1,
        runs: (0..rows.len()).map(|row| PlannedRun { row, repeat: 1, seed: 1 }).collect(),
        rows,
        published: None,
        tune: None,
    }
}

/// A finished run of a row, modified by `change`.
fn run_of(campaign: &Campaign, row: usize, change: impl FnOnce(&mut Run)) -> (PathBuf, Run) {
    let root = tempfile::tempdir().unwrap();
    let mut open = Store::new(root.path()).begin("one").unwrap();
    open.append(&SyntheticRun { threads: 1, seconds: 1, ..SyntheticRun::default() }.bytes())
        .unwrap();
    let mut run = read_run(&open.finish().unwrap().path).unwrap();
    run.findings.retain(|finding| !finding.invalidates());
    run.ended = EndReason::Finished;
    run.asked.cell = Some(campaign.cell(&campaign.runs[row]));
    change(&mut run);
    (PathBuf::new(), run)
}

fn invalid(run: &mut Run) {
    run.findings
        .push(Finding::new(MachineFinding::Suspended { length_ns: latlab_model::Nanos(1) }));
}

/// Invariant (campaigns): A campaign continues with the next missing run and waits for its kernel.
#[test]
fn what_was_cut_is_made_again_and_what_failed_is_retried_as_the_sheet_says() {
    let campaign = campaign(vec![row("a", None)]);
    let mut tried = CampaignProgress::default();
    let stands = |tried: &CampaignProgress| tried.cell_state(&campaign, &campaign.runs[0]);
    assert_eq!(stands(&tried), CellState::Missing { attempt: 1 });
    // Interruptions, by a user or a kill, never count as attempts.
    tried.runs.push(run_of(&campaign, 0, |run| run.ended = EndReason::Interrupted));
    tried.runs.push(run_of(&campaign, 0, |run| {
        (run.ended, run.recovered) = (EndReason::Lost, true);
    }));
    assert_eq!(stands(&tried), CellState::Missing { attempt: 3 });
    tried.runs.push(run_of(&campaign, 0, invalid));
    assert_eq!(stands(&tried), CellState::Missing { attempt: 4 });
    let mut given_up = tried.clone();
    given_up.runs.push(run_of(&campaign, 0, |run| run.ended = EndReason::RanAway));
    assert!(matches!(stands(&given_up), CellState::GivenUp { run: Some(3), .. }));
    assert_eq!(given_up.next_step(&campaign, RELEASE), NextStep::End);
    tried.runs.push(run_of(&campaign, 0, |_| {}));
    assert_eq!(stands(&tried), CellState::Done { run: 3 });
    assert_eq!(
        (tried.counts(&campaign).measured, tried.next_step(&campaign, RELEASE)),
        (1, NextStep::End)
    );
    assert_eq!(given_up.counts(&campaign).to_string(), "0 of 1 measured, 1 invalid");
    assert_eq!(given_up.verdicts(&campaign), [(VerdictWord::Invalid, 1)]);
}

/// Invariant (campaigns): The table lists each try of a run with its reason, and a missed deadline stays missed.
#[test]
fn a_lost_run_answers_nothing_but_a_missed_deadline_and_is_made_again() {
    let mut campaign = campaign(vec![row("a", None)]);
    campaign.retries = 0;
    let planned = campaign.runs[0];
    let lost = |word: Option<VerdictWord>| {
        run_of(&campaign, 0, |run| {
            let (target, reason) = ("ssh://pi".into(), "Connection reset by peer".into());
            run.ended = EndReason::Lost;
            run.findings.push(Finding::new(EndFinding::BoardLost { target, reason }));
            let verdict = word.map(|word| serde_json::json!({
                "word": word, "deadline_ns": 1000, "misses": 1, "releases": 9, "at_most_share": null,
            }));
            run.verdict = verdict.and_then(|verdict| serde_json::from_value(verdict).unwrap());
        })
    };
    let mut tried = CampaignProgress::new(vec![lost(Some(VerdictWord::Inconclusive))], Vec::new());
    let CellState::GivenUp { run: Some(0), problem } = tried.cell_state(&campaign, &planned) else {
        panic!("{:?}", tried.cell_state(&campaign, &planned))
    };
    let AttemptProblem::Finding(finding) = problem else { panic!("{problem:?}") };
    assert_eq!(finding.code(), "board-lost");
    assert_eq!(tried.verdicts(&campaign), [(VerdictWord::Invalid, 1)]);
    assert_eq!(tried.counts(&campaign).missing(), 0);
    let resumed = tried.clone().forget_failures();
    assert_eq!(resumed.cell_state(&campaign, &planned), CellState::Missing { attempt: 2 });

    // The next one cannot even be started: that is the newest reason.
    let cell = Cell { attempt: 2, ..campaign.cell(&planned) };
    let (at, refused) = (String::new(), "Connection refused".to_string());
    tried.failures.push(FailedAttempt { cell, at, reason: refused.clone() });
    let stands = tried.cell_state(&campaign, &planned);
    assert_eq!(
        stands,
        CellState::GivenUp { run: Some(0), problem: AttemptProblem::NoRun(refused) }
    );

    let mut good = run_of(&campaign, 0, |_| {});
    good.1.asked.cell.as_mut().unwrap().attempt = 3;
    tried.runs.push(good);
    assert_eq!(tried.cell_state(&campaign, &planned), CellState::Done { run: 1 });
    let attempts = tried.attempts(&campaign, &planned);
    let told: Vec<_> =
        attempts.iter().map(|one| (one.number, one.run.is_some(), one.problem.is_some())).collect();
    assert_eq!(told, [(1, true, true), (2, false, true), (3, true, false)]);

    tried.runs[0] = lost(Some(VerdictWord::Fail));
    assert_eq!(tried.verdicts(&campaign), [(VerdictWord::Fail, 1)]);
}

#[test]
fn only_verdicts_of_runs_that_fill_a_cell_are_counted() {
    let campaign = campaign(["a", "b", "c", "d"].map(|label| row(label, None)).to_vec());
    let judged = |row, word: VerdictWord| {
        let verdict = serde_json::json!({
            "word": word, "deadline_ns": 1000, "misses": 0, "releases": 1, "at_most_share": null,
        });
        run_of(&campaign, row, |run| run.verdict = serde_json::from_value(verdict).unwrap())
    };
    let runs = [VerdictWord::Pass, VerdictWord::Fail, VerdictWord::Pass];
    let runs = runs.into_iter().enumerate().map(|(row, word)| judged(row, word)).collect();
    let tried = CampaignProgress::new(runs, Vec::new());
    assert_eq!(tried.verdicts(&campaign), [(VerdictWord::Pass, 2), (VerdictWord::Fail, 1)]);
    let cut = run_of(&campaign, 3, |run| run.ended = EndReason::Interrupted);
    let tried = CampaignProgress::new(vec![cut], Vec::new());
    assert_eq!(tried.verdicts(&campaign), []);
}

/// Invariant (campaigns): A campaign continues with the next missing run and waits for its kernel.
#[test]
fn rows_of_another_kernel_are_put_off() {
    let campaign =
        campaign(vec![row("a", Some("6.1")), row("b", None), row("c", Some("6.12.1-rt"))]);
    let mut tried = CampaignProgress::default();
    for (next, row) in [(1, 1), (2, 2)] {
        assert_eq!(tried.next_step(&campaign, RELEASE), NextStep::Run { index: next, attempt: 1 });
        tried.runs.push(run_of(&campaign, row, |_| {}));
    }
    assert_eq!(
        tried.next_step(&campaign, RELEASE),
        NextStep::Boot { kernel: "6.1".into(), runs: 1 }
    );
    assert_eq!(tried.next_step(&campaign, "6.1.0-28"), NextStep::Run { index: 0, attempt: 1 });
}

#[test]
fn a_campaign_is_there_whole_or_not_and_one_process_has_it() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let begun = store.begin_campaign(campaign(vec![row("a", None)]), "# the sheet\n").unwrap();
    assert_eq!(fs::read_to_string(begun.path().join("sheet.toml")).unwrap(), "# the sheet\n");
    let again = store.find_campaign("night").unwrap().unwrap();
    assert_eq!(again.campaign, begun.campaign);
    let held = begun.lock().unwrap();
    assert!(matches!(again.lock(), Err(Error::CampaignGoesOn { .. })));
    drop(held);
    again.lock().unwrap();

    let cell = again.campaign.cell(&again.campaign.runs[0]);
    again.record_failure(cell.clone(), "no rights".into()).unwrap();
    // A cut line hides no other.
    let path = again.path().join("failures.jsonl");
    let cut = fs::read_to_string(&path).unwrap() + "{\"cell\":";
    fs::write(&path, cut).unwrap();
    again.record_failure(cell, "no memory".into()).unwrap();
    let tried = again.progress().unwrap();
    let reasons: Vec<&str> = tried.failures.iter().map(|one| one.reason.as_str()).collect();
    assert_eq!(reasons, ["no rights", "no memory"]);
    let stands = tried.cell_state(&again.campaign, &again.campaign.runs[0]);
    assert_eq!(
        stands,
        CellState::GivenUp { run: None, problem: AttemptProblem::NoRun("no memory".into()) }
    );
    assert_eq!(tried.counts(&again.campaign).to_string(), "0 of 1 measured, 1 failed");
    let stands = tried.forget_failures().cell_state(&again.campaign, &again.campaign.runs[0]);
    assert_eq!(stands, CellState::Missing { attempt: 3 }, "a resume tries it again");
    assert!(store.list().unwrap().is_empty(), "a campaign is no damaged run");
}

/// Invariant (losses): A campaign's files are not opened through links.
#[test]
fn links_in_the_folder_of_a_campaign_are_not_followed() {
    let root = tempfile::tempdir().unwrap();
    let other = root.path().join("other");
    let store = Store::new(root.path().join("runs"));
    let begun = store.begin_campaign(campaign(vec![row("a", None)]), "").unwrap();
    let cell = begun.campaign.cell(&begun.campaign.runs[0]);
    let refused = |error: Error| assert!(error.to_string().contains("it is a link"), "{error}");
    for name in ["lock", "failures.jsonl"] {
        fs::write(&other, "another user's").unwrap();
        let path = begun.path().join(name);
        symlink(&other, &path).unwrap();
        match name {
            "lock" => refused(begun.lock().unwrap_err()),
            _ => {
                refused(begun.record_failure(cell.clone(), "late".into()).unwrap_err());
                refused(begun.progress().unwrap_err());
            }
        }
        assert_eq!(fs::read_to_string(&other).unwrap(), "another user's", "{name}");
        fs::remove_file(path).unwrap();
    }
    drop(begun.lock().unwrap());
    begun.record_failure(cell, "late".into()).unwrap();
    assert_eq!(begun.progress().unwrap().failures.len(), 1);
    fs::rename(begun.path().join("runs"), root.path().join("elsewhere")).unwrap();
    symlink(root.path().join("elsewhere"), begun.path().join("runs")).unwrap();
    refused(begun.lock().unwrap_err());
}
