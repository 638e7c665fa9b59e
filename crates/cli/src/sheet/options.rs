//! The words of a scenario are the long options of `latlab run`, as clap knows them.

use super::errors::SheetErrors;
use crate::flags::parse;
use crate::flags::run::RunArgs;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Args, Command};
use std::error::Error;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeValue;

/// Options that say how a command behaves, not what is measured.
const NOT_OF_A_SCENARIO: &[&str] = &[
    "board-folder",
    "console",
    "detach",
    "dry-run",
    // These stand behind the commas of a target.
    "dtb",
    "fault",
    "format",
    "help",
    "jobs",
    "junit",
    "keep-going",
    "kernel",
    "ktap",
    "lava",
    "modules",
    "name",
    "out",
    "print-unit",
    "quiet",
    "realtime",
    "repeats",
    "resume",
    "scale",
    "seeds",
    "skip-missing",
    "smp",
    "targets",
    "version",
];

/// The options that a scenario may have.
pub struct Vocabulary {
    run: Command,
}

/// A key of a scenario, as words of a command line.
#[derive(Clone, Debug)]
pub struct SheetOption {
    /// The option.
    pub key: String,
    /// `--option=value`, once for each value; none for a flag that is off.
    pub words: Vec<String>,
    /// The value as people read it.
    pub text: String,
    /// Where the value stands.
    pub at: Range<usize>,
}

impl Vocabulary {
    /// That of this program.
    pub fn new() -> Vocabulary {
        Vocabulary { run: RunArgs::augment_args(Command::new("run")) }
    }

    /// The option of a name, where a scenario may have it.
    pub fn get(&self, name: &str) -> Option<&Arg> {
        self.options().find(|arg| arg.get_long() == Some(name))
    }

    /// Whether it is an option that only a command may have.
    pub fn is_of_the_command(&self, name: &str) -> bool {
        NOT_OF_A_SCENARIO.contains(&name)
    }

    /// All of them, in the order of the help.
    pub fn options(&self) -> impl Iterator<Item = &Arg> {
        let known =
            |arg: &&Arg| arg.get_long().is_some_and(|name| !NOT_OF_A_SCENARIO.contains(&name));
        self.run.get_arguments().filter(known)
    }

    /// Their names.
    pub fn names(&self) -> Vec<&str> {
        self.options().filter_map(Arg::get_long).collect()
    }

    /// A key with its value, which is tried alone; none where it is wrong.
    pub fn setting(
        &self,
        key: &Spanned<impl AsRef<str>>,
        value: &Spanned<DeValue>,
        mistakes: &mut SheetErrors,
    ) -> Option<SheetOption> {
        let (name, at) = (key.get_ref().as_ref(), value.span());
        let arg = self.get(name)?;
        let setting = words(arg, name, value.get_ref()).and_then(|words| {
            let args: RunArgs = parse(&words).map_err(|error| reason(&error))?;
            // Without its defaults, so that two ways to write a target make one row.
            let shown = match name {
                "target" => args.measure.guest.target()?.to_string(),
                _ => value_text(value.get_ref()),
            };
            Ok((words, shown))
        });
        match setting {
            Ok((words, shown)) => {
                Some(SheetOption { key: name.to_string(), words, text: shown, at })
            }
            Err(reason) => {
                mistakes.add(at, format!("{name}: {reason}"));
                None
            }
        }
    }
}

/// Whether an option may be given several times.
pub fn is_list(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

/// Whether an option has no value.
pub fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

fn words(arg: &Arg, name: &str, value: &DeValue) -> Result<Vec<String>, String> {
    let word = |value: &DeValue| match scalar(value) {
        Some(text) => Ok(format!("--{name}={text}")),
        None => {
            Err(format!("{} is not a valid value; expected a text or a number", value.type_str()))
        }
    };
    match value {
        DeValue::Boolean(on) if is_flag(arg) => {
            Ok(on.then(|| format!("--{name}")).into_iter().collect())
        }
        _ if is_flag(arg) => Err("expected true or false".to_string()),
        DeValue::Array(list) if is_list(arg) => {
            list.iter().map(|one| word(one.get_ref())).collect()
        }
        DeValue::Array(_) => Err("takes a single value; lists are for [matrix]".to_string()),
        value => word(value).map(|word| vec![word]),
    }
}

fn scalar(value: &DeValue) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A value as the label of a row has it.
pub fn value_text(value: &DeValue) -> String {
    match value {
        DeValue::Boolean(on) => if *on { "on" } else { "off" }.to_string(),
        DeValue::Array(list) if list.is_empty() => "none".to_string(),
        DeValue::Array(list) => {
            list.iter().map(|one| value_text(one.get_ref())).collect::<Vec<_>>().join(" + ")
        }
        value => scalar(value).unwrap_or_else(|| value.type_str().to_string()),
    }
}

/// Why clap refuses, without its frame for a terminal.
pub fn reason(error: &clap::Error) -> String {
    if let Some(source) = error.source() {
        return source.to_string();
    }
    let context = |kind| error.get(kind);
    match (context(ContextKind::InvalidValue), context(ContextKind::ValidValue)) {
        (Some(ContextValue::String(bad)), Some(ContextValue::Strings(valid))) => {
            let known: Vec<&str> = valid.iter().map(String::as_str).collect();
            match super::errors::nearest(bad, &known) {
                Some(name) => format!("unknown value '{bad}'; did you mean '{name}'?"),
                None => format!("unknown value '{bad}'; expected one of {}", known.join(", ")),
            }
        }
        _ => error.kind().as_str().unwrap_or("not possible").to_string(),
    }
}
