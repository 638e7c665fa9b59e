//! The series of an answer: p99.9 over time for each board, kernel and scenario, with its steps.

use crate::fleet::FleetAnswer;
use jiff::civil::Date;
use latlab_model::Nanos;
use latlab_stats::builds::{Build, Trend};
use latlab_stats::comparison::{ComparisonWord, Metric};
use latlab_stats::trend_of_builds;
use serde_json::Value;

/// Margin: a level may be this much higher than the one before.
const CARE: f64 = 0.05;
/// Longer series are searched by weeks, which takes a fiftieth of the time.
const MOST_DAYS: usize = 100;
const DAY: i64 = 86_400;

/// Runs measured alike on one board, over time.
pub struct FleetSeries {
    pub board: String,
    pub kernel: String,
    pub scenario: String,
    /// The medians of days, or of weeks.
    pub trend: Trend,
    /// Whether each value is that of a week.
    pub by_week: bool,
}

impl FleetSeries {
    /// The name that distinguishes this series from the others.
    pub fn name(&self) -> String {
        format!("{} · {} · {}", self.board, self.scenario, self.kernel)
    }

    /// The ratio of the newest step if that is a regression.
    pub fn regression(&self) -> Option<f64> {
        let is_one = self.trend.word == ComparisonWord::Regressed;
        self.trend.steps.last().filter(|_| is_one).map(|step| step.ratio)
    }
}

/// All series, the largest regressions first; `None` if the answer is of another kind.
pub fn all_series(of: &FleetAnswer) -> Option<Vec<FleetSeries>> {
    if of.query != "trend" {
        return None;
    }
    let at = |name: &str| of.columns.iter().position(|column| column == name);
    let names = [at("board")?, at("kernel")?, at("scenario")?];
    let [started, run, value] = [at("started")?, at("run")?, at("p99_9_ns")?];
    let [min, max, misses, releases, measured] =
        ["min_ns", "max_ns", "misses", "releases", "measured_ns"].map(at);
    let mut groups: Vec<([&str; 3], Vec<Build>)> = Vec::new();
    for row in &of.rows {
        let text = |at: usize| row.get(at).and_then(Value::as_str).unwrap_or("-");
        let number = |at: Option<usize>| row.get(at?).and_then(Value::as_f64);
        let key = names.map(text);
        let Some(value) = number(Some(value)) else { continue };
        let alone = Build {
            name: text(started).chars().take(10).collect(),
            started: text(started).to_string(),
            runs: vec![text(run).to_string()],
            values_ns: vec![value],
            value_ns: value,
            min_ns: number(min).map(|min| Nanos(min as i64)),
            max_ns: number(max).map(|max| Nanos(max as i64)),
            releases: number(releases).unwrap_or_default() as u64,
            misses: number(misses).map(|misses| misses as u64),
            measured_ns: Nanos(number(measured).unwrap_or_default() as i64),
        };
        match groups.last_mut() {
            Some((known, runs)) if *known == key => runs.push(alone),
            _ => groups.push((key, vec![alone])),
        }
    }
    let mut all: Vec<FleetSeries> =
        groups.into_iter().map(|(key, runs)| series(key, runs)).collect();
    // Current regressions come first, then series with a step, then the rest in the query's order.
    all.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
    Some(all)
}

fn weight(of: &FleetSeries) -> f64 {
    match of.regression() {
        Some(ratio) => ratio + 1.0,
        None if !of.trend.steps.is_empty() => 1.0,
        None => 0.0,
    }
}

fn series(key: [&str; 3], runs: Vec<Build>) -> FleetSeries {
    let days = join_builds(runs, 1);
    let by_week = days.len() > MOST_DAYS;
    let builds = if by_week { join_builds(days, 7) } else { days };
    let [board, kernel, scenario] = key.map(str::to_string);
    FleetSeries {
        board,
        kernel,
        scenario,
        trend: trend_of_builds(builds, Metric::P99_9, CARE),
        by_week,
    }
}

/// Joins the builds of every `days` days.
fn join_builds(all: Vec<Build>, days: i64) -> Vec<Build> {
    let number = |build: &Build| seconds(&build.started).div_euclid(DAY * days);
    let mut builds: Vec<Build> = Vec::new();
    for one in all {
        match builds.last_mut() {
            Some(last) if number(last) == number(&one) => last.join(one),
            _ => builds.push(one),
        }
    }
    builds
}

/// Seconds since 1970 at midnight of the date in a time such as 2026-11-24T20:17:16Z; 0 if it is
/// malformed.
fn seconds(time: &str) -> i64 {
    let day = time.get(..10).and_then(|day| day.parse::<Date>().ok());
    day.map_or(0, |day| i64::from((day - Date::constant(1970, 1, 1)).get_days()) * DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(levels: &[(&str, f64)]) -> FleetAnswer {
        let columns = ["board", "kernel", "scenario", "started", "run", "p99_9_ns"];
        let row = |(at, (board, value)): (usize, &(&str, f64))| {
            let started = format!("2026-{:02}-{:02}T01:00:00Z", 1 + at / 28, 1 + at % 28);
            let texts = [*board, "6.12", "idle", &started, "a-run"].map(Value::from);
            texts.into_iter().chain([Value::from(value + (at % 3) as f64)]).collect()
        };
        FleetAnswer {
            query: "trend".into(),
            columns: columns.map(String::from).into(),
            rows: levels.iter().enumerate().map(row).collect(),
        }
    }

    #[test]
    fn days_are_counted_as_the_calendar_has_them() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), 0);
        assert_eq!(seconds("2024-03-01") - seconds("2024-02-28"), 2 * DAY);
        assert_eq!(seconds("2026-11-24T20:17:16Z"), 1_795_478_400);
    }

    #[test]
    fn what_regressed_comes_first_and_long_series_are_searched_by_weeks() {
        let level = |board, value, days| std::iter::repeat_n((board, value), days);
        let quiet = level("a", 1e5, 30);
        let worse = level("b", 1e5, 20).chain(level("b", 1.5e5, 20));
        let all = all_series(&answer(&quiet.chain(worse).collect::<Vec<_>>())).unwrap();
        assert_eq!(all.iter().map(|one| one.board.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        assert!((all[0].regression().unwrap() - 1.5).abs() < 0.01);
        assert_eq!((all[1].regression(), all[1].by_week), (None, false));
        let long = all_series(&answer(&level("a", 1e5, 200).collect::<Vec<_>>())).unwrap();
        assert!(long[0].by_week && long[0].trend.builds.len() < 32);
        assert_eq!(long[0].trend.builds.iter().map(|one| one.runs.len()).sum::<usize>(), 200);
        assert!(all_series(&FleetAnswer { query: "worst".into(), ..answer(&[]) }).is_none());
    }
}
