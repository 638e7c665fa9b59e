//! The command that repeats a run.

use latlab_model::Nanos;
use latlab_model::fault::FAULT;
use latlab_model::plan::{
    Cyclic, IdleStates, Instrument, Method, Plan, Policy, Releases, Spin, WakeBy, Workload,
};
use latlab_model::shell::Line;
use latlab_model::target::Target;

/// The whole command line for this plan, without what is the default anyway.
pub fn command(plan: &Plan) -> Line {
    // As it stands in a file it could be any command.
    if let Some(command) = plan.command.as_deref().and_then(Line::reread) {
        return command;
    }
    let default = Plan::default();
    let mut words = CommandLine(Line::new("latlab run"));
    method(&mut words, &plan.method);
    scheduling(&mut words, plan);
    releases(&mut words, &plan.method);
    words.option("--for", plan.duration_ns.map(duration));
    words.option("--cycles", plan.cycles);
    words.duration_unless(default.warm_up_ns, "--warm-up", plan.warm_up_ns);
    limits(&mut words, plan, &default);
    loads(&mut words, plan, &default);
    words.unless(&default.name, "--name", &plan.name);
    words.option("--note", plan.note.as_ref());
    words.0
}

fn method(words: &mut CommandLine, method: &Method) {
    words.unless(Instrument::Cyclic, "--instrument", method.instrument());
    match method {
        Method::Cyclic(cyclic) => {
            words.unless(Cyclic::default().mechanism, "--mechanism", cyclic.mechanism);
        }
        Method::Handoff(handoff) => {
            words.unless(WakeBy::Futex, "--wake", handoff.wake);
            words.option("--wakers-on", handoff.wakers_on.as_ref());
        }
        Method::Spin(spin) => {
            let default = Spin::default();
            let gap_above = Some(spin.gap_above_ns);
            words.duration_unless(Some(default.gap_above_ns), "--gap-above", gap_above);
            if let Workload::Memmove { bytes } = spin.workload {
                words.option("--workload", Some(spin.workload));
                words.unless(Workload::DEFAULT_BYTES, "--workload-size", bytes);
            }
        }
        // A program that was attached to is in the command that is stored.
        Method::Timerlat(_) | Method::Attach(_) | Method::Respond(_) | Method::Import(_) => {}
    }
}

fn scheduling(words: &mut CommandLine, plan: &Plan) {
    // A spinning thread is ordinary unless asked otherwise, so that both are said.
    let usual = match plan.method {
        Method::Spin(_) => None,
        _ => Plan::default().policy.map(policy),
    };
    let asked = plan.policy.map(policy);
    words.option("--policy", asked.filter(|policy| Some(policy) != usual.as_ref()));
    if let Some(Policy::Fifo { priority } | Policy::Rr { priority }) = plan.policy {
        words.unless(Policy::DEFAULT_PRIORITY, "--priority", priority);
    }
    words.unless(&Target::Local, "--target", &plan.target);
    words.flag("--detach", plan.detached.is_some());
    let folder = plan.detached.as_ref().and_then(|detached| detached.folder.as_ref());
    words.option("--board-folder", folder);
    words.option("--cpus", plan.cpus.as_ref());
    words.option("--threads", plan.threads);
    words.option("--helpers-on", plan.helpers_on.as_ref());
}

fn policy(policy: Policy) -> String {
    match policy {
        Policy::Fifo { .. } => "fifo".to_string(),
        Policy::Rr { .. } => "rr".to_string(),
        Policy::Other => "other".to_string(),
        Policy::Batch => "batch".to_string(),
        Policy::Idle => "idle".to_string(),
        Policy::Deadline { runtime_ns, deadline_ns, period_ns } => {
            format!("deadline:{}", [runtime_ns, deadline_ns, period_ns].map(duration).join("/"))
        }
    }
}

fn releases(words: &mut CommandLine, method: &Method) {
    let default = Releases::default();
    words.duration_unless(Some(default.period_ns), "--period", method.period());
    if let Some(releases) = method.releases() {
        words.unless(default.clock, "--clock", releases.clock);
        let step = Some(releases.period_step_ns);
        words.duration_unless(Some(default.period_step_ns), "--period-step", step);
        words.unless(default.phase, "--phase", releases.phase);
    }
    if let Method::Cyclic(cyclic) = method {
        words.unless(Cyclic::default().missed, "--missed", cyclic.missed);
    }
}

fn limits(words: &mut CommandLine, plan: &Plan, default: &Plan) {
    words.option("--deadline", plan.deadline_ns.map(duration));
    words.option("--limit", plan.limit_per_hour.map(|rate| format!("{rate}/h")));
    words.flag("--until-decided", plan.until_decided);
    words.option("--stop-above", plan.stop_above_ns.map(duration));
    words.option("--spike-above", plan.spike_above_ns.map(duration));
    words.option("--on-spike", plan.on_spike.as_ref());
    let asked = plan.idle_states.filter(|states| Some(*states) != default.idle_states);
    words.option("--idle-states", asked.map(idle_states));
    words.duration_unless(Some(default.interval_ns), "--interval", Some(plan.interval_ns));
    // A guest's randomness grows from it, whatever measures.
    let seeded = !matches!(plan.method, Method::Spin(_)) || plan.target.is_seeded();
    words.option("--seed", plan.seed.filter(|_| seeded));
    words.unless(telemetry(default), "--telemetry", telemetry(plan));
    words.flag("--samples", plan.samples);
    words.flag("--legs", plan.method.has_legs());
    words.flag("--explain", plan.explain);
    words.flag("--share", plan.share_cpus);
    plan.kernel_files.iter().for_each(|file| words.option("--set", Some(file)));
    plan.tunings.iter().for_each(|tuning| words.option("--tune", Some(tuning)));
}

fn loads(words: &mut CommandLine, plan: &Plan, default: &Plan) {
    for load in &plan.loads {
        let flag = if load.name == FAULT { "--fault" } else { "--load" };
        words.option(flag, Some(&load.words));
    }
    words.unless(default.load_on.to_string(), "--load-on", plan.load_on.to_string());
    let own = plan.loads.iter().find_map(|load| load.definitions.as_ref());
    words.option("--loads", own);
}

fn telemetry(plan: &Plan) -> String {
    match (plan.telemetry_ns.map(duration), plan.telemetry_is_full) {
        (None, _) => "off".to_string(),
        (Some(every), false) => every,
        (Some(every), true) => format!("full,{every}"),
    }
}

fn idle_states(states: IdleStates) -> String {
    match states {
        IdleStates::ExitWithin(limit) => duration(limit),
        IdleStates::System => "system".to_string(),
    }
}

/// A command line that grows.
struct CommandLine(Line);

impl CommandLine {
    fn option(&mut self, flag: &'static str, value: Option<impl ToString>) {
        self.0 = self.0.clone().option(flag, value.map(|value| value.to_string()));
    }

    fn flag(&mut self, flag: &'static str, set: bool) {
        if set {
            self.0 = self.0.clone().text(flag);
        }
    }

    fn unless<T: PartialEq + ToString>(&mut self, default: T, flag: &'static str, value: T) {
        self.option(flag, (value != default).then_some(value));
    }

    /// A value that nobody knows is left out.
    fn duration_unless(
        &mut self,
        default: Option<Nanos>,
        flag: &'static str,
        value: Option<Nanos>,
    ) {
        self.option(flag, value.filter(|_| value != default).map(duration));
    }
}

/// A duration that reads back as exactly the same: the largest unit that leaves a whole number.
pub fn duration(time: Nanos) -> String {
    const UNITS: [(&str, i64); 5] = [
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
    ];
    let whole = |scale: i64| time.0 != 0 && time.0 % scale == 0;
    match UNITS.iter().find(|(_, scale)| whole(*scale)) {
        // People say 60 s and 90 s, not 1 min.
        Some((_, scale)) if *scale >= 60_000_000_000 && time.0 < 120_000_000_000 => {
            format!("{}s", time.0 / 1_000_000_000)
        }
        Some((unit, scale)) => format!("{}{unit}", time.0 / scale),
        None if time == Nanos::ZERO => "0".to_string(),
        None => format!("{}ns", time.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_back_as_they_were() {
        for time in [0, 1, 997_000, 1_500_000, 1_234_567, 60_000_000_000, 18_000_000_000_000] {
            let text = duration(Nanos(time));
            assert_eq!(text.parse::<Nanos>().unwrap(), Nanos(time), "{text}");
        }
        assert_eq!(duration(Nanos::ZERO), "0");
        assert_eq!(duration(Nanos(60_000_000_000)), "60s");
        assert_eq!(duration(Nanos(18_000_000_000_000)), "5h");
    }

    #[test]
    fn a_stored_command_is_one_of_this_program() {
        let of =
            |command: &str| command_of(&Plan { command: Some(command.into()), ..Plan::default() });
        assert_eq!(of("latlab cyclictest -m; id"), "latlab cyclictest '-m;' id");
        assert_eq!(of("curl x | sh"), command_of(&Plan::default()));
    }

    fn command_of(plan: &Plan) -> String {
        command(plan).to_string()
    }
}
