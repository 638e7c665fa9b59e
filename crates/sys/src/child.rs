//! Starts, finds and ends processes, with everything they start themselves.

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

/// Path of an executable, found as a shell would.
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

/// Gives the calling thread, and those it starts, the lowest nice value if permitted; returns the
/// previous one.
pub fn lower_niceness() -> i32 {
    let before = niceness();
    let _ = rustix::process::setpriority_process(None, -20);
    before
}

/// Whether the child was stopped, or continued after that, since the last call.
pub fn stopped_or_continued(child: &Child) -> Option<bool> {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
    let status = waitid(WaitId::Pid(Pid::from_child(child)), options).ok()??;
    Some(status.stopped())
}

/// Nice value of this process.
pub fn niceness() -> i32 {
    rustix::process::getpriority_process(None).unwrap_or(0)
}

/// Process group of a thread; `None` for kernel threads.
pub fn process_group(thread: u32) -> Option<u32> {
    // SAFETY: only numbers are passed; an unknown thread makes the call fail. The safe function
    // takes zero, the result for kernel threads, for an error.
    let group = unsafe { libc::getpgid(thread as libc::pid_t) };
    u32::try_from(group).ok().filter(|group| *group != 0)
}

/// Makes the calling process the parent of orphans below it, wherever they have gone.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Makes the command start an ordinary process, whatever the caller is: on these CPUs, in its own
/// group, with this nice value, without our priority and ignored signals, and killed with the
/// thread that starts it.
pub fn ordinary_command(command: &mut Command, cpus: Vec<u32>, nice: i32) -> &mut Command {
    let parent = std::process::id();
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get() as u32) != Some(parent) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        for signal in [libc::SIGHUP, libc::SIGXFSZ, libc::SIGINT, libc::SIGTERM] {
            // SAFETY: sets the default action, which has no handler of ours.
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

/// A child before `exec`.
pub struct HeldChild {
    pid: u32,
    go: io::PipeWriter,
    spawned: JoinHandle<io::Result<Child>>,
}

impl HeldChild {
    /// Forks, and holds the child before `exec`; it has these CPUs, its own process group, and
    /// default actions for the signals that we ignore.
    pub fn fork(mut command: Command, cpus: Vec<u32>) -> io::Result<HeldChild> {
        let (mut told, mut tells) = io::pipe()?;
        let (mut waits, go) = io::pipe()?;
        let our_end = go.as_raw_fd();
        let hold = move || {
            for signal in [libc::SIGHUP, libc::SIGXFSZ, libc::SIGINT, libc::SIGTERM] {
                // SAFETY: sets the default action, which has no handler of ours.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
            sched::set_affinity(cpus.iter().copied())?;
            // SAFETY: this is the child's copy of a descriptor that it does not use; open, it would
            // keep the child from seeing that the parent has died.
            unsafe { libc::close(our_end) };
            tells.write_all(&std::process::id().to_ne_bytes())?;
            waits.read_exact(&mut [0])
        };
        command.process_group(0);
        // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
        unsafe { command.pre_exec(hold) };
        // Returns once the child has called `exec`.
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

    /// The process number, which `exec` keeps.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Lets it call `exec`; the error is that of starting the program.
    pub fn release(mut self) -> io::Result<Child> {
        self.go.write_all(&[1])?;
        self.spawned.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    }
}

/// Sends SIGTERM to a child.
pub fn terminate(child: &Child) -> io::Result<()> {
    Ok(kill_process(Pid::from_child(child), Signal::TERM)?)
}

/// Keeps a descriptor open in the program that the command starts.
pub fn keep_descriptor(command: &mut Command, descriptor: RawFd) -> &mut Command {
    // SAFETY: between fork and exec only a system call is made; nothing is allocated or locked.
    unsafe { command.pre_exec(move || keep_open(descriptor)) }
}

/// Makes the command's program ignore terminal signals and hang-up; the process that starts it
/// decides when it ends.
pub fn ignore_terminal_signals(command: &mut Command) -> &mut Command {
    let ignore = || {
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
            // SAFETY: ignores the signal, which has no handler of ours.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec only system calls are made; nothing is allocated or locked.
    unsafe { command.pre_exec(ignore) }
}

/// Makes the command's program a member of a load, which the kernel can identify.
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
            // If it is not permitted after all, the open folder has to do.
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
    /// Its process number.
    pub pid: u32,
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// Waits for any child to end; `None` if there is no child.
pub fn wait_for_any() -> Option<ChildExit> {
    collect_any(WaitOptions::empty())
}

/// Any child that has already ended.
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
    /// Its process number.
    pub pid: u32,
    /// The contents of its stat file.
    pub stat: Stat,
}

/// All processes below this one, by their parents, including zombies. `between` is called before
/// the files of each process are read.
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
            // Numbers are reused, so a list that is read slowly may contain a cycle.
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

/// Kills a process, unless its number now belongs to another one.
pub fn kill(root: &Root, pid: u32, started: u64) {
    if Stat::read(root, pid).is_some_and(|stat| stat.started == started) {
        signal(pid, Signal::KILL);
    }
}

/// Sends a signal to a process; does nothing if it has ended.
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
