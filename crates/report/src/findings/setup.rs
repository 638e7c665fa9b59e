//! Other latlab runs on the machine, and changes to settings.

use super::kinds::{FindingWords, Said, Worded, words};
use latlab_model::finding::SetupFinding;
use latlab_model::shell::Line;

words! { SetupFinding {
    /// Another run of latlab measured the same CPUs at the same time: `--share` allowed it, or it is of
    /// another user.
    CpusShared { cpus, holder } =>
        says "{holder} measured CPU {cpus} at the same time: the two runs disturbed each other.";
        remedy "Measure one run after the other.";

    /// No record could be written below `/run` or `/tmp`, so another run of latlab on the same CPUs would not
    /// have been detected.
    CpusNotHeld { error } =>
        says "The CPUs cannot be claimed ({error}), so another run of latlab on them would not show.";

    /// A setting changed during the run: the scheduling or the CPUs of a thread, the memory lock, a file of
    /// `--set`, a part of a tuning. The time is that of the reading that found it; see [what is read
    /// again](../guide/reading-the-result.md#settings-are-read-again). Invalid where the figures are worthless
    /// without it.
    SettingChanged { setting, held, now, .. } =>
        says "During the run, {setting} changed from '{held}' to '{now}'.";
        if is_of_latlab(setting) => remedy FIND_CHANGER;
        if is_of_machine(setting) => remedy FIND_WRITER;
        remedy FIND_SCHEDULER;

    /// A setting could not be read any more.
    SettingUnreadable { setting, held, reason } =>
        says "During the run, {setting} could not be read any more ({reason}): it is unknown whether it held \
              '{held}' until the end.";
        remedy "Find out what took it away (an unmount, a removed device), and measure again.";

    /// Another program wrote to a kernel file that the run had set, and the file holds what it held.
    SettingWritten { setting, value } =>
        says "During the run, another program wrote to {setting}. It holds '{value}' as before, but may have \
              held something else in between.";
        remedy FIND_WRITER;

    /// A kernel file that the run changed does not hold what it held before.
    SettingNotRestored
    { setting, before, now: Some(now), .. } =>
        says "{setting} was not restored to '{before}': another program set it to '{now}' during the run.";
        remedy RESTORE;
    { setting, before, error: Some(error), .. } =>
        says "{setting} was not restored to '{before}': {error}.";
        remedy RESTORE;
    { setting, before, .. } =>
        says "{setting} was not restored to '{before}': writing to it failed.";
        remedy RESTORE;
}}

const FIND_CHANGER: &str = "Find the program that changed it, and measure again.";
const FIND_WRITER: &str = "Find the program that writes to it, such as irqbalance, tuned or a power daemon, and \
                           stop it for the run.";
const FIND_SCHEDULER: &str = "Find who changes threads of other programs, such as a person with chrt or taskset, \
                              a cpuset or a daemon, and measure again.";
const RESTORE: &str = "Set it by hand, or try `latlab doctor --restore`.";

/// Whether only latlab's own process has this setting.
fn is_of_latlab(setting: &str) -> bool {
    matches!(setting, "memory lock" | "timer slack" | "run-away guard" | "idle states")
}

fn is_of_machine(setting: &str) -> bool {
    setting.contains('/') || setting.starts_with("tuning ")
}
