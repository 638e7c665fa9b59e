//! Reading the fingerprint of this machine; what cannot be read stays `None`.

use crate::layout::Cpus;
use latlab_model::CpuSet;
use latlab_model::machine::Machine;
use latlab_sys::files::Root;
use latlab_sys::process::Uname;
use latlab_sys::sched;
use std::io::Read;

/// The fingerprint from the kernel's files.
pub fn read(root: &Root, uname: Uname, cpus: &Cpus) -> Machine {
    let cpu_info = root.read("proc/cpuinfo").unwrap_or_default();
    let set = |file: &str| root.read_as::<CpuSet>(file).unwrap_or_default();
    Machine {
        board: root
            .read("proc/device-tree/model")
            .or_else(|| root.read("sys/class/dmi/id/product_name")),
        cpu_model: cpu_model(&cpu_info),
        preemption: preemption(root, &uname.version),
        command_line: root.read("proc/cmdline"),
        virtualisation: virtualisation(root, &cpu_info),
        distribution: root.read("etc/os-release").and_then(|text| {
            let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
            Some(name.trim_matches('"').to_string())
        }),
        cpus_online: cpus.online.clone(),
        cpus_allowed: cpus.usable.clone(),
        cpus_isolated: set("sys/devices/system/cpu/isolated"),
        cpus_nohz_full: set("sys/devices/system/cpu/nohz_full"),
        tick_hz: tick_hz(root, &uname.release),
        clocksource: root.read("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor: root.read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        rt_runtime_us: root.read_as("proc/sys/kernel/sched_rt_runtime_us"),
        boot_id: root.read("proc/sys/kernel/random/boot_id"),
        memory_bytes: memory_bytes(root),
        microcode: cpu_info_field(&cpu_info, "microcode"),
        hostname: Some(uname.hostname),
        architecture: uname.machine,
        kernel: uname.release,
        kernel_version: uname.version,
    }
}

/// The CPUs that this process may be placed on.
///
/// Isolated CPUs are left out of everybody's mask, so a mask as wide as that of process 1 is
/// widened by those that placing a thread on proves usable; a narrower one is somebody's wish.
pub fn cpus(root: &Root) -> Cpus {
    let online = root.read_as("sys/devices/system/cpu/online").unwrap_or_default();
    let own: CpuSet = sched::affinity().unwrap_or_default().into_iter().collect();
    let of_init: Option<CpuSet> =
        sched::affinity_of_init().ok().map(|cpus| cpus.into_iter().collect());
    let isolated: CpuSet = root.read_as("sys/devices/system/cpu/isolated").unwrap_or_default();
    let masked = of_init.is_some_and(|init| !init.without(&own).is_empty());
    let mut usable = own.clone();
    if !masked && !isolated.is_empty() {
        let candidates = isolated.and(&online);
        let placeable = candidates.iter().filter(|&cpu| sched::set_affinity([cpu]).is_ok());
        usable = own.iter().chain(placeable).collect();
        // Back to where we were; it was allowed a moment ago.
        let _ = sched::set_affinity(own.iter());
    }
    Cpus { online, usable }
}

fn cpu_info_field(cpu_info: &str, field: &str) -> Option<String> {
    cpu_info.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == field).then(|| value.trim().to_string())
    })
}

fn cpu_model(cpu_info: &str) -> Option<String> {
    cpu_info_field(cpu_info, "model name")
        .or_else(|| cpu_info_field(cpu_info, "Model"))
        .or_else(|| cpu_info_field(cpu_info, "Hardware"))
}

fn preemption(root: &Root, version: &str) -> Option<String> {
    if root.read("sys/kernel/realtime").as_deref() == Some("1") {
        return Some("PREEMPT_RT".to_string());
    }
    let word = version.split_whitespace().find(|word| word.starts_with("PREEMPT"));
    match (word, root.read("sys/kernel/debug/sched/preempt")) {
        // The mode that is in force now stands in brackets or parentheses.
        (Some(word), Some(modes)) => {
            let now = modes.split_whitespace().find(|mode| mode.starts_with(['(', '[']));
            Some(format!("{word} {}", now.unwrap_or_default()).trim().to_string())
        }
        (word, _) => word.map(str::to_string),
    }
}

fn virtualisation(root: &Root, cpu_info: &str) -> Option<String> {
    let container = ["run/.containerenv", ".dockerenv"].iter().any(|file| root.has(file));
    let guest = cpu_info_field(cpu_info, "flags")
        .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    let vendor = root.read("sys/class/dmi/id/sys_vendor");
    let guest = guest.then(|| match vendor {
        Some(vendor) => format!("virtual machine ({vendor})"),
        None => "virtual machine".to_string(),
    });
    match (guest, container) {
        (Some(guest), true) => Some(format!("{guest}, container")),
        (guest, false) => guest,
        (None, true) => Some("container".to_string()),
    }
}

fn tick_hz(root: &Root, release: &str) -> Option<u32> {
    let config = root.read(format!("boot/config-{release}")).or_else(|| {
        let packed = std::fs::File::open(root.path("proc/config.gz")).ok()?;
        let mut config = String::new();
        flate2::read::GzDecoder::new(packed).take(8 << 20).read_to_string(&mut config).ok()?;
        Some(config)
    })?;
    config.lines().find_map(|line| line.strip_prefix("CONFIG_HZ="))?.trim().parse().ok()
}

fn memory_bytes(root: &Root) -> Option<u64> {
    let info = root.read("proc/meminfo")?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(total.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

/// Type and relative capacity of a core, on machines with several kinds of them.
pub fn core(root: &Root, cpu: u32) -> (Option<String>, Option<u32>) {
    let in_list = |file: &str| root.read_as::<CpuSet>(file).is_some_and(|set| set.contains(cpu));
    let kind = match () {
        () if in_list("sys/devices/cpu_core/cpus") => Some("P".to_string()),
        () if in_list("sys/devices/cpu_atom/cpus") => Some("E".to_string()),
        () => None,
    };
    let capacity = |cpu: u32| root.read_as(format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"));
    (kind, capacity(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plant(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::new(folder.path());
        (folder, root)
    }

    fn uname(version: &str) -> Uname {
        Uname {
            hostname: "board".into(),
            release: "6.1.0".into(),
            version: version.into(),
            machine: "aarch64".into(),
        }
    }

    #[test]
    fn a_board_is_recognised() {
        let (_folder, root) = plant(&[
            ("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0"),
            ("proc/cpuinfo", "processor\t: 0\nModel\t\t: Raspberry Pi 4\n"),
            ("proc/meminfo", "MemTotal:        3884312 kB\nMemFree: 1 kB\n"),
            ("boot/config-6.1.0", "CONFIG_HZ_250=y\nCONFIG_HZ=250\n"),
            ("sys/kernel/realtime", "1\n"),
            ("sys/devices/system/cpu/isolated", "2-3\n"),
            ("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian 12\"\n"),
            ("sys/devices/system/cpu/cpu1/cpu_capacity", "446\n"),
            ("sys/devices/cpu_atom/cpus", "1\n"),
        ]);
        let machine = read(&root, uname("#1 SMP PREEMPT_RT Debian"), &Cpus::default());
        assert_eq!(machine.board.as_deref(), Some("Raspberry Pi 4 Model B Rev 1.4"));
        assert_eq!(machine.cpu_model.as_deref(), Some("Raspberry Pi 4"));
        assert_eq!(machine.preemption.as_deref(), Some("PREEMPT_RT"));
        assert_eq!(machine.tick_hz, Some(250));
        assert_eq!(machine.memory_bytes, Some(3_884_312 * 1024));
        assert_eq!(machine.cpus_isolated.to_string(), "2-3");
        assert_eq!(machine.distribution.as_deref(), Some("Debian 12"));
        assert_eq!(machine.governor, None, "absent is not empty");
        assert_eq!(core(&root, 1), (Some("E".to_string()), Some(446)));
        assert_eq!(core(&root, 0), (None, None));
    }

    #[test]
    fn a_guest_and_its_preemption_mode_are_recognised() {
        let (_folder, root) = plant(&[
            ("proc/cpuinfo", "model name : CPU\nflags : fpu hypervisor\nmicrocode : 0x1\n"),
            ("sys/kernel/debug/sched/preempt", "none (voluntary) full \n"),
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
            (".dockerenv", ""),
        ]);
        let machine = read(&root, uname("#1 SMP PREEMPT_DYNAMIC"), &Cpus::default());
        assert_eq!(machine.preemption.as_deref(), Some("PREEMPT_DYNAMIC (voluntary)"));
        assert_eq!(machine.virtualisation.as_deref(), Some("virtual machine (QEMU), container"));
        assert_eq!(machine.microcode.as_deref(), Some("0x1"));
    }

    #[test]
    fn an_empty_root_is_no_crash() {
        let (_folder, root) = plant(&[]);
        let machine = read(&root, uname("#1"), &Cpus::default());
        assert_eq!((machine.preemption, machine.tick_hz, machine.board), (None, None, None));
    }
}
