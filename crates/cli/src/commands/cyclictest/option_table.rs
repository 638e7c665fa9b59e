//! The options of cyclictest: their names, values and help, in one table.

use super::dialect::{DEFAULT, Dialect};
use super::getopt::Takes::{MaybeNext, Nothing, Value};
use super::getopt::{Spec, Takes};

pub struct Entry {
    /// How the option is written.
    pub spec: Spec,
    pub known: Support,
    /// The lines of the help text.
    pub help: &'static str,
}

/// Which versions have an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Support {
    /// All.
    Always,
    /// Only 1.0 and 1.1; accepted like `-n` with the others.
    First,
    /// None: an addition of latlab.
    Latlab,
}

const fn always(
    short: Option<char>,
    long: &'static str,
    takes: Takes,
    help: &'static str,
) -> Entry {
    Entry { spec: Spec { short, long, takes }, known: Support::Always, help }
}

const fn first(short: Option<char>, long: &'static str, takes: Takes, help: &'static str) -> Entry {
    Entry { spec: Spec { short, long, takes }, known: Support::First, help }
}

const fn ours(long: &'static str, takes: Takes, help: &'static str) -> Entry {
    Entry { spec: Spec { short: None, long, takes }, known: Support::Latlab, help }
}

/// All options, in the order of the help.
pub const TABLE: &[Entry] = &[
    always(
        Some('a'),
        "affinity",
        MaybeNext("CPUSET"),
        "pin the threads one by one to the CPUs of the set,\nor to all CPUs: 2, 0-3,5, !1 (all but), +0-1 (counted\nin the CPUs that may be used), all",
    ),
    always(
        Some('A'),
        "aligned",
        MaybeNext("USEC"),
        "start all threads together, each further one\nUSEC later",
    ),
    always(Some('b'), "breaktrace", Value("USEC"), "stop at the first latency above USEC"),
    always(Some('c'), "clock", Value("CLOCK"), "0 = CLOCK_MONOTONIC (default), 1 = CLOCK_REALTIME"),
    always(None, "default-system", Nothing, "leave the idle states at the system's default"),
    always(
        None,
        "deepest-idle-state",
        Value("N"),
        "allow no idle state deeper than N on the measured\nCPUs, -1 for none; \
         /dev/cpu_dma_latency is not set",
    ),
    always(
        Some('d'),
        "distance",
        Value("DIST"),
        "interval increment of each further thread in us;\n500, or 0 with -h",
    ),
    always(
        Some('D'),
        "duration",
        Value("TIME"),
        "duration in seconds, or in minutes, hours or days\nwith m, h or d appended",
    ),
    always(
        Some('F'),
        "fifo",
        Value("PATH"),
        "create a named pipe whose readers get the current\nfigures",
    ),
    always(
        Some('h'),
        "histogram",
        Value("US"),
        "print a histogram of the latencies below US at the end",
    ),
    always(Some('H'), "histofall", Value("US"), "the same with a column for all threads together"),
    always(None, "histfile", Value("PATH"), "write the histogram to a file"),
    always(Some('i'), "interval", Value("INTV"), "interval of the first thread in us (1000)"),
    always(None, "json", Value("FILE"), "write the results to a file as JSON"),
    always(None, "laptop", Nothing, "save power: do not limit the idle states"),
    always(None, "latency", Value("PM_QOS"), "value for /dev/cpu_dma_latency in us (0)"),
    always(
        Some('l'),
        "loops",
        Value("LOOPS"),
        "stop when the first thread has this many cycles; 0\nfor no end (default)",
    ),
    always(None, "mainaffinity", Value("CPUSET"), "CPUs of all threads that do not measure"),
    always(Some('m'), "mlockall", Nothing, "lock the memory (latlab always tries to)"),
    always(Some('M'), "refresh_on_max", Nothing, "print again only at a new maximum"),
    always(Some('N'), "nsecs", Nothing, "print nanoseconds instead of microseconds"),
    always(Some('o'), "oscope", Value("RED"), "with -v print only the maximum of each RED cycles"),
    always(
        Some('p'),
        "priority",
        Value("PRIO"),
        "priority of the threads, 1 to 99; SCHED_FIFO unless\n--policy says rr",
    ),
    always(None, "policy", Value("NAME"), "other, normal, batch, idle, fifo or rr"),
    always(None, "priospread", Nothing, "lower the priority of each further thread by one"),
    always(Some('q'), "quiet", Nothing, "print only the summary at the end"),
    always(
        Some('r'),
        "relative",
        Nothing,
        "sleep for the interval instead of until an \
                                            absolute\ntime",
    ),
    always(Some('R'), "resolution", Nothing, "print the resolution of the clock"),
    always(None, "secaligned", MaybeNext("USEC"), "start all threads USEC after a full second"),
    always(Some('s'), "system", Nothing, "use a relative sleep, as nanosleep does"),
    always(Some('S'), "smp", Nothing, "one pinned thread per CPU: -t -a"),
    always(None, "spike", Value("US"), "list the latencies above US at the end"),
    always(None, "spike-nodes", Value("NUM"), "number of listed latencies (1024)"),
    always(None, "smi", Nothing, "count system management interrupts (not in latlab)"),
    always(
        Some('t'),
        "threads",
        MaybeNext("NUM"),
        "number of threads: 1 without the option, one for each\nCPU without NUM",
    ),
    always(None, "tracemark", Nothing, "with -b write a mark to the kernel trace, and stop it"),
    always(Some('u'), "unbuffered", Nothing, "do not buffer the output"),
    always(Some('v'), "verbose", Nothing, "print every latency as thread:cycle:latency"),
    always(None, "dbg_cyclictest", Nothing, "accepted; latlab has no more output"),
    always(Some('x'), "posix_timers", Nothing, "wait for POSIX timers"),
    always(None, "help", Nothing, "print this help"),
    first(Some('n'), "nanosleep", Nothing, "sleep with clock_nanosleep; always so since 1.2"),
    first(Some('B'), "preemptirqs", Nothing, "trace control, see below"),
    first(Some('C'), "context", Nothing, "trace control, see below"),
    first(Some('E'), "event", Nothing, "trace control, see below"),
    first(Some('f'), "ftrace", Nothing, "trace control, see below"),
    first(Some('I'), "irqsoff", Nothing, "trace control, see below"),
    first(Some('O'), "traceopt", Value("TOPT"), "trace control, see below"),
    first(Some('P'), "preemptoff", Nothing, "trace control, see below"),
    first(Some('T'), "tracer", Value("TRACE"), "trace control, see below"),
    first(Some('U'), "numa", Nothing, "as -S"),
    first(Some('w'), "wakeup", Nothing, "trace control, see below"),
    first(Some('W'), "wakeuprt", Nothing, "trace control, see below"),
    first(None, "notrace", Nothing, "trace control, see below"),
    first(Some('y'), "y", Value("POLICY"), "as --policy"),
    ours(
        "rt-tests",
        Value("VERSION"),
        "print the output of this version of rt-tests: 1.0 to\n2.10 (2.4)",
    ),
    ours("out", Value("DIR"), "folder of the runs ($LATLAB_RUNS, else ./runs)"),
    ours("no-store", Nothing, "do not store the run"),
];

const COLUMN: usize = 27;

/// The help if no version was chosen.
pub fn plain_usage() -> String {
    let version = Dialect::parse(DEFAULT).map(|dialect| dialect.version);
    usage(&version.unwrap_or_default())
}

pub fn usage(version: &str) -> String {
    let mut text = format!("cyclictest V {version}\nUsage:\ncyclictest <options>\n\n");
    for (known, head) in [
        (Support::Always, ""),
        (
            Support::First,
            "\nOptions of early versions, accepted (latlab does not control the \
                          tracer):\n\n",
        ),
        (Support::Latlab, "\nOptions of latlab:\n\n"),
    ] {
        text += head;
        TABLE.iter().filter(|entry| entry.known == known).for_each(|entry| text += &line(entry));
    }
    text
}

fn line(Entry { spec, help, .. }: &Entry) -> String {
    let (short, long) = match spec.takes {
        Takes::Nothing => (String::new(), String::new()),
        Takes::Value(name) => (format!(" {name}"), format!("={name}")),
        MaybeNext(name) => (format!(" [{name}]"), format!("[={name}]")),
    };
    let names = match spec.short {
        Some(letter) if spec.long == "y" => format!("-{letter}{short}"),
        Some(letter) => {
            let letter = format!("-{letter}{short}");
            match letter.len() > 8 || letter.len() + spec.long.len() + long.len() > 24 {
                true => format!("{letter} --{}", spec.long),
                false => format!("{letter:8} --{}{long}", spec.long),
            }
        }
        None => format!("{:8} --{}{long}", "", spec.long),
    };
    let mut text = String::new();
    let mut lines = help.lines();
    match names.len() < COLUMN {
        true => text += &format!("{names:COLUMN$}{}\n", lines.next().unwrap_or_default()),
        false => text += &format!("{names}\n"),
    }
    lines.for_each(|line| text += &format!("{:COLUMN$}{line}\n", ""));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_for_two_options() {
        for (number, entry) in TABLE.iter().enumerate() {
            for other in &TABLE[..number] {
                let same = entry.spec.short.is_some() && entry.spec.short == other.spec.short;
                assert!(!same && entry.spec.long != other.spec.long, "{}", entry.spec.long);
            }
        }
    }

    #[test]
    fn the_help_names_every_option_within_a_terminal() {
        let text = usage("2.40");
        assert!(text.lines().all(|line| line.len() <= 82), "{text}");
        for entry in TABLE.iter().filter(|entry| entry.spec.long != "y") {
            assert!(text.contains(&format!("--{}", entry.spec.long)), "{}", entry.spec.long);
        }
    }
}
