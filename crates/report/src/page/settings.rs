//! The settings of a run: what was asked and what the machine did.

use super::tables::scrolling;
use super::words::plural;
use crate::page::place::Place;
use crate::units::joined;
use latlab_model::run::Setting;
use latlab_model::{CpuSet, Run};
use maud::{Markup, html};

/// The same setting of several threads in one row.
struct SettingRow<'a> {
    setting: &'a Setting,
    threads: Vec<u32>,
}

fn folded(run: &Run) -> Vec<SettingRow<'_>> {
    let mut rows: Vec<SettingRow> = Vec::new();
    for setting in &run.applied.settings {
        let same = |row: &&mut SettingRow| {
            Setting { thread: None, ..row.setting.clone() }
                == Setting { thread: None, ..setting.clone() }
                && row.setting.thread.is_some() == setting.thread.is_some()
        };
        match rows.iter_mut().find(same) {
            Some(row) => row.threads.extend(setting.thread),
            None => {
                rows.push(SettingRow { setting, threads: setting.thread.into_iter().collect() })
            }
        }
    }
    rows
}

/// What the machine refused stands open; what it did as asked can be unfolded.
pub fn settings(run: &Run, place: &Place) -> Markup {
    let rows = folded(run);
    let (held, differing): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.setting.holds());
    html! {
        (place.subtitle("Settings, read back after they were made"))
        @if differing.is_empty() && held.is_empty() {
            p { "No setting is on record." }
        } @else if differing.is_empty() {
            p { "Everything was applied as it was asked." }
        } @else {
            (scrolling("Settings that differ", false, setting_table("Settings that the machine did not apply as asked", &differing)))
        }
        @if !held.is_empty() {
            details {
                summary { (plural(held.len(), "setting")) " applied as asked" }
                (scrolling("Settings as asked", false, setting_table("Settings applied as asked", &held)))
            }
        }
    }
}

fn setting_table(caption: &str, rows: &[SettingRow]) -> Markup {
    html! {
        table.words {
            caption { span { (caption) } }
            thead { tr { @for name in ["Setting", "Thread", "Asked", "Applied", ""] { th scope="col" { (name) } } } }
            tbody { @for row in rows { (setting_row(row)) } }
        }
    }
}

fn setting_row(row: &SettingRow) -> Markup {
    let setting = row.setting;
    let threads = match row.threads.is_empty() {
        true => "program".to_string(),
        false => row.threads.iter().copied().collect::<CpuSet>().to_string(),
    };
    let mark = match (setting.holds(), setting.matters) {
        (true, _) => "as asked",
        (false, true) => "differs, makes the figures worthless",
        (false, false) => "differs",
    };
    let before = setting.before.as_ref().map(|before| format!("; was {before}"));
    html! {
        tr {
            th scope="row" { (setting.what) }
            td { (threads) } td { (joined(&setting.asked)) }
            td { (joined(&setting.applied)) (before.unwrap_or_default()) }
            td { @if setting.holds() { (mark) } @else { strong.differs { (mark) } } }
        }
    }
}
