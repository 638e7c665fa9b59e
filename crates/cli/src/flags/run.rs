//! Flags of `latlab run`.

use crate::flags::guest::GuestArgs;
use crate::flags::sheet::SheetArgs;
use crate::flags::{Common, whole, word};
use clap::Args;
use latlab_model::load::LoadOn;
use latlab_model::plan::{
    ClockName, IdleStates, Instrument, KernelFile, Mechanism, MissedPolicy, Phase, Tuning, WakeBy,
    Workload,
};
use latlab_model::{CpuSet, Nanos};
use std::path::PathBuf;

/// Flags of `latlab run`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// Method of measuring: cyclic (how late a sleep ends), handoff (how late a thread is that
    /// another one wakes), spin (time taken from a busy loop), timerlat (the kernel's own tracer)
    #[arg(long, value_name = "NAME", default_value = "cyclic",
          value_parser = word(Instrument::ALL, Instrument::word), hide_possible_values = true,
          help_heading = HOW)]
    pub instrument: Instrument,
    /// How handoff wakes: futex, pipe, signal, eventfd, mq (POSIX queue), sysv (semaphore)
    /// [default: futex]
    #[arg(long, value_name = "WAY", value_parser = word(WakeBy::ALL, WakeBy::word),
          hide_possible_values = true, help_heading = HOW)]
    pub wake: Option<WakeBy>,
    /// How a thread sleeps until its release: nanosleep (absolute), relative, timerfd, posix-timer
    /// [default: nanosleep]
    #[arg(long, value_name = "NAME",
          value_parser = word(Mechanism::ALL, Mechanism::word), hide_possible_values = true,
          help_heading = HOW)]
    pub mechanism: Option<Mechanism>,
    /// Clock of the releases: monotonic, tai, realtime [default: monotonic]
    #[arg(long, value_name = "NAME",
          value_parser = word(ClockName::ALL, ClockName::word), hide_possible_values = true,
          help_heading = HOW)]
    pub clock: Option<ClockName>,
    /// Scheduling: fifo, rr, other, batch, idle, or deadline[:RUNTIME/DEADLINE/PERIOD]
    /// [default: fifo; other with spin]
    #[arg(long, value_name = "POLICY", help_heading = HOW)]
    pub policy: Option<String>,
    /// Priority of fifo and rr, 1 to 99 [default: 90]
    #[arg(short, long, value_name = "N", value_parser = whole::<u8>, help_heading = HOW)]
    pub priority: Option<u8>,

    /// spin: a pass longer than the usual one by more than this is a gap [default: 1us]
    #[arg(long, value_name = "TIME", help_heading = HOW)]
    pub gap_above: Option<Nanos>,
    /// spin: what each pass does: none, memmove [default: none]
    #[arg(long, value_name = "NAME", value_parser = word(&Workload::NAMES, |name| name),
          hide_possible_values = true, help_heading = HOW)]
    pub workload: Option<&'static str>,
    /// spin: bytes that the workload works on, such as 64K [default: 4K]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = HOW)]
    pub workload_size: Option<u32>,

    /// CPUs to measure, such as 1-3 [default: all that this process may use]
    #[arg(short = 'a', long, value_name = "LIST", help_heading = WHERE)]
    pub cpus: Option<CpuSet>,
    #[command(flatten)]
    pub guest: GuestArgs,
    /// Number of measuring threads, dealt out to the CPUs in turn [default: one for each CPU]
    #[arg(short, long, value_name = "N", value_parser = whole::<u32>, help_heading = WHERE)]
    pub threads: Option<u32>,
    /// CPUs of the threads that wake (handoff), in turn [default: that of the woken thread]
    #[arg(long, value_name = "LIST", help_heading = WHERE)]
    pub wakers_on: Option<CpuSet>,
    /// CPUs for everything of latlab that does not measure [default: those not measured]
    #[arg(long, value_name = "LIST", help_heading = WHERE)]
    pub helpers_on: Option<CpuSet>,

    /// Distance of releases; one that divides the tick sees always the same part of it
    /// [default: 997us]
    #[arg(short = 'i', long, value_name = "TIME", help_heading = WHEN)]
    pub period: Option<Nanos>,
    /// Thread k has a period longer by k times this
    #[arg(long, value_name = "TIME", help_heading = WHEN)]
    pub period_step: Option<Nanos>,
    /// Offsets of the threads: aligned, spread (evenly, from a random start), random
    /// [default: spread]
    #[arg(long, value_name = "NAME",
          value_parser = word(Phase::ALL, Phase::word), hide_possible_values = true,
          help_heading = WHEN)]
    pub phase: Option<Phase>,
    /// Releases already past when a cycle ends are counted and: skip, catch-up (served late)
    /// [default: skip]
    #[arg(long, value_name = "NAME",
          value_parser = word(MissedPolicy::ALL, MissedPolicy::word), hide_possible_values = true,
          help_heading = WHEN)]
    pub missed: Option<MissedPolicy>,
    /// Cycles before the counting starts
    #[arg(long, value_name = "TIME", default_value = "1s", help_heading = WHEN)]
    pub warm_up: Nanos,
    /// Seed of the random offsets [default: from the clock; stored in the run]; a guest in virtual
    /// time measures the same with the same seed, to the last bit
    #[arg(long, value_name = "N", value_parser = whole::<u64>, help_heading = WHEN)]
    pub seed: Option<u64>,
    /// Length of the intervals that are stored
    #[arg(long, value_name = "TIME", default_value = "1s", help_heading = WHEN)]
    pub interval: Nanos,

    /// Length of the run [default: until Ctrl-C]
    #[arg(short = 'D', long = "for", value_name = "TIME", help_heading = UNTIL)]
    pub duration: Option<Nanos>,
    /// Cycles of every thread
    #[arg(short = 'l', long, value_name = "N", value_parser = whole::<u64>, help_heading = UNTIL)]
    pub cycles: Option<u64>,
    /// Judge the run: a release served later than this is a miss
    #[arg(long, value_name = "TIME", help_heading = UNTIL)]
    pub deadline: Option<Nanos>,
    /// End the run at the first latency above this (exit code 1)
    #[arg(short = 'b', long, value_name = "TIME", help_heading = UNTIL)]
    pub stop_above: Option<Nanos>,
    /// Run a command for a spike, at most once a second; it reads the spike as JSON
    #[arg(long, value_name = "CMD", help_heading = UNTIL)]
    pub on_spike: Option<String>,
    /// A latency above this is a spike [default: the deadline, else --stop-above]
    #[arg(long, value_name = "TIME", help_heading = UNTIL)]
    pub spike_above: Option<Nanos>,

    /// Store every latency with its release, in about two bytes each
    #[arg(long, help_heading = KEEP)]
    pub samples: bool,
    /// Split each latency into its legs by the kernel's tracepoints, and measure what they cost
    #[arg(long, help_heading = KEEP)]
    pub legs: bool,
    /// Store temperature, frequency, load and more this often (100ms to 1h), or off
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = telemetry,
          help_heading = KEEP)]
    pub telemetry: Telemetry,
    /// Go on when the terminal is closed (SIGHUP), instead of ending cleanly
    #[arg(long, help_heading = KEEP)]
    pub keep_going: bool,
    /// Name of the run, part of its folder's name
    #[arg(long, value_name = "NAME", default_value = "run", help_heading = KEEP)]
    pub name: String,
    /// A remark to be stored with the run
    #[arg(long, value_name = "TEXT", help_heading = KEEP)]
    pub note: Option<String>,

    /// Run a load meanwhile, by its name; several run at once (`latlab loads` lists them)
    #[arg(long, value_name = "NAME[,ARG=VALUE]", help_heading = LOADS)]
    pub load: Vec<String>,
    /// CPUs of the loads: everywhere, measured, others (not measured), or a list
    #[arg(long, value_name = "WHERE", default_value = "everywhere", help_heading = LOADS)]
    pub load_on: LoadOn,
    /// Folder of further definitions of loads
    #[arg(long, value_name = "DIR", help_heading = LOADS)]
    pub loads: Option<PathBuf>,

    /// Tune the machine for the time of the run: governor=NAME, irqs=away, rt-throttling=off,
    /// fair-server=off, thp=never|madvise|always, timer-migration=off, workqueues=away,
    /// irq-thread:PATTERN=PRIORITY
    #[arg(long, value_name = "NAME=VALUE", help_heading = OTHER)]
    pub tune: Vec<Tuning>,
    /// Write a kernel file for the time of the run: /sys/FILE=VALUE, or NAME=VALUE as sysctl has it
    #[arg(long, value_name = "FILE=VALUE", help_heading = OTHER)]
    pub set: Vec<KernelFile>,
    /// Measure CPUs that another latlab measures already
    #[arg(long, help_heading = OTHER)]
    pub share: bool,
    /// Only idle states that are left within this time, or `system` to leave them as they are
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = idle_states,
          help_heading = OTHER)]
    pub idle_states: IdleStates,
    /// No progress, no live table
    #[arg(short, long, help_heading = OTHER)]
    pub quiet: bool,
    #[command(flatten)]
    pub sheet: SheetArgs,
    #[command(flatten)]
    pub common: Common,
}

const HOW: &str = "How";
const WHERE: &str = "Where";
const WHEN: &str = "When";
const UNTIL: &str = "Until what, and what counts";
const KEEP: &str = "What is kept";
const LOADS: &str = "Under which load";
const OTHER: &str = "Other";

const EXAMPLES: &str = "\
Examples:
  latlab run --for 60s --deadline 1ms
  latlab run -a 1-3 -i 200us -D 5h --name night --note 'new kernel'
  latlab run -t 16 -a 0-3 --cycles 1000000 -p 80
  latlab run --policy other --for 10s               without any rights
  latlab run --policy deadline:100us/1ms/1ms --for 10s
  latlab run -b 150us --on-spike 'cat >>spikes.json'
  latlab run --instrument handoff --wake pipe --for 10s
  latlab run --instrument spin --for 60s            time taken from each CPU
  latlab run --samples -i 50us --for 8h --keep-going --name night
  latlab run --load hackbench,groups=4 --load stressapptest --for 1h
  latlab run -a 1-3 --tune irqs=away --tune rt-throttling=off --for 1h
  latlab run stress-five --scale 20s --dry-run      what a ready-made sheet would do
  latlab run night.toml                             a sheet of your own, unattended
  latlab run --resume                               what is left of it

Times are written 200us, 1.5ms, 30s, 5h. Ctrl-C ends a run cleanly and keeps it.";

/// A number of bytes with K or M behind it, if any.
fn size(text: &str) -> Result<u32, String> {
    let (number, unit) = match text.strip_suffix(['K', 'k']) {
        Some(number) => (number, 1 << 10),
        None => text.strip_suffix(['M', 'm']).map_or((text, 1), |number| (number, 1 << 20)),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| format!("'{text}' is no number of bytes such as 512, 64K or 1M"))?;
    let bytes = number.checked_mul(unit).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| format!("'{text}' is more than a run can take: at most 256M"))
}

fn idle_states(text: &str) -> Result<IdleStates, String> {
    match text {
        "system" => Ok(IdleStates::System),
        time => time
            .parse()
            .map(IdleStates::ExitWithin)
            .map_err(|_| format!("'{time}' is neither a time nor the word system")),
    }
}

/// Distance of the readings of the conditions, if any.
#[derive(Clone, Copy, Debug)]
pub struct Telemetry(pub Option<Nanos>);

fn telemetry(text: &str) -> Result<Telemetry, String> {
    match text {
        "off" => Ok(Telemetry(None)),
        time => time
            .parse()
            .map(|every| Telemetry(Some(every)))
            .map_err(|_| format!("'{time}' is neither a time nor the word off")),
    }
}
