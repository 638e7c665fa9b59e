//! The processes that a keeper starts itself.

use super::event::Event;
use super::order::Order;
use super::orphans;
use super::output::{self, Kept, Wanted};
use latlab_sys::child::ordinary;
use latlab_sys::process::{KillSignal, Pid, kill_process_group};
use std::io::{PipeWriter, Result, pipe};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::SyncSender;

/// The processes of a load, in the order of their start.
pub struct Processes {
    order: Order,
    mark: String,
    folder: PathBuf,
    slots: Vec<Slot>,
    nice: i32,
}

struct Slot {
    pid: Option<u32>,
    /// What the process prints goes here, also after it was started again.
    output: PipeWriter,
    kept: Kept,
}

impl Processes {
    /// Starts none yet, but listens to all; they will be this nice.
    pub fn new(
        order: Order,
        mark: &str,
        folder: &Path,
        events: &SyncSender<Event>,
        nice: i32,
    ) -> Result<Self> {
        let mut slots = Vec::new();
        for (place, process) in order.load.processes.iter().enumerate() {
            let is_load = place + 1 == order.load.processes.len();
            let figures = order.load.rates.iter().filter(|_| is_load);
            let figures = figures.map(|rate| rate.line.clone()).collect();
            let wanted = Wanted { process: place, figures, ready: process.ready.clone() };
            let ((reader, output), kept) = (pipe()?, Kept::default());
            let (events, told) = (events.clone(), kept.clone());
            let read = move || output::read(reader, wanted, &told, &events);
            std::thread::Builder::new().spawn(read)?;
            slots.push(Slot { pid: None, output, kept });
        }
        Ok(Processes { order, mark: mark.into(), folder: folder.into(), slots, nice })
    }

    /// The order.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// Number of the last one, which is the load.
    pub fn last(&self) -> usize {
        self.slots.len() - 1
    }

    /// Starts one of them.
    pub fn start(&mut self, place: usize) -> Result<u32> {
        let slot = &mut self.slots[place];
        let mut command = Command::new(&self.order.programs[place]);
        command
            .args(&self.order.load.processes[place].argv[1..])
            .envs(&self.order.load.environment)
            .env(orphans::MARK, &self.mark)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(slot.output.try_clone()?)
            .stderr(slot.output.try_clone()?);
        // It is waited for with all others.
        let pid = ordinary(&mut command, self.order.cpus.clone(), self.nice).spawn()?.id();
        slot.pid = Some(pid);
        Ok(pid)
    }

    /// The place of a process that has ended; none of one that the load has started itself.
    pub fn ended(&mut self, pid: u32) -> Option<usize> {
        let place = self.slots.iter().position(|slot| slot.pid == Some(pid))?;
        self.slots[place].pid = None;
        Some(place)
    }

    /// Sends a signal to the groups of those that run.
    pub fn signal(&self, places: std::ops::RangeInclusive<usize>, signal: KillSignal) {
        for slot in &self.slots[places] {
            if let Some(group) = slot.pid.and_then(|pid| Pid::from_raw(pid as i32)) {
                let _ = kill_process_group(group, signal);
                // One that is stopped would not see it.
                let _ = kill_process_group(group, KillSignal::CONT);
            }
        }
    }

    /// Whether one of them runs.
    pub fn runs(&self, place: usize) -> bool {
        self.slots[place].pid.is_some()
    }

    /// What they have printed: no more can come from this side. One more event follows for each.
    pub fn close(self) -> (Order, Vec<Kept>) {
        (self.order, self.slots.into_iter().map(|slot| slot.kept).collect())
    }
}
