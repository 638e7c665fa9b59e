//! How threads, agent and guest ended.

use super::kinds::{FindingWords, Said, Worded, words};
use crate::terms::VIRTUAL_TIME_SHOWS;
use latlab_model::Nanos;
use latlab_model::finding::{CpuRate, EndFinding};
use latlab_model::run::EndReason;
use latlab_model::shell::Line;
use latlab_model::units::{counted, percent};

words! { EndFinding {
    /// A thread ended before the others. latlab stops a thread that has not slept for seconds, so that the
    /// machine does not hang. Not invalid if its CPU went offline or the thread ran without sleeping.
    ThreadEndedEarly
    { reason: EndReason::CpuOffline } =>
        says "The thread ended early: its CPU was taken offline.";
    { reason: EndReason::RanAway } =>
        says "latlab stopped the thread, because it ran for seconds without sleeping.";
        remedy "Find out what keeps the CPU busy, or use a longer --period.";
    { reason: EndReason::RecorderFull } =>
        says "The thread ended early: its recorder was full.";
    { reason: EndReason::Failed } =>
        says "The thread ended early: a system call of its loop failed.";
    { reason: EndReason::Lost } =>
        says "The thread was lost before the end of the run.";
    { reason: EndReason::Finished | EndReason::Interrupted | EndReason::StopAbove | EndReason::Decided } =>
        says "The thread ended before the others.";

    /// At the end of the run a thread had not had its CPU for a second or more.
    ThreadStarved
    { cpu, moved_to } if moved_to.is_empty() =>
        says "At the end of the run the thread could not run on {cpu}, which a thread of a higher priority kept \
              busy. It was made an ordinary thread to end, so its last latency is at least as long as it says.",
            cpu = cpu_or_any(*cpu);
        remedy FIND_BUSY;
    { cpu, moved_to } =>
        says "At the end of the run the thread could not run on {cpu}, which a thread of a higher priority kept \
              busy. It was moved to CPU {moved_to} to end, so its last latency is at least as long as it says.",
            cpu = cpu_or_any(*cpu);
        remedy FIND_BUSY;

    /// The agent was stopped for a while and then continued.
    AgentStopped { times, length_ns } =>
        says "The agent was stopped {times} from outside, for {length_ns} in all: latencies of that time are \
              those of the stop.",
            times = counted(*times, "time", "times");
        remedy "Find out what stopped it (SIGSTOP, a debugger), and measure again.";

    /// A thread did not report its end.
    ThreadLost {} =>
        says "The thread did not report its end, so its counts cannot be checked.";
        remedy "Measure again; if it happens again, report it.";

    /// latlab was killed, its disk was full, or the connection to the agent was lost.
    StreamLost
    { measured_to: Some(measured_to) } =>
        says "The stream ended early: latlab was killed, its disk was full, or the connection to the agent was \
              lost. The run contains all data up to {measured_to}.";
        remedy SEE_DISK;
    { measured_to: None } =>
        says "The stream ended early: latlab was killed, its disk was full, or the connection to the agent was \
              lost. No interval was stored.";
        remedy SEE_DISK;

    /// A guest was measured in virtual time; see [what virtual time
    /// shows](../guide/lab.md#what-it-shows-and-what-it-does-not).
    VirtualTime { target } =>
        says "Measured in virtual time on {target}: {shows}. Times of day are those of the guest.",
            shows = VIRTUAL_TIME_SHOWS;

    /// Wires between lines of an emulated board are a program of the host.
    WireByHost
    { wires, has_breakdown: true } =>
        says "{wires} a program of the host: how long an edge takes is up to the host, and differs from run to \
              run. Wake-up and answer are in virtual time.",
            wires = the_wires(wires);
        remedy "Compare wake-up and answer, not the whole.";
    { wires, has_breakdown: false } =>
        says "{wires} a program of the host: how long an edge takes is up to the host, and differs from run to \
              run. What the responder itself takes is in virtual time.",
            wires = the_wires(wires);
        remedy "Compare the median with others of this machine.";

    /// A guest was measured in the host's time (`--realtime`).
    GuestNoisy { target, accelerator } =>
        says "Measured on {target} in the host's time, with {accelerator}: every latency includes delays of the \
              emulator and of the host. The figures are not those of a real machine.";
        remedy "Omit --realtime to measure in virtual time.";

    /// A fault was injected (`--fault`): the run is a test.
    PlantedFault { fault } =>
        says "A fault was injected on purpose: {fault}.";

    /// The user stopped a guest.
    GuestEnded {} =>
        says "The guest was stopped from outside. Up to half a second of its time is missing.";

    /// A guest needed more than four minutes of wall time for each of its seconds, and was stopped.
    GuestTimeLimit { limit_ns } =>
        says "The guest was stopped after {limit_ns} of wall time, the limit for a run of this length. Up to \
              half a second of its time is missing.";
        remedy "Use a shorter run, a smaller load, or a less busy host.";

    /// The emulator of a guest ended before the guest did. The console is among the files of the run.
    EmulatorFailed
    { status, last_line: Some(last_line) } =>
        says "The emulator ended with {status}. Its last line: {last_line}.";
    { status, last_line: None } =>
        says "The emulator ended with {status}.";

    /// The emulator of a guest in virtual time had to share its CPU of the host.
    HostCrowded { waited_share } =>
        says "The emulator waited for its CPU for {waited_share} of the wall time, because the host was busy. \
              QEMU may then set a timer some hundred instructions late: another run with this seed can differ \
              in a few latencies.",
            waited_share = percent(*waited_share);
        remedy "If runs must be identical, leave a CPU of the host free for each guest.";

    /// The connection to a board, or its agent, was lost before the run ended. The agent ends by itself and
    /// restores the board; the run contains all data up to then.
    BoardLost { target, reason } =>
        says "The agent on {target}, or the link to it, was lost: {reason}.";
        remedy "See what broke the link (power, cable, network, ssh), and measure again; --detach measures \
                without a link.";

    /// The clock of a board shows another day.
    BoardClockOff
    { off_ns } if *off_ns < Nanos::ZERO =>
        says "The clock of the board is {days} behind. The times of the run are those of this machine.",
            days = days(*off_ns);
        remedy "Set it on the board, with `date -s` or NTP.";
    { off_ns } =>
        says "The clock of the board is {days} ahead. The times of the run are those of this machine.",
            days = days(*off_ns);
        remedy "Set it on the board, with `date -s` or NTP.";

    /// What the stream of a board cost its link. A longer `--telemetry` and no `--samples` make it less.
    BoardTraffic { bytes, length_ns } =>
        says "The stream took {rate} kB/s of the board's link. The interrupts of that are in the telemetry.",
            rate = format!("{:.1}", *bytes as f64 / length_ns.as_secs_f64().max(1e-9) / 1e3);

    /// How often the network interrupted the CPUs of a board while it was measured: softirqs `NET_RX` and
    /// `NET_TX`, those of the link among them. `--tune irqs=away` moves them off the measured CPUs, `--detach`
    /// measures without the link.
    BoardInterrupts { cpus } =>
        says "Softirqs of the network: {cpus}.", cpus = rates(cpus);

    /// The stream of a detached run became as long as it may, so that it does not fill the board, and the run
    /// ended.
    DetachedBound { most_bytes } =>
        says "The run ended when its stream on the board reached its limit of {most} MB.",
            most = format!("{:.1}", *most_bytes as f64 / 1e6);
        remedy "Make room on the board, name a larger folder there with --board-folder, or measure less.";

    /// The command of `--on-spike` ended with an error, could not be started, or ran too long.
    SpikeCommandFailed { failed, started } =>
        says "The spike command failed {failed}; it was started {started}.",
            failed = counted(*failed, "time", "times"), started = counted(*started, "time", "times");
        remedy "Run it by hand with a line of JSON on its standard input.";
}}

const FIND_BUSY: &str = "Find out what kept the CPU busy at a priority above that of the thread.";
const SEE_DISK: &str =
    "See whether the disk was full; if memory ran out, the kernel log names what was killed.";

fn cpu_or_any(cpu: Option<u32>) -> String {
    cpu.map_or("a CPU".to_string(), |cpu| format!("CPU {cpu}"))
}

/// `The wire A to B is`.
fn the_wires(wires: &[String]) -> String {
    match wires {
        [wire] => format!("The wire {wire} is"),
        wires => format!("The wires {} are", wires.join(" and ")),
    }
}

fn days(off: Nanos) -> String {
    counted((off.as_secs_f64() / 86_400.0).abs().round() as u64, "day", "days")
}

/// `12.0/s on CPU 1, 3.0/s on CPU 2`.
fn rates(cpus: &[CpuRate]) -> String {
    let rate = |one: &CpuRate| format!("{:.1}/s on CPU {}", one.per_second, one.cpu);
    cpus.iter().map(rate).collect::<Vec<_>>().join(", ")
}
