//! The setup of a run: the machine, the requested and applied settings, and how threads ended.

use crate::document::Section;
use crate::document::outline::{Outline, pairs};
use crate::document::table::{Column, Table, markup};
use crate::sentence;
use crate::units::{bytes, counted, grouped, with_fixed_spaces};
use latlab_model::machine::{FACTS, FactValue};
use latlab_model::run::{Setting, ThreadEnd, ThreadRun};
use latlab_model::{CpuSet, Run};
use maud::{Markup, html};

pub fn section(run: &Run, outline: &Outline) -> Section {
    let content = html! {
        div.columns {
            (pairs("Machine", machine(run)))
            (pairs("Method", method_rows(run)))
        }
        (settings(run, outline))
        (thread_ends(run))
    };
    Section::new("setup", "Setup").html(content)
}

fn method_rows(run: &Run) -> Vec<(&'static str, String)> {
    let mut rows = sentence::method_facts(&run.asked);
    rows.push(("Helper threads on CPUs", run.applied.helpers_on.clone()));
    rows.push(("Ended", run.ended.to_string()));
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    rows.map(|(name, value)| (name, with_fixed_spaces(&value))).collect()
}

pub(crate) fn machine(run: &Run) -> Vec<(&'static str, String)> {
    let words = |value| match value {
        FactValue::Text(text) => text,
        FactValue::Bytes(memory) => with_fixed_spaces(&bytes(memory)),
        FactValue::Hertz(rate) => with_fixed_spaces(&format!("{rate} Hz")),
        FactValue::RealtimeLimit(limit) => with_fixed_spaces(&rt_limit(limit)),
    };
    FACTS
        .iter()
        .filter_map(|fact| Some((fact.name, (fact.value)(&run.machine).map(words)?)))
        .collect()
}

fn rt_limit(runtime_us: i64) -> String {
    match runtime_us {
        -1 => "none (-1)".to_string(),
        runtime => format!("{} us of each period", grouped(runtime.unsigned_abs())),
    }
}

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

/// Settings that differ from the request are always shown; the others are collapsed.
pub fn settings(run: &Run, outline: &Outline) -> Markup {
    let rows = folded(run);
    let (held, differing): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.setting.holds());
    html! {
        (outline.subtitle("Settings, read back after they were set"))
        @if differing.is_empty() && held.is_empty() {
            p { "No settings were recorded." }
        } @else if differing.is_empty() {
            p { "All settings were applied as asked." }
        } @else {
            (setting_table("Settings that the machine did not apply as requested", &differing))
        }
        @if !held.is_empty() {
            details {
                summary { (counted(held.len() as u64, "setting", "settings")) " applied as requested" }
                (setting_table("Settings applied as requested", &held))
            }
        }
    }
}

fn setting_table(caption: &str, rows: &[SettingRow]) -> Markup {
    let threads = |row: &SettingRow| match row.threads.is_empty() {
        true => "program".to_string(),
        false => row.threads.iter().copied().collect::<CpuSet>().to_string(),
    };
    let applied = |row: &SettingRow| {
        let before = row.setting.before.as_ref().map(|before| format!("; was {before}"));
        format!("{}{}", row.setting.applied, before.unwrap_or_default())
    };
    let mark = |row: &SettingRow| match (row.setting.holds(), row.setting.matters) {
        (true, _) => "as requested".to_string(),
        (false, true) => "differs, makes the figures worthless".to_string(),
        (false, false) => "differs".to_string(),
    };
    let column = |head: &str, cell: &dyn Fn(&SettingRow) -> String| {
        Column::new(head, 0, rows.iter().map(cell)).left()
    };
    let columns = vec![
        column("setting", &|row| row.setting.what.clone()),
        column("threads", &threads),
        column("requested", &|row| row.setting.asked.clone()),
        column("applied", &applied),
        column("", &mark),
    ];
    markup(&Table::new(caption, columns).stacked())
}

/// A counter at a thread's end, with its name.
type EndCounter = (&'static str, fn(&ThreadEnd) -> u64);

/// The threads' counters at their end, collapsed.
pub fn thread_ends(run: &Run) -> Markup {
    if run.threads.iter().all(|thread| thread.end.is_none()) {
        return html! {};
    }
    let all: [EndCounter; 5] = [
        ("Page faults", |end| end.page_faults),
        ("Involuntary switches", |end| end.involuntary_switches),
        ("Slept", |end| end.voluntary_switches),
        ("Spikes lost", |end| end.spikes_lost),
        ("Intervals grown", |end| end.intervals_grown),
    ];
    let ends = || run.threads.iter().filter_map(|thread| thread.end.as_ref());
    let (some, zero): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, of)| ends().any(|end| of(end) > 0));
    let zero: Vec<&str> = zero.into_iter().map(|(name, _)| name).collect();
    let caption = match zero.is_empty() {
        true => "Counted from the first release".to_string(),
        false => {
            format!("Counted from the first release; zero: {}", zero.join(", ").to_lowercase())
        }
    };
    let threads = run.threads.iter();
    let ended = |thread: &ThreadRun| {
        thread.end.as_ref().map_or("no word", |end| end.reason.as_str()).to_string()
    };
    let mut columns = vec![
        Column::new("thread", 0, threads.clone().map(|one| one.setup.thread.to_string())),
        Column::new("ended", 0, threads.clone().map(ended)).left(),
    ];
    columns.extend(some.into_iter().map(|(name, of)| {
        Column::new(name, 0, threads.clone().map(|one| one.end.as_ref().map(of).map(grouped)))
    }));
    html! {
        details {
            summary { "Kernel counters of each thread" }
            (markup(&Table::new(caption, columns)))
        }
    }
}
