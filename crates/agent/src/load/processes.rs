//! The processes that a supervisor starts itself.

use super::output::{self, Output, WantedLines};
use super::request::{LoadRequest, SupervisorEvent};
use latlab_model::self_interference::OwnThread;
use latlab_sys::cgroup::Cgroup;
use latlab_sys::child::{join_load, ordinary_command};
use latlab_sys::process::{KillSignal, Pid, kill_process_group};
use latlab_sys::release_times::ReleaseTimes;
use latlab_sys::scratch::Scratch;
use latlab_sys::work_log::{LoggedSource, TimedLog, WorkLogs};
use std::io::{PipeWriter, Result, pipe};
use std::process::{Command, Stdio};
use std::sync::mpsc::SyncSender;

/// The processes of a load, in start order.
pub struct Processes {
    request: LoadRequest,
    /// The kernel identifies what belongs to the load by these two.
    scratch: Scratch,
    cgroup: Option<Cgroup>,
    slots: Vec<Slot>,
    nice: i32,
}

struct Slot {
    pid: Option<u32>,
    /// Takes the output of the process, also after a restart.
    writer: PipeWriter,
    output: Output,
}

impl Processes {
    /// Prepares to start the processes with this nice value, and listens to their output.
    pub fn new(
        request: LoadRequest,
        (scratch, cgroup): (Scratch, Option<Cgroup>),
        events: &SyncSender<SupervisorEvent>,
        (logs, releases): (&WorkLogs<OwnThread>, &ReleaseTimes),
        nice: i32,
    ) -> Result<Self> {
        let mut slots = Vec::new();
        for (place, process) in request.load.processes.iter().enumerate() {
            let is_load = place + 1 == request.load.processes.len();
            let figures = request.load.rates.iter().filter(|_| is_load);
            let figures = figures.map(|rate| rate.line.clone()).collect();
            let wanted = WantedLines { process: place, figures, ready: process.ready.clone() };
            let ((reader, writer), output) = (pipe()?, Output::default());
            let (events, shared) = (events.clone(), output.clone());
            let (logs, releases) = (logs.clone(), releases.clone());
            let read = move || {
                let log = TimedLog::new(logs.begin(OwnThread::Loads), releases);
                let reader = LoggedSource::new(reader, Some(log));
                output::read(reader, wanted, &shared, &events);
            };
            std::thread::Builder::new().spawn(read)?;
            slots.push(Slot { pid: None, writer, output });
        }
        Ok(Processes { request, scratch, cgroup, slots, nice })
    }

    pub fn request(&self) -> &LoadRequest {
        &self.request
    }

    /// Index of the last process, which is the load itself.
    pub fn last(&self) -> usize {
        self.slots.len() - 1
    }

    /// Starts one process.
    pub fn start(&mut self, place: usize) -> Result<u32> {
        let slot = &mut self.slots[place];
        let mut command = Command::new(&self.request.programs[place]);
        command
            .args(&self.request.load.processes[place].argv[1..])
            .envs(&self.request.load.environment)
            .current_dir(self.scratch.path())
            .stdin(Stdio::null())
            .stdout(slot.writer.try_clone()?)
            .stderr(slot.writer.try_clone()?);
        ordinary_command(&mut command, self.request.cpus.clone(), self.nice);
        join_load(&mut command, &self.scratch, self.cgroup.as_ref());
        // It is reaped with all the others.
        let pid = command.spawn()?.id();
        slot.pid = Some(pid);
        Ok(pid)
    }

    /// The index of a process that has ended; `None` if the load started it.
    pub fn find_ended(&mut self, pid: u32) -> Option<usize> {
        let place = self.slots.iter().position(|slot| slot.pid == Some(pid))?;
        self.slots[place].pid = None;
        Some(place)
    }

    /// Sends a signal to the process groups of those that run.
    pub fn signal(&self, places: std::ops::RangeInclusive<usize>, signal: KillSignal) {
        for slot in &self.slots[places] {
            if let Some(group) = slot.pid.and_then(|pid| Pid::from_raw(pid as i32)) {
                let _ = kill_process_group(group, signal);
                // A stopped process would not see it.
                let _ = kill_process_group(group, KillSignal::CONT);
            }
        }
    }

    pub fn is_running(&self, place: usize) -> bool {
        self.slots[place].pid.is_some()
    }

    /// The request, and the output of each process. No more input can come from this side, so one
    /// more event follows for each.
    pub fn close(self) -> (LoadRequest, Vec<Output>) {
        (self.request, self.slots.into_iter().map(|slot| slot.output).collect())
    }
}
