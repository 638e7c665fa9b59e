//! A microcontroller without hardware: its real firmware in a simulator, which is a process.
//!
//! The simulator is a program of its own under another licence, which is why its sources are looked
//! for on disk and built when they are needed.

use crate::StopFlag;
use latlab_capture::Query;
use latlab_model::Nanos;
use latlab_model::machine::Machine;
use latlab_model::run::Setting;
use latlab_sys::child;
use latlab_sys::process::KillSignal;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// A cycle of the simulated microcontrollers, in picoseconds: nothing happens in between.
pub const CYCLE_PS: i64 = 62_500;
/// Where the sources of the responders are, for those who have them elsewhere.
const FOLDER: &str = "LATLAB_RESPONDERS";
/// The least distance of two stimuli: the sketches hold their answer for 50 us.
const SHORTEST: Nanos = Nanos(80_000);
/// Beyond it a simulation takes hours.
const LONGEST: Nanos = Nanos(1_000_000_000);
/// How often it is looked whether a program has ended.
const POLL: Duration = Duration::from_millis(10);

/// What can be simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SimulatedResponder {
    /// An Arduino Uno that answers by an interrupt.
    Irq,
    /// The same with the interrupt of Timer0 off.
    IrqWithoutTimer,
    /// An Arduino Uno that asks its input again and again.
    Polling,
}

impl SimulatedResponder {
    /// All of them.
    pub const ALL: &[SimulatedResponder] = &[
        SimulatedResponder::Irq,
        SimulatedResponder::IrqWithoutTimer,
        SimulatedResponder::Polling,
    ];

    /// Its word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            SimulatedResponder::Irq => "uno:irq",
            SimulatedResponder::IrqWithoutTimer => "uno:irq-notimer",
            SimulatedResponder::Polling => "uno:polling",
        }
    }

    /// The folder of its sketch.
    fn sketch(self) -> &'static str {
        match self {
            SimulatedResponder::Irq => "irq",
            SimulatedResponder::IrqWithoutTimer => "irq-notimer",
            SimulatedResponder::Polling => "polling",
        }
    }
}

/// When stimuli come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stimulus {
    /// Always after the same time.
    Square(Nanos),
    /// After a time between these, evenly.
    Random(Nanos, Nanos),
}

impl FromStr for Stimulus {
    type Err = String;

    fn from_str(text: &str) -> Result<Stimulus, String> {
        let expected = || "expected square:10kHz or random:10ms..20ms".to_string();
        let (kind, rest) = text.split_once(':').ok_or_else(expected)?;
        let stimulus = match kind {
            "square" => {
                let end =
                    rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
                let factor = match rest[end..].trim().to_ascii_lowercase().as_str() {
                    "hz" => 1.0,
                    "khz" => 1e3,
                    "mhz" => 1e6,
                    _ => return Err(expected()),
                };
                let hertz = rest[..end].parse::<f64>().map_err(|_| expected())? * factor;
                Stimulus::Square(Nanos((1e9 / hertz).round().clamp(0.0, 1e15) as i64))
            }
            "random" => {
                let (from, to) = rest.split_once("..").ok_or_else(expected)?;
                let time = |text: &str| text.parse::<Nanos>().map_err(|error| error.to_string());
                Stimulus::Random(time(from)?, time(to)?)
            }
            _ => return Err(expected()),
        };
        let (from, to) = stimulus.between();
        match from >= SHORTEST && to >= from && to <= LONGEST {
            true => Ok(stimulus),
            false => Err(format!("expected times from {SHORTEST} to {LONGEST}")),
        }
    }
}

impl Stimulus {
    /// The least and the largest distance.
    pub fn between(self) -> (Nanos, Nanos) {
        match self {
            Stimulus::Square(every) => (every, every),
            Stimulus::Random(from, to) => (from, to),
        }
    }
}

impl fmt::Display for Stimulus {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Stimulus::Square(every) => write!(f, "square, every {every}"),
            Stimulus::Random(from, to) => write!(f, "random, after {from} to {to}"),
        }
    }
}

/// What is to be simulated.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulation {
    /// Board and sketch.
    pub simulated: SimulatedResponder,
    /// When stimuli come.
    pub stimulus: Stimulus,
    /// How many.
    pub edges: u64,
    /// The same seed gives the same times.
    pub seed: u64,
    /// Whether the firmware is optimised as a whole.
    pub lto: bool,
    /// Where the capture is kept; none where nobody wants it.
    pub keep: Option<PathBuf>,
}

impl Simulation {
    /// A name for the run.
    pub fn name(&self) -> String {
        let lto = if self.lto { "-lto" } else { "" };
        format!("{}{lto}", self.simulated.as_str().replace(':', "-"))
    }

    /// What is simulated, in words.
    pub fn description(&self) -> String {
        let Simulation { simulated, stimulus, edges, seed, lto, .. } = self;
        let lto = if *lto { "with" } else { "without" };
        format!("{} {lto} LTO, {edges} edges, {stimulus}, seed {seed}", simulated.as_str())
    }
}

/// Why nothing could be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The sources are not there.
    #[error(
        "cannot find the sources of the responders: run this in latlab's source folder, or set \
         {FOLDER} to its folder 'responders'"
    )]
    NoSources,
    /// A program is missing.
    #[error(
        "cannot start {0} ({1}): apt-get install make gcc arduino-core-avr gcc-avr avr-libc \
         libsimavr-dev"
    )]
    NoProgram(String, io::Error),
    /// The firmware or the simulator cannot be built.
    #[error(
        "cannot build: {0} (requires make gcc arduino-core-avr gcc-avr avr-libc libsimavr-dev)"
    )]
    NotBuilt(String),
    /// The simulator has failed.
    #[error("the simulator failed: {0}")]
    Failed(String),
    /// The user has asked for the end.
    #[error("interrupted: nothing is stored")]
    Interrupted,
    /// A file could not be written.
    #[error("cannot write {0}: {1}")]
    File(PathBuf, io::Error),
}

/// A capture that was simulated; it goes away with this.
pub struct SimulatedCapture {
    /// The capture.
    pub capture: PathBuf,
    /// What is to be asked of it.
    pub query: Query,
    /// What answered.
    pub machine: Machine,
    /// What it was made of.
    pub settings: Vec<Setting>,
    _folder: TempDir,
}

/// Builds the firmware and the simulator, and runs them.
/// `stop` ends them, which may take minutes.
pub fn simulate(order: &Simulation, stop: &StopFlag) -> Result<SimulatedCapture, SimulateError> {
    let sources = sources().ok_or(SimulateError::NoSources)?;
    // Of a new name, since what is built there is started.
    let folder = tempfile::Builder::new().prefix("latlab-simulation-").tempdir();
    let folder = folder.map_err(|error| SimulateError::File(std::env::temp_dir(), error))?;
    let build = folder.path();
    run_make(&sources, build, order, "build", stop)?;
    let facts = run_make(&sources, build, order, "facts", stop)?;
    let (vcd, csv) = (build.join("capture.vcd"), build.join("capture.csv"));
    let (from, to) = order.stimulus.between();
    let mut run = Command::new(build.join("sim"));
    run.arg(build.join("firmware.elf")).arg(&vcd).arg(&csv);
    run.args([order.edges.to_string(), order.seed.to_string()]);
    run.args([from.0.to_string(), to.0.to_string()]);
    let (ended, said) = output("the simulator", &mut run, build, stop)?;
    if !ended.success() {
        return Err(SimulateError::Failed(cause(&said.stderr)));
    }
    if let Some(keep) = &order.keep {
        keep_in(keep, &order.name(), [&vcd, &csv])?;
    }
    let fact = |key: &str| facts.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    let settings = ["core", "compiler", "flags", "simulator", "firmware"];
    let settings = settings.into_iter().filter_map(|key| {
        let value = fact(key)?.trim().to_string();
        Some(Setting::new(key, value.clone(), value))
    });
    let machine = Machine {
        board: Some("Arduino Uno, simulated".to_string()),
        cpu_model: Some("ATmega328P at 16 MHz".to_string()),
        architecture: "avr".to_string(),
        virtualisation: fact("simulator").map(str::to_string),
        ..Machine::default()
    };
    Ok(SimulatedCapture {
        capture: vcd,
        // As the simulator names its wires.
        query: Query {
            marker: Some("timer0".to_string()),
            ..Query::between("stimulus", "response")
        },
        machine,
        settings: settings.collect(),
        _folder: folder,
    })
}

/// Makes a target; what make says of it.
fn run_make(
    sources: &Path,
    build: &Path,
    order: &Simulation,
    target: &str,
    stop: &StopFlag,
) -> Result<String, SimulateError> {
    let mut make = Command::new("make");
    // As if it were not started by another make.
    for variable in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"] {
        make.env_remove(variable);
    }
    // What an interrupted compiler leaves behind goes with the folder.
    make.env("TMPDIR", build);
    make.args(["--silent", "--no-print-directory", "-C"]).arg(sources.join("arduino")).arg(target);
    make.arg(format!("BUILD={}", build.display()));
    make.arg(format!("SKETCH={}", order.simulated.sketch()));
    make.arg(format!("LTO={}", if order.lto { "1" } else { "" }));
    let (ended, said) = output("make", &mut make, build, stop)?;
    match ended.success() {
        true => Ok(said.stdout),
        false => Err(SimulateError::NotBuilt(cause(&said.stderr))),
    }
}

/// What a program has said.
struct ProgramOutput {
    stdout: String,
    stderr: String,
}

/// Runs a program to its end, or to where the user asks for it.
fn output(
    name: &str,
    command: &mut Command,
    folder: &Path,
    stop: &StopFlag,
) -> Result<(ExitStatus, ProgramOutput), SimulateError> {
    // Into files, since nobody reads while it is waited for.
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
            // Politely, since make ends what it has started.
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

/// The first mistake, which is the cause of the others.
fn cause(said: &str) -> String {
    let tells =
        |line: &&str| ["rror", "not found", "No such file"].iter().any(|word| line.contains(word));
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.clone().find(tells).or(lines.next()).unwrap_or("it printed nothing").to_string()
}

/// The folder of the responders: named, beside the program, or here, which comes last since what is
/// found is run.
pub(crate) fn sources() -> Option<PathBuf> {
    let named = std::env::var_os(FOLDER).map(PathBuf::from);
    let program = std::env::current_exe().ok();
    let above = program.iter().flat_map(|program| program.ancestors());
    let beside = above
        .flat_map(|folder| [folder.join("responders"), folder.join("share/latlab/responders")]);
    let all = named.into_iter().chain(beside).chain([PathBuf::from("responders")]);
    all.into_iter().find(|folder| folder.join("arduino/Makefile").is_file())
}

fn keep_in(folder: &Path, name: &str, files: [&Path; 2]) -> Result<(), SimulateError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |error| SimulateError::File(path, error)
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    for file in files {
        let end = file.extension().unwrap_or_default().to_string_lossy();
        let kept = folder.join(format!("{name}.{end}"));
        fs::copy(file, &kept).map_err(failed(&kept))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stimuli_are_told_by_rate_or_by_distance() {
        assert_eq!("square:10kHz".parse(), Ok(Stimulus::Square(Nanos(100_000))));
        let random = Stimulus::Random(Nanos(10_000_000), Nanos(20_000_000));
        assert_eq!("random:10ms..20ms".parse(), Ok(random));
        for wrong in ["", "square", "square:0Hz", "square:1MHz", "random:20ms..10ms", "sine:1Hz"] {
            assert!(wrong.parse::<Stimulus>().is_err(), "{wrong}");
        }
    }
}
