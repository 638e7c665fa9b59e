//! Kernel files below a root folder: `/` on a machine, a planted folder in a test.

use crate::trace::in_own_mount;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Limit for a kernel file; no known one is longer.
const LARGEST_FILE: u64 = 8 << 20;
/// Limit for a file that has to be read in one call.
const LARGEST_READ: usize = 64 << 10;
/// For reading, without waiting for the writer of a pipe.
const READ: OFlags = OFlags::NONBLOCK.union(OFlags::CLOEXEC);

/// The folder that contains `proc`, `sys` and `dev`.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Root {
        Root::new("/")
    }
}

impl Root {
    /// Takes the folder that contains the kernel files.
    pub fn new(folder: impl Into<PathBuf>) -> Root {
        Root(folder.into())
    }

    /// Whether this is the machine itself, not a planted folder.
    pub fn is_machine(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// Path of a file such as `proc/cpuinfo`.
    pub fn path(&self, file: impl AsRef<Path>) -> PathBuf {
        let file = file.as_ref();
        let own = self.is_machine().then(|| in_own_mount(file)).flatten();
        own.unwrap_or_else(|| self.0.join(file))
    }

    /// Opens a file or a folder for reading. Below another folder than `/`, links are resolved
    /// inside the folder and cannot lead out of it: a planted folder cannot name other files.
    fn open(&self, file: impl AsRef<Path>, flags: OFlags) -> io::Result<File> {
        if self.is_machine() {
            return Ok(openat(CWD, self.path(file), flags, Mode::empty())?.into());
        }
        let folder = openat(CWD, &self.0, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
        let file = match file.as_ref() {
            file if file.as_os_str().is_empty() => Path::new("."),
            file => file,
        };
        let opened = openat2(&folder, file, flags, Mode::empty(), ResolveFlags::IN_ROOT)?;
        let (there, whole) = (fstat(&opened)?, fstat(&folder)?);
        let is_strange = FileType::from_raw_mode(there.st_mode) == FileType::RegularFile
            && there.st_nlink > 1
            && there.st_uid != whole.st_uid;
        if is_strange {
            let text = "it has several names, and belongs to another user than the folder";
            return Err(io::Error::new(ErrorKind::PermissionDenied, text));
        }
        Ok(opened.into())
    }

    /// A file's text without surrounding blanks and without NULs; `None` if it cannot be read.
    pub fn read(&self, file: impl AsRef<Path>) -> Option<String> {
        let mut bytes = Vec::new();
        self.open(file, READ).ok()?.take(LARGEST_FILE).read_to_end(&mut bytes).ok()?;
        Some(trimmed(&bytes))
    }

    /// At most this many bytes of a file's text; `None` if it does not exist, an error if it exists
    /// and cannot be read. A pipe in its place is opened without waiting for a writer.
    pub fn read_limited(
        &self,
        file: impl AsRef<Path>,
        largest: u64,
    ) -> Result<Option<String>, String> {
        Ok(self.read_bytes_limited(file, largest)?.map(|bytes| trimmed(&bytes)))
    }

    /// As [`Root::read_limited`], but returns raw bytes.
    pub fn read_bytes_limited(
        &self,
        file: impl AsRef<Path>,
        largest: u64,
    ) -> Result<Option<Vec<u8>>, String> {
        let file = match self.open(file, READ) {
            // A folder has no text.
            Ok(file) if file.metadata().is_ok_and(|there| there.is_dir()) => return Ok(None),
            Ok(file) => file,
            Err(error) if is_absent(error.kind()) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let mut bytes = Vec::new();
        file.take(largest + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        match bytes.len() as u64 > largest {
            true => Err(format!("it is longer than {largest} bytes")),
            false => Ok(Some(bytes)),
        }
    }

    /// The names in a folder, sorted; `None` if it does not exist or cannot be read.
    pub fn names(&self, folder: impl AsRef<Path>) -> Option<Vec<String>> {
        let entries = Dir::new(self.open(folder, READ | OFlags::DIRECTORY).ok()?).ok()?;
        let names =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str().ok().map(str::to_string));
        let mut names: Vec<String> = names.filter(|name| name != "." && name != "..").collect();
        names.sort_unstable();
        Some(names)
    }

    /// A file's text, parsed.
    pub fn read_as<T: std::str::FromStr>(&self, file: impl AsRef<Path>) -> Option<T> {
        self.read(file)?.parse().ok()
    }

    /// Whether the file exists.
    pub fn has(&self, file: impl AsRef<Path>) -> bool {
        self.open(file, OFlags::PATH | OFlags::CLOEXEC).is_ok()
    }
}

/// A kernel file that is opened once and read repeatedly.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    buffer: Vec<u8>,
}

impl OpenFile {
    /// Opens a file; `None` if it cannot be read.
    pub fn open(root: &Root, file: impl AsRef<Path>) -> Option<OpenFile> {
        let file = root.open(file, READ).ok()?;
        let mut held = OpenFile { file, buffer: vec![0; 1 << 10] };
        held.read().is_some().then_some(held)
    }

    /// Its present text; `None` if it can no longer be read.
    pub fn read(&mut self) -> Option<&str> {
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                if filled as u64 >= LARGEST_FILE {
                    return None;
                }
                self.buffer.resize(2 * filled, 0);
            }
            match self.file.read_at(&mut self.buffer[filled..], filled as u64) {
                Ok(0) => break,
                Ok(length) => filled += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        std::str::from_utf8(&self.buffer[..filled]).ok().map(str::trim)
    }
}

/// Opens a file for reading, without waiting for the writer of a pipe.
pub fn open_at_once(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    // Reads of its contents do wait.
    let flags = rustix::fs::fcntl_getfl(&file)? - rustix::fs::OFlags::NONBLOCK;
    rustix::fs::fcntl_setfl(&file, flags)?;
    Ok(file)
}

/// Waits until there is something to read, or the end; false if neither comes in this time.
pub fn wait_for_data(file: &impl AsFd, time: Duration) -> io::Result<bool> {
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&time)) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// All bytes of a regular file; refuses a pipe, a device or a longer file without blocking.
pub fn read_ordinary_file(path: &Path, largest: u64) -> std::io::Result<Vec<u8>> {
    let refuse = |reason: String| std::io::Error::new(ErrorKind::InvalidData, reason);
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(refuse("it is not an ordinary file".to_string()));
    }
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > largest {
        true => Err(refuse(format!("it is longer than {largest} bytes"))),
        false => Ok(bytes),
    }
}

/// The text of a file or a pipe; `None` if it is longer than this, as an endless device is.
pub fn read_text(path: &Path, longest: u64) -> std::io::Result<Option<String>> {
    let mut text = String::new();
    File::open(path)?.take(longest + 1).read_to_string(&mut text)?;
    Ok((text.len() as u64 <= longest).then_some(text))
}

/// Reads a file's text in one call: some kernel files deliver their contents only once, and refuse
/// (`osnoise/cpus`) a buffer that is too small.
pub fn read_at_once(path: &Path) -> std::io::Result<String> {
    let (mut file, mut bytes) = (File::open(path)?, vec![0; LARGEST_READ]);
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..])? {
            0 => break,
            length => filled += length,
        }
    }
    bytes.truncate(filled);
    String::from_utf8(bytes).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
}

fn is_absent(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Trimmed text; a NUL, which ends strings of device trees, becomes a line end.
fn trimmed(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0').replace('\0', "\n")
}

/// A pipe with the largest capacity permitted without privileges, so that its ends seldom wait for
/// each other.
pub fn large_pipe() -> io::Result<(io::PipeReader, io::PipeWriter)> {
    const MOST: usize = 1 << 20;
    let (reader, writer) = io::pipe()?;
    // A smaller pipe works as well.
    let _ = rustix::pipe::fcntl_setpipe_size(&writer, MOST);
    Ok((reader, writer))
}

/// Creates a world-readable named pipe.
pub fn make_fifo(path: &Path) -> std::io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path ends in a NUL and outlives the call.
    match unsafe { libc::mkfifo(path.as_ptr(), 0o644) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_ordinary_file_of_a_limited_length_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("secret"), "0123456789").unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(path("pipe")).status();
        assert!(pipe.unwrap().success());
        assert_eq!(read_ordinary_file(&path("secret"), 10).unwrap(), b"0123456789");
        for (file, limit, reason) in [
            (path("secret"), 9, "longer than 9 bytes"),
            (path("pipe"), 9, "not an ordinary file"),
            ("/dev/zero".into(), 9, "not an ordinary file"),
            (folder.path().into(), 9, "not an ordinary file"),
            (path("absent"), 9, "No such file"),
        ] {
            let error = read_ordinary_file(&file, limit).unwrap_err().to_string();
            assert!(error.contains(reason), "{}: {error}", file.display());
        }
    }

    #[test]
    fn a_pipe_is_opened_without_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        make_fifo(&path).unwrap();
        let mut reader = open_at_once(&path).unwrap();
        assert!(!wait_for_data(&reader, Duration::from_millis(1)).unwrap());
        let mut writer = OpenOptions::new().write(true).open(&path).unwrap();
        io::Write::write_all(&mut writer, b"x").unwrap();
        drop(writer);
        assert!(wait_for_data(&reader, Duration::from_secs(60)).unwrap());
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
    }

    #[test]
    fn reads_below_the_root_only() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        std::fs::write(folder.path().join("proc/number"), " 42\n").unwrap();
        std::fs::write(folder.path().join("proc/model"), "Board\0").unwrap();
        let root = Root::new(folder.path());
        assert_eq!(root.read_as::<u32>("proc/number"), Some(42));
        assert_eq!(root.read("proc/model").as_deref(), Some("Board"));
        assert_eq!(root.read("proc/cpuinfo"), None);
        assert_eq!(root.read("proc"), None, "a folder is not a file");
        assert!(root.has("proc") && !root.has("sys"));
    }

    /// Invariant (trust): A link below a root folder never leads to a file that is not below it.
    #[test]
    fn links_lead_to_what_lies_below_the_root() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (secret, below) = (folder.path().join("secret"), folder.path().join("root"));
        std::fs::write(&secret, "secret").unwrap();
        std::fs::create_dir_all(below.join("etc")).unwrap();
        std::fs::create_dir_all(below.join("usr/lib")).unwrap();
        std::fs::write(below.join("usr/lib/os-release"), "ID=x").unwrap();
        let link = |to: &Path, name: &str| symlink(to, below.join("etc").join(name)).unwrap();
        link(&secret, "absolute");
        link(Path::new("../../secret"), "relative");
        link(folder.path(), "folder");
        link(Path::new("/proc/self/root/etc/passwd"), "magic");
        link(Path::new("../usr/lib/os-release"), "os-release");
        link(Path::new("/usr/lib/os-release"), "from-its-top");
        let root = Root::new(&below);
        for name in ["absolute", "relative", "folder/secret", "magic"] {
            let file = Path::new("etc").join(name);
            assert_eq!(root.read(&file), None, "{name}");
            assert_eq!(root.read_limited(&file, 10), Ok(None), "{name}");
            assert!(!root.has(&file) && OpenFile::open(&root, &file).is_none(), "{name}");
        }
        assert_eq!(root.names("etc/folder"), None);
        for name in ["os-release", "from-its-top"] {
            assert_eq!(root.read(Path::new("etc").join(name)).as_deref(), Some("ID=x"));
        }
    }

    #[test]
    fn another_users_file_under_a_second_name_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        std::fs::write(&first, "x").unwrap();
        std::fs::hard_link(&first, &second).unwrap();
        let root = Root::new(folder.path());
        assert_eq!(root.read("second").as_deref(), Some("x"));
        // Only root can give a file away.
        if std::os::unix::fs::chown(&first, Some(65534), None).is_ok() {
            assert_eq!(root.read("second"), None);
            assert!(root.read_limited("second", 9).unwrap_err().contains("several names"));
            std::fs::remove_file(&first).unwrap();
            assert_eq!(root.read("second").as_deref(), Some("x"));
        }
    }

    #[test]
    fn a_held_file_is_read_as_it_is_now() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::write(folder.path().join("now"), "1\n").unwrap();
        let mut held = OpenFile::open(&root, "now").unwrap();
        assert_eq!(held.read(), Some("1"));
        let long = "x".repeat(5000);
        std::fs::write(folder.path().join("now"), &long).unwrap();
        assert_eq!(held.read(), Some(long.as_str()));
        assert!(OpenFile::open(&root, "absent").is_none() && OpenFile::open(&root, "").is_none());
    }

    #[test]
    fn what_cannot_be_read_says_why_and_what_is_absent_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::write(folder.path().join("words"), "a\0b\0").unwrap();
        std::fs::write(folder.path().join("binary"), [0xff, 0xfe, b'x']).unwrap();
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        assert_eq!(root.read_limited("words", 10), Ok(Some("a\nb".to_string())));
        assert_eq!(root.read_limited("absent", 10), Ok(None));
        assert_eq!(root.read_limited("words/below", 10), Ok(None));
        assert_eq!(root.read_limited("", 10), Ok(None), "a folder");
        assert!(root.read_limited("words", 3).unwrap_err().contains("longer than 3"));
        assert!(root.read_limited("binary", 10).unwrap().unwrap().ends_with('x'));
        assert!(root.read_limited("loop", 10).is_err());
        assert_eq!(root.names(""), Some(vec!["binary".into(), "loop".into(), "words".into()]));
        assert_eq!(root.names("absent"), None);
    }
}
