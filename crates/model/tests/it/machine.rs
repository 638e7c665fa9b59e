use latlab_model::CpuSet;
use latlab_model::machine::*;
use latlab_model::snapshot::Content;
use latlab_model::snapshot::Snapshot;

fn plant(files: &[(&str, &str)]) -> Machine {
    let files =
        files.iter().map(|(path, text)| (path.to_string(), Content::Text(text.to_string())));
    let snapshot = Snapshot { files: files.collect(), ..Snapshot::default() };
    Machine::from_snapshot(&snapshot, &CpuSet::default(), &CpuSet::default())
}

#[test]
fn a_board_is_recognised() {
    let machine = plant(&[
        ("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4"),
        ("proc/cpuinfo", "processor\t: 0\nModel\t\t: Raspberry Pi 4\n"),
        ("proc/meminfo", "MemTotal:        3884312 kB\nMemFree: 1 kB\n"),
        ("kernel.config", "CONFIG_HZ_250=y\nCONFIG_HZ=250"),
        ("sys/kernel/realtime", "1"),
        ("sys/devices/system/cpu/isolated", "2-3"),
        ("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian 12\"\n"),
    ]);
    assert_eq!(machine.board.as_deref(), Some("Raspberry Pi 4 Model B Rev 1.4"));
    assert_eq!(machine.cpu_model.as_deref(), Some("Raspberry Pi 4"));
    assert_eq!(machine.preemption.as_deref(), Some("PREEMPT_RT"));
    assert_eq!(machine.tick_hz, Some(250));
    assert_eq!(machine.memory_bytes, Some(3_884_312 * 1024));
    assert_eq!(machine.cpus_isolated.to_string(), "2-3");
    assert_eq!(machine.distribution.as_deref(), Some("Debian 12"));
    assert_eq!(machine.governor, None, "absent is not empty");
}

#[test]
fn a_guest_and_its_preemption_mode_are_recognised() {
    let version = ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian");
    let machine = plant(&[
        ("proc/cpuinfo", "model name : CPU\nflags : fpu hypervisor\nmicrocode : 0x1\n"),
        version,
        ("sys/kernel/debug/sched/preempt", "none (voluntary) full"),
        ("sys/class/dmi/id/sys_vendor", "QEMU"),
        (".dockerenv", ""),
    ]);
    assert_eq!(machine.preemption.as_deref(), Some("PREEMPT_DYNAMIC (voluntary)"));
    assert_eq!(machine.virtualisation.as_deref(), Some("virtual machine (QEMU), container"));
    assert_eq!(machine.microcode.as_deref(), Some("0x1"));
    let logged = plant(&[version, ("kernel.log", "[    0.1] Dynamic Preempt: none")]);
    assert_eq!(logged.preemption.as_deref(), Some("PREEMPT_DYNAMIC (none)"));
    let traced = plant(&[version, ("kernel.log", "[1] CPU: 1 #1 PREEMPT(lazy) ")]);
    assert_eq!(traced.preemption.as_deref(), Some("PREEMPT_DYNAMIC (lazy)"));
}

/// Mainline kernels have no /sys/kernel/realtime.
#[test]
fn any_sign_of_preempt_rt_suffices() {
    let version = |words| ("proc/sys/kernel/version", words);
    let signs: [&[(&str, &str)]; 5] = [
        &[version("#7-Ubuntu SMP PREEMPT_RT Thu Apr 2 2026")],
        &[version("#1 SMP PREEMPT RT Debian 4.19.304-1")],
        &[version("#1 SMP Thu Apr 2 2026"), ("kernel.config", "CONFIG_PREEMPT_RT=y")],
        &[version("#1 SMP"), ("threads", "24\tfifo\t1\t0\t0\tirq_work/0")],
        &[version("#1 SMP PREEMPT_DYNAMIC"), ("sys/kernel/realtime", "1")],
    ];
    for files in signs {
        assert_eq!(plant(files).preemption.as_deref(), Some("PREEMPT_RT"), "{files:?}");
    }
    // A configuration in /boot may be that of another kernel.
    let other = [version("#1 SMP PREEMPT_DYNAMIC"), ("kernel.config", "CONFIG_PREEMPT_RT=y")];
    assert_eq!(plant(&other).preemption.as_deref(), Some("PREEMPT_DYNAMIC"));
}

#[test]
fn in_virtual_time_no_hypervisor_takes_time() {
    let guest = |mark| plant(&[("lab/guest", mark)]).has_hypervisor();
    assert!(guest("lab:x86-64 in the host's time"));
    assert!(!guest("lab:x86-64 in virtual time"));
    assert!(!plant(&[(".dockerenv", "")]).has_hypervisor());
}

#[test]
fn an_empty_snapshot_is_no_crash() {
    assert_eq!(plant(&[]), Machine::default());
}
