//! Synthetic streams as an agent sends them: for tests, here and in other crates.

use latlab_model::deadline::misses;
use latlab_model::frame::{Hello, Interval, Message, STREAM_VERSION, Spike, Spikes};
use latlab_model::machine::Machine;
use latlab_model::nanos::SECOND;
use latlab_model::plan::{Cyclic, Keep, Method, Releases, Until, Who};
use latlab_model::run::{
    AgentEnd, AppliedSetup, ClockReading, EndReason, Setting, ThreadEnd, ThreadSetup,
};
use latlab_model::samples::{Sample, Samples, pack};
use latlab_model::snapshot::Content;
use latlab_model::telemetry::{Reading, Series, metric};
use latlab_model::trace::{
    PackedTrace, ThreadEvent, ThreadEventKind, TraceLoss, TraceStretch, TraceWindow,
};
use latlab_model::{Histogram, Nanos, Plan, Snapshot};

/// CLOCK_MONOTONIC at the first release of a synthetic run.
pub const FIRST_RELEASE: Nanos = Nanos(5_000_000_000_123);
/// CLOCK_REALTIME at that time: 2026-11-21T16:05:01Z.
pub const STARTED: Nanos = Nanos(1_795_277_101_000_000_000);
/// Latencies that each thread reports individually.
const SPIKE_ABOVE: Nanos = Nanos(20_000);

/// A run that was never measured.
#[derive(Clone, Debug)]
pub struct SyntheticRun {
    pub name: String,
    /// Measuring threads.
    pub threads: u32,
    /// Length in seconds, one interval each.
    pub seconds: u32,
    pub period: Nanos,
    /// Added to each latency of an idle machine.
    pub slower: Nanos,
    /// Added to one latency per second, up to 400 ms.
    pub stall: Nanos,
    /// Whether every latency is sent with its release.
    pub samples: bool,
    /// Whether the kernel's trace is sent, which is off in the last second.
    pub breakdown: bool,
    /// Rise of temperature over the run, in mC; `None` if nothing is read.
    pub warmer: Option<i64>,
    pub deadline: Option<Nanos>,
    /// Each seed gives different latencies.
    pub seed: u64,
}

impl Default for SyntheticRun {
    fn default() -> SyntheticRun {
        SyntheticRun {
            name: "made-up".to_string(),
            threads: 2,
            seconds: 5,
            period: Releases::DEFAULT_PERIOD,
            slower: Nanos::ZERO,
            stall: Nanos::ZERO,
            samples: false,
            breakdown: false,
            warmer: None,
            deadline: Some(Nanos(200_000)),
            seed: 1,
        }
    }
}

impl SyntheticRun {
    pub fn plan(&self) -> Plan {
        Plan {
            name: self.name.clone(),
            note: Some("made up".to_string()),
            method: Method::Cyclic(Cyclic {
                breakdown: self.breakdown,
                ..Cyclic::every(self.period)
            }),
            seed: Some(self.seed),
            who: Who { threads: Some(self.threads), ..Who::default() },
            until: Until {
                duration_ns: Some(SECOND * self.seconds.into()),
                deadline_ns: self.deadline,
                ..Until::default()
            },
            keep: Keep { samples: self.samples, ..Keep::default() },
            ..Plan::default()
        }
    }

    pub fn machine(&self) -> Machine {
        Machine {
            hostname: Some("nowhere".to_string()),
            cpu_model: Some("Imaginary Core 4".to_string()),
            architecture: "x86_64".to_string(),
            kernel: "6.18.0-rt".to_string(),
            kernel_version: "#1 SMP PREEMPT_RT".to_string(),
            preemption: Some("PREEMPT_RT".to_string()),
            cpus_online: (0..self.threads).collect(),
            cpus_allowed: (0..self.threads).collect(),
            tick_hz: Some(250),
            ..Machine::default()
        }
    }

    pub fn prepared(&self) -> AppliedSetup {
        let setting = |what: &str, thread, value: &str| Setting {
            what: what.to_string(),
            thread,
            asked: value.to_string(),
            applied: value.to_string(),
            matters: true,
            before: None,
        };
        let thread = |thread: u32| ThreadSetup {
            thread,
            thread_id: None,
            cpu: Some(thread),
            core_type: None,
            capacity: None,
            policy: "fifo 90".to_string(),
            period_ns: Some(self.period),
            first_release_ns: FIRST_RELEASE,
        };
        let scheduling = (0..self.threads).map(|one| setting("scheduling", Some(one), "fifo 90"));
        AppliedSetup {
            settings: std::iter::once(setting("memory lock", None, "all"))
                .chain(scheduling)
                .collect(),
            threads: (0..self.threads).map(thread).collect(),
            helpers_on: format!("{}", self.threads),
        }
    }

    /// The whole stream, in the order in which an agent sends it.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        self.each_message(|message| messages.push(message));
        messages
    }

    /// Passes on one message after the other, so that a stream may be larger than the memory.
    pub fn each_message(&self, mut send: impl FnMut(Message)) {
        let mut random = Random(self.seed.wrapping_mul(2).wrapping_add(1));
        self.head().into_iter().for_each(&mut send);
        let mut totals = vec![(0, 0); self.threads as usize];
        for second in 0..self.seconds {
            let mut events = Vec::new();
            for (thread, total) in (0..).zip(&mut totals) {
                let served = self.second(second, &mut random);
                events.push((
                    thread,
                    served.iter().flat_map(|one| self.events(thread, one)).collect(),
                ));
                let counts = self.counts(&served);
                total.0 += counts.count;
                total.1 += counts.overruns;
                let start_ns = FIRST_RELEASE + SECOND * second.into();
                let end_ns = start_ns + SECOND;
                send(Message::Interval(Interval { thread, start_ns, end_ns, counts }));
                let spikes = served.iter().filter(|one| one.latency_ns > SPIKE_ABOVE);
                let spikes: Vec<Spike> = spikes.map(spike).collect();
                if !spikes.is_empty() {
                    send(Message::Spikes(Spikes { thread, spikes }));
                }
                if self.samples || self.breakdown {
                    send(Message::Samples(self.packed(thread, &served)));
                }
            }
            if self.breakdown {
                send(Message::Trace(self.trace(second, events)));
            }
            send(Message::Clocks(clocks(second + 1)));
            self.warmer.map(|warmer| self.reading(second, warmer)).into_iter().for_each(&mut send);
        }
        for (thread, (cycles, overruns)) in (0..).zip(totals) {
            send(Message::ThreadEnd(thread_end(thread, cycles, overruns)));
        }
        send(Message::End(AgentEnd {
            reason: EndReason::Finished,
            agent_peak_rss_bytes: 3 << 20,
            helpers_cpu_ns: Nanos(12_000_000),
            intervals_merged: 0,
            spike_hook: None,
        }));
    }

    /// What comes before the first second.
    fn head(&self) -> Vec<Message> {
        let head = [
            Message::Hello(Hello {
                stream: STREAM_VERSION,
                latlab: env!("CARGO_PKG_VERSION").to_string(),
                id: self.name.clone(),
            }),
            Message::Plan(self.plan()),
            Message::Machine(self.machine()),
            Message::Prepared(self.prepared()),
        ];
        let mut messages = [&head[..], &head[..], &[Message::Clocks(clocks(0))]].concat();
        if self.warmer.is_some() {
            messages.extend([Message::Snapshot(snapshot()), Message::Series(heat())]);
        }
        messages
    }

    /// The bytes of the whole stream.
    pub fn bytes(&self) -> Vec<u8> {
        self.messages().iter().flat_map(Message::encode).collect()
    }

    /// The cycles of a thread in one second.
    fn second(&self, second: u32, random: &mut Random) -> Vec<Sample> {
        let start = FIRST_RELEASE + SECOND * second.into();
        let period = self.period;
        let cycles = (SECOND.0 / period.0).max(1) as u32;
        let mut release_ns = start;
        let cycle = |cycle: u32| {
            let stall = if cycle == cycles.min(1_000) / 2 { self.stall } else { Nanos::ZERO };
            let latency_ns = random.latency() + self.slower + stall;
            let sample = Sample::new(release_ns, latency_ns);
            release_ns += period * (1 + latency_ns.0 / period.0);
            sample
        };
        (0..cycles).map(cycle).take_while(|sample| sample.release_ns < start + SECOND).collect()
    }

    /// Their counts as the loop makes them.
    fn counts(&self, served: &[Sample]) -> Histogram {
        let period = self.period.0;
        let latencies = || served.iter().map(|sample| sample.latency_ns);
        let misses = |Nanos(latency): Nanos| match self.deadline {
            Some(Nanos(deadline)) => misses(latency, deadline, period, latency / period) as u64,
            None => 0,
        };
        Histogram {
            overruns: latencies().map(|latency| (latency.0 / period) as u64).sum(),
            misses: latencies().map(misses).sum(),
            ..latencies().collect()
        }
    }

    /// The kernel's events of a cycle, incomplete for a late one.
    fn events(&self, thread: u32, cycle: &Sample) -> Vec<ThreadEvent> {
        let Sample { release_ns, latency_ns, .. } = *cycle;
        let event = |at_ns, kind| ThreadEvent { at_ns, cpu: thread, kind };
        let armed = ThreadEventKind::Armed { release_ns };
        let expired = event(release_ns + Nanos(latency_ns.0 / 3), ThreadEventKind::Expired);
        let switched = event(release_ns + Nanos(latency_ns.0 / 2), ThreadEventKind::SwitchedIn);
        let late = latency_ns > SPIKE_ABOVE * 2;
        let events = [Some(event(release_ns - Nanos(1_000), armed)), Some(expired)];
        events.into_iter().chain([(!late).then_some(switched)]).flatten().collect()
    }

    /// The trace of a second, with a loss in its middle.
    fn trace(&self, second: u32, threads: Vec<(u32, Vec<ThreadEvent>)>) -> PackedTrace {
        let from_ns = FIRST_RELEASE + SECOND * second.into();
        let (middle, until_ns) = (from_ns + Nanos(SECOND.0 / 2), from_ns + SECOND);
        let on = second + 1 < self.seconds;
        let stretch = TraceStretch {
            until_ns,
            windows: vec![TraceWindow { from_ns, to_ns: until_ns, on }],
            losses: vec![TraceLoss { at_ns: middle, cpu: 1, count: 3 }],
            threads,
        };
        if on {
            stretch.pack()
        } else {
            TraceStretch { losses: Vec::new(), threads: Vec::new(), ..stretch }.pack()
        }
    }

    fn reading(&self, second: u32, warmer: i64) -> Message {
        let now = 45_000 + warmer * i64::from(second) / i64::from(self.seconds.max(2) - 1);
        Message::Reading(Reading {
            at_ns: FIRST_RELEASE + SECOND * second.into(),
            sequence: second.into(),
            whole: second == 0,
            // Unchanged values are not sent.
            values: (second == 0 || warmer != 0).then_some((0, Some(now))).into_iter().collect(),
            earlier: Vec::new(),
            instants: Vec::new(),
        })
    }

    fn packed(&self, thread: u32, served: &[Sample]) -> Samples {
        let period_ns = self.period;
        let jump = |(index, pair): (u32, &[Sample])| {
            let by = pair[1].release_ns - pair[0].release_ns - period_ns;
            (by != Nanos::ZERO).then_some((index, by))
        };
        let latencies: Vec<i64> = served.iter().map(|sample| sample.latency_ns.0).collect();
        Samples {
            thread,
            lost_before: 0,
            first_release_ns: served[0].release_ns,
            period_ns,
            count: served.len() as u32,
            jumps: (1..).zip(served.windows(2)).filter_map(jump).collect(),
            packed: pack(&latencies),
        }
    }
}

/// A machine whose governor follows the load.
fn snapshot() -> Snapshot {
    let governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    let files = [(governor.to_string(), Content::Text("ondemand".to_string()))];
    Snapshot { files: files.into(), ..Snapshot::default() }
}

fn heat() -> Series {
    Series {
        number: 0,
        metric: metric::TEMPERATURE.to_string(),
        subject: "thermal_zone0 cpu-thermal".to_string(),
        unit: "mC".to_string(),
        counter: false,
        steady: true,
    }
}

fn spike(sample: &Sample) -> Spike {
    Spike { latency_ns: sample.latency_ns, release_ns: sample.release_ns }
}

/// The clocks this many seconds after the first release.
pub fn clocks(second: u32) -> ClockReading {
    let since = SECOND * second.into();
    ClockReading {
        monotonic_ns: FIRST_RELEASE + since,
        boottime_ns: FIRST_RELEASE + since + SECOND * 3,
        realtime_ns: STARTED + since,
        tai_ns: STARTED + since + SECOND * 37,
    }
}

/// The last message of a thread that did its work.
pub fn thread_end(thread: u32, cycles: u64, overruns: u64) -> ThreadEnd {
    let end = ThreadEnd::new(thread, EndReason::Finished, cycles);
    ThreadEnd { overruns, voluntary_switches: cycles, ..end }
}

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A few microseconds, and one in some thousands much more.
    fn latency(&mut self) -> Nanos {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let body = 1_800.0 - 900.0 * (1.0 - share).ln();
        let tail =
            if self.next().is_multiple_of(700) { (self.next() % 60_000) as f64 } else { 0.0 };
        Nanos((body + tail) as i64)
    }
}
