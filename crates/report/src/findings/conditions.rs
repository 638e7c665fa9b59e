//! How the conditions changed during a run, each with its time and the latencies of that time.

use super::kinds::{FindingWords, Said, Worded, words};
use latlab_model::Nanos;
use latlab_model::finding::{
    CompetingThread, ConditionFinding, Latencies, LatencyComparison, RT_THROTTLING, ThreadShare,
    Throttling, When,
};
use latlab_model::shell::{self, Line};
use latlab_model::units::{bytes, counted, percent};

words! { ConditionFinding {
    /// A CPU was slowed down by heat or a weak supply: the flags of a Raspberry Pi's firmware, a counter of
    /// throttling, or a lower limit of its frequency.
    Throttled
    { by: Throttling::UnderVoltage, when, latencies } =>
        says "The firmware reports that the supply voltage was too low {when}. {latencies}",
            when = during(*when), latencies = compared(latencies);
        remedy COOL;
    { by: Throttling::FrequencyCapped, when, latencies } =>
        says "The firmware reports that the frequency was capped {when}. {latencies}",
            when = during(*when), latencies = compared(latencies);
        remedy COOL;
    { by: Throttling::CpuThrottled, when, latencies } =>
        says "The firmware reports that the CPU was throttled {when}. {latencies}",
            when = during(*when), latencies = compared(latencies);
        remedy COOL;
    { by: Throttling::SoftTemperatureLimit, when, latencies } =>
        says "The firmware reports that the soft temperature limit was reached {when}. {latencies}",
            when = during(*when), latencies = compared(latencies);
        remedy COOL;
    { by: Throttling::Counter { subject, count }, when, latencies } =>
        says "Heat throttled {subject} {times} {when}. {latencies}",
            times = counted(*count, "time", "times"), when = during(*when), latencies = compared(latencies);
        remedy COOL;
    { by: Throttling::LowerLimit { cpus, low_mhz, high_mhz }, when, latencies } =>
        says "The frequency of CPU {cpus} was limited to {low} of {high} MHz {when}. {latencies}",
            low = whole(*low_mhz), high = whole(*high_mhz), when = during(*when),
            latencies = compared(latencies);
        remedy COOL;

    /// A measured CPU ran at frequencies more than 5 % apart.
    FrequencyChanged { cpus, low_mhz, high_mhz, when, latencies } =>
        says "CPU {cpus} ran at {low} to {high} MHz, below its highest frequency {when}. {latencies}",
            low = whole(*low_mhz), high = whole(*high_mhz), when = during(*when),
            latencies = compared(latencies);
        remedy "Fix the frequency: see `latlab doctor`.";

    /// The temperatures of the first and the last tenth of the run were at least 5 C apart. A warning from
    /// 10 C on.
    TemperatureDrift { sensor, first_c, last_c, latencies } =>
        says "The temperature of {sensor} changed from {first} C in the first tenth of the run to {last} C in \
              the last tenth. {latencies}",
            first = format!("{first_c:.1}"), last = format!("{last_c:.1}"), latencies = compared(latencies);
        remedy "Let the machine warm up under its load before the run: --warm-up.";

    /// The hypervisor took time from a measured CPU: for more than 0.1 % of the run, or 2 % between two
    /// readings.
    Steal
    { cpu, mean_share, worst_share, when: Some(when), latencies } =>
        says "The hypervisor took {mean} of CPU {cpu} over the run, and up to {worst} between two readings, \
              {when}. {latencies}",
            mean = percent(*mean_share), worst = percent(*worst_share), when = during(*when),
            latencies = compared(latencies);
        remedy BARE_METAL;
    { cpu, mean_share, worst_share, when: None, latencies } =>
        says "The hypervisor took {mean} of CPU {cpu} over the run, and up to {worst} between two readings. \
              {latencies}",
            mean = percent(*mean_share), worst = percent(*worst_share), latencies = compared(latencies);
        remedy BARE_METAL;

    /// Pages were swapped out or in.
    Swapped { pages, when, latencies } =>
        says "{pages} swapped {when}. {latencies}",
            pages = counted(*pages, "page was", "pages were"), when = during(*when),
            latencies = compared(latencies);
        remedy "Turn swap off for the run: `swapoff -a`.";

    /// A thread with the same or a higher priority than the measuring threads ran on a measured CPU.
    CompetingThread { cpus, threads, others, latencies } =>
        says "Threads of the same or a higher priority ran on CPU {cpus}: {threads}{others}. {latencies}",
            threads = competing(threads),
            others = if *others == 0 { String::new() } else { format!("; and {others} more") },
            latencies = compared(latencies);
        if !threads.is_empty() => remedy
            "Move them away (`taskset -cp CPUS {id}`) or lower their priority (`chrt -o -p 0 {id}`).",
            id = shell::word(threads[0].id.to_string());

    /// The utilisation of a measured CPU differed by more than 25 % of its time from its usual value in this
    /// run. The busiest threads of that time are named. Separate runs show what each load does.
    LoadChanged { cpu, share, usual_share, when, threads, shorter_changes, latencies } =>
        says "The load changed: CPU {cpu} was {share} busy {when}, usually {usual}{details}. {latencies}",
            share = whole_percent(*share), when = during(*when), usual = whole_percent(*usual_share),
            details = details(threads, *shorter_changes), latencies = compared(latencies);

    /// The run was to be without a load, and other work took more than 25 % of a measured CPU.
    OtherWork { cpus, share, threads } =>
        says "The run is without a load, but other work took up to {share} of CPU {cpus}{details}.",
            share = whole_percent(*share), details = details(threads, 0);
        remedy "Stop the other programs, or name them as a load: --load.";

    /// A tenth of the memory or more was taken within ten readings. A warning if less than 5 % was left.
    MemoryTaken
    { taken_bytes, total_bytes, least_bytes, when: Some(when), latencies, .. } =>
        says "Memory use rose: {taken} of {total} were taken within a few seconds; at least {least} were left, \
              {when}. {latencies}",
            taken = bytes(*taken_bytes), total = bytes(*total_bytes), least = bytes(*least_bytes),
            when = during(*when), latencies = compared(latencies);
    { taken_bytes, total_bytes, least_bytes, when: None, latencies, .. } =>
        says "Memory use rose: {taken} of {total} were taken within a few seconds; at least {least} were left. \
              {latencies}",
            taken = bytes(*taken_bytes), total = bytes(*total_bytes), least = bytes(*least_bytes),
            latencies = compared(latencies);

    /// The kernel switched to another clock source during the run.
    ClocksourceChanged { before, after, since_start_ns, latencies } =>
        says "The clock source changed from {before} to {after} at {at}. {latencies}",
            at = since_start(*since_start_ns), latencies = compared(latencies);
        remedy "Look for 'clocksource' in the kernel log.";

    /// The firmware interrupted all CPUs (counted on Intel processors).
    Smi { count, when, latencies } =>
        says "The firmware stopped all CPUs for {interrupts} {when}. {latencies}",
            interrupts = counted(*count, "system-management interrupt", "system-management interrupts"),
            when = during(*when), latencies = compared(latencies);
        remedy "Check the firmware settings: legacy USB, power management.";

    /// The kernel log reported something that concerns latency, such as `rt-throttling`, `lockup`,
    /// `rcu-stall`, `heat`.
    KernelEvent { event, count, when, latencies } =>
        says "The kernel log reported '{event}' {times} {when}. {latencies}",
            times = counted(*count, "time", "times"), when = during(*when), latencies = compared(latencies);
        if event == RT_THROTTLING => remedy
            "Find the real-time thread that never sleeps: `ps -eLo pid,tid,cls,rtprio,pcpu,comm`.";
        remedy "Read the kernel log of that time: `journalctl --dmesg`.";

    /// Readings are missing. They are not replaced.
    TelemetryLost { readings } =>
        says "{readings} missing: the machine gave no time for them, or the stream was not read in time or is \
              damaged.",
            readings = counted(*readings, "telemetry reading is", "telemetry readings are");

    /// Telemetry was not read for more than three times its usual distance: the agent did not get a CPU, or a
    /// kernel file did not answer.
    TelemetryGap
    { gaps: ..=1, when, usual_ns, latencies } =>
        says "Telemetry was not read for {length} {when}: the conditions of that time are not known. Usually \
              it is read every {usual}. {latencies}",
            length = seconds(when.to_ns - when.from_ns), when = during(*when), usual = seconds(*usual_ns),
            latencies = compared(latencies);
        remedy FREE_A_CPU;
    { gaps, when, usual_ns, latencies } =>
        says "Telemetry was not read for {length} {when}, and in {others}: the conditions of that time are not \
              known. Usually it is read every {usual}. {latencies}",
            length = seconds(when.to_ns - when.from_ns), when = during(*when),
            others = counted(gaps - 1, "shorter gap", "shorter gaps"), usual = seconds(*usual_ns),
            latencies = compared(latencies);
        remedy FREE_A_CPU;

    /// The readings took more than 0.5 % of a CPU.
    TelemetryCost { cpu_share, limit_share } =>
        says "Telemetry took {cpu_share} of a CPU; the limit is {limit_share}.",
            cpu_share = percent(*cpu_share), limit_share = percent(*limit_share);
        remedy "Read telemetry less often: --telemetry 5s, or --telemetry off.";
}}

const COOL: &str = "Cool the machine; use a stronger supply.";
const BARE_METAL: &str = "Measure on bare metal, or give the guest dedicated CPUs.";
const FREE_A_CPU: &str =
    "Leave one CPU without a measuring thread (`--cpus`), or load the machine less.";

/// `from +1.0 s to +2.5 s`.
fn during(when: When) -> String {
    format!("from {} to {}", since_start(when.from_ns), since_start(when.to_ns))
}

fn since_start(time: Nanos) -> String {
    format!("+{}", seconds(time))
}

fn seconds(time: Nanos) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn whole(megahertz: f64) -> String {
    format!("{megahertz:.0}")
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// The latencies during a finding, and those of the rest of the run.
fn compared(latencies: &LatencyComparison) -> String {
    let (one, many) = match latencies.recorded.as_str() {
        "gap" => ("gap", "Gaps"),
        _ => ("latency", "Latencies"),
    };
    let figures = |of: &Latencies| format!("p99 {}, largest {}", of.p99_ns, of.max_ns);
    match (&latencies.then, &latencies.otherwise) {
        (None, _) => format!("No {one} was recorded during that time."),
        (Some(then), Some(otherwise)) => {
            format!(
                "{many} during that time: {}; otherwise: {}.",
                figures(then),
                figures(otherwise)
            )
        }
        (Some(then), None) => format!("{many} over the whole run: {}.", figures(then)),
    }
}

fn competing(threads: &[CompetingThread]) -> String {
    let each = threads.iter().map(|thread| {
        let CompetingThread { name, id, policy, mean_share, peak_share, peak_at_ns } = thread;
        format!(
            "'{name}' ({id}, {policy}) {} of a CPU, up to {} at {}",
            percent(*mean_share),
            whole_percent(*peak_share),
            since_start(*peak_at_ns)
        )
    });
    each.collect::<Vec<_>>().join("; ")
}

/// `; 'cc1' (7) took 80 %; and 2 shorter changes`.
fn details(threads: &[ThreadShare], shorter_changes: u64) -> String {
    let each = threads.iter().map(|ThreadShare { name, id, share }| {
        format!("'{name}' ({id}) took {}", whole_percent(*share))
    });
    let each: Vec<String> = each.collect();
    let mut details =
        if each.is_empty() { String::new() } else { format!("; {}", each.join(", ")) };
    if shorter_changes > 0 {
        let more = counted(shorter_changes, "shorter change", "shorter changes");
        details += &format!("; and {more}");
    }
    details
}
