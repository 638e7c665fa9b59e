//! The writer of a record: boot, namespaces and process, as the kernel names them.

use crate::files::Root;
use crate::process::{ProcessId, Stat};
use std::fmt;

/// Namespaces in which a path, number or time may have another meaning.
const NAMESPACES: [&str; 8] = ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"];

/// Boot, namespaces and process of a record's writer.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Origin {
    /// The kernel's identifier of the boot.
    pub boot: String,
    /// Links of the namespaces, such as `net:[4026531840]`.
    namespaces: Vec<String>,
    /// Process number in its namespace, and command line: for people.
    process: String,
    /// The process that wrote it, and the one that started that for its run.
    writers: Vec<ProcessId>,
}

impl Origin {
    /// The origin of this process.
    pub fn of_this_process(root: &Root) -> Origin {
        let boot = root.read("proc/sys/kernel/random/boot_id").unwrap_or_default();
        let link = |name: &&str| {
            let link = std::fs::read_link(root.path(format!("proc/self/ns/{name}"))).ok()?;
            Some(link.to_string_lossy().into_owned())
        };
        let namespaces = NAMESPACES.iter().filter_map(link).collect();
        let own = std::process::id();
        let id = run_of(root, own);
        let command = root.read(format!("proc/{id}/cmdline"));
        let command = command.unwrap_or_default().replace(char::is_control, " ");
        let started = |id| Some(ProcessId { id, started: Stat::read(root, id)?.started });
        let mut writers: Vec<ProcessId> = [own, id].into_iter().filter_map(started).collect();
        writers.dedup();
        Origin { boot, namespaces, process: format!("{id} {command}"), writers }
    }

    /// Its lines in a record.
    pub fn lines(&self) -> String {
        let Origin { boot, namespaces, process, writers } = self;
        let writers = writers.iter().map(|ProcessId { id, started }| format!(" {id} {started}"));
        let writers: String = writers.collect();
        let namespaces = namespaces.join(" ");
        format!("boot {boot}\nnamespaces {namespaces}\nprocess {process}\nwriters{writers}\n")
    }

    /// Parses the first lines of a record, and returns the rest; `None` if they are something else.
    pub fn parse(record: &str) -> Option<(Origin, &str)> {
        let (boot, rest) = value(record, "boot")?;
        let (namespaces, rest) = value(rest, "namespaces")?;
        let (process, rest) = value(rest, "process")?;
        let (writers, rest) = rest.split_once('\n')?;
        let namespaces = namespaces.split_whitespace().map(str::to_string).collect();
        let (boot, process) = (boot.to_string(), process.to_string());
        let writers = processes(writers.strip_prefix("writers")?)?;
        Some((Origin { boot, namespaces, process, writers }, rest))
    }

    /// Whether the writing process, or the one that started it for its run, has ended or was
    /// killed; false for processes in another namespace.
    pub fn is_ending(&self, root: &Root, here: &Origin) -> bool {
        let is_visible = root.is_machine()
            && !here.writers.is_empty()
            && (self.boot == here.boot)
            && self.differs(here, &["pid", "time"]).is_none();
        is_visible && self.writers.iter().any(|writer| writer.is_ending(root))
    }

    /// Whether the writing process is stopped.
    pub fn is_stopped(&self, root: &Root) -> bool {
        self.writers.first().is_some_and(|writer| writer.is_stopped(root))
    }

    /// The first of these namespaces that differs from here.
    pub fn differs<'a>(&self, here: &Origin, names: &[&'a str]) -> Option<&'a str> {
        let of = |origin: &Origin, name: &str| {
            let of_name = |link: &&String| link.split(':').next() == Some(name);
            origin.namespaces.iter().find(of_name).cloned()
        };
        names.iter().find(|name| of(self, name) != of(here, name)).copied()
    }
}

impl fmt::Display for Origin {
    /// For people to find the process.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, command) = self.process.split_once(' ').unwrap_or((&self.process, ""));
        match command {
            "" => write!(f, "process {id}"),
            command => write!(f, "'{}' (process {id})", command.trim()),
        }
    }
}

/// The process that the user has started: for an agent its parent.
fn run_of(root: &Root, id: u32) -> u32 {
    let Some(own) = Stat::read(root, id) else { return id };
    let parent = Stat::read(root, own.parent).filter(|parent| parent.name == own.name);
    parent.map_or(id, |_| own.parent)
}

/// Process numbers, each with its start time.
fn processes(text: &str) -> Option<Vec<ProcessId>> {
    let numbers: Vec<u64> =
        text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let process = |pair: &[u64]| match pair {
        [id, started] => Some(ProcessId { id: u32::try_from(*id).ok()?, started: *started }),
        _ => None,
    };
    numbers.chunks(2).map(process).collect()
}

/// The value of the first line if it begins with this word, and the lines after it.
fn value<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let (line, rest) = text.split_once('\n')?;
    Some((line.strip_prefix(word)?.strip_prefix(' ')?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_as_it_was_written() {
        let here = Origin::of_this_process(&Root::default());
        assert!(!here.boot.is_empty() && here.namespaces.len() >= 7);
        let text = here.lines() + "rest\n";
        assert_eq!(Origin::parse(&text), Some((here.clone(), "rest\n")));
        assert!(!here.is_ending(&Root::default(), &here));
        assert!(here.to_string().ends_with(&format!("(process {})", std::process::id())));
        for cut in [
            "",
            "boot x",
            "boot x\nnamespaces\nprocess 1\n",
            "boot x\nnamespaces y\nprocess 1\nwriters 1\n",
            "file /proc/sys/x\n",
        ] {
            assert_eq!(Origin::parse(cut), None, "{cut}");
        }
    }

    /// Invariant (undo): What a killed latlab holds until the kernel has ended it is waited for.
    #[test]
    fn who_was_killed_is_ending_though_it_is_still_there() {
        let (root, here) = (Root::default(), Origin::of_this_process(&Root::default()));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let started = Stat::read(&root, child.id()).unwrap().started;
        let writers = vec![ProcessId { id: child.id(), started }];
        let origin = Origin { writers, ..here.clone() };
        assert!(!origin.is_ending(&root, &here));
        child.kill().unwrap();
        assert!(origin.is_ending(&root, &here));
        let elsewhere = Origin { namespaces: vec!["pid:[1]".into()], ..origin.clone() };
        assert!(!elsewhere.is_ending(&root, &here), "its number means another process here");
        assert!(!origin.is_ending(&Root::new("/none"), &here));
        child.wait().unwrap();
    }

    #[test]
    fn another_namespace_is_named() {
        let with = |link: &str| Origin { namespaces: vec![link.into()], ..Origin::default() };
        let (here, there) = (with("net:[1]"), with("net:[2]"));
        assert_eq!(here.differs(&there, &["pid", "net"]), Some("net"));
        assert_eq!(here.differs(&there, &["pid"]), None);
        assert_eq!(here.differs(&here, &["net"]), None);
    }
}
