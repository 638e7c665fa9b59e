//! The ssh server on a board: it carries our stream, so it stays off the measured CPUs like
//! everything of ours that does not measure.

use crate::monitor::text_of;
use latlab_model::CpuSet;
use latlab_model::run::Setting;
use latlab_sys::files::Root;
use latlab_sys::process::Stat;
use latlab_sys::sched::{affinity_of, set_affinity_of};

/// Names of the servers, or prefixes of them.
const SERVERS: [&str; 2] = ["sshd", "dropbear"];

/// The processes that carry our connection, moved to other CPUs until this is dropped.
pub struct MovedServer {
    /// Each with its previous CPUs.
    moved: Vec<(u32, Vec<u32>)>,
    /// The result of the move.
    pub setting: Setting,
}

impl MovedServer {
    /// Moves them; `None` if no such server has started us.
    pub fn place(root: &Root, helpers: &CpuSet) -> Option<MovedServer> {
        let mut moved = Vec::new();
        let mut applied = None;
        for server in servers_of_connection(root, std::process::id()) {
            let before = affinity_of(server).unwrap_or_default();
            let placed = set_affinity_of(server, helpers.iter()).and_then(|()| affinity_of(server));
            applied.get_or_insert_with(|| match &placed {
                Ok(cpus) => text_of(&cpus.iter().copied().collect()),
                Err(error) => format!("refused: {error}"),
            });
            if placed.is_ok() {
                moved.push((server, before));
            }
        }
        let setting = Setting::new("ssh server", text_of(helpers), applied?);
        Some(MovedServer { moved, setting })
    }
}

impl Drop for MovedServer {
    fn drop(&mut self) {
        for (server, before) in &self.moved {
            // It may have ended; a connection that others share goes on as before.
            let _ = set_affinity_of(*server, before.iter().copied());
        }
    }
}

/// The servers above a process, without the listening one. With systemd or inetd listening, each
/// connection has a dedicated server, and none is left out.
fn servers_of_connection(root: &Root, process: u32) -> Vec<u32> {
    let mut servers = Vec::new();
    let mut next = Stat::read(root, process).map_or(0, |stat| stat.parent);
    while let Some(stat) = Some(next).filter(|pid| *pid > 1).and_then(|pid| Stat::read(root, pid)) {
        if SERVERS.iter().any(|name| stat.name.starts_with(name)) {
            servers.push(next);
        }
        next = stat.parent;
    }
    if servers.last().is_some_and(|topmost| listens(root, *topmost)) {
        servers.pop();
    }
    servers
}

/// Whether a server is the listening one, judged by its command: one for a connection has `-i`, or
/// a title in place of a command.
fn listens(root: &Root, server: u32) -> bool {
    let command = root.read(format!("proc/{server}/cmdline")).unwrap_or_default();
    match command.starts_with("sshd") {
        true => command.contains("[listener]"),
        // Arguments are separated by newlines when the command is read.
        false => !command.split_whitespace().any(|word| word == "-i"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn plant(root: &tempfile::TempDir, processes: &[(u32, &str, u32, &str)]) -> Root {
        for (pid, name, parent, command) in processes {
            let folder = root.path().join(format!("proc/{pid}"));
            fs::create_dir_all(&folder).unwrap();
            let zeros = "0 ".repeat(48);
            fs::write(folder.join("stat"), format!("{pid} ({name}) S {parent} {zeros}")).unwrap();
            fs::write(folder.join("cmdline"), command).unwrap();
        }
        Root::new(root.path())
    }

    #[test]
    fn the_server_that_listens_for_everybody_stays() {
        for listener in
            ["sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups", "/usr/sbin/sshd\0-D\0", ""]
        {
            let folder = tempfile::tempdir().unwrap();
            let processes = [
                (9, "agent", 8, "agent\x002\0"),
                (8, "sh", 7, "sh\0"),
                (7, "sshd-session", 6, "sshd-session: me@notty"),
                (6, "sshd-session", 5, "sshd-session: me [priv]"),
                (5, "sshd", 1, listener),
            ];
            let root = plant(&folder, &processes);
            assert_eq!(servers_of_connection(&root, 9), [7, 6], "{listener}");
            assert_eq!(servers_of_connection(&root, 6), [0; 0], "{listener}");
        }
    }

    #[test]
    fn a_server_that_was_started_for_the_connection_is_moved() {
        for (name, command) in [
            ("sshd", "sshd: root@notty"),
            ("sshd", "/usr/sbin/sshd\0-i\0"),
            ("dropbear", "dropbear\0-i\0"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let processes =
                [(9, "agent", 8, "agent\0"), (8, "sh", 7, "sh\0"), (7, name, 1, command)];
            assert_eq!(servers_of_connection(&plant(&folder, &processes), 9), [7], "{command}");
        }
    }
}
