//! What was asked for, read from the command line and checked.

use super::dialect::{DEFAULT, Dialect};
use super::getopt::split;
use super::table::TABLE;
use latlab_model::Nanos;
use latlab_model::nanos::SECOND;
use std::path::PathBuf;

/// More buckets than this are cut to it, as the original does.
const MOST_BUCKETS: usize = 1_000_000;

/// Where the threads run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Affinity {
    /// Each on a CPU of its own, in turn.
    All,
    /// On these CPUs in turn, in the notation of the command line.
    Set(String),
}

/// What is asked of the idle states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Power {
    /// `/dev/cpu_dma_latency` is held at so many microseconds.
    Latency(i64),
    /// Nothing, to save the battery.
    Laptop,
    /// Nothing, to see the system as it is.
    System,
    /// No idle state deeper than this on the measured CPUs.
    Deepest(i64),
}

/// The command line, understood.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    pub dialect: Dialect,
    pub store: bool,
    pub help: bool,
    pub affinity: Option<Affinity>,
    /// `-v` came before `-a`, which then says at once how many CPUs it means.
    pub verbose_first: bool,
    /// Distance of the threads' first releases, in microseconds.
    pub aligned: Option<i64>,
    pub secaligned: Option<i64>,
    /// In the unit that is printed.
    pub breaktrace: Option<i64>,
    pub realtime_clock: bool,
    pub power: Power,
    pub distance: Option<i64>,
    pub duration: Option<Nanos>,
    pub fifo: Option<PathBuf>,
    /// Number of buckets.
    pub histogram: Option<usize>,
    pub histofall: bool,
    pub histfile: Option<PathBuf>,
    pub interval: i64,
    pub json: Option<PathBuf>,
    pub loops: Option<u64>,
    pub main_affinity: Option<String>,
    pub refresh_on_max: bool,
    pub nsecs: bool,
    pub oscope: u64,
    pub priority: u8,
    pub policy: &'static str,
    pub priospread: bool,
    pub quiet: bool,
    pub relative: bool,
    pub resolution: bool,
    pub system: bool,
    pub smp: bool,
    /// In the unit that is printed.
    pub spike: Option<i64>,
    pub spike_nodes: usize,
    /// 0 stands for one for each CPU.
    pub threads: Option<u32>,
    pub tracemark: bool,
    pub unbuffered: bool,
    pub verbose: bool,
    pub posix_timers: bool,
    /// `-n` was given.
    pub nanosleep: bool,
    /// What must be said before the run.
    pub notes: Vec<String>,
}

impl Options {
    fn new(dialect: Dialect) -> Options {
        Options {
            dialect,
            store: true,
            help: false,
            affinity: None,
            verbose_first: false,
            aligned: None,
            secaligned: None,
            breaktrace: None,
            realtime_clock: false,
            power: Power::Latency(0),
            distance: None,
            duration: None,
            fifo: None,
            histogram: None,
            histofall: false,
            histfile: None,
            interval: 1000,
            json: None,
            loops: None,
            main_affinity: None,
            refresh_on_max: false,
            nsecs: false,
            oscope: 1,
            priority: 0,
            policy: "other",
            priospread: false,
            quiet: false,
            relative: false,
            resolution: false,
            system: false,
            smp: false,
            spike: None,
            spike_nodes: 1024,
            threads: None,
            tracemark: false,
            unbuffered: false,
            verbose: false,
            posix_timers: false,
            nanosleep: false,
            notes: Vec::new(),
        }
    }

    /// Reads the words behind the name of the program; the error is one line for the user.
    pub fn parse(line: &[String]) -> Result<Options, String> {
        let split = split(TABLE.iter().map(|entry| &entry.spec), line)?;
        let version = split.options.iter().rev().find(|(name, _)| *name == "rt-tests");
        let version = version.and_then(|(_, version)| version.as_deref()).unwrap_or(DEFAULT);
        let mut options = Options::new(Dialect::of(version)?);
        for (name, value) in &split.options {
            options.take(name, value.as_deref())?;
        }
        for word in &split.words {
            options.note(format!("'{word}' belongs to no option and means nothing"));
        }
        if !options.help {
            options.check()?;
        }
        Ok(options)
    }

    fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    fn take(&mut self, name: &'static str, value: Option<&str>) -> Result<(), String> {
        let text = value.unwrap_or_default();
        let path = || PathBuf::from(text);
        let count = |least: i64| number(name, text, least, i64::from(u32::MAX));
        match name {
            "affinity" => {
                self.affinity = Some(value.map_or(Affinity::All, set_of));
                self.verbose_first = self.verbose;
            }
            "aligned" => self.aligned = Some(if value.is_some() { count(0)? } else { 0 }),
            "breaktrace" => self.breaktrace = Some(count(0)?).filter(|limit| *limit > 0),
            "clock" => self.realtime_clock = number(name, text, 0, 1)? == 1,
            "default-system" => self.power = Power::System,
            "deepest-idle-state" => self.power = Power::Deepest(number(name, text, -1, 99)?),
            "distance" => self.distance = Some(count(0)?),
            "duration" => self.duration = Some(duration(text)?),
            "fifo" => self.fifo = Some(path()),
            "histogram" | "histofall" => {
                self.histogram = Some(count(1)? as usize).map(|most| most.min(MOST_BUCKETS));
                self.histofall |= name == "histofall";
            }
            "histfile" => self.histfile = Some(path()),
            "interval" => self.interval = count(1)?,
            "json" => self.json = Some(path()),
            "latency" if matches!(self.power, Power::Latency(_)) => {
                self.power = Power::Latency(count(0)?)
            }
            "latency" => drop(count(0)?),
            "laptop" => self.power = Power::Laptop,
            "loops" => self.loops = Some(count(0)? as u64).filter(|loops| *loops > 0),
            "mainaffinity" => self.main_affinity = Some(text.into()),
            "refresh_on_max" => self.refresh_on_max = true,
            "nsecs" => self.nsecs = true,
            "oscope" => self.oscope = count(1)? as u64,
            "priority" => self.priority = number(name, text, 0, 99)? as u8,
            "policy" | "y" => self.policy = policy(text)?,
            "priospread" => self.priospread = true,
            "quiet" => self.quiet = true,
            "relative" => self.relative = true,
            "resolution" => self.resolution = true,
            "secaligned" => self.secaligned = Some(if value.is_some() { count(0)? } else { 0 }),
            "system" => self.system = true,
            "smp" | "numa" => self.smp = true,
            "spike" => self.spike = Some(count(0)?).filter(|limit| *limit > 0),
            "spike-nodes" => self.spike_nodes = count(1)? as usize,
            "smi" => {
                return Err("--smi: latlab does not count system management interrupts; leave \
                            out the option"
                    .into());
            }
            "threads" => self.threads = Some(if value.is_some() { count(1)? as u32 } else { 0 }),
            "tracemark" => self.tracemark = true,
            "unbuffered" => self.unbuffered = true,
            "verbose" => self.verbose = true,
            "posix_timers" => self.posix_timers = true,
            "help" => self.help = true,
            "nanosleep" => self.nanosleep = true,
            "no-store" => self.store = false,
            "mlockall" | "rt-tests" | "dbg_cyclictest" => {}
            tracing => self.note(format!("--{tracing} is accepted, but latlab controls no tracer")),
        }
        Ok(())
    }

    /// What the options mean together.
    fn check(&mut self) -> Result<(), String> {
        if self.oscope > 1 && !self.verbose {
            return Err("-o means something with -v only".into());
        }
        if self.aligned.is_some() && self.secaligned.is_some() {
            return Err("-A and --secaligned contradict each other: take one".into());
        }
        if self.smp && self.threads.is_some() {
            self.note("-t is ignored, because -S has a thread for each CPU");
        }
        if self.smp {
            (self.threads, self.affinity) = (Some(0), Some(Affinity::All));
        }
        if self.histogram.is_some() && self.distance.is_some() {
            self.note("-d is ignored: with a histogram all threads have the same interval");
        }
        if self.system && self.posix_timers {
            self.note("-s sleeps, so that -x is ignored");
            self.posix_timers = false;
        }
        if self.nanosleep && !self.dialect.needs_n {
            self.note("-n is accepted: sleeping by clock_nanosleep has long been the default");
        }
        if self.dialect.needs_n && !(self.nanosleep || self.smp || self.system) {
            self.posix_timers = true;
        }
        match self.power {
            Power::Laptop => self.note("/dev/cpu_dma_latency stays alone, to save power"),
            Power::System => self.note("/dev/cpu_dma_latency stays alone"),
            _ => {}
        }
        if self.duration.is_some_and(|length| length.0 < self.interval * 1000) {
            return Err("-D is shorter than the interval: not one release would be due".into());
        }
        Ok(())
    }

    /// The policy and, of the real-time ones, the priority of the first of so many threads.
    pub fn scheduling(&mut self, threads: usize) -> Result<(), String> {
        let realtime = matches!(self.policy, "fifo" | "rr");
        if self.priority == 0 && (realtime || self.priospread) {
            self.priority = u8::try_from(threads + 1).unwrap_or(99).min(99);
            self.note(format!("the priority is {}, because none was given", self.priority));
        }
        if self.priority > 0 && !realtime {
            if self.policy != "other" || self.priospread {
                self.note("a priority needs a real-time policy: taking fifo");
            }
            self.policy = "fifo";
        }
        if self.priospread && usize::from(self.priority) < threads {
            return Err(format!(
                "--priospread: {threads} threads need a priority of {threads} or more, not {}",
                self.priority
            ));
        }
        Ok(())
    }
}

fn set_of(text: &str) -> Affinity {
    if text == "all" { Affinity::All } else { Affinity::Set(text.into()) }
}

fn number(name: &str, text: &str, least: i64, most: i64) -> Result<i64, String> {
    let number = text.trim().parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| match least..=most {
        range if *range.end() == i64::from(u32::MAX) => {
            format!("--{name} {text}: expected a whole number from {least} on")
        }
        _ => format!("--{name} {text}: expected a whole number from {least} to {most}"),
    })
}

fn policy(text: &str) -> Result<&'static str, String> {
    let known = ["other", "batch", "idle", "fifo", "rr"];
    let wanted = if text.eq_ignore_ascii_case("normal") { "other" } else { text };
    known
        .into_iter()
        .find(|name| name.eq_ignore_ascii_case(wanted))
        .ok_or_else(|| format!("--policy {text}: expected other, normal, batch, idle, fifo or rr"))
}

fn duration(text: &str) -> Result<Nanos, String> {
    let wrong = || format!("--duration {text}: expected seconds, or 5m, 2h, 1d");
    let (digits, seconds) = match text.strip_suffix(['s', 'm', 'h', 'd']) {
        Some(digits) => {
            (digits, [1, 60, 3600, 86_400]["smhd".find(&text[digits.len()..]).unwrap_or(0)])
        }
        None => (text, 1),
    };
    let number: i64 = digits.parse().map_err(|_| wrong())?;
    let length =
        number.checked_mul(seconds).filter(|length| (1..=i64::from(u32::MAX)).contains(length));
    Ok(SECOND * length.ok_or_else(wrong)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn mistakes_are_one_line_that_says_what_was_expected() {
        for (line, told) in [
            ("-i abc", "--interval abc: expected a whole number from 1 on"),
            ("-i 0", "from 1 on"),
            ("-c 2", "--clock 2: expected a whole number from 0 to 1"),
            ("--policy=fofo", "expected other, normal, batch, idle, fifo or rr"),
            ("-p 100", "from 0 to 99"),
            ("-o 5", "with -v only"),
            ("-A --secaligned", "contradict"),
            ("-D 1x", "expected seconds, or 5m, 2h, 1d"),
            ("--smi", "leave out the option"),
            ("--rt-tests 9", "expected 1.0 to 2.10"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(told) && !error.contains('\n'), "{line}: {error}");
        }
    }

    #[test]
    fn options_that_mean_something_together() {
        assert_eq!(parse("-D 2h").unwrap().duration, Some(SECOND * 7200));
        let smp = parse("-S -t4").unwrap();
        assert_eq!((smp.threads, smp.affinity, smp.notes.len()), (Some(0), Some(Affinity::All), 1));
        assert_eq!(parse("--laptop --latency=50").unwrap().power, Power::Laptop);
        assert_eq!(parse("-h 2000000").unwrap().histogram, Some(MOST_BUCKETS));
        assert!(parse("-n").unwrap().notes[0].contains("-n is accepted"));
        assert!(parse("--rt-tests 1.0 -f -T function").unwrap().notes.len() == 2);
        let first = parse("--rt-tests=1.0").unwrap();
        assert!(first.posix_timers && !parse("--rt-tests 1.0 -n").unwrap().posix_timers);
    }

    #[test]
    fn priorities_are_those_of_the_original() {
        let of = |line: &str, threads| {
            let mut options = parse(line).unwrap();
            options.scheduling(threads).map(|()| (options.policy, options.priority))
        };
        assert_eq!(of("", 1), Ok(("other", 0)));
        assert_eq!(of("-p80", 2), Ok(("fifo", 80)));
        assert_eq!(of("--policy=rr -p5", 2), Ok(("rr", 5)));
        assert_eq!(of("--policy=fifo", 2), Ok(("fifo", 3)));
        assert_eq!(of("--policy=other -p80", 1), Ok(("fifo", 80)));
        assert!(of("--priospread -p1", 3).unwrap_err().contains("3 or more"));
    }
}
