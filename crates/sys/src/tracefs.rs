//! A trace of our own beside everybody else's: an instance of tracefs, with its own ring buffer,
//! events and clock, that is gone when its record of changes is undone.

use crate::files::Root;
use crate::trace::FOLDERS;
use crate::undo::Changes;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// More than any file of tracefs holds that is read here.
const LARGEST_READ: usize = 64 << 10;

/// The kernel's trace, where it is mounted and may be used.
#[derive(Clone, Debug)]
pub struct Tracefs {
    folder: PathBuf,
    path: String,
}

impl Tracefs {
    /// Looks for it; the error is what is missing and what to do, without a full stop.
    pub fn find(root: &Root) -> Result<Tracefs, String> {
        for name in FOLDERS {
            let folder = root.path(name);
            match fs::metadata(folder.join("instances")) {
                Ok(_) => return Ok(Tracefs { folder, path: format!("/{name}") }),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Err(format!("/{name} may not be read: run it with sudo"));
                }
                Err(_) => {}
            }
        }
        Err("the kernel's trace is not mounted: `sudo mount -t tracefs tracefs \
             /sys/kernel/tracing`, in a kernel that has it (CONFIG_FTRACE)"
            .to_string())
    }

    /// Whether the kernel has this tracer.
    pub fn has_tracer(&self, name: &str) -> io::Result<bool> {
        let all = self.read("available_tracers")?;
        Ok(all.split_whitespace().any(|one| one == name))
    }

    /// A file of it.
    pub fn read(&self, file: &str) -> io::Result<String> {
        read(&self.folder.join(file))
    }

    /// Whether it has this file.
    pub fn has(&self, file: &str) -> bool {
        self.folder.join(file).exists()
    }

    /// Opens a file of it to be read.
    pub fn open(&self, file: &str) -> io::Result<File> {
        File::open(self.folder.join(file))
    }

    /// The path of a file of it as a person writes it.
    pub fn path_of(&self, file: &str) -> String {
        format!("{}/{file}", self.path)
    }

    /// Makes a trace of our own, which is switched off, with the time of CLOCK_MONOTONIC.
    pub fn instance(&self, changes: &mut Changes) -> Result<Instance, String> {
        let path = self.path_of(&format!("instances/latlab-{}", std::process::id()));
        let folder = changes.create_folder(&path).map_err(|error| match error.kind() {
            ErrorKind::ReadOnlyFilesystem => {
                format!("{0} is read-only: `sudo mount -o remount,rw {0}`", self.path)
            }
            ErrorKind::PermissionDenied => format!("{path} cannot be made: run it with sudo"),
            _ => format!("{path} cannot be made ({error})"),
        })?;
        let instance = Instance { folder, path };
        instance.set("tracing_on", "0")?;
        instance.set("trace_clock", "mono")?;
        Ok(instance)
    }
}

/// A file's text; some of tracefs say only once what they hold, to whoever has room for all of it.
fn read(path: &Path) -> io::Result<String> {
    let (mut file, mut bytes) = (File::open(path)?, vec![0; LARGEST_READ]);
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..])? {
            0 => break,
            length => filled += length,
        }
    }
    bytes.truncate(filled);
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// A trace of our own.
#[derive(Debug)]
pub struct Instance {
    folder: PathBuf,
    path: String,
}

impl Instance {
    /// Writes a file of it; the error says which.
    pub fn set(&self, file: &str, value: &str) -> Result<(), String> {
        let written = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(self.folder.join(file))
            .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()));
        written.map_err(|error| {
            format!("'{value}' cannot be written to {}/{file}: {error}", self.path)
        })
    }

    /// A file of it.
    pub fn read(&self, file: &str) -> Result<String, String> {
        let read = read(&self.folder.join(file));
        read.map_err(|error| format!("{}/{file} cannot be read: {error}", self.path))
    }

    /// The pages that this CPU fills.
    pub fn pipe(&self, cpu: u32, page: usize) -> Result<Pipe, String> {
        let name = format!("per_cpu/cpu{cpu}/trace_pipe_raw");
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(self.folder.join(&name))
            .map_err(|error| format!("{}/{name} cannot be opened: {error}", self.path))?;
        Ok(Pipe { file, page: vec![0; page] })
    }
}

/// The pages of one CPU as they come.
#[derive(Debug)]
pub struct Pipe {
    file: File,
    page: Vec<u8>,
}

impl Pipe {
    /// The next page, as far as it is filled; none where there is nothing yet, or never again.
    pub fn next_page(&mut self) -> Option<&[u8]> {
        loop {
            match self.file.read(&mut self.page) {
                Ok(0) => return None,
                Ok(length) => return Some(&self.page[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted(folders: &[&str]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for name in folders.iter().chain(&["run", "tmp"]) {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let root = Root::new(folder.path());
        (folder, root)
    }

    #[test]
    fn it_is_found_where_it_is_mounted_and_its_absence_says_what_to_do() {
        let (_folder, root) = planted(&[]);
        assert!(Tracefs::find(&root).unwrap_err().contains("mount -t tracefs"));
        for place in FOLDERS {
            let (_folder, root) = planted(&[&format!("{place}/instances")]);
            fs::write(root.path(place).join("available_tracers"), "hwlat timerlat nop\n").unwrap();
            let found = Tracefs::find(&root).unwrap();
            assert_eq!(found.path_of("x"), format!("/{place}/x"));
            let has = |name| found.has_tracer(name).unwrap();
            assert!(has("timerlat") && !has("timer"));
        }
    }

    #[test]
    fn an_instance_without_the_files_of_the_kernel_is_one_line() {
        let (_folder, root) = planted(&["sys/kernel/tracing/instances"]);
        let mut changes = Changes::begin(&root).unwrap();
        let error = Tracefs::find(&root).unwrap().instance(&mut changes).unwrap_err();
        assert!(error.contains("'0' cannot be written to /sys/kernel/tracing/instances/latlab-"));
        assert!(changes.undo().len() == 1, "and it goes away");
    }
}
