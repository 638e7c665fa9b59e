//! Builds what a simulation needs, and runs its programs.

use super::SimulateError;
use crate::StopFlag;
use latlab_sys::child;
use latlab_sys::process::KillSignal;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// Polling interval for the end of a program.
const POLL: Duration = Duration::from_millis(10);

/// Makes a target; returns make's output.
pub(super) fn run_make(
    sources: &Path,
    build: &Path,
    target: &str,
    words: &[String],
    stop: &StopFlag,
) -> Result<String, SimulateError> {
    let mut make = Command::new("make");
    // As if not started by another make.
    for variable in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"] {
        make.env_remove(variable);
    }
    // Files left by an interrupted compiler are removed with the folder.
    make.env("TMPDIR", build);
    make.args(["--silent", "--no-print-directory", "-C"]).arg(sources.join("arduino")).arg(target);
    make.arg(format!("BUILD={}", build.display()));
    make.args(words);
    let (ended, said) = output("make", &mut make, build, stop)?;
    match ended.success() {
        true => Ok(said.stdout),
        false => Err(SimulateError::NotBuilt(cause(&said.stderr))),
    }
}

/// Output of a program.
pub(super) struct ProgramOutput {
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program to its end, or until the user stops it.
pub(super) fn output(
    name: &str,
    command: &mut Command,
    folder: &Path,
    stop: &StopFlag,
) -> Result<(ExitStatus, ProgramOutput), SimulateError> {
    // Into files: a full pipe would block the program, which is only polled.
    let paths = ["said.stdout", "said.stderr"].map(|name| folder.join(name));
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |error| SimulateError::File(path, error)
    };
    let [stdout, stderr] = paths.each_ref().map(|path| File::create(path).map_err(failed(path)));
    let child = command.stdin(Stdio::null()).stdout(stdout?).stderr(stderr?).spawn();
    let mut child = child.map_err(|error| SimulateError::NoProgram(name.into(), error))?;
    let ended = loop {
        if stop.is_set() {
            // SIGTERM, so that make can end what it has started.
            child::signal(child.id(), KillSignal::TERM);
            let _ = child.wait();
            return Err(SimulateError::Interrupted);
        }
        match child.try_wait().map_err(failed(folder))? {
            Some(ended) => break ended,
            None => thread::sleep(POLL),
        }
    };
    let read = |path: &PathBuf| fs::read(path).map_err(failed(path));
    let [stdout, stderr] = paths.each_ref().map(read);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((ended, ProgramOutput { stdout: text(stdout?), stderr: text(stderr?) }))
}

/// The first error, which usually causes the others.
pub(super) fn cause(said: &str) -> String {
    let tells =
        |line: &&str| ["rror", "not found", "No such file"].iter().any(|word| line.contains(word));
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.clone().find(tells).or(lines.next()).unwrap_or("it printed nothing").to_string()
}
