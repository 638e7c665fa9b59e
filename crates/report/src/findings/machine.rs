//! What the machine did.

use super::kinds::{FindingWords, Said, Worded, words};
use crate::units::four_digits;
use latlab_model::Nanos;
use latlab_model::finding::MachineFinding;
use latlab_model::nanos::SECOND;
use latlab_model::shell::{self, Line};
use latlab_model::units::{counted, grouped, percent, ratio};

words! { MachineFinding {
    /// A setting was requested, but a different value was read back: a priority, the memory lock, the idle
    /// states. See [rights without root](../guide/cron-and-systemd.md). Invalid where the figures are
    /// worthless without it.
    SettingRefused { setting, asked, applied, .. } =>
        says "The setting '{setting}' should be '{asked}', but is '{applied}'.";
        if setting == "memory lock" => remedy "Raise the limit (`ulimit -l unlimited`), or use sudo.";
        if setting == "idle states" => remedy
            "Use sudo, or let the user write to /dev/cpu_dma_latency. Otherwise every latency includes the exit \
             from deep idle states; if you want to measure that, use --idle-states system.";
        if setting.starts_with("tuning ") => remedy
            "Another program may set it at the same time, such as irqbalance, tuned or a power daemon: stop it \
             for the run.";
        if setting.ends_with(" that cannot be moved") => remedy
            "The kernel or the driver binds them to their CPUs. /proc/interrupts shows how often they occur: \
             measure a CPU without them.";
        // A command with this path and value would contain text from an untrusted run.
        if setting.contains('/') => remedy "Write it by hand, and see what the kernel says.";

    /// The machine was suspended during the run.
    Suspended { length_ns } =>
        says "The machine was suspended for {length_ns} during the run.";
        remedy "Measure under `systemd-inhibit --what=sleep`, or turn automatic suspend off.";

    /// CLOCK_REALTIME was set during the run. Invalid with `--clock realtime`, or `tai` when that was set as
    /// well; with another clock only the times of day are wrong.
    ClockStepped { by_ns, .. } =>
        says "CLOCK_REALTIME was set by {by_ns} during the run.";
        remedy "Let the time service finish its first synchronisation before the run.";

    /// The offset between CLOCK_TAI and CLOCK_REALTIME changed: because of a time service or a leap second.
    /// Invalid with `--clock tai`, if CLOCK_TAI itself was changed.
    TaiOffsetChanged { by_ns, .. } =>
        says "The offset between CLOCK_TAI and CLOCK_REALTIME changed by {by_ns}.";

    /// The run was too short to compare the clocks.
    ClocksUnknown {} =>
        says "The clocks were never compared, so a suspend or a clock change during the run would not be \
              detected.";

    /// A thread woke before its release.
    NegativeLatency { count, min_ns } =>
        says "{latencies} below zero (smallest: {min_ns}): the clock went backwards, or was set.",
            latencies = counted(*count, "latency is", "latencies are");
        remedy "Use --clock monotonic, and look for messages about the clock source in the kernel log.";

    /// A measured CPU was taken offline. The verdict is `inconclusive` unless it was a `fail` before.
    CpuOffline { cpu, noticed_within_ns } =>
        says "CPU {cpu} went offline, and its thread ended. The last {noticed_within_ns} of its cycles may \
              have run on another CPU.";

    /// The period is a multiple or a fraction of the kernel tick.
    PeriodAliasesTick
    { period_ns, tick_hz, tick_is_known: true, points, better_period_ns } =>
        says "Releases every {period_ns} hit a kernel tick of {tick} ({tick_hz} Hz) at the same {points} each \
              time: a disturbance by the tick is seen never or far too often.",
            tick = tick(*tick_hz), points = points_of_tick(*points);
        remedy "Use a period of {better_period_ns}.", better_period_ns = shell::time(*better_period_ns);
    { period_ns, tick_hz, tick_is_known: false, points, better_period_ns } =>
        says "Releases every {period_ns} may hit a kernel tick of {tick} ({tick_hz} Hz) at the same {points} \
              each time: a disturbance by the tick would then be seen never or far too often.",
            tick = tick(*tick_hz), points = points_of_tick(*points);
        remedy "Use a period of {better_period_ns}.", better_period_ns = shell::time(*better_period_ns);

    /// A spinning real-time thread lost the CPU for about as long as the fair server or RT throttling takes
    /// for ordinary threads; see [the instruments](../guide/instruments.md).
    ReserveTaken
    { gaps, taken_ns, spun_ns, in_pieces: false, reserve, .. } =>
        says "The kernel took the CPU for other threads: {gaps} as long as {by} takes it from a real-time \
              thread ({reserved} of each {period}). That is {share} of the time, and {taken_ns} of this \
              thread's noise.",
            gaps = counted(*gaps, "gap was", "gaps were"), by = reserve.by, reserved = reserve.taken_ns,
            period = reserve.period_ns, share = percent(ratio(*taken_ns, *spun_ns));
        remedy KEEP_OFF;
    { gaps, taken_ns, spun_ns, longest_ns, in_pieces: true, reserve } =>
        says "Other threads took {share} of the time in {gaps} of up to {longest_ns}. This may be the time \
              that {by} takes from a real-time thread, in pieces: {reserved_share} of the time ({reserved} of \
              each {period}).",
            share = percent(ratio(*taken_ns, *spun_ns)), gaps = counted(*gaps, "gap", "gaps"),
            by = reserve.by, reserved_share = percent(ratio(reserve.taken_ns, reserve.period_ns)),
            reserved = reserve.taken_ns, period = reserve.period_ns;
        remedy KEEP_OFF;

    /// A spinning thread slept for more than 1 % of the time.
    SpinRested { rested_ns, spun_ns } =>
        says "The thread slept for {share} of the time, so that a machine whose CPUs all spin does not hang. \
              Noise during that time was not recorded.",
            share = percent(ratio(*rested_ns, *spun_ns));
        remedy "Leave a CPU free with --cpus; the thread then sleeps for only 50 us a second.";

    /// A thread missed more than a tenth of its releases.
    FrequentOverruns { overruns, due, period_ns } =>
        says "{overruns} of {due} releases were missed ({share}): the thread cannot keep a period of \
              {period_ns} here.",
            overruns = grouped(*overruns), due = grouped(*due),
            share = percent(*overruns as f64 / (*due).max(1) as f64);
        remedy "Use a longer --period, or find out what uses the CPU.";

    /// The maximum of the first interval is more than twice that of the rest of the run, which is at least 20
    /// times as long.
    EarlyMaximum { max_ns, within_ns, later_max_ns, later_ns } =>
        says "The maximum of {max} fell in the first {within_ns}; in the {later_ns} after it the maximum was {later}.",
            max = four_digits(*max_ns), later = four_digits(*later_max_ns);
        remedy "If it belongs to the start, leave it out with a longer --warm-up; if your program must keep \
                its deadline from the start on, it counts.";

    /// Page faults happened in the measuring loop. Invalid if the memory could not be locked under a
    /// real-time policy.
    PageFaults
    { count: 1, lock_refused } =>
        says "1 page fault happened in the measuring loop; the figures include it.";
        if *lock_refused => remedy LOCK_MEMORY;
    { count, lock_refused } =>
        says "{count} page faults happened in the measuring loop; the figures include them.",
            count = grouped(*count);
        if *lock_refused => remedy LOCK_MEMORY;
}}

const KEEP_OFF: &str = "Keep other threads off this CPU (isolcpus, cpusets), or use --policy other to measure \
                        what they take.";
const LOCK_MEMORY: &str = "Let the program lock its memory: raise RLIMIT_MEMLOCK, or use sudo.";

fn tick(hz: u32) -> Nanos {
    Nanos(SECOND.0 / i64::from(hz.max(1)))
}

fn points_of_tick(points: u64) -> String {
    match points {
        1 => "one point".to_string(),
        points => format!("{} points", grouped(points)),
    }
}
