//! `--on-fail`: a command to run after a failed round.

use crate::documents::WatchAlarm;
use crate::output::warn;
use latlab_conduct::StopFlag;
use latlab_sys::process::{KillSignal, Pid, kill_process_group};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The command is killed after this time, so that it cannot hold up the next round.
const PATIENCE: Duration = Duration::from_secs(30);
/// Once the watch is to end, the command gets only this much longer.
const AT_THE_END: Duration = Duration::from_secs(3);

/// Runs the command with the round as a line of JSON on its standard input, and waits for it.
pub fn run(command: &str, alarm: &WatchAlarm<'_>, stop: &StopFlag) {
    match start(command, alarm).and_then(|child| wait(child, stop)) {
        Ok(None) => {}
        Ok(Some(what)) => warn(format_args!("--on-fail: the command {what}")),
        Err(error) => warn(format_args!("--on-fail: cannot run the command: {error}")),
    }
}

fn start(command: &str, alarm: &WatchAlarm<'_>) -> io::Result<Child> {
    // A new process group, so that its children can be killed with it.
    let mut child =
        Command::new("sh").process_group(0).args(["-c", command]).stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // The command may not read its input.
        let _ = writeln!(input, "{}", serde_json::to_string(alarm)?);
    }
    Ok(child)
}

/// Waits for the command. `None` if it succeeded, else what went wrong.
fn wait(mut child: Child, stop: &StopFlag) -> io::Result<Option<String>> {
    let mut until = Instant::now() + PATIENCE;
    let mut why = format!("took longer than {} s and was ended", PATIENCE.as_secs());
    loop {
        if stop.is_set() && until > Instant::now() + AT_THE_END {
            until = Instant::now() + AT_THE_END;
            why = "was ended with the watch".to_string();
        }
        if let Some(status) = child.try_wait()? {
            return Ok((!status.success()).then(|| format!("failed ({status})")));
        }
        if Instant::now() > until {
            if let Some(group) = Pid::from_raw(child.id() as i32) {
                let _ = kill_process_group(group, KillSignal::KILL);
            }
            child.wait()?;
            return Ok(Some(why));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
