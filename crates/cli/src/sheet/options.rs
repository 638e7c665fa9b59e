//! Keys of a scenario: the long options of `latlab run`.

use super::errors::SheetErrors;
use crate::flags::parse;
use crate::flags::plan::MeasureArgs;
use crate::flags::run::RunArgs;
use clap::error::{ContextKind, ContextValue};
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

/// All options that a scenario may set, in the order of the help.
pub fn options() -> impl Iterator<Item = &'static PlanOption> {
    OPTIONS.iter().filter(|option| option.is_of_run() && option.form.is_of_sheets)
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
        let args: MeasureArgs = parse(&words).map_err(|error| reason(&error))?;
        // Omit defaults, so that two spellings of a target are the same row.
        let shown = match name {
            "target" => args.guest.target()?.to_string(),
            _ => value_text(value.get_ref()),
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
