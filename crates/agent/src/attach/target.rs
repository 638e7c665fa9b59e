//! The program to attach to: found among the processes, or started.

use latlab_model::plan::{AttachTarget, fits};
use latlab_sys::child::{HeldChild, processes, program_path};
use latlab_sys::files::Root;
use latlab_sys::process::Stat;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time that a program has to end before it is killed.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);
/// `EI_CLASS` of a 32-bit ELF file.
const ELF_CLASS_32: u8 = 1;

pub struct Program {
    /// The program's name and process, for people.
    pub words: String,
    /// The processes; one that was started and is held has not executed its program yet.
    pub processes: Vec<u32>,
    started: Option<Started>,
}

enum Started {
    Held(HeldChild),
    Running(Child),
    Ended(ExitStatus),
}

impl Program {
    /// Finds the program, or starts and holds it; the error says what is wrong and what to do.
    pub fn prepare(root: &Root, target: &AttachTarget, cpus: &[u32]) -> Result<Program, String> {
        match target {
            AttachTarget::Command { words, output, as_root } => {
                start(words, output.as_deref(), *as_root, cpus)
            }
            AttachTarget::Process { id } => {
                let process = process_of(root, *id)
                    .ok_or_else(|| format!("there is no process {id}: `ps -eLo pid,tid,comm`"))?;
                check(root, process)?;
                Ok(Program {
                    words: in_words(root, process),
                    processes: vec![process],
                    started: None,
                })
            }
            AttachTarget::Name { pattern } => find(root, pattern),
        }
    }

    /// All threads, each with its kernel priority.
    pub fn threads(&self, root: &Root) -> Vec<(i32, i32)> {
        let all = self.processes.iter().flat_map(|process| thread_ids(root, *process));
        let known = |id: u32| Some((id as i32, kernel_priority(root, id)?));
        all.filter_map(known).collect()
    }

    /// Releases a program that was started and held.
    pub fn begin(&mut self) -> Result<(), String> {
        let Some(Started::Held(held)) = self.started.take() else { return Ok(()) };
        let child = held.release().map_err(|error| format!("cannot start the program: {error}"))?;
        self.started = Some(Started::Running(child));
        Ok(())
    }

    pub fn has_ended(&mut self, root: &Root) -> bool {
        match &mut self.started {
            None => !self.processes.iter().any(|process| {
                Stat::read(root, *process).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X'))
            }),
            Some(Started::Held(_)) => false,
            Some(Started::Ended(_)) => true,
            Some(Started::Running(child)) => match child.try_wait() {
                Ok(Some(status)) => {
                    self.started = Some(Started::Ended(status));
                    true
                }
                _ => false,
            },
        }
    }

    /// Ends a program that was started for the run; returns its exit status in the shell's encoding
    /// if it ended by itself.
    pub fn end(&mut self, root: &Root) -> Option<i32> {
        if self.has_ended(root) {
            let Some(Started::Ended(status)) = &self.started else { return None };
            return status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        }
        let Some(Started::Running(child)) = &mut self.started else { return None };
        let _ = latlab_sys::child::terminate(child);
        let until = Instant::now() + PATIENCE;
        while matches!(child.try_wait(), Ok(None)) {
            if Instant::now() >= until {
                let _ = child.kill();
            }
            std::thread::sleep(PAUSE);
        }
        None
    }
}

/// Starts a command as the user who called sudo, and holds it before `exec`.
fn start(
    words: &[String],
    output: Option<&str>,
    as_root: bool,
    cpus: &[u32],
) -> Result<Program, String> {
    let (name, arguments) = words.split_first().ok_or("there is no command to start")?;
    let path = program_path(name)
        .ok_or_else(|| format!("cannot find the program {name}: give its path"))?;
    if is_compat(&path) {
        return Err(format!("{name} {NO_COMPAT}"));
    }
    let mut command = Command::new(path);
    command.args(arguments).stdin(Stdio::null());
    match output {
        None => command.stdout(Stdio::null()).stderr(Stdio::null()),
        Some(path) => {
            let opened = OpenOptions::new().create(true).write(true).truncate(true).open(path);
            let file = opened.map_err(|error| format!("--output {path}: {error}"))?;
            let other = file.try_clone().map_err(|error| format!("--output {path}: {error}"))?;
            command.stdout(file).stderr(other)
        }
    };
    let id = |variable: &str| std::env::var(variable).ok()?.parse::<u32>().ok();
    if let (Some(user), Some(group), false) = (id("SUDO_UID"), id("SUDO_GID"), as_root) {
        command.uid(user).gid(group);
    }
    let held = HeldChild::fork(command, cpus.to_vec())
        .map_err(|error| format!("cannot start {name}: {error}"))?;
    let short = name.rsplit('/').next().unwrap_or(name);
    Ok(Program {
        words: format!("{short} (process {})", held.pid()),
        processes: vec![held.pid()],
        started: Some(Started::Held(held)),
    })
}

/// Finds all processes that match, by their own name or by that of a thread.
fn find(root: &Root, pattern: &str) -> Result<Program, String> {
    let own = std::process::id();
    let name = |id: u32| root.read(format!("proc/{id}/comm"));
    let fits = |name: Option<String>| name.is_some_and(|name| fits(pattern, name.trim_end()));
    let is_it = |process: &u32| {
        let threads = || thread_ids(root, *process).into_iter();
        let fits_thread = |id: u32| fits(root.read(format!("proc/{process}/task/{id}/comm")));
        *process != own && (fits(name(*process)) || threads().any(fits_thread))
    };
    let found: Vec<u32> = processes(root).into_iter().filter(is_it).collect();
    // Drop kernel threads that match as well: the user means the program.
    let programs: Vec<u32> =
        found.iter().copied().filter(|id| !is_kernel_thread(root, *id)).collect();
    let Some(first) = programs.first() else {
        return Err(match found.first() {
            None => format!("no process or thread is called '{pattern}': `ps -eLo pid,tid,comm`"),
            Some(id) => format!("{id} is a thread of the kernel, which makes no system calls"),
        });
    };
    programs.iter().try_for_each(|process| check(root, *process))?;
    let more = match programs.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    Ok(Program {
        words: format!("{}{more}", in_words(root, *first)),
        processes: programs,
        started: None,
    })
}

const NO_COMPAT: &str = "is a 32-bit program on a 64-bit kernel, whose system calls have other \
                         numbers: build it for this kernel";

/// Checks that a process can be followed.
fn check(root: &Root, process: u32) -> Result<(), String> {
    if is_kernel_thread(root, process) {
        return Err(format!("{process} is a thread of the kernel, which makes no system calls"));
    }
    if process == std::process::id() {
        return Err("latlab cannot attach to itself".to_string());
    }
    match status(root, process, "TracerPid:").as_deref() {
        None | Some("0") => {}
        Some(tracer) => {
            return Err(format!(
                "{} is traced by process {tracer} (strace, gdb), which stops it at each of its \
                 calls: end that first",
                in_words(root, process)
            ));
        }
    }
    match is_compat(&root.path(format!("proc/{process}/exe"))) {
        true => Err(format!("{} {NO_COMPAT}", in_words(root, process))),
        false => Ok(()),
    }
}

fn is_compat(program: &std::path::Path) -> bool {
    let mut head = [0; 5];
    let read = File::open(program).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head[..4] == *b"\x7fELF" && head[4] == ELF_CLASS_32 && usize::BITS == 64
}

fn is_kernel_thread(root: &Root, process: u32) -> bool {
    const KTHREADD: u32 = 2;
    process == KTHREADD || Stat::read(root, process).is_some_and(|stat| stat.parent == KTHREADD)
}

fn process_of(root: &Root, id: u32) -> Option<u32> {
    status(root, id, "Tgid:")?.parse().ok()
}

/// A line of `/proc/ID/status`.
pub fn status(root: &Root, id: u32, name: &str) -> Option<String> {
    let text = root.read(format!("proc/{id}/status"))?;
    text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_string()))
}

fn thread_ids(root: &Root, process: u32) -> Vec<u32> {
    let names = root.names(format!("proc/{process}/task")).unwrap_or_default();
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

fn in_words(root: &Root, process: u32) -> String {
    let name = root.read(format!("proc/{process}/comm")).unwrap_or_default();
    format!("{} (process {process})", name.trim_end())
}

/// The priority of a thread in the kernel's numbering: -1 is SCHED_DEADLINE, 120 a SCHED_OTHER
/// thread with nice 0.
fn kernel_priority(root: &Root, id: u32) -> Option<i32> {
    let stat = Stat::read_thread(root, id)?;
    Some(match stat.policy {
        6 => -1,
        1 | 2 => 99 - stat.priority as i32,
        _ => 120,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Plants a process with this number, name and status.
    fn planted(
        process: u32,
        name: &str,
        status: &str,
        program: &[u8],
    ) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let of_process = folder.path().join(format!("proc/{process}"));
        let of_thread = of_process.join(format!("task/{process}"));
        fs::create_dir_all(&of_thread).unwrap();
        fs::write(of_process.join("comm"), format!("{name}\n")).unwrap();
        fs::write(of_process.join("status"), status).unwrap();
        fs::write(of_process.join("exe"), program).unwrap();
        fs::write(of_thread.join("comm"), "worker\n").unwrap();
        let root = Root::new(folder.path());
        (folder, root)
    }

    const STATUS: &str = "Name:\tcontrol\nTgid:\t4711\nTracerPid:\t0\n";
    const ELF_64: &[u8] = b"\x7fELF\x02";

    fn prepared(root: &Root, target: AttachTarget) -> Result<Program, String> {
        Program::prepare(root, &target, &[])
    }

    #[test]
    fn a_program_is_found_by_its_number_and_by_the_name_of_a_thread() {
        let (_folder, root) = planted(4711, "control", STATUS, ELF_64);
        let by_number = prepared(&root, AttachTarget::Process { id: 4711 }).unwrap();
        assert_eq!(by_number.words, "control (process 4711)");
        for pattern in ["contr*", "work*"] {
            let target = AttachTarget::Name { pattern: pattern.to_string() };
            assert_eq!(prepared(&root, target).unwrap().processes, [4711], "{pattern}");
        }
        let other = AttachTarget::Name { pattern: "other".to_string() };
        assert!(prepared(&root, other).is_err_and(|error| error.contains("'other'")));
    }

    #[test]
    fn what_cannot_be_followed_is_refused_with_its_reason() {
        let process = || AttachTarget::Process { id: 4711 };
        let refused = |root: &Root| prepared(root, process()).err().unwrap_or_default();
        let traced = STATUS.replace("TracerPid:\t0", "TracerPid:\t77");
        let (_folder, root) = planted(4711, "control", &traced, ELF_64);
        assert!(refused(&root).contains("traced by process 77"));
        let (_folder, root) = planted(4711, "control", STATUS, b"\x7fELF\x01");
        assert_eq!(refused(&root).contains("32-bit"), usize::BITS == 64);
        let (_folder, root) = planted(1, "init", STATUS, ELF_64);
        assert!(refused(&root).contains("no process 4711"));
    }
}
