//! Processes that are started, found again and ended, with all that they start themselves.

use crate::cgroup::Cgroup;
use crate::files::Root;
use crate::process::Stat;
use crate::sched::{self, Scheduling};
use crate::scratch::{Scratch, keep_open};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, set_child_subreaper,
    set_parent_process_death_signal, wait, waitid,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread::JoinHandle;

/// Where a program lies that can be run, as a shell would find it.
pub fn program_path(name: &str) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(runs);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(runs)
}

/// Lets the calling thread, and those that it starts, wait behind nobody ordinary, where that is
/// allowed; how nice it was before.
pub fn lower_niceness() -> i32 {
    let before = niceness();
    let _ = rustix::process::setpriority_process(None, -20);
    before
}

/// What has become of a child since the last call: whether it was stopped, or continued after that.
pub fn stopped_or_continued(child: &Child) -> Option<bool> {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
    let status = waitid(WaitId::Pid(Pid::from_child(child)), options).ok()??;
    Some(status.stopped())
}

/// How nice this process is.
pub fn niceness() -> i32 {
    rustix::process::getpriority_process(None).unwrap_or(0)
}

/// The process group of a thread; none of the kernel's threads.
pub fn process_group(thread: u32) -> Option<u32> {
    // SAFETY: only numbers go in and out; one of no thread makes it fail. The safe function takes zero,
    // which the kernel's threads have, for an error.
    let group = unsafe { libc::getpgid(thread as libc::pid_t) };
    u32::try_from(group).ok().filter(|group| *group != 0)
}

/// Orphans below the calling process become its children, wherever they have gone.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Makes an ordinary process of what the command will start, whatever the caller is: on these CPUs,
/// in a group of its own, as nice as given, without our priority and ignored signals, and killed
/// with the thread that starts it.
pub fn ordinary_command(command: &mut Command, cpus: Vec<u32>, nice: i32) -> &mut Command {
    let parent = std::process::id();
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get() as u32) != Some(parent) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        for signal in [libc::SIGHUP, libc::SIGXFSZ, libc::SIGINT, libc::SIGTERM] {
            // SAFETY: sets the default action, which needs no function of ours.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        sched::set_scheduling(Scheduling::Other)?;
        rustix::process::setpriority_process(None, nice)?;
        Ok(sched::set_affinity(cpus.iter().copied())?)
    };
    command.process_group(0);
    // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
    unsafe { command.pre_exec(prepare) }
}

/// A child that has not become its program yet.
pub struct HeldChild {
    pid: u32,
    go: io::PipeWriter,
    spawned: JoinHandle<io::Result<Child>>,
}

impl HeldChild {
    /// Forks, and holds the child before the command's program begins; on these CPUs, in a group of its
    /// own, and with the signals that we ignore as they are by default.
    pub fn fork(mut command: Command, cpus: Vec<u32>) -> io::Result<HeldChild> {
        let (mut told, mut tells) = io::pipe()?;
        let (mut waits, go) = io::pipe()?;
        let our_end = go.as_raw_fd();
        let hold = move || {
            for signal in [libc::SIGHUP, libc::SIGXFSZ, libc::SIGINT, libc::SIGTERM] {
                // SAFETY: sets the default action, which needs no function of ours.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
            sched::set_affinity(cpus.iter().copied())?;
            // SAFETY: this is the child's own copy of a descriptor that it has no use for; open, it
            // would keep the child from seeing that the parent has died.
            unsafe { libc::close(our_end) };
            tells.write_all(&std::process::id().to_ne_bytes())?;
            waits.read_exact(&mut [0])
        };
        command.process_group(0);
        // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
        unsafe { command.pre_exec(hold) };
        // It returns when the child has become its program.
        let spawned = std::thread::Builder::new().spawn(move || command.spawn())?;
        let mut pid = [0; 4];
        match told.read_exact(&mut pid) {
            Ok(()) => Ok(HeldChild { pid: u32::from_ne_bytes(pid), go, spawned }),
            Err(_) => Err(spawned
                .join()
                .ok()
                .and_then(Result::err)
                .unwrap_or_else(|| io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Its number, which it keeps.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Lets it become its program; the error is that of starting it.
    pub fn release(mut self) -> io::Result<Child> {
        self.go.write_all(&[1])?;
        self.spawned.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    }
}

/// Asks a child to end.
pub fn terminate(child: &Child) -> io::Result<()> {
    Ok(kill_process(Pid::from_child(child), Signal::TERM)?)
}

/// Leaves a descriptor of ours open in what the command will start.
pub fn keep_descriptor(command: &mut Command, descriptor: RawFd) -> &mut Command {
    // SAFETY: between fork and exec only a system call is made; nothing is allocated or locked.
    unsafe { command.pre_exec(move || keep_open(descriptor)) }
}

/// Lets what the command will start live on when the keys of the terminal end something, or its window
/// is closed: whoever started it decides.
pub fn ignore_terminal_signals(command: &mut Command) -> &mut Command {
    let ignore = || {
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
            // SAFETY: ignores the signal, which needs no function of ours.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
    unsafe { command.pre_exec(ignore) }
}

/// Makes what the command will start a process of a load, which the kernel knows again.
pub fn join_load<'a>(
    command: &'a mut Command,
    scratch: &Scratch,
    cgroup: Option<&Cgroup>,
) -> &'a mut Command {
    let (folder, members) = (scratch.descriptor(), cgroup.map(Cgroup::descriptor));
    let join = move || {
        keep_open(folder)?;
        if let Some(members) = members {
            // SAFETY: the caller has this file open, and so has its child.
            let members = unsafe { BorrowedFd::borrow_raw(members) };
            // Where it is not allowed after all, the open folder must do.
            let _ = rustix::io::write(members, b"0");
        }
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
    unsafe { command.pre_exec(join) }
}

/// A child that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChildExit {
    /// Its number.
    pub pid: u32,
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// Waits for any child to end; none where there is no child.
pub fn wait_for_any() -> Option<ChildExit> {
    collect_any(WaitOptions::empty())
}

/// Any child that has ended by now.
pub fn any_ended() -> Option<ChildExit> {
    collect_any(WaitOptions::NOHANG)
}

fn collect_any(options: WaitOptions) -> Option<ChildExit> {
    loop {
        match wait(options) {
            Ok(Some((pid, status))) => {
                let pid = pid.as_raw_nonzero().get() as u32;
                let (code, signal) = (status.exit_status(), status.terminating_signal());
                return Some(ChildExit { pid, code, signal });
            }
            Err(rustix::io::Errno::INTR) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}

/// A process below another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Descendant {
    /// Its number.
    pub pid: u32,
    /// What its stat file says.
    pub stat: Stat,
}

/// All processes below this one, by their parents; those that are dead and not yet buried too.
/// `between` is called before the files of each process are read.
pub fn descendants(root: &Root, of: u32, mut between: impl FnMut()) -> Vec<Descendant> {
    let mut children: BTreeMap<u32, Vec<Descendant>> = BTreeMap::new();
    for pid in processes(root) {
        between();
        if let Some(stat) = Stat::read(root, pid) {
            children.entry(stat.parent).or_default().push(Descendant { pid, stat });
        }
    }
    let (mut found, mut seen, mut next) = (Vec::new(), BTreeSet::from([of]), vec![of]);
    while let Some(parent) = next.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            // Numbers are used again, so that a list that is read slowly may hold a circle.
            if seen.insert(child.pid) {
                next.push(child.pid);
                found.push(child);
            }
        }
    }
    found
}

/// The numbers of all processes.
pub fn processes(root: &Root) -> Vec<u32> {
    let names = root.names("proc").unwrap_or_default();
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// Kills a process, unless it is another one by now.
pub fn kill(root: &Root, pid: u32, started: u64) {
    if Stat::read(root, pid).is_some_and(|stat| stat.started == started) {
        signal(pid, Signal::KILL);
    }
}

/// Sends a signal to a process; one that has gone does not need it.
pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn what_is_started_is_ordinary_and_found_with_its_children() {
        let cpu = sched::affinity().unwrap()[0];
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 50 & setsid sleep 50 & wait"]).stdout(Stdio::null());
        let mut child = ordinary_command(&mut command, vec![cpu], 0).spawn().unwrap();
        let root = Root::default();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let below = loop {
            let below = descendants(&root, std::process::id(), || ());
            let sleeps = below.iter().filter(|one| one.stat.name == "sleep").count();
            if sleeps == 2 || std::time::Instant::now() > until {
                break below;
            }
        };
        let status = root.read(format!("proc/{}/status", child.id())).unwrap();
        assert!(status.contains(&format!("Cpus_allowed_list:\t{cpu}")), "{status}");
        let sleeps: Vec<_> = below.iter().filter(|one| one.stat.name == "sleep").collect();
        assert_eq!(sleeps.len(), 2);
        sleeps.iter().for_each(|one| kill(&root, one.pid, one.stat.started));
        assert!(child.wait().unwrap().success());
        assert!(crate::clock::cpu_time_of_process(std::process::id()).unwrap() > 0);
        assert_eq!(crate::clock::cpu_time_of_process(u32::MAX >> 4), None);
    }
}
