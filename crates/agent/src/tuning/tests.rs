//! Tunings on planted machines, of which CPU 2 and 3 of four are measured.
//!
//! Invariant (undo): Tunings hold during a run and are undone from any start; no other thread is touched.

use super::*;
use latlab_model::finding::{Finding, FindingKind, SetupFinding};
use latlab_model::run::Setting;
use std::fs;

fn machine() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::new(folder.path());
    for name in ["run", "tmp", "proc/irq"] {
        fs::create_dir_all(root.path(name)).unwrap();
    }
    (folder, root)
}

fn plant(root: &Root, path: &str, value: &str) {
    let path = root.path(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("{value}\n")).unwrap();
}

fn held(root: &Root, path: &str) -> String {
    read_value(root, path).unwrap()
}

fn places(measured: &[u32]) -> (Layout, Cpus) {
    let all: CpuSet = (0..4).collect();
    let layout = Layout {
        threads: measured.iter().copied().map(Some).collect(),
        wakers: Vec::new(),
        helpers: all.clone(),
        crowded: false,
    };
    (layout, Cpus { online: all.clone(), usable: all })
}

fn resolved(root: &Root, text: &str, measured: &[u32]) -> Result<Recipe, String> {
    let (layout, cpus) = places(measured);
    recipe(&text.parse().unwrap(), &TuningContext::new(root, &layout, &cpus))
}

fn tuned(root: &Root, text: &str, changes: &mut Changes) -> Result<SettingList, String> {
    let (layout, cpus) = places(&[2, 3]);
    tune(root, &[text.parse().unwrap()], (&layout, &cpus), changes).map_err(|refusal| {
        assert!(!refusal.plan_is_wrong);
        refusal.text
    })
}

/// Applies a tuning, inspects the result, and restores everything.
fn tried(root: &Root, text: &str, look: impl FnOnce(&[Setting])) {
    let mut changes = Changes::begin(root).unwrap();
    look(&tuned(root, text, &mut changes).unwrap().settings);
    drop(changes);
    assert_eq!(root.names("run/latlab").unwrap(), ["lock"], "nothing is left to be undone");
}

fn words(setting: &Setting) -> (&str, &str, Option<&str>) {
    assert_eq!((setting.holds(), setting.matters), (true, true), "{setting:?}");
    (&setting.what, &setting.applied, setting.before.as_deref())
}

#[test]
fn a_value_is_made_told_and_put_back() {
    let (_folder, root) = machine();
    plant(&root, RT_RUNTIME, "950000");
    tried(&root, "rt-throttling=off", |settings| {
        assert_eq!(words(&settings[0]), ("tuning rt-throttling", "-1", Some("950000")));
        assert_eq!(held(&root, RT_RUNTIME), "-1");
    });
    assert_eq!(held(&root, RT_RUNTIME), "950000");
}

#[test]
fn a_value_that_holds_already_is_told_and_not_touched() {
    let (_folder, root) = machine();
    plant(&root, HUGE_PAGES, "always madvise [never]");
    plant(&root, TIMER_MIGRATION, "0");
    for (text, applied) in [("thp=never", "never"), ("timer-migration=off", "0")] {
        tried(&root, text, |settings| {
            assert_eq!((words(&settings[0]).1, words(&settings[0]).2), (applied, None));
        });
    }
    // The kernel's own notation, as it was never written.
    let pages = fs::read_to_string(root.path(&HUGE_PAGES[1..])).unwrap();
    assert_eq!(pages, "always madvise [never]\n");
}

#[test]
fn what_this_kernel_has_not_is_refused_in_one_line() {
    let (_folder, root) = machine();
    for (text, expected) in [
        ("governor=performance", "CPU 2-3 has no policy in /sys/devices/system/cpu/cpufreq"),
        ("thp=never", "CONFIG_TRANSPARENT_HUGEPAGE"),
        ("timer-migration=off", "CONFIG_NO_HZ_COMMON"),
        ("rt-throttling=off", "this kernel has no /proc/sys/kernel/sched_rt_runtime_us"),
        ("fair-server=off", "mount -t debugfs none /sys/kernel/debug"),
        ("workqueues=away", "this kernel has no /sys/devices/virtual/workqueue/cpumask"),
        ("irqs=away", "this kernel has no /proc/irq/default_smp_affinity"),
        ("irq-thread:eth0=80", "this kernel has no interrupt threads"),
    ] {
        let error = tuned(&root, text, &mut Changes::begin(&root).unwrap()).unwrap_err();
        assert!(error.starts_with(&format!("--tune {text}: ")), "{error}");
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
    plant(&root, "/sys/kernel/debug/sched/features", "X");
    let error = resolved(&root, "fair-server=off", &[2]).unwrap_err();
    assert!(error.contains("since Linux 6.12"), "{error}");
}

#[test]
fn one_that_cannot_be_resolved_leaves_the_others_unmade() {
    let (_folder, root) = machine();
    plant(&root, RT_RUNTIME, "950000");
    let (layout, cpus) = places(&[2, 3]);
    let both = ["rt-throttling=off", "thp=never"].map(|text| text.parse().unwrap());
    let mut changes = Changes::begin(&root).unwrap();
    assert!(tune(&root, &both, (&layout, &cpus), &mut changes).is_err());
    assert!(changes.undo().is_empty());
}

fn plant_policy(root: &Root, name: &str, cpus: &str, governor: &str) {
    let file = |file: &str| format!("{}/{name}/{file}", "/sys/devices/system/cpu/cpufreq");
    plant(root, &file("affected_cpus"), cpus);
    plant(root, &file("scaling_governor"), governor);
    plant(root, &file("scaling_available_governors"), "ondemand powersave performance ");
}

#[test]
fn the_governor_is_that_of_the_policies_with_a_measured_cpu() {
    let (_folder, root) = machine();
    plant_policy(&root, "policy0", "0 1", "ondemand");
    plant_policy(&root, "policy2", "2", "performance");
    plant_policy(&root, "policy3", "3", "powersave");
    let governor =
        |cpu| held(&root, &format!("/sys/devices/system/cpu/cpufreq/policy{cpu}/scaling_governor"));
    tried(&root, "governor=performance", |settings| {
        let told = ("tuning governor", "performance (CPU 2-3)", Some("powersave (CPU 3)"));
        assert_eq!(words(&settings[0]), told);
        assert_eq!([0, 2, 3].map(governor), ["ondemand", "performance", "performance"]);
    });
    assert_eq!([0, 2, 3].map(governor), ["ondemand", "performance", "powersave"]);
    let error = resolved(&root, "governor=schedutil", &[0]).unwrap_err();
    assert!(
        error.contains("CPU 0-1 has no such governor; available: ondemand powersave"),
        "{error}"
    );
}

#[test]
fn masks_keep_their_width_and_the_cpus_that_are_not_measured() {
    let (_folder, root) = machine();
    for (before, made) in [("f", "3"), ("ffffffff,0000000f", "00000000,00000003"), ("0c", "03")] {
        plant(&root, "/sys/devices/virtual/workqueue/cpumask", before);
        tried(&root, "workqueues=away", |settings| {
            assert_eq!(words(&settings[0]).1, "on CPU 0-1");
            assert_eq!(held(&root, "/sys/devices/virtual/workqueue/cpumask"), made);
        });
        assert_eq!(held(&root, "/sys/devices/virtual/workqueue/cpumask"), before);
    }
    plant(&root, "/sys/devices/virtual/workqueue/cpumask", "1");
    assert_eq!(resolved(&root, "workqueues=away", &[2]).unwrap().steps, []);
    let error = resolved(&root, "workqueues=away", &[0, 1, 2, 3]).unwrap_err();
    assert!(error.contains("no other CPU is left: measure fewer with --cpus"), "{error}");
}

fn plant_irq(root: &Root, number: u32, list: &str, handler: Option<&str>) -> String {
    let path = format!("/proc/irq/{number}/smp_affinity_list");
    plant(root, &path, list);
    if let Some(handler) = handler {
        fs::create_dir(root.path(format!("proc/irq/{number}/{handler}"))).unwrap();
    }
    path
}

#[test]
fn interrupts_leave_the_measured_cpus_and_come_back() {
    let (_folder, root) = machine();
    plant(&root, "/proc/irq/default_smp_affinity", "e");
    let everywhere = plant_irq(&root, 4, "0-3", Some("ttyS0"));
    let there_only = plant_irq(&root, 10, "2", Some("eth0"));
    let away = plant_irq(&root, 9, "0", Some("acpi"));
    let unused = plant_irq(&root, 0, "0-3", None);
    let paths = [&everywhere, &there_only, &away, &unused];
    tried(&root, "irqs=away", |settings| {
        let told = ("tuning irqs", "not on CPU 2-3", Some("2 of 3 interrupts may occur there"));
        assert_eq!(words(&settings[0]), told);
        assert_eq!(settings.len(), 1);
        // An interrupt without a free CPU goes where a new one would.
        assert_eq!(paths.map(|path| held(&root, path)), ["0-1", "1", "0", "0-3"]);
        assert_eq!(held(&root, "/proc/irq/default_smp_affinity"), "2");
    });
    assert_eq!(paths.map(|path| held(&root, path)), ["0-3", "2", "0", "0-3"]);
    assert_eq!(held(&root, "/proc/irq/default_smp_affinity"), "e");
    let error = resolved(&root, "irqs=away", &[0, 1, 2, 3]).unwrap_err();
    assert!(error.contains("no other CPU is left"), "{error}");
}

#[test]
fn an_interrupt_that_refuses_is_named_and_no_error() {
    let (_folder, root) = machine();
    plant(&root, "/proc/irq/default_smp_affinity", "3");
    plant_irq(&root, 4, "0-3", Some("timer"));
    let mut changes = Changes::begin(&root).unwrap();
    let recipe = resolved(&root, "irqs=away", &[2, 3]).unwrap();
    // It disappears: as for a per-CPU interrupt, the write fails and nothing is changed.
    fs::remove_dir_all(root.path("proc/irq/4")).unwrap();
    let settings = apply::apply(&root, "irqs", &recipe, &mut changes).unwrap().settings;
    let stays = &settings[1];
    assert_eq!(
        (stays.what.as_str(), stays.applied.as_str()),
        ("irqs that cannot be moved", "1: 4 (timer)")
    );
    assert!(settings[0].holds() && !stays.matters);
    assert!(changes.undo().is_empty());
}

#[test]
fn what_another_value_is_read_back_for_is_told() {
    let (_folder, root) = machine();
    plant(&root, RT_RUNTIME, "950000");
    let mut recipe = resolved(&root, "rt-throttling=off", &[2]).unwrap();
    // Like a kernel that rounds: the value read back is not the one asked for.
    recipe.steps[0].value = "-1 ".to_string();
    let mut changes = Changes::begin(&root).unwrap();
    let settings = apply::apply(&root, "rt-throttling", &recipe, &mut changes).unwrap().settings;
    assert_eq!((settings[0].holds(), settings[0].matters), (false, true));
}

#[test]
fn a_file_that_cannot_be_written_ends_it_with_a_remedy() {
    let (_folder, root) = machine();
    // A folder cannot be written or read as a value, even by root.
    fs::create_dir_all(root.path(&RT_RUNTIME[1..])).unwrap();
    let mut changes = Changes::begin(&root).unwrap();
    let error = tuned(&root, "rt-throttling=off", &mut changes).unwrap_err();
    assert!(error.starts_with("--tune rt-throttling=off: cannot read /proc/sys/kernel"), "{error}");
    let step =
        Step { target: StepObject::File("/sys/x".into()), of: "x".into(), value: "1".into() };
    let recipe = Recipe {
        asked: "1".into(),
        before: None,
        steps: vec![step],
        some_may_stay: false,
        away: Away::default(),
    };
    let error = apply::apply(&root, "x", &recipe, &mut changes).unwrap_err();
    assert!(error.contains("try by hand: echo 1 | sudo tee /sys/x"), "{error}");
}

/// What is found when the settings of a tuning are read again: setting, old and new value.
fn found(root: &Root, list: &mut SettingList) -> Vec<[String; 3]> {
    let findings = list.monitored.iter_mut().filter_map(|setting| setting.read(root));
    let changed = |finding: Finding| match finding.kind {
        FindingKind::Setup(SetupFinding::SettingChanged { setting, held, now, .. }) => {
            [setting, held, now]
        }
        _ => panic!("{finding:?}"),
    };
    findings.map(changed).collect()
}

/// Invariant (settings): A tuning that another program undoes is found, and so is an interrupt that
/// comes to a measured CPU though it was not moved.
#[test]
fn a_tuning_that_is_lost_is_found_when_it_is_read_again() {
    let (_folder, root) = machine();
    plant(&root, RT_RUNTIME, "950000");
    let mut changes = Changes::begin(&root).unwrap();
    let mut list = tuned(&root, "rt-throttling=off", &mut changes).unwrap();
    assert_eq!(found(&root, &mut list), <[[String; 3]; 0]>::default());
    plant(&root, RT_RUNTIME, "950000");
    let setting = "tuning rt-throttling (/proc/sys/kernel/sched_rt_runtime_us)";
    assert_eq!(found(&root, &mut list), [[setting, "-1", "950000"]]);
    plant(&root, "/proc/irq/default_smp_affinity", "3");
    let moved = plant_irq(&root, 4, "0-3", Some("eth0"));
    let away = plant_irq(&root, 5, "0-1", Some("eth1"));
    let mut list = tuned(&root, "irqs=away", &mut changes).unwrap();
    plant(&root, &moved, "1");
    plant(&root, &away, "1,3");
    let changed = ["tuning irqs (5 (eth1))", "not on CPU 2-3", "on CPU 1,3"];
    assert_eq!(found(&root, &mut list), [changed]);
    plant(&root, &away, "0");
    assert_eq!(found(&root, &mut list).len(), 1, "it is reported when it is back");
}

#[test]
fn a_killed_run_is_undone_before_the_next_is_tuned() {
    let (_folder, root) = machine();
    plant(&root, "/proc/irq/default_smp_affinity", "f");
    let path = plant_irq(&root, 4, "0-3", Some("ttyS0"));
    let mut killed = Changes::begin(&root).unwrap();
    tuned(&root, "irqs=away", &mut killed).unwrap();
    // What a kill leaves: the changed files, and a record without a lock.
    let names = root.names("run/latlab").unwrap();
    let record = root.path("run/latlab").join(names.iter().find(|name| *name != "lock").unwrap());
    let (text, default) = (fs::read(&record).unwrap(), "/proc/irq/default_smp_affinity");
    let changed = [default, &path].map(|path| (path, held(&root, path)));
    drop(killed);
    fs::write(record, text).unwrap();
    changed.iter().for_each(|(path, value)| plant(&root, path, value));
    assert_eq!(held(&root, &path), "0-1");
    assert_eq!(latlab_sys::undo::restore_leftovers(&root).undone.len(), 2);
    assert_eq!(held(&root, &path), "0-3");
    tried(&root, "irqs=away", |settings| {
        assert_eq!(words(&settings[0]).2, Some("1 of 1 interrupts may occur there"));
    });
    assert_eq!(held(&root, &path), "0-3");
}

#[test]
fn the_fair_server_is_that_of_each_measured_cpu() {
    let (_folder, root) = machine();
    let path = |cpu: u32| format!("/sys/kernel/debug/sched/fair_server/cpu{cpu}/runtime");
    (0..4).for_each(|cpu| plant(&root, &path(cpu), "50000000"));
    tried(&root, "fair-server=off", |settings| {
        let told = ("tuning fair-server", "0 ns (CPU 2-3)", Some("50000000 (CPU 2, CPU 3)"));
        assert_eq!(words(&settings[0]), told);
        assert_eq!((held(&root, &path(1)), held(&root, &path(2))), ("50000000".into(), "0".into()));
    });
    assert_eq!(held(&root, &path(3)), "50000000");
}

#[test]
fn threads_of_interrupts_are_found_by_a_part_of_their_name() {
    let (_folder, root) = machine();
    for (id, name, parent, priority) in [
        (70, "irq/9-acpi", 2, 50),
        (71, "irq/10-eth0-rx", 2, 50),
        (72, "irq/11-eth0-tx", 2, 80),
        (73, "irq/12-eth0", 1, 50),
    ] {
        let field = |number| match number {
            4 => parent,
            22 => 1000 + id,
            40 => priority,
            41 => 1,
            _ => 0,
        };
        let rest: String = (4..60).map(|number| format!(" {}", field(number))).collect();
        plant(&root, &format!("/proc/{id}/stat"), &format!("{id} ({name}) S{rest}"));
    }
    let recipe = resolved(&root, "irq-thread:eth0=80", &[2]).unwrap();
    assert_eq!(recipe.asked, "fifo 80 (irq/10-eth0-rx, irq/11-eth0-tx)");
    assert_eq!(recipe.before.as_deref(), Some("fifo 50 (irq/10-eth0-rx)"));
    let id = ThreadId { id: 71, started: 1071 };
    assert_eq!((recipe.steps.len(), &recipe.steps[0].target), (2, &StepObject::Thread(id)));
    let error = resolved(&root, "irq-thread:mmc=80", &[2]).unwrap_err();
    assert!(error.ends_with("available: irq/9-acpi, irq/10-eth0-rx, irq/11-eth0-tx"), "{error}");
}
