//! Makes every call of recording, finishing and recovering fail, lie, or be the last one, in turn.

use crate::simulated_disk::{DiskFault, SimulatedDisk};
use jiff::Timestamp;
use latlab_digest::testing::SyntheticRun;
use latlab_digest::{RunBuilder, StreamEnd};
use latlab_model::Nanos;
use latlab_model::frame::{FrameReader, Message, ReadResult, skip_damage};
use latlab_model::run::{Summary, ThreadRun};
use latlab_store::disk::Disk;
use latlab_store::{Finished, Result, RunState, Store, verify};
use std::fs;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Messages between two syncs of the journal.
const SYNC_EVERY: usize = 5;

type Figures = (Summary, Vec<ThreadRun>);

fn messages() -> Vec<Message> {
    let warmer = Some(900);
    let short = SyntheticRun {
        threads: 1,
        period: Nanos(20_000_000),
        seconds: 2,
        samples: true,
        warmer,
        ..SyntheticRun::default()
    };
    short.messages()
}

/// The figures of these messages, if they make a run.
fn figures(messages: &[Message]) -> Option<Figures> {
    let mut builder = RunBuilder::default();
    messages.iter().for_each(|message| drop(builder.push(message.clone())));
    let digest = builder.finish("one", Timestamp::UNIX_EPOCH, StreamEnd::default()).ok()?;
    Some((digest.run.total, digest.run.threads))
}

/// Valid results if no frame or any single one was lost.
struct Expected {
    messages: Vec<Message>,
    figures: Vec<Figures>,
}

impl Expected {
    fn new() -> Expected {
        let messages = messages();
        let without = |lost: usize| {
            let mut rest = messages.clone();
            rest.remove(lost);
            figures(&rest)
        };
        let figures = std::iter::once(figures(&messages))
            .chain((0..messages.len()).map(without))
            .flatten()
            .collect();
        Expected { messages, figures }
    }

    fn whole(&self) -> &Figures {
        &self.figures[0]
    }
}

/// A program that records a run on this disk; returns how many messages a sync has confirmed.
fn record(
    root: &Path,
    messages: &[Message],
    disk: Arc<SimulatedDisk>,
) -> (usize, Result<Finished>) {
    let store = Store::new(root).with_disk(Disk::with_faults(disk));
    let mut run = match store.begin("one") {
        Ok(run) => run,
        Err(error) => return (0, Err(error)),
    };
    let mut synced = 0;
    for (number, message) in messages.iter().enumerate() {
        let _ = run.append(&message.encode());
        let due = number % SYNC_EVERY == SYNC_EVERY - 1;
        if due && run.file().is_ok_and(|file| file.sync().is_ok()) {
            synced = number + 1;
        }
    }
    (synced, run.finish())
}

/// The messages that are complete in the journal of the run, if it has one.
fn in_journal(root: &Path) -> Option<Vec<Message>> {
    let bytes = fs::read(root.join(".one.partial/journal")).ok()?;
    let (mut found, mut start) = (Vec::new(), 0);
    loop {
        let mut source = std::io::Cursor::new(&bytes);
        source.seek(SeekFrom::Start(start)).unwrap();
        let mut frames = FrameReader::new(source);
        while let ReadResult::Frame(frame) = frames.next_frame().unwrap() {
            found.push(frame.message);
        }
        start += frames.whole_bytes() + 1;
        let rest = bytes.get(start as usize..).unwrap_or_default();
        match skip_damage(&mut &*rest).unwrap() {
            Some(skipped) => start += skipped,
            None => return Some(found),
        }
    }
}

/// Whether what a program finds now is right, or reported as damaged.
fn assert_right_or_said(root: &Path, expected: &Expected, synced: usize, about: &str) {
    let journal = in_journal(root);
    let store = Store::new(root);
    let recovered = store.recover().unwrap();
    let entries = store.list().unwrap();
    let confirmed = &expected.messages[..synced];
    let finished = entries.first().and_then(|entry| match &entry.state {
        RunState::Finished(run) => Some((&entry.path, run)),
        _ => None,
    });
    let Some((path, run)) = finished else {
        let counts = |one: &Message| matches!(one, Message::Interval(_));
        assert!(!confirmed.iter().any(counts), "{about}: {synced} messages and {recovered:?}");
        return;
    };
    let checked = verify(path);
    assert!(checked.whole, "{about}: {checked:?}");
    let found: Figures = (run.total.clone(), run.threads.clone());
    if found == *expected.whole() {
        return;
    }
    assert!(!run.findings.is_empty(), "{about}: nothing is said of a loss");
    match journal {
        Some(kept) => {
            let strange = kept.iter().find(|one| {
                !expected.messages.contains(one) && !matches!(one, Message::Finding(_))
            });
            assert!(strange.is_none(), "{about}: never written: {strange:?}");
            let lost = confirmed.iter().find(|one| !kept.contains(one));
            assert!(lost.is_none(), "{about}: synced and lost: {lost:?}");
            assert_eq!(Some(found), figures(&kept), "{about}");
        }
        None => assert!(expected.figures.contains(&found), "{about}: {found:?}"),
    }
}

/// A folder in memory if available: nothing here needs to survive a power cut.
fn folder_in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Reproducible coin flips.
fn coin(seed: u64) -> impl FnMut() -> bool {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state & 1 == 1
    }
}

/// What a power cut leaves of the unsynced data: nothing, everything (as after a kill), and random
/// parts, whose number `LATLAB_CUT_PARTS` sets.
fn remains_of_cut(call: usize) -> impl Iterator<Item = (u64, impl FnMut() -> bool)> {
    let parts = std::env::var("LATLAB_CUT_PARTS").ok().and_then(|text| text.parse().ok());
    (0..2 + parts.unwrap_or(1)).map(move |which| {
        let mut part = coin((call as u64) << 20 | which);
        (which, move || which == 1 || which > 1 && part())
    })
}

/// Invariant (kills): After a power cut at any call, all that was synced is there, and what is read is right.
#[test]
fn a_power_cut_at_every_call_loses_nothing_that_was_synced() {
    let expected = Expected::new();
    let (mut cuts, mut disks) = (0, 0);
    for call in some(0..) {
        let top = folder_in_memory();
        let disk = SimulatedDisk::new(top.path()).fault_at(call, DiskFault::Cut);
        let (synced, finished) = record(&top.path().join("runs"), &expected.messages, disk.clone());
        if !disk.is_off() {
            assert!(finished.is_ok());
            break;
        }
        assert!(finished.is_err(), "call {call}");
        cuts += 1;
        for (which, remains) in remains_of_cut(call) {
            let found = folder_in_memory();
            disk.after_power_cut(found.path(), remains);
            disks += 1;
            let about = format!("cut before call {call}, {which}");
            assert_right_or_said(&found.path().join("runs"), &expected, synced, &about);
        }
    }
    println!("{cuts} power cuts while recording and finishing, {disks} disks after them");
    assert!(cuts > 20, "{cuts} calls");
}

/// All of them in the long form; else every third, from a start that differs from run to run.
fn some<T>(all: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let step = if std::env::var_os("LATLAB_LONG").is_some() { 1 } else { 3 };
    let start = Timestamp::now().as_millisecond() as usize % step;
    println!("every {step}, from number {start} on");
    all.skip(start).step_by(step)
}

/// The faults possible while a run is recorded and finished, each with the number of its call.
fn faults_of_a_record(expected: &Expected) -> Vec<(usize, DiskFault)> {
    let top = folder_in_memory();
    let disk = SimulatedDisk::new(top.path());
    record(&top.path().join("runs"), &expected.messages, disk.clone()).1.unwrap();
    disk.possible_faults()
}

/// Invariant (losses): A call that fails or lies costs what it did not do, and the run says so.
#[test]
fn every_call_that_fails_or_lies_is_said_or_harmless() {
    let expected = Expected::new();
    let mut happened = 0;
    for (call, fault) in some(faults_of_a_record(&expected).into_iter()) {
        // Cuts and false syncs are tested separately.
        if matches!(fault, DiskFault::Cut | DiskFault::FalseSync) {
            continue;
        }
        happened += 1;
        let about = format!("{fault:?} at call {call}");
        let top = folder_in_memory();
        let root = top.path().join("runs");
        let disk = SimulatedDisk::new(top.path()).fault_at(call, fault);
        let _ = record(&root, &expected.messages, disk.clone());
        assert!(disk.happened(), "{about}");
        let begun = fs::exists(&root).unwrap();
        if begun {
            assert_right_or_said(&root, &expected, 0, &about);
        }
        // A run that was begun, and of which all but one frame could be written, exists at the end.
        let stored = begun && Store::new(&root).list().unwrap().len() == 1;
        assert!(stored || fault == DiskFault::Fails, "{about}");
    }
    println!("{happened} calls that failed or lied while recording and finishing");
    assert!(happened > 50, "{happened} faults");
}

/// Invariant (losses): A disk that confirms what it has not stored costs what it says, and no figure is wrong.
#[test]
fn a_sync_that_does_nothing_gives_no_wrong_figure() {
    let expected = Expected::new();
    let mut false_syncs = 0;
    for (call, fault) in faults_of_a_record(&expected) {
        if fault != DiskFault::FalseSync {
            continue;
        }
        false_syncs += 1;
        let top = folder_in_memory();
        let disk = SimulatedDisk::new(top.path()).fault_at(call, fault);
        let _ = record(&top.path().join("runs"), &expected.messages, disk.clone());
        assert!(disk.happened(), "{call}");
        let found = folder_in_memory();
        disk.after_power_cut(found.path(), || false);
        let root = found.path().join("runs");
        let _ = Store::new(&root).recover();
        for entry in Store::new(&root).list().unwrap() {
            let RunState::Finished(run) = &entry.state else { continue };
            let is_right = (run.total.clone(), run.threads.clone()) == *expected.whole();
            assert!(is_right || !verify(&entry.path).whole || !run.findings.is_empty(), "{call}");
        }
    }
    println!("{false_syncs} syncs that did nothing, each with a power cut");
    assert!(false_syncs > 10, "{false_syncs} syncs");
}

/// Recovers a run whose program was killed at its end, with a fault at a call of the recovery.
fn recover(top: &Path, expected: &Expected, call: usize, fault: DiskFault) -> Arc<SimulatedDisk> {
    let root = top.join("runs");
    let disk = SimulatedDisk::new(top);
    {
        let store = Store::new(&root).with_disk(Disk::with_faults(disk.clone()));
        let mut run = store.begin("one").unwrap();
        expected.messages.iter().for_each(|one| run.append(&one.encode()).unwrap());
        run.file().unwrap().sync().unwrap();
    }
    let disk = disk.fault_at(call, fault);
    let _ = Store::new(&root).with_disk(Disk::with_faults(disk.clone())).recover();
    disk
}

/// Invariant (kills): A recovery that fails, lies or is cut at any call is done by the next one.
#[test]
fn a_recovery_that_fails_at_every_call_is_done_by_the_next_one() {
    let expected = Expected::new();
    let all = expected.messages.len();
    // Without a fault, since no recovery has this many calls.
    let rehearsal = recover(folder_in_memory().path(), &expected, usize::MAX, DiskFault::Fails);
    let (mut happened, mut disks) = (0, 0);
    for (call, fault) in some(rehearsal.possible_faults().into_iter()) {
        // Only a power cut reveals it.
        if fault == DiskFault::FalseSync {
            continue;
        }
        happened += 1;
        let about = format!("{fault:?} at call {call} of a recovery");
        let top = folder_in_memory();
        let disk = recover(top.path(), &expected, call, fault);
        assert!(disk.happened(), "{about}");
        if fault == DiskFault::Cut {
            for (_, remains) in remains_of_cut(call) {
                let found = folder_in_memory();
                disk.after_power_cut(found.path(), remains);
                disks += 1;
                assert_right_or_said(&found.path().join("runs"), &expected, all, &about);
            }
        }
        let read_falsely = fault == DiskFault::FalseRead;
        let synced = if read_falsely { 0 } else { all };
        assert_right_or_said(&top.path().join("runs"), &expected, synced, &about);
    }
    println!("{happened} faults of a recovery, {disks} disks after its power cuts");
    assert!(happened > 15 && disks > 15, "{happened} faults, {disks} disks");
}
