//! A microcontroller without hardware: its real firmware in a simulator, which is a process.
//!
//! The simulator is a program of its own under another licence, which is why its sources are looked
//! for on disk and built when they are needed. `firmware.rs` looks at a firmware of one's own before.

mod build;
mod clock;
mod firmware;
mod stimulus;

use crate::StopFlag;
pub(crate) use build::sources;
use build::{FOLDER, cause, output, run_make};
pub use clock::McuClock;
pub use firmware::{FirmwareFile, Pins};
use latlab_capture::Query;
use latlab_model::machine::Machine;
use latlab_model::run::Setting;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
pub use stimulus::Stimulus;
use tempfile::TempDir;

/// The exit code of the simulator for a firmware that does not fit the microcontroller.
const REFUSED: i32 = 2;

/// A sketch of ours for an Arduino Uno.
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

/// What a microcontroller runs.
#[derive(Clone, PartialEq, Debug)]
pub enum Firmware {
    /// A sketch of ours, and whether it is optimised as a whole.
    Sketch(SimulatedResponder, bool),
    /// A firmware of one's own.
    File(FirmwareFile),
}

/// What is to be simulated.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulation {
    /// What the microcontroller runs.
    pub firmware: Firmware,
    /// When stimuli come.
    pub stimulus: Stimulus,
    /// How many.
    pub edges: u64,
    /// The same seed gives the same times.
    pub seed: u64,
    /// File for the capture; none if it is not stored.
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

    /// A cycle of the microcontroller, in picoseconds: nothing happens in between.
    pub fn cycle_ps(&self) -> i64 {
        match &self.firmware {
            Firmware::Sketch(..) => McuClock::UNO.cycle_ps(),
            Firmware::File(file) => file.clock.cycle_ps(),
        }
    }

    /// What answers.
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
    /// The firmware, or the microcontroller that was named for it, cannot be simulated.
    #[error("{0}")]
    Firmware(String),
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

/// Builds the simulator, and the firmware unless it is one's own, and runs them.
/// `stop` ends them, which may take minutes.
pub fn simulate(order: &Simulation, stop: &StopFlag) -> Result<SimulatedCapture, SimulateError> {
    let sources = sources().ok_or(SimulateError::NoSources)?;
    // Of a new name, since what is built there is started.
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
        // As the simulator names its wires.
        query: Query {
            marker: fact(&said, "marker").map(str::to_string),
            ..Query::between("stimulus", "response")
        },
        machine: order.machine(fact(&facts, "simulator")),
        settings: settings.collect(),
        _folder: folder,
    })
}

/// The facts about simulator and firmware, and the file of the firmware.
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

/// Runs the simulator; what it says on its output.
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

/// The value behind `KEY=`.
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
