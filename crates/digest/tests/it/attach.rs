//! Runs of a program's own threads, which enter the stream as they are found.

use latlab_digest::testing::{FIRST_RELEASE, SyntheticRun};
use latlab_digest::{RunBuilder, RunDigest, StreamEnd, StreamRow};
use latlab_model::attach::{
    ActivationCall, AttachReport, AttachedThread, AttachedThreadReport, Cycle, CyclePart,
    FaultKind, LongCycle, PackedCycles, ReleasedBy, RhythmKind, ThreadFault,
};
use latlab_model::call_site::{CallFrame, CallSite};
use latlab_model::deadline::is_miss;
use latlab_model::explanation::{BlamePart, Cause, CauseKind, WakePhase};
use latlab_model::frame::{Interval, Message, Spike, Spikes};
use latlab_model::nanos::{MICROSECOND, MILLISECOND};
use latlab_model::plan::{Method, Until, Who};
use latlab_model::run::{
    AgentEnd, AppliedSetup, EndReason, ThreadEnd, ThreadSetup, VerdictReason, VerdictWord,
};
use latlab_model::{Histogram, Nanos, Plan};

/// A thread with its period and its cycles: each with the length of its response, and of the pause
/// before it.
struct Looper {
    name: &'static str,
    period: Nanos,
    is_judged: bool,
    cycles: Vec<(Nanos, u32)>,
    unseen: u64,
    report: AttachedThreadReport,
}

impl Looper {
    fn steady(name: &'static str, period: Nanos, response: Nanos) -> Looper {
        let cycles = vec![(response, 0); 100];
        let report = AttachedThreadReport::default();
        Looper { name, period, is_judged: true, cycles, unseen: 0, report }
    }

    fn cycles(&self) -> Vec<Cycle> {
        let mut release = FIRST_RELEASE - self.period;
        let cycle = |&(response, overruns): &(Nanos, u32)| {
            release += self.period * (1 + i64::from(overruns));
            let wake_up_ns = MICROSECOND * 5;
            Cycle {
                release_ns: release,
                released_by: ReleasedBy::Timer,
                wake_up_ns,
                execution_ns: response - wake_up_ns,
                preempted_ns: Nanos::ZERO,
                blocked_ns: Nanos::ZERO,
                overruns,
            }
        };
        self.cycles.iter().map(cycle).collect()
    }

    fn found(&self, thread: u32) -> AttachedThread {
        let setup = self.is_judged.then(|| ThreadSetup {
            thread,
            cpu: None,
            core_type: None,
            capacity: None,
            thread_id: Some(100 + thread as i32),
            policy: "fifo 80".to_string(),
            period_ns: Some(self.period),
            first_release_ns: FIRST_RELEASE,
        });
        AttachedThread {
            thread,
            thread_id: 100 + thread as i32,
            name: self.name.to_string(),
            policy: "fifo 80".to_string(),
            cpus: "0-1".to_string(),
            activation: ActivationCall {
                call: "clock_nanosleep".to_string(),
                descriptor: None,
                file: None,
                sleep: Some((1, true)),
            },
            ambiguous_with: None,
            rhythm: RhythmKind::Exact,
            period_ns: Some(self.period),
            deadline_ns: setup.as_ref().map(|_| self.period),
            deadline_is_assumed: true,
            setup,
        }
    }

    /// The agent's messages about it.
    fn messages(&self, thread: u32) -> Vec<Message> {
        let cycles = self.cycles();
        let mut messages = vec![
            Message::AttachedThread(self.found(thread)),
            Message::Cycles(PackedCycles::pack(thread, &cycles)),
        ];
        if !self.is_judged {
            return messages;
        }
        let responses = cycles.iter().map(Cycle::response_ns);
        let late = responses.clone().filter(|time| is_miss(time.0, self.period.0)).count() as u64;
        let overruns: u64 = cycles.iter().map(|cycle| u64::from(cycle.overruns)).sum();
        let counts: Histogram = responses.collect();
        let counts = Histogram { overruns, misses: late + overruns, ..counts };
        let end_ns = cycles[cycles.len() - 1].release_ns + Nanos(1);
        messages.push(Message::Interval(Interval {
            thread,
            start_ns: FIRST_RELEASE,
            end_ns,
            counts,
        }));
        let spike =
            |cycle: &Cycle| Spike { latency_ns: cycle.response_ns(), release_ns: cycle.release_ns };
        let spikes = cycles.iter().map(spike).collect();
        messages.push(Message::Spikes(Spikes { thread, spikes }));
        let end = ThreadEnd::new(thread, EndReason::Finished, cycles.len() as u64);
        messages.push(Message::ThreadEnd(ThreadEnd { overruns, ..end }));
        messages
    }
}

/// A call chain of one function.
fn chain(function: &str) -> Vec<CallFrame> {
    vec![CallFrame {
        module: "/bin/control".to_string(),
        offset: 5,
        function: Some(function.to_string()),
        file: None,
        line: None,
    }]
}

fn digest(loopers: &[Looper], deadline_ns: Option<Nanos>) -> (RunDigest, Vec<StreamRow>) {
    digest_with(loopers, deadline_ns, Vec::new())
}

/// With further messages of the agent.
fn digest_with(
    loopers: &[Looper],
    deadline_ns: Option<Nanos>,
    more: Vec<Message>,
) -> (RunDigest, Vec<StreamRow>) {
    let synthetic = SyntheticRun::default();
    let plan = Plan {
        method: Method::Attach(Box::default()),
        who: Who { policy: None, threads: None, ..synthetic.plan().who },
        until: Until { deadline_ns, ..synthetic.plan().until },
        ..synthetic.plan()
    };
    let mut messages = vec![
        Message::Plan(plan),
        Message::Machine(synthetic.machine()),
        Message::Prepared(AppliedSetup { threads: Vec::new(), ..synthetic.prepared() }),
    ];
    let threads = (0..).zip(loopers);
    messages.extend(threads.clone().flat_map(|(thread, one)| one.messages(thread)));
    messages.extend(more);
    let reports = threads.map(|(thread, one)| AttachedThreadReport {
        thread,
        cycles: one.cycles.len() as u64,
        unseen: one.unseen,
        ..one.report.clone()
    });
    messages.push(Message::AttachReport(AttachReport {
        program: "control (process 99)".to_string(),
        threads: reports.collect(),
        ..AttachReport::default()
    }));
    messages.push(Message::End(AgentEnd {
        reason: EndReason::Finished,
        agent_peak_rss_bytes: 0,
        helpers_cpu_ns: Nanos::ZERO,
        intervals_merged: 0,
        spike_hook: None,
    }));
    let mut builder = RunBuilder::default();
    let mut rows: Vec<StreamRow> =
        messages.into_iter().filter_map(|message| builder.push(message)).collect();
    rows.extend(builder.last_rows());
    builder.set_call_chains(
        ["step", "log", "step"]
            .map(chain)
            .into_iter()
            .enumerate()
            .map(|(site, chain)| (site as u32, chain))
            .collect(),
    );
    let begun = "2026-11-21T16:05:01Z".parse().unwrap();
    (builder.finish("one", begun, StreamEnd::default()).unwrap(), rows)
}

#[test]
fn threads_are_judged_by_their_own_periods() {
    // The fast one is late once, and the slow one takes longer than that without being late.
    let mut fast = Looper::steady("fast", MILLISECOND, MICROSECOND * 300);
    fast.cycles[40] = (MICROSECOND * 2_400, 0);
    fast.cycles[41] = (MICROSECOND * 300, 2);
    let slow = Looper::steady("slow", MILLISECOND * 10, MILLISECOND * 4);
    let (RunDigest { run, bins, .. }, rows) = digest(&[fast, slow], None);
    let verdict = run.verdict.unwrap();
    assert_eq!((verdict.word, verdict.misses), (VerdictWord::Fail, 3));
    assert_eq!(verdict.releases, 202, "cycles and overruns are releases");
    assert_eq!(verdict.bursts.map(|bursts| bursts.count), Some(1));
    let attached = run.attached.unwrap();
    let misses: Vec<u64> = attached.threads.iter().map(|thread| thread.misses).collect();
    assert_eq!((misses, run.threads.len()), (vec![3, 0], 2));
    let response = attached.threads[1].parts.iter().find(|one| one.part == CyclePart::Response);
    assert_eq!(response.map(|figures| figures.max_ns), Some(MILLISECOND * 4));
    assert_eq!(bins.iter().map(|row| row.bin.count).sum::<u64>(), 200);
    let cycles = rows.iter().map(|row| match row {
        StreamRow::Cycles(rows) => rows.len(),
        _ => 0,
    });
    assert_eq!(cycles.sum::<usize>(), 200);
}

#[test]
fn the_longest_cycles_are_kept_with_what_took_most_of_them() {
    let part = |from, to, phase, kind, name: &str| BlamePart {
        from_ns: MICROSECOND * from,
        to_ns: MICROSECOND * to,
        phase,
        cause: Cause { kind, name: name.to_string() },
        thread: None,
        evidence: None,
        detail: None,
    };
    let long = |n: i64| LongCycle {
        thread: 0,
        thread_id: 100,
        cpu: 1,
        release_ns: FIRST_RELEASE + MILLISECOND * n,
        wake_up_ns: MICROSECOND * 5,
        response_ns: MICROSECOND * (100 + n),
        parts: vec![
            part(0, 5, WakePhase::TimerLate, CauseKind::WakeUp, ""),
            part(5, 40, WakePhase::Work, CauseKind::Execution, ""),
            part(40, 100 + n, WakePhase::Work, CauseKind::Lock, "logger"),
        ],
    };
    let control = Looper::steady("control", MILLISECOND, MICROSECOND * 300);
    let more = [3, 39, 7].into_iter().chain(8..38).map(|n| Message::LongCycle(long(n)));
    let (RunDigest { run, .. }, _) = digest_with(&[control], None, more.collect());
    let longest = &run.attached.unwrap().threads[0].longest;
    let responses: Vec<i64> = longest.iter().map(|one| one.latency_ns.0 / 1_000).collect();
    let expected: Vec<i64> = [139].into_iter().chain((123..138).rev()).collect();
    assert_eq!(responses, expected);
    let first = &longest[0];
    let logger = Cause { kind: CauseKind::Lock, name: "logger".to_string() };
    assert_eq!((first.spike, &first.cause, first.cause_ns), (1, &Some(logger), MICROSECOND * 99));
}

#[test]
fn call_sites_with_the_same_chain_are_one() {
    let site = |site, count| CallSite { site, count, frames: Vec::new() };
    let fault = |kind, sites| ThreadFault {
        kind,
        call: None,
        object: None,
        count: 9,
        cycles: 9,
        longest_ns: Nanos::ZERO,
        sites,
    };
    let sites = vec![site(0, 2), site(1, 3), site(2, 4)];
    let report = AttachedThreadReport {
        activation_site: Some(site(1, 0)),
        faults: vec![fault(FaultKind::Heap, sites), fault(FaultKind::RelativeSleep, Vec::new())],
        ..AttachedThreadReport::default()
    };
    let control = Looper { report, ..Looper::steady("control", MILLISECOND, MICROSECOND * 300) };
    let (RunDigest { run, .. }, _) = digest(&[control], None);
    let report = &run.attached.unwrap().threads[0].report;
    let places = |fault: &ThreadFault| -> Vec<(String, u64)> {
        fault.sites.iter().map(|site| (site.place().unwrap(), site.count)).collect()
    };
    let (step, log) = ("control+0x5 (step)".to_string(), "control+0x5 (log)".to_string());
    assert_eq!(places(&report.faults[0]), [(step, 6), (log.clone(), 3)]);
    assert_eq!(places(&report.faults[1]), [(log, 0)], "where it waits");
}

#[test]
fn a_deadline_that_was_given_is_that_of_all() {
    let slow = Looper::steady("slow", MILLISECOND * 10, MILLISECOND * 4);
    let (RunDigest { run, .. }, _) = digest(&[slow], Some(MILLISECOND * 20));
    let verdict = run.verdict.unwrap();
    assert_eq!((verdict.word, verdict.deadline_ns), (VerdictWord::Pass, MILLISECOND * 20));
}

/// Invariant (losses): A cycle of a program that could not be followed keeps its run from passing.
#[test]
fn what_could_not_be_followed_is_not_good() {
    let unseen = Looper { unseen: 7, ..Looper::steady("control", MILLISECOND, MICROSECOND * 300) };
    let (RunDigest { run, .. }, _) = digest(&[unseen], None);
    let verdict = run.verdict.unwrap();
    assert_eq!((verdict.word, verdict.misses), (VerdictWord::Inconclusive, 0));
    let Some(VerdictReason::PassForbidden { finding, .. }) = verdict.reason else {
        panic!("{:?}", verdict.reason)
    };
    assert_eq!(finding.code(), "cycles-unseen");
}

#[test]
fn a_thread_that_is_not_judged_is_shown_and_counts_nowhere() {
    let control = Looper::steady("control", MILLISECOND, MICROSECOND * 300);
    let logger =
        Looper { is_judged: false, ..Looper::steady("logger", MILLISECOND, MILLISECOND * 70) };
    let (RunDigest { run, .. }, _) = digest(&[control, logger], None);
    assert_eq!(run.verdict.as_ref().map(|verdict| verdict.word), Some(VerdictWord::Pass));
    assert_eq!(run.total.max_ns, Some(MICROSECOND * 300));
    let names: Vec<&str> =
        run.attached.iter().flat_map(|of| &of.threads).map(|one| one.found.name.as_str()).collect();
    assert_eq!(names, ["control", "logger"]);
}

#[test]
fn a_program_without_cycles_is_told_of() {
    let (RunDigest { run, .. }, _) = digest(&[], None);
    assert_eq!(run.verdict, None);
    assert!(run.findings.iter().any(|finding| finding.code() == "no-cycles"));
}
