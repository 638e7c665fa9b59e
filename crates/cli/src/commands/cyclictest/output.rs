//! Output at the end of the run.

use super::histogram::{self, Buckets};
use super::json;
use super::lines::{LineUnit, break_lines, spike_lines, thread_lines};
use super::options::Options;
use super::printer::unit;
use super::state::State;
use crate::output::{print, warn, write_whole};
use jiff::Timestamp;
use latlab_formats::write::cyclictest::Envelope;
use latlab_model::Nanos;
use latlab_sys::files::Root;
use std::path::Path;

/// Destinations of the results.
pub struct Output {
    /// The command line as JSON prints it.
    command: String,
    began: Timestamp,
}

impl Output {
    /// Checks that the files can be written, before anything is measured.
    pub fn open(options: &Options, words: &[String], began: Timestamp) -> Result<Output, String> {
        for (option, path) in [("--json", &options.json), ("--histfile", &options.histfile)] {
            let Some(path) = path else { continue };
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            if !folder.is_dir() {
                return Err(format!("{option} {}: no such folder", path.display()));
            }
        }
        Ok(Output { command: words.join(" "), began })
    }

    pub fn finish(
        &self,
        options: &Options,
        state: &State,
        exact: Option<&[Buckets]>,
    ) -> anyhow::Result<()> {
        let unit = unit(options);
        let threads = &state.threads;
        let buckets: Option<Vec<Buckets>> = options.histogram.map(|most| match exact {
            Some(exact) => exact.to_vec(),
            None => threads.iter().map(|thread| Buckets::from_thread(thread, most)).collect(),
        });
        if options.quiet && options.histogram.is_none() {
            print(&thread_lines(threads, unit))?;
        }
        if let Some(limit) = options.spike {
            let limit = match options.nsecs {
                true => Nanos(limit),
                false => Nanos((limit + 1) * 1000 - 1),
            };
            print(&spike_lines(threads, limit, options.spike_nodes, unit))?;
        }
        if let Some(buckets) = &buckets {
            let text = histogram::text(threads, buckets, &options.dialect, options.histofall, unit);
            match &options.histfile {
                Some(path) => write_whole(path, text.as_bytes())?,
                None => print(&text)?,
            }
            let rough: u64 = buckets.iter().map(|one| one.rough).sum();
            if rough > 0 {
                warn(format_args!(
                    "{rough} latencies above 1 ms are in a bucket up to 3 % too low"
                ));
            }
        }
        if options.breaktrace.is_some() {
            let broken = state.broken().map(|(id, latency)| (id, unit.convert(latency)));
            print(&break_lines(threads, broken))?;
        }
        if let Some(path) = &options.json {
            let text = self.json(options, state, buckets.as_deref());
            write_whole(path, text.as_bytes())?;
        }
        Ok(())
    }

    fn json(&self, options: &Options, state: &State, buckets: Option<&[Buckets]>) -> String {
        let time = |time: Timestamp| time.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string();
        let root = Root::default();
        let envelope = Envelope {
            command: &self.command,
            version: &options.dialect.version,
            times: (time(self.began), time(Timestamp::now())),
            system: json::system(|file| root.read(file)),
            in_ns: unit(options) == LineUnit::Nanoseconds,
        };
        json::text(&envelope, &options.dialect, &state.threads, buckets, unit(options))
    }
}
