//! What a run is asked to do: the meaning of the command line, and the first frame of a journal.

use crate::nanos::{MICROSECOND, MILLISECOND, SECOND};
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The whole order for one run; what of it could be applied stands in `applied` of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Name of the run, part of its folder's name.
    pub name: String,
    /// A free remark of the user.
    pub note: Option<String>,
    /// Method of measuring.
    pub instrument: Instrument,
    /// How a thread sleeps until its release.
    pub mechanism: Mechanism,
    /// The clock that releases are planned on.
    pub clock: ClockName,
    /// Scheduling of the measuring threads.
    pub policy: Policy,
    /// CPUs to measure; none means all that may be used.
    pub cpus: Option<CpuSet>,
    /// Number of measuring threads; none means one for each CPU.
    pub threads: Option<u32>,
    /// CPUs for everything of ours that does not measure.
    pub helpers_on: Option<CpuSet>,
    /// Distance of releases of the first thread.
    pub period_ns: Nanos,
    /// What each further thread's period is longer by.
    pub period_step_ns: Nanos,
    /// Offsets of the threads' releases.
    pub phase: Phase,
    /// What happens to releases that are already past.
    pub missed: MissedPolicy,
    /// Length of the measuring window; none means until `cycles` or an interrupt.
    pub duration_ns: Option<Nanos>,
    /// Cycles of each thread; none means until `duration_ns` or an interrupt.
    pub cycles: Option<u64>,
    /// Cycles are run but not counted for this long.
    pub warm_up_ns: Nanos,
    /// The instant, after each release, that must not be exceeded.
    pub deadline_ns: Option<Nanos>,
    /// A latency above this ends the run.
    pub stop_above_ns: Option<Nanos>,
    /// A latency above this is a spike for `on_spike`.
    pub spike_above_ns: Option<Nanos>,
    /// Command to run for a spike.
    pub on_spike: Option<String>,
    /// What is asked of the idle states.
    pub idle_states: IdleStates,
    /// Length of an interval of the stream.
    pub interval_ns: Nanos,
    /// Whether every latency is stored with its release.
    #[serde(default)]
    pub samples: bool,
    /// Whether the legs of each latency are told apart by the kernel's tracepoints.
    #[serde(default)]
    pub legs: bool,
    /// Whether CPUs may be measured that another latlab measures already.
    #[serde(default)]
    pub share_cpus: bool,
    /// Kernel files to be written for the time of the run.
    #[serde(default)]
    pub kernel_files: Vec<KernelFile>,
    /// Distance of two readings of the machine's conditions; none where nobody wants them.
    #[serde(default)]
    pub telemetry_ns: Option<Nanos>,
    /// Whether the threads may run on all usable CPUs instead of one each.
    #[serde(default)]
    pub floating: bool,
    /// What each further thread's priority is lower by.
    #[serde(default)]
    pub priority_step: u8,
    /// What each further thread's first release is later by, beyond its phase.
    #[serde(default)]
    pub phase_step_ns: Nanos,
    /// The first release lies this long after a full second of the clock; none means anywhere.
    #[serde(default)]
    pub second_offset_ns: Option<Nanos>,
    /// Whether the first thread that has its cycles ends all.
    #[serde(default)]
    pub ends_with_first: bool,
    /// Whether a latency above `stop_above` is marked in the kernel's trace, and stops it.
    #[serde(default)]
    pub mark_trace: bool,
    /// How the measured threads are woken; none where they sleep by themselves.
    #[serde(default)]
    pub wake: Option<WakeBy>,
    /// CPUs of the threads that wake them, in turn; none means that of the woken thread.
    #[serde(default)]
    pub wakers_on: Option<CpuSet>,
    /// The command that asked for it, where that was not `latlab run`.
    #[serde(default)]
    pub command: Option<String>,
    /// How it spins; only with the instrument `spin`.
    #[serde(default)]
    pub spin: Option<Spin>,
    /// Seed of the random phase; it may be beyond 2^53, which doubles do not hold exactly.
    pub seed: u64,
}

/// The defaults of the house, in this one place: what `latlab run` does without any flag, and what
/// the command that repeats a run leaves out.
impl Default for Plan {
    fn default() -> Plan {
        Plan {
            name: "run".into(),
            note: None,
            instrument: Instrument::Cyclic,
            mechanism: Mechanism::Nanosleep,
            clock: ClockName::Monotonic,
            policy: Policy::Fifo { priority: Policy::DEFAULT_PRIORITY },
            cpus: None,
            threads: None,
            helpers_on: None,
            period_ns: MICROSECOND * 997,
            period_step_ns: Nanos::ZERO,
            phase: Phase::Spread,
            missed: MissedPolicy::Skip,
            duration_ns: None,
            cycles: None,
            warm_up_ns: SECOND,
            deadline_ns: None,
            stop_above_ns: None,
            spike_above_ns: None,
            on_spike: None,
            idle_states: IdleStates::ExitWithin(Nanos::ZERO),
            interval_ns: SECOND,
            samples: false,
            legs: false,
            share_cpus: false,
            kernel_files: Vec::new(),
            telemetry_ns: Some(SECOND),
            floating: false,
            priority_step: 0,
            phase_step_ns: Nanos::ZERO,
            second_offset_ns: None,
            ends_with_first: false,
            mark_trace: false,
            wake: None,
            wakers_on: None,
            command: None,
            spin: None,
            seed: 0,
        }
    }
}

/// A file under `/proc/sys` or `/sys` that holds a value for the time of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelFile {
    /// Its path.
    pub path: String,
    /// What to write.
    pub value: String,
}

/// Reads `/sys/…=VALUE` and, as `sysctl` has it, `kernel.sched_rt_runtime_us=VALUE`.
impl std::str::FromStr for KernelFile {
    type Err = String;

    fn from_str(text: &str) -> Result<KernelFile, String> {
        let expected = "expected /sys/FILE=VALUE, /proc/sys/FILE=VALUE or NAME.OF.SYSCTL=VALUE";
        let (file, value) = text.split_once('=').ok_or(expected)?;
        let (file, value) = (file.trim(), value.trim());
        let path = match file.starts_with('/') {
            true => file.to_string(),
            false => format!("/proc/sys/{}", file.replace('.', "/")),
        };
        let below = ["/proc/sys/", "/sys/"].iter().find_map(|root| path.strip_prefix(root));
        let is_file = |rest: &str| rest.split('/').all(|part| !matches!(part, "" | "." | ".."));
        match below.is_some_and(is_file) && !value.is_empty() && !text.contains(char::is_control) {
            true => Ok(KernelFile { path, value: value.to_string() }),
            false => Err(expected.to_string()),
        }
    }
}

impl fmt::Display for KernelFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.path, self.value)
    }
}

impl Plan {
    /// Period of a thread by its number.
    pub fn period_of(&self, thread: u32) -> Nanos {
        self.period_ns + self.period_step_ns * i64::from(thread)
    }

    /// Policy of a thread by its number; the steps end at the lowest priority there is.
    pub fn policy_of(&self, thread: u32) -> Policy {
        let down = u32::from(self.priority_step).saturating_mul(thread);
        let lower = |priority: u8| u32::from(priority).saturating_sub(down).max(1) as u8;
        match self.policy {
            Policy::Fifo { priority } => Policy::Fifo { priority: lower(priority) },
            Policy::Rr { priority } => Policy::Rr { priority: lower(priority) },
            other => other,
        }
    }

    /// The instrument, with its way to sleep or to be woken where it has several.
    pub fn way(&self) -> String {
        let instrument = self.instrument;
        match (instrument, self.wake) {
            (Instrument::Cyclic, _) => format!("{instrument}, {}", self.mechanism),
            (_, Some(by)) => format!("{instrument} by {by}"),
            (_, None) => instrument.to_string(),
        }
    }

    /// Whether releases exist that can be missed.
    pub fn has_releases(&self) -> bool {
        self.instrument != Instrument::Spin && self.mechanism != Mechanism::Relative
    }

    /// The number of the interval that a release lies in.
    pub fn interval_of(&self, first_release: Nanos, release: Nanos) -> i64 {
        (release - first_release).0.div_euclid(self.interval_ns.0.max(1))
    }

    /// Length of the parts in which an interval is sent: half a second at most, because what was
    /// not sent is lost to a kill.
    pub fn part_ns(&self) -> Nanos {
        let interval = self.interval_ns.0.unsigned_abs();
        let parts = interval.div_ceil(LONGEST_PART).max(1);
        Nanos(interval.div_ceil(parts) as i64)
    }
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// The word that stands for it on the command line and in files.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.pad(self.word()) }
        }
    };
}
pub(crate) use words;

words! {
    /// Method of measuring.
    Instrument {
        /// A thread that sleeps until each release and reads the clock.
        Cyclic = "cyclic",
        /// A thread that another one wakes at each release, counted from just before the call.
        Handoff = "handoff",
        /// A busy loop that finds the time taken from it.
        Spin = "spin",
        /// The kernel's own tracer: a thread of the kernel on each CPU, which we only read.
        Timerlat = "timerlat",
    }
}

words! {
    /// What a spinning thread does in each pass.
    Workload {
        /// Nothing but reading the counter.
        None = "none",
        /// Copies a piece of memory.
        Memmove = "memmove",
    }
}

/// How the instrument `spin` spins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spin {
    /// A pass longer than the usual one by more than this is a gap.
    pub gap_above_ns: Nanos,
    /// What each pass does.
    pub workload: Workload,
    /// Bytes that the workload works on.
    pub workload_bytes: u32,
}

impl Default for Spin {
    fn default() -> Spin {
        Spin { gap_above_ns: MICROSECOND, workload: Workload::None, workload_bytes: 4096 }
    }
}

impl Spin {
    fn check(self) -> Result<(), String> {
        let Spin { gap_above_ns, workload_bytes, .. } = self;
        if gap_above_ns < Nanos(100) || gap_above_ns > SECOND {
            return Err(format!("--gap-above {gap_above_ns}: expected 100ns to 1s"));
        }
        if !(8..=LARGEST_WORKLOAD).contains(&workload_bytes) {
            return Err(format!("--workload-size {workload_bytes}: expected 8 to 256M"));
        }
        Ok(())
    }
}

/// Shorter warm-ups could tell nothing of the usual pass.
const LEAST_LEARNING: Nanos = Nanos(10_000_000);
/// More is no cache of any processor.
const LARGEST_WORKLOAD: u32 = 256 << 20;

words! {
    /// How a thread sleeps until its release.
    Mechanism {
        /// `clock_nanosleep` with an absolute time.
        Nanosleep = "nanosleep",
        /// `clock_nanosleep` for a relative time: there are no releases, so none can be missed.
        Relative = "relative",
        /// A periodic timer file descriptor.
        Timerfd = "timerfd",
        /// A periodic POSIX timer and a wait for its signal.
        PosixTimer = "posix-timer",
    }
}

words! {
    /// How one thread wakes another (instrument `handoff`).
    WakeBy {
        /// A futex.
        Futex = "futex",
        /// A byte through a pipe.
        Pipe = "pipe",
        /// A real-time signal.
        Signal = "signal",
        /// An event file descriptor.
        Eventfd = "eventfd",
        /// A POSIX message queue.
        Mq = "mq",
        /// A System V semaphore.
        Sysv = "sysv",
    }
}

words! {
    /// The clock that releases are planned on.
    ClockName {
        /// CLOCK_MONOTONIC.
        Monotonic = "monotonic",
        /// CLOCK_TAI.
        Tai = "tai",
        /// CLOCK_REALTIME, which can be set and then makes negative latencies.
        Realtime = "realtime",
    }
}

words! {
    /// Offsets of the threads' releases.
    Phase {
        /// All threads are released at once.
        Aligned = "aligned",
        /// The threads share a period evenly.
        Spread = "spread",
        /// Each thread starts somewhere in its period.
        Random = "random",
    }
}

words! {
    /// What happens to releases that are already past when a cycle ends.
    MissedPolicy {
        /// They are counted and left out.
        Skip = "skip",
        /// They are counted and served late, one after the other.
        CatchUp = "catch-up",
    }
}

/// Scheduling of the measuring threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "lowercase")]
pub enum Policy {
    /// SCHED_FIFO.
    Fifo {
        /// 1 (low) to 99 (high).
        priority: u8,
    },
    /// SCHED_RR.
    Rr {
        /// 1 (low) to 99 (high).
        priority: u8,
    },
    /// SCHED_OTHER.
    Other,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// SCHED_DEADLINE.
    Deadline {
        /// Budget in each period.
        runtime_ns: Nanos,
        /// By when the budget is given, after the start of a period.
        deadline_ns: Nanos,
        /// Period of the budget.
        period_ns: Nanos,
    },
}

impl Policy {
    /// Priority of `fifo` and `rr` where none is given.
    pub const DEFAULT_PRIORITY: u8 = 90;

    /// Priority of `fifo` and `rr`; 0 for the policies that have none.
    pub fn priority(self) -> u8 {
        match self {
            Policy::Fifo { priority } | Policy::Rr { priority } => priority,
            _ => 0,
        }
    }

    /// Whether the policy runs before all ordinary threads.
    pub fn is_realtime(self) -> bool {
        matches!(self, Policy::Fifo { .. } | Policy::Rr { .. } | Policy::Deadline { .. })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Fifo { priority } => f.pad(&format!("fifo {priority}")),
            Policy::Rr { priority } => f.pad(&format!("rr {priority}")),
            Policy::Other => f.pad("other"),
            Policy::Batch => f.pad("batch"),
            Policy::Idle => f.pad("idle"),
            Policy::Deadline { runtime_ns, deadline_ns, period_ns } => {
                f.pad(&format!("deadline {runtime_ns} / {deadline_ns} / {period_ns}"))
            }
        }
    }
}

/// What is asked of the idle states during a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IdleStates {
    /// Hold `/dev/cpu_dma_latency` at this value: no idle state that takes longer to leave.
    ExitWithin(Nanos),
    /// Leave them as the system has them.
    System,
}

impl fmt::Display for IdleStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdleStates::ExitWithin(limit) => write!(f, "{limit}"),
            IdleStates::System => f.pad("system"),
        }
    }
}

impl Plan {
    /// Whether the order makes sense by itself; an error is one line for the user.
    pub fn check(&self) -> Result<(), String> {
        let refuse = |text: String| Err(text);
        if self.period_ns < MICROSECOND || self.period_ns > LONGEST_PERIOD {
            return refuse(format!("--period {}: expected 1us to 24h", self.period_ns));
        }
        if self.period_step_ns < Nanos::ZERO || self.period_step_ns > LONGEST_PERIOD {
            return refuse(format!("--period-step {}: expected 0 to 24h", self.period_step_ns));
        }
        if self.interval_ns < MILLISECOND * 100 || self.interval_ns > LONGEST_PERIOD {
            return refuse(format!("--interval {}: expected 100ms to 24h", self.interval_ns));
        }
        if let Some(every) =
            self.telemetry_ns.filter(|every| *every < MILLISECOND * 100 || *every > SECOND * 3600)
        {
            return refuse(format!("--telemetry {every}: expected 100ms to 1h, or off"));
        }
        for (option, limit) in [
            ("--deadline", self.deadline_ns),
            ("--stop-above", self.stop_above_ns),
            ("--spike-above", self.spike_above_ns),
            ("--for", self.duration_ns),
        ] {
            if limit.is_some_and(|limit| limit <= Nanos::ZERO) {
                return refuse(format!("{option} must be more than 0"));
            }
        }
        if self.duration_ns.is_some_and(|length| length < self.period_ns) {
            return refuse(format!(
                "--for is shorter than --period {}: not one release would be due",
                self.period_ns
            ));
        }
        if let Some(threads) = self.threads.filter(|count| !(1..=MOST_THREADS).contains(count)) {
            return refuse(format!("--threads {threads}: expected 1 to {MOST_THREADS}"));
        }
        if self.cycles == Some(0) {
            return refuse("--cycles must be more than 0".into());
        }
        if self.on_spike.is_some() && self.spike_above_ns.is_none() {
            return refuse(
                "--on-spike needs --spike-above, --deadline or --stop-above to know a spike".into(),
            );
        }
        if self.mechanism == Mechanism::Timerfd && self.clock == ClockName::Tai {
            return refuse(
                "the kernel has no timer file descriptors on CLOCK_TAI: take --mechanism \
                 nanosleep or posix-timer, or another --clock"
                    .into(),
            );
        }
        if self.mechanism == Mechanism::Relative && self.missed == MissedPolicy::CatchUp {
            return refuse(
                "relative sleep has no releases that could be caught up with: leave out --missed, \
                 or take another --mechanism"
                    .into(),
            );
        }
        let sleeps = (self.instrument, self.mechanism, self.clock)
            == (Instrument::Cyclic, Mechanism::Nanosleep, ClockName::Monotonic);
        if self.legs && self.instrument != Instrument::Timerlat && !sleeps {
            return refuse(
                "--legs finds the cycles of --instrument cyclic with --mechanism nanosleep on --clock \
                 monotonic by their releases: leave those as they are, or leave out --legs"
                    .into(),
            );
        }
        self.check_handoff()?;
        self.check_spin()?;
        self.check_timerlat()?;
        self.policy.check()
    }

    fn check_handoff(&self) -> Result<(), String> {
        let hands_over = self.instrument == Instrument::Handoff;
        let refused = [
            (
                hands_over != self.wake.is_some(),
                "the instrument handoff and --wake belong together",
            ),
            (!hands_over && self.wakers_on.is_some(), "--wakers-on goes with --instrument handoff"),
            (
                hands_over
                    && (self.mechanism != Mechanism::Nanosleep
                        || self.missed != MissedPolicy::Skip),
                "with --instrument handoff another thread sleeps until the releases, by nanosleep, \
                 and leaves out those that it misses: --mechanism and --missed do not go with it",
            ),
            (
                hands_over && matches!(self.policy, Policy::Deadline { .. }),
                "--instrument handoff needs threads that can be pinned: take another --policy than \
                 deadline",
            ),
        ];
        first_refused(&refused)
    }

    fn check_spin(&self) -> Result<(), String> {
        if let Some(spin) = self.spin {
            spin.check()?;
        }
        let spins = self.instrument == Instrument::Spin;
        let refused = [
            (spins != self.spin.is_some(), "the instrument spin and its options belong together"),
            (
                spins && self.samples,
                "--samples stores latencies of releases, which spin has not: \
              the largest 4096 gaps of each thread are stored anyway",
            ),
            (
                spins && self.cycles.is_some(),
                "--cycles counts releases, which spin has not: \
              end it by --for",
            ),
            (
                spins && self.clock != ClockName::Monotonic,
                "--clock: gaps are always told on \
              CLOCK_MONOTONIC",
            ),
            (
                spins && matches!(self.policy, Policy::Deadline { .. }),
                "--policy deadline gives a \
              budget that a spinning thread uses up at once: take other, fifo or rr",
            ),
            (
                spins && self.threads.is_some(),
                "--threads: spin measures each CPU by one thread; \
              name them by --cpus",
            ),
            (
                spins && self.warm_up_ns < LEAST_LEARNING,
                "--warm-up: spin learns the usual pass in \
              it, for 10ms at least",
            ),
        ];
        first_refused(&refused)
    }

    /// What the kernel's tracer cannot do.
    fn check_timerlat(&self) -> Result<(), String> {
        let wrong = match () {
            () if self.instrument != Instrument::Timerlat => return Ok(()),
            () if !TIMERLAT_PERIODS.contains(&self.period_ns) => "a --period from 100us to 1s",
            () if self.period_step_ns != Nanos::ZERO => "one --period for all CPUs",
            () if (self.mechanism, self.clock) != (Mechanism::Nanosleep, ClockName::Monotonic) => {
                "its own timer on CLOCK_MONOTONIC: no --mechanism, no --clock"
            }
            () if self.missed != MissedPolicy::Skip => "releases that it skips: no --missed",
            () if self.threads.is_some() || self.floating => {
                "one thread on each of --cpus: no --threads"
            }
            () if self.legs => "legs anyway: no --legs",
            () => return Ok(()),
        };
        Err(format!("--instrument timerlat has {wrong}"))
    }
}

/// The first that applies, as an error.
fn first_refused(refused: &[(bool, &str)]) -> Result<(), String> {
    let first = refused.iter().find(|(applies, _)| *applies);
    first.map_or(Ok(()), |(_, text)| Err(text.to_string()))
}

/// Half a second, in nanoseconds.
const LONGEST_PART: u64 = 500_000_000;
/// What the kernel's timerlat takes, which counts in microseconds.
const TIMERLAT_PERIODS: std::ops::RangeInclusive<Nanos> = Nanos(100_000)..=Nanos(1_000_000_000);
/// More threads than this are a mistake in the order, not a measurement.
pub const MOST_THREADS: u32 = 4096;
/// A day; a longer period is taken for a mistake.
const LONGEST_PERIOD: Nanos = Nanos(86_400_000_000_000);
/// The kernel's smallest budget of SCHED_DEADLINE.
const SMALLEST_RUNTIME: Nanos = Nanos(1024);

impl Policy {
    fn check(self) -> Result<(), String> {
        match self {
            Policy::Fifo { priority } | Policy::Rr { priority }
                if !(1..=99).contains(&priority) =>
            {
                Err(format!("--priority {priority}: expected 1 (low) to 99 (high)"))
            }
            Policy::Deadline { runtime_ns, deadline_ns, period_ns }
                if !(SMALLEST_RUNTIME <= runtime_ns
                    && runtime_ns <= deadline_ns
                    && deadline_ns <= period_ns) =>
            {
                Err(format!(
                    "--policy deadline:{runtime_ns}/{deadline_ns}/{period_ns}: expected 1024 ns \
                     <= runtime <= deadline <= period"
                ))
            }
            _ => Ok(()),
        }
    }
}
