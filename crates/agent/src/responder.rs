//! A responder in a guest: a program started here, or a kernel module that is already loaded. A
//! thread of ours waits for the end of the edges, which the module `pinpair` makes.

use crate::placement::{PlacedThread, Placement, schedule_process};
use crate::refusals::machine_refuses;
use crate::thread_job::{Start, ThreadJob, thread_end};
use latlab_measure::cyclic::EndCode;
use latlab_measure::recorder::Totals;
use latlab_model::edges::Edges;
use latlab_model::frame::{Message, Refusal};
use latlab_model::plan::Policy;
use latlab_model::respond::LinuxResponder;
use latlab_model::run::{EndReason, Setting, ThreadEnd};
use latlab_sys::child::{niceness, ordinary_command};
use latlab_sys::clock::{self, Clock};
use latlab_sys::memory;
use latlab_sys::sched::{self, Scheduling};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Reading this file starts the edges, and returns when all of them have come.
const EDGES: &str = "/sys/kernel/debug/pinpair/edges";
/// The waiting thread must wake before any responder, which may never sleep.
const WAITING: Policy = Policy::Fifo { priority: 99 };
/// What a responder prints when it is ready.
const READY: &str = "ready";

/// A responder that is ready.
pub struct Responder {
    /// `None` if the kernel answers.
    program: Option<Program>,
}

struct Program {
    child: Child,
    policy: Policy,
}

impl Responder {
    /// Starts the program, and places the calling thread.
    pub fn set_up(
        job: &ThreadJob,
        asked: &LinuxResponder,
    ) -> Result<(PlacedThread, Responder), Refusal> {
        let (thread, policy) = (job.thread, job.measurement.policy_of(job.thread));
        let usual = Placement::new(thread, WAITING, &job.usable);
        let place = Placement { whose: "waiting ", cpu: job.cpu, ..usual };
        let mut placed = place.apply()?;
        if asked.argv.is_empty() {
            placed.policy = "the kernel's".to_string();
            return Ok((placed, Responder { program: None }));
        }
        let cannot = |why| machine_refuses(format!("the responder {}: {why}", asked.name));
        let mut program = Program::start(asked, job, policy).map_err(cannot)?;
        let applied = program.schedule().map_err(cannot)?;
        let setting = Setting::new("scheduling", policy.to_string(), applied.clone());
        let setting = Setting { thread: Some(thread), matters: true, ..setting };
        placed.settings.push(setting);
        placed.policy = applied;
        program.wait_until_ready().map_err(cannot)?;
        // A responder that never sleeps would keep everything else from getting ready.
        let _ = sched::set_scheduling_of(program.child.id(), Scheduling::Other);
        Ok((placed, Responder { program: Some(program) }))
    }

    /// Starts the edges and sends their results.
    pub fn run(self, job: ThreadJob, start: Start) -> ThreadEnd {
        let _ = clock::sleep_until(Clock::Monotonic, start.from);
        let scheduled = self.program.as_ref().is_none_or(|program| program.schedule().is_ok());
        let before = memory::thread_usage();
        let text = fs::read_to_string(EDGES).unwrap_or_default();
        drop(self);
        let edges = Edges::parse(job.thread, &text).filter(|_| scheduled);
        let reason = if edges.is_some() { EndReason::Finished } else { EndReason::Failed };
        if let Some(edges) = edges {
            job.outbox.send(&Message::Edges(edges));
        }
        let end = thread_end(job.thread, EndCode::Finished, 0, Totals::default(), before);
        // Page faults while reading the results are not part of any response.
        ThreadEnd { reason, page_faults: 0, ..end }
    }
}

impl Program {
    fn start(asked: &LinuxResponder, job: &ThreadJob, policy: Policy) -> Result<Program, String> {
        let mut command = Command::new(&asked.argv[0]);
        command.args(&asked.argv[1..]).stdin(Stdio::null()).stdout(Stdio::piped());
        ordinary_command(&mut command, job.usable.clone(), niceness());
        let child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
        // Our limit for real-time threads that do not sleep must not apply to responders that spin.
        memory::lift_realtime_limit(child.id());
        Ok(Program { child, policy })
    }

    /// Sets its policy; returns what was read back.
    fn schedule(&self) -> Result<String, String> {
        schedule_process(self.child.id(), self.policy).map_err(|error| error.to_string())
    }

    fn wait_until_ready(&mut self) -> Result<(), String> {
        let output = self.child.stdout.take().ok_or("it has no output")?;
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        match read.is_ok() && line.trim_end() == READY {
            true => Ok(()),
            false => Err(format!("said '{}' and not '{READY}': see the console", line.trim_end())),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
