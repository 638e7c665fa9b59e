//! The options, in the order of the help.

use super::values::*;
use super::{Access, Applies, Form, PlanOption};
use crate::Nanos;
use crate::fault::FAULT;
use crate::nanos::{MICROSECOND, duration};
use crate::plan::Instrument::{Attach, Cyclic, Handoff, Spin, Timerlat};
use crate::plan::{self, Instrument};
use crate::plan::{
    AttachTarget, ClockName, Detached, Mechanism, Method, OverrunPolicy, Phase, Plan, Releases,
    WakeBy, Workload,
};
use crate::sanitize::{plain_line, plain_name};
use crate::target::Target;

/// Heading of the options that name a program.
pub const WHICH_PROGRAM: &str = "Which program";
const HOW: &str = "Method";
const WHERE: &str = "CPUs and threads";
/// Heading of the options that name a target, shared with other commands.
pub const TARGET: &str = "Target";
pub(super) const WHEN: &str = "Releases";
const UNTIL: &str = "Duration and limits";
const KEEP: &str = "What to store";
const LOADS: &str = "Loads";
const OTHER: &str = "Other";

const ALL: Applies = Applies::to(&[Cyclic, Handoff, Spin, Timerlat, Attach]);
const RUN: Applies = Applies::to(&[Cyclic, Handoff, Spin, Timerlat]);
const HANDOFF: Applies = Applies::to(&[Handoff]);
const SPIN: Applies = Applies::to(&[Spin]);
const ATTACH: Applies = Applies::to(&[Attach]);

const NO_RELEASES: &str = "does not apply to spin, which has no releases";
const NO_SLEEP: &str = "does not apply to handoff, whose measured threads do not sleep";
const KERNEL_SLEEPS: &str = "does not apply to timerlat, where the kernel sleeps";
const OWN_THREADS: &str = "does not apply to attach: the program has its own threads";

/// The table: under each heading, the help of an option, then its name, form, the methods it
/// applies to, how its value is put into the plan, and how it is written again.
macro_rules! options {
    ($(in $group:ident; $($(#[doc = $help:literal])+ $name:literal: $form:expr, $applies:expr, $($at:expr),+;)+)+) => {
        /// All options. Two may share a name if no command knows both.
        pub const OPTIONS: &[PlanOption] = &[$($(PlanOption {
            name: $name,
            form: $form,
            group: $group,
            help: concat!($($help),+),
            applies: $applies,
            at: at!($($at),+),
        }),+),+];
    };
}

macro_rules! at {
    ($put:expr, $words:expr) => {
        Access { put: $put, words: $words }
    };
    ($access:expr) => {
        $access
    };
}

/// Access to a boolean in the plan.
macro_rules! flag {
    ($($at:ident).+) => { at!(|plan, _| on(&mut plan.$($at).+), |plan, _| flag(plan.$($at).+)) };
}

/// Access to an optional value.
macro_rules! given {
    ($($at:ident).+) => {
        at!(|plan, text| some(&mut plan.$($at).+, text), |plan, _| given(plan.$($at).+.as_ref()))
    };
}

/// Access to an optional time.
macro_rules! time {
    ($($at:ident).+) => {
        at!(|plan, text| some(&mut plan.$($at).+, text), |plan, _| given(plan.$($at).+.map(duration)))
    };
}

/// Access to an optional whole number.
macro_rules! number {
    ($($at:ident).+) => {
        at!(|plan, text| number(&mut plan.$($at).+, text), |plan, _| given(plan.$($at).+))
    };
}

/// Access to a list.
macro_rules! list {
    ($($at:ident).+) => {
        at!(|plan, text| push(&mut plan.$($at).+, text), |plan, _| list(&plan.$($at).+))
    };
}

/// Form of an option whose values are words.
macro_rules! choice {
    ($value:literal, $words:ident) => {
        Form::choice($value, || names($words::ALL, $words::as_str))
    };
}

/// Access to a word of a single method.
macro_rules! own {
    ($method:ident::$field:ident: $words:ident) => {
        at!(
            |plan, text| match &mut plan.method {
                Method::$method(own) => pick(&mut own.$field, $words::ALL, $words::as_str, text),
                _ => Ok(()),
            },
            |plan, _| match &plan.method {
                Method::$method(own) => unless(plan::$method::default().$field, own.$field),
                _ => Vec::new(),
            }
        )
    };
}

/// Access to a word of the releases that latlab plans.
macro_rules! released {
    ($field:ident: $words:ident) => {
        at!(
            |plan, text| releases(plan, |own| {
                pick(&mut own.$field, $words::ALL, $words::as_str, text)
            }),
            |plan, _| match plan.method.releases() {
                Some(own) => unless(Releases::default().$field, own.$field),
                None => Vec::new(),
            }
        )
    };
}

/// Access to a part of the program to attach to.
macro_rules! attached {
    ($method:ident { $($field:ident),+ } => $words:expr) => {
        |plan, _| match plan.method.attach().map(|attach| &attach.target) {
            Some(AttachTarget::$method { $($field),+, .. }) => $words,
            _ => Vec::new(),
        }
    };
}

options! {
    in WHICH_PROGRAM;

    /// Start this program, measure it from its first instruction, and end it with the run; under sudo it runs as
    /// the user who called that
    "program": Form::list("PROGRAM").rest(), ATTACH,
        program,
        attached!(Command { words } => words.clone());

    /// Measure the process with this number, or the process of this thread
    "pid": Form::value("ID"), ATTACH,
        |plan, text| attach_to(plan, AttachTarget::Process { id: whole(text)? }),
        attached!(Process { id } => given(Some(id)));

    /// Measure all processes that have this name, or a thread with this name; * stands for anything
    "comm": Form::value("NAME"), ATTACH,
        |plan, text| attach_to(plan, AttachTarget::Name { pattern: text.to_string() }),
        attached!(Name { pattern } => given(Some(pattern)));

    /// With PROGRAM: start it as root also under sudo
    "as-root": Form::flag().requires(&["program"]), ATTACH,
        |plan, _| {
            attach(plan, |attach| match &mut attach.target {
                AttachTarget::Command { as_root, .. } => on(as_root),
                _ => Ok(()),
            })
        },
        attached!(Command { as_root } => flag(*as_root));

    /// With PROGRAM: write what it prints to this file [default: discard it]
    "output": Form::value("FILE").requires(&["program"]), ATTACH,
        |plan, text| {
            attach(plan, |attach| match &mut attach.target {
                AttachTarget::Command { output, .. } => some(output, text),
                _ => Ok(()),
            })
        },
        attached!(Command { output } => given(output.as_ref()));

    /// Judge the threads with this name; * stands for anything [default: those with a real-time policy, or all if
    /// there are none]
    "thread": Form::value("NAME"), ATTACH,
        |plan, text| attach(plan, |attach| some(&mut attach.thread, text)),
        |plan, _| given(plan.method.attach().and_then(|attach| attach.thread.as_ref()));

    /// Name the system call that ends a cycle, such as epoll_wait or read:7; may be repeated [default: find out]
    "activation": Form::list("CALL[:FD]"), ATTACH,
        |plan, text| attach(plan, |attach| push(&mut attach.activation, text)),
        |plan, _| {
            plan.method.attach().map_or(Vec::new(), |attach| attach.activation.clone())
        };

    in HOW;

    /// Method of measuring: cyclic (a thread sleeps until its release), handoff (another thread wakes it), spin
    /// (gaps in a busy loop), timerlat (the kernel's tracer)
    "instrument": choice!("NAME", Instrument)
        .default("cyclic")
        .fact("Instrument", |plan| Some(instrument_fact(plan))),
        RUN,
        instrument,
        |plan, _| match plan.method {
            Method::Attach(_) => Vec::new(),
            _ => unless(Instrument::Cyclic, plan.method.instrument()),
        };

    /// handoff: how threads are woken: futex, pipe, signal, eventfd, mq (POSIX queue), sysv (semaphore) [default:
    /// futex]
    "wake": choice!("WAY", WakeBy), HANDOFF, own!(Handoff::wake: WakeBy);

    /// How threads sleep: nanosleep (until an absolute time), relative, timerfd, posix-timer [default: nanosleep]
    "mechanism": choice!("NAME", Mechanism).fact(
            "Mechanism",
            |plan| match &plan.method {
                Method::Cyclic(cyclic) => Some(cyclic.mechanism.to_string()),
                _ => None,
            },
        ),
        Applies::to(&[Cyclic]).but(&[
            (Handoff, NO_SLEEP),
            (Spin, NO_RELEASES),
            (Timerlat, KERNEL_SLEEPS),
        ]),
        own!(Cyclic::mechanism: Mechanism);

    /// How late the kernel may end a sleep, to save wake-ups; for the policies other, batch and idle. A program that
    /// sets none has 50us [default: 1ns]
    "timer-slack": Form::value("TIME").fact("Timer slack", |plan| Some(timer_slack(plan)?.to_string())),
        Applies::to(&[Cyclic]).but(&[
            (Handoff, NO_SLEEP),
            (Spin, NO_RELEASES),
            (Timerlat, KERNEL_SLEEPS),
        ]),
        |plan, text| cyclic(plan, |cyclic| some(&mut cyclic.timer_slack_ns, text)),
        |plan, _| given(timer_slack(plan).map(duration));

    /// Clock of the releases: monotonic, tai, realtime [default: monotonic]
    "clock": choice!("NAME", ClockName)
        .fact("Clock", |plan| plan.method.clock().map(|clock| clock.to_string())),
        Applies::to(&[Cyclic, Handoff]).but(&[
            (Spin, "does not apply to spin, which uses CLOCK_MONOTONIC"),
            (Timerlat, KERNEL_SLEEPS),
        ]),
        released!(clock: ClockName);

    /// Scheduling policy: fifo, rr, other, batch, idle, deadline[:RUNTIME/DEADLINE/PERIOD] [default: fifo; other
    /// with spin]
    "policy": Form::value("POLICY")
        .fact("Requested scheduling", |plan| plan.who.policy.map(|policy| policy.to_string())),
        RUN,
        policy,
        |plan, usual| match plan.who.policy {
            Some(policy) => {
                unless(usual.who.policy.map(policy_word).unwrap_or_default(), policy_word(policy))
            }
            None => Vec::new(),
        };

    /// Priority of fifo and rr, 1 to 99 [default: 90]
    "priority": Form::value("N").short('p'), RUN, priority, |plan, _| priority_words(plan);

    /// spin: record a gap if a pass is longer than the usual one by more than this [default: 1us]
    "gap-above": Form::value("TIME").fact("Gaps", |plan| {
            plan.method.spin().map(|spin| format!("above {}", spin.gap_above_ns))
        }),
        SPIN,
        |plan, text| spin(plan, |spin| set(&mut spin.gap_above_ns, text)),
        |plan, _| {
            let above = plan.method.spin().map(|spin| spin.gap_above_ns);
            time(Some(MICROSECOND), above)
        };

    /// spin: work of each pass: none, memmove [default: none]
    "workload": Form::choice("NAME", || Workload::NAMES.to_vec())
        .fact("Workload", |plan| plan.method.spin().map(workload_fact)),
        SPIN,
        |plan, text| spin(plan, |spin| workload(spin, text)),
        |plan, _| match plan.method.spin() {
            Some(spin) => unless(Workload::NAMES[0], spin.workload.name()),
            None => Vec::new(),
        };

    /// spin: memory of the workload, such as 64K [default: 4K]
    "workload-size": Form::value("SIZE"), SPIN,
        |plan, text| spin(plan, |spin| workload_size(spin, text)),
        |plan, _| match plan.method.spin().map(|spin| spin.workload) {
            Some(Workload::Memmove { bytes }) => unless(Workload::DEFAULT_BYTES, bytes),
            _ => Vec::new(),
        };

    in WHERE;

    /// CPUs to measure, such as 1-3 [default: all that this process may use]
    "cpus": Form::value("LIST").short('a'), RUN.but(&[(Attach, OWN_THREADS)]), given!(who.cpus);

    in TARGET;

    /// Machine to measure: local, a board such as ssh://pi@board or its name, a place of labgrid such as
    /// labgrid:board-7 or labgrid:arch=arm64, or a guest in virtual time such as lab:x86-64/rt [default: local]
    "target": Form::value("TARGET"), ALL, by_the_program, |plan, _| unless(&Target::Local, &plan.on.target);

    /// Kernel image of your own, for a target without one such as lab:arm64
    "kernel": Form::value("IMAGE").requires(&["target"]).of_commands(), RUN,
        by_the_program,
        |_, _| Vec::new();

    /// Folder with its modules; needed unless the virtio drivers are built in
    "modules": Form::value("DIR").requires(&["kernel"]).of_commands(), RUN, by_the_program, |_, _| Vec::new();

    /// Device tree, for machines without one in QEMU
    "dtb": Form::value("FILE").requires(&["kernel"]).of_commands(), RUN, by_the_program, |_, _| Vec::new();

    /// Run the guest in the host's time, with KVM if possible: noisy and not repeatable
    "realtime": Form::flag().requires(&["target"]).of_commands(), RUN, by_the_program, |_, _| Vec::new();

    /// Number of CPUs of the guest, with --realtime
    "smp": Form::value("N").requires(&["target"]).of_commands(), RUN,
        |_, text| whole::<u32>(text).map(drop),
        |_, _| Vec::new();

    /// Inject a fault: irqs-off@5s:2ms, fifo-hog@2s:500ms:prio95, printk-storm, softirq-flood, clock-step,
    /// tiny-memory; with --realtime also cpu-offline@4s:1, hypervisor-pause@3s:20ms
    "fault": Form::list("FAULT[@AT][:LENGTH]").requires(&["target"]).of_commands(), RUN,
        by_the_program,
        |plan, _| loads(plan, true);

    /// Print the console of the guest, or of all guests of a sheet
    "console": Form::flag().of_commands(), RUN, by_the_program, |_, _| Vec::new();

    in WHERE;

    /// Number of measuring threads, assigned to the CPUs in turn [default: one per CPU]
    "threads": Form::value("N").short('t'),
        Applies::to(&[Cyclic, Handoff]).but(&[
            (Spin, "does not apply to spin, which has one thread per CPU; use --cpus"),
            (Timerlat, "does not apply to timerlat, which has one thread on each of --cpus"),
            (Attach, OWN_THREADS),
        ]),
        number!(who.threads);

    /// handoff: CPUs of the waking threads, in turn [default: that of the woken thread]
    "wakers-on": Form::value("LIST"), HANDOFF,
        |plan, text| handoff(plan, |handoff| some(&mut handoff.wakers_on, text)),
        |plan, _| match &plan.method {
            Method::Handoff(handoff) => given(handoff.wakers_on.as_ref()),
            _ => Vec::new(),
        };

    /// CPUs of latlab's helper threads [default: those not measured]
    "helpers-on": Form::value("LIST"), RUN, given!(who.helpers_on);

    in WHEN;

    /// Time between releases; a period that divides the kernel tick always meets the same phase [default: 997us]
    "period": Form::value("TIME").short('i').fact("Period", period_fact),
        Applies::to(&[Cyclic, Handoff, Timerlat]).but(&[(Spin, NO_RELEASES)]),
        period,
        |plan, _| match plan.method {
            Method::Cyclic(_) | Method::Handoff(_) | Method::Timerlat(_) => {
                time(Some(Releases::DEFAULT_PERIOD), plan.method.period())
            }
            _ => Vec::new(),
        };

    /// Make the period of each further thread longer by this
    "period-step": Form::value("TIME"),
        Applies::to(&[Cyclic, Handoff]).but(&[
            (Spin, NO_RELEASES),
            (Timerlat, "does not apply to timerlat, which has the same period on all CPUs"),
        ]),
        |plan, text| releases(plan, |releases| set(&mut releases.period_step_ns, text)),
        |plan, _| {
            let step = plan.method.releases().map(|releases| releases.period_step_ns);
            time(Some(Nanos::ZERO), step)
        };

    /// Offsets of the threads' releases: aligned, spread (evenly, from a random start), random [default: spread]
    "phase": choice!("NAME", Phase).fact("Phase", phase_fact),
        Applies::to(&[Cyclic, Handoff])
        .but(&[(Spin, NO_RELEASES), (Timerlat, KERNEL_SLEEPS)]),
        released!(phase: Phase);

    /// Releases that are past when a cycle ends: skip, catch-up (serve them late); both count them [default:
    /// skip]
    "overruns": choice!("NAME", OverrunPolicy)
        .fact("Overruns", |plan| {
            plan.method.overrun_policy().map(|overruns| overruns.to_string())
        }),
        Applies::to(&[Cyclic]).but(&[
            (Handoff, "does not apply to handoff, which always skips past releases"),
            (Spin, NO_RELEASES),
            (Timerlat, KERNEL_SLEEPS),
        ]),
        own!(Cyclic::overruns: OverrunPolicy);

    /// Time at the start that is measured and not counted
    "warm-up": Form::value("TIME")
        .default("1s")
        .fact("Warm-up", |plan| plan.until.warm_up_ns.map(|warm_up| warm_up.to_string())),
        RUN,
        |plan, text| some(&mut plan.until.warm_up_ns, text),
        |plan, usual| time(usual.until.warm_up_ns, plan.until.warm_up_ns);

    /// Seed of the random offsets [default: from the clock; stored in the run]. With the same seed a guest in
    /// virtual time gives the same run
    "seed": Form::value("N"), RUN, seed, |plan, _| given(plan.seed.filter(|_| has_seed(plan)));

    /// Length of the stored intervals
    "interval": Form::value("TIME")
        .default("1s")
        .fact("Interval of the stream", |plan| Some(plan.keep.interval_ns.to_string())),
        ALL,
        |plan, text| set(&mut plan.keep.interval_ns, text),
        |plan, usual| time(Some(usual.keep.interval_ns), Some(plan.keep.interval_ns));

    in UNTIL;

    /// Length of the run [default: until Ctrl-C]
    "for": Form::value("TIME").short('D'), RUN, time!(until.duration_ns);

    /// Length of the run [default: until the program ends, or Ctrl-C]
    "for": Form::value("TIME").short('D'), ATTACH, time!(until.duration_ns);

    /// Number of cycles of each thread
    "cycles": Form::value("N").short('l'),
        Applies::to(&[Cyclic, Handoff, Timerlat]).but(&[
            (Spin, "does not apply to spin, which has no releases; use --for"),
            (Attach, "does not apply to attach: use --for"),
        ]),
        number!(until.cycles);

    /// Judge the run: a latency above this is a deadline miss
    "deadline": Form::value("TIME"), RUN,
        time!(until.deadline_ns);

    /// Longest time from the release to the end of a cycle, or wake-up:TIME from the release to its start
    /// [default: the period of each thread]
    "deadline": Form::value("TIME"), ATTACH,
        judged_deadline,
        |plan, _| judged_deadline_words(plan);

    /// Allow up to RATE bursts of deadline misses (0.1/h, 1/d) before failing
    "limit": Form::value("RATE"), ALL,
        |plan, text| {
            plan.until.limit_per_hour = Some(rate_per_hour(text)?);
            Ok(())
        },
        |plan, _| given(plan.until.limit_per_hour.map(|rate| format!("{rate}/h")));

    /// End the run as soon as it passes or fails --limit, after --for at the latest
    "until-decided": Form::flag(), RUN, flag!(until.decided);

    /// End the run at the first latency above this (exit code 1)
    "stop-above": Form::value("TIME").short('b'), RUN, time!(until.stop_above_ns);

    /// Run a command for a spike, at most once a second, with the spike as JSON on its input
    "on-spike": Form::value("CMD"), RUN, given!(keep.on_spike);

    /// Latency above which --on-spike runs [default: the deadline, else --stop-above] and --explain records
    /// [default: the tenth largest so far, later p99.99]
    "spike-above": Form::value("TIME"), RUN, time!(keep.spike_above_ns);

    /// With --explain: record the cycles whose judged time is above this [default: the tenth largest so far, later
    /// p99.99]
    "spike-above": Form::value("TIME").requires(&["explain"]), ATTACH, time!(keep.spike_above_ns);

    in KEEP;

    /// Store every latency with its release, in about two bytes each
    "samples": Form::flag(),
        Applies::to(&[Cyclic, Handoff, Timerlat]).but(&[
            (
                Spin,
                "does not apply to spin, which has no releases; the largest 4096 gaps of each \
                 thread are always stored",
            ),
            (Attach, "does not apply to attach, which always stores every cycle"),
        ]),
        flag!(keep.samples);

    /// Break each latency down into parts with the kernel's tracepoints, and measure their cost
    "breakdown": Form::flag(),
        Applies::to(&[Cyclic]).but(&[
            (Handoff, NO_SLEEP),
            (Spin, NO_RELEASES),
            (Timerlat, "is always on with timerlat"),
        ]),
        |plan, _| cyclic(plan, |cyclic| on(&mut cyclic.breakdown)),
        |plan, _| flag(plan.method.has_breakdown());

    /// Record the kernel's events around each spike, and tell what delayed the thread
    "explain": Form::flag(), ALL, flag!(keep.explain);

    /// How often to read temperature, frequency, load and more: 100ms to 1h, or off. full (or full,5s): also
    /// files that take long to read, where every CPU is measured
    "telemetry": Form::value("TIME").default("1s"), ALL,
        telemetry,
        |plan, usual| {
            let [usual, asked] = [usual, plan].map(|plan| telemetry_word(plan.keep.telemetry));
            unless(usual, asked)
        };

    /// Measure on a board without the link to it: return once it measures; `latlab collect` brings it home
    "detach": Form::flag().requires(&["target"]).of_commands(), RUN,
        |plan, _| {
            // The limit is determined by the free space of the board.
            plan.on.detached = Some(Detached { folder: None, most_bytes: u64::MAX });
            Ok(())
        },
        |plan, _| flag(plan.on.detached.is_some());

    /// Folder there for the detached run [default: ~/.cache/latlab/runs, else memory]
    "board-folder": Form::value("DIR").requires(&["detach"]).of_commands(), RUN,
        |plan, text| {
            let folder = board_folder(text)?;
            plan.on.detached.iter_mut().for_each(|one| one.folder = Some(folder.clone()));
            Ok(())
        },
        |plan, _| given(plan.on.detached.as_ref().and_then(|one| one.folder.as_ref()));

    /// Name of the run, used in the name of its folder
    "name": Form::value("NAME").default("run").of_commands(), RUN, NAME;

    /// Name of the run, used in the name of its folder [default: that of the program]
    "name": Form::value("NAME").of_commands(), ATTACH, NAME;

    /// Note to store with the run
    "note": Form::value("TEXT"), ALL,
        |plan, text| {
            plan.note = Some(plain_line(text)?);
            Ok(())
        },
        |plan, _| given(plan.note.as_ref());

    in LOADS;

    /// Run this load during the measurement; may be repeated (`latlab loads` lists them)
    "load": Form::list("NAME[,ARG=VALUE]"), ALL, by_the_program, |plan, _| loads(plan, false);

    /// CPUs of the loads: everywhere, measured, others (not measured), or a list
    "load-on": Form::value("WHERE").default("everywhere"), ALL,
        |plan, text| set(&mut plan.on.load_on, text),
        |plan, usual| unless(usual.on.load_on.to_string(), plan.on.load_on.to_string());

    /// Folder with more definitions of loads
    "loads": Form::value("DIR"), ALL,
        by_the_program,
        |plan, _| given(plan.on.loads.iter().find_map(|load| load.definitions.as_ref()));

    in OTHER;

    /// Change a setting for the time of the run: governor=NAME, irqs=away, rt-throttling=off, fair-server=off,
    /// thp=never|madvise|always, timer-migration=off, workqueues=away, irq-thread:PATTERN=PRIORITY
    "tune": Form::list("NAME=VALUE"), ALL, list!(on.tunings);

    /// Write a kernel file for the time of the run: /sys/FILE=VALUE, or NAME=VALUE as for sysctl
    "set": Form::list("FILE=VALUE"), ALL, list!(on.kernel_files);

    /// Measure CPUs even if another latlab measures them
    "share": Form::flag(), RUN, flag!(who.share_cpus);

    /// Allow only idle states with an exit latency up to this, or `system` for no limit
    "idle-states": Form::value("TIME")
        .default("0")
        .fact("Idle states", |plan| plan.on.idle_states.map(idle_states_fact)),
        RUN,
        idle_states,
        |plan, usual| {
            let asked = plan.on.idle_states.filter(|_| plan.on.idle_states != usual.on.idle_states);
            given(asked.map(idle_states_word))
        };
}

/// Access to the name of the run.
const NAME: Access = Access {
    put: |plan, text| {
        plan.name = plain_name(text)?;
        Ok(())
    },
    words: |plan, usual| unless(&usual.name, &plan.name),
};

/// For options that need files of this machine, such as load definitions: the program sets these.
fn by_the_program(_: &mut Plan, _: &str) -> Result<(), String> {
    Ok(())
}

/// The loads of the plan, or its faults.
fn loads(plan: &Plan, are_faults: bool) -> Vec<String> {
    let asked = plan.on.loads.iter().filter(|load| (load.name == FAULT) == are_faults);
    asked.map(|load| load.words.clone()).collect()
}

fn timer_slack(plan: &Plan) -> Option<Nanos> {
    match &plan.method {
        Method::Cyclic(cyclic) => cyclic.timer_slack_ns,
        _ => None,
    }
}
