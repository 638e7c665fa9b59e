//! A simulated microcontroller: real firmware in a simulator process.
//!
//! The simulator is a separate program under another licence, so its sources are looked up on disk
//! and built on demand. `firmware.rs` checks a user's firmware first.

mod build;
mod clock;
mod firmware;
mod stimulus;

use crate::StopFlag;
use crate::responders::{NoSources, sources};
use build::{cause, output, run_make};
pub use clock::McuClock;
pub use firmware::{FirmwareFile, Pins};
use latlab_capture::CaptureQuery;
use latlab_model::machine::Machine;
use latlab_model::run::Setting;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
pub use stimulus::Stimulus;
use tempfile::TempDir;

/// The simulator's exit code for a firmware that does not fit the microcontroller.
const REFUSED: i32 = 2;

/// A sketch of latlab for an Arduino Uno.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SimulatedResponder {
    /// Answers in an interrupt handler.
    Irq,
    /// The same with Timer0's interrupt off.
    IrqWithoutTimer,
    /// Polls its input in a loop.
    Polling,
}

impl SimulatedResponder {
    pub const ALL: &[SimulatedResponder] = &[
        SimulatedResponder::Irq,
        SimulatedResponder::IrqWithoutTimer,
        SimulatedResponder::Polling,
    ];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            SimulatedResponder::Irq => "uno:irq",
            SimulatedResponder::IrqWithoutTimer => "uno:irq-notimer",
            SimulatedResponder::Polling => "uno:polling",
        }
    }

    fn sketch(self) -> &'static str {
        match self {
            SimulatedResponder::Irq => "irq",
            SimulatedResponder::IrqWithoutTimer => "irq-notimer",
            SimulatedResponder::Polling => "polling",
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum Firmware {
    /// One of latlab's sketches, and whether it is built with link-time optimisation.
    Sketch(SimulatedResponder, bool),
    File(FirmwareFile),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Simulation {
    pub firmware: Firmware,
    /// When stimuli come.
    pub stimulus: Stimulus,
    /// Number of stimuli.
    pub edges: u64,
    /// The same seed gives the same times.
    pub seed: u64,
    /// File for the capture; `None` to discard it.
    pub keep: Option<PathBuf>,
}

impl Simulation {
    /// A name for the run.
    pub fn name(&self) -> String {
        match &self.firmware {
            Firmware::Sketch(sketch, lto) => {
                let lto = if *lto { "-lto" } else { "" };
                format!("{}{lto}", sketch.as_str().replace(':', "-"))
            }
            Firmware::File(file) => {
                let stem = file.path.file_stem().unwrap_or_default();
                stem.to_string_lossy().into_owned()
            }
        }
    }

    /// What is simulated, in words.
    pub fn description(&self) -> String {
        let Simulation { firmware, stimulus, edges, seed, .. } = self;
        let what = match firmware {
            Firmware::Sketch(sketch, true) => format!("{} with LTO", sketch.as_str()),
            Firmware::Sketch(sketch, false) => format!("{} without LTO", sketch.as_str()),
            Firmware::File(FirmwareFile { path, mcu, clock, pins }) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                format!("{name}, {mcu} at {clock}, {} to {}", pins.input, pins.output)
            }
        };
        format!("{what}, {edges} edges, {stimulus}, seed {seed}")
    }

    /// A cycle of the microcontroller in picoseconds, the smallest step of time.
    pub fn cycle_ps(&self) -> i64 {
        match &self.firmware {
            Firmware::Sketch(..) => McuClock::UNO.cycle_ps(),
            Firmware::File(file) => file.clock.cycle_ps(),
        }
    }

    /// The machine that answers.
    fn machine(&self, simulator: Option<&str>) -> Machine {
        let (board, cpu) = match &self.firmware {
            Firmware::Sketch(..) => {
                ("Arduino Uno, simulated".to_string(), "ATmega328P at 16 MHz".to_string())
            }
            Firmware::File(FirmwareFile { mcu, clock, .. }) => {
                (format!("{mcu}, simulated"), format!("{mcu} at {clock}"))
            }
        };
        Machine {
            board: Some(board),
            cpu_model: Some(cpu),
            architecture: "avr".to_string(),
            virtualisation: simulator.map(str::to_string),
            ..Machine::default()
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    #[error(transparent)]
    NoSources(#[from] NoSources),
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
    /// The firmware, or the microcontroller named for it, cannot be simulated.
    #[error("{0}")]
    Firmware(String),
    #[error("the simulator failed: {0}")]
    Failed(String),
    /// The user ended it.
    #[error("interrupted: nothing is stored")]
    Interrupted,
    #[error("cannot write {0}: {1}")]
    File(PathBuf, io::Error),
}

/// A simulated capture, deleted on drop.
pub struct SimulatedCapture {
    pub capture: PathBuf,
    /// How to read it.
    pub query: CaptureQuery,
    /// The machine that answered.
    pub machine: Machine,
    /// The components and their versions.
    pub settings: Vec<Setting>,
    _folder: TempDir,
}

/// Builds the simulator, and the firmware if it is one of latlab's, and runs them. `stop` ends
/// this, which may take minutes.
pub fn simulate(order: &Simulation, stop: &StopFlag) -> Result<SimulatedCapture, SimulateError> {
    let sources = sources()?;
    // A fresh name, since what is built there is executed.
    let folder = tempfile::Builder::new().prefix("latlab-simulation-").tempdir();
    let folder = folder.map_err(|error| SimulateError::File(std::env::temp_dir(), error))?;
    let build = folder.path();
    let (facts, firmware) = built(order, &sources, build, stop)?;
    let (vcd, csv) = (build.join("capture.vcd"), build.join("capture.csv"));
    let said = run_simulator(order, build, [&firmware, &vcd, &csv], stop)?;
    if let Some(keep) = &order.keep {
        keep_in(keep, &order.name(), [&vcd, &csv])?;
    }
    let settings = ["core", "compiler", "flags", "simulator", "firmware"];
    let settings = settings.into_iter().filter_map(|key| {
        let value = fact(&facts, key)?.to_string();
        Some(Setting::new(key, value.clone(), value))
    });
    Ok(SimulatedCapture {
        capture: vcd,
        // As the simulator names its signals.
        query: CaptureQuery {
            marker: fact(&said, "marker").map(str::to_string),
            ..CaptureQuery::between("stimulus", "response")
        },
        machine: order.machine(fact(&facts, "simulator")),
        settings: settings.collect(),
        _folder: folder,
    })
}

/// Facts about simulator and firmware, and the firmware file.
fn built(
    order: &Simulation,
    sources: &Path,
    build: &Path,
    stop: &StopFlag,
) -> Result<(String, PathBuf), SimulateError> {
    match &order.firmware {
        Firmware::Sketch(sketch, lto) => {
            let words = [
                format!("SKETCH={}", sketch.sketch()),
                format!("LTO={}", if *lto { "1" } else { "" }),
            ];
            run_make(sources, build, "build", &words, stop)?;
            let facts = run_make(sources, build, "facts", &words, stop)?;
            Ok((facts, build.join("firmware.elf")))
        }
        Firmware::File(file) => {
            let bytes = file.image().map_err(SimulateError::Firmware)?;
            let path = build.join("own");
            fs::write(&path, bytes).map_err(|error| SimulateError::File(path.clone(), error))?;
            let words = [format!("FIRMWARE={}", path.display())];
            Ok((run_make(sources, build, "own", &words, stop)?, path))
        }
    }
}

/// Runs the simulator; returns its output.
fn run_simulator(
    order: &Simulation,
    build: &Path,
    files: [&Path; 3],
    stop: &StopFlag,
) -> Result<String, SimulateError> {
    let (from, to) = order.stimulus.between();
    let mut run = Command::new(build.join("sim"));
    run.args(files).args([order.edges, order.seed].map(|number| number.to_string()));
    run.args([from, to].map(|time| time.0.to_string()));
    if let Firmware::File(FirmwareFile { mcu, clock, pins, .. }) = &order.firmware {
        run.args([mcu.clone(), clock.hertz().to_string()]);
        run.args([pins.input, pins.output].map(|pin| pin.to_string()));
    }
    let (ended, said) = output("the simulator", &mut run, build, stop)?;
    match ended.code() {
        Some(0) => Ok(said.stdout),
        Some(REFUSED) => {
            let why =
                said.stderr.lines().filter_map(|line| line.strip_prefix("error: ")).next_back();
            Err(SimulateError::Firmware(why.unwrap_or("it does not fit").to_string()))
        }
        _ => Err(SimulateError::Failed(cause(&said.stderr))),
    }
}

/// The value after `KEY=`.
fn fact<'a>(facts: &'a str, key: &str) -> Option<&'a str> {
    let value = facts.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    value.map(str::trim)
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
