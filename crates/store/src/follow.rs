//! Reads the journal of a run while it grows, without changing or blocking anything.

use crate::document::RUN_JSON;
use crate::error::{Error, Result};
use crate::journal::{JOURNAL, is_locked};
use crate::runs::Store;
use crate::trust::{expect_no_link, open_file};
use latlab_model::frame::{Damage, FrameReader, Message, ReadResult, STREAM_VERSION, skip_damage};
use std::fs::{self, File};
use std::io::{self, BufReader, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Number of polls before a journal that is unlocked or missing is believed to be: at its start and
/// end a run is briefly in between.
const PATIENCE: u32 = 4;

/// The state of a run whose journal is followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FollowState {
    /// A program measures or finishes it.
    Running,
    /// Its program is gone; the next command finishes it.
    Abandoned,
    /// Published in this folder.
    Finished(PathBuf),
    /// Nothing of it is left.
    Removed,
}

#[derive(Clone, PartialEq, Debug)]
pub enum JournalEvent {
    /// The next message, except samples and the trace.
    Message(Box<Message>),
    /// Number of bytes that are not a whole frame.
    Damage(u64),
    /// The journal became shorter: everything is repeated from its start.
    Restarted,
}

/// The journal of one run, read up to an offset.
#[derive(Debug)]
pub struct JournalFollower {
    store: Store,
    id: String,
    file: Option<File>,
    /// Everything before this was reported.
    offset: u64,
    /// Offset of bytes that are not a frame, or not yet.
    suspect: Option<u64>,
    /// Consecutive polls at which the journal was not locked.
    alone: u32,
}

impl JournalFollower {
    /// Starts at the beginning of the journal of this run.
    pub fn new(store: Store, id: &str) -> JournalFollower {
        JournalFollower {
            store,
            id: id.to_string(),
            file: None,
            offset: 0,
            suspect: None,
            alone: 0,
        }
    }

    /// Polls once: reports what has been added since the last poll, and returns the state of the
    /// run.
    pub fn poll(&mut self, mut see: impl FnMut(JournalEvent)) -> Result<FollowState> {
        if self.file.is_none() {
            self.file = self.open()?;
        }
        let Some(file) = self.file.take() else { return Ok(self.state_without_journal()) };
        self.read(&file, &mut see)?;
        if !self.is_in_place(&file) {
            // Finished, removed, or rewritten elsewhere by the measuring program.
            return Ok(self.state_without_journal());
        }
        let held = is_locked(&file, &self.path())?;
        self.file = Some(file);
        self.alone = if held { 0 } else { self.alone + 1 };
        Ok(if self.alone < PATIENCE { FollowState::Running } else { FollowState::Abandoned })
    }

    fn path(&self) -> PathBuf {
        self.store.partial(&self.id).join(JOURNAL)
    }

    /// Whether the path still leads to this file.
    fn is_in_place(&self, file: &File) -> bool {
        let number = |there: fs::Metadata| (there.dev(), there.ino());
        let there = fs::symlink_metadata(self.path()).map(number);
        there.is_ok_and(|there| file.metadata().is_ok_and(|file| number(file) == there))
    }

    /// `None` while there is no journal that may be opened.
    fn open(&self) -> Result<Option<File>> {
        let folder = expect_no_link(&self.store.partial(&self.id));
        match folder.and_then(|_| open_file(&self.path())) {
            Err(Error::Damaged { .. }) => Ok(None),
            Err(Error::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    fn state_without_journal(&mut self) -> FollowState {
        let published = self.store.root().join(&self.id);
        if published.join(RUN_JSON).is_file() {
            return FollowState::Finished(published);
        }
        self.alone += 1;
        if self.alone < 2 * PATIENCE { FollowState::Running } else { FollowState::Removed }
    }

    fn read(&mut self, file: &File, see: &mut impl FnMut(JournalEvent)) -> Result<()> {
        let path = self.path();
        let length = file.metadata().map_err(Error::io("read", &path))?.len();
        if length < self.offset {
            (self.offset, self.suspect) = (0, None);
            see(JournalEvent::Restarted);
        }
        while self.offset < length {
            match self.read_frames(file, length, see)? {
                Some(damage) if damage != Damage::CutOff => {}
                _ => return Ok(()),
            }
            // A frame that is being written may look like damage, but only once.
            if self.suspect.replace(self.offset) != Some(self.offset) {
                return Ok(());
            }
            let skipped = self.skip(file).map_err(Error::io("read", &path))?;
            let Some(skipped) = skipped else { return Ok(()) };
            self.offset += skipped;
            see(JournalEvent::Damage(skipped));
        }
        Ok(())
    }

    /// Reads up to the end of the file or the first damage.
    fn read_frames(
        &mut self,
        mut file: &File,
        length: u64,
        see: &mut impl FnMut(JournalEvent),
    ) -> Result<Option<Damage>> {
        let path = self.path();
        let failed = || Error::io("read", &path);
        file.seek(SeekFrom::Start(self.offset)).map_err(failed())?;
        let start = self.offset;
        let mut frames = FrameReader::new(BufReader::with_capacity(1 << 16, file));
        loop {
            frames.skip_bulk(length - start).map_err(failed())?;
            let next = frames.next_frame().map_err(failed())?;
            self.offset = start + frames.whole_bytes();
            match next {
                ReadResult::End => return Ok(None),
                ReadResult::Damaged(damage) => return Ok(Some(damage)),
                ReadResult::Frame(frame) => match frame.message {
                    Message::Hello(hello) if hello.stream != STREAM_VERSION => {
                        return Err(Error::other_stream(path, hello.stream));
                    }
                    // Samples were incomplete when this was first passed.
                    Message::Samples(_) | Message::FineSamples(_) | Message::Trace(_) => {}
                    message => see(JournalEvent::Message(Box::new(message))),
                },
            }
            // If the file grows faster than it is read, the rest is for the next poll.
            if self.offset >= length {
                return Ok(None);
            }
        }
    }

    /// Number of bytes up to the next whole frame after the damage.
    fn skip(&self, mut file: &File) -> io::Result<Option<u64>> {
        file.seek(SeekFrom::Start(self.offset + 1))?;
        let skipped = skip_damage(&mut BufReader::with_capacity(1 << 16, file))?;
        Ok(skipped.map(|bytes| bytes + 1))
    }
}
