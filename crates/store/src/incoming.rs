//! A stream recorded elsewhere that arrives in pieces, over attempts that may be far apart. It is
//! not visible as the journal of a run before it is complete.

use crate::error::{Error, Result};
use crate::files::checksum;
use crate::finish::Finished;
use crate::id;
use crate::journal::{JOURNAL, Journal};
use crate::open_run::OpenRun;
use crate::runs::Store;
use crate::trust::expect_own_run;
use latlab_model::Plan;
use latlab_model::finding::{Finding, JournalFinding};
use latlab_model::frame::{Damage, FrameReader, Message, ReadResult};
use latlab_model::run::StoredFile;
use std::io::BufReader;
use std::path::PathBuf;

/// Suffix of a folder whose stream is incomplete.
const INCOMING: &str = ".incoming";

/// A stream being received.
#[derive(Debug)]
pub struct Incoming {
    store: Store,
    id: String,
    folder: PathBuf,
    journal: Journal,
}

impl Store {
    /// Starts receiving the stream of a run, or resumes an earlier attempt; `None` while another
    /// program does.
    pub fn receive(&self, id: &str) -> Result<Option<Incoming>> {
        if !id::is_valid(id) {
            return Err(Error::BadId(id.to_string()));
        }
        self.create_root()?;
        let _alone = self.lock();
        let folder = self.root.join(format!(".{id}{INCOMING}"));
        if !self.disk.has(&folder)? {
            self.disk.create_folder(&folder).map_err(Error::io("create", &folder))?;
        }
        expect_own_run(&folder, self.owner)?;
        let journal = match self.disk.has(&folder.join(JOURNAL))? {
            true => Journal::try_lock(&self.disk, &folder)?,
            false => Some(Journal::create(&self.disk, &folder)?),
        };
        let (store, id) = (self.clone(), id.to_string());
        Ok(journal.map(|journal| Incoming { store, id, folder, journal }))
    }
}

impl Incoming {
    /// Bytes received so far.
    pub fn bytes(&self) -> u64 {
        self.journal.bytes()
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.journal.append(bytes)
    }

    /// Syncs it; returns its size and checksum.
    pub fn sync(&self) -> Result<StoredFile> {
        self.journal.sync()?;
        let path = self.journal.path();
        let file = self.store.disk.open(path)?;
        file.rewind_to_disk().map_err(Error::io("read", path))?;
        checksum(&file, path)
    }

    /// Discards what was received.
    pub fn restart(&mut self) -> Result<()> {
        self.journal.cut(0)
    }

    pub fn discard(self) -> Result<()> {
        self.store.remove(&self.folder)
    }

    /// The plan of the run, if it has been received.
    pub fn plan(&self) -> Result<Option<Plan>> {
        let mut plan = None;
        self.read(|message| match message {
            Message::Plan(found) => {
                plan = Some(found);
                false
            }
            _ => true,
        })?;
        Ok(plan)
    }

    /// Whether its last frame is the agent's last message.
    pub fn ends_with_last_word(&self) -> Result<bool> {
        let mut is_last = false;
        let (_, damage) = self.read(|message| {
            is_last = matches!(message, Message::End(_) | Message::Refusal(_));
            true
        })?;
        Ok(is_last && damage.is_none())
    }

    /// Reads frames from the start while `wanted` returns true; returns the length of the whole
    /// frames and the damage after them.
    fn read(&self, mut wanted: impl FnMut(Message) -> bool) -> Result<(u64, Option<Damage>)> {
        let path = self.journal.path();
        let file = self.store.disk.open(path)?;
        let mut frames = FrameReader::new(BufReader::with_capacity(1 << 16, &file));
        loop {
            match frames.next_frame().map_err(Error::io("read", path))? {
                ReadResult::End => return Ok((frames.whole_bytes(), None)),
                ReadResult::Damaged(damage) => return Ok((frames.whole_bytes(), Some(damage))),
                ReadResult::Frame(frame) => {
                    if !wanted(frame.message) {
                        return Ok((frames.whole_bytes(), None));
                    }
                }
            }
        }
    }

    /// Makes a run of the complete stream and these additional messages; a stream that was `cut`
    /// counts as recovered. If another run has the id, a number is appended.
    pub fn finish(mut self, last: &[Message], cut: bool) -> Result<Finished> {
        // A partial frame would hide what comes after it.
        let (whole, damage) = self.read(|_| true)?;
        let bytes = self.journal.bytes() - whole;
        let half = (damage == Some(Damage::CutOff)).then(|| self.journal.cut(whole)).transpose()?;
        let half = half.map(|()| Finding::new(JournalFinding::JournalCut { bytes }));
        let half = half.map(Message::Finding);
        for message in half.iter().chain(last) {
            self.journal.append(&message.encode())?;
        }
        self.journal.sync()?;
        let Incoming { store, id, folder, journal } = self;
        store.chown_all(&folder);
        let alone = store.lock();
        let (id, partial) = store.take_id(&id)?;
        // From here on it looks like a run whose program was killed.
        store.disk.rename(&folder, &partial).map_err(Error::io("rename", &folder))?;
        store.disk.sync_folder(&store.root)?;
        drop(alone);
        let finished = OpenRun::new(store.clone(), id, journal).finish_as(cut);
        if let Err(Error::NothingMeasured { holds_counts: false, .. }) = &finished {
            store.remove(&partial)?;
        }
        finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::frame::{Hello, STREAM_VERSION};

    fn head() -> Vec<u8> {
        let hello = Hello { stream: STREAM_VERSION, latlab: "0".into(), id: "x".into() };
        let plan = Plan { name: "far".into(), ..Plan::default() };
        [Message::Hello(hello).encode(), Message::Plan(plan).encode()].concat()
    }

    #[test]
    fn a_stream_goes_on_where_it_stopped_and_is_no_run_before_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let head = head();
        let mut incoming = store.receive("20261124T000000Z_far").unwrap().unwrap();
        incoming.append(&head[..20]).unwrap();
        assert!(store.receive("20261124T000000Z_far").unwrap().is_none(), "one at a time");
        drop(incoming);
        assert!(store.recover().unwrap().is_empty());
        assert!(store.list().unwrap().is_empty());

        let mut incoming = store.receive("20261124T000000Z_far").unwrap().unwrap();
        assert_eq!(incoming.bytes(), 20);
        assert_eq!(incoming.plan().unwrap(), None);
        incoming.append(&head[20..]).unwrap();
        assert_eq!(incoming.plan().unwrap().unwrap().name, "far");
        assert_eq!(incoming.sync().unwrap().bytes, head.len() as u64);
        incoming.restart().unwrap();
        assert_eq!((incoming.bytes(), incoming.sync().unwrap().bytes), (0, 0));
        incoming.discard().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_stream_without_counts_makes_no_run() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let mut incoming = store.receive("20261124T000000Z_far").unwrap().unwrap();
        incoming.append(&head()).unwrap();
        incoming.append(&[1, 2, 3]).unwrap();
        let error = incoming.finish(&[], true).unwrap_err();
        assert!(matches!(error, Error::NothingMeasured { holds_counts: false, .. }), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
