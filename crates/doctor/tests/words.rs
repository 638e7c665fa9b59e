//! What the doctor says is whole: no placeholder is left, and each text is a sentence.

use latlab_doctor::{catalogue, examine};
use latlab_model::Snapshot;
use latlab_model::snapshot::Content;

#[test]
fn placeholders_of_the_catalogue_are_those_that_are_filled() {
    for check in catalogue() {
        for text in [check.remedy, check.undo].into_iter().flatten() {
            let rest = text.replace("{file}", "").replace("{value}", "");
            assert!(!rest.contains(['{', '}']), "{}: {text}", check.code);
        }
        assert!(check.why.ends_with('.'), "{}: {}", check.code, check.why);
    }
}

#[test]
fn commands_name_the_files_and_values_that_were_seen() {
    let mut snapshot = Snapshot::default();
    for (cpu, governor) in [(0, "performance"), (1, "ondemand"), (2, "ondemand"), (3, "powersave")]
    {
        let file = format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        snapshot.files.insert(file, Content::Text(governor.into()));
    }
    let said = &examine(&snapshot)[0];
    let file = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
    let (one, two, three) = (file(1), file(2), file(3));
    assert_eq!(said.value, "ondemand (CPU 1-2), powersave (CPU 3)");
    let remedy = format!("echo performance | tee {one} {two} {three}");
    assert_eq!(said.remedy.as_deref(), Some(remedy.as_str()));
    let undo = format!("echo ondemand | tee {one} {two}; echo powersave | tee {three}");
    assert_eq!(said.undo.as_deref(), Some(undo.as_str()));
}
