//! Agents that are processes: shell scripts with files of frames.

use crate::scripted::{cycles, messages, messages_with_intervals, three_seconds};
use latlab_conduct::link::{Link, LocalProcess};
use latlab_conduct::{RunRequest, StopFlag, Timing, run};
use latlab_model::Nanos;
use latlab_model::frame::Message;
use latlab_model::run::EndReason;
use latlab_store::{Finished, Store};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn write(folder: &Path, name: &str, messages: &[Message]) {
    let bytes: Vec<u8> = messages.iter().flat_map(Message::encode).collect();
    fs::write(folder.join(name), bytes).unwrap();
}

/// Runs a shell script as the agent, in a folder; the run is stopped once something is measured,
/// and the script gets this time to end.
fn conduct(folder: &Path, script: &str, patience: Duration) -> Finished {
    let plan = three_seconds().plan();
    let mut shell = Command::new("sh");
    // The last argument is the id of the run.
    shell.current_dir(folder).args(["-c", script]);
    let mut link = LocalProcess::new(shell, || vec!["restored".to_string()]);
    let stop = StopFlag::new();
    let (refresh, poll) = (Duration::from_millis(5), Duration::from_millis(1));
    let timing = Timing { refresh, poll, patience, silence: Duration::from_secs(3600) };
    let store = Store::new(folder.join("runs"));
    let id = "20261121T160501Z_process";
    let request =
        RunRequest { plan: &plan, link: &mut link, store: &store, id, stop: &stop, timing };
    let finished = run(request, |live| {
        if live.measured > Nanos::ZERO {
            stop.set();
        }
    });
    assert_eq!(link.restore(), ["restored"]);
    finished.unwrap()
}

#[test]
fn a_process_hears_that_it_is_to_stop() {
    let folder = tempfile::tempdir().unwrap();
    let plan = three_seconds().plan();
    let head = messages_with_intervals(&plan, 1);
    write(folder.path(), "head", &head);
    write(folder.path(), "rest", &messages(&plan)[head.len()..]);
    write(folder.path(), "stop", &[Message::Stop]);
    // What it reads after the greeting is what it is sent.
    let script = "cat head; tail -c 12 >heard; cmp -s heard stop && exec cat rest";
    let run = conduct(folder.path(), script, Duration::from_secs(600)).run;
    assert_eq!(run.ended, EndReason::Finished);
    assert_eq!(run.total.cycles, cycles(&messages(&plan)));
}

#[test]
fn a_process_that_does_not_stop_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let head = messages_with_intervals(&three_seconds().plan(), 1);
    write(folder.path(), "head", &head);
    let script = "cat head; exec sleep 1000";
    let run = conduct(folder.path(), script, Duration::from_millis(50)).run;
    assert_eq!((run.ended, run.total.cycles), (EndReason::Lost, cycles(&head)));
}
