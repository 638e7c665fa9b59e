//! The output of a load: read at once so that the load never blocks, and bounded.

use super::request::SupervisorEvent;
use latlab_model::Nanos;
use latlab_sys::clock::Clock;
use std::collections::VecDeque;
use std::io::Read;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Number of last lines kept.
const KEPT_LINES: usize = 40;
/// Longer lines are cut.
const LONGEST_LINE: usize = 400;
/// Lines with figures sent per second.
const LINES_PER_SECOND: f64 = 50.0;

/// The output of a process so far.
#[derive(Clone, Default)]
pub struct Output(Arc<Mutex<Printed>>);

/// Counts, and the last lines.
#[derive(Clone, Default)]
pub struct Printed {
    /// Bytes that were printed.
    pub bytes: u64,
    /// Lines with figures that were not sent.
    pub dropped: u64,
    pub lines: VecDeque<String>,
}

impl Output {
    fn update<T>(&self, change: impl FnOnce(&mut Printed) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The counts and the last lines so far.
    pub fn printed(&self) -> Printed {
        self.update(|printed| printed.clone())
    }
}

/// What to look for in the output of a process.
pub struct WantedLines {
    /// Index of the process in the load.
    pub process: usize,
    /// Lines that contain one of these are sent.
    pub figures: Vec<String>,
    /// A line that contains this reports readiness.
    pub ready: Option<String>,
}

/// Reads until all writers have closed the pipe.
pub fn read(
    mut from: impl Read,
    wanted: WantedLines,
    output: &Output,
    events: &SyncSender<SupervisorEvent>,
) {
    let (mut line, mut buffer) = (Vec::new(), [0; 16 << 10]);
    let mut budget = Budget { left: LINES_PER_SECOND, at: Instant::now() };
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        output.update(|printed| printed.bytes += count as u64);
        for &byte in &buffer[..count] {
            match byte {
                b'\n' | b'\r' => {
                    take_line(&line, &wanted, output, &mut budget, events);
                    line.clear();
                }
                byte if line.len() < LONGEST_LINE => line.push(byte),
                _ => {}
            }
        }
    }
    take_line(&line, &wanted, output, &mut budget, events);
    let _ = events.send(SupervisorEvent::OutputEnded);
}

fn take_line(
    line: &[u8],
    wanted: &WantedLines,
    output: &Output,
    budget: &mut Budget,
    events: &SyncSender<SupervisorEvent>,
) {
    if line.is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(line).replace(char::is_control, " ");
    if wanted.ready.as_ref().is_some_and(|ready| text.contains(ready.as_str())) {
        let _ = events.send(SupervisorEvent::Ready(wanted.process));
    }
    if wanted.figures.iter().any(|figure| text.contains(figure.as_str())) {
        let at = Nanos(Clock::Monotonic.now());
        let sent =
            budget.spend() && events.try_send(SupervisorEvent::Line(at, text.clone())).is_ok();
        output.update(|printed| printed.dropped += u64::from(!sent));
    }
    output.update(|printed| {
        printed.lines.push_back(text);
        if printed.lines.len() > KEPT_LINES {
            printed.lines.pop_front();
        }
    });
}

/// A rate limit with a burst of one second.
struct Budget {
    left: f64,
    at: Instant,
}

impl Budget {
    fn spend(&mut self) -> bool {
        let now = Instant::now();
        let earned = now.duration_since(self.at).as_secs_f64() * LINES_PER_SECOND;
        self.left = (self.left + earned).min(LINES_PER_SECOND);
        self.at = now;
        if self.left < 1.0 {
            return false;
        }
        self.left -= 1.0;
        true
    }
}
