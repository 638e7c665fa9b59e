//! The doctor's texts are complete: no placeholder is left, and each is a sentence.

use latlab_doctor::{catalogue, examine};
use latlab_model::Snapshot;
use latlab_model::shell::Line;
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
fn every_text_about_a_planted_machine_is_whole() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/roots");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let roots: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|e| e == "json")).collect();
    assert!(!roots.is_empty());
    for root in roots {
        let snapshot: Snapshot =
            serde_json::from_str(&std::fs::read_to_string(&root).unwrap()).unwrap();
        for said in examine(&snapshot) {
            let code = &said.code;
            assert!(said.text.ends_with('.'), "{code}: {}", said.text);
            for command in [said.remedy, said.undo].into_iter().flatten() {
                assert!(!command.as_str().contains(['{', '}']), "{code}: {command}");
            }
        }
    }
}

#[test]
fn each_card_is_named_with_its_delay_and_only_what_it_does_is_switched_off() {
    let mut snapshot = Snapshot::default();
    let cards = "eth0\tr8169\t0\toff\neth1\tmlx5_core\t8\ton\neth2\tigc\t3\toff\n\
                 eth3\tstmmac\t300\toff";
    snapshot.files.insert("ethtool.coalescing".into(), Content::Text(cards.into()));
    let said = examine(&snapshot);
    let [said] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!(
        said.text,
        "Network cards delay the interrupts of packets: eth1 by a time that adapts to its load \
         (now 8 us), eth2 by up to 250 us as igc sees fit (rx-usecs 3), eth3 by up to 300 us."
    );
    assert_eq!(
        said.remedy.as_ref().map(Line::as_str),
        Some(
            "ethtool -C eth1 adaptive-rx off rx-usecs 0; ethtool -C eth2 rx-usecs 0; \
             ethtool -C eth3 rx-usecs 0"
        )
    );
    assert_eq!(
        said.undo.as_ref().map(Line::as_str),
        Some(
            "ethtool -C eth1 adaptive-rx on rx-usecs 8; ethtool -C eth2 rx-usecs 3; \
             ethtool -C eth3 rx-usecs 300"
        )
    );
}

#[test]
fn commands_name_the_files_and_values_that_were_seen() {
    let mut snapshot = Snapshot::default();
    for (cpu, governor) in [(0, "performance"), (1, "ondemand"), (2, "ondemand"), (3, "powersave")]
    {
        let file = format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        snapshot.files.insert(file, Content::Text(governor.into()));
    }
    let said = examine(&snapshot);
    let said = said.iter().find(|said| said.code == "governor").unwrap();
    let file = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
    let (one, two, three) = (file(1), file(2), file(3));
    assert_eq!(said.value, "ondemand (CPU 1-2), powersave (CPU 3)");
    let remedy = format!("echo performance | tee {one} {two} {three}");
    assert_eq!(said.remedy.as_ref().map(Line::as_str), Some(remedy.as_str()));
    let undo = format!("echo ondemand | tee {one} {two}; echo powersave | tee {three}");
    assert_eq!(said.undo.as_ref().map(Line::as_str), Some(undo.as_str()));
}
