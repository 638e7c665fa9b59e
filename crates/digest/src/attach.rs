//! The threads of an attached program: from their frames to their part of the run.

use crate::arrivals::ArrivalCurve;
use crate::bins::BinCounts;
use crate::chains::{ChainLatency, Chains};
use crate::rows::{CycleRow, coarse_edges};
use latlab_model::attach::{
    ActivationCall, AttachReport, AttachedChain, AttachedRun, AttachedThread, AttachedThreadReport,
    AttachedThreadRun, CyclePart, CyclePartFigures, FaultKind, LONGEST, LongCycle, PackedCycles,
    RhythmKind, ThreadFault,
};
use latlab_model::call_site::{CallFrame, CallSite, CallStack};
use latlab_model::deadline::is_miss;
use latlab_model::explanation::SpikeBlame;
use latlab_model::finding::{AttachFinding, Finding, FindingKind, LossFinding};
use latlab_model::histogram::{bin_low, bin_of};
use latlab_model::plan::{JudgedTime, Method};
use latlab_model::run::Quantiles;
use latlab_model::{Bin, Histogram, Nanos, Plan};
use latlab_stats::quantiles;
use latlab_trace::tell_cycle;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// State gathered from the frames so far.
#[derive(Default)]
pub struct AttachDigest {
    threads: BTreeMap<u32, FoundThread>,
    report: Option<AttachReport>,
    stacks: Vec<CallStack>,
    /// By the number of their site.
    call_chains: BTreeMap<u32, Vec<CallFrame>>,
    chains: Chains,
    /// Latencies of each chain of threads.
    chain_counts: BTreeMap<Vec<u32>, ChainCounts>,
}

#[derive(Default)]
struct ChainCounts {
    counts: PartCounts,
    /// Of the longest one.
    release: Nanos,
}

/// Least latencies of a chain that is shown, and most chains.
const CHAIN_LATENCIES: u64 = 10;
const MOST_CHAINS: usize = 8;

/// A program has no more call sites than this; the stream may be damaged.
const MOST_STACKS: usize = 1 << 14;

struct FoundThread {
    found: AttachedThread,
    parts: BTreeMap<CyclePart, PartCounts>,
    misses: u64,
    /// The longest first.
    longest: Vec<LongCycle>,
    /// For a thread whose releases are not its own timer's.
    arrivals: Option<ArrivalCurve>,
}

#[derive(Default)]
struct PartCounts {
    total: Histogram,
    bins: BinCounts,
}

/// What a run stores of them.
struct Figures {
    quantiles: Option<Quantiles>,
    max_ns: Nanos,
    bins: Vec<Bin>,
}

impl PartCounts {
    fn figures(&mut self) -> Figures {
        let total = &mut self.total;
        total.bins = self.bins.take();
        Figures { quantiles: quantiles(total), max_ns: total.max_ns, bins: coarse_rows(total) }
    }

    fn add(&mut self, time: Nanos) {
        let total = &mut self.total;
        total.min_ns = if total.count == 0 { time } else { total.min_ns.min(time) };
        total.max_ns = if total.count == 0 { time } else { total.max_ns.max(time) };
        total.count += 1;
        total.sum_ns += i128::from(time.0);
        match u64::try_from(time.0) {
            Ok(time) => self.bins.add(bin_of(time) as u32, 1),
            Err(_) => total.underflow += 1,
        }
    }
}

impl AttachDigest {
    /// Adds a thread that was found.
    pub fn push_thread(&mut self, found: AttachedThread) {
        let has_timer = matches!(found.rhythm, RhythmKind::Exact | RhythmKind::Drifting);
        let arrivals = (!has_timer).then(ArrivalCurve::default);
        let (parts, longest) = (BTreeMap::new(), Vec::new());
        let thread = FoundThread { found, parts, misses: 0, longest, arrivals };
        self.threads.entry(thread.found.thread).or_insert(thread);
    }

    /// Adds cycles; returns their rows, or why they were left out.
    pub fn push_cycles(
        &mut self,
        packed: &PackedCycles,
        plan: &Plan,
    ) -> Result<Vec<CycleRow>, Box<Finding>> {
        let thread = packed.thread;
        let unsound = |damage: String| {
            let (count, within_ns, asked_for) = (Some(packed.count.into()), None, true);
            let damage = Some(damage);
            Box::new(Finding::new(LossFinding::SamplesLost { count, within_ns, damage, asked_for }))
        };
        let cycles = packed.unpack().map_err(|error| unsound(error.to_string()))?;
        let known = self.threads.get_mut(&thread);
        let Some(known) = known else { return Err(unsound("their thread is unknown".into())) };
        self.chains.push(thread, &cycles);
        for cycle in &cycles {
            known.arrivals.iter_mut().for_each(|curve| curve.push(cycle.release_ns));
            for part in CyclePart::ALL {
                known.parts.entry(*part).or_default().add(cycle.part(*part));
            }
            let judged = cycle.part(judged_part(plan));
            let deadline = known.found.deadline_ns;
            let is_late = deadline.is_some_and(|deadline| is_miss(judged.0, deadline.0));
            let passed = deadline.map_or(0, |_| u64::from(cycle.overruns));
            known.misses += u64::from(is_late) + passed;
        }
        Ok(cycles.into_iter().map(|cycle| CycleRow { thread, cycle }).collect())
    }

    /// Adds a cycle, which is dropped if it is not among the longest of its thread.
    pub fn push_long_cycle(&mut self, long: LongCycle) {
        let Some(known) = self.threads.get_mut(&long.thread) else { return };
        let at = known.longest.partition_point(|one| one.response_ns >= long.response_ns);
        known.longest.insert(at, long);
        known.longest.truncate(LONGEST);
    }

    /// Adds the stack of a call site.
    pub fn push_stack(&mut self, stack: CallStack) {
        if self.stacks.len() < MOST_STACKS {
            self.stacks.push(stack);
        }
    }

    pub fn stacks(&self) -> &[CallStack] {
        &self.stacks
    }

    pub fn set_call_chains(&mut self, chains: BTreeMap<u32, Vec<CallFrame>>) {
        self.call_chains = chains;
    }

    /// Adds the current report.
    pub fn push_report(&mut self, report: AttachReport) {
        self.follow_chains(&report.threads, false);
        self.report = Some(report);
    }

    fn follow_chains(&mut self, reports: &[AttachedThreadReport], is_over: bool) {
        let AttachDigest { threads, chains, chain_counts, .. } = self;
        let ids = threads.values().map(|thread| (thread.found.thread_id, thread.found.thread));
        chains.follow(
            reports,
            &ids.collect(),
            is_over,
            |chain, ChainLatency { release, latency }| {
                if !chain_counts.contains_key(chain) {
                    chain_counts.insert(chain.to_vec(), ChainCounts::default());
                }
                let Some(known) = chain_counts.get_mut(chain) else { return };
                if latency > known.counts.total.max_ns || known.counts.total.count == 0 {
                    known.release = release;
                }
                known.counts.add(latency);
            },
        );
    }

    /// The chains with most latencies first.
    fn end_chains(&mut self, reports: &[AttachedThreadReport]) -> Vec<AttachedChain> {
        self.follow_chains(reports, true);
        let AttachDigest { threads, chain_counts, .. } = self;
        let name = |thread: &u32| threads.get(thread).map(|one| one.found.name.clone());
        let cycles = |thread: &u32| {
            reports.iter().find(|one| one.thread == *thread).map_or(0, |one| one.cycles)
        };
        let chains = std::mem::take(chain_counts).into_iter().map(|(threads, mut known)| {
            let figures = known.counts.figures();
            AttachedChain {
                names: threads.iter().filter_map(name).collect(),
                cycles: threads.last().map_or(0, cycles),
                count: known.counts.total.count,
                quantiles: figures.quantiles,
                max_ns: figures.max_ns,
                longest_release_ns: known.release,
                bins: figures.bins,
                threads,
            }
        });
        let mut chains: Vec<AttachedChain> =
            chains.filter(|chain| chain.count >= CHAIN_LATENCIES).collect();
        chains.sort_by_key(|chain| Reverse(chain.count));
        chains.truncate(MOST_CHAINS);
        chains
    }

    /// The deadline of each thread of the run.
    pub fn deadlines(&self) -> BTreeMap<u32, Nanos> {
        let judged = self.threads.values().filter_map(|thread| {
            Some((thread.found.setup.as_ref()?.thread, thread.found.deadline_ns?))
        });
        judged.collect()
    }

    /// The attached threads, and their findings. `recorded` are cycles whose CPU was recorded as
    /// well.
    pub fn finish(mut self, recorded: &[SpikeBlame]) -> (AttachedRun, Vec<Finding>) {
        let report = self.report.take().unwrap_or_default();
        let chains = self.end_chains(&report.threads);
        let mut findings = Vec::new();
        if self.threads.is_empty() {
            let waited = report.without_rhythm.clone();
            findings.push(Finding::new(AttachFinding::NoCycles { waited }));
        }
        let known: BTreeMap<u32, AttachedThreadReport> =
            report.threads.into_iter().map(|thread| (thread.thread, thread)).collect();
        let mut threads: Vec<AttachedThreadRun> = self
            .threads
            .into_values()
            .map(|thread| {
                let mut report = known.get(&thread.found.thread).cloned().unwrap_or_default();
                place(&mut report, &self.call_chains);
                keep_shared_cpu(&mut report, &thread.found);
                thread.finish(report)
            })
            .collect();
        threads.iter().for_each(|thread| findings.extend(thread_findings(thread)));
        // Memory belongs to the process, and is locked or not for all of its threads.
        let mut is_told = false;
        findings.retain(|finding: &Finding| {
            let FindingKind::Attach(AttachFinding::MemoryUnlocked { .. }) = finding.kind else {
                return true;
            };
            !std::mem::replace(&mut is_told, true)
        });
        // Judged threads first, each group in the order in which they were found.
        threads.sort_by_key(|thread| (thread.found.setup.is_none(), thread.found.thread));
        explain_longest(&mut threads, recorded);
        let run = AttachedRun {
            program: report.program,
            threads,
            chains,
            without_rhythm: report.without_rhythm,
            events_lost: report.events_lost,
            events: report.events,
            reader_cpu_ns: report.reader_cpu_ns,
            exit_status: report.exit_status,
        };
        (run, findings)
    }
}

impl FoundThread {
    fn finish(self, report: AttachedThreadReport) -> AttachedThreadRun {
        let thread = self.found.setup.as_ref().map_or(self.found.thread, |setup| setup.thread);
        let longest = self.longest.iter().map(|long| tell_cycle(0, thread, long)).collect();
        let parts = self.parts.into_iter().map(|(part, mut counts)| {
            let Figures { quantiles, max_ns, bins } = counts.figures();
            CyclePartFigures { part, quantiles, max_ns, bins }
        });
        // Of cycles that were not followed, the releases are unknown.
        let arrivals = self.arrivals.filter(|_| report.unseen == 0);
        AttachedThreadRun {
            parts: parts.collect(),
            found: self.found,
            misses: self.misses,
            longest,
            arrivals: arrivals.map(|curve| curve.finish()).unwrap_or_default(),
            report,
        }
    }
}

/// Least number and share of the cycles of a thread that another one keeps from its only CPU.
const SHARED_CYCLES: u64 = 10;
const SHARED_SHARE: f64 = 0.01;

/// Sharing a CPU is a fault only of a thread that has no other CPU and often waits for it. The report keeps
/// the thread that it waited for most often.
fn keep_shared_cpu(report: &mut AttachedThreadReport, found: &AttachedThread) {
    let is_shared = |fault: &&ThreadFault| fault.kind == FaultKind::SharedCpu;
    let is_pinned = found.cpus.parse::<u32>().is_ok();
    let least = SHARED_CYCLES.max((SHARED_SHARE * report.cycles as f64) as u64);
    let most = report.faults.iter().filter(is_shared).max_by_key(|fault| fault.cycles).cloned();
    report.faults.retain(|fault| !is_shared(&fault));
    report.faults.extend(most.filter(|fault| is_pinned && fault.cycles >= least));
}

/// Sets the call chains of a thread's call sites; sites with the same chain become one.
fn place(report: &mut AttachedThreadReport, chains: &BTreeMap<u32, Vec<CallFrame>>) {
    let chain = |site: &CallSite| chains.get(&site.site).cloned().unwrap_or_default();
    report.activation_site.iter_mut().for_each(|site| site.frames = chain(site));
    for fault in &mut report.faults {
        // How it waits is a fault of the place where it waits.
        if matches!(fault.kind, FaultKind::RelativeSleep | FaultKind::SettableClock) {
            fault.sites = report.activation_site.iter().cloned().collect();
            continue;
        }
        let mut sites: Vec<CallSite> = Vec::new();
        for site in std::mem::take(&mut fault.sites) {
            let frames = chain(&site);
            match sites.iter_mut().find(|known| known.frames == frames) {
                Some(known) => known.count += site.count,
                None => sites.push(CallSite { frames, ..site }),
            }
        }
        sites.sort_by_key(|site| (Reverse(site.count), site.site));
        fault.sites = sites;
    }
}

/// Takes the explanations of cycles whose CPU was recorded. The others are numbered if there are
/// none of these, the longest cycle of a judged thread being 1.
fn explain_longest(threads: &mut [AttachedThreadRun], recorded: &[SpikeBlame]) {
    let judged = threads.iter_mut().filter(|thread| thread.found.setup.is_some());
    let mut longest: Vec<&mut SpikeBlame> = judged.flat_map(|thread| &mut thread.longest).collect();
    longest.sort_by_key(|one| (Reverse(one.latency_ns), one.release_ns));
    for (number, long) in (1..).zip(longest) {
        if recorded.is_empty() {
            long.spike = number;
        }
        let same = |one: &&SpikeBlame| {
            (one.thread, one.release_ns, one.latency_ns)
                == (long.thread, long.release_ns, long.latency_ns)
        };
        if let Some(same) = recorded.iter().find(same) {
            *long = same.clone();
        }
    }
}

/// The part of a cycle that its deadline applies to.
fn judged_part(plan: &Plan) -> CyclePart {
    match &plan.method {
        Method::Attach(attach) if attach.judged == JudgedTime::WakeUp => CyclePart::WakeUp,
        _ => CyclePart::Response,
    }
}

/// Between the edges of a run's intervals: enough for a plot.
fn coarse_rows(counts: &Histogram) -> Vec<Bin> {
    let edges = coarse_edges();
    let mut sums: BTreeMap<usize, u64> = BTreeMap::new();
    for &(bin, count) in &counts.bins {
        let low = bin_low(bin as usize) as i64;
        *sums.entry(edges.partition_point(|&edge| edge <= low).saturating_sub(1)).or_default() +=
            count;
    }
    let high = |at: usize| edges.get(at + 1).copied().map_or(Nanos::MAX, Nanos);
    let row =
        |(at, count): (usize, u64)| Bin { low_ns: Nanos(edges[at]), high_ns: high(at), count };
    sums.into_iter().map(row).collect()
}

/// Findings about a thread.
fn thread_findings(thread: &AttachedThreadRun) -> Vec<Finding> {
    let AttachedThreadRun { found, report, .. } = thread;
    // A thread that is not judged only has figures.
    let Some(setup) = &found.setup else { return Vec::new() };
    let name = || found.name.clone();
    let unseen = (report.unseen > 0).then(|| AttachFinding::CyclesUnseen {
        name: name(),
        count: report.unseen,
        followed: report.cycles,
    });
    let ambiguous = found.ambiguous_with.as_ref().map(|other| {
        // Only a sleep is ambiguous with itself; two futexes differ by their addresses.
        let is_another = other == &found.activation && other.sleep.is_none();
        AttachFinding::ActivationAmbiguous {
            name: name(),
            call: words(&found.activation),
            other: if is_another { format!("another {}", other.call) } else { words(other) },
        }
    });
    let lost = (report.activation_lost && !report.has_ended)
        .then(|| AttachFinding::ActivationLost { name: name(), call: words(&found.activation) });
    let waiting = (report.waiting > 0).then(|| AttachFinding::CyclesWaiting {
        name: name(),
        count: report.waiting,
        of: report.cycles,
    });
    let changed = report.policy_at_end.as_ref().map(|after| AttachFinding::PolicyChanged {
        name: name(),
        before: found.policy.clone(),
        after: after.clone(),
    });
    let rhythm = report.rhythm_change.zip(found.period_ns).map(|(change, before_ns)| {
        let finding = AttachFinding::RhythmChanged {
            name: name(),
            before_ns,
            after_ns: change.period_ns,
            was_deadline: found.deadline_is_assumed,
        };
        Finding::new(finding).of_thread(setup.thread).at(change.at_ns)
    });
    let faults = report
        .faults
        .iter()
        .map(|fault| AttachFinding::of_fault(&found.name, fault, found.period_ns));
    let all = [unseen, ambiguous, lost, waiting, changed].into_iter().flatten();
    let all = all.chain(faults).map(|finding| Finding::new(finding).of_thread(setup.thread));
    all.chain(rhythm).collect()
}

/// `read of file descriptor 7 (timerfd)`.
fn words(call: &ActivationCall) -> String {
    let file = call.file.as_ref().map(|file| format!(" ({file})")).unwrap_or_default();
    match call.descriptor {
        Some(descriptor) => format!("{} of file descriptor {descriptor}{file}", call.call),
        None => call.call.clone(),
    }
}
