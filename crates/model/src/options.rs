//! The options of `latlab run` and `latlab attach`: a table with everything about an option in one
//! row.
//!
//! The command line, the keys of sheets, the check of what applies to a method, the command that
//! repeats a run, the facts of its method, man pages and completions are derived from [`OPTIONS`].

mod table;
mod values;

use crate::plan::{Instrument, Method, Plan};
use crate::shell::Line;
pub use table::{OPTIONS, TARGET, WHICH_PROGRAM};
pub use values::{board_folder, rate_per_hour, whole};

/// An option that sets a part of a plan.
pub struct PlanOption {
    /// Long name, and key in a sheet.
    pub name: &'static str,
    /// Syntax and presentation.
    pub form: Form,
    /// Heading in the help.
    pub group: &'static str,
    help: &'static str,
    /// Methods it applies to.
    pub applies: Applies,
    /// Access to its value in the plan.
    pub at: Access,
}

/// How an option's value is written to a plan and read back.
#[derive(Clone, Copy)]
pub struct Access {
    /// Sets the value in the plan; an error is one line for the user.
    pub put: fn(&mut Plan, &str) -> Result<(), String>,
    /// The values that would set it again; empty if the plan has the usual value of its method.
    pub words: fn(plan: &Plan, usual: &Plan) -> Vec<String>,
}

/// A label, and the text for a plan that has one.
type Fact = (&'static str, fn(&Plan) -> Option<String>);

/// Syntax and presentation of an option.
#[derive(Clone, Copy)]
pub struct Form {
    /// Short name.
    pub short: Option<char>,
    /// Placeholder of the value in the help; `None` for a flag.
    pub value: Option<&'static str>,
    /// Whether it may be repeated.
    pub is_list: bool,
    /// Allowed words; `None` if it is not a choice.
    pub choices: Option<fn() -> Vec<&'static str>>,
    /// Default shown in the help.
    pub default: Option<&'static str>,
    /// Options it requires.
    pub requires: &'static [&'static str],
    /// Whether a scenario of a sheet may set it.
    pub is_of_sheets: bool,
    /// Whether it takes everything after `--`.
    pub is_rest: bool,
    /// What a report says of it.
    fact: Option<Fact>,
}

/// Methods an option applies to.
#[derive(Clone, Copy)]
pub struct Applies {
    to: &'static [Instrument],
    because: &'static [(Instrument, &'static str)],
}

/// An option with its values, from a command line or a sheet.
#[derive(Clone)]
pub struct Given {
    /// The option.
    pub option: &'static PlanOption,
    /// Its values; a flag has one empty value.
    pub values: Vec<String>,
    /// Whether the command filled it in, so that it is allowed not to apply.
    pub is_default: bool,
}

impl Applies {
    const fn to(to: &'static [Instrument]) -> Applies {
        Applies { to, because: &[] }
    }

    /// Excludes methods, each with the reason.
    const fn but(self, because: &'static [(Instrument, &'static str)]) -> Applies {
        Applies { because, ..self }
    }

    /// Whether it applies to a method.
    pub fn is_for(self, instrument: Instrument) -> bool {
        self.to.contains(&instrument)
    }

    /// Why it does not apply to a method.
    fn why_not(self, instrument: Instrument) -> String {
        let why = self.because.iter().find(|(of, _)| *of == instrument);
        match (why, self.to) {
            (Some((_, why)), _) => why.to_string(),
            (None, [only]) => format!("requires --instrument {only}"),
            (None, _) => format!("does not apply to {instrument}"),
        }
    }
}

impl Form {
    const fn flag() -> Form {
        Form {
            short: None,
            value: None,
            is_list: false,
            choices: None,
            default: None,
            requires: &[],
            is_of_sheets: true,
            is_rest: false,
            fact: None,
        }
    }

    const fn value(value: &'static str) -> Form {
        Form { value: Some(value), ..Form::flag() }
    }

    const fn list(value: &'static str) -> Form {
        Form { is_list: true, ..Form::value(value) }
    }

    const fn choice(value: &'static str, choices: fn() -> Vec<&'static str>) -> Form {
        Form { choices: Some(choices), ..Form::value(value) }
    }

    const fn short(self, short: char) -> Form {
        Form { short: Some(short), ..self }
    }

    const fn default(self, default: &'static str) -> Form {
        Form { default: Some(default), ..self }
    }

    const fn requires(self, requires: &'static [&'static str]) -> Form {
        Form { requires, ..self }
    }

    /// Restricts it to commands: scenarios of a sheet may not set it.
    const fn of_commands(self) -> Form {
        Form { is_of_sheets: false, ..self }
    }

    const fn fact(self, label: &'static str, text: fn(&Plan) -> Option<String>) -> Form {
        Form { fact: Some((label, text)), ..self }
    }

    const fn rest(self) -> Form {
        Form { is_rest: true, ..self }
    }
}

impl PlanOption {
    /// Help text.
    pub fn help(&self) -> &'static str {
        self.help.trim_start()
    }

    /// Whether `latlab attach` has it.
    pub fn is_of_attach(&self) -> bool {
        self.applies.is_for(Instrument::Attach)
    }

    /// Whether `latlab run` has it.
    pub fn is_of_run(&self) -> bool {
        self.applies.to.iter().any(|instrument| *instrument != Instrument::Attach)
    }

    /// Why a method refuses it, as one line for the user. `None` if it applies, or another command checks it.
    fn refusal(&self, instrument: Instrument) -> Option<String> {
        let is_refused = is_measured_here(instrument) && !self.applies.is_for(instrument);
        is_refused.then(|| format!("--{} {}", self.name, self.applies.why_not(instrument)))
    }

    /// Checks a value by itself; an error is one line for the user.
    pub fn check(&self, value: &str) -> Result<(), String> {
        let instrument = self.applies.to.first().copied().unwrap_or(Instrument::Cyclic);
        (self.at.put)(&mut Plan::of(values::blank(instrument)), value)
    }
}

/// Applies options to a plan whose target is known; an error is one line for the user.
pub fn put(plan: &mut Plan, mut given: Vec<Given>) -> Result<(), String> {
    // The instrument comes first since other options write into it, then the period, from which a
    // policy takes its default budget.
    given.sort_by_key(|one| (one.option.name != "instrument", one.option.group != table::WHEN));
    for Given { option, values, is_default } in given {
        match option.refusal(plan.method.instrument()) {
            Some(_) if is_default => continue,
            Some(refusal) => return Err(refusal),
            None => {}
        }
        for value in &values {
            (option.at.put)(plan, value)?;
        }
    }
    // Without a command to run, nothing needs a spike threshold.
    let known = plan.until.deadline_ns.or(plan.until.stop_above_ns);
    let known = known.filter(|_| plan.keep.on_spike.is_some());
    plan.keep.spike_above_ns = plan.keep.spike_above_ns.or(known);
    Ok(())
}

/// Captures and imports have their own commands, which check their options.
fn is_measured_here(instrument: Instrument) -> bool {
    !matches!(instrument, Instrument::Respond | Instrument::Import)
}

impl Plan {
    /// The full command line that repeats the plan, without defaults.
    pub fn repeat(&self) -> Line {
        // A stored command could be anything, so it is parsed and quoted again.
        if let Some(command) = self.command.as_deref().and_then(Line::reread) {
            return command;
        }
        let command = match self.method {
            Method::Attach(_) => "latlab attach",
            _ => "latlab run",
        };
        self.with_options(Line::new(command), |_| true)
    }

    /// A command with those of the plan's options that it accepts.
    pub fn with_options(&self, command: Line, has: fn(&PlanOption) -> bool) -> Line {
        let usual = Plan::of(self.method.clone());
        let instrument = self.method.instrument();
        // Of two rows of a name, captures have that of `latlab run`.
        let is_asked = |option: &&PlanOption| {
            let applies = option.applies.is_for(instrument);
            has(option) && (applies || !is_measured_here(instrument) && option.is_of_run())
        };
        let asked = OPTIONS.iter().filter(is_asked);
        let (last, first): (Vec<_>, Vec<_>) = asked.partition(|option| option.form.is_rest);
        first.into_iter().chain(last).fold(command, |line, option| {
            let values = (option.at.words)(self, &usual);
            match option.form {
                Form { is_rest: true, .. } if !values.is_empty() => line.text("--").words(values),
                Form { value: None, .. } if !values.is_empty() => line.flag(option.name),
                _ => values.into_iter().fold(line, |line, value| line.named(option.name, value)),
            }
        })
    }

    /// Rejects options that do not apply to the method; an error is one line for the user.
    pub(crate) fn check_applies(&self) -> Result<(), String> {
        let (usual, instrument) = (Plan::of(self.method.clone()), self.method.instrument());
        let is_set = |option: &&PlanOption| !(option.at.words)(self, &usual).is_empty();
        // Another row of the name may apply.
        let applies = |name: &str| {
            OPTIONS.iter().any(|one| one.name == name && one.applies.is_for(instrument))
        };
        let refused = OPTIONS
            .iter()
            .filter(|option| !applies(option.name) && is_set(option))
            .find_map(|option| option.refusal(instrument));
        refused.map_or(Ok(()), Err)
    }

    /// Labelled facts of how it measured, from its options.
    pub fn facts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let instrument = self.method.instrument();
        let of_method = OPTIONS.iter().filter(move |option| option.applies.is_for(instrument));
        of_method.filter_map(|option| {
            let (label, text) = option.form.fact?;
            Some((label, text(self)?))
        })
    }
}
