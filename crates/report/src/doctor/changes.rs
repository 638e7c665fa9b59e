//! What differs between two machines, a line for each fact.

use crate::document::Change;
use crate::units::bytes;
use latlab_doctor::comparison::{FactChange, SettingChange};

pub fn of_fact(one: &FactChange) -> Change {
    let FactChange { what, before, after } = one;
    match what.strip_suffix("_bytes") {
        Some(name) => Change::new(name, sized(before), sized(after)),
        None => Change::new(&what.replace('_', " "), before.clone(), after.clone()),
    }
}

pub fn of_setting(one: &SettingChange) -> Change {
    let of = one.of.as_ref().map(|of| format!(" ({of})")).unwrap_or_default();
    let name = format!("/{}{of}", one.file);
    let change = Change::new(&name, one.before.clone(), one.after.clone());
    Change { is_partial: one.partly, ..change }
}

pub fn of_option(one: &FactChange) -> Change {
    let change = Change::new(&one.what, one.before.clone(), one.after.clone());
    Change { none: "not set", ..change }
}

fn sized(count: &Option<String>) -> Option<String> {
    let text = count.as_ref()?;
    Some(text.parse().map_or_else(|_| text.clone(), bytes))
}
