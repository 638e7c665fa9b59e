//! Findings about how threads, agent and guest ended.

use super::kinds::{FindingEntry, findings};
use super::{ERROR, INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::guest::VIRTUAL_TIME_SHOWS;
use crate::run::EndReason;
use crate::shell::Line;
use crate::units::{counted, percent};
use crate::{CpuSet, Nanos, Target};
use serde::{Deserialize, Serialize};

/// How often something was done on a CPU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuRate {
    /// The CPU.
    pub cpu: u32,
    /// Times a second.
    pub per_second: f64,
}

findings! {
    /// How threads, agent and guest ended.
    EndFinding {
        /// A thread ended before the others. The sentence says why.
        ThreadEndedEarly = "thread-ended-early" (
            "error",
            "invalid, but not if its CPU went offline or the thread ran without sleeping",
            "Find out what keeps the CPU busy: latlab stops a thread that has not slept for \
             seconds, so that the machine does not hang."
        ) {
            /// Why.
            reason: EndReason,
        }
        /// At the end of the run a thread had not had its CPU for a second or more, because another of a
        /// higher priority kept it busy. It was given other CPUs to end, as an ordinary thread: its last
        /// latency is at least as long as it says.
        ThreadStarved = "thread-starved" (
            "warning",
            "no pass",
            "Find out what kept the CPU busy at a priority above that of the thread."
        ) {
            /// Its CPU; `None` for a floating thread.
            cpu: Option<u32>,
            /// The CPUs that it was given; none if there were no others.
            moved_to: CpuSet,
        }
        /// The agent was stopped for a while and then continued: latencies of that time are those of the stop.
        AgentStopped = "agent-stopped" (
            "warning",
            "no pass",
            "Find out what stopped it (SIGSTOP, a debugger), and measure again."
        ) {
            /// How often.
            times: u64,
            /// How long in all, seen every 50 ms.
            length_ns: Nanos,
        }
        /// A thread did not report its end, so its counts cannot be checked.
        ThreadLost = "thread-lost" (
            "error",
            "invalid",
            "Measure again; if it happens again, report it."
        ) {}
        /// latlab was killed, its disk was full, or the connection to the agent was lost. The run
        /// contains all data up to then.
        StreamLost = "stream-lost" (
            "error",
            "none",
            "See whether the disk was full; if memory ran out, the kernel log names what was killed."
        ) {
            /// End of the last stored interval, in UTC; none without an interval.
            measured_to: Option<String>,
        }
        /// A guest was measured in virtual time: one instruction takes one nanosecond.
        VirtualTime = "virtual-time" (
            "info",
            "none",
            "See [what virtual time shows](../guide/lab.md#what-it-shows-and-what-it-does-not)."
        ) {
            /// The guest.
            target: Target,
        }
        /// Wires between lines of an emulated board are a program of the host: how long an edge takes over
        /// them is not in virtual time.
        WireByHost = "wire-by-host" (
            "info",
            "none",
            "Compare the legs wake-up and answer, or medians with others of this machine."
        ) {
            /// The wires, in words.
            wires: Vec<String>,
            /// Whether responses have legs, of which only one contains a wire.
            has_legs: bool,
        }
        /// A guest was measured in the host's time (`--realtime`): every latency includes delays of
        /// the emulator and the host.
        GuestNoisy = "guest-noisy" ("warning", "none", "Omit `--realtime`.") {
            /// The guest.
            target: Target,
            /// What it ran by: `kvm`, `tcg`.
            accelerator: String,
        }
        /// A fault was injected on purpose (`--fault`).
        PlantedFault = "planted-fault" ("info", "none", "Nothing: the run is a test.") {
            /// The fault, as it was asked for.
            fault: String,
        }
        /// The user stopped a guest. Up to half a second of its time is missing.
        GuestEnded = "guest-ended" ("info", "none", "Nothing.") {}
        /// A guest needed more than four minutes of wall time for each of its seconds, and was
        /// stopped.
        GuestTimeLimit = "guest-time-limit" (
            "warning",
            "none",
            "Use a shorter run, a smaller load, or a less busy host."
        ) {
            /// The limit, in wall time.
            limit_ns: Nanos,
        }
        /// The emulator of a guest ended before the guest did. The sentence has its last line.
        EmulatorFailed = "emulator-failed" (
            "error",
            "none",
            "Fix what the line says; the console is among the files of the run."
        ) {
            /// How it ended.
            status: String,
            /// The last line that it printed.
            last_line: Option<String>,
        }
        /// The emulator of a guest in virtual time had to share its CPU of the host. QEMU may then
        /// set a timer some hundred instructions late, and a second run of this seed can differ in
        /// a few latencies.
        HostCrowded = "host-crowded" (
            "info",
            "none",
            "If runs must be identical, leave a CPU of the host free for each guest."
        ) {
            /// Share of the wall time in which the emulator waited for its CPU.
            waited_share: f64,
        }
        /// The connection to a board, or its agent, was lost before the run ended. The agent ends by
        /// itself and restores the board; the run contains all data up to then.
        BoardLost = "board-lost" (
            "error",
            "none",
            "Fix what the sentence says, and measure again."
        ) {
            /// The board.
            target: String,
            /// What ended it.
            reason: String,
        }
        /// The clock of a board shows another day. The times of the run are those of this machine.
        BoardClockOff = "board-clock-off" ("info", "none", "Set it: `date -s` or NTP, on the board.") {
            /// How far it is ahead.
            off_ns: Nanos,
        }
        /// What the stream of a board cost its link. Its interrupts are in the telemetry.
        BoardTraffic = "board-traffic" ("info", "none", "Nothing. A longer `--telemetry` and no `--samples` make it less.") {
            /// Bytes that came while it was measured.
            bytes: u64,
            /// In this time.
            length_ns: Nanos,
        }
        /// How often the network interrupted the CPUs of a board while it was measured: softirqs `NET_RX`
        /// and `NET_TX`, those of the link among them.
        BoardInterrupts = "board-interrupts" (
            "info",
            "none",
            "Move them off the measured CPUs with `--tune irqs=away`, or measure without the link: `--detach`."
        ) {
            /// Of each CPU that had any.
            cpus: Vec<CpuRate>,
        }
        /// The stream of a detached run became as long as it may, so that it does not fill the board,
        /// and the run ended.
        DetachedBound = "detached-bound" (
            "warning",
            "none",
            "Make room on the board, name a larger folder there with `--board-folder`, or measure less."
        ) {
            /// The bound.
            most_bytes: u64,
        }
        /// The command of `--on-spike` ended with an error, could not be started, or ran too long.
        SpikeCommandFailed = "spike-command-failed" (
            "warning",
            "none",
            "Run it by hand with a line of JSON on its standard input."
        ) {
            /// Times it failed.
            failed: u64,
            /// Times it was started.
            started: u64,
        }
    }
}

impl EndFinding {
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        use EndFinding::*;
        match self {
            ThreadEndedEarly { reason: EndReason::CpuOffline | EndReason::RanAway }
            | StreamLost { .. }
            | BoardLost { .. }
            | EmulatorFailed { .. } => ERROR,
            ThreadEndedEarly { .. } | ThreadLost { .. } => INVALID,
            // How long it would have waited is unknown.
            ThreadStarved { .. } => NO_PASS,
            // Nor is it known what the machine would have shown meanwhile.
            AgentStopped { .. } => NO_PASS,
            GuestNoisy { .. }
            | GuestTimeLimit { .. }
            | DetachedBound { .. }
            | SpikeCommandFailed { .. } => WARNING,
            VirtualTime { .. }
            | WireByHost { .. }
            | PlantedFault { .. }
            | GuestEnded { .. }
            | HostCrowded { .. }
            | BoardClockOff { .. }
            | BoardTraffic { .. }
            | BoardInterrupts { .. } => INFO,
        }
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        use EndFinding::*;
        match self {
            ThreadEndedEarly { reason } => ended_early(*reason).to_string(),
            ThreadStarved { cpu, moved_to } => {
                let cpu = cpu.map_or("a CPU".to_string(), |cpu| format!("CPU {cpu}"));
                let how = match moved_to.is_empty() {
                    true => "made an ordinary thread".to_string(),
                    false => format!("moved to CPU {moved_to}"),
                };
                format!(
                    "At the end of the run the thread could not run on {cpu}, which a thread of a \
                     higher priority kept busy. It was {how} to end, so its last latency is at least as \
                     long as it says."
                )
            }
            AgentStopped { times, length_ns } => format!(
                "The agent was stopped {} from outside, for {length_ns} in all: latencies of that time \
                 are those of the stop.",
                counted(*times, "time", "times")
            ),
            ThreadLost {} => {
                "The thread did not report its end, so its counts cannot be checked.".to_string()
            }
            StreamLost { measured_to } => {
                let last = match measured_to {
                    Some(to) => format!("The run contains all data up to {to}"),
                    None => "No interval was stored".to_string(),
                };
                format!(
                    "The stream ended early: latlab was killed, its disk was full, or the \
                     connection to the agent was lost. {last}."
                )
            }
            VirtualTime { target } => format!(
                "Measured in virtual time on {target}: {VIRTUAL_TIME_SHOWS}. Times of day are \
                 those of the guest."
            ),
            WireByHost { wires, has_legs } => {
                let (be, they) = if wires.len() == 1 { ("is", "it") } else { ("are", "them") };
                format!(
                    "{} {} {be} a program of the host: how long an edge takes over {they} is up to the host, \
                     and differs from run to run. {} in virtual time.",
                    if wires.len() == 1 { "The wire" } else { "The wires" },
                    wires.join(" and "),
                    if *has_legs {
                        "Wake-up and answer are"
                    } else {
                        "What the responder itself takes is"
                    }
                )
            }
            GuestNoisy { target, accelerator } => format!(
                "Measured on {target} in the host's time, with {accelerator}: every latency \
                 includes delays of the emulator and of the host. The figures are not those of a \
                 real machine."
            ),
            PlantedFault { fault } => format!("A fault was injected on purpose: {fault}."),
            GuestEnded {} => {
                "The guest was stopped from outside. Up to half a second of its time is missing."
                    .to_string()
            }
            GuestTimeLimit { limit_ns } => format!(
                "The guest was stopped after {limit_ns} of wall time, the limit for a run of this \
                 length. Up to half a second of its time is missing."
            ),
            EmulatorFailed { status, last_line } => {
                let said = last_line.as_ref().map(|line| format!(" Its last line: {line}."));
                format!("The emulator ended with {status}.{}", said.unwrap_or_default())
            }
            HostCrowded { waited_share } => format!(
                "The emulator waited for its CPU for {} of the wall time, because the host was \
                 busy. QEMU may then set a timer some hundred instructions late: another run with \
                 this seed can differ in a few latencies.",
                percent(*waited_share)
            ),
            BoardLost { target, reason } => {
                format!("The agent on {target}, or the link to it, was lost: {reason}.")
            }
            DetachedBound { most_bytes } => {
                let megabytes = *most_bytes as f64 / 1e6;
                format!(
                    "The run ended when its stream on the board reached its limit of \
                     {megabytes:.1} MB."
                )
            }
            BoardTraffic { bytes, length_ns } => {
                let rate = *bytes as f64 / length_ns.as_secs_f64().max(1e-9) / 1e3;
                format!(
                    "The stream took {rate:.1} kB/s of the board's link. The interrupts of that \
                     are in the telemetry."
                )
            }
            BoardInterrupts { cpus } => {
                let of_cpu = |one: &CpuRate| format!("{:.1}/s on CPU {}", one.per_second, one.cpu);
                let each: Vec<String> = cpus.iter().map(of_cpu).collect();
                format!("Softirqs of the network: {}.", each.join(", "))
            }
            BoardClockOff { off_ns } => {
                let way = if *off_ns < Nanos::ZERO { "behind" } else { "ahead" };
                let days = (off_ns.as_secs_f64() / 86_400.0).abs().round() as u64;
                format!(
                    "The clock of the board is {} {way}. The times of the run are those of this \
                     machine.",
                    counted(days, "day", "days")
                )
            }
            SpikeCommandFailed { failed, started } => format!(
                "The spike command failed {}; it was started {}.",
                counted(*failed, "time", "times"),
                counted(*started, "time", "times")
            ),
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        use EndFinding::*;
        let remedy = match self {
            ThreadLost {} => "Measure again; if it happens again, report it.",
            StreamLost { .. } => {
                "See whether the disk was full; if memory ran out, the kernel log names what was \
                 killed."
            }
            GuestNoisy { .. } => "Omit --realtime to measure in virtual time.",
            GuestTimeLimit { .. } => "Use a shorter run, a smaller load, or a less busy host.",
            BoardLost { .. } => {
                "See what broke the link (power, cable, network, ssh), and measure again; \
                 --detach measures without a link."
            }
            DetachedBound { .. } => {
                "Make room on the board, name a larger folder there with --board-folder, or \
                 measure less."
            }
            BoardClockOff { .. } => "Set it on the board, with `date -s` or NTP.",
            HostCrowded { .. } => {
                "If runs must be identical, leave a CPU of the host free for each guest."
            }
            SpikeCommandFailed { .. } => {
                "Run it by hand with a line of JSON on its standard input."
            }
            ThreadEndedEarly { reason: EndReason::RanAway } => {
                "Find out what keeps the CPU busy, or use a longer --period."
            }
            AgentStopped { .. } => {
                "Find out what stopped it (SIGSTOP, a debugger), and measure again."
            }
            ThreadStarved { .. } => {
                "Find out what kept the CPU busy at a priority above that of the thread."
            }
            WireByHost { has_legs: true, .. } => "Compare wake-up and answer, not the whole.",
            WireByHost { .. } => "Compare the median with others of this machine.",
            ThreadEndedEarly { .. }
            | VirtualTime { .. }
            | PlantedFault { .. }
            | BoardTraffic { .. }
            | BoardInterrupts { .. }
            | GuestEnded {}
            | EmulatorFailed { .. } => return None,
        };
        Some(Line::new(remedy))
    }
}

fn ended_early(reason: EndReason) -> &'static str {
    match reason {
        EndReason::CpuOffline => "The thread ended early: its CPU was taken offline.",
        EndReason::RanAway => {
            "latlab stopped the thread, because it ran for seconds without sleeping."
        }
        EndReason::RecorderFull => "The thread ended early: its recorder was full.",
        EndReason::Failed => "The thread ended early: a system call of its loop failed.",
        EndReason::Lost => "The thread was lost before the end of the run.",
        EndReason::Finished
        | EndReason::Interrupted
        | EndReason::StopAbove
        | EndReason::Decided => "The thread ended before the others.",
    }
}
