//! Reports when a program writes to a kernel file.

use crate::Errno;
use crate::files::Root;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::fs::{Mode, OFlags, open};
use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// Room for the events of many files at once.
const EVENT_BYTES: usize = 4096;

/// Kernel files whose writers are noticed.
///
/// The kernel reports what programs write through the same mount of `/proc` or `/sys`. It does not
/// report changes by the kernel itself.
#[derive(Debug)]
pub struct WriteWatch {
    inotify: OwnedFd,
    /// The kernel drops the watch on a file of `/proc` when the file is no longer referenced.
    files: Vec<OwnedFd>,
}

/// Why a wait has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    /// A watched file was written to.
    Written,
    /// The other end of the pipe was closed.
    Stopped,
    /// The time has passed.
    TimedOut,
}

impl WriteWatch {
    /// Starts without any file.
    pub fn new() -> Result<WriteWatch, Errno> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(WriteWatch { inotify, files: Vec::new() })
    }

    /// Watches a file, such as `/proc/sys/vm/swappiness`; returns its number in the events.
    pub fn add(&mut self, root: &Root, path: &str) -> Result<i32, Errno> {
        let path = root.path(path.trim_start_matches('/'));
        let file = open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let number = inotify::add_watch(&self.inotify, &path, WatchFlags::MODIFY)?;
        self.files.push(file);
        Ok(number)
    }

    /// The numbers of the files that were written to since the last call.
    pub fn take_written(&self) -> BTreeSet<i32> {
        let mut buffer = [MaybeUninit::uninit(); EVENT_BYTES];
        let mut events = Reader::new(&self.inotify, &mut buffer);
        std::iter::from_fn(|| events.next().ok().map(|event| event.wd())).collect()
    }
}

/// Waits until a watched file is written to, the other end of the pipe `stop` is closed, or the
/// time has passed.
pub fn wait(watch: Option<&WriteWatch>, stop: &impl AsFd, time: Duration) -> Wake {
    let time = Timespec::try_from(time).ok();
    let mut polled = vec![PollFd::new(stop, PollFlags::IN)];
    polled.extend(watch.map(|watch| PollFd::new(&watch.inotify, PollFlags::IN)));
    match poll(&mut polled, time.as_ref()) {
        Ok(1..) if !polled[0].revents().is_empty() => Wake::Stopped,
        Ok(1..) => Wake::Written,
        // The caller checks the clock anyway.
        Ok(0) | Err(_) => Wake::TimedOut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::pipe;

    const SOON: Duration = Duration::from_millis(1);
    const LATE: Duration = Duration::from_secs(60);

    #[test]
    fn writes_are_told_once_and_reads_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        for name in ["one", "two"] {
            fs::write(folder.path().join(name), "1\n").unwrap();
        }
        let (stop, _running) = pipe().unwrap();
        let mut watch = WriteWatch::new().unwrap();
        let one = watch.add(&root, "/one").unwrap();
        let two = watch.add(&root, "/two").unwrap();
        assert_eq!(watch.add(&root, "/absent"), Err(Errno::NOENT));
        assert_eq!(wait(Some(&watch), &stop, SOON), Wake::TimedOut);
        fs::read(folder.path().join("one")).unwrap();
        assert_eq!(wait(Some(&watch), &stop, SOON), Wake::TimedOut);
        fs::write(folder.path().join("two"), "2\n").unwrap();
        assert_eq!(wait(Some(&watch), &stop, LATE), Wake::Written);
        assert_eq!(watch.take_written(), BTreeSet::from([two]));
        assert_eq!(wait(Some(&watch), &stop, SOON), Wake::TimedOut);
        fs::write(folder.path().join("one"), "2\n").unwrap();
        assert_eq!(watch.take_written(), BTreeSet::from([one]));
    }

    #[test]
    fn a_closed_pipe_ends_the_wait() {
        let (stop, running) = pipe().unwrap();
        assert_eq!(wait(None, &stop, SOON), Wake::TimedOut);
        drop(running);
        assert_eq!(wait(None, &stop, LATE), Wake::Stopped);
    }
}
