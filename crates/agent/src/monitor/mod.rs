//! Reads the settings of a run again: each second, when a program writes to their files, and at the
//! end. A difference is a finding.

mod setting;
mod thread;

pub use setting::{MonitoredSetting, Readback, SettingList, idle_states};
pub use thread::{MonitoredThread, own_timer_slack, text_of};

use crate::outbox::Outbox;
use crate::refusals::machine_refuses;
use latlab_model::finding::Finding;
use latlab_model::frame::{Message, Refusal};
use latlab_model::self_interference::OwnThread;
use latlab_sys::files::Root;
use latlab_sys::release_times::ReleaseTimes;
use latlab_sys::work_log::WorkLog;
use latlab_sys::write_watch::{Wake, WriteWatch, wait};
use std::collections::BTreeMap;
use std::io::{PipeReader, PipeWriter, pipe};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two readings.
const INTERVAL: Duration = Duration::from_secs(1);
/// `echo VALUE >FILE` truncates a file and then writes to it: count both as one change.
const SETTLE: Duration = Duration::from_millis(10);

/// The thread that reads the settings again; dropping this reads them a last time and ends it.
pub struct SettingMonitor {
    running: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl SettingMonitor {
    /// Starts to monitor these settings.
    pub fn start(
        root: &Root,
        settings: Vec<MonitoredSetting>,
        outbox: &Outbox,
    ) -> Result<SettingMonitor, Refusal> {
        let cannot = |error| {
            machine_refuses(format!("cannot start the thread that reads settings again: {error}"))
        };
        let (stop, running) = pipe().map_err(cannot)?;
        // Before this returns, so that no write is missed.
        let settings = Settings::new(root.clone(), settings);
        let outbox = outbox.clone();
        let work = move || {
            let log = outbox.begin_log(OwnThread::Settings);
            let report = |finding| outbox.send(&Message::Finding(finding));
            settings.monitor(&stop, &log, &outbox.releases, report);
        };
        let thread = std::thread::Builder::new().spawn(work).map_err(cannot)?;
        Ok(SettingMonitor { running: Some(running), thread: Some(thread) })
    }
}

impl Drop for SettingMonitor {
    fn drop(&mut self) {
        self.running.take();
        if let Some(thread) = self.thread.take() {
            // If it has panicked, what it found before is sent.
            let _ = thread.join();
        }
    }
}

/// All monitored settings.
struct Settings {
    root: Root,
    settings: Vec<MonitoredSetting>,
    /// `None` if the kernel cannot report writes.
    watch: Option<WriteWatch>,
    of_file: BTreeMap<i32, Vec<usize>>,
}

impl Settings {
    fn new(root: Root, settings: Vec<MonitoredSetting>) -> Settings {
        let mut watch = WriteWatch::new().ok();
        let mut of_file: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
        for (place, setting) in settings.iter().enumerate() {
            let Some((watch, path)) = watch.as_mut().zip(setting.path()) else { continue };
            if let Ok(number) = watch.add(&root, path) {
                of_file.entry(number).or_default().push(place);
            }
        }
        Settings { root, settings, watch, of_file }
    }

    fn monitor(
        mut self,
        stop: &PipeReader,
        log: &WorkLog,
        releases: &ReleaseTimes,
        mut report: impl FnMut(Finding),
    ) {
        let mut due = Instant::now() + INTERVAL;
        loop {
            let left = due.saturating_duration_since(Instant::now());
            match wait(self.watch.as_ref(), stop, left) {
                Wake::Stopped => break,
                Wake::Written => {
                    std::thread::sleep(SETTLE);
                    let _work = log.work();
                    self.read_written(&mut report);
                }
                Wake::TimedOut => {
                    releases.wait();
                    let _work = log.work();
                    self.read(&mut report);
                    // A reading that is late is skipped.
                    due = (due + INTERVAL).max(Instant::now());
                }
            }
        }
        let _work = log.work();
        self.read_written(&mut report);
        self.read(&mut report);
    }

    fn read(&mut self, report: &mut impl FnMut(Finding)) {
        self.settings.iter_mut().filter_map(|setting| setting.read(&self.root)).for_each(report);
    }

    /// Reads the files that were written to. A file with an unchanged value may have had another
    /// one in between.
    fn read_written(&mut self, report: &mut impl FnMut(Finding)) {
        let written = self.watch.as_ref().map(WriteWatch::take_written).unwrap_or_default();
        for place in written.iter().filter_map(|number| self.of_file.get(number)).flatten() {
            let setting = &mut self.settings[*place];
            setting
                .read(&self.root)
                .or_else(|| setting.written())
                .into_iter()
                .for_each(&mut *report);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::run::Setting;
    use latlab_sys::sched::{self, Scheduling};
    use serde_json::{Value, json};
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    /// Plants a machine and returns its settings, one per file, each with the value 1.
    fn planted(folder: &Path, files: &[&str]) -> SettingList {
        let root = Root::new(folder);
        let mut list = SettingList::default();
        for file in files {
            let path = folder.join(&file[1..]);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "1\n").unwrap();
            let setting = Setting::new(file, "1".into(), "1".into());
            let setting = Setting { matters: true, ..setting };
            list.push_monitored(&root, setting, Readback::file(file, "1"));
        }
        list
    }

    /// The findings of the monitor while `happens` runs, without times.
    fn monitored(folder: &Path, list: SettingList, happens: impl FnOnce()) -> Vec<Value> {
        let outbox = Outbox::default();
        let root = Root::new(folder);
        let monitor = SettingMonitor::start(&root, list.monitored, &outbox).ok().unwrap();
        happens();
        drop(monitor);
        let findings = crate::drain::tests::carried(&outbox).into_iter().map(|message| {
            let Message::Finding(finding) = message else { panic!("{message:?}") };
            assert!(finding.at_ns.is_some());
            serde_json::to_value(finding.at(None)).unwrap()
        });
        findings.collect()
    }

    fn changed(setting: &str, held: &str, now: &str) -> Value {
        json!({
            "code": "setting-changed", "setting": setting, "held": held, "now": now,
            "matters": true, "at_ns": null, "thread": null,
        })
    }

    const FILE: &str = "/proc/sys/vm/one";

    /// Invariant (settings): What another program changes during a run is found, to the run's end.
    #[test]
    fn what_has_changed_by_the_end_is_found_and_what_has_not_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let list = planted(folder.path(), &[FILE, "/proc/sys/vm/other"]);
        let all = monitored(folder.path(), list, || {
            fs::write(folder.path().join(&FILE[1..]), "2\n").unwrap();
        });
        assert_eq!(all, [changed(FILE, "1", "2")]);
        let list = planted(folder.path(), &[FILE]);
        assert_eq!(monitored(folder.path(), list, || ()), <[Value; 0]>::default());
    }

    /// Invariant (settings): A setting that cannot be read any more forbids a pass.
    #[test]
    fn a_file_that_cannot_be_read_any_more_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let list = planted(folder.path(), &[FILE]);
        let all = monitored(folder.path(), list, || {
            fs::remove_file(folder.path().join(&FILE[1..])).unwrap();
        });
        let codes: Vec<&Value> = all.iter().map(|one| &one["code"]).collect();
        assert_eq!(codes, ["setting-unreadable"]);
        // An interrupt disappears with its device.
        let irq = "/proc/irq/7/smp_affinity_list";
        let list = planted(folder.path(), &[irq]);
        let all = monitored(folder.path(), list, || {
            fs::remove_dir_all(folder.path().join("proc/irq/7")).unwrap();
        });
        assert_eq!(all, <[Value; 0]>::default());
        let list = planted(folder.path(), &[irq]);
        let all = monitored(folder.path(), list, || {
            fs::remove_dir_all(folder.path().join("proc/irq")).unwrap();
        });
        assert_eq!(all.len(), 1, "hidden, and not gone");
    }

    /// Invariant (settings): A file that is changed and changed back between two readings is reported once.
    #[test]
    fn a_file_that_is_set_and_set_back_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let list = planted(folder.path(), &[FILE]);
        let mut settings = Settings::new(Root::new(folder.path()), list.monitored);
        let mut all = Vec::new();
        for _ in 0..2 {
            for value in ["2\n", "1\n"] {
                fs::write(folder.path().join(&FILE[1..]), value).unwrap();
            }
            settings.read_written(&mut |finding| all.push(finding));
            settings.read(&mut |finding| all.push(finding));
        }
        assert_eq!(all.iter().map(Finding::code).collect::<Vec<_>>(), ["setting-written"]);
        assert!(!all[0].invalidates());
    }

    #[test]
    fn a_file_that_is_read_only_once_a_second_is_read_at_the_end_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let list = planted(folder.path(), &[FILE]);
        let mut settings = Settings::new(Root::new(folder.path()), list.monitored);
        settings.watch = None;
        let (stop, running) = pipe().unwrap();
        fs::write(folder.path().join(&FILE[1..]), "3\n").unwrap();
        drop(running);
        let mut all = Vec::new();
        let log = Outbox::default().begin_log(OwnThread::Settings);
        settings.monitor(&stop, &log, &ReleaseTimes::default(), |finding| all.push(finding));
        assert_eq!(all.len(), 1);
        assert!(all[0].invalidates());
    }

    #[test]
    fn interrupts_may_move_among_the_cpus_that_are_not_measured() {
        let folder = tempfile::tempdir().unwrap();
        let path = "/proc/irq/24/smp_affinity_list";
        let at = |cpus: &str| {
            let mut list = SettingList::default();
            planted(folder.path(), &[path]);
            let measured = [2, 3].into_iter().collect();
            let away =
                Setting::new("tuning irqs (24)", "not on CPU 2-3".into(), "not on CPU 2-3".into());
            let away = Setting { matters: true, ..away };
            let readback = Readback::AwayFrom { path: path.into(), measured };
            list.monitor(&Root::new(folder.path()), &away, readback);
            monitored(folder.path(), list, || {
                fs::write(folder.path().join(&path[1..]), format!("{cpus}\n")).unwrap();
            })
        };
        assert_eq!(at("0"), <[Value; 0]>::default());
        assert_eq!(at("0-2"), [changed("tuning irqs (24)", "not on CPU 2-3", "on CPU 0-2")]);
    }

    #[test]
    fn a_thread_that_loses_its_scheduling_is_told_with_its_number() {
        std::thread::spawn(|| {
            let thread = Arc::new(MonitoredThread::new(sched::thread_id(), Default::default()));
            let setting = Setting::new("scheduling", "other".into(), "other".into());
            let setting = Setting { thread: Some(3), matters: true, ..setting };
            let mut list = SettingList::default();
            let root = Root::default();
            list.push_monitored(&root, setting, Readback::Scheduling(Arc::clone(&thread)));
            let all = monitored(Path::new("/"), list, || {
                sched::set_scheduling(Scheduling::Idle).unwrap();
                thread.record_end();
                sched::set_scheduling(Scheduling::Batch).unwrap();
            });
            assert_eq!(all.len(), 1);
            // If the tests are started by `nice`, a nice value follows.
            assert!(all[0]["now"].as_str().unwrap().starts_with("idle"), "{all:?}");
            assert_eq!(all[0]["thread"], json!(3));
        })
        .join()
        .unwrap();
    }
}
