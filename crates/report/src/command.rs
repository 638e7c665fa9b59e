//! The command that repeats a run.

use latlab_model::plan::{
    ClockName, IdleStates, Instrument, Mechanism, MissedPolicy, Phase, Plan, Policy,
};
use latlab_model::{Nanos, nanos};

const DEFAULT_PERIOD: Nanos = Nanos(997_000);
const DEFAULT_PRIORITY: u8 = 90;

/// The whole command line for this plan, without what is the default anyway.
pub fn command(plan: &Plan) -> String {
    let mut words = Words(vec!["latlab run".to_string()]);
    method(&mut words, plan);
    scheduling(&mut words, plan);
    releases(&mut words, plan);
    limits(&mut words, plan);
    words.option("--name", Some(&plan.name).filter(|name| !name.is_empty()));
    words.option("--note", plan.note.as_ref());
    words.0.join(" ")
}

fn method(words: &mut Words, plan: &Plan) {
    words.unless(Instrument::Cyclic, "--instrument", plan.instrument);
    words.unless(Mechanism::Nanosleep, "--mechanism", plan.mechanism);
    words.unless(ClockName::Monotonic, "--clock", plan.clock);
}

fn scheduling(words: &mut Words, plan: &Plan) {
    match plan.policy {
        Policy::Fifo { priority } => words.unless(DEFAULT_PRIORITY, "--priority", priority),
        Policy::Rr { priority } => {
            words.option("--policy", Some("rr"));
            words.unless(DEFAULT_PRIORITY, "--priority", priority);
        }
        Policy::Other => words.option("--policy", Some("other")),
        Policy::Batch => words.option("--policy", Some("batch")),
        Policy::Idle => words.option("--policy", Some("idle")),
        Policy::Deadline { runtime_ns, deadline_ns, period_ns } => {
            let budget = [runtime_ns, deadline_ns, period_ns].map(duration).join("/");
            words.option("--policy", Some(format!("deadline:{budget}")));
        }
    }
    words.option("--cpus", plan.cpus.as_ref());
    words.option("--threads", plan.threads);
    words.option("--helpers-on", plan.helpers_on.as_ref());
}

fn releases(words: &mut Words, plan: &Plan) {
    words.duration_unless(DEFAULT_PERIOD, "--period", plan.period_ns);
    words.duration_unless(Nanos::ZERO, "--period-step", plan.period_step_ns);
    words.unless(Phase::Spread, "--phase", plan.phase);
    words.unless(MissedPolicy::Skip, "--missed", plan.missed);
    words.option("--for", plan.duration_ns.map(duration));
    words.option("--cycles", plan.cycles);
    words.duration_unless(nanos::SECOND, "--warm-up", plan.warm_up_ns);
}

fn limits(words: &mut Words, plan: &Plan) {
    words.option("--deadline", plan.deadline_ns.map(duration));
    words.option("--stop-above", plan.stop_above_ns.map(duration));
    words.option("--spike-above", plan.spike_above_ns.map(duration));
    words.option("--on-spike", plan.on_spike.as_ref());
    match plan.idle_states {
        IdleStates::ExitWithin(limit) => {
            words.duration_unless(Nanos::ZERO, "--idle-states", limit);
        }
        IdleStates::System => words.option("--idle-states", Some("system")),
    }
    words.duration_unless(nanos::SECOND, "--interval", plan.interval_ns);
    words.option("--seed", Some(plan.seed));
}

/// The words of a command line, each safe for a shell.
struct Words(Vec<String>);

impl Words {
    fn option(&mut self, flag: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.0.push(format!("{flag} {}", quoted(&value.to_string())));
        }
    }

    fn unless<T: PartialEq + ToString>(&mut self, default: T, flag: &str, value: T) {
        self.option(flag, (value != default).then_some(value));
    }

    fn duration_unless(&mut self, default: Nanos, flag: &str, value: Nanos) {
        self.option(flag, (value != default).then(|| duration(value)));
    }
}

/// A duration that reads back as exactly the same: the largest unit that leaves a whole number.
fn duration(time: Nanos) -> String {
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
        None => format!("{}ns", time.0),
    }
}

fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
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
        assert_eq!(duration(Nanos(60_000_000_000)), "60s");
        assert_eq!(duration(Nanos(18_000_000_000_000)), "5h");
    }

    #[test]
    fn a_shell_reads_one_word() {
        assert_eq!(quoted("idle"), "idle");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
