//! Campaigns.

use crate::scripted::{
    ScriptedAgent, Step, messages, messages_with_intervals, refusal, send, three_seconds,
};
use latlab_conduct::campaign::{
    CampaignEnd, CampaignEvent, CampaignRequest, Connect, run_campaign,
};
use latlab_conduct::link::Link;
use latlab_conduct::{Failure, StopFlag, Timing};
use latlab_model::campaign::{CAMPAIGN_VERSION, Campaign, CoolDown, Order, PlannedRun, Row};
use latlab_model::{Plan, Target};
use latlab_store::{CampaignFolder, Store};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

const RELEASE: &str = "6.12.1-rt1";
const TIMING: Timing = Timing {
    refresh: Duration::from_millis(5),
    poll: Duration::from_millis(1),
    patience: Duration::from_secs(3600),
    silence: Duration::from_secs(3600),
};

fn row(label: &str, target: &str, kernel: Option<&str>) -> Row {
    let mut plan = three_seconds().plan();
    plan.on.target = target.parse().unwrap();
    Row {
        label: label.into(),
        scenario: label.into(),
        about: None,
        settings: BTreeMap::new(),
        kernel: kernel.map(str::to_string),
        left_out: None,
        plan,
    }
}

/// Two repeats of each row.
fn campaign(root: &Path, rows: Vec<Row>) -> CampaignFolder {
    let runs = (1..=2).flat_map(|repeat| {
        (0..rows.len()).map(move |row| PlannedRun { row, repeat, seed: u64::from(repeat) })
    });
    let campaign = Campaign {
        schema: CAMPAIGN_VERSION,
        latlab: "0".into(),
        id: String::new(),
        name: "night".into(),
        about: None,
        begun: "2026-11-21T16:05:01Z".into(),
        repeats: 2,
        scale: None,
        order: Order::Sequential,
        seed: 1,
        retries: 1,
        cool_down: CoolDown::default(),
        cpus: 1,
        runs: runs.collect(),
        rows,
        published: None,
        tune: None,
    };
    Store::new(root).begin_campaign(campaign, "").unwrap()
}

/// The end of a campaign, and one word per event.
struct MadeCampaign {
    end: Result<CampaignEnd, Failure>,
    events: Vec<String>,
}

/// Two guests and three boards at once.
fn request<'a>(
    folder: &'a CampaignFolder,
    connect: &'a Connect<'a>,
    stop: &'a StopFlag,
) -> CampaignRequest<'a> {
    CampaignRequest {
        folder,
        connect,
        guests_at_once: 2,
        boards_at_once: 3,
        board_locks: folder.path().join("boards"),
        release: RELEASE,
        is_enough: &|_| false,
        stop,
        timing: TIMING,
    }
}

/// Makes a campaign with agents that follow the scripts of their plans.
fn make(
    folder: &CampaignFolder,
    stop: &StopFlag,
    script: impl Fn(&Plan) -> Vec<Step> + Sync,
) -> MadeCampaign {
    let events = Mutex::new(Vec::new());
    let connect = |plan: Plan| {
        let (agent, _) = ScriptedAgent::new(script(&plan));
        Ok((Box::new(agent) as Box<dyn Link>, plan))
    };
    let end = run_campaign(&request(folder, &connect, stop), |event| {
        let word = match event {
            CampaignEvent::RunStarted(position, _) => {
                format!("begin {}.{}", position.row, position.repeat)
            }
            CampaignEvent::Restored(_, change) => change.to_string(),
            CampaignEvent::RunStored(..) => "end".to_string(),
            CampaignEvent::RunFailed(_, reason) => format!("failed: {reason}"),
            CampaignEvent::BoardIsTaken(..)
            | CampaignEvent::CoolingDown(_)
            | CampaignEvent::RunProgress(..) => return,
        };
        events.lock().unwrap().push(word);
    });
    MadeCampaign { end, events: events.into_inner().unwrap() }
}

fn whole(plan: &Plan) -> Vec<Step> {
    send(messages(plan))
}

/// The names of the stored runs, sorted.
fn stored(folder: &CampaignFolder) -> Vec<String> {
    let tried = folder.progress().unwrap();
    let mut names: Vec<_> = tried.runs.iter().map(|(_, run)| run.asked.name.clone()).collect();
    names.sort();
    names
}

#[test]
fn local_rows_run_one_after_the_other_in_their_order() {
    let root = tempfile::tempdir().unwrap();
    let folder = campaign(root.path(), vec![row("a", "local", None), row("b", "local", None)]);
    let made = make(&folder, &StopFlag::new(), whole);
    assert!(matches!(made.end, Ok(CampaignEnd::Complete)));
    let events = ["a.1", "b.1", "a.2", "b.2"];
    let events = events.map(|run| [format!("begin {run}"), "restored".into(), "end".into()]);
    assert_eq!(made.events, events.concat());
    assert_eq!(stored(&folder), ["a-1", "a-2", "b-1", "b-2"]);
}

#[test]
fn rows_of_targets_that_boot_for_each_run_are_made_side_by_side() {
    let root = tempfile::tempdir().unwrap();
    let (a, b) = (row("a", "lab:x86-64/rt-6.1", None), row("b", "lab:x86-64/stock-6.1", None));
    let folder = campaign(root.path(), vec![a, b]);
    // Each run continues only when two of them are there.
    let pair = std::sync::Barrier::new(2);
    let made = make(&folder, &StopFlag::new(), |plan| {
        assert_ne!(plan.on.target, Target::Local);
        pair.wait();
        whole(plan)
    });
    assert!(matches!(made.end, Ok(CampaignEnd::Complete)));
    assert_eq!(stored(&folder), ["a-1", "a-2", "b-1", "b-2"]);
}

/// Invariant (boards): One dead board keeps no other from being measured.
#[test]
fn boards_are_measured_side_by_side_and_each_in_its_order() {
    let root = tempfile::tempdir().unwrap();
    let on = |label: &str, board: &str| row(label, &format!("ssh://{board}"), None);
    let rows = vec![on("a", "one"), on("b", "one"), on("c", "two"), on("d", "dead")];
    let folder = campaign(root.path(), rows);
    // The first four runs of boards one and two continue only when the other board measures too.
    let (pair, met) = (std::sync::Barrier::new(2), std::sync::atomic::AtomicUsize::new(0));
    let made = make(&folder, &StopFlag::new(), |plan| {
        if plan.name.starts_with('d') {
            return send([refusal("no such board")]);
        }
        if plan.name.ends_with("a-1") || plan.name.ends_with("c-1") {
            pair.wait();
            met.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        whole(plan)
    });
    assert!(matches!(made.end, Ok(CampaignEnd::Complete)));
    assert_eq!(met.into_inner(), 2);
    assert_eq!(stored(&folder), ["a-1", "a-2", "b-1", "b-2", "c-1", "c-2"]);
    assert_eq!(folder.progress().unwrap().failures.len(), 4);
    let of_one = |event: &&String| event.starts_with("begin a") || event.starts_with("begin b");
    let of_one: Vec<&String> = made.events.iter().filter(of_one).collect();
    assert_eq!(of_one, ["begin a.1", "begin b.1", "begin a.2", "begin b.2"]);
}

/// Invariant (boards): A full disk ends a campaign once: what measures then is stored, and nothing else is begun.
#[test]
fn a_full_disk_ends_a_campaign_over_boards() {
    let root = tempfile::tempdir().unwrap();
    let folder = campaign(root.path(), vec![row("a", "ssh://a", None), row("b", "ssh://b", None)]);
    let pair = std::sync::Barrier::new(2);
    let connect = |plan: Plan| {
        pair.wait();
        if plan.name.starts_with('a') {
            return Err(Failure::NoRoom("the disk is full".to_string()));
        }
        // By then the other thread has reported its error.
        std::thread::sleep(Duration::from_millis(100));
        let (agent, _) = ScriptedAgent::new(whole(&plan));
        Ok((Box::new(agent) as Box<dyn Link>, plan))
    };
    let end = run_campaign(&request(&folder, &connect, &StopFlag::new()), |_| {});
    assert!(matches!(end, Err(Failure::NoRoom(_))), "{end:?}");
    assert_eq!(stored(&folder), ["b-1"]);
    assert_eq!(folder.progress().unwrap().failures.len(), 0);
}

#[test]
fn a_board_is_waited_for_while_another_campaign_measures_it() {
    let root = tempfile::tempdir().unwrap();
    let folder = campaign(root.path(), vec![row("a", "ssh://root@one:22", None)]);
    let locks = folder.path().join("boards");
    std::fs::create_dir(&locks).unwrap();
    let other = std::fs::File::create(locks.join("one:22")).unwrap();
    std::fs::write(locks.join("one:22"), "other campaign, process 1\n").unwrap();
    other.lock().unwrap();
    let mut other = Some(other);
    let (mut taken, mut begun) = (Vec::new(), 0);
    let connect = |plan: Plan| {
        let (agent, _) = ScriptedAgent::new(whole(&plan));
        Ok((Box::new(agent) as Box<dyn Link>, plan))
    };
    let end = run_campaign(&request(&folder, &connect, &StopFlag::new()), |event| match event {
        CampaignEvent::BoardIsTaken(_, holder) => {
            assert_eq!(begun, 0);
            taken.push(holder.to_string());
            other = None;
        }
        CampaignEvent::RunStarted(..) => begun += 1,
        _ => {}
    });
    assert!(matches!(end, Ok(CampaignEnd::Complete)));
    assert_eq!((taken, begun), (vec!["other campaign, process 1".to_string()], 2));
}

#[test]
fn a_run_that_fails_is_tried_again_and_does_not_prevent_the_others() {
    let root = tempfile::tempdir().unwrap();
    let folder = campaign(root.path(), vec![row("a", "local", None), row("b", "local", None)]);
    let refuse_a = |plan: &Plan| match plan.name.starts_with('a') {
        true => send([refusal("no such CPU")]),
        false => whole(plan),
    };
    let made = make(&folder, &StopFlag::new(), refuse_a);
    assert!(matches!(made.end, Ok(CampaignEnd::Complete)));
    assert_eq!(stored(&folder), ["b-1", "b-2"]);
    let failures = folder.progress().unwrap().failures;
    // One retry for each of both repeats.
    assert_eq!(failures.len(), 4);
    assert!(failures.iter().all(|failed| failed.reason == "no such CPU"));
    assert_eq!(made.events.iter().filter(|event| event.starts_with("failed")).count(), 4);
    // A resumed campaign retries what failed.
    let resumed = make(&folder, &StopFlag::new(), whole);
    assert!(matches!(resumed.end, Ok(CampaignEnd::Complete)));
    assert_eq!(stored(&folder).len(), 4);
}

#[test]
fn a_campaign_that_is_stopped_goes_on_where_it_ended() {
    let root = tempfile::tempdir().unwrap();
    let folder = campaign(root.path(), vec![row("a", "local", None), row("b", "local", None)]);
    let stop = StopFlag::new();
    let made = make(&folder, &stop, |plan| {
        if plan.name != "b-1" {
            return whole(plan);
        }
        stop.set();
        let mut script = send(messages_with_intervals(plan, 0));
        script.push(Step::AwaitStop);
        script
    });
    assert!(matches!(made.end, Ok(CampaignEnd::Interrupted)));
    assert_eq!(stored(&folder), ["a-1"]);
    let made = make(&folder, &StopFlag::new(), whole);
    assert!(matches!(made.end, Ok(CampaignEnd::Complete)));
    assert_eq!(stored(&folder), ["a-1", "a-2", "b-1", "b-2"]);
}

#[test]
fn a_row_for_another_kernel_waits_unless_its_target_has_a_kernel_of_its_own() {
    let root = tempfile::tempdir().unwrap();
    let rows = vec![
        row("old", "local", Some("6.1")),
        row("now", "local", Some("6.12")),
        row("guest", "lab:x86-64/rt-6.1", Some("6.1")),
    ];
    let folder = campaign(root.path(), rows);
    let made = make(&folder, &StopFlag::new(), whole);
    let Ok(CampaignEnd::Boot { kernel, runs }) = made.end else { panic!("{:?}", made.end) };
    assert_eq!((kernel.as_str(), runs), ("6.1", 2));
    assert_eq!(stored(&folder), ["guest-1", "guest-2", "now-1", "now-2"]);
}
