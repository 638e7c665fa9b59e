//! Flags of `latlab respond`.

use crate::flags::guest::GuestArgs;
use crate::flags::{FileRuns, check_positive, value_parser_of, whole};
use crate::load_library::{self, Library};
use crate::targets::NamedTarget;
use clap::{ArgGroup, Args};
use latlab_capture::{CaptureQuery, EdgeKind, Hysteresis, ListUnit, Threshold};
use latlab_conduct::respond::scope::Resource;
use latlab_conduct::respond::simulate::{McuClock, Pins, SimulatedResponder, Stimulus};
use latlab_model::gpio::GpioLine;
use latlab_model::load::Load;
use latlab_model::options::PlanOption;
use latlab_model::plan::{KernelFile, Policy, Tuning};
use latlab_model::respond::LinuxResponderName;
use latlab_model::sanitize::plain_line;
use latlab_model::{CpuSet, Nanos, Target};
use std::path::PathBuf;

/// Flags of `latlab respond`.
#[derive(Args, Clone)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("source").required(true),
          group = ArgGroup::new("answerer").args(["target", "gpio", "scope", "logic"]).multiple(true))]
pub struct RespondArgs {
    /// Captures: sigrok .sr, VCD, CSV (Saleae, Tektronix and others), ISF, lists of readings; each
    /// becomes a run
    #[arg(long, value_name = "FILE", num_args = 1.., group = "source", help_heading = WHAT)]
    pub from: Vec<PathBuf>,
    /// The files are the channels of one capture
    #[arg(long, requires = "from", help_heading = WHAT)]
    pub join: bool,
    /// Only print channels, rate, duration, edges and a picture of each capture
    #[arg(long, requires = "from", help_heading = WHAT)]
    pub look: bool,
    /// Run the firmware in a simulator: uno:irq, uno:irq-notimer, uno:polling, or avr with a
    /// --firmware of your own; or a responder on Linux in a guest: linux:kmod, linux:kmod-plain, linux:kmod-threaded, linux:c-sysfs,
    /// linux:c-gpiochip, linux:c-poll, linux:python, linux:python-gpiod1, linux:rust; or published: five responders
    /// of a published experiment, idle and busy
    #[arg(long, value_name = "BOARD:RESPONDER", value_parser = value_parser_of(Simulated::ALL, Simulated::as_str),
          group = "source", hide_possible_values = true, help_heading = WHAT)]
    pub simulate: Option<Simulated>,
    /// Ask an oscilloscope for the delay of each response: TCPIP::HOST::PORT::SOCKET,
    /// USB::0xVENDOR::0xPRODUCT::SERIAL::INSTR or /dev/usbtmc0
    #[arg(long, value_name = "RESOURCE", group = "source", help_heading = WHAT)]
    pub scope: Option<Resource>,
    /// Capture with a logic analyser: a driver of sigrok-cli, with options behind colons
    #[arg(long, value_name = "DRIVER", group = "source", value_parser = plain_line,
          help_heading = WHAT)]
    pub logic: Option<String>,
    /// Make edges on this line of this board, and answer them as they come back over a wire to
    /// --loopback: gpiochip0:17
    #[arg(long, value_name = "LINE", group = "source", requires = "loopback", help_heading = WHAT)]
    pub gpio: Option<GpioLine>,

    /// The channel with the stimuli [default with --scope: 1]; with --simulate and --gpio their
    /// times: square:10kHz or random:10ms..20ms [default there: random:1ms..2ms]
    #[arg(long, value_name = "CHANNEL", help_heading = WIRES)]
    pub stimulus: Option<String>,
    /// The channel with the responses [default with --scope: 2]
    #[arg(long, value_name = "CHANNEL", conflicts_with_all = ["simulate", "gpio"], help_heading = WIRES)]
    pub response: Option<String>,
    /// Measure the width of the pulses on this channel, from --edge to the opposite edge
    #[arg(long, value_name = "CHANNEL", requires = "from",
          conflicts_with_all = ["stimulus", "response", "response_edge", "simulate"],
          help_heading = WIRES)]
    pub width: Option<String>,
    /// Channel that is high while a possible disturbance lasts
    #[arg(long, value_name = "CHANNEL", conflicts_with_all = ["simulate", "scope", "gpio"], help_heading = WIRES)]
    pub marker: Option<String>,
    /// Level of an edge: a share of the way from low to high, or a voltage (1.65V)
    #[arg(long, value_name = "LEVEL", default_value = "50%", conflicts_with_all = ["scope", "gpio"], help_heading = WIRES)]
    pub threshold: Threshold,
    /// Level of an edge of the response [default: as --threshold]
    #[arg(long, value_name = "LEVEL", conflicts_with_all = ["scope", "gpio", "simulate", "width"], help_heading = WIRES)]
    pub response_threshold: Option<Threshold>,
    /// Hysteresis around the threshold: a share, a voltage, or auto, which follows the noise and is
    /// 10% at least
    #[arg(long, value_name = "LEVEL", default_value = "auto", conflicts_with_all = ["scope", "gpio"], help_heading = WIRES)]
    pub hysteresis: Hysteresis,
    /// Which edges are stimuli: rising, falling, both
    #[arg(long, value_name = "EDGE", default_value = "rising", conflicts_with = "gpio",
          value_parser = value_parser_of(EdgeKind::ALL, EdgeKind::as_str), hide_possible_values = true,
          help_heading = WIRES)]
    pub edge: EdgeKind,
    /// Which edges are responses [default: as --edge]
    #[arg(long, value_name = "EDGE", conflicts_with = "gpio",
          value_parser = value_parser_of(EdgeKind::ALL, EdgeKind::as_str), hide_possible_values = true,
          help_heading = WIRES)]
    pub response_edge: Option<EdgeKind>,
    /// Count edges that follow each other within this time as one stimulus [default: each edge]
    #[arg(long, value_name = "TIME", conflicts_with_all = ["simulate", "scope", "gpio"], help_heading = WIRES)]
    pub quiet: Option<Nanos>,
    /// Time after which a response counts as late [default: the next stimulus]
    #[arg(long, value_name = "TIME", conflicts_with = "scope", help_heading = WIRES)]
    pub window: Option<Nanos>,
    /// Unit of a list of readings without one: s, ms, us, ns, ps
    #[arg(long, value_name = "UNIT", conflicts_with_all = ["scope", "gpio"], help_heading = WIRES)]
    pub unit: Option<ListUnit>,

    /// The line that the wire from --gpio leads to
    #[arg(long, value_name = "LINE", requires = "gpio", help_heading = BOARD)]
    pub loopback: Option<GpioLine>,
    /// Raise this line as the answer [default: the answer lowers the line of --gpio]
    #[arg(long, value_name = "LINE", requires = "gpio", help_heading = BOARD)]
    pub answer: Option<GpioLine>,
    /// Another responder is between --gpio and --loopback, and answers
    #[arg(long, requires = "gpio", help_heading = BOARD)]
    pub external: bool,
    /// Number of readings of an oscilloscope, or of edges of a wire
    #[arg(long, value_name = "N", default_value = "500", conflicts_with_all = ["from", "simulate", "logic"],
          value_parser = clap::value_parser!(u64).range(1..=10_000_000), help_heading = INSTRUMENTS)]
    pub count: u64,
    /// How long a reading of an oscilloscope may take, from waiting for the trigger to its value
    #[arg(long, value_name = "TIME", default_value = "2s", requires = "scope",
          help_heading = INSTRUMENTS)]
    pub timeout: Nanos,
    /// Generator that makes each stimulus when it is sent *TRG
    #[arg(long, value_name = "RESOURCE", requires = "scope", help_heading = INSTRUMENTS)]
    pub generator: Option<Resource>,
    /// File with the commands for an oscilloscope that latlab does not know
    #[arg(long, value_name = "FILE", requires = "scope", help_heading = INSTRUMENTS)]
    pub scope_commands: Option<PathBuf>,
    /// Length of the capture of a logic analyser
    #[arg(long = "for", value_name = "TIME", default_value = "10s", requires = "logic",
          help_heading = INSTRUMENTS)]
    pub duration: Nanos,
    /// Samples in a second of a logic analyser, such as 24m [default: as it is set]
    #[arg(long, value_name = "RATE", requires = "logic", value_parser = plain_line,
          help_heading = INSTRUMENTS)]
    pub samplerate: Option<String>,
    /// Further options of sigrok-cli
    #[arg(last = true, value_name = "SIGROK-OPTION", requires = "logic",
          help_heading = INSTRUMENTS)]
    pub sigrok_options: Vec<String>,

    /// Number of stimuli of a simulation
    #[arg(long, value_name = "N", default_value = "500", requires = "simulate",
          value_parser = clap::value_parser!(u64).range(1..=10_000_000), help_heading = SIMULATION)]
    pub edges: u64,
    /// Seed of random stimuli; the same seed gives the same run
    #[arg(long, value_name = "N", default_value = "1", conflicts_with_all = ["from", "scope", "logic"],
          help_heading = SIMULATION)]
    pub seed: u64,
    /// Simulate this firmware instead, an ELF file or Intel HEX, with --simulate avr
    #[arg(long, value_name = "FILE", requires = "simulate", help_heading = SIMULATION)]
    pub firmware: Option<PathBuf>,
    /// The microcontroller of the firmware, as avr-gcc calls it
    #[arg(long, value_name = "NAME", default_value = "atmega328p", requires = "firmware",
          value_parser = plain_line, help_heading = SIMULATION)]
    pub mcu: String,
    /// Its clock
    #[arg(long, value_name = "FREQUENCY", default_value = "16MHz", requires = "firmware",
          help_heading = SIMULATION)]
    pub clock: McuClock,
    /// Its pins with the stimuli and with the responses; the default are pins 2 and 3 of an Uno
    #[arg(long, value_name = "IN,OUT", default_value = "PD2,PD3", requires = "firmware",
          help_heading = SIMULATION)]
    pub pins: Pins,
    /// Link the firmware with link-time optimisation, as the Arduino IDE does
    #[arg(long, requires = "simulate", help_heading = SIMULATION)]
    pub lto: bool,
    /// Keep the simulated capture in this folder, as VCD and CSV
    #[arg(long, value_name = "DIR", requires = "simulate", help_heading = SIMULATION)]
    pub keep: Option<PathBuf>,

    /// Write what was measured as one page, too
    #[arg(long, value_name = "FILE", conflicts_with = "look", help_heading = WHAT)]
    pub page: Option<PathBuf>,

    /// How a responder on Linux runs
    #[command(flatten)]
    pub linux: LinuxArgs,

    /// The runs that are made of the captures
    #[command(flatten)]
    pub runs: FileRuns,
}

/// Flags of a responder on Linux.
#[derive(Args, Clone, Default)]
pub struct LinuxArgs {
    /// The guest
    #[command(flatten)]
    pub guest: GuestArgs,
    /// Answer on lines of the guest's own GPIO controller, not on a pin pair; of imx8mp-evk only
    #[arg(long, requires = "simulate", help_heading = LINUX)]
    pub board_pins: bool,
    /// CPU of the thread that answers --gpio [default: the first that this process may use]
    #[arg(short = 'a', long, value_name = "LIST", requires = "gpio", help_heading = LINUX)]
    pub cpus: Option<CpuSet>,
    /// Scheduling policy of the responder: fifo, rr, other [default: fifo]
    #[arg(long, value_name = "POLICY", requires = "answerer", help_heading = LINUX)]
    pub policy: Option<String>,
    /// Priority of fifo and rr, 1 to 99 [default: 90]
    #[arg(short, long, value_name = "N", requires = "answerer", value_parser = whole::<u8>, help_heading = LINUX)]
    pub priority: Option<u8>,
    /// Run this load on the machine that answers; may be repeated (`latlab loads` lists them)
    #[arg(long, value_name = "NAME[,ARG=VALUE]", requires = "answerer", help_heading = LINUX)]
    pub load: Vec<String>,
    /// Change a setting of the machine that answers, as in `latlab run`
    #[arg(long, value_name = "NAME=VALUE", requires = "answerer", help_heading = LINUX)]
    pub tune: Vec<Tuning>,
    /// Write a kernel file of the machine that answers, as in `latlab run`
    #[arg(long, value_name = "FILE=VALUE", requires = "answerer", help_heading = LINUX)]
    pub set: Vec<KernelFile>,
}

impl LinuxArgs {
    /// The responder's policy; an error is one line.
    pub fn policy(&self) -> Result<Policy, String> {
        let priority = self.priority.unwrap_or(Policy::DEFAULT_PRIORITY);
        match (self.policy.as_deref().unwrap_or("fifo"), self.priority) {
            ("fifo", _) => Ok(Policy::Fifo { priority }),
            ("rr", _) => Ok(Policy::Rr { priority }),
            ("other", None) => Ok(Policy::Other),
            ("other", Some(_)) => Err("--priority requires --policy fifo or rr, not other".into()),
            (other, _) => Err(format!("--policy {other}: expected fifo, rr or other")),
        }
    }

    /// The loads, and the faults of a guest, timed from the end of the warm-up. An error is one
    /// line.
    pub fn loads(&self, warm_up: Nanos) -> Result<Vec<Load>, String> {
        let mut loads = load_library::resolve(&self.load, &Library::new(None))?;
        loads.extend(self.guest.faults(warm_up)?);
        Ok(loads)
    }

    /// Takes over a named board's defaults, unless the command line says otherwise.
    fn take_defaults(&mut self, named: NamedTarget) {
        self.guest.target = Some(named.target.to_string());
        self.cpus = self.cpus.take().or(named.cpus);
        if self.load.is_empty() {
            self.load = named.load;
        }
    }
}

/// Whether `latlab respond` shares this option of `latlab run`.
pub fn is_shared(option: &PlanOption) -> bool {
    of_machine(option) || ["seed", "cpus", "policy", "priority", "deadline"].contains(&option.name)
}

/// Whether it applies to the machine that answers.
pub fn of_machine(option: &PlanOption) -> bool {
    ["target", "fault", "load", "tune", "set"].contains(&option.name)
}

/// What can be simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Simulated {
    /// One of latlab's sketches on an Arduino Uno.
    Uno(SimulatedResponder),
    /// The user's firmware on a microcontroller.
    Avr,
    Linux(LinuxResponderName),
    /// All responders of a published experiment.
    Published,
}

impl Simulated {
    pub const ALL: &[Simulated] = &[
        Simulated::Uno(SimulatedResponder::Irq),
        Simulated::Uno(SimulatedResponder::IrqWithoutTimer),
        Simulated::Uno(SimulatedResponder::Polling),
        Simulated::Avr,
        Simulated::Linux(LinuxResponderName::Kmod),
        Simulated::Linux(LinuxResponderName::KmodPlain),
        Simulated::Linux(LinuxResponderName::KmodThreaded),
        Simulated::Linux(LinuxResponderName::Sysfs),
        Simulated::Linux(LinuxResponderName::Gpiochip),
        Simulated::Linux(LinuxResponderName::Polling),
        Simulated::Linux(LinuxResponderName::Python),
        Simulated::Linux(LinuxResponderName::PythonGpiod1),
        Simulated::Linux(LinuxResponderName::Rust),
        Simulated::Published,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Simulated::Uno(uno) => uno.as_str(),
            Simulated::Avr => "avr",
            Simulated::Published => "published",
            Simulated::Linux(linux) => match linux {
                LinuxResponderName::Kmod => "linux:kmod",
                LinuxResponderName::KmodPlain => "linux:kmod-plain",
                LinuxResponderName::KmodThreaded => "linux:kmod-threaded",
                LinuxResponderName::Sysfs => "linux:c-sysfs",
                LinuxResponderName::Gpiochip => "linux:c-gpiochip",
                LinuxResponderName::Polling => "linux:c-poll",
                LinuxResponderName::Python => "linux:python",
                LinuxResponderName::PythonGpiod1 => "linux:python-gpiod1",
                LinuxResponderName::Rust => "linux:rust",
            },
        }
    }
}

const LINUX: &str = "Responder on Linux";
const WHAT: &str = "Source";
const WIRES: &str = "Channels and edges";
const INSTRUMENTS: &str = "Instruments";
const BOARD: &str = "Wire on this board";
const SIMULATION: &str = "Simulation";

const EXAMPLES: &str = "\
Examples:
  latlab respond --from board.sr --look                   list the channels
  latlab respond --from board.sr --stimulus D0 --response D1 --deadline 50us
  latlab respond --from board.sr --width D1               the width of the pulses on a channel
  latlab respond --from pi_c.out pi_python.out            lists of readings, one run each
  latlab respond --from ch1.isf ch2.isf --join --stimulus Ch1 --response Ch2
  latlab respond --scope TCPIP::10.0.0.7::5025::SOCKET --count 500
  latlab respond --logic fx2lafw --samplerate 24m --for 10s --stimulus D0 --response D1
  latlab respond --gpio gpiochip0:17 --loopback gpiochip0:27 --load hackbench
  latlab respond --simulate uno:irq --edges 50000         an Arduino Uno without hardware
  latlab respond --simulate avr --firmware mine.elf --mcu atmega328p --clock 16MHz --pins PD2,PD3
  latlab respond --simulate linux:c-gpiochip --target lab:x86-64/rt --load hackbench
  latlab respond --simulate published --page 2016.html    a published experiment, repeated
  latlab report last                                      show the last run as a page

Each response belongs to the last stimulus before it. Missing, late, double, spurious and unmeasured
responses are counted. The result is stored like any other run.";

impl RespondArgs {
    /// Adds the board, CPUs, loads and deadline that a target's name stands for; an error is one
    /// line.
    pub fn with_defaults(&self) -> Result<RespondArgs, String> {
        let mut args = self.clone();
        if let Some(named) = self.linux.guest.defaults()? {
            args.runs.deadline = args.runs.deadline.or(named.deadline);
            args.linux.take_defaults(named);
        }
        Ok(args)
    }

    /// Which edges of a capture to measure.
    pub fn query(&self) -> CaptureQuery {
        CaptureQuery {
            stimulus: self.width.clone().or(self.stimulus.clone()),
            response: self.width.clone().or(self.response.clone()),
            marker: self.marker.clone(),
            threshold: self.threshold,
            response_threshold: self.response_threshold,
            hysteresis: self.hysteresis,
            edge: self.edge,
            response_edge: match &self.width {
                Some(_) => self.edge.opposite().unwrap_or(self.edge),
                None => self.response_edge.unwrap_or(self.edge),
            },
            quiet_ps: self.quiet.map(picoseconds),
            window_ps: self.window.map(picoseconds),
            unit: self.unit,
        }
    }

    /// When a simulation sets its stimuli.
    pub fn stimuli(&self) -> Result<Stimulus, String> {
        let text = self.stimulus.as_deref().unwrap_or("random:1ms..2ms");
        text.parse().map_err(|error| format!("--stimulus {text}: {error}"))
    }

    /// The captures: each file separately, or all files as one.
    pub fn captures(&self) -> Vec<Vec<PathBuf>> {
        match self.join {
            true => vec![self.from.clone()],
            false => self.from.iter().map(|path| vec![path.clone()]).collect(),
        }
    }

    fn has_instrument(&self) -> bool {
        self.scope.is_some() || self.logic.is_some()
    }

    /// Refuses what the published experiment sets itself; an error is one line for the user.
    fn check_published(&self) -> Result<(), String> {
        let LinuxArgs { policy, priority, load, .. } = &self.linux;
        let own = [
            ("--stimulus", self.stimulus.is_some()),
            ("--policy", policy.is_some()),
            ("--priority", priority.is_some()),
            ("--load", !load.is_empty()),
            ("--name", self.runs.name.is_some()),
        ];
        if let Some((flag, _)) = own.into_iter().find(|(_, is_given)| *is_given) {
            return Err(format!(
                "{flag} does not apply to --simulate published, which has its own"
            ));
        }
        match (&self.linux.guest.target, self.linux.guest.target()?) {
            (None, _) | (Some(_), Target::Lab(_)) => Ok(()),
            _ => Err("--simulate published needs a guest: --target lab:MACHINE/KERNEL".into()),
        }
    }

    /// Refuses contradicting flags; an error is one line for the user.
    pub fn check(&self) -> Result<(), String> {
        check_positive([
            ("--window", self.window),
            ("--quiet", self.quiet),
            ("--deadline", self.runs.deadline),
            ("--timeout", Some(self.timeout)),
            ("--for", Some(self.duration)),
        ])?;
        if self.simulate == Some(Simulated::Published) {
            self.check_published()?;
        }
        let is_linux = matches!(self.simulate, Some(Simulated::Linux(_) | Simulated::Published));
        let LinuxArgs { policy, priority, .. } = &self.linux;
        match (&self.linux.guest.target, self.simulate) {
            (None, Some(Simulated::Linux(_))) => {
                return Err("--simulate linux:NAME needs --target lab:MACHINE/KERNEL".into());
            }
            (Some(_), _) if !is_linux && self.gpio.is_none() && !self.has_instrument() => {
                return Err(
                    "--target needs --simulate linux:NAME, --gpio, --scope or --logic".into()
                );
            }
            _ if self.has_instrument() && matches!(self.linux.guest.target()?, Target::Lab(_)) => {
                return Err("an instrument measures no guest: --target local, or a board such as \
                            ssh://pi@board"
                    .into());
            }
            _ if self.has_instrument() && (policy.is_some() || priority.is_some()) => {
                return Err("--policy applies to what latlab starts; with an instrument the \
                            responder runs by itself"
                    .into());
            }
            _ if is_linux && self.keep.is_some() => {
                return Err("--keep applies to uno:SKETCH and avr only".into());
            }
            (_, Some(Simulated::Linux(_) | Simulated::Avr | Simulated::Published)) if self.lto => {
                return Err("--lto applies to uno:SKETCH only".into());
            }
            (_, Some(simulated))
                if self.linux.board_pins && !matches!(simulated, Simulated::Linux(_)) =>
            {
                return Err("--board-pins applies to --simulate linux:NAME only".into());
            }
            (_, Some(Simulated::Avr)) if self.firmware.is_none() => {
                return Err("--simulate avr needs --firmware FILE".into());
            }
            (_, Some(Simulated::Uno(_) | Simulated::Linux(_) | Simulated::Published))
                if self.firmware.is_some() =>
            {
                return Err("--firmware needs --simulate avr".into());
            }
            _ => {}
        }
        if self.width.is_some() && self.edge.opposite().is_none() {
            return Err(
                "--width needs --edge rising or falling: the edge that begins a pulse".into()
            );
        }
        match self.runs.name.is_some() && self.captures().len() > 1 {
            true => {
                Err("--name needs a single run; several runs are named after their files".into())
            }
            false => Ok(()),
        }
    }
}

fn picoseconds(time: Nanos) -> i64 {
    time.0.saturating_mul(latlab_capture::NANO_PS)
}
