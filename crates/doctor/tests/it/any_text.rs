//! No file content crashes the doctor.

use latlab_doctor::examine;
use latlab_model::Snapshot;
use latlab_model::snapshot::{Content, SETTINGS, STATE};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Texts of real machines, some of which belong to other files than here.
const TEXTS: &[&str] = &[
    "",
    "0",
    "1",
    "-1",
    "950000",
    "9223372036854775807",
    "0-3",
    "2-N",
    "(null)",
    "hpet",
    "tsc hpet acpi_pm",
    "none (voluntary) full",
    "always [madvise] never",
    "Mitigation: PTI",
    "6.12.9-rt-amd64",
    "#1 SMP PREEMPT_DYNAMIC Debian 6.1.158-1 (2025-11-09)",
    "#1 SMP PREEMPT RT Debian 4.19.304-1 (2024-01-09)",
    "isolcpus=domain,2-3 nohz_full=all rcu_nocbs=0-31:1/2 preempt=full idle=poll -- x=1",
    "isolcpus= nohz_full=,, rcu_nocbs preempt= audit=1 highres=off nohz=off skew_tick=",
    "CONFIG_HZ=1000\nCONFIG_PREEMPT_RT=y\nCONFIG_RT_GROUP_SCHED=y\nCONFIG_PROVE_LOCKING=y",
    "17\tfifo\t99\t0\t0\tmigration/0\n301\trr\t99\t2\t0-3\tmultipathd\nx\ty",
    "Max realtime priority     0                    95                   \n\
     Max locked memory         8388608              unlimited            bytes     ",
    "Uid:\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t2\nCpus_allowed_list:\t0-1",
    "3:cpuset:/\n1:cpu,cpuacct:/user.slice\n0::/user.slice\n:::\n0:",
    "[    0.0] Unknown kernel command line parameters \"isolcpu=2\", will be passed\n\
     [    0.1] Dynamic Preempt: \n[ 1.0] #1 PREEMPT(\n[ 2.0] Housekeeping: incorrect CPU range",
    "           CPU0       CPU1\n  0:         44          0   IO-APIC   2-edge      timer",
    "MemTotal:        3884312 kB\nMemFree: x kB\nSwapTotal: 18446744073709551615 kB",
    "flags : fpu hypervisor constant_tsc\nmodel name : CPU",
    "throttled=0x50005",
    "temp=48.3'C",
];

/// A text as another kernel version, or a broken disk, might change it.
fn changed(text: &'static str) -> impl Strategy<Value = String> {
    let characters: Vec<char> = text.chars().collect();
    let length = characters.len();
    prop_oneof![
        4 => Just(text.to_string()),
        2 => subsequence(characters, 0..=length).prop_map(|kept| kept.into_iter().collect()),
        1 => any::<u64>().prop_map(move |number| text.replace(['0', '1'], &number.to_string())),
        1 => any::<char>().prop_map(move |other| text.replace([' ', '-', '='], &other.to_string())),
        1 => Just(text.to_uppercase()),
        1 => Just([text, text].concat()),
    ]
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        8 => select(TEXTS).prop_flat_map(changed).prop_map(Content::Text),
        2 => any::<String>().prop_map(Content::Text),
        1 => any::<String>().prop_map(|unreadable| Content::Unreadable { unreadable }),
    ]
}

fn path() -> impl Strategy<Value = String> {
    let patterns: Vec<&str> = SETTINGS.iter().chain(STATE).copied().collect();
    let sysctl = ["sched_rt_runtime_us", "sched_rt_period_us", "osrelease", "version", "tainted"];
    let names = ["0", "1", "31", "99999999999", "", "x"].into_iter().chain(sysctl);
    let names: Vec<&str> = names.collect();
    (select(patterns), select(names)).prop_map(|(pattern, name)| pattern.replace('*', name))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Invariant (doctor): A kernel file that hangs, or is a pipe, huge or binary, costs little and is reported.
    #[test]
    fn no_text_can_crash_it(files in proptest::collection::btree_map(path(), content(), 0..120)) {
        let snapshot = Snapshot { files, ..Snapshot::default() };
        for diagnosis in examine(&snapshot) {
            prop_assert!(!diagnosis.text.is_empty(), "{}", diagnosis.code);
        }
    }

    #[test]
    fn no_single_file_can_crash_it(path in path(), content in content()) {
        let files = [(path, content)].into_iter().collect();
        examine(&Snapshot { files, ..Snapshot::default() });
    }
}
