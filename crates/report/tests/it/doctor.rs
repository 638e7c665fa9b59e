//! The doctor's reports on one machine and on two, for handmade examinations.

use crate::common::{self, Fixture};
use latlab_doctor::comparison::{
    Comparison, ConfigChanges, ConfigTopic, FactChange, FindingChange, SettingChange,
};
use latlab_model::doctor::{CheckEntry, Diagnosis, Effect, Examination, Topic};
use latlab_model::machine::Machine;
use latlab_model::run::Severity;
use latlab_report::{Detail, Style, Subject, catalogue, comparison, examination, show};
use std::ops::RangeInclusive;

const WIDTHS: RangeInclusive<usize> = 60..=200;

fn detail(width: usize) -> Detail {
    Detail { width, style: Style { colour: false }, verbose: false }
}

fn finding(code: &str, severity: Severity, topic: Topic) -> Diagnosis {
    Diagnosis {
        effect: Effect::NONE,
        code: code.into(),
        severity,
        topic,
        text: format!("Something about the {topic} of this machine is as no user would want it."),
        file: "proc/sys/kernel/some_thing".into(),
        value: "950000".into(),
        why: "It makes a thread wait until others, which matter less, have done their work, and \
              it is unknown how long that takes."
            .into(),
        cost: "50 ms in each second".into(),
        remedy: Some("sysctl -w kernel.some_thing=-1".into()),
        undo: Some("sysctl -w kernel.some_thing=950000".into()),
    }
}

fn machine() -> Machine {
    Machine {
        hostname: Some("raspberrypi".into()),
        board: Some("Raspberry Pi 4 Model B Rev 1.4".into()),
        cpu_model: Some("Raspberry Pi 4".into()),
        kernel: "6.6.77-v8+".into(),
        preemption: Some("PREEMPT_RT".into()),
        cpus_online: "0-3".parse().unwrap(),
        cpus_isolated: "2-3".parse().unwrap(),
        clocksource: Some("arch_sys_counter".into()),
        governor: Some("ondemand".into()),
        ..Machine::default()
    }
}

fn ill() -> Examination {
    let by_hand = Diagnosis {
        remedy: Some(
            "Set power limits in the firmware of the board, or cool it, and look again under the \
             load that it will have."
                .into(),
        ),
        undo: None,
        value: "0x50005 and much more that is written in this file and that no user wants to read \
                on one line of a terminal, were it ever so wide, or is it"
            .into(),
        ..finding("throttled", Severity::Error, Topic::Heat)
    };
    let unreadable =
        (0..9).map(|n| (format!("sys/kernel/debug/file{n}"), "Permission denied".into()));
    Examination {
        machine: machine(),
        findings: vec![
            by_hand,
            finding("some-thing", Severity::Warning, Topic::Kernel),
            finding("other", Severity::Info, Topic::Cpu),
            finding("more", Severity::Info, Topic::Memory),
        ],
        unreadable: unreadable.chain([("proc/stuck".into(), "it did not answer".into())]).collect(),
    }
}

fn change(what: &str, before: Option<&str>, after: Option<&str>) -> FactChange {
    let text = |text: Option<&str>| text.map(str::to_string);
    FactChange { what: what.into(), before: text(before), after: text(after) }
}

fn setting(
    file: &str,
    of: Option<&str>,
    before: Option<&str>,
    after: Option<&str>,
) -> SettingChange {
    let FactChange { what: file, before, after } = change(file, before, after);
    SettingChange { file, of: of.map(str::to_string), partly: false, before, after }
}

fn changed() -> Comparison {
    let long = "Mitigation: usercopy/swapgs barriers and __user pointer sanitization";
    let option = |name: &str| change(name, None, Some("y"));
    let hotter = FactChange {
        what: "temperature thermal_zone0 cpu-thermal".to_string(),
        before: Some("48.1 C".to_string()),
        after: Some("61.3 C".to_string()),
    };
    Comparison {
        conditions: vec![hotter],
        before: "20261121T160430Z_night".into(),
        after: "this machine".into(),
        machine: vec![
            change("kernel", Some("6.1.0"), Some("6.12.9")),
            change(
                "command_line",
                Some("quiet splash"),
                Some("isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3"),
            ),
            change("memory_bytes", Some("4294967296"), Some("8589934592")),
        ],
        appeared: vec![
            finding("some-thing", Severity::Warning, Topic::Kernel),
            finding("new", Severity::Info, Topic::Cpu),
        ],
        gone: vec![finding("other", Severity::Info, Topic::Cpu)],
        weighed: vec![FindingChange {
            before: Severity::Info,
            now: finding("more", Severity::Warning, Topic::Memory),
        }],
        settings: vec![
            setting("sys/devices/system/cpu/cpu*/governor", Some("0-3"), Some("a"), Some("b")),
            setting("sys/vulnerabilities/spectre_v1", None, Some(long), Some("Vulnerable")),
            SettingChange {
                partly: true,
                ..setting("proc/self/limits", None, None, Some("Max realtime priority 99 99"))
            },
            setting("proc/irq/*/smp_affinity_list", Some("1"), Some("0"), None),
            setting("proc/irq/*/smp_affinity_list", Some("2"), Some("3"), None),
            setting("proc/sys/vm/new", None, None, Some("")),
        ],
        config: Some(vec![
            ConfigChanges {
                topic: ConfigTopic::Timers,
                options: vec![change("HZ", Some("250"), Some("1000"))],
            },
            ConfigChanges {
                topic: ConfigTopic::Debugging,
                options: (0..15).map(|n| option(&format!("DEBUG_{n}"))).collect(),
            },
            ConfigChanges {
                topic: ConfigTopic::Drivers,
                options: vec![option("SND"), option("USB")],
            },
            ConfigChanges { topic: ConfigTopic::FileSystems, options: vec![option("EXT4_FS")] },
        ]),
        not_compared: vec!["sys/kernel/debug/sched/preempt".into()],
    }
}

#[test]
fn a_machine_is_told_heaviest_first() {
    insta::assert_snapshot!("machine-ill-80", examination(&ill(), Subject::Here, 1, detail(80)));
    let run = Subject::Run("20261121T160430Z_night");
    let verbose = Detail { verbose: true, ..detail(120) };
    insta::assert_snapshot!("machine-ill-verbose-120", examination(&ill(), run, 0, verbose));
    let sound = Examination { machine: machine(), ..Examination::default() };
    insta::assert_snapshot!("machine-sound-80", examination(&sound, Subject::Here, 0, detail(80)));
    let nothing = examination(&Examination::default(), Subject::Elsewhere("a/b"), 0, detail(80));
    insta::assert_snapshot!("machine-unknown-80", nothing);
}

#[test]
fn what_changed_is_told_side_by_side() {
    insta::assert_snapshot!("changes-80", comparison(&changed(), detail(80)));
    let verbose = Detail { verbose: true, ..detail(120) };
    insta::assert_snapshot!("changes-verbose-120", comparison(&changed(), verbose));
    let (before, after) = ("a".to_string(), "b".to_string());
    let same = Comparison { before, after, config: Some(vec![]), ..Comparison::default() };
    assert_eq!(comparison(&same, detail(80)), "No changes from a to b.\n");
    let blind = Comparison { config: None, machine: changed().machine, ..same };
    assert!(comparison(&blind, detail(80)).contains("of one or both are not known"));
}

#[test]
fn the_catalogue_is_a_list() {
    let entry = |found: Diagnosis| CheckEntry {
        effect: found.effect.clone(),
        code: found.code,
        severity: found.severity,
        topic: found.topic,
        title: "something is as no user would want it, and that costs more than one would think"
            .into(),
        why: found.why,
        cost: found.cost,
        remedy: found.remedy,
        undo: found.undo,
    };
    let entries: Vec<CheckEntry> = ill().findings.into_iter().map(entry).collect();
    insta::assert_snapshot!("catalogue-80", catalogue(&entries, 80, Style { colour: false }));
    for width in WIDTHS {
        let text = catalogue(&entries, width, Style { colour: false });
        assert!(entries.iter().all(|entry| text.contains(&entry.code)), "at {width}:\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= width), "at {width}:\n{text}");
    }
}

/// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
#[test]
fn no_width_costs_a_diagnosis_a_kernel_or_a_change() {
    let (ill, changed) = (ill(), changed());
    for width in WIDTHS {
        let text = examination(&ill, Subject::Here, 0, detail(width));
        assert!(text.contains(&machine().kernel), "at {width}:\n{text}");
        for found in &ill.findings {
            assert!(text.contains(&found.code), "{} at {width}:\n{text}", found.code);
        }
        let text = comparison(&changed, detail(width));
        let facts = changed.machine.iter().flat_map(|one| [&one.before, &one.after]).flatten();
        let sized = ["4294967296", "8589934592"];
        for words in facts.filter(|value| !sized.contains(&value.as_str())) {
            let mut words = words.split(' ');
            assert!(words.all(|word| text.contains(word)), "at {width}:\n{text}");
        }
        for file in changed.settings.iter().map(|one| &one.file) {
            assert!(text.contains(file.as_str()), "{file} at {width}:\n{text}");
        }
    }
}

#[test]
fn no_line_is_too_wide_but_commands_and_colour_only_adds_marks() {
    let texts: [&dyn Fn(Detail) -> String; 3] = [
        &|detail| examination(&ill(), Subject::Here, 0, detail),
        &|detail| examination(&ill(), Subject::Elsewhere("a file"), 2, detail),
        &|detail| comparison(&changed(), detail),
    ];
    for text in texts {
        for width in WIDTHS {
            for verbose in [false, true] {
                let plain = text(Detail { verbose, ..detail(width) });
                for line in plain.lines() {
                    assert!(line.chars().count() <= width, "at {width}: {line}");
                }
                let style = Style { colour: true };
                let coloured = text(Detail { width, verbose, style });
                assert_ne!(coloured, plain);
                assert_eq!(without_colour(&coloured), plain);
            }
        }
    }
}

#[test]
fn the_narrowest_terminal_is_no_crash() {
    let narrow = Detail { width: 1, ..Detail::default() };
    assert!(!examination(&ill(), Subject::Here, 0, narrow).is_empty());
    assert!(!comparison(&changed(), narrow).is_empty());
}

#[test]
fn a_run_says_what_weighs_and_where_the_rest_is() {
    let mut run = common::normal().run;
    let style = Style { colour: false };
    run.doctor = Some(vec![finding("other", Severity::Info, Topic::Cpu)]);
    assert!(!show(&run, "", 80, style).contains("doctor"), "nothing weighs");
    run.doctor = Some(ill().findings);
    let text = show(&run, "", 80, style);
    let section: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("The doctor")).collect();
    let section = section.split(|line| line.is_empty()).next().unwrap_or_default().join("\n");
    insta::assert_snapshot!("run-80", section);
    let page = common::page(&Fixture { run, ..common::normal() });
    assert!(page.contains("Diagnoses of this machine") && page.contains("some-thing"));
    for words in ["<dt>In</dt>", "<dt>Why</dt>", "<dt>Cost</dt>", "<dt>Do</dt>", "<dt>Undo</dt>"] {
        assert!(page.contains(words), "{words}");
    }
    let (weighty, others) = page.split_once("of severity info</summary>").unwrap();
    assert!(!weighty.contains("<code>other</code>"), "what does not weigh is folded once more");
    assert!(others.contains("<code>other</code>"));
}

fn without_colour(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
}
