//! Contradictions between options, and what follows from their combination.

use super::options::{Affinity, Options, Power};

impl Options {
    /// Refuses contradicting options and notes those that are ignored.
    pub fn check(&mut self) -> Result<(), String> {
        if self.oscope > 1 && !self.verbose {
            return Err("-o requires -v".into());
        }
        if self.aligned.is_some() && self.secaligned.is_some() {
            return Err("-A and --secaligned exclude each other".into());
        }
        if self.smp && self.threads.is_some() {
            self.note("-t is ignored: -S starts one thread per CPU");
        }
        if self.smp {
            (self.threads, self.affinity) = (Some(0), Some(Affinity::All));
        }
        if self.histogram.is_some() && self.distance.is_some() {
            self.note("-d is ignored: with a histogram all threads have the same interval");
        }
        if self.system && self.posix_timers {
            self.note("-x is ignored with -s");
            self.posix_timers = false;
        }
        if self.nanosleep && !self.dialect.needs_n {
            self.note("-n is the default since rt-tests 1.2");
        }
        if self.dialect.needs_n && !(self.nanosleep || self.smp || self.system) {
            self.posix_timers = true;
        }
        match self.power {
            Power::Laptop => self.note("/dev/cpu_dma_latency is not set, to save power"),
            Power::System => self.note("/dev/cpu_dma_latency is not set"),
            _ => {}
        }
        if self.duration.is_some_and(|length| length.0 < self.interval * 1000) {
            return Err("-D is shorter than the interval: no release would be due".into());
        }
        Ok(())
    }

    /// Completes the policy and, if it is a real-time one, the first thread's priority.
    pub fn scheduling(&mut self, threads: usize) -> Result<(), String> {
        let realtime = matches!(self.policy, "fifo" | "rr");
        if self.priority == 0 && (realtime || self.priospread) {
            self.priority = u8::try_from(threads + 1).unwrap_or(99).min(99);
            self.note(format!("using priority {}", self.priority));
        }
        if self.priority > 0 && !realtime {
            if self.policy != "other" || self.priospread {
                self.note("a priority needs a real-time policy: using fifo");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::cyclictest::options::MOST_BUCKETS;
    use latlab_model::nanos::SECOND;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn mistakes_are_one_line_that_says_what_was_expected() {
        for (line, told) in [
            ("-i abc", "--interval abc: expected a whole number of at least 1"),
            ("-i 0", "of at least 1"),
            ("-c 2", "--clock 2: expected a whole number from 0 to 1"),
            ("--policy=fofo", "expected other, normal, batch, idle, fifo or rr"),
            ("-p 100", "from 0 to 99"),
            ("-o 5", "-o requires -v"),
            ("-A --secaligned", "exclude each other"),
            ("-D 1x", "expected seconds, or 5m, 2h, 1d"),
            ("--smi", "not supported"),
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
        assert!(parse("-n").unwrap().notes[0].contains("-n is the default"));
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
