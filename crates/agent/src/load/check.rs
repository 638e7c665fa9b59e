//! Checks the needs of all loads against the machine before any is started.

use latlab_model::Plan;
use latlab_model::load::Load;
use latlab_sys::child::program_path;
use latlab_sys::disk;
use latlab_sys::files::Root;

/// Memory left to everything else.
const SPARE_MEMORY: u64 = 64 << 20;

/// Returns the programs of each load's processes; an error is one line.
pub fn check(root: &Root, plan: &Plan) -> Result<Vec<Vec<String>>, String> {
    let programs =
        plan.on.loads.iter().map(|load| programs(root, load)).collect::<Result<_, _>>()?;
    memory(root, &plan.on.loads)?;
    room(&plan.on.loads)?;
    processes(root, &plan.on.loads)?;
    Ok(programs)
}

/// The first load whose program is missing, and how to install it.
pub fn missing_program(root: &Root, plan: &Plan) -> Option<String> {
    plan.on.loads.iter().find_map(|load| programs(root, load).err())
}

fn programs(root: &Root, load: &Load) -> Result<Vec<String>, String> {
    let find = |name: &String| {
        program_path(name)
            .map(|path| path.display().to_string())
            .ok_or_else(|| missing(root, load, name))
    };
    load.processes.iter().filter_map(|process| process.argv.first()).map(find).collect()
}

fn missing(root: &Root, load: &Load, program: &str) -> String {
    let install = match install(root, load) {
        Some(command) => format!("install it: {command}"),
        None if load.packages.is_empty() => "no package known".to_string(),
        None => {
            let packages = load.packages.iter().map(|(system, name)| format!("{name} ({system})"));
            format!("its package: {}", packages.collect::<Vec<_>>().join(", "))
        }
    };
    format!("the load {} needs '{program}', which is not installed; {install}", load.name)
}

/// The command that installs a load on this system.
fn install(root: &Root, load: &Load) -> Option<String> {
    let release = root.read("etc/os-release")?;
    let mut systems = Vec::new();
    for key in ["ID=", "ID_LIKE="] {
        let words = release.lines().filter_map(|line| line.strip_prefix(key));
        systems.extend(words.flat_map(|words| words.trim_matches('"').split_whitespace()));
    }
    systems.iter().find_map(|system| {
        let (known, command) = match *system {
            "debian" | "ubuntu" | "raspbian" => ("debian", "sudo apt-get install"),
            "fedora" | "rhel" | "centos" => ("fedora", "sudo dnf install"),
            "arch" => ("arch", "sudo pacman -S"),
            _ => return None,
        };
        Some(format!("{command} {}", load.packages.get(known)?))
    })
}

fn memory(root: &Root, loads: &[Load]) -> Result<(), String> {
    let Some(free) = meminfo(root, "MemAvailable:") else { return Ok(()) };
    check_fit("memory", "available", loads, |load| load.needs.memory_bytes, free, SPARE_MEMORY)
}

fn meminfo(root: &Root, key: &str) -> Option<u64> {
    let text = root.read("proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

fn room(loads: &[Load]) -> Result<(), String> {
    let folder = latlab_sys::scratch::base();
    let Some(free) = disk::free_bytes(&folder) else { return Ok(()) };
    let what = format!("space in {}", folder.display());
    check_fit(&what, "free", loads, |load| load.needs.disk_bytes, free, 0)
}

/// Explains, in one line with numbers, what does not fit.
fn check_fit(
    what: &str,
    free_word: &str,
    loads: &[Load],
    need: impl Fn(&Load) -> u64,
    free: u64,
    spare: u64,
) -> Result<(), String> {
    let total: u64 = loads.iter().map(&need).fold(0, u64::saturating_add);
    if total == 0 || total.saturating_add(spare) <= free {
        return Ok(());
    }
    let megabytes = |bytes: u64| format!("{} MB", bytes.div_ceil(1 << 20));
    let parts = loads.iter().filter(|load| need(load) > 0);
    let parts = parts.map(|load| format!("{} {}", load.words, megabytes(need(load))));
    let parts = parts.collect::<Vec<_>>().join(" + ");
    let spare = match spare {
        0 => String::new(),
        spare => format!(" + {} for the rest of the system", megabytes(spare)),
    };
    Err(format!(
        "the loads need more {what} than available: {parts}{spare}, but {} are {free_word}; use \
         smaller loads",
        megabytes(free)
    ))
}

fn processes(root: &Root, loads: &[Load]) -> Result<(), String> {
    let needed: u64 = loads.iter().map(|load| load.needs.processes).fold(0, u64::saturating_add);
    let limit = |file: &str| root.read_as::<u64>(file);
    let own = root.read("proc/self/limits").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("Max processes"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    });
    let limits = [
        ("`ulimit -u`", own),
        ("kernel.pid_max", limit("proc/sys/kernel/pid_max")),
        ("kernel.threads-max", limit("proc/sys/kernel/threads-max")),
        ("pids.max of this cgroup", limit("sys/fs/cgroup/pids/pids.max")),
    ];
    for (name, limit) in limits {
        if let Some(limit) = limit.filter(|limit| needed > *limit) {
            return Err(format!(
                "the loads start {needed} processes, but {name} is {limit}: use fewer, or raise \
                 the limit"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::load::{EndRule, EndSignal, LoadProcess, MinimumRate, Requirements};
    use latlab_model::plan::OnMachine;
    use std::fs;

    fn load(program: &str, needs: Requirements) -> Load {
        Load {
            words: "memory,threads=8".into(),
            name: "memory".into(),
            about: String::new(),
            definitions: None,
            processes: vec![LoadProcess { argv: vec![program.into()], ready: None }],
            environment: Default::default(),
            version: None,
            rates: Vec::new(),
            evidence: None,
            least: MinimumRate::default(),
            restart: false,
            end: EndRule { signal: EndSignal::Term, grace_ns: latlab_model::Nanos(1) },
            needs,
            packages: [("debian".to_string(), "memory-tools".to_string())].into(),
        }
    }

    fn refusal(program: &str, needs: Requirements) -> String {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("proc/sys/kernel")).unwrap();
        fs::create_dir_all(folder.path().join("etc")).unwrap();
        let put = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        put("proc/meminfo", "MemTotal: 1048576 kB\nMemAvailable:  716800 kB\n");
        put("proc/sys/kernel/pid_max", "32768");
        put("etc/os-release", "ID=raspbian\nID_LIKE=\"debian\"\n");
        let plan = Plan {
            on: OnMachine { loads: vec![load(program, needs)], ..OnMachine::default() },
            ..Plan::default()
        };
        check(&Root::new(folder.path()), &plan).expect_err("refused")
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_arithmetic() {
        let needs = Requirements { memory_bytes: (8 * 256) << 20, ..Requirements::default() };
        assert_eq!(
            refusal("sh", needs),
            "the loads need more memory than available: memory,threads=8 2048 MB + 64 MB for \
             the rest of the system, but 700 MB are available; use smaller loads"
        );
        let needs = Requirements { processes: 40_000, ..Requirements::default() };
        assert!(
            refusal("sh", needs).contains("start 40000 processes, but kernel.pid_max is 32768")
        );
        let needs = Requirements { disk_bytes: 1 << 60, ..Requirements::default() };
        assert!(refusal("sh", needs).contains("more space in"));
    }

    #[test]
    fn a_program_that_is_missing_is_told_with_what_installs_it() {
        let text = refusal("no-such-program", Requirements::default());
        assert!(text.contains("sudo apt-get install memory-tools"), "{text}");
    }
}
