//! The command line, and what it means: flags to plan.

use crate::campaign::args::{ScenariosArgs, SheetArgs};
use crate::common::{Common, word};
use crate::doctor::args::DoctorArgs;
use crate::loads::args::LoadsArgs;
use crate::plot::args::PlotArgs;
use crate::report::args::ReportArgs;
use crate::serve::args::ServeArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use latlab_model::load::LoadOn;
use latlab_model::plan::{
    ClockName, IdleStates, Instrument, KernelFile, Mechanism, MissedPolicy, Phase, Policy, Spin,
    WakeBy, Workload,
};
use latlab_model::{CpuSet, Nanos, Plan};
use latlab_store::WindowSpec;
use std::path::PathBuf;

/// How late can this machine be, why, and is that good enough for your deadline?
#[derive(Parser)]
#[command(
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  latlab run --for 60s --deadline 1ms       measure every CPU for a minute and judge it
  latlab show last                          what that run said, in the terminal
  latlab report last -o page.html           the same as a page with the picture
  latlab plot idle load --kind ccdf         two runs in one picture
  latlab verify --all                       whether every stored run is as it was stored
  latlab doctor                             what on this machine costs latency, and what mends it

Exit codes:
  0  done, or the verdict is pass           3  could not measure (rights, missing feature)
  1  the verdict is fail                    4  the verdict is inconclusive or invalid
  2  wrong usage or input";

/// What latlab can do.
#[derive(Subcommand)]
pub enum Command {
    /// Measure how late this machine is, and store the run; or all that a sheet says.
    Run(Box<RunArgs>),
    /// Say what on this machine, or on that of a run, costs latency, and how to mend it.
    Doctor(DoctorArgs),
    /// List the programs that can load the machine during a run.
    Loads(LoadsArgs),
    /// List the ready-made sheets, and the question that each answers.
    Scenarios(ScenariosArgs),
    /// List the stored runs, newest first.
    List(ListArgs),
    /// Show a stored run in the terminal.
    Show(ShowArgs),
    /// Write a stored run as one self-contained HTML page.
    Report(ReportArgs),
    /// Draw a stored run, or several on one scale.
    Plot(PlotArgs),
    /// Show the stored runs and those that go on in a browser.
    Serve(ServeArgs),
    /// Check that stored runs are as they were stored.
    Verify(VerifyArgs),
    /// Measure and print as cyclictest does, with its options; also by a link of that name.
    #[command(disable_help_flag = true, after_help = crate::cyclictest::table::plain_usage())]
    Cyclictest(CyclictestArgs),
    /// Print what completes these commands in a shell.
    Completions(CompletionsArgs),
    /// Measure for another latlab, or write the program that does so on a board.
    Agent(AgentArgs),
}

/// Words of `latlab cyclictest`.
#[derive(Args)]
pub struct CyclictestArgs {
    /// The options of cyclictest
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// Flags of `latlab agent`.
#[derive(Args)]
#[command(after_help = AGENT_EXAMPLES)]
pub struct AgentArgs {
    /// Id of the run, for those who look at the list of processes
    pub run: Option<String>,
    /// Write the agent for a machine, by what `uname -m` says there: aarch64, armv7l, x86_64
    #[arg(long, value_name = "MACHINE")]
    pub write: Option<String>,
    /// The program to write, - for standard output [default: latlab-agent-MACHINE]
    #[arg(short, long, value_name = "FILE", requires = "write")]
    pub output: Option<PathBuf>,
}

const AGENT_EXAMPLES: &str = "\
Examples:
  latlab agent --write aarch64 -o latlab-agent      the measuring half alone, for a 64-bit board

Without --write it reads a plan from standard input and writes the stream of a run to standard
output: `latlab run` starts it so, and nobody else needs to.";

/// How `latlab list` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ListFormat {
    #[default]
    Text,
    Json,
    Markdown,
}

/// Flags of `latlab list`.
#[derive(Args)]
pub struct ListArgs {
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How to print the list: text, json, markdown
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: ListFormat,
}

/// How `latlab show` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ShowFormat {
    #[default]
    Text,
    Json,
    Markdown,
    Csv,
}

/// Flags of `latlab show`.
#[derive(Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub struct ShowArgs {
    /// An id, a part of one, `last`, or the path of a run folder.
    #[arg(default_value = "last")]
    pub run: String,
    /// Only a stretch of a run with samples: times in UTC, or since the first release (+10s)
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub window: Option<WindowSpec>,
    /// How to print the result: text, json, markdown; with --window text, json, csv (every sample)
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: ShowFormat,
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  latlab show                                       the last run
  latlab show night --window 14:03:00..14:03:10     ten seconds of it, in UTC
  latlab show night --window +1h..+1h10s            the same since the first release
  latlab show night --window 2026-11-21T23:50:00Z..
  latlab show last --window ..+1min --format csv    every sample of the first minute
  latlab show --format markdown                     for an issue or a wiki

Either side of a window may be left out. A time without a date is the one that lies in the run.
Missed releases are those that lie in the window. CSV comes as it is stored: some thousand samples
of one thread, then of the next.

What is read from a table is compared with its checksum first, but for samples.parquet: gigabytes
are not read for the sake of a second. `latlab verify` reads everything.";

/// Flags of `latlab verify`.
#[derive(Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub struct VerifyArgs {
    /// Ids, parts of them, `last`, or paths of run folders
    #[arg(value_name = "RUN", default_value = "last", conflicts_with = "all")]
    pub runs: Vec<String>,
    /// Every stored run
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub common: Common,
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  latlab verify                   the last run
  latlab verify --all             every run, a line each

Compares size and SHA-256 of every file with run.json, and the sums of the tables with its counts.
Files that do not belong to a run are named; they harm nothing.

Exit codes:
  0  every run is whole      1  a run is damaged      2  wrong usage or input";

/// Flags of `latlab completions`.
#[derive(Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell: bash, zsh, fish
    #[arg(hide_possible_values = true)]
    pub shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(latlab completions bash)                       for this bash
  latlab completions zsh >~/.zfunc/_latlab                for zsh, with ~/.zfunc in its fpath
  latlab completions fish >~/.config/fish/completions/latlab.fish

`make install` puts all three where the shells look for them.";

/// The shells whose completions are shipped.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    /// The script, made anew from the flags by `make reference`.
    pub fn script(self) -> &'static str {
        match self {
            Shell::Bash => include_str!("../../../docs/reference/completions/latlab.bash"),
            Shell::Zsh => include_str!("../../../docs/reference/completions/_latlab"),
            Shell::Fish => include_str!("../../../docs/reference/completions/latlab.fish"),
        }
    }
}

/// Flags of `latlab run`.
#[derive(Args)]
#[command(after_help = RUN_EXAMPLES)]
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
    #[arg(short, long, value_name = "N", help_heading = HOW)]
    pub priority: Option<u8>,

    /// spin: a pass longer than the usual one by more than this is a gap [default: 1us]
    #[arg(long, value_name = "TIME", help_heading = HOW)]
    pub gap_above: Option<Nanos>,
    /// spin: what each pass does: none, memmove [default: none]
    #[arg(long, value_name = "NAME", value_parser = word(Workload::ALL, Workload::word),
          hide_possible_values = true, help_heading = HOW)]
    pub workload: Option<Workload>,
    /// spin: bytes that the workload works on, such as 64K [default: 4K]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = HOW)]
    pub workload_size: Option<u32>,

    /// CPUs to measure, such as 1-3 [default: all that this process may use]
    #[arg(short = 'a', long, value_name = "LIST", help_heading = WHERE)]
    pub cpus: Option<CpuSet>,
    /// Number of measuring threads, dealt out to the CPUs in turn [default: one for each CPU]
    #[arg(short, long, value_name = "N", help_heading = WHERE)]
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
    /// Seed of the random offsets [default: from the clock; stored in the run]
    #[arg(long, value_name = "N", help_heading = WHEN)]
    pub seed: Option<u64>,
    /// Length of the intervals that are stored
    #[arg(long, value_name = "TIME", default_value = "1s", help_heading = WHEN)]
    pub interval: Nanos,

    /// Length of the run [default: until Ctrl-C]
    #[arg(short = 'D', long = "for", value_name = "TIME", help_heading = UNTIL)]
    pub duration: Option<Nanos>,
    /// Cycles of every thread
    #[arg(short = 'l', long, value_name = "N", help_heading = UNTIL)]
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

const RUN_EXAMPLES: &str = "\
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
    let bytes = number.parse().ok().and_then(|number: u32| number.checked_mul(unit));
    bytes.ok_or_else(|| format!("'{text}' is no number of bytes such as 512, 64K or 1M"))
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
pub struct Telemetry(Option<Nanos>);

fn telemetry(text: &str) -> Result<Telemetry, String> {
    match text {
        "off" => Ok(Telemetry(None)),
        time => time
            .parse()
            .map(|every| Telemetry(Some(every)))
            .map_err(|_| format!("'{time}' is neither a time nor the word off")),
    }
}

impl RunArgs {
    /// The order that these flags make; an error is one line.
    pub fn plan(&self, random_seed: u64) -> Result<Plan, String> {
        self.check_instrument()?;
        let default = Plan::default();
        let plan = Plan {
            name: self.name.clone(),
            note: self.note.clone(),
            instrument: self.instrument,
            mechanism: self.mechanism.unwrap_or(default.mechanism),
            clock: self.clock.unwrap_or(default.clock),
            policy: self.scheduling()?,
            cpus: self.cpus.clone(),
            threads: self.threads,
            helpers_on: self.helpers_on.clone(),
            wake: self.wake(),
            wakers_on: self.wakers_on.clone(),
            period_ns: self.period.unwrap_or(default.period_ns),
            period_step_ns: self.period_step.unwrap_or(default.period_step_ns),
            phase: self.phase.unwrap_or(default.phase),
            missed: self.missed.unwrap_or(default.missed),
            duration_ns: self.duration,
            cycles: self.cycles,
            warm_up_ns: self.warm_up,
            deadline_ns: self.deadline,
            stop_above_ns: self.stop_above,
            spike_above_ns: self.spike_above(),
            on_spike: self.on_spike.clone(),
            idle_states: self.idle_states,
            interval_ns: self.interval,
            samples: self.samples,
            legs: self.legs,
            share_cpus: self.share,
            kernel_files: self.set.clone(),
            telemetry_ns: self.telemetry.0,
            spin: self.spin(),
            load_on: self.load_on.clone(),
            seed: self.seed.unwrap_or(random_seed),
            ..default
        };
        plan.check()?;
        Ok(plan)
    }

    fn wake(&self) -> Option<WakeBy> {
        let default = (self.instrument == Instrument::Handoff).then_some(WakeBy::Futex);
        self.wake.or(default)
    }

    /// Without a command for it nobody needs to know what a spike is.
    fn spike_above(&self) -> Option<Nanos> {
        let known = self.deadline.or(self.stop_above).filter(|_| self.on_spike.is_some());
        self.spike_above.or(known)
    }

    /// What was given must mean something to the instrument.
    fn check_instrument(&self) -> Result<(), String> {
        let of_releases = [
            ("--mechanism", self.mechanism.is_some()),
            ("--period", self.period.is_some()),
            ("--period-step", self.period_step.is_some()),
            ("--phase", self.phase.is_some()),
            ("--missed", self.missed.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        let of_spin = [
            ("--gap-above", self.gap_above.is_some()),
            ("--workload", self.workload.is_some()),
            ("--workload-size", self.workload_size.is_some()),
        ];
        let of_handoff =
            [("--wake", self.wake.is_some()), ("--wakers-on", self.wakers_on.is_some())];
        let of_sleep =
            [("--mechanism", self.mechanism.is_some()), ("--missed", self.missed.is_some())];
        let of_cyclic = [
            ("--mechanism", self.mechanism.is_some()),
            ("--clock", self.clock.is_some()),
            ("--missed", self.missed.is_some()),
        ];
        let is = |instrument| self.instrument == instrument;
        let unfit = [
            (!is(Instrument::Spin), &of_spin[..], "goes with --instrument spin"),
            (!is(Instrument::Handoff), &of_handoff[..], "goes with --instrument handoff"),
            (is(Instrument::Spin), &of_releases[..], "is about releases, which spin has not"),
            (is(Instrument::Handoff), &of_sleep[..], "is about a sleep, which handoff has not"),
            (is(Instrument::Timerlat), &of_cyclic[..], "is the kernel's own with timerlat"),
        ];
        let mut unfit = unfit.iter().filter(|(applies, ..)| *applies);
        let given = unfit.find_map(|(_, options, why)| {
            let (option, _) = options.iter().find(|(_, given)| *given)?;
            Some(format!("{option} {why}: leave it out"))
        });
        given.map_or(Ok(()), Err)
    }

    fn spin(&self) -> Option<Spin> {
        let default = Spin::default();
        (self.instrument == Instrument::Spin).then(|| Spin {
            gap_above_ns: self.gap_above.unwrap_or(default.gap_above_ns),
            workload: self.workload.unwrap_or(default.workload),
            workload_bytes: self.workload_size.unwrap_or(default.workload_bytes),
        })
    }

    fn scheduling(&self) -> Result<Policy, String> {
        // A busy loop before everything else is for those who ask for it.
        let usual = if self.instrument == Instrument::Spin { "other" } else { "fifo" };
        let policy = self.policy.as_deref().unwrap_or(usual);
        let (name, budget) = match policy.split_once(':') {
            Some((name, budget)) => (name, Some(budget)),
            None => (policy, None),
        };
        if self.priority.is_some() && !matches!(name, "fifo" | "rr") {
            return Err(format!("--priority goes with fifo and rr, not with --policy {name}"));
        }
        let priority = self.priority.unwrap_or(Policy::DEFAULT_PRIORITY);
        match (name, budget) {
            ("fifo", None) => Ok(Policy::Fifo { priority }),
            ("rr", None) => Ok(Policy::Rr { priority }),
            ("other", None) => Ok(Policy::Other),
            ("batch", None) => Ok(Policy::Batch),
            ("idle", None) => Ok(Policy::Idle),
            ("deadline", budget) => self.budget(budget),
            _ => Err(format!(
                "--policy {policy}: expected fifo, rr, other, batch, idle or \
                 deadline[:RUNTIME/DEADLINE/PERIOD]"
            )),
        }
    }

    /// Without numbers: a tenth of the period as budget, over the period.
    fn budget(&self, text: Option<&str>) -> Result<Policy, String> {
        let period = self.period.unwrap_or(Plan::default().period_ns);
        let Some(text) = text else {
            let runtime_ns = Nanos(period.0 / 10).max(Nanos(10_000)).min(period);
            return Ok(Policy::Deadline { runtime_ns, deadline_ns: period, period_ns: period });
        };
        let parts: Vec<&str> = text.split('/').collect();
        let [runtime, deadline, period] = parts[..] else {
            return Err(format!("--policy deadline:{text}: expected RUNTIME/DEADLINE/PERIOD"));
        };
        let time = |text: &str| text.parse::<Nanos>().map_err(|error| error.to_string());
        Ok(Policy::Deadline {
            runtime_ns: time(runtime)?,
            deadline_ns: time(deadline)?,
            period_ns: time(period)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn plan(flags: &str) -> Result<Plan, String> {
        let words = ["latlab", "run"].into_iter().chain(flags.split_whitespace());
        let cli = Cli::try_parse_from(words).map_err(|error| error.to_string())?;
        let Command::Run(args) = cli.command else { unreachable!("the words say run") };
        args.plan(7)
    }

    #[test]
    fn the_flags_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn defaults_are_those_of_the_house() {
        assert_eq!(plan(""), Ok(Plan { seed: 7, ..Plan::default() }));
    }

    #[test]
    fn spinning_is_ordinary_unless_priority_is_asked_for() {
        let spun = plan("--instrument spin --workload memmove --workload-size 64K").unwrap();
        let spin = Spin { workload: Workload::Memmove, workload_bytes: 65_536, ..Spin::default() };
        assert_eq!((spun.policy, spun.spin), (Policy::Other, Some(spin)));
        let fifo = plan("--instrument spin --policy fifo -p 1").unwrap();
        assert_eq!(fifo.policy, Policy::Fifo { priority: 1 });
    }

    #[test]
    fn flags_mean_what_they_say() {
        let plan = plan(
            "-a 1-3 -t 16 -p 80 -i 200us -D 5h -l 1000 --deadline 125us --idle-states system \
             --mechanism posix-timer --clock tai --missed catch-up --phase random --seed 3",
        )
        .unwrap();
        assert_eq!(plan.cpus.unwrap().to_string(), "1-3");
        assert_eq!((plan.threads, plan.cycles, plan.seed), (Some(16), Some(1000), 3));
        assert_eq!(plan.spike_above_ns, None);
        assert_eq!(plan.mechanism, Mechanism::PosixTimer);
        assert_eq!(plan.idle_states, IdleStates::System);
    }

    #[test]
    fn the_deadline_tells_a_spike_unless_something_else_does() {
        let above = |flags: &str| plan(flags).unwrap().spike_above_ns;
        assert_eq!(above("--deadline 1ms --on-spike true"), Some(Nanos(1_000_000)));
        assert_eq!(above("--deadline 1ms --on-spike true --spike-above 5us"), Some(Nanos(5_000)));
        assert_eq!(above("-b 150us --on-spike true"), Some(Nanos(150_000)));
    }

    #[test]
    fn deadline_scheduling_reads_its_budget() {
        let policy = |flags: &str| plan(flags).map(|plan| plan.policy);
        let nanos = |runtime_ns, deadline_ns, period_ns| Policy::Deadline {
            runtime_ns: Nanos(runtime_ns),
            deadline_ns: Nanos(deadline_ns),
            period_ns: Nanos(period_ns),
        };
        assert_eq!(
            policy("--policy deadline:100us/1ms/1ms"),
            Ok(nanos(100_000, 1_000_000, 1_000_000))
        );
        assert_eq!(policy("--policy deadline -i 1ms"), Ok(nanos(100_000, 1_000_000, 1_000_000)));
        assert!(policy("--policy deadline:1ms/100us/1ms").unwrap_err().contains("runtime <="));
        assert!(policy("--policy deadline:1ms").unwrap_err().contains("RUNTIME/DEADLINE/PERIOD"));
    }

    #[test]
    fn mistakes_are_one_line_with_what_was_expected() {
        for (flags, expected) in [
            ("--policy fofo", "expected fifo, rr, other"),
            ("-p 0", "expected 1 (low) to 99 (high)"),
            ("-p 50 --policy other", "goes with fifo and rr"),
            ("-i abc", "expected a number and a unit"),
            ("-i 0", "expected 1us to 24h"),
            ("-i 200", "has no unit"),
            ("--clock 2", "monotonic, tai, realtime"),
            ("-a 3-1", "not a list of CPUs"),
            ("--on-spike true", "--spike-above, --deadline or --stop-above"),
            ("--mechanism timerfd --clock tai", "no timer file descriptors"),
            ("--wake pipe", "goes with --instrument handoff"),
            ("--wakers-on 0", "goes with --instrument handoff"),
            ("--instrument handoff --mechanism timerfd", "which handoff has not"),
            ("--instrument handoff --missed catch-up", "which handoff has not"),
            ("--instrument handoff --policy deadline", "can be pinned"),
            ("--mechanism relative --missed catch-up", "no releases"),
            ("--idle-states deep", "the word system"),
            ("--telemetry never", "the word off"),
            ("--telemetry 1ms", "expected 100ms to 1h"),
            ("--cycles 0", "more than 0"),
            ("--gap-above 2us", "goes with --instrument spin"),
            ("--instrument spin -i 1ms", "--period is about releases"),
            ("--instrument spin --missed skip", "--missed is about releases"),
            ("--instrument spin --cycles 9", "end it by --for"),
            ("--instrument spin --samples", "largest 4096 gaps"),
            ("--instrument spin --policy deadline", "uses up at once"),
            ("--instrument spin --gap-above 1ns", "expected 100ns to 1s"),
            ("--instrument spin --workload-size 1T", "such as 512, 64K or 1M"),
            ("--instrument spin --warm-up 1ms", "learns the usual pass"),
            ("--load-on here", "expected everywhere, measured, others or a list"),
            ("--deadline 0", "more than 0"),
            ("--set kernel.sched_rt_runtime_us", "expected /sys/FILE=VALUE"),
            ("--set /proc/sys/../../etc/passwd=x", "expected /sys/FILE=VALUE"),
            ("--set /etc/passwd=x", "expected /sys/FILE=VALUE"),
        ] {
            let error = plan(flags).unwrap_err();
            assert!(error.contains(expected), "{flags}: {error}");
        }
    }
}
