//! A journal that is followed while it grows: everything is seen once, however it is cut.
//!
//! Invariant (page and server): A growing journal is followed whole and once, however it is cut, moved or damaged.

use crate::recover::step;
use latlab_model::frame::{FrameReader, Message, ReadResult};
use latlab_store::{FollowState, JournalEvent, JournalFollower, Store};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const ID: &str = "20261121T234352Z_followed";

/// The journal of a run that was killed, whose last frame is cut.
fn fixture() -> Vec<u8> {
    let cut = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/schema-1/cut");
    let partial = fs::read_dir(cut).unwrap().next().unwrap().unwrap();
    fs::read(partial.path().join("journal")).unwrap()
}

/// The messages expected from it, and the ends of its frames.
fn messages(bytes: &[u8]) -> (Vec<Message>, Vec<usize>) {
    let mut reader = FrameReader::new(bytes);
    let (mut messages, mut ends) = (Vec::new(), Vec::new());
    while let ReadResult::Frame(frame) = reader.next_frame().unwrap() {
        let is_bulk = matches!(frame.message, Message::Samples(_) | Message::Trace(_));
        if !is_bulk {
            messages.push(frame.message);
        }
        ends.push(reader.whole_bytes() as usize);
    }
    (messages, ends)
}

struct Growing {
    root: tempfile::TempDir,
    journal: File,
    follow: JournalFollower,
    seen: Vec<Message>,
    other: Vec<JournalEvent>,
}

impl Growing {
    fn new() -> Growing {
        let root = tempfile::tempdir().unwrap();
        let store = Store::new(root.path());
        fs::create_dir(store.partial(ID)).unwrap();
        let journal = open(&store.partial(ID));
        let follow = JournalFollower::new(store, ID);
        Growing { root, journal, follow, seen: Vec::new(), other: Vec::new() }
    }

    fn poll(&mut self) -> FollowState {
        let (seen, other) = (&mut self.seen, &mut self.other);
        let look = self.follow.poll(|one| match one {
            JournalEvent::Message(message) => seen.push(*message),
            one => other.push(one),
        });
        look.unwrap()
    }

    fn partial(&self) -> PathBuf {
        Store::new(self.root.path()).partial(ID)
    }
}

fn open(partial: &Path) -> File {
    let file = OpenOptions::new().append(true).create(true).open(partial.join("journal")).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn every_message_is_seen_once_in_pieces_of_every_size() {
    let bytes = fixture();
    let (expected, ends) = messages(&bytes);
    // The first frames are the largest; after them, any byte may be the end of a piece.
    let from = ends[ends.len() - 4];
    for size in (1..=8).chain((9..=bytes.len() - from).step_by(step(13))) {
        let mut growing = Growing::new();
        growing.journal.write_all(&bytes[..from]).unwrap();
        for piece in bytes[from..].chunks(size) {
            growing.journal.write_all(piece).unwrap();
            assert_eq!(growing.poll(), FollowState::Running);
        }
        assert_eq!(growing.seen, expected, "pieces of {size}");
        assert_eq!(growing.other, []);
    }
}

#[test]
fn a_journal_that_is_left_is_told_and_so_is_what_becomes_of_it() {
    let bytes = fixture();
    let mut growing = Growing::new();
    growing.journal.write_all(&bytes).unwrap();
    assert_eq!(growing.poll(), FollowState::Running);
    growing.journal.unlock().unwrap();
    let later: Vec<FollowState> = (0..6).map(|_| growing.poll()).collect();
    assert_eq!((&later[0], &later[5]), (&FollowState::Running, &FollowState::Abandoned));

    Store::new(growing.root.path()).recover().unwrap();
    assert_eq!(growing.poll(), FollowState::Finished(growing.root.path().join(ID)));
    assert_eq!(growing.seen, messages(&bytes).0);
}

#[test]
fn a_journal_that_goes_away_is_waited_for_a_moment() {
    let mut growing = Growing::new();
    growing.poll();
    fs::remove_dir_all(growing.partial()).unwrap();
    let later: Vec<FollowState> = (0..10).map(|_| growing.poll()).collect();
    assert_eq!((&later[0], &later[9]), (&FollowState::Running, &FollowState::Removed));
}

#[test]
fn one_that_was_written_again_elsewhere_goes_on_where_it_was() {
    let bytes = fixture();
    let (expected, ends) = messages(&bytes);
    let half = ends[ends.len() / 2];
    let mut growing = Growing::new();
    growing.journal.write_all(&bytes[..half]).unwrap();
    growing.poll();
    fs::remove_dir_all(growing.partial()).unwrap();
    assert_eq!(growing.poll(), FollowState::Running);
    fs::create_dir(growing.partial()).unwrap();
    growing.journal = open(&growing.partial());
    growing.journal.write_all(&bytes).unwrap();
    growing.poll();
    assert_eq!(growing.seen, expected);
    assert_eq!(growing.other, []);
}

#[test]
fn one_that_became_shorter_comes_again_and_damage_is_skipped() {
    let bytes = fixture();
    let (expected, ends) = messages(&bytes);
    let mut growing = Growing::new();
    growing.journal.write_all(&bytes).unwrap();
    growing.poll();
    growing.journal.set_len(0).unwrap();
    growing.seen.clear();
    let (start, end) = (ends[ends.len() - 3], ends[ends.len() - 2]);
    let mut damaged = bytes[..ends[ends.len() - 1]].to_vec();
    damaged[end - 1] ^= 1;
    // No longer than before, so the length must reveal it.
    growing.poll();
    assert_eq!(growing.other, [JournalEvent::Restarted]);
    growing.journal.write_all(&damaged).unwrap();
    (0..3).for_each(|_| drop(growing.poll()));
    assert_eq!(growing.other[1..], [JournalEvent::Damage((end - start) as u64)]);
    assert_eq!(growing.seen.len(), expected.len() - 1);
}

#[test]
fn a_link_in_place_of_a_journal_is_not_followed() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    fs::create_dir(store.partial(ID)).unwrap();
    fs::write(root.path().join("elsewhere"), fixture()).unwrap();
    let link = store.partial(ID).join("journal");
    std::os::unix::fs::symlink(root.path().join("elsewhere"), link).unwrap();
    let mut seen = 0;
    JournalFollower::new(store, ID).poll(|_| seen += 1).unwrap();
    assert_eq!(seen, 0);
}
