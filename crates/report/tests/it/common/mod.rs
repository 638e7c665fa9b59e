//! Handmade runs: every figure is computed from samples, as in a real run folder.

pub mod svg;

use latlab_model::finding::{LossFinding, MachineFinding};
use latlab_model::histogram::bin_high;
use latlab_model::machine::Machine;
use latlab_model::plan::*;
use latlab_model::plan::{Keep, OnMachine, Until, Who};
use latlab_model::run::*;
use latlab_model::{Histogram, Nanos, Run, ThreadBins};
use latlab_report::PageRun;
use latlab_report::time::TimeData;
use latlab_stats::at_most_share;
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub const SECOND: i64 = 1_000_000_000;
/// First release of every fixture, on CLOCK_MONOTONIC.
const FIRST: Nanos = Nanos(7_000 * SECOND);

/// A small generator, so that fixtures are the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Around `mode`, skewed late, with a thin exponential tail.
    pub fn latency(&mut self, mode: f64, tail: f64) -> i64 {
        let body = mode * (0.8 - 0.12 * self.unit().ln() - 0.08 * self.unit().ln());
        let late = if self.unit() < 0.002 { -tail * self.unit().ln() } else { 0.0 };
        (body + late) as i64
    }
}

#[derive(Clone)]
pub struct Fixture {
    pub run: Run,
    pub histograms: Vec<Histogram>,
}

pub fn plan() -> Plan {
    Plan {
        name: "idle".into(),
        seed: Some(20_261_121),
        until: Until { duration_ns: Some(Nanos(60 * SECOND)), ..Until::default() },
        ..Plan::default()
    }
}

fn machine(cpus: u32) -> Machine {
    Machine {
        hostname: Some("vm".into()),
        board: Some("QEMU Standard PC (Q35 + ICH9, 2009)".into()),
        cpu_model: Some("AMD EPYC 7R13 Processor".into()),
        architecture: "x86_64".into(),
        kernel: "6.18.5".into(),
        kernel_version: "#1 SMP PREEMPT_DYNAMIC Mon Nov  2 09:14:03 UTC 2026".into(),
        preemption: Some("PREEMPT_DYNAMIC".into()),
        command_line: Some("console=ttyS0 root=/dev/vda1 isolcpus=1 nohz_full=1 <quiet>".into()),
        virtualisation: Some("kvm".into()),
        distribution: Some("Debian GNU/Linux 12 (bookworm)".into()),
        cpus_online: (0..cpus).collect(),
        cpus_allowed: (0..cpus).collect(),
        tick_hz: Some(250),
        clocksource: Some("kvm-clock".into()),
        governor: None,
        rt_runtime_us: Some(950_000),
        boot_id: Some("5b6c2f0e-86f1-4d05-9a3e-0c1f5f3f7f11".into()),
        memory_bytes: Some(8_324_177_920),
        ..Machine::default()
    }
}

/// A histogram of samples, faster than recording them one by one.
pub fn histogram(samples: impl IntoIterator<Item = i64>) -> Histogram {
    samples.into_iter().map(Nanos).collect()
}

fn quantile(counts: &Histogram, share: f64) -> Nanos {
    let wanted = (share * counts.count as f64).ceil() as u64;
    let mut seen = counts.underflow;
    for &(bin, count) in &counts.bins {
        seen += count;
        if seen >= wanted {
            return Nanos(bin_high(bin as usize) as i64 - 1).clamp(counts.min_ns, counts.max_ns);
        }
    }
    counts.max_ns
}

pub fn summary(plan: &Plan, counts: &Histogram) -> Summary {
    let some = counts.count > 0;
    let enough = |least: u64, share| (counts.count >= least).then(|| quantile(counts, share));
    Summary {
        cycles: counts.count,
        releases: Run::releases(plan, counts.count, counts.overruns),
        overruns: plan.method.has_releases().then_some(counts.overruns),
        misses: plan.until.deadline_ns.map(|_| counts.misses),
        underflow: counts.underflow,
        min_ns: some.then_some(counts.min_ns),
        mean_ns: counts.mean_ns(),
        quantiles: some.then(|| Quantiles {
            p50_ns: Some(quantile(counts, 0.5)),
            p90_ns: Some(quantile(counts, 0.9)),
            p99_ns: Some(quantile(counts, 0.99)),
            p99_9_ns: enough(1_000, 0.999),
            p99_99_ns: enough(10_000, 0.9999),
            p99_999_ns: enough(100_000, 0.99999),
            above_ns: None,
        }),
        max_ns: some.then_some(counts.max_ns),
        max_is_at_least: false,
        max_at_ns: some.then(|| FIRST + Nanos(counts.max_ns.0 % 40 * SECOND + SECOND)),
        noise: None,
    }
}

/// Creates an expensive fixture once, and returns copies: a hundred thousand samples take a second.
macro_rules! once {
    ($kind:ty, $make:expr) => {{
        static MADE: LazyLock<$kind> = LazyLock::new($make);
        MADE.clone()
    }};
}

impl Fixture {
    pub fn new(plan: Plan, histograms: Vec<Histogram>) -> Fixture {
        let cpus = histograms.len() as u32;
        let mut total = Histogram::default();
        histograms.iter().for_each(|counts| total.add(counts).unwrap());
        let threads: Vec<ThreadRun> = histograms
            .iter()
            .enumerate()
            .map(|(i, counts)| thread(&plan, i as u32, counts))
            .collect();
        let mut all = summary(&plan, &total);
        let worst = threads.iter().find(|thread| thread.summary.max_ns == all.max_ns);
        all.max_at_ns = worst.and_then(|thread| thread.summary.max_at_ns);
        let run = Run {
            schema: SCHEMA_VERSION,
            latlab: "0.1.0".into(),
            id: format!("2026-11-21T16-04-30Z_{}", plan.name),
            started: "2026-11-21T16:04:31.204Z".into(),
            measured_ns: Nanos(60 * SECOND + 3_141_592),
            ended: EndReason::Finished,
            recovered: false,
            applied: AppliedSetup {
                settings: (0..cpus)
                    .flat_map(|thread| settings(&plan, thread))
                    .chain([memory_lock()])
                    .collect(),
                threads: threads.iter().map(|thread| thread.setup.clone()).collect(),
                helpers_on: "0".into(),
            },
            asked: plan,
            machine: machine(cpus),
            clocks: None,
            threads,
            total: all,
            losses: Losses::default(),
            agent: Some(AgentEnd {
                reason: EndReason::Finished,
                agent_peak_rss_bytes: 1_769_472,
                helpers_cpu_ns: Nanos(41_250_000),
                intervals_merged: 0,
                spike_hook: None,
            }),
            findings: Vec::new(),
            doctor: None,
            conditions: None,
            breakdown: None,
            attached: None,
            explanation: None,
            guest_measurement: None,
            loads: Vec::new(),
            self_interference: None,
            largest: Vec::new(),
            statistics: None,
            verdict: None,
            files: files(),
            checksum: None,
        };
        Fixture { run, histograms }
    }

    pub fn bins(&self) -> Vec<ThreadBins> {
        let rows = self.histograms.iter().zip(0..);
        rows.map(|(counts, thread)| ThreadBins { thread, bins: counts.rows() }).collect()
    }
}

/// The page of a run without rows over time.
pub fn page(fixture: &Fixture) -> String {
    pages(&[fixture])
}

pub fn pages(fixtures: &[&Fixture]) -> String {
    let parts: Vec<_> = fixtures
        .iter()
        .map(|fixture| {
            let still = TimeData::new(&fixture.run, &[], None);
            (
                fixture.bins(),
                serde_json::to_string(&fixture.run).unwrap(),
                still,
                TimeData::fine(&fixture.run),
            )
        })
        .collect();
    let runs = fixtures.iter().zip(&parts).map(|(fixture, (bins, document, still, fine))| {
        PageRun { run: &fixture.run, document, bins, spans: &[], still, fine, samples: &[] }
    });
    latlab_report::page(&runs.collect::<Vec<_>>())
}

fn thread(plan: &Plan, number: u32, counts: &Histogram) -> ThreadRun {
    ThreadRun {
        setup: ThreadSetup {
            thread: number,
            thread_id: None,
            cpu: Some(number),
            core_type: None,
            capacity: None,
            policy: plan.scheduling(),
            period_ns: plan.method.period_of(number),
            first_release_ns: FIRST,
        },
        summary: summary(plan, counts),
        end: Some(ThreadEnd {
            thread: number,
            reason: EndReason::Finished,
            cycles: counts.count,
            overruns: counts.overruns,
            page_faults: 0,
            involuntary_switches: u64::from(number % 3),
            voluntary_switches: counts.count,
            spikes_lost: 0,
            intervals_grown: 0,
            samples_lost: 0,
            cpu_ns: Nanos(0),
            spun: None,
            responded: None,
        }),
    }
}

pub fn setting(
    what: &str,
    thread: Option<u32>,
    asked: &str,
    applied: &str,
    matters: bool,
) -> Setting {
    let (what, asked, applied) = (what.into(), asked.into(), applied.into());
    Setting { what, thread, asked, applied, matters, before: None }
}

fn settings(plan: &Plan, thread: u32) -> Vec<Setting> {
    let (policy, cpu) = (plan.scheduling(), thread.to_string());
    vec![
        setting("scheduling", Some(thread), &policy, &policy, true),
        setting("affinity", Some(thread), &cpu, &cpu, true),
    ]
}

fn memory_lock() -> Setting {
    setting("memory lock", None, "all", "all", true)
}

fn files() -> BTreeMap<String, StoredFile> {
    ["histogram.parquet", "intervals.parquet", "spikes.parquet"]
        .into_iter()
        .zip(1..)
        .map(|(name, number)| {
            let sha256 = format!("{number:02x}").repeat(32);
            (name.to_string(), StoredFile { bytes: 12_345 * number, sha256 })
        })
        .collect()
}

pub fn verdict(run: &mut Run, word: VerdictWord, reason: Option<VerdictReason>) {
    let releases = run.total.releases;
    run.verdict = Some(Verdict {
        word,
        deadline_ns: run.asked.until.deadline_ns.unwrap_or_default(),
        misses: run.total.misses.unwrap_or(0),
        releases,
        at_most_share: (run.total.misses == Some(0)).then(|| at_most_share(releases)),
        at_most_per_second: None,
        bursts: None,
        limit: None,
        reason,
        sentence: None,
    });
}

/// Two threads, with a deadline that was met.
pub fn normal() -> Fixture {
    once!(Fixture, make_normal)
}

fn make_normal() -> Fixture {
    let mut random = Random(7);
    let plan =
        Plan { until: Until { deadline_ns: Some(Nanos(250_000)), ..plan().until }, ..plan() };
    let mut sample = |mode: f64, tail: f64, max: i64| {
        let mut samples: Vec<i64> =
            (0..60_180).map(|_| random.latency(mode, tail).min(max)).collect();
        samples[41_000] = max;
        histogram(samples)
    };
    let mut histograms =
        vec![sample(5_600.0, 16_000.0, 214_417), sample(7_900.0, 21_000.0, 187_030)];
    histograms[0].overruns = 1;
    let mut fixture = Fixture::new(plan, histograms);
    verdict(&mut fixture.run, VerdictWord::Pass, None);
    fixture
}

/// Refused settings, misses, losses, and a machine with two types of core.
pub fn invalid() -> Fixture {
    once!(Fixture, make_invalid)
}

fn make_invalid() -> Fixture {
    let mut random = Random(11);
    let plan = Plan {
        name: "loaded & shared".into(),
        note: Some("hackbench on <all> CPUs".into()),
        until: Until { deadline_ns: Some(Nanos(100_000)), ..plan().until },
        keep: Keep {
            spike_above_ns: Some(Nanos(500_000)),
            on_spike: Some("logger 'late'".into()),
            ..plan().keep
        },
        on: OnMachine { tunings: vec![Tuning::RtThrottlingOff], ..plan().on },
        ..plan()
    };
    let mut sample = |mode: f64, max: i64| {
        let mut samples: Vec<i64> = (0..58_000).map(|_| random.latency(mode, 90_000.0)).collect();
        samples[777] = max;
        let late = |latency: &&i64| **latency > 100_000;
        let misses = samples.iter().filter(late).count() as u64 + 6;
        Histogram { misses, overruns: 2_180, ..histogram(samples) }
    };
    let histograms = vec![sample(9_000.0, 5_912_003), sample(31_000.0, 2_004_117)];
    let mut fixture = Fixture::new(plan, histograms);
    let run = &mut fixture.run;
    for (thread, core, capacity) in [(0, "Cortex-A76", 1024), (1, "Cortex-A55", 446)] {
        run.threads[thread].setup.core_type = Some(core.into());
        run.threads[thread].setup.capacity = Some(capacity);
        run.threads[thread].setup.policy = "other".into();
    }
    for setting in run.applied.settings.iter_mut().filter(|setting| setting.what == "scheduling") {
        setting.applied = "other".into();
    }
    run.applied.settings.push(setting("idle states", None, "0 ns", "refused", false));
    let throttling = setting("tuning rt-throttling", None, "-1", "-1", true);
    run.applied.settings.push(Setting { before: Some("950000".into()), ..throttling });
    run.losses =
        Losses { journal_bytes: 117, spikes: 3, intervals_merged: 2, cycles: 0, samples: 0 };
    run.recovered = true;
    run.ended = EndReason::Lost;
    run.threads[1].end = None;
    run.agent = None;
    let grown = LossFinding::IntervalsGrown { count: 4 };
    let refused = |setting: &str, asked: &str, applied: &str, matters| {
        Finding::new(MachineFinding::SettingRefused {
            setting: setting.into(),
            asked: asked.into(),
            applied: applied.into(),
            matters,
        })
    };
    run.findings = vec![
        Finding::new(grown).of_thread(1).at(FIRST + Nanos(12 * SECOND)),
        refused("scheduling", "fifo 90", "other", true).of_thread(0),
        refused("idle states", "exit latency up to 0 us", "system default", false),
    ];
    verdict(
        run,
        VerdictWord::Invalid,
        Some(VerdictReason::Findings { findings: vec!["setting-refused".into()] }),
    );
    fixture
}

/// A relative sleep: there are no releases, so no overruns.
pub fn relative() -> Fixture {
    let mut random = Random(3);
    let plan = Plan {
        name: "relative".into(),
        method: Method::Cyclic(Cyclic { mechanism: Mechanism::Relative, ..Cyclic::default() }),
        who: Who {
            policy: Some(Policy::Rr { priority: 80 }),
            cpus: Some([1].into_iter().collect()),
            ..plan().who
        },
        ..plan()
    };
    Fixture::new(plan, vec![histogram((0..5_000).map(|_| random.latency(55_000.0, 30_000.0)))])
}

/// A run that ended before its first cycle.
pub fn empty() -> Fixture {
    let mut fixture = Fixture::new(plan(), vec![Histogram::default(), Histogram::default()]);
    fixture.run.measured_ns = Nanos::ZERO;
    fixture.run.ended = EndReason::Interrupted;
    fixture.run.machine.hostname = None;
    fixture.run.machine.board = None;
    fixture.run.files.clear();
    fixture
}

/// A large server.
pub fn many() -> Fixture {
    once!(Fixture, make_many)
}

fn make_many() -> Fixture {
    let mut random = Random(5);
    let histograms = (0..128)
        .map(|thread| {
            histogram(
                (0..400).map(|_| random.latency(3_000.0 + 40.0 * f64::from(thread), 20_000.0)),
            )
        })
        .collect();
    Fixture::new(Plan { name: "server".into(), ..plan() }, histograms)
}

pub fn all() -> Vec<(&'static str, Fixture)> {
    vec![
        ("normal", normal()),
        ("invalid", invalid()),
        ("relative", relative()),
        ("empty", empty()),
        ("many", many()),
    ]
}

/// Fixtures for testing charts only.
pub fn odd() -> Vec<(&'static str, Fixture)> {
    once!(Vec<(&'static str, Fixture)>, make_odd)
}

fn make_odd() -> Vec<(&'static str, Fixture)> {
    let mut random = Random(1);
    let hours: Vec<i64> =
        (0..2_000).map(|_| random.latency(60_000.0, 40_000.0)).chain([3 * 3600 * SECOND]).collect();
    let negative: Vec<i64> = (0..9_000)
        .map(|_| random.latency(9_000.0, 9_000.0))
        .chain([-700, -3600 * SECOND])
        .collect();
    let beyond: Vec<i64> = (0..50_000)
        .map(|_| random.latency(12_000.0, 9_000.0))
        .chain([260_000, 310_500, 290_111])
        .collect();
    let board: Vec<Histogram> = (0..4)
        .map(|cpu| {
            histogram(
                (0..300_000).map(|_| random.latency(14_000.0 + 900.0 * f64::from(cpu), 11_000.0)),
            )
        })
        .collect();
    let one = |samples: Vec<i64>| Fixture::new(plan(), vec![histogram(samples)]);
    vec![
        ("one-sample", one(vec![7_123])),
        ("all-equal", one(vec![5_050; 1000])),
        ("all-zero", one(vec![0; 10])),
        ("hours", one(hours)),
        ("only-hours", one(vec![2 * 3600 * SECOND, 3 * 3600 * SECOND])),
        ("negative", one(negative)),
        ("only-negative", one(vec![-5, -900])),
        ("beyond", one(beyond)),
        ("largest", one(vec![i64::MAX, i64::MIN, 0, 1])),
        ("board", Fixture::new(plan(), board)),
        ("no-threads", Fixture::new(plan(), Vec::new())),
        (
            "twelve",
            Fixture::new(
                plan(),
                (0..12)
                    .map(|t| {
                        histogram(
                            (0..3_000)
                                .map(|_| random.latency(3_000.0 + 900.0 * f64::from(t), 9_000.0)),
                        )
                    })
                    .collect(),
            ),
        ),
    ]
}
