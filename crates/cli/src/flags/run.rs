//! Flags of `latlab run`.

use crate::flags::guest::GuestArgs;
use crate::flags::sheet::SheetArgs;
use crate::flags::test_results::TestResultArgs;
use crate::flags::{Common, board_folder, rate_per_hour, value_parser_of, whole};
use clap::Args;
use latlab_model::load::LoadCpus;
use latlab_model::plan::{
    ClockName, IdleStates, Instrument, KernelFile, Mechanism, MissedPolicy, Phase, Tuning, WakeBy,
    Workload,
};
use latlab_model::sanitize::{plain_line, plain_name};
use latlab_model::{CpuSet, Nanos, Plan};
use std::path::PathBuf;

/// Flags of `latlab run`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Continue when the terminal is closed (SIGHUP)
    #[arg(long, help_heading = KEEP)]
    pub keep_going: bool,
    /// Print no progress and no live table
    #[arg(short, long, help_heading = OTHER)]
    pub quiet: bool,
    #[command(flatten)]
    pub results: TestResultArgs,
    #[command(flatten)]
    pub sheet: SheetArgs,
    #[command(flatten)]
    pub common: Common,
}

/// Flags that say what is measured, and how.
#[derive(Args)]
pub struct MeasureArgs {
    /// Method of measuring: cyclic (a thread sleeps until its release), handoff (another thread
    /// wakes it), spin (gaps in a busy loop), timerlat (the kernel's tracer)
    #[arg(long, value_name = "NAME", default_value = "cyclic",
          value_parser = value_parser_of(Instrument::ALL, Instrument::as_str), hide_possible_values = true,
          help_heading = HOW)]
    pub instrument: Instrument,
    /// handoff: how threads are woken: futex, pipe, signal, eventfd, mq (POSIX queue), sysv (semaphore)
    /// [default: futex]
    #[arg(long, value_name = "WAY", value_parser = value_parser_of(WakeBy::ALL, WakeBy::as_str),
          hide_possible_values = true, help_heading = HOW)]
    pub wake: Option<WakeBy>,
    /// How threads sleep: nanosleep (until an absolute time), relative, timerfd, posix-timer
    /// [default: nanosleep]
    #[arg(long, value_name = "NAME",
          value_parser = value_parser_of(Mechanism::ALL, Mechanism::as_str), hide_possible_values = true,
          help_heading = HOW)]
    pub mechanism: Option<Mechanism>,
    /// Clock of the releases: monotonic, tai, realtime [default: monotonic]
    #[arg(long, value_name = "NAME",
          value_parser = value_parser_of(ClockName::ALL, ClockName::as_str), hide_possible_values = true,
          help_heading = HOW)]
    pub clock: Option<ClockName>,
    /// Scheduling policy: fifo, rr, other, batch, idle, deadline[:RUNTIME/DEADLINE/PERIOD]
    /// [default: fifo; other with spin]
    #[arg(long, value_name = "POLICY", help_heading = HOW)]
    pub policy: Option<String>,
    /// Priority of fifo and rr, 1 to 99 [default: 90]
    #[arg(short, long, value_name = "N", value_parser = whole::<u8>, help_heading = HOW)]
    pub priority: Option<u8>,

    /// spin: record a gap if a pass is longer than the usual one by more than this [default: 1us]
    #[arg(long, value_name = "TIME", help_heading = HOW)]
    pub gap_above: Option<Nanos>,
    /// spin: work of each pass: none, memmove [default: none]
    #[arg(long, value_name = "NAME", value_parser = value_parser_of(&Workload::NAMES, |name| name),
          hide_possible_values = true, help_heading = HOW)]
    pub workload: Option<&'static str>,
    /// spin: memory of the workload, such as 64K [default: 4K]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = HOW)]
    pub workload_size: Option<u32>,

    /// CPUs to measure, such as 1-3 [default: all that this process may use]
    #[arg(short = 'a', long, value_name = "LIST", help_heading = WHERE)]
    pub cpus: Option<CpuSet>,
    #[command(flatten)]
    pub guest: GuestArgs,
    /// Number of measuring threads, assigned to the CPUs in turn [default: one per CPU]
    #[arg(short, long, value_name = "N", value_parser = whole::<u32>, help_heading = WHERE)]
    pub threads: Option<u32>,
    /// handoff: CPUs of the waking threads, in turn [default: that of the woken thread]
    #[arg(long, value_name = "LIST", help_heading = WHERE)]
    pub wakers_on: Option<CpuSet>,
    /// CPUs of latlab's helper threads [default: those not measured]
    #[arg(long, value_name = "LIST", help_heading = WHERE)]
    pub helpers_on: Option<CpuSet>,

    /// Time between releases; a period that divides the kernel tick always meets the same phase
    /// [default: 997us]
    #[arg(short = 'i', long, value_name = "TIME", help_heading = WHEN)]
    pub period: Option<Nanos>,
    /// Make the period of each further thread longer by this
    #[arg(long, value_name = "TIME", help_heading = WHEN)]
    pub period_step: Option<Nanos>,
    /// Offsets of the threads' releases: aligned, spread (evenly, from a random start), random
    /// [default: spread]
    #[arg(long, value_name = "NAME",
          value_parser = value_parser_of(Phase::ALL, Phase::as_str), hide_possible_values = true,
          help_heading = WHEN)]
    pub phase: Option<Phase>,
    /// Releases that are past when a cycle ends: skip, catch-up (serve them late); both count them
    /// [default: skip]
    #[arg(long, value_name = "NAME",
          value_parser = value_parser_of(MissedPolicy::ALL, MissedPolicy::as_str), hide_possible_values = true,
          help_heading = WHEN)]
    pub missed: Option<MissedPolicy>,
    /// Time at the start that is measured and not counted
    #[arg(long, value_name = "TIME", default_value = "1s", help_heading = WHEN)]
    pub warm_up: Nanos,
    /// Seed of the random offsets [default: from the clock; stored in the run]. With the same seed a
    /// guest in virtual time gives the same run
    #[arg(long, value_name = "N", value_parser = whole::<u64>, help_heading = WHEN)]
    pub seed: Option<u64>,
    /// Length of the stored intervals
    #[arg(long, value_name = "TIME", default_value = "1s", help_heading = WHEN)]
    pub interval: Nanos,

    /// Length of the run [default: until Ctrl-C]
    #[arg(short = 'D', long = "for", value_name = "TIME", help_heading = UNTIL)]
    pub duration: Option<Nanos>,
    /// Number of cycles of each thread
    #[arg(short = 'l', long, value_name = "N", value_parser = whole::<u64>, help_heading = UNTIL)]
    pub cycles: Option<u64>,
    /// Judge the run: a latency above this is a deadline miss
    #[arg(long, value_name = "TIME", help_heading = UNTIL)]
    pub deadline: Option<Nanos>,
    /// Allow up to RATE bursts of deadline misses (0.1/h, 1/d) before failing
    #[arg(long, value_name = "RATE", value_parser = rate_per_hour, help_heading = UNTIL)]
    pub limit: Option<f64>,
    /// End the run as soon as it passes or fails --limit, after --for at the latest
    #[arg(long, help_heading = UNTIL)]
    pub until_decided: bool,
    /// End the run at the first latency above this (exit code 1)
    #[arg(short = 'b', long, value_name = "TIME", help_heading = UNTIL)]
    pub stop_above: Option<Nanos>,
    /// Run a command for a spike, at most once a second, with the spike as JSON on its input
    #[arg(long, value_name = "CMD", help_heading = UNTIL)]
    pub on_spike: Option<String>,
    /// Latency above which --on-spike runs [default: the deadline, else --stop-above] and --explain
    /// records [default: the tenth largest so far, later p99.99]
    #[arg(long, value_name = "TIME", help_heading = UNTIL)]
    pub spike_above: Option<Nanos>,

    /// Store every latency with its release, in about two bytes each
    #[arg(long, help_heading = KEEP)]
    pub samples: bool,
    /// Split each latency into legs with the kernel's tracepoints, and measure their cost
    #[arg(long, help_heading = KEEP)]
    pub legs: bool,
    /// Record the kernel's events around each spike, and tell who held the thread off
    #[arg(long, help_heading = KEEP)]
    pub explain: bool,
    /// How often to read temperature, frequency, load and more: 100ms to 1h, or off. full (or full,5s):
    /// also files that take long to read, where every CPU is measured
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = telemetry,
          help_heading = KEEP)]
    pub telemetry: Telemetry,
    /// Measure on a board without the link to it: return once it measures; `latlab collect` brings it home
    #[arg(long, requires = "target", help_heading = KEEP)]
    pub detach: bool,
    /// Folder there for the detached run [default: ~/.cache/latlab/runs, else memory]
    #[arg(long, value_name = "DIR", value_parser = board_folder, requires = "detach", help_heading = KEEP)]
    pub board_folder: Option<String>,
    /// Name of the run, used in the name of its folder
    #[arg(long, value_name = "NAME", default_value = "run", value_parser = plain_name,
          help_heading = KEEP)]
    pub name: String,
    /// Note to store with the run
    #[arg(long, value_name = "TEXT", value_parser = plain_line, help_heading = KEEP)]
    pub note: Option<String>,

    /// Run this load beside the measurement; may be repeated (`latlab loads` lists them)
    #[arg(long, value_name = "NAME[,ARG=VALUE]", help_heading = LOADS)]
    pub load: Vec<String>,
    /// CPUs of the loads: everywhere, measured, others (not measured), or a list
    #[arg(long, value_name = "WHERE", default_value = "everywhere", help_heading = LOADS)]
    pub load_on: LoadCpus,
    /// Folder with more definitions of loads
    #[arg(long, value_name = "DIR", help_heading = LOADS)]
    pub loads: Option<PathBuf>,

    /// Change a setting for the time of the run: governor=NAME, irqs=away, rt-throttling=off,
    /// fair-server=off, thp=never|madvise|always, timer-migration=off, workqueues=away,
    /// irq-thread:PATTERN=PRIORITY
    #[arg(long, value_name = "NAME=VALUE", help_heading = OTHER)]
    pub tune: Vec<Tuning>,
    /// Write a kernel file for the time of the run: /sys/FILE=VALUE, or NAME=VALUE as for sysctl
    #[arg(long, value_name = "FILE=VALUE", help_heading = OTHER)]
    pub set: Vec<KernelFile>,
    /// Measure CPUs even if another latlab measures them
    #[arg(long, help_heading = OTHER)]
    pub share: bool,
    /// Allow only idle states with an exit latency up to this, or `system` for no limit
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = idle_states,
          help_heading = OTHER)]
    pub idle_states: IdleStates,
}

const HOW: &str = "Method";
const WHERE: &str = "CPUs and threads";
const WHEN: &str = "Releases";
const UNTIL: &str = "Duration and limits";
const KEEP: &str = "What to store";
const LOADS: &str = "Loads";
const OTHER: &str = "Other";

const EXAMPLES: &str = "\
Examples:
  latlab run --for 60s --deadline 1ms
  latlab run -a 1-3 -i 200us -D 5h --name night --note 'new kernel'
  latlab run -t 16 -a 0-3 --cycles 1000000 -p 80
  latlab run --policy other --for 10s               needs no rights
  latlab run --policy deadline:100us/1ms/1ms --for 10s
  latlab run -b 150us --on-spike 'cat >>spikes.json'
  latlab run --deadline 125us --limit 10/h --until-decided --for 2h
  latlab run --instrument handoff --wake pipe --for 10s
  latlab run --instrument spin --for 60s            noise of each CPU
  latlab run --samples -i 50us --for 8h --keep-going --name night
  latlab run --load hackbench,groups=4 --load stressapptest --for 1h
  latlab run -a 1-3 --tune irqs=away --tune rt-throttling=off --for 1h
  latlab run --target pi --detach --for 8h          measure a board without the link to it
  latlab run stress-five --scale 20s --dry-run      show the plan of a ready-made sheet
  latlab run night.toml                             run a sheet of your own
  latlab run night.toml --junit junit.xml           and write its result for continuous integration
  latlab run --resume                               continue it

Times are written 200us, 1.5ms, 30s, 5h. Ctrl-C ends a run cleanly and keeps it.";

/// A number of bytes with K or M behind it, if any.
fn size(text: &str) -> Result<u32, String> {
    let (number, unit) = match text.strip_suffix(['K', 'k']) {
        Some(number) => (number, 1 << 10),
        None => text.strip_suffix(['M', 'm']).map_or((text, 1), |number| (number, 1 << 20)),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| format!("'{text}' is not a size: expected for example 512, 64K or 1M"))?;
    let bytes = number.checked_mul(unit).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| format!("'{text}' is too large: expected at most 256M"))
}

fn idle_states(text: &str) -> Result<IdleStates, String> {
    match text {
        "system" => Ok(IdleStates::System),
        time => time
            .parse()
            .map(IdleStates::ExitWithin)
            .map_err(|_| format!("'{time}': expected a time or 'system'")),
    }
}

/// The readings of the conditions.
#[derive(Clone, Copy, Debug)]
pub struct Telemetry {
    /// Their distance; none where nobody wants them.
    pub every: Option<Nanos>,
    /// Whether they are full where every CPU is measured.
    pub is_full: bool,
}

fn telemetry(text: &str) -> Result<Telemetry, String> {
    let every = |time: &str| {
        let parsed = time.parse().map(Some);
        parsed.map_err(|_| format!("'{text}': expected a time, 'full', 'full,TIME' or 'off'"))
    };
    Ok(match (text, text.strip_prefix("full,")) {
        ("off", _) => Telemetry { every: None, is_full: false },
        ("full", _) => Telemetry { every: Plan::default().telemetry_ns, is_full: true },
        (_, Some(time)) => Telemetry { every: every(time)?, is_full: true },
        (time, None) => Telemetry { every: every(time)?, is_full: false },
    })
}
