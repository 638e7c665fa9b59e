//! Waits between two runs: a pause, and until the machine is cool again.

use crate::StopFlag;
use latlab_model::Nanos;
use latlab_model::campaign::CoolDown;
use latlab_sys::files::Root;
use std::time::{Duration, Instant};

const ZONES: &str = "sys/class/thermal";

#[derive(Clone, PartialEq, Debug)]
pub struct CoolDownState {
    /// Rest of the pause.
    pub left_ns: Nanos,
    /// The hottest zone in millidegrees; `None` without a thermal zone, or if the campaign does not
    /// wait for it.
    pub hottest_millicelsius: Option<i64>,
    /// Whether the machine was still too hot when the time limit expired.
    pub given_up: bool,
}

/// Waits as the campaign says, or until it is stopped; `notify` is called at each refresh.
pub fn wait(
    rule: &CoolDown,
    root: &Root,
    stop: &StopFlag,
    refresh: Duration,
    mut notify: impl FnMut(&CoolDownState),
) {
    let begun = Instant::now();
    let pause = rule.pause_ns.duration();
    let limit = pause + rule.limit_ns.duration();
    while !stop.is_set() {
        let elapsed = begun.elapsed();
        let left = pause.saturating_sub(elapsed);
        let hottest = rule.below_millicelsius.and_then(|_| hottest(root));
        let too_hot = hottest.zip(rule.below_millicelsius).is_some_and(|(now, below)| now > below);
        let given_up = too_hot && elapsed >= limit;
        if left.is_zero() && (!too_hot || given_up) {
            if given_up {
                notify(&CoolDownState {
                    left_ns: Nanos::ZERO,
                    hottest_millicelsius: hottest,
                    given_up,
                });
            }
            return;
        }
        let left_ns = Nanos(left.as_nanos() as i64);
        notify(&CoolDownState { left_ns, hottest_millicelsius: hottest, given_up });
        std::thread::sleep(if left.is_zero() { refresh } else { refresh.min(left) });
    }
}

fn hottest(root: &Root) -> Option<i64> {
    let zones = root.names(ZONES)?.into_iter().filter(|name| name.starts_with("thermal_zone"));
    zones.filter_map(|zone| root.read_as(format!("{ZONES}/{zone}/temp"))).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const REFRESH: Duration = Duration::from_millis(5);

    fn planted(temperatures: &[i64]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (number, temperature) in temperatures.iter().enumerate() {
            let zone = root.path().join(format!("{ZONES}/thermal_zone{number}"));
            fs::create_dir_all(&zone).unwrap();
            fs::write(zone.join("temp"), format!("{temperature}\n")).unwrap();
        }
        root
    }

    #[test]
    fn it_waits_until_no_zone_is_hotter_and_says_when_it_gave_up() {
        let root = planted(&[41_000, 63_500]);
        let rule = CoolDown {
            below_millicelsius: Some(55_000),
            limit_ns: Nanos(1),
            ..CoolDown::default()
        };
        let mut told = Vec::new();
        wait(&rule, &Root::new(root.path()), &StopFlag::new(), REFRESH, |state| {
            told.push(state.clone())
        });
        assert!(
            told.last()
                .is_some_and(|last| last.given_up && last.hottest_millicelsius == Some(63_500))
        );

        let patient = CoolDown { limit_ns: Nanos(3_600_000_000_000), ..rule };
        let zone = root.path().join(format!("{ZONES}/thermal_zone1/temp"));
        let mut told = 0;
        wait(&patient, &Root::new(root.path()), &StopFlag::new(), REFRESH, |state| {
            assert!(!state.given_up);
            told += 1;
            fs::write(&zone, "50000\n").unwrap();
        });
        assert_eq!(told, 1);
    }

    #[test]
    fn a_machine_without_zones_is_not_waited_for() {
        let root = planted(&[]);
        let rule = CoolDown {
            below_millicelsius: Some(1),
            limit_ns: Nanos(3_600_000_000_000),
            ..CoolDown::default()
        };
        wait(&rule, &Root::new(root.path()), &StopFlag::new(), REFRESH, |_| {
            panic!("nothing to wait for")
        });
    }
}
