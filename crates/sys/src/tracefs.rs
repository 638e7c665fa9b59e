//! A private trace: an instance of tracefs with its own ring buffer, events and clock, next to the
//! traces of others. It is removed when its record of changes is undone.

use crate::files::{Root, read_at_once};
use crate::trace::FOLDERS;
use crate::undo::Changes;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The kernel's trace, if it is mounted and may be used.
#[derive(Clone, Debug)]
pub struct Tracefs {
    folder: PathBuf,
    path: String,
}

impl Tracefs {
    /// Looks for it; the error says what is missing and what to do, without a full stop.
    pub fn find(root: &Root) -> Result<Tracefs, String> {
        for name in FOLDERS {
            let folder = root.path(name);
            match fs::metadata(folder.join("instances")) {
                Ok(_) => return Ok(Tracefs { folder, path: format!("/{name}") }),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Err(format!("cannot read /{name}: use sudo"));
                }
                Err(_) => {}
            }
        }
        Err("tracefs is not mounted: `sudo mount -t tracefs tracefs /sys/kernel/tracing`; the \
             kernel must have it (CONFIG_FTRACE)"
            .to_string())
    }

    /// Whether the kernel has this tracer.
    pub fn has_tracer(&self, name: &str) -> io::Result<bool> {
        let all = self.read("available_tracers")?;
        Ok(all.split_whitespace().any(|one| one == name))
    }

    /// The trace, the main one or an instance, in which one of these tracers is on, and which.
    pub fn in_use<'a>(&self, tracers: &[&'a str]) -> Option<(String, &'a str)> {
        let instances = fs::read_dir(self.folder.join("instances")).into_iter().flatten().flatten();
        let instances = instances.map(|one| format!("instances/{}/", one.file_name().display()));
        std::iter::once(String::new()).chain(instances).find_map(|trace| {
            let file = format!("{trace}current_tracer");
            let current = self.read(&file).ok()?;
            let tracer = tracers.iter().find(|tracer| **tracer == current.trim())?;
            Some((self.path_of(&file), *tracer))
        })
    }

    /// Reads a file of it.
    pub fn read(&self, file: &str) -> io::Result<String> {
        read_at_once(&self.folder.join(file))
    }

    /// Whether it has this file.
    pub fn has(&self, file: &str) -> bool {
        self.folder.join(file).exists()
    }

    /// Opens a file of it for reading.
    pub fn open(&self, file: &str) -> io::Result<File> {
        File::open(self.folder.join(file))
    }

    /// The path of a file of it, for people.
    pub fn path_of(&self, file: &str) -> String {
        format!("{}/{file}", self.path)
    }

    /// Creates a private trace, switched off, with times on CLOCK_MONOTONIC.
    pub fn instance(&self, changes: &mut Changes) -> Result<Instance, String> {
        let name = format!("instances/latlab-{}", std::process::id());
        // A process with the same number in another container may have one of that name.
        let is_free = |path: &String| !self.has(path);
        let names = std::iter::once(name.clone()).chain((2..100).map(|n| format!("{name}-{n}")));
        let path = self.path_of(&names.into_iter().find(is_free).unwrap_or(name));
        let folder = changes.create_folder(&path).map_err(|error| match error.kind() {
            ErrorKind::ReadOnlyFilesystem => {
                format!("{} is read-only: mount it again with -o remount,rw", self.path)
            }
            ErrorKind::PermissionDenied => format!("cannot create {path}: use sudo"),
            _ => format!("cannot create {path} ({error})"),
        })?;
        let instance = Instance { folder, path };
        instance.set("tracing_on", "0")?;
        instance.set("trace_clock", "mono")?;
        Ok(instance)
    }
}

/// A private trace.
#[derive(Debug)]
pub struct Instance {
    folder: PathBuf,
    path: String,
}

impl Instance {
    /// Writes a file of it; the error names the file.
    pub fn set(&self, file: &str, value: &str) -> Result<(), String> {
        let written = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(self.folder.join(file))
            .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()));
        written.map_err(|error| format!("cannot write '{value}' to {}/{file}: {error}", self.path))
    }

    /// Reads a file of it.
    pub fn read(&self, file: &str) -> Result<String, String> {
        let read = read_at_once(&self.folder.join(file));
        read.map_err(|error| format!("cannot read {}/{file}: {error}", self.path))
    }

    /// Whether it has this file.
    pub fn has(&self, file: &str) -> bool {
        self.folder.join(file).exists()
    }

    /// The pages that this CPU fills.
    pub fn pipe(&self, cpu: u32, page: usize) -> Result<Pipe, String> {
        let name = format!("per_cpu/cpu{cpu}/trace_pipe_raw");
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(self.folder.join(&name))
            .map_err(|error| format!("cannot open {}/{name}: {error}", self.path))?;
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
    /// The filled part of the next page; `None` if there is nothing yet, or never again.
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
    fn a_tracer_in_use_is_found_wherever_it_is() {
        let trace = "sys/kernel/tracing";
        for of in ["", "instances/other/"] {
            let (_folder, root) = planted(&[&format!("{trace}/instances/other")]);
            let (file, path) = (format!("{trace}/{of}current_tracer"), format!("/{trace}/{of}"));
            let in_use = || Tracefs::find(&root).unwrap().in_use(&["osnoise", "timerlat"]);
            assert_eq!(in_use(), None);
            fs::write(root.path(&file), "function\n").unwrap();
            assert_eq!(in_use(), None);
            fs::write(root.path(&file), "timerlat\n").unwrap();
            assert_eq!(in_use(), Some((format!("{path}current_tracer"), "timerlat")));
        }
    }

    #[test]
    fn an_instance_without_the_files_of_the_kernel_is_one_line() {
        let (_folder, root) = planted(&["sys/kernel/tracing/instances"]);
        let mut changes = Changes::begin(&root).unwrap();
        let error = Tracefs::find(&root).unwrap().instance(&mut changes).unwrap_err();
        assert!(error.contains("cannot write '0' to /sys/kernel/tracing/instances/latlab-"));
        assert!(changes.undo().len() == 1, "and it goes away");
    }
}
