//! Properties of single CPUs: their frequency, and their reserve for SCHED_OTHER threads.

use super::{Away, Recipe, Step, StepObject, TuningContext, group_values, present};
use latlab_model::CpuSet;

const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
const DEBUG: &str = "/sys/kernel/debug";

/// The governor of every policy that has a measured CPU.
pub fn governor(ground: &TuningContext, name: &str) -> Result<Recipe, String> {
    let policies: Vec<(String, CpuSet)> = policies(ground);
    let covered: CpuSet = policies.iter().flat_map(|(_, cpus)| cpus.iter()).collect();
    let without = ground.measured.without(&covered);
    if !without.is_empty() {
        return Err(format!(
            "CPU {without} has no policy in {POLICIES}, because the hypervisor or the firmware \
             controls its frequency: omit it"
        ));
    }
    let mut files = Vec::new();
    for (folder, cpus) in policies {
        let offered = ground.root.read(format!("{}/scaling_available_governors", &folder[1..]));
        let offered = offered.unwrap_or_default();
        if !offered.is_empty() && !offered.split_whitespace().any(|one| one == name) {
            return Err(format!("CPU {cpus} has no such governor; available: {offered}"));
        }
        let (path, of) = (format!("{folder}/scaling_governor"), format!("CPU {cpus}"));
        let now = present(ground.root, &path, "cpufreq has no governors on this machine")?;
        files.push((path, of, now));
    }
    Ok(recipe(format!("{name} (CPU {})", ground.measured), name, files))
}

/// Folders of the policies with a measured CPU, each with its online CPUs.
fn policies(ground: &TuningContext) -> Vec<(String, CpuSet)> {
    let names = ground.root.names(&POLICIES[1..]).unwrap_or_default();
    let of = |name: String| {
        let folder = format!("{POLICIES}/{name}");
        let list = ground.root.read(format!("{}/affected_cpus", &folder[1..]))?;
        let cpus: CpuSet = list.split_whitespace().collect::<Vec<_>>().join(",").parse().ok()?;
        (!cpus.and(&ground.measured).is_empty()).then_some((folder, cpus))
    };
    names.into_iter().filter(|name| name.starts_with("policy")).filter_map(of).collect()
}

/// Reserves no time on measured CPUs for SCHED_OTHER threads while real-time threads want it.
pub fn fair_server(ground: &TuningContext) -> Result<Recipe, String> {
    if !ground.root.has(format!("{}/sched", &DEBUG[1..])) {
        return Err(format!(
            "cannot read {DEBUG}/sched: use sudo, after `mount -t debugfs none {DEBUG}`"
        ));
    }
    let mut files = Vec::new();
    for cpu in ground.measured.iter() {
        let path = format!("{DEBUG}/sched/fair_server/cpu{cpu}/runtime");
        let now = present(ground.root, &path, "fair servers exist since Linux 6.12")?;
        files.push((path, format!("CPU {cpu}"), now));
    }
    Ok(recipe(format!("0 ns (CPU {})", ground.measured), "0", files))
}

/// One value for the files of single CPUs: path, object and current value of each.
fn recipe(asked: String, value: &str, files: Vec<(String, String, String)>) -> Recipe {
    let other = files.iter().filter(|(_, _, now)| now != value);
    let had: Vec<(String, String)> = other.map(|(_, of, now)| (of.clone(), now.clone())).collect();
    let step =
        |(path, of, _)| Step { target: StepObject::File(path), of, value: value.to_string() };
    Recipe {
        asked,
        before: group_values(&had),
        steps: files.into_iter().map(step).collect(),
        some_may_stay: false,
        away: Away::default(),
    }
}
