//! The values of a load's parameters, in the forms that its texts need.

use super::parameter::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct Values(BTreeMap<String, Value>);

impl Values {
    pub fn new(values: BTreeMap<String, Value>) -> Values {
        Values(values)
    }

    /// A value as passed to a program.
    pub fn text(&self, name: &str) -> Result<String, String> {
        match self.0.get(name) {
            Some(Value::Number(number)) => Ok(number.to_string()),
            Some(Value::Text(text)) => Ok(text.clone()),
            None => Err(format!("there is no value for {name}")),
        }
    }

    /// A factor: the value of a parameter, or a literal number.
    pub fn number(&self, factor: &str) -> Result<u64, String> {
        let known = match self.0.get(factor) {
            Some(Value::Number(number)) => Some(*number),
            _ => factor.parse().ok(),
        };
        known.ok_or_else(|| format!("{factor} is not a number"))
    }

    /// The same with the number of a repetition.
    pub fn with_number(&self, number: u64) -> Values {
        let mut values = self.0.clone();
        values.insert("number".to_string(), Value::Number(number));
        Values(values)
    }
}
