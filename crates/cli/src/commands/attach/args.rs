//! Flags of `latlab attach`.

use crate::flags::test_results::TestResultArgs;
use crate::flags::{Common, rate_per_hour, whole};
use clap::Args;
use latlab_model::Nanos;
use latlab_model::load::LoadCpus;
use latlab_model::plan::{JudgedTime, KernelFile, Tuning};
use latlab_model::sanitize::{plain_line, plain_name};
use std::path::PathBuf;

const WHICH: &str = "Which program";
const JUDGE: &str = "Duration and judgement";
const MEANWHILE: &str = "Meanwhile";
const KEEP: &str = "What to store";

/// Flags of `latlab attach`.
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub struct AttachArgs {
    /// Start this program, measure it from its first instruction, and end it with the run; under sudo it
    /// runs as the user who called that
    #[arg(last = true, value_name = "PROGRAM", help_heading = WHICH)]
    pub program: Vec<String>,
    /// Measure the process with this number, or the process of this thread
    #[arg(long, value_name = "ID", value_parser = whole::<u32>, help_heading = WHICH)]
    pub pid: Option<u32>,
    /// Measure all processes that have this name, or a thread with this name; * stands for anything
    #[arg(long, value_name = "NAME", help_heading = WHICH)]
    pub comm: Option<String>,
    /// With PROGRAM: start it as root also under sudo
    #[arg(long, requires = "program", help_heading = WHICH)]
    pub as_root: bool,
    /// With PROGRAM: write what it prints to this file [default: discard it]
    #[arg(long, value_name = "FILE", requires = "program", help_heading = WHICH)]
    pub output: Option<PathBuf>,
    /// Judge the threads with this name; * stands for anything [default: those with a real-time policy, or
    /// all if there are none]
    #[arg(long, value_name = "NAME", help_heading = WHICH)]
    pub thread: Option<String>,
    /// Name the system call that ends a cycle, such as epoll_wait or read:7; may be repeated [default:
    /// find out]
    #[arg(long, value_name = "CALL[:FD]", help_heading = WHICH)]
    pub activation: Vec<String>,
    /// Show the threads, how they are released and how often, after 2 s or --for; store nothing
    #[arg(long, help_heading = WHICH)]
    pub list: bool,

    /// Length of the run [default: until the program ends, or Ctrl-C]
    #[arg(short = 'D', long = "for", value_name = "TIME", help_heading = JUDGE)]
    pub duration: Option<Nanos>,
    /// Longest time from the release to the end of a cycle, or wake-up:TIME from the release to its start
    /// [default: the period of each thread]
    #[arg(long, value_name = "TIME", value_parser = deadline, help_heading = JUDGE)]
    pub deadline: Option<AskedDeadline>,
    /// Allow up to RATE bursts of deadline misses (0.1/h, 1/d) before failing
    #[arg(long, value_name = "RATE", value_parser = rate_per_hour, requires = "deadline",
          help_heading = JUDGE)]
    pub limit: Option<f64>,

    /// Run this load meanwhile; may be repeated (`latlab loads` lists them)
    #[arg(long, value_name = "NAME[,ARG=VALUE]", help_heading = MEANWHILE)]
    pub load: Vec<String>,
    /// CPUs of the loads: everywhere, or a list
    #[arg(long, value_name = "WHERE", default_value = "everywhere", help_heading = MEANWHILE)]
    pub load_on: LoadCpus,
    /// Folder with more definitions of loads
    #[arg(long, value_name = "DIR", help_heading = MEANWHILE)]
    pub loads: Option<PathBuf>,
    /// Change a setting for the time of the run, as for `latlab run`
    #[arg(long, value_name = "NAME=VALUE", help_heading = MEANWHILE)]
    pub tune: Vec<Tuning>,
    /// Write a kernel file for the time of the run: /sys/FILE=VALUE, or NAME=VALUE as for sysctl
    #[arg(long, value_name = "FILE=VALUE", help_heading = MEANWHILE)]
    pub set: Vec<KernelFile>,

    /// Name of the run, used in the name of its folder [default: that of the program]
    #[arg(long, value_name = "NAME", value_parser = plain_name, help_heading = KEEP)]
    pub name: Option<String>,
    /// Note to store with the run
    #[arg(long, value_name = "TEXT", value_parser = plain_line, help_heading = KEEP)]
    pub note: Option<String>,
    /// Length of the stored intervals
    #[arg(long, value_name = "TIME", default_value = "1s", help_heading = KEEP)]
    pub interval: Nanos,
    /// Continue when the terminal is closed (SIGHUP)
    #[arg(long, help_heading = KEEP)]
    pub keep_going: bool,
    /// Print no progress and no live table
    #[arg(short, long, help_heading = KEEP)]
    pub quiet: bool,
    #[command(flatten)]
    pub results: TestResultArgs,
    #[command(flatten)]
    pub common: Common,
}

const USAGE: &str = "\
latlab attach [OPTIONS] -- PROGRAM [ARGUMENTS]...
       latlab attach [OPTIONS] --pid ID
       latlab attach [OPTIONS] --comm NAME";

const EXAMPLES: &str = "\
Examples:
  latlab attach -- ./control --rate 1000            start it and measure it until it ends
  latlab attach --pid 4711 --for 10min --deadline 500us
  latlab attach --comm 'ec_cyclic*' --deadline wake-up:100us --for 1h
  latlab attach --comm jackd --list                 which threads, and how are they released?
  latlab attach --pid 4711 --activation read:7      a cycle ends when it reads descriptor 7
  latlab attach --load hackbench --for 60s -- ./control

The program is not changed: latlab reads the kernel's events of what its threads do, which needs root.
Ctrl-C ends a run cleanly and keeps it.";

/// A deadline, and which time of a cycle it is for.
#[derive(Clone, Copy, Debug)]
pub struct AskedDeadline {
    /// How long.
    pub time: Nanos,
    /// Of what.
    pub judged: JudgedTime,
}

fn deadline(text: &str) -> Result<AskedDeadline, String> {
    let (judged, time) = match text.split_once(':') {
        None => (JudgedTime::Response, text),
        Some(("wake-up", time)) => (JudgedTime::WakeUp, time),
        Some(("response", time)) => (JudgedTime::Response, time),
        Some((other, _)) => {
            return Err(format!("'{other}' is no time of a cycle: expected wake-up or response"));
        }
    };
    let time = time.parse().map_err(|error| format!("{error}"))?;
    Ok(AskedDeadline { time, judged })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_for_the_response_unless_it_says_otherwise() {
        let judged = |text| deadline(text).map(|asked| (asked.time, asked.judged));
        assert_eq!(judged("1ms"), Ok((Nanos(1_000_000), JudgedTime::Response)));
        assert_eq!(judged("wake-up:50us"), Ok((Nanos(50_000), JudgedTime::WakeUp)));
        for wrong in ["", "wake-up:", "start:1ms", "1"] {
            assert!(deadline(wrong).is_err(), "{wrong}");
        }
    }
}
