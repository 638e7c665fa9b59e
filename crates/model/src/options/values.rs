//! Parses and formats the values of options.

use crate::Nanos;
use crate::nanos::duration;
use crate::plan::{
    Attach, AttachTarget, Cyclic, Handoff, IdleStates, Instrument, JudgedTime, Method, Phase, Plan,
    Policy, Releases, Spin, TelemetryPlan, Timerlat, Workload,
};
use crate::units::bytes;
use std::fmt::Display;
use std::str::FromStr;

/// A method with default values, on which all its options can be set.
pub fn blank(instrument: Instrument) -> Method {
    let workload = Workload::Memmove { bytes: Workload::DEFAULT_BYTES };
    match instrument {
        Instrument::Cyclic => Method::Cyclic(Cyclic::default()),
        Instrument::Handoff => Method::Handoff(Handoff::default()),
        Instrument::Spin => Method::Spin(Spin { workload, ..Spin::default() }),
        Instrument::Timerlat => Method::Timerlat(Timerlat::default()),
        Instrument::Attach => Method::Attach(Box::default()),
        Instrument::Respond => Method::Respond(Box::default()),
        Instrument::Import => Method::Import(Box::default()),
    }
}

/// Sets the method named by `--instrument`, with all its defaults.
pub fn instrument(plan: &mut Plan, text: &str) -> Result<(), String> {
    let usual = match one_of(Instrument::ALL, Instrument::as_str, text)? {
        Instrument::Spin => Plan::of(Method::Spin(Spin::default())),
        other => Plan::of(blank(other)),
    };
    plan.who.policy = usual.who.policy;
    plan.until.warm_up_ns = usual.until.warm_up_ns;
    plan.on.idle_states = usual.on.idle_states;
    plan.method = usual.method;
    Ok(())
}

/// Parses a value.
pub fn set<T: FromStr<Err: Display>>(place: &mut T, text: &str) -> Result<(), String> {
    *place = text.parse().map_err(|error: T::Err| error.to_string())?;
    Ok(())
}

/// Parses an optional value.
pub fn some<T: FromStr<Err: Display>>(place: &mut Option<T>, text: &str) -> Result<(), String> {
    *place = Some(text.parse().map_err(|error: T::Err| error.to_string())?);
    Ok(())
}

/// Parses and appends a value to a list.
pub fn push<T: FromStr<Err: Display>>(place: &mut Vec<T>, text: &str) -> Result<(), String> {
    place.push(text.parse().map_err(|error: T::Err| error.to_string())?);
    Ok(())
}

/// Sets a flag.
pub fn on(place: &mut bool) -> Result<(), String> {
    *place = true;
    Ok(())
}

/// Parses a whole number; the error texts of the standard library do not say what is expected.
pub fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number: u64 = text.parse().map_err(|_| format!("'{text}' is not a whole number"))?;
    T::try_from(number).map_err(|_| format!("{text} is too large"))
}

/// Parses an optional whole number.
pub fn number<T: TryFrom<u64>>(place: &mut Option<T>, text: &str) -> Result<(), String> {
    *place = Some(whole(text)?);
    Ok(())
}

/// Parses one of a few words.
pub fn one_of<T: Copy>(all: &[T], name: fn(T) -> &'static str, text: &str) -> Result<T, String> {
    all.iter()
        .copied()
        .find(|one| name(*one) == text)
        .ok_or_else(|| format!("unknown value '{text}'"))
}

/// Parses one of a few words and stores it.
pub fn pick<T: Copy>(
    place: &mut T,
    all: &[T],
    name: fn(T) -> &'static str,
    text: &str,
) -> Result<(), String> {
    *place = one_of(all, name, text)?;
    Ok(())
}

/// The words of a choice.
pub fn names<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|one| name(*one)).collect()
}

/// Modifies the parameters of one method.
macro_rules! own {
    ($name:ident, $variant:ident, $own:ty) => {
        pub fn $name(
            plan: &mut Plan,
            change: impl FnOnce(&mut $own) -> Result<(), String>,
        ) -> Result<(), String> {
            match &mut plan.method {
                Method::$variant(own) => change(own),
                _ => Ok(()),
            }
        }
    };
}
own!(cyclic, Cyclic, Cyclic);
own!(handoff, Handoff, Handoff);
own!(spin, Spin, Spin);
own!(attach, Attach, Attach);

/// Modifies the releases that latlab plans.
pub fn releases(
    plan: &mut Plan,
    change: impl FnOnce(&mut Releases) -> Result<(), String>,
) -> Result<(), String> {
    plan.method.releases_mut().map_or(Ok(()), change)
}

/// Sets the period, also that of the kernel's tracer.
pub fn period(plan: &mut Plan, text: &str) -> Result<(), String> {
    match &mut plan.method {
        Method::Timerlat(timerlat) => set(&mut timerlat.period_ns, text),
        _ => releases(plan, |releases| set(&mut releases.period_ns, text)),
    }
}

/// The value as words if it differs from the default.
pub fn unless<T: PartialEq + ToString>(usual: T, value: T) -> Vec<String> {
    if value == usual { Vec::new() } else { vec![value.to_string()] }
}

/// An optional value as words.
pub fn given(value: Option<impl ToString>) -> Vec<String> {
    value.map(|value| value.to_string()).into_iter().collect()
}

/// A time as words if it differs from the default.
pub fn time(usual: Option<Nanos>, value: Option<Nanos>) -> Vec<String> {
    given(value.filter(|_| value != usual).map(duration))
}

/// A flag as words.
pub fn flag(is_set: bool) -> Vec<String> {
    if is_set { vec![String::new()] } else { Vec::new() }
}

/// A list as words.
pub fn list(values: &[impl ToString]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// Sets the policy and keeps the priority.
pub fn policy(plan: &mut Plan, text: &str) -> Result<(), String> {
    let (name, budget) = match text.split_once(':') {
        Some((name, budget)) => (name, Some(budget)),
        None => (text, None),
    };
    let priority = Policy::DEFAULT_PRIORITY;
    plan.who.policy = Some(match (name, budget) {
        ("fifo", None) => Policy::Fifo { priority },
        ("rr", None) => Policy::Rr { priority },
        ("other", None) => Policy::Other,
        ("batch", None) => Policy::Batch,
        ("idle", None) => Policy::Idle,
        ("deadline", budget) => deadline_policy(plan, budget)?,
        _ => {
            return Err(format!(
                "'{text}': expected fifo, rr, other, batch, idle or \
                 deadline[:RUNTIME/DEADLINE/PERIOD]"
            ));
        }
    });
    Ok(())
}

/// Parses the numbers of a deadline policy; the default budget is a tenth of the period.
fn deadline_policy(plan: &Plan, text: Option<&str>) -> Result<Policy, String> {
    let Some(text) = text else {
        let period = plan.method.period().unwrap_or(Releases::DEFAULT_PERIOD);
        let runtime_ns = Nanos(period.0 / 10).max(Nanos(10_000)).min(period);
        return Ok(Policy::Deadline { runtime_ns, deadline_ns: period, period_ns: period });
    };
    let parts: Vec<&str> = text.split('/').collect();
    let [runtime, deadline, period] = parts[..] else {
        return Err(format!("'deadline:{text}': expected RUNTIME/DEADLINE/PERIOD"));
    };
    let time = |text: &str| text.parse::<Nanos>().map_err(|error| error.to_string());
    Ok(Policy::Deadline {
        runtime_ns: time(runtime)?,
        deadline_ns: time(deadline)?,
        period_ns: time(period)?,
    })
}

/// The policy as an option value.
pub fn policy_word(policy: Policy) -> String {
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

/// Sets the priority of a policy that has one.
pub fn priority(plan: &mut Plan, text: &str) -> Result<(), String> {
    let asked = whole(text)?;
    match &mut plan.who.policy {
        Some(Policy::Fifo { priority } | Policy::Rr { priority }) => *priority = asked,
        other => {
            let name = other.map_or("none".to_string(), policy_word);
            let name = name.split(':').next().unwrap_or_default();
            return Err(format!("--priority requires --policy fifo or rr, not {name}"));
        }
    }
    Ok(())
}

/// The priority as words if it differs from the default.
pub fn priority_words(plan: &Plan) -> Vec<String> {
    match plan.who.policy {
        Some(Policy::Fifo { priority } | Policy::Rr { priority }) => {
            unless(Policy::DEFAULT_PRIORITY, priority)
        }
        _ => Vec::new(),
    }
}

/// Sets the workload of each pass.
pub fn workload(spin: &mut Spin, text: &str) -> Result<(), String> {
    spin.workload = match text {
        "none" => Workload::None,
        "memmove" => Workload::Memmove { bytes: Workload::DEFAULT_BYTES },
        _ => return Err(format!("unknown value '{text}'")),
    };
    Ok(())
}

/// Sets the memory size of the workload.
pub fn workload_size(spin: &mut Spin, text: &str) -> Result<(), String> {
    let size = size(text)?;
    match &mut spin.workload {
        Workload::Memmove { bytes } => *bytes = size,
        Workload::None => return Err("--workload-size requires --workload memmove".to_string()),
    }
    Ok(())
}

/// Parses a number of bytes with an optional suffix K or M.
fn size(text: &str) -> Result<u32, String> {
    let (number, unit) = match text.strip_suffix(['K', 'k']) {
        Some(number) => (number, 1 << 10),
        None => text.strip_suffix(['M', 'm']).map_or((text, 1), |number| (number, 1 << 20)),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| format!("'{text}' is not a size: expected for example 512, 64K or 1M"))?;
    let bytes = number.checked_mul(unit).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| format!("'{text}' is too large: expected at most 256M"))
}

/// The workload of a spinning thread, in words.
pub fn workload_fact(spin: &Spin) -> String {
    match spin.workload {
        Workload::None => "none".to_string(),
        Workload::Memmove { bytes: size } => format!("{} of {}", spin.workload, bytes(size.into())),
    }
}

/// Sets the seed, if anything is random.
pub fn seed(plan: &mut Plan, text: &str) -> Result<(), String> {
    plan.seed = Some(whole(text)?);
    match has_seed(plan) {
        true => Ok(()),
        false => Err("--seed does not apply to spin, which has no releases".to_string()),
    }
}

/// Whether anything is random. A guest's randomness comes from the seed with any method.
pub fn has_seed(plan: &Plan) -> bool {
    !matches!(plan.method, Method::Spin(_) | Method::Attach(_)) || plan.on.target.is_seeded()
}

/// Time units of a rate, in hours.
const TIMES: [(&str, f64); 5] =
    [("s", 1.0 / 3600.0), ("min", 1.0 / 60.0), ("h", 1.0), ("d", 24.0), ("week", 168.0)];

/// Parses a rate such as 0.1/h, as events per hour.
pub fn rate_per_hour(text: &str) -> Result<f64, String> {
    let expected = || format!("'{text}' is not a rate such as 0.1/h, 1/d, 1/week");
    let (count, time) = text.split_once('/').ok_or_else(expected)?;
    let count: f64 = count.trim().parse().map_err(|_| expected())?;
    let (_, hours) = TIMES.iter().find(|(name, _)| *name == time.trim()).ok_or_else(expected)?;
    let rate = count / hours;
    match (1e-6..=1e6).contains(&rate) {
        true => Ok(rate),
        false => Err(format!("{}: at least 0.000001/h, at most 1000000/h", expected())),
    }
}

/// Parses the deadline of a program's cycles and the time it applies to.
pub fn judged_deadline(plan: &mut Plan, text: &str) -> Result<(), String> {
    let (judged, time) = match text.split_once(':') {
        None => (JudgedTime::Response, text),
        Some(("wake-up", time)) => (JudgedTime::WakeUp, time),
        Some(("response", time)) => (JudgedTime::Response, time),
        Some((other, _)) => {
            return Err(format!("'{other}' is no time of a cycle: expected wake-up or response"));
        }
    };
    some(&mut plan.until.deadline_ns, time)?;
    attach(plan, |attach| {
        attach.judged = judged;
        Ok(())
    })
}

/// The deadline as an option value.
pub fn judged_deadline_words(plan: &Plan) -> Vec<String> {
    let is_wake_up = plan.method.attach().is_some_and(|attach| attach.judged == JudgedTime::WakeUp);
    let before = if is_wake_up { "wake-up:" } else { "" };
    given(plan.until.deadline_ns.map(|time| format!("{before}{}", duration(time))))
}

/// Sets the program to attach to; there can be only one.
pub fn attach_to(plan: &mut Plan, target: AttachTarget) -> Result<(), String> {
    attach(plan, |attach| match attach.target.is_open() {
        true => {
            attach.target = target;
            Ok(())
        }
        false => Err("attach takes one of `-- PROGRAM`, --pid and --comm".to_string()),
    })
}

/// Adds a word of the program to start.
pub fn program(plan: &mut Plan, word: &str) -> Result<(), String> {
    attach(plan, |attach| match &mut attach.target {
        AttachTarget::Command { words, .. } => {
            words.push(word.to_string());
            Ok(())
        }
        _ => Err("attach takes one of `-- PROGRAM`, --pid and --comm".to_string()),
    })
}

/// Sets how often the conditions are read.
pub fn telemetry(plan: &mut Plan, text: &str) -> Result<(), String> {
    let every = |time: &str| {
        time.parse().map_err(|_| format!("'{text}': expected a time, 'full', 'full,TIME' or 'off'"))
    };
    let usual = TelemetryPlan::default();
    plan.keep.telemetry = match (text, text.strip_prefix("full,")) {
        ("off", _) => None,
        ("full", _) => Some(TelemetryPlan { is_full: true, ..usual }),
        (_, Some(time)) => Some(TelemetryPlan { every_ns: every(time)?, is_full: true }),
        (time, None) => Some(TelemetryPlan { every_ns: every(time)?, ..usual }),
    };
    Ok(())
}

/// The telemetry plan as an option value.
pub fn telemetry_word(telemetry: Option<TelemetryPlan>) -> String {
    match telemetry {
        None => "off".to_string(),
        Some(TelemetryPlan { every_ns, is_full: false }) => duration(every_ns),
        Some(TelemetryPlan { every_ns, is_full: true }) => format!("full,{}", duration(every_ns)),
    }
}

/// Sets the limit of the idle states.
pub fn idle_states(plan: &mut Plan, text: &str) -> Result<(), String> {
    plan.on.idle_states = Some(match text {
        "system" => IdleStates::System,
        time => IdleStates::ExitWithin(
            time.parse().map_err(|_| format!("'{time}': expected a time or 'system'"))?,
        ),
    });
    Ok(())
}

/// The idle state limit as an option value.
pub fn idle_states_word(states: IdleStates) -> String {
    match states {
        IdleStates::ExitWithin(limit) => duration(limit),
        IdleStates::System => "system".to_string(),
    }
}

/// The idle state limit as a report shows it.
pub fn idle_states_fact(states: IdleStates) -> String {
    match states {
        IdleStates::ExitWithin(Nanos::ZERO) => "none with an exit latency".to_string(),
        IdleStates::ExitWithin(limit) => format!("exit latency up to {limit}"),
        IdleStates::System => "system default".to_string(),
    }
}

/// Parses the folder on the board; its free space is checked there.
pub fn board_folder(text: &str) -> Result<String, String> {
    match text.starts_with('/') {
        true => crate::sanitize::plain_line(text),
        false => Err("expected the whole path of a folder there, such as /mnt/data".to_string()),
    }
}

/// The instrument, and how its threads are woken.
pub fn instrument_fact(plan: &Plan) -> String {
    match &plan.method {
        Method::Handoff(Handoff { wake, wakers_on: None, .. }) => {
            format!("{}, woken by {wake} from the same CPU", Instrument::Handoff)
        }
        Method::Handoff(Handoff { wake, wakers_on: Some(on), .. }) => {
            format!("{}, woken by {wake} from CPUs {on}", Instrument::Handoff)
        }
        other => other.instrument().to_string(),
    }
}

/// The period, and the increment for each further thread.
pub fn period_fact(plan: &Plan) -> Option<String> {
    let step = plan.method.releases().map_or(Nanos::ZERO, |releases| releases.period_step_ns);
    let step = match step {
        Nanos::ZERO => String::new(),
        step => format!(", each further thread {step} longer"),
    };
    plan.method.period().map(|period| format!("{period}{step}"))
}

/// The offsets of the releases.
pub fn phase_fact(plan: &Plan) -> Option<String> {
    let phase: Phase = plan.method.releases()?.phase;
    Some(match plan.seed {
        Some(seed) => format!("{phase}, seed {seed}"),
        None => phase.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_its_time() {
        assert_eq!(rate_per_hour("0.1/h"), Ok(0.1));
        assert_eq!(rate_per_hour("24/d"), Ok(1.0));
        assert_eq!(rate_per_hour("1 / min"), Ok(60.0));
        for wrong in ["0.1", "0/h", "-1/h", "NaN/h", "inf/h", "1/y", "1e9/h", "/h"] {
            assert!(rate_per_hour(wrong).is_err(), "{wrong}");
        }
    }
}
