//! Changes in the conditions of a run are found, at the right time, and no others.

use latlab_digest::conditions::{ConditionsBuilder, ConditionsInput, Interval};
use latlab_model::finding::{ConditionFinding, Finding, RT_THROTTLING, Severity};
use latlab_model::nanos::SECOND;
use latlab_model::plan::Policy;
use latlab_model::telemetry::{Conditions, Series};
use latlab_model::{CpuSet, Nanos};
use serde_json::{Value, json};

/// First counted release.
const START: i64 = 1_000;
/// Seconds of a synthetic run.
const LENGTH: i64 = 100;
/// A measured thread.
const MEASURED: u32 = 4321;

/// A synthetic run on two CPUs, read every second from a second before its start.
struct Made {
    watch: ConditionsBuilder,
    policy: Policy,
}

fn second(number: i64) -> Nanos {
    SECOND * (START + number)
}

impl Made {
    /// Nothing happens: two CPUs, 5 % busy.
    fn quiet() -> Made {
        let mut made =
            Made { watch: ConditionsBuilder::default(), policy: Policy::Fifo { priority: 90 } };
        (-1..=LENGTH).for_each(|number| made.watch.reading(second(number)));
        for cpu in [0, 1] {
            made.busy(cpu, |_| 5);
        }
        made.latencies(|_, _| 10_000);
        made
    }

    /// The p99 of each second of each CPU; the largest is ten times as much.
    fn latencies(&mut self, p99: impl Fn(u32, i64) -> i64) {
        for (cpu, number) in (0..LENGTH).flat_map(|number| [(0, number), (1, number)]) {
            let (from, to) = (second(number), second(number + 1));
            let p99 = Nanos(p99(cpu, number));
            self.watch.interval(Interval { cpu: Some(cpu), from, to, p99, max: p99 * 10 });
        }
    }

    fn series(metric: &str, subject: &str, counter: bool) -> Series {
        let (metric, subject, unit) = (metric.to_string(), subject.to_string(), String::new());
        Series { number: 0, metric, subject, unit, counter, steady: true }
    }

    /// Adds a gauge with a value per second.
    fn gauge(mut self, metric: &str, subject: &str, value: impl Fn(i64) -> i64) -> Made {
        let series = Made::series(metric, subject, false);
        for number in -1..=LENGTH {
            self.watch.point(&series, second(number), second(number), Some(value(number)));
        }
        self
    }

    /// Adds a counter with a growth per second.
    fn counter(mut self, metric: &str, subject: &str, growth: impl Fn(i64) -> i64) -> Made {
        self.count(metric, subject, growth);
        self
    }

    fn count(&mut self, metric: &str, subject: &str, growth: impl Fn(i64) -> i64) {
        let series = Made::series(metric, subject, true);
        let mut sum = 1_000_000;
        for number in -1..=LENGTH {
            self.watch.point(&series, second(number), second(number), Some(sum));
            sum += growth(number);
        }
    }

    /// A CPU is busy for this percentage of each second.
    fn busy(&mut self, cpu: u32, percent: impl Fn(i64) -> i64) {
        self.count("cpu_time", &format!("cpu{cpu} user"), &percent);
        self.count("cpu_time", &format!("cpu{cpu} idle"), |number| 100 - percent(number));
    }

    fn thread(self, subject: &str, policy: i64, priority: i64, share: impl Fn(i64) -> i64) -> Made {
        self.gauge("thread_policy", subject, |_| policy)
            .gauge("thread_priority", subject, |_| priority)
            .gauge("thread_last_cpu", subject, |_| 1)
            .counter("thread_cpu_time", subject, |number| share(number) * 10_000_000)
    }

    fn end(&self) -> (Conditions, Vec<Finding>) {
        self.measured(second(0), second(LENGTH))
    }

    fn input(&self, from: Nanos, to: Nanos) -> ConditionsInput {
        ConditionsInput {
            is_idle: false,
            has_link: false,
            from,
            to,
            policy: Some(self.policy),
            measured: [0, 1].into_iter().collect(),
            threads: vec![MEASURED],
            recorded: "latency",
            every: Some(SECOND),
        }
    }

    fn measured(&self, from: Nanos, to: Nanos) -> (Conditions, Vec<Finding>) {
        let context = self.input(from, to);
        let (conditions, found) = self.watch.finish(&context).unwrap();
        let known = |one: &Finding| ConditionFinding::ROWS.iter().any(|row| row.code == one.code());
        assert!(found.iter().all(known), "{found:#?}");
        (conditions, found)
    }

    /// The only finding, which must begin in this second.
    fn finds(&self, code: &str, at: i64) -> Finding {
        let (_, found) = self.end();
        assert_eq!(found.len(), 1, "{found:#?}");
        let finding = found[0].clone();
        assert_eq!(finding.code(), code, "{finding:#?}");
        assert_eq!(finding.at_ns, Some(second(at)), "{finding:#?}");
        finding
    }
}

fn within(number: i64, from: i64, to: i64) -> bool {
    (from..to).contains(&number)
}

/// Invariant (conditions): Changes of the conditions are found at their time, and nothing else is.
#[test]
fn a_quiet_run_has_figures_and_no_findings() {
    let (conditions, found) = Made::quiet().end();
    assert_eq!(found, []);
    assert_eq!(conditions.readings, LENGTH as u64 + 2);
    let busy = conditions.figures.iter().find(|figure| figure.subject == "cpu1").unwrap();
    assert_eq!((busy.metric.as_str(), busy.unit.as_str()), ("cpu_busy", "%"));
    assert!((busy.mean - 5.0).abs() < 1e-9 && (busy.max - 5.0).abs() < 1e-9, "{busy:?}");
    assert_eq!(conditions.threads, []);
    let nothing = ConditionsBuilder::default();
    let context = ConditionsInput {
        is_idle: false,
        has_link: false,
        from: second(0),
        to: second(1),
        policy: Some(Policy::Other),
        measured: CpuSet::default(),
        threads: Vec::new(),
        recorded: "latency",
        every: Some(SECOND),
    };
    assert!(nothing.finish(&context).is_none());
}

/// Invariant (conditions): Changes of the conditions are found at their time, and nothing else is.
#[test]
fn a_hog_changes_the_load_and_is_named_beside_its_latencies() {
    let mut made = Made::quiet();
    made = Made { watch: ConditionsBuilder::default(), ..made };
    (-1..=LENGTH).for_each(|number| made.watch.reading(second(number)));
    made.busy(0, |_| 5);
    made.busy(1, |number| if within(number, 40, 42) { 98 } else { 5 });
    made.latencies(|cpu, number| if cpu == 1 && within(number, 40, 42) { 80_000 } else { 10_000 });
    let made = made.thread("yes/77", 0, 0, |number| if within(number, 40, 42) { 97 } else { 0 });
    let finding = made.finds("load-changed", 40);
    let told = fields(&finding);
    assert_eq!((&told["cpu"], &told["threads"][0]["name"]), (&json!(1), &json!("yes")));
    assert_eq!(told["when"], json!({ "from_ns": 40 * SECOND.0, "to_ns": 42 * SECOND.0 }));
    assert!((told["share"].as_f64().unwrap() - 0.98).abs() < 0.01, "{told}");
    assert!((told["usual_share"].as_f64().unwrap() - 0.05).abs() < 0.01, "{told}");
    assert!((told["threads"][0]["share"].as_f64().unwrap() - 0.97).abs() < 0.01, "{told}");
    let latencies = |p99_ns: u64, max_ns: u64| json!({ "p99_ns": p99_ns, "max_ns": max_ns });
    assert_eq!(told["latencies"]["then"], latencies(80_000, 800_000));
    assert_eq!(told["latencies"]["otherwise"], latencies(10_000, 100_000));
    let (conditions, _) = made.end();
    assert_eq!(conditions.threads[0].name, "yes");
    assert_eq!(conditions.threads[0].peak_at_ns, second(40));
}

/// Invariant (conditions): Changes of the conditions are found at their time, and nothing else is.
#[test]
fn a_load_that_always_changes_is_not_news() {
    let mut made = Made { watch: ConditionsBuilder::default(), policy: Policy::Other };
    (-1..=LENGTH).for_each(|number| made.watch.reading(second(number)));
    made.busy(0, |number| if number % 2 == 0 { 20 } else { 90 });
    made.busy(1, |number| if number % 2 == 0 { 20 } else { 90 });
    assert_eq!(made.end().1, []);
}

#[test]
fn threads_that_go_before_the_measuring_ones_compete_with_them() {
    let ran = |number| if within(number, 30, 33) { 20 } else { 0 };
    let competing = |policy, priority| Made::quiet().thread("pulse/9", policy, priority, ran);
    let finding = competing(1, 95).finds("competing-thread", 30);
    let told = fields(&finding);
    assert_eq!(told["cpus"], json!("1"));
    let pulse = &told["threads"][0];
    assert_eq!((&pulse["name"], &pulse["policy"]), (&json!("pulse"), &json!("fifo 95")));
    assert!((pulse["mean_share"].as_f64().unwrap() - 0.006).abs() < 0.0005, "{told}");
    competing(2, 90).finds("competing-thread", 30);
    competing(6, 0).finds("competing-thread", 30);
    assert_eq!(competing(1, 50).end().1, [], "a lower priority waits");
    assert_eq!(competing(0, 0).end().1, []);
    let idle = Made::quiet().thread("pulse/9", 1, 99, |_| 0);
    assert_eq!(idle.end().1, [], "one that never ran did no harm");
    let own = Made::quiet().thread("migration/1/19", 1, 99, ran);
    assert_eq!(own.end().1, [], "the kernel's own does not compete");
    let measured = Made::quiet().thread(&format!("timerlat/1/{MEASURED}"), 1, 95, ran);
    let (conditions, found) = measured.end();
    assert_eq!((conditions.threads, found), (vec![], vec![]), "what is measured does not compete");
    let many = (0..9).fold(Made::quiet(), |made, n| made.thread(&format!("p/{n}"), 1, 95, ran));
    assert_eq!(
        fields(&many.finds("competing-thread", 30))["others"],
        json!(4),
        "one finding for all"
    );
}

#[test]
fn a_busy_thread_has_the_share_that_it_had_while_it_was_measured() {
    let made = Made::quiet().thread("cc/9", 0, 0, |_| 50);
    let half = Nanos(SECOND.0 / 2);
    let (conditions, _) = made.measured(second(3) + half, second(5) + half);
    let thread = &conditions.threads[0];
    assert_eq!((thread.mean_share, thread.peak_share), (0.5, 0.5));
}

#[test]
fn a_competing_thread_among_many_busy_threads_is_not_lost() {
    let mut made = Made::quiet();
    for number in 0..100 {
        made = made.thread(&format!("cc/{number}"), 0, 0, |_| 2);
    }
    let made = made.thread("pulse/9000", 1, 95, |number| i64::from(within(number, 30, 32)));
    made.finds("competing-thread", 30);
    let (conditions, _) = made.end();
    assert_eq!(conditions.threads.len(), 31);
    assert_eq!(conditions.threads[30].name, "pulse");
}

/// Invariant (conditions): Changes of the conditions are found at their time, and nothing else is.
#[test]
fn heat_is_found_in_all_its_forms() {
    let drift = Made::quiet().gauge("temperature", "zone cpu", |number| 50_000 + 60 * number);
    let finding = drift.finds("temperature-drift", 90);
    assert_eq!(finding.severity(), Severity::Info);
    let told = fields(&finding);
    assert!((told["first_c"].as_f64().unwrap() - 50.3).abs() < 0.05, "{told}");
    assert!((told["last_c"].as_f64().unwrap() - 55.7).abs() < 0.05, "{told}");
    let steady = Made::quiet().gauge("temperature", "zone cpu", |number| 50_000 + 20 * number);
    assert_eq!(steady.end().1, []);

    let slow = |number| if within(number, 10, 15) { 600_000 } else { 1_500_000 };
    let finding = Made::quiet().gauge("cpu_frequency", "cpu1", slow).finds("frequency-changed", 9);
    let told = fields(&finding);
    assert_eq!((&told["low_mhz"], &told["high_mhz"]), (&json!(600.0), &json!(1500.0)));
    assert_eq!(told["cpus"], json!("1"));
    let finding = Made::quiet().gauge("cpu_frequency_limit", "cpu0", slow).finds("throttled", 9);
    let by = &fields(&finding)["by"];
    assert_eq!((&by["low_mhz"], &by["high_mhz"]), (&json!(600.0), &json!(1500.0)));

    let flags = |number| if within(number, 20, 22) { 0x50005 } else { 0x50000 };
    let (_, found) = Made::quiet().gauge("throttle_flags", "firmware", flags).end();
    let codes: Vec<&str> = found.iter().map(|finding| finding.code()).collect();
    assert_eq!(codes, ["throttled", "throttled"], "too little voltage, and throttled");
    let sticky = |number| if number < 60 { 0 } else { 0x20000 };
    let finding = Made::quiet().gauge("throttle_flags", "vcgencmd", sticky).finds("throttled", 59);
    let by = &fields(&finding)["by"]["sign"];
    assert_eq!(*by, json!("frequency-capped"), "it came and went unseen");
    let before = Made::quiet().gauge("throttle_flags", "firmware", |_| 0x50000);
    assert_eq!(before.end().1, [], "what was before the run is the doctor's");

    let heat = |number| i64::from(number == 70);
    Made::quiet().counter("thermal_throttles", "cpu0 core", heat).finds("throttled", 70);
}

#[test]
fn what_the_hypervisor_the_firmware_and_the_kernel_do_is_found() {
    let steal = |number| if number == 50 { 30 } else { 0 };
    let finding = Made::quiet().counter("cpu_time", "cpu0 steal", steal).finds("steal", 50);
    assert_eq!(fields(&finding)["cpu"], json!(0));
    let little = |number| if number == 50 { 2 } else { 0 };
    let little = Made::quiet().counter("cpu_time", "cpu0 steal", little);
    assert_eq!(little.end().1, []);
    let once = |number| i64::from(number == 12);
    Made::quiet().counter("smi", "cpu0", |number| 3 * once(number)).finds("smi", 12);
    let finding = Made::quiet().counter("kernel_events", "rt-throttling", once);
    let told = fields(&finding.finds("kernel-event", 12));
    assert_eq!((&told["event"], &told["count"]), (&json!(RT_THROTTLING), &json!(1)));
    Made::quiet().counter("pages", "pswpout", |number| 40 * once(number)).finds("swapped", 12);
}

#[test]
fn a_change_of_the_clock_source_is_an_error() {
    let mut made = Made::quiet();
    let series = |name: &str| Made::series("clocksource", name, false);
    for number in -1..=LENGTH {
        let (old, new) = if number < 33 { (Some(1), None) } else { (None, Some(1)) };
        made.watch.point(&series("tsc"), second(number), second(number), old);
        made.watch.point(&series("hpet"), second(number), second(number), new);
    }
    let finding = made.finds("clocksource-changed", 33);
    assert_eq!(finding.severity(), Severity::Error);
    let told = fields(&finding);
    assert_eq!((&told["before"], &told["after"]), (&json!("tsc"), &json!("hpet")));
    assert_eq!(told["since_start_ns"], json!(33 * SECOND.0));
}

#[test]
fn memory_that_is_taken_is_found_when_it_goes() {
    let total = |made: Made| made.gauge("memory", "MemTotal", |_| 8 << 20);
    let left = |number: i64| (6 << 20) - if within(number, 25, 28) { 2 << 20 } else { 0 };
    let eaten = total(Made::quiet()).gauge("memory", "MemAvailable", left);
    let finding = eaten.finds("memory-taken", 24);
    assert_eq!(finding.severity(), Severity::Info);
    let told = fields(&finding);
    assert_eq!(told["taken_bytes"], json!(2_u64 << 30));
    assert_eq!(told["total_bytes"], json!(8_u64 << 30));
    let slowly = total(Made::quiet())
        .gauge("memory", "MemAvailable", |number| (6 << 20) - number * (1 << 14));
    assert_eq!(slowly.end().1, []);
    let short = |number| if number == 80 { 1 << 18 } else { 1 << 20 };
    let finding = total(Made::quiet()).gauge("memory", "MemAvailable", short);
    assert_eq!(finding.finds("memory-taken", 79).severity(), Severity::Warning);
}

/// Invariant (conditions): A share is never larger than its definition allows.
#[test]
fn a_share_is_no_larger_than_all_of_the_time() {
    // A late reading includes what belongs to the next one.
    let stalled = |number| match number {
        30 => 2_820_000,
        31 => 0,
        40 => 1_030_000,
        _ => 400_000,
    };
    let made = Made::quiet().counter("pressure_stall", "cpu some", stalled);
    let late = |number| if number == 50 { 282 } else { 30 };
    let (conditions, _) = made.thread("yes/77", 0, 0, late).end();
    let pressure = conditions.figures.iter().find(|figure| figure.metric == "pressure").unwrap();
    assert_eq!((pressure.unit.as_str(), pressure.max), ("%", 100.0));
    assert!((pressure.mean - 40.0).abs() < 1.5, "{pressure:?}");
    assert!(conditions.threads[0].peak_share <= 1.0, "{:?}", conditions.threads[0]);
    assert_eq!(conditions.shares_refused, 2, "one of each");
}

/// Invariant (conditions): Each file of a reading has the time at which it was read.
#[test]
fn a_share_is_that_of_the_time_between_the_readings_of_its_file() {
    let mut made = Made::quiet();
    let stalled = Made::series("pressure_stall", "cpu some", true);
    let thread = Made::series("thread_cpu_time", "yes/77", true);
    for number in -1..=LENGTH {
        // A reading that is spread over the time before its end.
        let early = Nanos(if number % 2 == 0 { 400_000_000 } else { 0 });
        let (at, read_at) = (second(number), second(number) - early);
        made.watch.point(&stalled, at, read_at, Some(read_at.0 / 1000 * 9 / 10));
        made.watch.point(&thread, at, read_at, Some(read_at.0 / 10 * 9));
    }
    let made =
        made.gauge("thread_policy", "yes/77", |_| 0).gauge("thread_priority", "yes/77", |_| 0);
    let (conditions, _) = made.end();
    let pressure = conditions.figures.iter().find(|figure| figure.metric == "pressure").unwrap();
    let peak = 100.0 * conditions.threads[0].peak_share;
    for percent in [pressure.min, pressure.mean, pressure.max, peak] {
        assert!((percent - 90.0).abs() < 0.01, "{conditions:?}");
    }
    assert_eq!(conditions.shares_refused, 0);
}

/// Invariant (conditions): Time in which nothing was read is a finding.
#[test]
fn a_hole_in_the_readings_is_a_finding() {
    let mut made = Made { watch: ConditionsBuilder::default(), policy: Policy::Other };
    let is_read = |number: &i64| !within(*number, 21, 29) && !within(*number, 61, 64);
    (-1..=LENGTH).filter(is_read).for_each(|number| made.watch.reading(second(number)));
    made.latencies(|_, number| if within(number, 20, 29) { 80_000 } else { 10_000 });
    let made = made.counter("telemetry_cpu_time", "", |_| 100_000);
    let finding = made.finds("telemetry-gap", 20);
    assert_eq!(finding.severity(), Severity::Warning);
    let told = fields(&finding);
    assert_eq!(told["when"], json!({ "from_ns": 20 * SECOND.0, "to_ns": 29 * SECOND.0 }));
    assert_eq!((&told["gaps"], &told["usual_ns"]), (&json!(2), &json!(SECOND)));
    assert_eq!(told["latencies"]["then"]["p99_ns"], json!(80_000));
}

#[test]
fn what_the_readings_cost_and_lose_is_told() {
    let expensive = Made::quiet().counter("telemetry_cpu_time", "", |_| 8_000_000);
    let (conditions, found) = expensive.end();
    assert!((conditions.cost_share.unwrap() - 0.008).abs() < 1e-9);
    assert_eq!(found[0].code(), "telemetry-cost");
    let mut lossy = Made::quiet();
    lossy.watch.lost(3);
    let (conditions, found) = lossy.end();
    assert_eq!((conditions.lost, found[0].code()), (3, "telemetry-lost"));
    // A machine with time for one reading only.
    let mut starved = Made::quiet();
    starved.watch = ConditionsBuilder::default();
    starved.watch.reading(second(LENGTH));
    let (conditions, found) = starved.end();
    assert_eq!((conditions.readings, conditions.cost_share), (1, None));
    assert_eq!(found[0].code(), "telemetry-lost");
    assert_eq!(fields(&found[0])["readings"], json!(LENGTH - 1));
}

/// Invariant (conditions): A run without a load on a machine that was busy all the time says so.
#[test]
fn a_machine_that_was_to_be_idle_and_is_not_is_told() {
    let busy_with = |percent: i64| {
        let mut made = Made::quiet();
        made.watch = ConditionsBuilder::default();
        (-1..=LENGTH).for_each(|number| made.watch.reading(second(number)));
        made.busy(0, |_| 5);
        made.busy(1, |_| percent);
        made
    };
    let told = |made: &Made, is_idle: bool| {
        let input = ConditionsInput { is_idle, ..made.input(second(0), second(LENGTH)) };
        made.watch.finish(&input).unwrap().1
    };
    let stress = busy_with(97).thread("stress/12", 0, 0, |_| 90);
    let found = told(&stress, true);
    assert_eq!(found.iter().map(Finding::code).collect::<Vec<_>>(), ["other-work"]);
    let other = fields(&found[0]);
    assert_eq!((&other["cpus"], &other["threads"][0]["name"]), (&json!("1"), &json!("stress")));
    assert!((other["share"].as_f64().unwrap() - 0.97).abs() < 0.01, "{other}");
    assert!((other["threads"][0]["share"].as_f64().unwrap() - 0.9).abs() < 0.01, "{other}");
    assert_eq!(told(&stress, false), [], "a run with a load");
    let own = busy_with(97).thread(&format!("loop/{MEASURED}"), 1, 90, |_| 80);
    assert_eq!(told(&own, true), [], "what a measured thread takes is no other work");
}

/// The parameters of a finding.
fn fields(finding: &Finding) -> Value {
    serde_json::to_value(finding).unwrap()
}
