//! Who wrote a record: the boot, the namespaces and the process, as the kernel names them.

use crate::files::Root;
use crate::process::Stat;
use std::fmt;

/// Namespaces in which a path, a number or a time may mean something else.
const NAMESPACES: [&str; 8] = ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"];

/// The boot, the namespaces and the process of whoever wrote a record.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Origin {
    /// The kernel's name for the boot.
    pub boot: String,
    /// Links of the namespaces, such as `net:[4026531840]`.
    namespaces: Vec<String>,
    /// Number of the process in its namespace, and its command line: for people.
    process: String,
}

impl Origin {
    /// That of this process.
    pub fn of_this_process(root: &Root) -> Origin {
        let boot = root.read("proc/sys/kernel/random/boot_id").unwrap_or_default();
        let link = |name: &&str| {
            let link = std::fs::read_link(root.path(format!("proc/self/ns/{name}"))).ok()?;
            Some(link.to_string_lossy().into_owned())
        };
        let namespaces = NAMESPACES.iter().filter_map(link).collect();
        let id = run_of(root, std::process::id());
        let command = root.read(format!("proc/{id}/cmdline"));
        let command = command.unwrap_or_default().replace(char::is_control, " ");
        Origin { boot, namespaces, process: format!("{id} {command}") }
    }

    /// Its lines in a record.
    pub fn lines(&self) -> String {
        let Origin { boot, namespaces, process } = self;
        format!("boot {boot}\nnamespaces {}\nprocess {process}\n", namespaces.join(" "))
    }

    /// From the first lines of a record, and the rest; none where they are something else.
    pub fn parse(record: &str) -> Option<(Origin, &str)> {
        let (boot, rest) = value(record, "boot")?;
        let (namespaces, rest) = value(rest, "namespaces")?;
        let (process, rest) = value(rest, "process")?;
        let namespaces = namespaces.split_whitespace().map(str::to_string).collect();
        Some((Origin { boot: boot.to_string(), namespaces, process: process.to_string() }, rest))
    }

    /// The first of these namespaces that is another one than here.
    pub fn differs<'a>(&self, here: &Origin, names: &[&'a str]) -> Option<&'a str> {
        let of = |origin: &Origin, name: &str| {
            let of_name = |link: &&String| link.split(':').next() == Some(name);
            origin.namespaces.iter().find(of_name).cloned()
        };
        names.iter().find(|name| of(self, name) != of(here, name)).copied()
    }
}

impl fmt::Display for Origin {
    /// As a person finds the process.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, command) = self.process.split_once(' ').unwrap_or((&self.process, ""));
        match command {
            "" => write!(f, "process {id}"),
            command => write!(f, "'{}' (process {id})", command.trim()),
        }
    }
}

/// The process that a person has started: of an agent its parent.
fn run_of(root: &Root, id: u32) -> u32 {
    let Some(own) = Stat::read(root, id) else { return id };
    let parent = Stat::read(root, own.parent).filter(|parent| parent.name == own.name);
    parent.map_or(id, |_| own.parent)
}

/// The value of the first line, which has this word before it, and the lines after it.
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
        assert!(here.to_string().ends_with(&format!("(process {})", std::process::id())));
        for cut in ["", "boot x", "boot x\nnamespaces\nprocess 1\n", "file /proc/sys/x\n"] {
            assert_eq!(Origin::parse(cut), None, "{cut}");
        }
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
