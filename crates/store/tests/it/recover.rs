//! Kills, cuts and damage: what was counted before stays, and nothing else gets in.

use jiff::Timestamp;
use latlab_digest::testing::SyntheticRun;
use latlab_digest::{RunBuilder, StreamEnd};
use latlab_model::Nanos;
use latlab_model::frame::{FrameReader, Message, ReadResult, Refusal};
use latlab_model::run::{EndReason, VerdictWord};
use latlab_model::samples::{Samples, pack};
use latlab_store::{
    Error, Finished, Recovered, RecoveryOutcome, RunState, Store, histograms, read_run,
};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn small() -> SyntheticRun {
    SyntheticRun { threads: 2, seconds: 3, ..SyntheticRun::default() }
}

/// A run whose program was killed after it had written these bytes.
fn killed(root: &Path, id: &str, bytes: &[u8]) {
    let mut run = Store::new(root).begin(id).unwrap();
    run.append(bytes).unwrap();
}

fn recover(root: &Path) -> Vec<Recovered> {
    Store::new(root).recover().unwrap()
}

fn finish(root: &Path, bytes: &[u8]) -> Finished {
    let mut run = Store::new(root).begin("cut").unwrap();
    run.append(bytes).unwrap();
    run.finish().unwrap()
}

/// Cycles in the whole frames of these bytes, the length of those frames, and whether the last is
/// the agent's last message.
fn whole(bytes: &[u8]) -> (u64, u64, bool) {
    let mut reader = FrameReader::new(bytes);
    let (mut cycles, mut ended) = (0, false);
    while let ReadResult::Frame(frame) = reader.next_frame().unwrap() {
        match frame.message {
            Message::Interval(interval) => cycles += interval.counts.count,
            Message::End(_) => ended = true,
            _ => {}
        }
    }
    (cycles, reader.whole_bytes(), ended)
}

/// The small run with all its samples, those of each second before the interval that counts them.
fn with_samples() -> Vec<Message> {
    let mut messages = Vec::new();
    for mut message in small().messages() {
        match &mut message {
            Message::Plan(plan) => plan.keep.samples = true,
            Message::Interval(interval) => {
                let latency = |cycle: u64| 2_000 + (cycle * 7919 % 3001) as i64;
                let latencies: Vec<i64> = (0..interval.counts.count).map(latency).collect();
                messages.push(Message::Samples(Samples {
                    thread: interval.thread,
                    lost_before: 0,
                    first_release_ns: interval.start_ns,
                    period_ns: Nanos(997_000),
                    count: latencies.len() as u32,
                    jumps: Vec::new(),
                    packed: pack(&latencies),
                }));
            }
            _ => {}
        }
        messages.push(message);
    }
    messages
}

/// Damage to a journal as disks cause it.
#[derive(Clone, Debug)]
enum Damage {
    Flip(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    /// A block that never reached the disk before a power cut.
    Zeroed(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        3 => (any::<prop::sample::Index>(), 0u8..8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        1 => any::<prop::sample::Index>().prop_map(Damage::Cut),
        1 => any::<prop::sample::Index>().prop_map(Damage::Zeroed),
    ]
}

fn do_damage(bytes: &mut Vec<u8>, damages: &[Damage]) {
    for damage in damages {
        if bytes.is_empty() {
            return;
        }
        match damage {
            Damage::Flip(at, bit) => {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Damage::Zeroed(at) => {
                let start = at.index(bytes.len()) / 4096 * 4096;
                let end = bytes.len().min(start + 4096);
                bytes[start..end].fill(0);
            }
        }
    }
}

/// The messages that are still complete in a damaged stream.
fn survivors(messages: &[Message], damaged: &[u8]) -> Vec<Message> {
    let mut at = 0;
    let whole = messages.iter().filter(|message| {
        let frame = message.encode();
        at += frame.len();
        damaged.get(at - frame.len()..at) == Some(&frame[..])
    });
    whole.cloned().collect()
}

/// Where measuring begins; before that there is no run.
fn prepared_end(messages: &[Message]) -> usize {
    let prepared = messages.iter().position(|one| matches!(one, Message::Prepared(_))).unwrap();
    messages[..=prepared].iter().map(|message| message.encode().len()).sum()
}

fn assert_holds_what_is_whole(bytes: &[u8]) {
    let root = tempfile::tempdir().unwrap();
    let (cycles, whole_bytes, ended) = whole(bytes);
    let Finished { run, path } = finish(root.path(), bytes);
    assert_eq!(run.total.cycles, cycles);
    assert_eq!(run.losses.journal_bytes, bytes.len() as u64 - whole_bytes);
    assert_eq!(run.ended == EndReason::Lost, !ended);
    assert!(!run.recovered, "the program that wrote the journal finished it");
    let damaged = run.findings.iter().any(|finding| finding.code().starts_with("journal-"));
    assert_eq!(damaged, run.losses.journal_bytes > 0);
    assert_eq!(read_run(&path).unwrap(), run);
}

/// One in the long form, in which each byte has its turn; else this prime number.
pub fn step(usual: usize) -> usize {
    if std::env::var_os("LATLAB_LONG").is_some() { 1 } else { usual }
}

#[test]
fn a_cut_at_every_byte_of_the_last_frames_keeps_what_is_whole() {
    let messages = small().messages();
    let bytes = small().bytes();
    let last: usize = messages.iter().rev().take(3).map(|message| message.encode().len()).sum();
    for cut in (bytes.len() - last - 1..=bytes.len()).rev().step_by(step(7)) {
        assert_holds_what_is_whole(&bytes[..cut]);
    }
}

/// Number of inputs; PROPTEST_CASES overrides the usual number.
fn cases(usual: u32) -> u32 {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn a_cut_within_an_interval_keeps_the_ones_before() {
    let bytes = small().bytes();
    for cut in (prepared_end(&small().messages())..bytes.len()).step_by(97) {
        assert_holds_what_is_whole(&bytes[..cut]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(30),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Invariant (losses): A flipped bit costs one frame, and is reported.
    #[test]
    fn a_flipped_bit_anywhere_costs_its_own_frame_and_is_told(
        at in any::<prop::sample::Index>(), bit in 0u8..8,
    ) {
        let root = tempfile::tempdir().unwrap();
        let mut bytes = small().bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        killed(root.path(), "damaged", &bytes);
        let recovered = recover(root.path());
        let run = match &recovered[0].outcome {
            RecoveryOutcome::Finished(path) => read_run(path).unwrap(),
            other => return Err(TestCaseError::fail(format!("{other:?}"))),
        };
        let (lost, kept) = without_frame_at(at);
        prop_assert_eq!(run.losses.journal_bytes, lost);
        // If the length field of the last frame grows, the frame looks cut.
        prop_assert!(run.findings.iter().any(|finding| finding.code().starts_with("journal-")));
        prop_assert!(run.verdict.unwrap().word != VerdictWord::Pass);
        let mut expected = RunBuilder::default();
        kept.into_iter().for_each(|message| drop(expected.push(message)));
        let expected = expected.finish("damaged", Timestamp::UNIX_EPOCH, StreamEnd::default()).unwrap().run;
        prop_assert_eq!((run.total, run.threads), (expected.total, expected.threads));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(60),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Invariant (kills): After cuts, flips and zeroed blocks, exactly the whole frames are recovered.
    #[test]
    fn what_stands_whole_after_any_damage_is_there_and_nothing_else_is(
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let root = tempfile::tempdir().unwrap();
        let messages = with_samples();
        let good: Vec<u8> = messages.iter().flat_map(Message::encode).collect();
        let mut bytes = good.clone();
        do_damage(&mut bytes, &damages);
        killed(root.path(), "damaged", &bytes);
        let recovered = recover(root.path());
        let kept = survivors(&messages, &bytes);
        let run = match &recovered[0].outcome {
            RecoveryOutcome::Finished(path) => read_run(path).unwrap(),
            RecoveryOutcome::Removed(_) => {
                let counts = |one: &Message| matches!(one, Message::Interval(_));
                prop_assert!(!kept.iter().any(counts));
                return Ok(());
            }
            RecoveryOutcome::Left(_) => {
                let journal = root.path().join(".damaged.partial/journal");
                prop_assert!(fs::read(journal).unwrap() == bytes, "what is not read stays");
                return Ok(());
            }
        };
        let ended = kept.iter().any(|message| matches!(message, Message::End(_)));
        if bytes != good {
            prop_assert!(!run.findings.is_empty());
            prop_assert!(run.verdict.as_ref().unwrap().word != VerdictWord::Pass || ended);
        }
        let frames: usize = kept.iter().map(|message| message.encode().len()).sum();
        prop_assert_eq!(run.losses.journal_bytes, (bytes.len() - frames) as u64);
        let mut expected = RunBuilder::default();
        kept.into_iter().for_each(|message| drop(expected.push(message)));
        let expected = expected.finish("damaged", Timestamp::UNIX_EPOCH, StreamEnd::default()).unwrap().run;
        prop_assert_eq!((run.total, run.threads), (expected.total, expected.threads));
        prop_assert_eq!(run.losses.samples, expected.losses.samples);
    }

    /// Invariant (losses): Damage to a finished run is reported and never read as a number.
    #[test]
    fn damage_to_a_finished_run_is_told_and_never_a_number(
        damages in prop::collection::vec(damage(), 1..4), in_table in any::<bool>(),
    ) {
        let root = tempfile::tempdir().unwrap();
        let Finished { run, path } = finish(root.path(), &small().bytes());
        let name = if in_table { "histogram.parquet" } else { "run.json" };
        let bins = histograms(&path, &run).unwrap();
        let good = fs::read(path.join(name)).unwrap();
        let mut bytes = good.clone();
        do_damage(&mut bytes, &damages);
        fs::write(path.join(name), &bytes).unwrap();
        match in_table {
            true => prop_assert_eq!(histograms(&path, &run).ok(), (bytes == good).then_some(bins)),
            false => prop_assert_eq!(read_run(&path).ok(), (bytes == good).then_some(run)),
        }
        let listed = Store::new(root.path()).list().unwrap();
        let told = matches!(listed[0].state, RunState::Damaged(_));
        prop_assert_eq!(told, !in_table && bytes != good);
    }
}

/// The messages of the small run without the one that contains this byte, and its length.
fn without_frame_at(at: usize) -> (u64, Vec<Message>) {
    let mut messages = small().messages();
    let mut end = 0;
    let damaged = messages.iter().position(|message| {
        end += message.encode().len();
        at < end
    });
    let damaged = messages.remove(damaged.unwrap());
    (damaged.encode().len() as u64, messages)
}

#[test]
fn damage_that_leaves_no_plan_is_no_run_but_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let mut bytes = small().bytes();
    let plan = Message::Plan(small().plan()).encode();
    let places: Vec<usize> =
        (0..bytes.len() - plan.len()).filter(|&at| bytes[at..].starts_with(&plan)).collect();
    assert_eq!(places.len(), 2, "the plan stands there twice");
    places.into_iter().for_each(|at| bytes[at + 100] ^= 1);
    killed(root.path(), "damaged", &bytes);
    let recovered = recover(root.path());
    let RecoveryOutcome::Left(Error::NothingMeasured { holds_counts, .. }) = &recovered[0].outcome
    else {
        panic!("{recovered:?}");
    };
    assert!(holds_counts);
    assert_eq!(fs::read(root.path().join(".damaged.partial/journal")).unwrap(), bytes);
}

#[test]
fn a_killed_run_is_finished_on_the_next_opening() {
    let root = tempfile::tempdir().unwrap();
    let bytes = small().bytes();
    killed(root.path(), "whole", &bytes);
    killed(root.path(), "cut", &bytes[..bytes.len() - 10]);
    let listed = Store::new(root.path()).list().unwrap();
    assert!(listed.iter().all(|entry| matches!(entry.state, RunState::Abandoned)));

    let recovered = recover(root.path());
    assert_eq!(recovered.len(), 2);
    assert!(recovered.iter().all(|one| matches!(one.outcome, RecoveryOutcome::Finished(_))));
    let whole = read_run(&root.path().join("whole")).unwrap();
    assert_eq!((whole.ended, whole.recovered), (EndReason::Finished, true));
    assert_eq!(whole.verdict.unwrap().word, VerdictWord::Pass);
    let cut = read_run(&root.path().join("cut")).unwrap();
    assert_eq!((cut.ended, cut.recovered), (EndReason::Lost, true));
    assert_eq!(cut.verdict.unwrap().word, VerdictWord::Inconclusive);
    assert!(recover(root.path()).is_empty());
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let mut run = store.begin("now").unwrap();
    run.append(&small().bytes()).unwrap();
    assert!(recover(root.path()).is_empty());
    assert!(matches!(store.list().unwrap()[0].state, RunState::Running));
    run.finish().unwrap();
    assert!(matches!(store.list().unwrap()[0].state, RunState::Finished(_)));
}

#[test]
fn a_run_that_measured_nothing_is_removed_and_reported() {
    let root = tempfile::tempdir().unwrap();
    let messages = small().messages();
    let before: Vec<u8> = messages[..5].iter().flat_map(Message::encode).collect();
    killed(root.path(), "warm-up", &before);
    killed(root.path(), "at-once", b"");
    killed(root.path(), "half", &before[..before.len() - 3]);
    fs::create_dir(root.path().join(".no-journal.partial")).unwrap();
    let recovered = recover(root.path());
    assert_eq!(recovered.len(), 4);
    for one in recovered {
        assert!(
            matches!(one.outcome, RecoveryOutcome::Removed(_)),
            "{}: {:?}",
            one.id,
            one.outcome
        );
    }
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_of_somebody_else_is_not_removed() {
    let root = tempfile::tempdir().unwrap();
    let strange = root.path().join(".strange.partial");
    fs::create_dir(&strange).unwrap();
    fs::write(strange.join("thesis.txt"), "important").unwrap();
    assert!(matches!(recover(root.path())[0].outcome, RecoveryOutcome::Left(_)));
    assert!(strange.join("thesis.txt").exists());
}

#[test]
fn a_crash_while_finishing_is_made_good() {
    let root = tempfile::tempdir().unwrap();
    let partial = root.path().join(".one.partial");
    let bytes = small().bytes();

    killed(root.path(), "one", &bytes);
    // Partial tables and a document of a first attempt lie next to the journal.
    for name in ["histogram.parquet", "intervals.parquet", "run.json"] {
        fs::write(partial.join(name), b"half").unwrap();
    }
    let recovered = recover(root.path());
    assert!(matches!(recovered[0].outcome, RecoveryOutcome::Finished(_)), "{recovered:?}");
    let run = read_run(&root.path().join("one")).unwrap();
    assert_eq!(run.total.cycles, whole(&bytes).0);
    assert!(!root.path().join("one/journal").exists());

    // The journal was already removed, but the folder not yet renamed.
    fs::rename(root.path().join("one"), &partial).unwrap();
    let recovered = recover(root.path());
    assert!(matches!(recovered[0].outcome, RecoveryOutcome::Finished(_)), "{recovered:?}");
    assert_eq!(read_run(&root.path().join("one")).unwrap(), run);
}

#[test]
fn a_refusal_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let refusal = Refusal {
        plan_is_wrong: false,
        of_every_run: true,
        text: "no right to use FIFO".to_string(),
    };
    let mut run = Store::new(root.path()).begin("one").unwrap();
    run.append(&small().messages()[0].encode()).unwrap();
    run.append(&Message::Refusal(refusal.clone()).encode()).unwrap();
    run.add_original("log.txt", &mut &b"0: 1: 5"[..]).unwrap();
    run.discard().unwrap();
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);

    let mut run = Store::new(root.path()).begin("one").unwrap();
    run.append(&Message::Refusal(refusal).encode()).unwrap();
    let error = run.finish().unwrap_err().to_string();
    assert!(error.contains("no right to use FIFO"), "{error}");
}

#[test]
fn a_run_ended_by_its_user_before_the_first_interval_is_kept() {
    let root = tempfile::tempdir().unwrap();
    let mut run = Store::new(root.path()).begin("short").unwrap();
    for message in &small().messages()[..5] {
        run.append(&message.encode()).unwrap();
    }
    let run = run.finish().unwrap().run;
    assert_eq!((run.total.cycles, run.total.min_ns), (0, None));
    assert_eq!(run.verdict.unwrap().word, VerdictWord::Inconclusive);
}

#[test]
fn a_stream_of_another_version_is_left_for_its_program() {
    let root = tempfile::tempdir().unwrap();
    let mut messages = small().messages();
    if let Message::Hello(hello) = &mut messages[0] {
        hello.stream += 1;
    }
    let bytes: Vec<u8> = messages.iter().flat_map(Message::encode).collect();
    killed(root.path(), "new", &bytes);
    let recovered = recover(root.path());
    let RecoveryOutcome::Left(error) = &recovered[0].outcome else { panic!("{recovered:?}") };
    assert!(error.to_string().contains("use the latlab that wrote it"), "{error}");
    assert!(root.path().join(".new.partial/journal").exists());
}

#[test]
fn a_journal_that_cannot_be_read_at_all_is_not_removed() {
    let root = tempfile::tempdir().unwrap();
    killed(root.path(), "noise", &[0x5a; 5000]);
    let recovered = recover(root.path());
    assert!(matches!(recovered[0].outcome, RecoveryOutcome::Left(_)), "{:?}", recovered[0].outcome);
    assert_eq!(fs::read(root.path().join(".noise.partial/journal")).unwrap().len(), 5000);
}

#[test]
fn a_removal_that_was_cut_off_is_gone_on_with() {
    let root = tempfile::tempdir().unwrap();
    let messages = small().messages();
    let before: Vec<u8> = messages[..5].iter().flat_map(Message::encode).collect();
    killed(root.path(), "warm-up", &before);
    let partial = root.path().join(".warm-up.partial");
    fs::write(partial.join("intervals.parquet"), "PAR1").unwrap();
    fs::remove_file(partial.join("journal")).unwrap();
    assert!(matches!(recover(root.path())[0].outcome, RecoveryOutcome::Removed(_)));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn a_run_whose_folder_became_a_file_is_kept_beside_it() {
    let root = tempfile::tempdir().unwrap();
    let runs = root.path().join("runs");
    let mut run = Store::new(&runs).begin("kept").unwrap();
    run.append(&small().bytes()).unwrap();
    fs::remove_dir_all(&runs).unwrap();
    fs::write(&runs, "a file").unwrap();
    let Finished { run, path } = run.finish().unwrap();
    assert_eq!(path, root.path().join("runs.rescued/kept"));
    assert_eq!(run.total.cycles, whole(&small().bytes()).0);
    assert!(run.findings.iter().any(|finding| finding.code() == "folder-deleted"));
    assert_eq!(fs::read_to_string(&runs).unwrap(), "a file");
}

#[test]
fn recoveries_at_once_make_one_run_and_none_complains() {
    for _ in 0..20 {
        let root = tempfile::tempdir().unwrap();
        killed(root.path(), "one", &small().bytes());
        let recovered = std::thread::scope(|scope| {
            let all: Vec<_> = (0..4).map(|_| scope.spawn(|| recover(root.path()))).collect();
            all.into_iter().flat_map(|one| one.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(recovered.iter().all(|one| matches!(one.outcome, RecoveryOutcome::Finished(_))));
        assert!(!recovered.is_empty());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }
}
