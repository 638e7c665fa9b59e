//! The options, parsed and checked.

use super::dialect::{DEFAULT, Dialect};
use super::getopt::split;
use super::option_table::TABLE;
use super::values::{duration, number, policy};
use latlab_model::Nanos;
use std::path::PathBuf;

/// A larger number of buckets is reduced to this, as cyclictest does.
pub const MOST_BUCKETS: usize = 1_000_000;

/// The CPUs that threads are pinned to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Affinity {
    /// All CPUs, in turn.
    All,
    /// These CPUs in turn, as written on the command line.
    Set(String),
}

/// What to do about idle states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Power {
    /// Hold `/dev/cpu_dma_latency` at this many microseconds.
    Latency(i64),
    /// Nothing, to save power.
    Laptop,
    /// Nothing, to measure the system as it is.
    System,
    /// Disable idle states deeper than this on the measured CPUs.
    Deepest(i64),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    pub dialect: Dialect,
    pub store: bool,
    /// Folder of the runs.
    pub out: Option<PathBuf>,
    pub help: bool,
    pub affinity: Option<Affinity>,
    /// `-v` came before `-a`, which then prints at once how many CPUs it uses.
    pub verbose_first: bool,
    /// Time between the first releases of two threads, in microseconds.
    pub aligned: Option<i64>,
    pub secaligned: Option<i64>,
    /// In the unit of the output.
    pub breaktrace: Option<i64>,
    pub realtime_clock: bool,
    pub power: Power,
    pub distance: Option<i64>,
    pub duration: Option<Nanos>,
    pub fifo: Option<PathBuf>,
    /// Number of buckets.
    pub histogram: Option<usize>,
    pub histofall: bool,
    pub histfile: Option<PathBuf>,
    pub interval: i64,
    pub json: Option<PathBuf>,
    pub loops: Option<u64>,
    pub main_affinity: Option<String>,
    pub refresh_on_max: bool,
    pub nsecs: bool,
    pub oscope: u64,
    pub priority: u8,
    pub policy: &'static str,
    pub priospread: bool,
    pub quiet: bool,
    pub relative: bool,
    pub resolution: bool,
    pub system: bool,
    pub smp: bool,
    /// In the unit of the output.
    pub spike: Option<i64>,
    pub spike_nodes: usize,
    /// 0 means one per CPU.
    pub threads: Option<u32>,
    pub tracemark: bool,
    pub unbuffered: bool,
    pub verbose: bool,
    pub posix_timers: bool,
    /// `-n` was given.
    pub nanosleep: bool,
    /// Printed before the run.
    pub notes: Vec<String>,
}

impl Options {
    fn new(dialect: Dialect) -> Options {
        Options {
            dialect,
            store: true,
            out: None,
            help: false,
            affinity: None,
            verbose_first: false,
            aligned: None,
            secaligned: None,
            breaktrace: None,
            realtime_clock: false,
            power: Power::Latency(0),
            distance: None,
            duration: None,
            fifo: None,
            histogram: None,
            histofall: false,
            histfile: None,
            interval: 1000,
            json: None,
            loops: None,
            main_affinity: None,
            refresh_on_max: false,
            nsecs: false,
            oscope: 1,
            priority: 0,
            policy: "other",
            priospread: false,
            quiet: false,
            relative: false,
            resolution: false,
            system: false,
            smp: false,
            spike: None,
            spike_nodes: 1024,
            threads: None,
            tracemark: false,
            unbuffered: false,
            verbose: false,
            posix_timers: false,
            nanosleep: false,
            notes: Vec::new(),
        }
    }

    /// Parses the command line without the program's name; an error is one line for the user.
    pub fn parse(line: &[String]) -> Result<Options, String> {
        let split = split(TABLE.iter().map(|entry| &entry.spec), line)?;
        let version = split.options.iter().rev().find(|(name, _)| *name == "rt-tests");
        let version = version.and_then(|(_, version)| version.as_deref()).unwrap_or(DEFAULT);
        let mut options = Options::new(Dialect::parse(version)?);
        for (name, value) in &split.options {
            options.set_option(name, value.as_deref())?;
        }
        for word in &split.words {
            options.note(format!("unexpected argument '{word}'"));
        }
        if !options.help {
            options.check()?;
        }
        Ok(options)
    }

    /// Adds a line to print before the run.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    fn set_option(&mut self, name: &'static str, value: Option<&str>) -> Result<(), String> {
        let text = value.unwrap_or_default();
        let path = || PathBuf::from(text);
        let count = |least: i64| number(name, text, least, i64::from(u32::MAX));
        match name {
            "affinity" => {
                self.affinity = Some(value.map_or(Affinity::All, set_of));
                self.verbose_first = self.verbose;
            }
            "aligned" => self.aligned = Some(if value.is_some() { count(0)? } else { 0 }),
            "breaktrace" => self.breaktrace = Some(count(0)?).filter(|limit| *limit > 0),
            "clock" => self.realtime_clock = number(name, text, 0, 1)? == 1,
            "default-system" => self.power = Power::System,
            "deepest-idle-state" => self.power = Power::Deepest(number(name, text, -1, 99)?),
            "distance" => self.distance = Some(count(0)?),
            "duration" => self.duration = Some(duration(text)?),
            "fifo" => self.fifo = Some(path()),
            "histogram" | "histofall" => {
                self.histogram = Some(count(1)? as usize).map(|most| most.min(MOST_BUCKETS));
                self.histofall |= name == "histofall";
            }
            "histfile" => self.histfile = Some(path()),
            "interval" => self.interval = count(1)?,
            "json" => self.json = Some(path()),
            "latency" if matches!(self.power, Power::Latency(_)) => {
                self.power = Power::Latency(count(0)?)
            }
            "latency" => drop(count(0)?),
            "laptop" => self.power = Power::Laptop,
            "loops" => self.loops = Some(count(0)? as u64).filter(|loops| *loops > 0),
            "mainaffinity" => self.main_affinity = Some(text.into()),
            "refresh_on_max" => self.refresh_on_max = true,
            "nsecs" => self.nsecs = true,
            "oscope" => self.oscope = count(1)? as u64,
            "priority" => self.priority = number(name, text, 0, 99)? as u8,
            "policy" | "y" => self.policy = policy(text)?,
            "priospread" => self.priospread = true,
            "quiet" => self.quiet = true,
            "relative" => self.relative = true,
            "resolution" => self.resolution = true,
            "secaligned" => self.secaligned = Some(if value.is_some() { count(0)? } else { 0 }),
            "system" => self.system = true,
            "smp" | "numa" => self.smp = true,
            "spike" => self.spike = Some(count(0)?).filter(|limit| *limit > 0),
            "spike-nodes" => self.spike_nodes = count(1)? as usize,
            "smi" => {
                return Err("--smi is not supported".into());
            }
            "threads" => self.threads = Some(if value.is_some() { count(1)? as u32 } else { 0 }),
            "tracemark" => self.tracemark = true,
            "unbuffered" => self.unbuffered = true,
            "verbose" => self.verbose = true,
            "posix_timers" => self.posix_timers = true,
            "help" => self.help = true,
            "nanosleep" => self.nanosleep = true,
            "out" => self.out = Some(path()),
            "no-store" => self.store = false,
            "mlockall" | "rt-tests" | "dbg_cyclictest" => {}
            tracing => self.note(format!(
                "--{tracing} is ignored: latlab does not control the \
                                          tracer"
            )),
        }
        Ok(())
    }
}

fn set_of(text: &str) -> Affinity {
    if text == "all" { Affinity::All } else { Affinity::Set(text.into()) }
}
