//! Keys of a scenario: the long options of `latlab run`, and of `latlab attach`.

use super::errors::SheetErrors;
use crate::flags::attach::AttachOptions;
use crate::flags::parse;
use crate::flags::plan::MeasureArgs;
use crate::flags::run::RunArgs;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Command};
use latlab_model::options::{OPTIONS, PlanOption};
use std::error::Error;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeValue;

/// A key of a scenario, converted to the command line.
#[derive(Clone, Debug)]
pub struct SheetOption {
    /// The option's name, without dashes.
    pub key: String,
    /// `--option=value` for each value. Empty for a flag that is off.
    pub words: Vec<String>,
    /// The value for people to read.
    pub text: String,
    /// The place of the value.
    pub at: Range<usize>,
}

/// Finds an option that a scenario may set.
pub fn find(name: &str) -> Option<&'static PlanOption> {
    options().find(|option| option.name == name)
}

/// Whether only the command line may set this option.
pub fn is_of_the_command(name: &str) -> bool {
    let run = RunArgs::augment_args(Command::new("run"));
    ["help", "version"].contains(&name)
        || run.get_arguments().any(|arg| arg.get_long() == Some(name))
}

/// All options that a scenario may set, in the order of the help. Of two rows of a name, which
/// differ in their values only, the first.
pub fn options() -> impl Iterator<Item = &'static PlanOption> {
    let is_first = |(at, option): &(usize, &PlanOption)| {
        option.form.is_of_sheets && OPTIONS[..*at].iter().all(|one| one.name != option.name)
    };
    OPTIONS.iter().enumerate().filter(is_first).map(|(_, option)| option)
}

/// Why an option of programs is refused if no program is measured.
pub const NEEDS_PROGRAM: &str = "is about a program: add --program, --pid or --comm";
/// Why an option of latlab's own threads is refused if a program is measured.
pub const NOT_OF_PROGRAMS: &str = "does not apply to a program, which has its own threads";

/// Whether an option names a program, whose threads are then measured.
pub fn names_program(name: &str) -> bool {
    matches!(name, "program" | "pid" | "comm")
}

/// Whether a command has an option with this name.
pub fn is_known(name: &str, has: impl Fn(&PlanOption) -> bool) -> bool {
    OPTIONS.iter().any(|option| option.name == name && has(option))
}

/// Checks a key and its value on their own. `None` if they are wrong.
pub fn setting(
    key: &Spanned<impl AsRef<str>>,
    value: &Spanned<DeValue>,
    mistakes: &mut SheetErrors,
) -> Option<SheetOption> {
    let (name, at) = (key.get_ref().as_ref(), value.span());
    let option = find(name)?;
    let setting = words(option, value.get_ref()).and_then(|words| {
        check_alone(name, &words)?;
        let shown = match (name, value.get_ref()) {
            // Omit defaults, so that two spellings of a target are the same row.
            ("target", _) => {
                let args: MeasureArgs = parse(&words).map_err(|error| reason(&error))?;
                args.guest.target()?.to_string()
            }
            (_, DeValue::Array(_)) if option.form.is_rest => words[1..].join(" "),
            (_, value) => value_text(value),
        };
        Ok((words, shown))
    });
    match setting {
        Ok((words, shown)) => Some(SheetOption { key: name.to_string(), words, text: shown, at }),
        Err(reason) => {
            mistakes.add(at, format!("{name}: {reason}"));
            None
        }
    }
}

/// Checks the value of an option as one of the commands has it.
fn check_alone(name: &str, words: &[String]) -> Result<(), String> {
    let own = || parse::<MeasureArgs>(words).map(drop);
    let of_program = || match parse::<AttachOptions>(words).map(drop) {
        // What else it needs is in another key.
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => Ok(()),
        checked => checked,
    };
    let checked = match is_known(name, PlanOption::is_of_run) {
        false => of_program(),
        true if is_known(name, PlanOption::is_of_attach) => {
            own().or_else(|error| of_program().map_err(|_| error))
        }
        true => own(),
    };
    checked.map_err(|error| reason(&error))
}

fn words(option: &PlanOption, value: &DeValue) -> Result<Vec<String>, String> {
    let name = option.name;
    let word = |value: &DeValue| match scalar(value) {
        Some(text) => Ok(format!("--{name}={text}")),
        None => {
            Err(format!("{} is not a valid value; expected a text or a number", value.type_str()))
        }
    };
    let is_flag = option.form.value.is_none();
    match value {
        DeValue::Boolean(on) if is_flag => {
            Ok(on.then(|| format!("--{name}")).into_iter().collect())
        }
        _ if is_flag => Err("expected true or false".to_string()),
        DeValue::Array(list) if option.form.is_rest => {
            let each = list.iter().map(|one| {
                scalar(one.get_ref()).ok_or_else(|| "expected a list of words".to_string())
            });
            std::iter::once(Ok("--".to_string())).chain(each).collect()
        }
        DeValue::String(word) if option.form.is_rest => {
            Ok(vec!["--".to_string(), word.to_string()])
        }
        DeValue::Array(list) if option.form.is_list => {
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

/// The value as the label of a row shows it.
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

/// Clap's reason for an error, without the frame for terminals.
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
