//! `--on-spike`: runs a command for a spike, off the measured CPUs, at most once a second.

use latlab_model::Nanos;
use latlab_model::frame::Spike;
use latlab_model::run::SpikeHook;
use latlab_sys::memory;
use latlab_sys::process::{KillSignal, Pid, kill_process_group};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// Shortest time between two starts of the command.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs the command in its own process group, and kills the group when its standard input closes,
/// so that nothing outlives a killed agent.
const GUARDED: &str = r#"
exec 3<&0
IFS= read -r spike <&3
(read -r nothing <&3; kill -KILL 0) &
guard=$!
printf '%s\n' "$spike" | sh -c "$1" 3<&-
status=$?
kill "$guard" 2>/dev/null
exit "$status"
"#;

/// The command and its cost.
pub struct Hook {
    command: String,
    above: Nanos,
    /// The running command, and the input that keeps it alive.
    running: Option<(Child, Option<ChildStdin>)>,
    last_start: Option<Instant>,
    cost: SpikeHook,
}

impl Hook {
    /// Runs this command for latencies above the limit.
    pub fn new(command: String, above: Nanos) -> Hook {
        Hook { command, above, running: None, last_start: None, cost: SpikeHook::default() }
    }

    /// The drainer must pass on all latencies from here on.
    pub fn floor(&self) -> Nanos {
        self.above + Nanos(1)
    }

    /// Starts the command for this spike, unless one is running or has just run.
    pub fn spike(&mut self, thread: u32, cpu: Option<u32>, spike: Spike) {
        if spike.latency_ns <= self.above {
            return;
        }
        let too_soon = self.last_start.is_some_and(|start| start.elapsed() < PAUSE);
        if self.running.is_some() || too_soon {
            self.cost.suppressed += 1;
            return;
        }
        self.last_start = Some(Instant::now());
        match self.start(thread, cpu, spike) {
            Ok(child) => {
                self.cost.started += 1;
                self.running = Some(child);
            }
            Err(_) => self.cost.failed += 1,
        }
    }

    fn start(
        &self,
        thread: u32,
        cpu: Option<u32>,
        spike: Spike,
    ) -> std::io::Result<(Child, Option<ChildStdin>)> {
        // Standard output carries the stream, so the command's output goes to standard error. A
        // process group allows ending everything it has started.
        let mut child = Command::new("sh")
            .process_group(0)
            .args(["-c", GUARDED, "sh", &self.command])
            .stdin(Stdio::piped())
            .stdout(std::io::stderr().as_fd().try_clone_to_owned()?)
            .spawn()?;
        let text = serde_json::json!({
            "thread": thread,
            "cpu": cpu,
            "latency_ns": spike.latency_ns,
            "release_ns": spike.release_ns,
            "above_ns": self.above,
        });
        let mut input = child.stdin.take();
        if let Some(input) = &mut input {
            let _ = writeln!(input, "{text}");
        }
        Ok((child, input))
    }

    /// Checks whether the command has ended.
    pub fn poll(&mut self) {
        let Some((child, _)) = &mut self.running else { return };
        if let Ok(Some(status)) = child.try_wait() {
            self.cost.failed += u64::from(!status.success());
            self.running = None;
        }
    }

    /// Waits up to a second for a running command; returns the cost of all.
    pub fn finish(mut self) -> SpikeHook {
        let until = Instant::now() + PAUSE;
        while self.running.is_some() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
            self.poll();
        }
        if let Some((child, _)) = &mut self.running {
            // Its time is over: nothing of ours outlives the run.
            if let Some(group) = Pid::from_raw(child.id() as i32) {
                let _ = kill_process_group(group, KillSignal::KILL);
            }
            let _ = child.wait();
            self.cost.failed += 1;
        }
        self.cost.cpu_ns = Nanos(memory::children_cpu_time());
        self.cost
    }
}
