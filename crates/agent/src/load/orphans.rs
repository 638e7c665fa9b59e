//! What a killed supervisor has left: found by a mark in the environment or by its folder, and ended.

use super::scratch;
use latlab_sys::child::{descendants, kill, processes};
use latlab_sys::files::Root;
use latlab_sys::process::{Stat, effective_user, is_gone};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

/// The variable that everything of a load inherits: number and start of its supervisor.
pub const MARK: &str = "LATLAB_LOAD_SUPERVISOR";
/// Times that processes are looked for: one that is being killed may just have started another.
const ROUNDS: u32 = 50;

/// Ends what a supervisor has left, which is nothing where it came to its own end.
pub fn end_those_of(root: &Root, supervisor: u32) {
    end_marked(root, |mark| mark.split('-').next() == Some(&supervisor.to_string()));
}

/// Ends what killed supervisors have left; how many processes that were.
pub fn end_orphans(root: &Root) -> usize {
    let gone = |mark: &str| is_gone(root, mark);
    let ended = end_marked(root, gone);
    for entry in fs::read_dir(scratch::base()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours =
            entry.metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == effective_user());
        if ours
            && name.to_str().and_then(|name| name.strip_prefix(scratch::PREFIX)).is_some_and(gone)
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    ended
}

fn end_marked(root: &Root, wanted: impl Fn(&str) -> bool) -> usize {
    let mut ended = 0;
    for _ in 0..ROUNDS {
        let marked: Vec<(u32, Stat)> =
            processes(root).into_iter().filter_map(|pid| find_marked(root, pid, &wanted)).collect();
        if marked.is_empty() {
            break;
        }
        for (pid, stat) in marked {
            // Those below it may have another environment.
            for below in descendants(root, pid) {
                kill(root, below.pid, below.stat.started);
            }
            kill(root, pid, stat.started);
            ended += 1;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    ended
}

/// A living process that carries a mark: in its environment, which some write over with a name of
/// their own, or by the folder that it works in.
fn find_marked(root: &Root, pid: u32, wanted: impl Fn(&str) -> bool) -> Option<(u32, Stat)> {
    let environment = fs::read(root.path(format!("proc/{pid}/environ"))).unwrap_or_default();
    let variables = environment.split(|byte| *byte == 0);
    let mut variables = variables.filter_map(|variable| std::str::from_utf8(variable).ok());
    let by_environment =
        || variables.find_map(|one| Some(one.strip_prefix(MARK)?.strip_prefix('=')?.to_string()));
    let folder = fs::read_link(root.path(format!("proc/{pid}/cwd"))).unwrap_or_default();
    let by_folder = folder.components().find_map(|part| {
        let name = part.as_os_str().to_str()?.strip_prefix(scratch::PREFIX)?;
        Some(name.trim_end_matches(" (deleted)").to_string())
    });
    let mark = by_folder.or_else(by_environment)?;
    let stat = Stat::read(root, pid).filter(|stat| stat.state != 'Z')?;
    (pid != std::process::id() && wanted(&mark)).then_some((pid, stat))
}
