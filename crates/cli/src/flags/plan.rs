//! The shared option table as clap arguments, and the plan that they make.

use super::guest::GuestArgs;
use crate::load_library::{self, Library};
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use latlab_model::load::Load;
use latlab_model::options::{Given, OPTIONS, PlanOption, put};
use latlab_model::{Nanos, Plan};
use std::marker::PhantomData;
use std::path::PathBuf;

/// Adds the options of the table that the command has.
pub fn add_options(command: Command, has: impl Fn(&PlanOption) -> bool) -> Command {
    command.args(OPTIONS.iter().filter(|option| has(option)).map(arg))
}

fn arg(option: &'static PlanOption) -> Arg {
    let form = option.form;
    let arg = Arg::new(option.name).help(option.help()).help_heading(option.group);
    let arg = form.requires.iter().fold(arg, |arg, needed| arg.requires(*needed));
    let arg = match form.is_rest {
        true => arg.last(true).num_args(1..),
        false => arg.long(option.name).short(form.short),
    };
    let Some(value) = form.value else { return arg.action(ArgAction::SetTrue) };
    let action = if form.is_list { ArgAction::Append } else { ArgAction::Set };
    let arg = arg.value_name(value).action(action).default_value(form.default);
    match form.choices {
        Some(choices) => {
            arg.value_parser(PossibleValuesParser::new(choices())).hide_possible_values(true)
        }
        None => arg.value_parser(move |text: &str| option.check(text).map(|()| text.to_string())),
    }
}

/// The options of the table that were given.
pub fn given_options(matches: &ArgMatches, has: impl Fn(&PlanOption) -> bool) -> Vec<Given> {
    let given = |option: &'static PlanOption| {
        let values = match option.form.value {
            None => matches.get_flag(option.name).then(|| vec![String::new()])?,
            Some(_) => matches.get_many::<String>(option.name)?.cloned().collect(),
        };
        let is_default = matches.value_source(option.name) == Some(ValueSource::DefaultValue);
        Some(Given { option, values, is_default })
    };
    OPTIONS.iter().filter(|option| has(option)).filter_map(given).collect()
}

/// The values of one option.
pub fn values_of<'a>(given: &'a [Given], name: &str) -> &'a [String] {
    given.iter().find(|one| one.option.name == name).map_or(&[], |one| &one.values)
}

/// The loads that are named, else `otherwise`; an error is one line.
pub fn named_loads(given: &[Given], otherwise: Vec<String>) -> Result<Vec<Load>, String> {
    let named = values_of(given, "load");
    let words = if named.is_empty() { otherwise } else { named.to_vec() };
    let folder = values_of(given, "loads").first().map(PathBuf::from);
    load_library::resolve(&words, &Library::new(folder))
}

/// The options of the shared table that a command has.
pub trait OptionSet {
    fn has(option: &PlanOption) -> bool;
}

/// The options of the shared table that were given to a command.
pub struct TableArgs<S> {
    pub guest: GuestArgs,
    given: Vec<Given>,
    of: PhantomData<S>,
}

impl<S: OptionSet> Args for TableArgs<S> {
    fn augment_args(command: Command) -> Command {
        add_options(command, S::has)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: OptionSet> FromArgMatches for TableArgs<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = given_options(matches, S::has);
        Ok(TableArgs { guest: GuestArgs::of(&given), given, of: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S> TableArgs<S> {
    pub fn given(&self) -> &[Given] {
        &self.given
    }

    /// These options as another command has them, and `more`; an error is one line.
    pub fn as_of<T>(&self, more: Vec<Given>, why: &str) -> Result<TableArgs<T>, String>
    where
        T: OptionSet,
    {
        let mut given = more;
        for one in &self.given {
            let name = one.option.name;
            match OPTIONS.iter().find(|option| option.name == name && T::has(option)) {
                Some(option) => given.push(Given { option, ..one.clone() }),
                None if one.is_default => {}
                None => return Err(format!("--{name} {why}")),
            }
        }
        Ok(TableArgs { guest: GuestArgs::of(&given), given, of: PhantomData })
    }

    /// Whether an option was given on the command line.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.iter().any(|one| one.option.name == name && !one.is_default)
    }

    /// The value of an option, if it was given.
    pub fn value(&self, name: &str) -> Option<&str> {
        values_of(&self.given, name).first().map(String::as_str)
    }
}

/// Those of `latlab run`.
pub enum OfRun {}

impl OptionSet for OfRun {
    fn has(option: &PlanOption) -> bool {
        option.is_of_run()
    }
}

/// Flags that say what is measured, and how.
pub type MeasureArgs = TableArgs<OfRun>;

impl MeasureArgs {
    /// Makes the plan; an error is one line.
    pub fn plan(&self, random_seed: u64) -> Result<Plan, String> {
        let mut plan = self.plan_without_loads(random_seed)?;
        plan.on.loads = self.loads()?;
        Ok(plan)
    }

    /// Makes the plan but for its loads, which need files; an error is one line.
    pub fn plan_without_loads(&self, random_seed: u64) -> Result<Plan, String> {
        let mut plan = Plan { seed: Some(random_seed), ..Plan::default() };
        plan.on.target = self.guest.target()?;
        let named = self.guest.defaults()?;
        if let Some(named) = &named {
            plan.who.cpus = named.cpus.clone();
            plan.until.deadline_ns = named.deadline;
        }
        put(&mut plan, self.given.clone())?;
        if let Some(detached) = &mut plan.on.detached {
            detached.folder = detached.folder.take().or(named.and_then(|named| named.folder));
        }
        plan.check()?;
        Ok(plan)
    }

    /// The loads, including those that inject faults; an error is one line.
    pub fn loads(&self) -> Result<Vec<Load>, String> {
        let otherwise = self.guest.defaults()?.map(|named| named.load).unwrap_or_default();
        let mut all = named_loads(&self.given, otherwise)?;
        let warm_up = self.value("warm-up").and_then(|time| time.parse().ok());
        all.extend(self.guest.faults(warm_up.unwrap_or(Nanos::ZERO))?);
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::parse;
    use latlab_model::plan::{IdleStates, Mechanism, Method, Policy, Spin, Workload};

    fn plan(flags: &str) -> Result<Plan, String> {
        let args: MeasureArgs =
            parse(flags.split_whitespace()).map_err(|error| error.to_string())?;
        args.plan(7)
    }

    #[test]
    fn defaults_are_those_of_the_house() {
        assert_eq!(plan(""), Ok(Plan { seed: Some(7), ..Plan::default() }));
    }

    #[test]
    fn spinning_is_ordinary_unless_priority_is_asked_for() {
        let spun = plan("--instrument spin --workload memmove --workload-size 64K").unwrap();
        let spin = Spin { workload: Workload::Memmove { bytes: 65_536 }, ..Spin::default() };
        assert_eq!((spun.who.policy, spun.method), (Some(Policy::Other), Method::Spin(spin)));
        let fifo = plan("--instrument spin --policy fifo -p 1").unwrap();
        assert_eq!(fifo.who.policy, Some(Policy::Fifo { priority: 1 }));
    }

    #[test]
    fn flags_mean_what_they_say() {
        let plan = plan(
            "-a 1-3 -t 16 -p 80 -i 200us -D 5h -l 1000 --deadline 125us --idle-states system \
             --mechanism posix-timer --clock tai --overruns catch-up --phase random --seed 3",
        )
        .unwrap();
        assert_eq!(plan.who.cpus.unwrap().to_string(), "1-3");
        assert_eq!(
            (plan.who.threads, plan.until.cycles, plan.seed),
            (Some(16), Some(1000), Some(3))
        );
        assert_eq!(plan.keep.spike_above_ns, None);
        let Method::Cyclic(cyclic) = plan.method else { panic!("{:?}", plan.method) };
        assert_eq!(cyclic.mechanism, Mechanism::PosixTimer);
        assert_eq!(cyclic.releases.period_ns, Nanos(200_000));
        assert_eq!(plan.on.idle_states, Some(IdleStates::System));
    }

    #[test]
    fn the_deadline_tells_a_spike_unless_something_else_does() {
        let above = |flags: &str| plan(flags).unwrap().keep.spike_above_ns;
        assert_eq!(above("--deadline 1ms --on-spike true"), Some(Nanos(1_000_000)));
        assert_eq!(above("--deadline 1ms --on-spike true --spike-above 5us"), Some(Nanos(5_000)));
        assert_eq!(above("-b 150us --on-spike true"), Some(Nanos(150_000)));
    }

    #[test]
    fn deadline_scheduling_reads_its_budget() {
        let policy = |flags: &str| plan(flags).map(|plan| plan.who.policy.unwrap());
        let nanos = |runtime_ns, deadline_ns, period_ns| Policy::Deadline {
            runtime_ns: Nanos(runtime_ns),
            deadline_ns: Nanos(deadline_ns),
            period_ns: Nanos(period_ns),
        };
        assert_eq!(
            policy("--policy deadline:100us/1ms/1ms"),
            Ok(nanos(100_000, 1_000_000, 1_000_000))
        );
        assert_eq!(policy("--policy deadline -i 1ms"), Ok(nanos(100_000, 1_000_000, 1_000_000)));
        assert!(policy("--policy deadline:1ms/100us/1ms").unwrap_err().contains("runtime <="));
        assert!(policy("--policy deadline:1ms").unwrap_err().contains("RUNTIME/DEADLINE/PERIOD"));
    }

    #[test]
    fn mistakes_are_one_line_with_what_was_expected() {
        for (flags, expected) in [
            ("--policy fofo", "expected fifo, rr, other"),
            ("-p 0", "expected 1 (low) to 99 (high)"),
            ("-p 50 --policy other", "requires --policy fifo or rr"),
            ("-i abc", "expected a number and a unit"),
            ("-i 0", "expected 1us to 24h"),
            ("-i 200", "has no unit"),
            ("--clock 2", "monotonic, tai, realtime"),
            ("-a 3-1", "not a list of CPUs"),
            ("--on-spike true", "--spike-above, --deadline or --stop-above"),
            ("--mechanism timerfd --clock tai", "no timer file descriptors"),
            ("--wake pipe", "requires --instrument handoff"),
            ("--wakers-on 0", "requires --instrument handoff"),
            ("--instrument handoff --mechanism timerfd", "do not sleep"),
            ("--instrument handoff --overruns catch-up", "always skips past releases"),
            ("--instrument handoff --mechanism relative", "do not sleep"),
            ("--instrument handoff --policy deadline", "pins its threads"),
            ("--mechanism relative --overruns catch-up", "no releases"),
            ("--idle-states deep", "or 'system'"),
            ("--telemetry never", "or 'off'"),
            ("--telemetry full,often", "'full,TIME' or 'off'"),
            ("--telemetry 1ms", "expected 100ms to 1h"),
            ("--cycles 0", "more than 0"),
            ("--gap-above 2us", "requires --instrument spin"),
            ("--instrument spin -i 1ms", "--period does not apply to spin"),
            ("--instrument spin --overruns skip", "--overruns does not apply to spin"),
            ("--instrument spin --cycles 9", "use --for"),
            ("--instrument spin --samples", "largest 4096 gaps"),
            ("--instrument spin --policy deadline", "exhaust its budget"),
            ("--instrument spin --gap-above 1ns", "expected 100ns to 1s"),
            ("--instrument spin --workload-size 1T", "512, 64K or 1M"),
            ("--instrument spin --workload memmove --workload-size 100000M", "at most 256M"),
            ("--instrument spin --workload-size 64K", "requires --workload memmove"),
            ("--instrument spin --warm-up 1ms", "learn the usual pass"),
            ("--instrument spin --clock tai", "which uses CLOCK_MONOTONIC"),
            ("--instrument spin --breakdown", "--breakdown does not apply to spin"),
            ("--instrument handoff --breakdown", "do not sleep"),
            ("--instrument timerlat --breakdown", "always on"),
            ("--instrument timerlat --phase random", "does not apply to timerlat"),
            ("--instrument timerlat --period-step 1us", "the same period on all CPUs"),
            ("--instrument timerlat -i 50us", "100us to 1s"),
            ("--instrument timerlat -t 2", "one thread on each of --cpus"),
            ("--instrument respond", "`latlab respond`"),
            ("--breakdown --clock tai", "--breakdown requires"),
            ("--breakdown --mechanism timerfd", "--breakdown requires"),
            ("--explain --clock tai", "--explain requires"),
            ("--explain --mechanism relative", "--explain requires"),
            ("--explain --instrument spin", "--explain requires"),
            ("--load-on here", "expected everywhere, measured, others or a list"),
            ("--deadline 0", "more than 0"),
            ("--limit 1/h", "--limit needs --deadline"),
            ("--limit 1 --deadline 1ms", "is not a rate such as"),
            ("--until-decided --deadline 1ms --for 9s", "--until-decided needs --limit"),
            ("--until-decided --deadline 1ms --limit 1/h", "needs --for"),
            ("--instrument spin --deadline 1ms --limit 1/h", "which has no releases"),
            ("--tune smt=off", "expected governor=NAME, irqs=away"),
            ("--tune irqs=here", "expected irqs=away"),
            ("--tune thp=never --tune thp=always", "--tune thp is given twice"),
            ("--set kernel.sched_rt_runtime_us", "expected /sys/FILE=VALUE"),
            ("--set /proc/sys/../../etc/passwd=x", "expected /sys/FILE=VALUE"),
            ("--set /etc/passwd=x", "expected /sys/FILE=VALUE"),
        ] {
            let error = plan(flags).unwrap_err();
            assert!(error.contains(expected), "{flags}: {error}");
        }
    }
}
