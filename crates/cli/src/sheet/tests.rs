//! Tests of valid sheets, and of the messages for wrong ones.

use super::*;
use latlab_model::Nanos;
use latlab_model::nanos::{MICROSECOND, SECOND};
use latlab_model::plan::{AttachTarget, JudgedTime};
use std::collections::BTreeSet;

fn campaign(text: &str, instead: &Overrides) -> Result<Campaign, String> {
    let source = SheetFile { file: "x.toml".into(), stem: "x".into(), text: text.into() };
    source.campaign(instead, jiff::Timestamp::UNIX_EPOCH, 4)
}

fn read(text: &str) -> Campaign {
    campaign(text, &Overrides::default()).unwrap()
}

/// The places of all mistakes, each with the first words of its message.
fn mistakes(text: &str) -> Vec<String> {
    let told = campaign(text, &Overrides::default()).unwrap_err();
    told.lines().filter_map(|line| line.strip_prefix("x.toml:")).map(str::to_string).collect()
}

#[test]
fn rows_are_scenarios_times_matrix_and_the_nearest_word_holds() {
    let campaign = read(
        "repeats = 2\norder = \"abba\"\n[defaults]\nfor = \"1s\"\nperiod = \"1ms\"\nsamples = true\n\
         [matrix]\nthreads = [1, 16]\n[[scenario]]\nname = \"a\"\n[[scenario]]\nname = \"b\"\n\
         period = \"200us\"\nsamples = false\nkernel = \"6.1.0-rt\"\n",
    );
    let labels: Vec<&str> = campaign.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["a, threads 1", "a, threads 16", "b, threads 1", "b, threads 16"]);
    let plan = |row: usize| &campaign.rows[row].plan;
    assert_eq!(
        (plan(1).who.threads, plan(1).method.period(), plan(1).keep.samples),
        (Some(16), Some(MICROSECOND * 1000), true)
    );
    assert_eq!((plan(2).method.period(), plan(2).keep.samples), (Some(MICROSECOND * 200), false));
    assert!(
        campaign.rows[2].fits_kernel("6.1.0-rt12-amd64")
            && !campaign.rows[2].fits_kernel("6.1.0-amd64")
    );
    let order: Vec<(usize, u32)> = campaign.runs.iter().map(|run| (run.row, run.repeat)).collect();
    assert_eq!(order, [(0, 1), (1, 1), (2, 1), (3, 1), (3, 2), (2, 2), (1, 2), (0, 2)]);
    assert_eq!(campaign.total(), SECOND * 16);
}

#[test]
fn a_program_is_a_row_and_its_words_are_its_own() {
    let campaign = read(
        "[defaults]\nfor = \"1s\"\n[[scenario]]\nname = \"own\"\nperiod = \"1ms\"\n\
         [[scenario]]\nname = \"mine\"\nprogram = [\"./control\", \"--rate\", \"1000\"]\n\
         deadline = \"wake-up:100us\"\nexplain = true\ntarget = \"ssh://board\"\n\
         [[scenario]]\nname = \"jack\"\ncomm = \"jackd\"\n",
    );
    let plan = |row: usize| &campaign.rows[row].plan;
    assert_eq!(plan(0).method.period(), Some(MICROSECOND * 1000));
    let attach = plan(1).method.attach().unwrap();
    let words = ["./control", "--rate", "1000"].map(str::to_string).to_vec();
    let target = AttachTarget::Command { words, output: None, as_root: false };
    assert_eq!((&attach.target, attach.judged), (&target, JudgedTime::WakeUp));
    assert!(plan(1).keep.explain && plan(1).on.target.to_string() == "ssh://board");
    assert_eq!(plan(1).until.duration_ns, Some(SECOND));
    let target = AttachTarget::Name { pattern: "jackd".to_string() };
    assert_eq!(plan(2).method.attach().unwrap().target, target);
}

#[test]
fn what_a_program_has_not_is_a_mistake_where_it_stands() {
    let told = |settings: &str| {
        mistakes(&format!("[[scenario]]\nname = \"a\"\nfor = \"1s\"\n{settings}")).join("\n")
    };
    for (settings, expected) in [
        ("program = [\"x\"]\nperiod = \"1ms\"\n", "5:10: period does not apply to a program"),
        ("thread = \"x\"\n", "4:10: thread is about a program"),
        ("program = [\"x\"]\ncomm = \"y\"\n", "attach takes one of"),
        ("pid = \"x\"\n", "4:7: pid: "),
    ] {
        assert!(told(settings).contains(expected), "{settings}: {}", told(settings));
    }
}

#[test]
fn each_scenario_has_a_row_for_each_board_with_its_defaults() {
    let boards = "[b]\ntarget = \"ssh://b:1\"\n[a]\ntarget = \"ssh://a\"\ncpus = \"2\"\ndeadline = \"1ms\"\n";
    let on_boards = |text: &str| {
        let boards = toml::from_str(boards).unwrap();
        campaign(text, &Overrides { boards, ..Overrides::default() })
    };
    let made = on_boards(
        "[defaults]\nfor = \"1s\"\n[[scenario]]\nname = \"x\"\n[[scenario]]\nname = \"y\"\n\
         cpus = \"7\"\n",
    )
    .unwrap();
    let rows = made.rows.iter().map(|row| {
        let cpus = row.plan.who.cpus.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{}: {} {cpus} {:?}", row.label, row.plan.on.target, row.plan.until.deadline_ns)
    });
    let ms = Some(MICROSECOND * 1000);
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            format!("x, a: ssh://a 2 {ms:?}"),
            "x, b: ssh://b:1  None".to_string(),
            format!("y, a: ssh://a 7 {ms:?}"),
            "y, b: ssh://b:1 7 None".to_string(),
        ]
    );
    assert_eq!(made.rows[0].group(), "x");
    let told = on_boards("[[scenario]]\nname = \"x\"\nfor = \"1s\"\ntarget = \"local\"\n");
    assert!(told.unwrap_err().starts_with("x.toml:4:10: target: --targets says what is measured"));
}

#[test]
fn what_a_reader_of_the_sheet_cannot_see_is_refused_where_it_stands() {
    let rest = "[[scenario]]\nname = \"a\"\nfor = \"1s\"\n";
    for (head, expected) in [
        ("# \u{202e}x\n", "1:3: contains an invisible character (U+202E): remove it"),
        ("about = \"a\u{200b}b\"\n", "1:11: contains an invisible character (U+200B): remove it"),
        ("about = \"\\u001B[2J\"\n", "1:9: contains a control character (U+001B): remove it"),
        ("about = \"\\u2066\"\n", "1:9: contains an invisible character (U+2066): remove it"),
        ("name = \"a\\nb\"\n", "1:8: name: expected a few plain words"),
    ] {
        assert_eq!(mistakes(&format!("{head}{rest}")), [expected], "{head}");
    }
    let hidden = "\u{feff}about = \"\"\"What is\r\nthe\tcost?\"\"\"\r\n";
    let campaign = read(&format!("{hidden}{rest}"));
    assert_eq!(campaign.about.as_deref(), Some("What is the cost?"));
}

#[test]
fn a_scale_replaces_every_end() {
    let text = "[[scenario]]\nname = \"a\"\nfor = \"1h\"\n[[scenario]]\nname = \"b\"\ncycles = 9\nperiod = \"1ms\"\nthreads = 3\nperiod-step = \"500us\"\n";
    let scaled = |scale| {
        campaign(text, &Overrides { scale: Some(scale), repeats: Some(3), ..Overrides::default() })
            .unwrap()
    };
    let by_time = scaled(Scale::Time(SECOND * 20));
    assert_eq!((by_time.runs.len(), by_time.run_time()), (6, SECOND * 6 * 21));
    let by_cycles = scaled(Scale::Cycles(1000));
    // The slowest thread finishes its cycles last.
    assert_eq!(by_cycles.run_duration(&by_cycles.runs[1]), Some(SECOND * 3));
    assert_eq!(by_cycles.rows[0].plan.until.duration_ns, None);
}

#[test]
fn a_random_order_is_that_of_its_seed_and_leaves_nothing_out() {
    let text = |seed: u64| {
        format!(
            "order = \"random\"\nseed = {seed}\nrepeats = 5\n[defaults]\nfor = \"1s\"\n[matrix]\nthreads = [1, 2, 3, 4, 5, 6, 7]\n[[scenario]]\nname = \"a\"\n"
        )
    };
    let runs = |seed| read(&text(seed)).runs;
    assert_eq!(runs(1), runs(1));
    assert_ne!(runs(1), runs(2));
    let all: BTreeSet<(usize, u32)> = runs(1).iter().map(|run| (run.row, run.repeat)).collect();
    assert_eq!(all.len(), 35);
}

/// Invariant (campaigns): Every error of a sheet is reported at its place; the ready-made sheets are valid.
#[test]
fn every_mistake_is_told_at_its_place() {
    let told = mistakes(
        "repeats = 0\ncolour = 1\n[defaults]\npriod = \"1ms\"\nfor = \"1s\"\n[matrix]\ntarget = [\"scp://pi\"]\n\
         [[scenario]]\nname = \"a\"\ndeadline = 125\nquiet = true\nload = [\"hackbnech\"]\n\
         [[scenario]]\nname = \"a\"\nsamples = 1\nthreads = [1, 2]\n",
    );
    let expected = [
        "1:11: repeats: expected a number from 1 to 10000",
        "2:1: unknown key 'colour' in a sheet; available: name,",
        "4:1: unknown key 'priod' in [defaults]; did you mean 'period'?",
        "7:11: target: unknown kind of target 'scp:': expected local",
        "10:12: deadline: '125' has no unit",
        "11:1: 'quiet' is an option of the command",
        "14:8: duplicate scenario 'a'",
        "15:11: samples: expected true or false",
        "16:11: threads: takes a single value; lists are for [matrix]",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}");
    }
}

#[test]
fn what_only_a_whole_plan_shows_is_told_at_the_option() {
    assert!(
        mistakes("[[scenario]]\nname = \"a\"\n")[0].starts_with("2:8: 'a' has no end; add for")
    );
    let told = mistakes(
        "[defaults]\npriority = 120\n[[scenario]]\nname = \"a\"\nfor = \"1s\"\n[[scenario]]\nname = \"b\"\nfor = \"1s\"\n",
    );
    assert_eq!(told, ["2:12: priority 120: expected 1 (low) to 99 (high)"]);
    let told =
        mistakes("[[scenario]]\nname = \"a\"\nfor = \"1s\"\nload = [\"hackbench,gruops=4\"]\n");
    assert!(told[0].starts_with("4:8: load hackbench,gruops=4: "), "{told:?}");
    assert!(mistakes("[[scenario]\nname = \"a\"\n")[0].starts_with("1:"), "TOML itself");
    assert!(mistakes("")[0].starts_with("1:1: the sheet has no scenario"));
}

/// Invariant (campaigns): Every error of a sheet is reported at its place; the ready-made sheets are valid.
#[test]
fn every_ready_made_sheet_is_right_and_says_what_it_answers() {
    let are_possible = |shipped: &&builtin::BuiltinSheet| {
        cfg!(feature = "guests") || !shipped.name.starts_with("lab-")
    };
    for shipped in BUILTIN_SHEETS.iter().filter(are_possible) {
        let source = SheetFile::open(shipped.name).unwrap();
        let campaign = source.campaign(&Overrides::default(), jiff::Timestamp::UNIX_EPOCH, 4);
        let campaign = campaign.unwrap_or_else(|mistakes| panic!("{mistakes}"));
        assert!(campaign.about.as_ref().is_some_and(|about| about.len() < 130), "{}", shipped.name);
        assert_ne!(campaign.run_time(), Nanos::ZERO);
    }
}

/// Invariant (campaigns): Every error of a sheet is reported at its place; the ready-made sheets are valid.
#[test]
fn the_published_experiments_have_their_parameters() {
    let of = |name: &str| {
        let source = SheetFile::open(name).unwrap();
        source.campaign(&Overrides::default(), jiff::Timestamp::UNIX_EPOCH, 4).unwrap()
    };
    let pi = of("pi-4.9");
    assert_eq!(
        (pi.rows[0].plan.until.cycles, pi.rows[0].plan.method.period()),
        (Some(100_000_000), Some(MICROSECOND * 200))
    );
    assert_eq!(of("pi-4.14").rows[0].plan.until.cycles, Some(50_000_000));
    let imx = of("imx8-five");
    assert!(imx.rows.iter().all(|row| row.plan.until.deadline_ns == Some(MICROSECOND * 125)));
    assert_eq!((imx.rows.len(), imx.run_time()), (5, SECOND * 5 * 3601));
    let pi3 = of("pi3-threads");
    assert_eq!((pi3.runs.len(), pi3.rows[2].plan.who.threads), (30, Some(16)));
}

#[test]
fn a_matrix_is_multiplied_before_it_is_expanded() {
    let list = |one: &dyn Fn(u32) -> String| (1..=50).map(one).collect::<Vec<_>>().join(", ");
    let keys = ["threads", "seed", "cycles", "priority"];
    let numbers: String = keys
        .iter()
        .map(|key| format!("{key} = [{}]\n", list(&|number| number.to_string())))
        .collect();
    let matrix = format!("{numbers}period = [{}]\n", list(&|number| format!("\"{number}ms\"")));
    let sheet = format!("[defaults]\nfor = \"1s\"\n[matrix]\n{matrix}[[scenario]]\nname = \"a\"\n");
    let told = mistakes(&sheet);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("50 x 50 x 50 x 50 x 50 x 1 rows"), "{told:?}");
    let repeated = "repeats = 10000\n[defaults]\nfor = \"1s\"\n[matrix]\nthreads = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n[[scenario]]\nname = \"a\"\n";
    let told = campaign(repeated, &Overrides::default()).unwrap_err();
    assert_eq!(
        told,
        "x.toml: 11 rows with 10000 repeats are more than 100000 runs: use fewer repeats\n"
    );
}
