//! The machine, how it was measured, and what the machine made of that.

use super::ends::thread_ends;
use super::settings::settings;
use super::tables::pairs;
use crate::page::place::Place;
use crate::sentence;
use crate::units::{bytes, grouped, joined};
use latlab_model::{CpuSet, Run};
use maud::{Markup, html};

/// The fingerprint of a run.
pub fn setup(run: &Run, place: &Place) -> Markup {
    let content = html! {
        div.columns {
            (pairs("The machine", machine(run)))
            (pairs("How it was measured", how(run)))
        }
        (settings(run, place))
        (thread_ends(run))
    };
    place.section("setup", "Setup", content)
}

fn how(run: &Run) -> Vec<(&'static str, String)> {
    let mut rows = sentence::method(&run.asked);
    rows.push(("Helpers ran on CPUs", run.applied.helpers_on.clone()));
    rows.push(("Ended", run.ended.to_string()));
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    rows.map(|(name, value)| (name, joined(&value))).collect()
}

fn machine(run: &Run) -> Vec<(&'static str, String)> {
    let machine = &run.machine;
    let set = |cpus: &CpuSet| (!cpus.is_empty()).then(|| cpus.to_string());
    let rows = [
        ("Host", machine.hostname.clone()),
        ("Board", machine.board.clone()),
        ("Processor", machine.cpu_model.clone()),
        ("Architecture", Some(machine.architecture.clone())),
        ("Kernel", Some(machine.kernel.clone())),
        ("Kernel version", Some(machine.kernel_version.clone())),
        ("Preemption", machine.preemption.clone()),
        ("Tick", machine.tick_hz.map(|rate| joined(&format!("{rate} Hz")))),
        ("Command line", machine.command_line.clone()),
        ("Distribution", machine.distribution.clone()),
        ("Virtualisation", machine.virtualisation.clone()),
        ("CPUs online", set(&machine.cpus_online)),
        ("CPUs allowed", set(&machine.cpus_allowed)),
        ("CPUs isolated", set(&machine.cpus_isolated)),
        ("CPUs without tick", set(&machine.cpus_nohz_full)),
        ("Clock source", machine.clocksource.clone()),
        ("Governor", machine.governor.clone()),
        ("Real-time limit", machine.rt_runtime_us.map(rt_limit).map(|limit| joined(&limit))),
        ("Memory", machine.memory_bytes.map(|memory| joined(&bytes(memory)))),
        ("Microcode", machine.microcode.clone()),
        ("Boot id", machine.boot_id.clone()),
    ];
    rows.into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)))
        .collect()
}

fn rt_limit(runtime_us: i64) -> String {
    match runtime_us {
        -1 => "none (-1)".to_string(),
        runtime => format!("{} us of each period", grouped(runtime.unsigned_abs())),
    }
}
