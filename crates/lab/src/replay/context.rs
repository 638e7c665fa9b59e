//! The meaning of a path: a system call, an interrupt, a softirq; and the cause of a latency, in
//! words.

use super::paths::{Entry, PathId, Paths, Step};
use super::result::{Activity, GuestThread, ReplayPart, ReplayedLatency, TimedPart};
use super::symbols::Symbols;
use super::walk::Stretch;
use latlab_model::Nanos;
use std::collections::{BTreeMap, HashMap};

/// Functions that run softirqs.
const SOFTIRQS: [&str; 2] = ["__do_softirq", "handle_softirqs"];
/// Prefixes of the functions that a tracepoint calls.
const PROBES: [&str; 5] =
    ["__traceiter_", "trace_event_raw_", "perf_trace_", "__bpf_trace_", "ftrace_"];
/// Prefixes of the functions of system calls.
const SYSTEM_CALLS: [&str; 6] =
    ["__x64_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_", "ksys_", "__sys_"];
/// Prefix of the names of latlab's measuring threads.
const MEASURES: &str = "latlab/";
/// A function is named if it takes at least this share of its context.
const MAIN: f64 = 0.5;
/// A blocker with a smaller share of a latency is not its cause.
const REASON: f64 = 0.2;

/// The paths of a kernel with their meaning.
pub(super) struct Contexts<'a> {
    pub(super) paths: &'a Paths,
    pub(super) symbols: &'a Symbols,
    /// Whether the kernel is preemptible.
    pub(super) preempts: bool,
}

/// What kept a thread off its CPU, over all parts.
struct Reason<'a> {
    first: &'a TimedPart,
    longest: &'a TimedPart,
    total: Nanos,
    function_ns: Nanos,
    preemption_off: Nanos,
    interrupts_off: Nanos,
}

impl Contexts<'_> {
    /// The context of a path: the innermost system call, interrupt, exception or softirq, else the
    /// program or the outermost function.
    pub(super) fn of(&self, path: PathId) -> PathId {
        let mut outermost = path;
        for step in self.paths.up(path) {
            if self.paths.entry(step) != Entry::Call || self.is_softirq(step) {
                return step;
            }
            outermost = step;
        }
        outermost
    }

    fn is_softirq(&self, step: PathId) -> bool {
        SOFTIRQS.contains(&self.paths.name(step, self.symbols))
    }

    pub(super) fn is_user(&self, path: PathId) -> bool {
        self.paths.is_user(path)
    }

    pub(super) fn is_in(&self, path: PathId, function: &str) -> bool {
        self.paths.find(path, self.symbols, function).is_some()
    }

    pub(super) fn is_below(&self, path: PathId, step: PathId) -> bool {
        self.paths.up(path).any(|one| one == step)
    }

    /// The interrupt that a path is in.
    pub(super) fn interrupt(&self, path: PathId) -> Option<PathId> {
        self.paths.up(path).find(|step| self.paths.entry(*step) == Entry::Interrupt)
    }

    /// The name of the function of a path.
    pub(super) fn function(&self, path: PathId) -> String {
        self.paths.name(path, self.symbols).to_string()
    }

    /// What a thread did in these stretches of one context.
    pub(super) fn activity(&self, context: PathId, group: &[Stretch]) -> Activity {
        let steps = || group.iter().flat_map(|one| self.paths.up(one.path));
        let name = self.paths.name(context, self.symbols);
        let has =
            |function: &str| steps().any(|one| self.paths.name(one, self.symbols) == function);
        match self.paths.entry(context) {
            _ if self.is_softirq(context) => {
                Activity::Softirq { handler: self.handler(context, group).map(str::to_string) }
            }
            Entry::Call if self.is_user(context) => Activity::Program,
            Entry::Call => Activity::Kernel { function: name.to_string() },
            Entry::SystemCall => {
                let all = group.iter().flat_map(|one| self.paths.down(one.path));
                let call = all.into_iter().find_map(|one| {
                    let name = self.paths.name(one, self.symbols);
                    SYSTEM_CALLS.iter().find_map(|begin| name.strip_prefix(begin))
                });
                // System call functions are called through a table, and a part may be outside of
                // them.
                Activity::SystemCall { name: call.map(str::to_string) }
            }
            Entry::Interrupt => match name {
                "asm_sysvec_apic_timer_interrupt" => Activity::TimerInterrupt,
                _ if has("arch_timer_handler_virt") || has("arch_timer_handler_phys") => {
                    Activity::TimerInterrupt
                }
                _ => {
                    let name = name.strip_prefix("asm_sysvec_").map(str::to_string);
                    Activity::Interrupt { name }
                }
            },
            Entry::Exception => match name {
                "asm_exc_page_fault" => Activity::PageFault,
                _ if has("do_page_fault") || has("do_mem_abort") => Activity::PageFault,
                _ => Activity::Exception,
            },
        }
    }

    /// The function in which a softirq spent the most time; a tracer's probe before it does not
    /// count.
    fn handler(&self, softirq: PathId, group: &[Stretch]) -> Option<&str> {
        let mut took: BTreeMap<&str, u64> = BTreeMap::new();
        for one in group {
            let mut inner = self.paths.up(one.path);
            if let Some(inner) = inner.find(|step| self.paths.parent(*step) == Some(softirq)) {
                *took.entry(self.paths.name(inner, self.symbols)).or_default() += one.to - one.from;
            }
        }
        let is_probe = |name: &str| PROBES.iter().any(|begin| name.starts_with(begin));
        took.retain(|name, _| !is_probe(name));
        took.into_iter().max_by_key(|(_, length)| *length).map(|(name, _)| name)
    }

    /// The function within a context that took most of these stretches, going inwards as long as it
    /// took half of them, and its time.
    pub(super) fn main_function(
        &self,
        context: PathId,
        group: &[Stretch],
    ) -> (Option<String>, u64) {
        let (chain, took) = self.main_chain(context, group);
        (chain.last().map(|step| self.function(*step)), took)
    }

    /// The names of the functions up to that one.
    pub(super) fn main_path(&self, context: PathId, group: &[Stretch]) -> Vec<String> {
        self.main_chain(context, group).0.into_iter().map(|step| self.function(step)).collect()
    }

    fn main_chain(&self, context: PathId, group: &[Stretch]) -> (Vec<PathId>, u64) {
        let mut took: HashMap<PathId, u64> = HashMap::new();
        let mut all = 0;
        for one in group {
            all += one.to - one.from;
            for step in self.paths.up(one.path) {
                *took.entry(step).or_default() += one.to - one.from;
            }
        }
        let (mut chain, mut main) = (Vec::new(), (context, all));
        loop {
            let inner = took.iter().filter(|(step, _)| self.paths.parent(**step) == Some(main.0));
            let Some((step, length)) = inner.max_by_key(|(step, length)| (**length, **step)) else {
                break;
            };
            if (*length as f64) < MAIN * all as f64 {
                break;
            }
            main = (*step, *length);
            chain.extend(matches!(self.paths.step(*step), Step::Function(_)).then_some(*step));
        }
        (chain, main.1)
    }

    /// Adds the cause: a sentence, and whether it was a thread of latlab.
    pub(super) fn judge(&self, told: &mut ReplayedLatency) {
        let measured = told.measured.clone();
        let is_own = |thread: &GuestThread| {
            *thread != measured
                && thread.tgid == measured.tgid
                && !thread.name.starts_with(MEASURES)
        };
        let mut own: BTreeMap<&GuestThread, Nanos> = BTreeMap::new();
        for part in told.parts.iter().filter(|part| is_foreign(part, &measured)) {
            if let Some(thread) = part.thread.as_ref().filter(|thread| is_own(thread)) {
                *own.entry(thread).or_default() += part.length();
            }
        }
        let most = own.iter().max_by_key(|(thread, length)| (**length, thread.pid));
        let own_thread = most.map(|(thread, _)| (*thread).clone());
        let own_ns = own.values().copied().sum();
        told.sentence = self.sentence(told);
        told.own_thread = own_thread;
        told.own_ns = own_ns;
    }

    fn sentence(&self, told: &ReplayedLatency) -> String {
        let mut reasons: Vec<Reason<'_>> = Vec::new();
        for part in told.parts.iter().filter(|part| is_foreign(part, &told.measured)) {
            let same = |one: &&mut Reason<'_>| {
                one.first.thread == part.thread && one.first.activity == part.activity
            };
            let reason = match reasons.iter_mut().find(same) {
                Some(reason) => reason,
                None => {
                    let none = Nanos::ZERO;
                    reasons.push(Reason {
                        first: part,
                        longest: part,
                        total: none,
                        function_ns: none,
                        preemption_off: none,
                        interrupts_off: none,
                    });
                    let last = reasons.len() - 1;
                    &mut reasons[last]
                }
            };
            reason.total += part.length();
            reason.preemption_off += part.preemption_off_ns;
            reason.interrupts_off += part.interrupts_off_ns;
            if part.length() >= reason.longest.length() {
                reason.longest = part;
                reason.function_ns = part.function_ns;
            }
        }
        let latency = told.latency_ns;
        let main = reasons.iter().max_by_key(|reason| (reason.total, -reason.first.from_ns.0));
        let main = main.filter(|one| one.total.0 as f64 >= REASON * latency.0 as f64);
        let Some(main) = main else {
            let longest = told.parts.iter().max_by_key(|part| part.length());
            let longest =
                longest.map(|part| format!("{}, {}", part_words(part.part), part.length()));
            let longest = longest.unwrap_or_else(|| "none is known".to_string());
            return format!(
                "{latency}: no single cause; the longest part of the wake-up: {longest}."
            );
        };
        let (who, total) = (who(main.longest), main.total);
        let inner = main.longest.function.as_ref().filter(|_| main.function_ns < main.total);
        let inner = inner.map(|function| format!(", {} of them in `{function}`", main.function_ns));
        let inner = inner.unwrap_or_default();
        let blocked = told
            .interrupts_off
            .as_ref()
            .filter(|off| main.longest.part == ReplayPart::Due && off.length().0 * 2 >= total.0);
        let half = |part: Nanos| part.0 * 2 >= total.0;
        match blocked {
            Some(off) => format!(
                "{latency}: interrupts were off for {} in {who}, from `{}` on: {} of them behind the \
                 release.",
                off.length(),
                off.by,
                off.to_ns,
            ),
            _ if main.longest.activity == Activity::Sleep => {
                format!("{latency}: the CPU slept for {total} of it.")
            }
            _ if main.longest.thread.is_none() => {
                format!("{latency}: {total} of it were not recorded.")
            }
            _ if main.longest.activity.is_interrupt() => {
                format!("{latency}: {who} took {total}{inner}.")
            }
            _ if main.longest.activity == Activity::Program => {
                format!("{latency}: {who} ran for {total}.")
            }
            _ if !self.preempts => {
                format!("{latency}: {who} was not preemptible for {total}{inner}.")
            }
            _ if half(main.interrupts_off) => {
                format!(
                    "{latency}: {who} had interrupts off for {} of its {total}{inner}.",
                    main.interrupts_off
                )
            }
            _ if half(main.preemption_off) => {
                format!(
                    "{latency}: {who} kept preemption off for {} of its {total}{inner}.",
                    main.preemption_off
                )
            }
            _ => format!("{latency}: {who} went on for {total}{inner}."),
        }
    }
}

/// Whether a part is not of the wake-up itself.
pub(super) fn is_foreign(part: &TimedPart, measured: &GuestThread) -> bool {
    match part.part {
        ReplayPart::Due | ReplayPart::Waiting => true,
        ReplayPart::Returning | ReplayPart::Reading => {
            part.thread.as_ref() != Some(measured) || part.activity.is_interrupt()
        }
        _ => false,
    }
}

/// The blocker in words.
pub(super) fn who(part: &TimedPart) -> String {
    let name = part.thread.as_ref().map_or("an unknown thread", |thread| thread.name.as_str());
    match &part.activity {
        Activity::Program => name.to_string(),
        activity @ (Activity::Sleep | Activity::Unrecorded) => activity.to_string(),
        activity if activity.is_interrupt() => format!("{activity} (in {name})"),
        activity @ Activity::SystemCall { name: Some(_) } => format!("{name}'s {activity}"),
        activity => format!("{activity} of {name}"),
    }
}

/// A part in words.
fn part_words(part: ReplayPart) -> &'static str {
    match part {
        ReplayPart::Due => "the time until the timer's interrupt",
        ReplayPart::Interrupt => "the start of the interrupt",
        ReplayPart::Waking => "making the thread ready",
        ReplayPart::InterruptEnd => "the end of the interrupt",
        ReplayPart::Waiting => "waiting",
        ReplayPart::Switching => "the scheduler",
        ReplayPart::Returning => "the way back to the program",
        ReplayPart::Reading => "reading the clock",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Invariant (laboratory): A softirq that is run again is named by what it did for longest, whatever watched it.
    #[test]
    fn a_softirq_is_named_by_its_handler_and_not_by_the_probe_before_it() {
        let names =
            ["__do_softirq", "__traceiter_softirq_entry", "run_timer_softirq", "rcu_core_si"];
        let symbols: String = names
            .iter()
            .zip(0..)
            .map(|(name, at)| format!("ffffffff8{at:03}0000 T {name}\n"))
            .collect();
        let symbols = Symbols::parse(&symbols);
        let mut paths = Paths::default();
        let number = |name| symbols.names().iter().position(|one| one == name).unwrap();
        let softirq = Step::Function(number(names[0]));
        let softirq = paths.within(None, softirq, Entry::Call);
        let inner: Vec<PathId> = names[1..]
            .iter()
            .map(|name| paths.within(Some(softirq), Step::Function(number(name)), Entry::Call))
            .collect();
        let contexts = Contexts { paths: &paths, symbols: &symbols, preempts: false };
        let stretch = |from, to, path| Stretch { from, to, task: None, path };
        // The probe runs before each handler, here for longer than one of them.
        let group = [
            stretch(0, 400, inner[0]),
            stretch(400, 450, inner[1]),
            stretch(450, 800, inner[0]),
            stretch(800, 1_000, inner[2]),
        ];
        let words = |group: &[Stretch]| contexts.activity(softirq, group).to_string();
        assert_eq!(words(&group), "softirq rcu_core_si");
        assert_eq!(words(&group[..2]), "softirq run_timer_softirq");
        assert_eq!(words(&group[..1]), "softirq handling");
    }
}
