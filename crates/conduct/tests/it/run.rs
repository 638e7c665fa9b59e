//! Single runs.

use crate::scripted::{
    Call, ScriptedAgent, Step, cycles, messages, messages_with_intervals, refusal, send,
    stopped_end, three_seconds,
};
use latlab_conduct::link::{InProcess, Link};
use latlab_conduct::live::LiveRun;
use latlab_conduct::{Failure, RunRequest, StopFlag, Timing, run, run_in_process};
use latlab_model::finding::{EndFinding, Finding};
use latlab_model::frame::Message;
use latlab_model::run::EndReason;
use latlab_model::{Nanos, Plan};
use latlab_store::{Finished, RunState, Store};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ID: &str = "20261121T160501Z_scripted";
const QUICK: Timing = Timing {
    refresh: Duration::from_millis(5),
    poll: Duration::from_millis(1),
    patience: Duration::from_millis(50),
    silence: Duration::from_secs(3600),
};
/// A silent agent is given up at once.
const DEAF: Timing = Timing { silence: Duration::from_millis(100), ..PATIENT };
/// Longer than any test waits.
const PATIENT: Timing = Timing { patience: Duration::from_secs(3600), ..QUICK };

fn plan() -> Plan {
    three_seconds().plan()
}

/// Runs an agent over this link.
fn conduct(
    root: &Path,
    link: &mut dyn Link,
    timing: Timing,
    stop: &StopFlag,
    watch: impl FnMut(&LiveRun),
) -> Result<Finished, Failure> {
    let (plan, store) = (plan(), Store::new(root));
    run(RunRequest { plan: &plan, link, store: &store, id: ID, stop, timing }, watch)
}

fn conduct_script(root: &Path, script: Vec<Step>) -> Result<Finished, Failure> {
    let (mut agent, _) = ScriptedAgent::new(script);
    conduct(root, &mut agent, PATIENT, &StopFlag::new(), |_| {})
}

fn left_in(root: &Path) -> Vec<PathBuf> {
    fs::read_dir(root).map_or(Vec::new(), |all| all.map(|one| one.unwrap().path()).collect())
}

#[test]
fn a_run_is_stored_with_its_counts() {
    let root = tempfile::tempdir().unwrap();
    let all = messages(&plan());
    let (mut agent, calls) = ScriptedAgent::new(send(all.clone()));
    let finished = conduct(root.path(), &mut agent, PATIENT, &StopFlag::new(), |_| {}).unwrap();
    assert_eq!(calls.order(), Message::Plan(plan()));
    assert_eq!(calls.after_start(), [Call::Wait]);
    assert_eq!(finished.path, root.path().join(ID));
    assert_eq!(finished.run.asked, plan());
    assert_eq!(finished.run.ended, EndReason::Finished);
    assert_eq!(finished.run.total.cycles, cycles(&all));
    let listed = Store::new(root.path()).list().unwrap();
    assert!(
        matches!(&listed[..], [one] if matches!(&one.state, RunState::Finished(run) if **run == finished.run))
    );
}

/// Invariant (kills): No run waits without end for an agent that says nothing.
#[test]
fn an_agent_that_says_nothing_is_given_up() {
    let root = tempfile::tempdir().unwrap();
    let (mut agent, calls) = ScriptedAgent::new(vec![Step::Hang]);
    let failure = conduct(root.path(), &mut agent, DEAF, &StopFlag::new(), |_| {}).unwrap_err();
    assert!(matches!(failure, Failure::Nothing), "{failure}");
    assert_eq!(calls.after_start(), [Call::Kill, Call::Wait]);
    assert_eq!(left_in(root.path()), <[PathBuf; 0]>::default());
    // Also after it has measured for the planned time.
    let mut script = send(messages_with_intervals(&plan(), 2));
    script.push(Step::Hang);
    let (mut agent, calls) = ScriptedAgent::new(script);
    let began = Instant::now();
    let finished = conduct(root.path(), &mut agent, DEAF, &StopFlag::new(), |_| {}).unwrap();
    assert!(began.elapsed() > Duration::from_secs(3), "its time was its own");
    assert_eq!(calls.after_start(), [Call::Kill, Call::Wait]);
    assert_eq!(finished.run.ended, EndReason::Lost);
}

#[test]
fn the_live_view_shows_the_run_as_it_stands() {
    let root = tempfile::tempdir().unwrap();
    let head = messages_with_intervals(&plan(), 2);
    let mut script = send(head.clone());
    script.push(Step::AwaitStop);
    script.extend(send(stopped_end(cycles(&head))));
    let (mut agent, _) = ScriptedAgent::new(script);
    let stop = StopFlag::new();
    let mut seen = 0;
    let finished = conduct(root.path(), &mut agent, PATIENT, &stop, |live| {
        if live.measured == Nanos(2_000_000_000) {
            seen = live.threads[0].total.count;
            stop.set();
        }
    });
    assert_eq!(seen, cycles(&head));
    assert_eq!(finished.unwrap().run.total.cycles, seen);
}

#[test]
fn an_agent_that_is_asked_to_stop_ends_the_run_itself() {
    let root = tempfile::tempdir().unwrap();
    let head = messages_with_intervals(&plan(), 1);
    let mut script = send(head.clone());
    script.push(Step::AwaitStop);
    script.extend(send(stopped_end(cycles(&head))));
    let (mut agent, calls) = ScriptedAgent::new(script);
    let stop = StopFlag::new();
    let watch = |live: &LiveRun| {
        if live.measured > Nanos::ZERO {
            stop.set();
        }
    };
    let finished = conduct(root.path(), &mut agent, PATIENT, &stop, watch).unwrap();
    assert_eq!(calls.after_start(), [Call::Stop, Call::Wait]);
    assert_eq!(finished.run.ended, EndReason::Interrupted);
    assert_eq!(finished.run.total.cycles, cycles(&head));
    assert!(!finished.run.recovered);
}

#[test]
fn an_agent_that_does_not_stop_is_killed_and_its_run_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let head = messages_with_intervals(&plan(), 2);
    let mut script = send(head.clone());
    script.push(Step::Hang);
    let (mut agent, calls) = ScriptedAgent::new(script);
    let stop = StopFlag::new();
    let mut stopped_at = None;
    let finished = conduct(root.path(), &mut agent, QUICK, &stop, |live| {
        if live.measured > Nanos::ZERO && stopped_at.is_none() {
            stopped_at = Some(Instant::now());
            stop.set();
        }
    });
    let finished = finished.unwrap();
    assert!(stopped_at.unwrap().elapsed() > QUICK.patience, "it had its time to stop");
    assert_eq!(calls.after_start(), [Call::Stop, Call::Kill, Call::Wait]);
    assert_eq!(finished.run.ended, EndReason::Lost);
    assert_eq!(finished.run.total.cycles, cycles(&head));
}

#[test]
fn an_agent_that_closes_its_stream_and_lives_is_killed_and_its_run_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let all = messages(&plan());
    let mut script = send(all.clone());
    script.push(Step::CloseAndHang);
    let (mut agent, calls) = ScriptedAgent::new(script);
    let finished = conduct(root.path(), &mut agent, QUICK, &StopFlag::new(), |_| {}).unwrap();
    assert_eq!(calls.after_start(), [Call::Kill, Call::Wait]);
    assert_eq!(
        (finished.run.ended, finished.run.total.cycles),
        (EndReason::Finished, cycles(&all))
    );
}

#[test]
fn an_agent_that_hangs_after_its_last_word_is_killed_as_well() {
    let root = tempfile::tempdir().unwrap();
    let mut script = send(messages(&plan()));
    script.push(Step::Hang);
    let (mut agent, calls) = ScriptedAgent::new(script);
    let finished = conduct(root.path(), &mut agent, QUICK, &StopFlag::new(), |_| {}).unwrap();
    assert_eq!(calls.after_start(), [Call::Kill, Call::Wait]);
    assert_eq!(finished.run.ended, EndReason::Finished);
}

#[test]
fn a_refusal_leaves_no_folder() {
    let root = tempfile::tempdir().unwrap();
    let failure = conduct_script(root.path(), send([refusal("no right to do so")])).unwrap_err();
    assert!(matches!(&failure, Failure::Refused(why) if why.text == "no right to do so"));
    assert_eq!(left_in(root.path()), <[PathBuf; 0]>::default());
}

#[test]
fn a_run_without_a_counted_cycle_leaves_no_folder() {
    let root = tempfile::tempdir().unwrap();
    let head = messages_with_intervals(&plan(), 0);
    let failure = conduct_script(root.path(), send(head)).unwrap_err();
    assert!(matches!(failure, Failure::Nothing), "{failure}");
    assert_eq!(left_in(root.path()), <[PathBuf; 0]>::default());
}

#[test]
fn a_stream_that_is_cut_in_a_frame_is_finished_up_to_the_last_whole_frame() {
    let head = messages_with_intervals(&plan(), 2);
    let last = messages_with_intervals(&plan(), 3).into_iter().nth(head.len()).unwrap();
    assert!(matches!(last, Message::Interval(_)));
    let last = last.encode();
    for cut in [1, 12, last.len() - 1] {
        let root = tempfile::tempdir().unwrap();
        let mut script = send(head.clone());
        script.push(Step::SendBytes(last[..cut].to_vec()));
        let run = conduct_script(root.path(), script).unwrap().run;
        assert_eq!((run.ended, run.total.cycles), (EndReason::Lost, cycles(&head)), "cut at {cut}");
        assert!(run.findings.iter().any(|finding| finding.code() == "stream-lost"));
    }
}

#[test]
fn what_follows_garbage_is_not_taken_for_a_measurement() {
    let root = tempfile::tempdir().unwrap();
    let head = messages_with_intervals(&plan(), 1);
    let mut script = send(head.clone());
    script.push(Step::SendBytes(vec![0x5a; 100]));
    script.extend(send(messages(&plan())));
    let run = conduct_script(root.path(), script).unwrap().run;
    assert_eq!((run.ended, run.total.cycles), (EndReason::Lost, cycles(&head)));
}

#[test]
fn an_agent_that_sends_nothing_but_garbage_makes_no_run() {
    let root = tempfile::tempdir().unwrap();
    let failure = conduct_script(root.path(), vec![Step::SendBytes(vec![7; 4096])]).unwrap_err();
    assert!(matches!(failure, Failure::Nothing), "{failure}");
    assert_eq!(left_in(root.path()), <[PathBuf; 0]>::default());
}

#[test]
fn a_run_that_is_stopped_before_its_first_cycle_leaves_no_folder() {
    let root = tempfile::tempdir().unwrap();
    let mut script = send(messages_with_intervals(&plan(), 0));
    script.push(Step::AwaitStop);
    let (mut agent, calls) = ScriptedAgent::new(script);
    let stop = StopFlag::new();
    stop.set();
    let failure = conduct(root.path(), &mut agent, PATIENT, &stop, |_| {}).unwrap_err();
    assert!(matches!(failure, Failure::Nothing), "{failure}");
    assert_eq!(calls.after_start(), [Call::Stop, Call::Wait]);
    assert_eq!(left_in(root.path()), <[PathBuf; 0]>::default());
}

#[test]
fn what_a_link_says_last_stands_in_the_run() {
    let root = tempfile::tempdir().unwrap();
    let (mut agent, _) = ScriptedAgent::new(send(messages(&plan())));
    let finding = Finding::new(EndFinding::HostCrowded { waited_share: 0.3 });
    agent.last_messages = vec![Message::Finding(finding)];
    let finished = conduct(root.path(), &mut agent, PATIENT, &StopFlag::new(), |_| {}).unwrap();
    assert!(finished.run.findings.iter().any(|finding| finding.code() == "host-crowded"));
}

#[test]
fn in_process_each_frame_is_in_the_journal_before_it_is_shown() {
    let root = tempfile::tempdir().unwrap();
    let all = messages(&plan());
    let (mut agent, _) = ScriptedAgent::new(send(all.clone()));
    let store = Store::new(root.path());
    let mut bytes = 0;
    let result = run_in_process(&plan(), &mut agent, Some((&store, ID)), |message| {
        bytes += message.encode().len() as u64;
        let folder = &left_in(root.path())[0];
        let journal = fs::metadata(folder.join("journal")).unwrap().len();
        assert!(journal >= bytes, "{journal} of {bytes} bytes");
    });
    let result = result.unwrap();
    assert_eq!(result.problems, <[String; 0]>::default());
    assert_eq!(result.finished.unwrap().run.total.cycles, cycles(&all));
}

#[test]
fn in_process_a_disk_that_takes_nothing_does_not_prevent_the_measurement() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "no folder").unwrap();
    let store = Store::new(&file);
    let all = messages(&plan());
    let (mut agent, _) = ScriptedAgent::new(send(all.clone()));
    let mut seen = Vec::new();
    let result = run_in_process(&plan(), &mut agent, Some((&store, ID)), |message| {
        seen.push(message.clone());
    });
    let result = result.unwrap();
    assert_eq!(seen, all);
    assert!(result.finished.is_none());
    assert!(
        matches!(&result.problems[..], [one] if one.starts_with("the run is not stored")),
        "{:?}",
        result.problems
    );
}

#[test]
fn in_process_an_agent_that_fails_says_why() {
    let agent = |_, _| Err("no memory left".to_string());
    let mut link = InProcess::new(agent, Vec::new);
    let failure = run_in_process(&plan(), &mut link, None, |_| {}).err().unwrap();
    assert!(failure.to_string().contains("no memory left"), "{failure}");
}
