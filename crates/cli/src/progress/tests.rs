use super::line::{Line, cut, left, width_of};
use super::screen::changes;
use super::table::{LiveColumn, fitting};
use super::view::{LiveView, clock, draw, progress_line};
use latlab_conduct::live::LiveRun;
use latlab_model::finding::{Finding, MachineFinding};
use latlab_model::frame::{Interval, Message};
use latlab_model::plan::{Cyclic, Mechanism, Method, Until};
use latlab_model::run::{AppliedSetup, EndReason, ThreadEnd, ThreadSetup};
use latlab_model::{Histogram, Nanos, Plan, nanos::SECOND};
use latlab_report::{Colour, Style};

fn plan() -> Plan {
    Plan {
        name: "idle".into(),
        until: Until { duration_ns: Some(SECOND * 90), ..Until::default() },
        ..Plan::default()
    }
}

fn setup(thread: u32) -> ThreadSetup {
    ThreadSetup {
        thread,
        thread_id: None,
        cpu: Some(thread),
        core_type: None,
        capacity: None,
        policy: "fifo 90".into(),
        period_ns: Some(Nanos(997_000)),
        first_release_ns: Nanos::ZERO,
    }
}

/// The counts of one second: two latencies are recorded, the rest is added.
fn second(thread: u32, number: i64) -> Histogram {
    let wave = (number * 37 + i64::from(thread) * 11) % 50;
    let late = 9_000 + wave * wave * 17 + i64::from(thread % 7) * 6_017;
    let mut counts: Histogram = [3_200 + wave, late].map(Nanos).into_iter().collect();
    counts.count += 1_001;
    counts.sum_ns += 1_001 * 5_500;
    counts.bins[0].1 += 1_001;
    counts.overruns = u64::from(number % 20 == 7 && thread == 1);
    counts.misses = counts.overruns;
    counts
}

fn live(threads: u32, seconds: i64) -> LiveRun {
    let mut live = LiveRun::default();
    let threads: Vec<ThreadSetup> = (0..threads).map(setup).collect();
    let prepared = AppliedSetup { threads, ..AppliedSetup::default() };
    live.apply(&Message::Prepared(prepared.clone()));
    for number in 0..seconds {
        for setup in &prepared.threads {
            live.apply(&Message::Interval(Interval {
                thread: setup.thread,
                start_ns: SECOND * number,
                end_ns: SECOND * (number + 1),
                counts: second(setup.thread, number),
            }));
        }
    }
    live
}

/// The screen, with each line in quotes.
fn screen(width: usize, height: usize, view: &LiveView) -> String {
    let lines = draw(view, width, height);
    assert_eq!(lines.len(), height);
    let line = |line: &Line| {
        let text = line.render(width, Style::default());
        format!("\"{}\"\n", left(&text, width))
    };
    lines.iter().map(line).collect()
}

#[test]
fn screens_of_both_sizes() {
    let with_deadline =
        Plan { until: Until { deadline_ns: Some(Nanos(50_000)), ..plan().until }, ..plan() };
    let cyclic = Cyclic { mechanism: Mechanism::Relative, ..Cyclic::default() };
    let relative = Plan { method: Method::Cyclic(cyclic), ..plan() };
    let mut broken = live(4, 75);
    let (by_ns, noticed_within_ns) = (Nanos(2_000_000), Nanos(50_000_000));
    let stepped = MachineFinding::ClockStepped { by_ns, measured_with: false };
    broken.findings.push(Finding::new(stepped));
    broken.findings.push(Finding::new(MachineFinding::CpuOffline { cpu: 2, noticed_within_ns }));
    broken.apply(&Message::ThreadEnd(ThreadEnd::new(2, EndReason::CpuOffline, 0)));
    let cases = [
        ("two", live(2, 14), plan()),
        ("deadline", broken, with_deadline),
        ("relative", live(1, 3), relative),
        ("many", live(128, 5), plan()),
        ("begin", live(2, 0), plan()),
        ("nothing", LiveRun::default(), plan()),
    ];
    for (name, live, plan) in &cases {
        let view =
            LiveView { live, plan, title: "latlab run idle", elapsed: live.measured + SECOND };
        for (width, height) in [(80, 24), (160, 50)] {
            insta::assert_snapshot!(format!("{name}-{width}"), screen(width, height, &view));
        }
    }
}

#[test]
fn overruns_and_maximum_are_never_given_up() {
    let live = live(2, 14);
    let plan = Plan { until: Until { deadline_ns: Some(Nanos(50_000)), ..plan().until }, ..plan() };
    let view = LiveView { live: &live, plan: &plan, title: "latlab run idle", elapsed: SECOND };
    for width in 40..200 {
        let screen = screen(width, 24, &view);
        for head in ["thread", "overruns", "misses", "max"] {
            assert!(screen.contains(head), "{head} at {width}:\n{screen}");
        }
    }
}

#[test]
fn a_tiny_terminal_shows_the_maximum_and_says_what_it_cuts() {
    let live = live(2, 14);
    let plan = Plan { until: Until { deadline_ns: Some(Nanos(50_000)), ..plan().until }, ..plan() };
    let view = LiveView { live: &live, plan: &plan, title: "latlab run idle", elapsed: SECOND };
    insta::assert_snapshot!("tiny-50", screen(50, 12, &view));
    insta::assert_snapshot!("tiny-24", screen(24, 12, &view));
    for width in 18..80 {
        let screen = screen(width, 12, &view);
        assert!(screen.contains("54.185 us"), "{width}:\n{screen}");
    }
}

#[test]
fn a_column_that_holds_nothing_goes_first() {
    let column = |id, cell: &str| LiveColumn::figure(id, [cell.to_string()]);
    let columns =
        vec![column("min_ns", "3.21"), column("p99_99_ns", "-"), column("max_ns", "41.72")];
    let heads: Vec<&str> = fitting(columns, 12).iter().map(|column| column.head).collect();
    assert_eq!(heads, ["min", "max"]);
}

#[test]
fn any_size_is_drawn() {
    let live = live(20, 2);
    let plan = plan();
    let view = LiveView { live: &live, plan: &plan, title: "latlab run idle", elapsed: SECOND };
    for (width, height) in [(1, 1), (3, 9), (20, 4), (80, 7), (500, 8)] {
        screen(width, height, &view);
    }
}

#[test]
fn a_line_says_how_it_goes() {
    let (some, none) = (live(2, 14), LiveRun::default());
    let plan = Plan { until: Until { deadline_ns: Some(Nanos(50_000)), ..plan().until }, ..plan() };
    let line = |live, plan| {
        progress_line(&LiveView { live, plan, title: "latlab run idle", elapsed: SECOND * 15 })
    };
    insta::assert_snapshot!("line", line(&some, &plan));
    insta::assert_snapshot!("line-nothing", line(&none, &plan));
    let cycles = Plan {
        until: Until { duration_ns: None, cycles: Some(100_000), ..plan.until.clone() },
        ..plan.clone()
    };
    insta::assert_snapshot!("line-cycles", line(&some, &cycles));
    let endless = Plan { until: Until { duration_ns: None, ..plan.until.clone() }, ..plan.clone() };
    insta::assert_snapshot!("line-endless", line(&some, &endless));
}

#[test]
fn clocks_read_well() {
    assert_eq!(clock(SECOND * 5), "0:05");
    assert_eq!(clock(SECOND * 3_725), "1:02:05");
    assert_eq!(clock(SECOND * -3), "0:00");
}

#[test]
fn wide_letters_take_two_columns() {
    assert_eq!(width_of("遅延 us"), 7);
    assert_eq!(cut("遅延の測定", 10), "遅延の測定");
    assert_eq!(cut("遅延の測定", 9), "遅延の測…");
    assert_eq!(cut("遅延の測定", 8), "遅延の…");
    let live = live(2, 14);
    let view = LiveView { live: &live, plan: &plan(), title: "遅延の測定", elapsed: SECOND };
    for width in 1..60 {
        for line in draw(&view, width, 12) {
            assert!(width_of(&line.render(width, Style::default())) <= width, "{width}: {line:?}");
        }
    }
}

#[test]
fn only_lines_that_changed_are_written_and_nothing_in_them_steers() {
    let before = [Line::plain("first"), Line::painted(Colour::Bold, "41 us")];
    let after = [Line::plain("first"), Line::painted(Colour::Bold, "42\u{1b}[2J us")];
    assert_eq!(changes(&before, &before, 80), "");
    assert_eq!(changes(&before, &after, 5), "\u{1b}[2H\u{1b}[2K\u{1b}[1m42[2J\u{1b}[0m");
    assert_eq!(changes(&[], &before[..1], 80), "\u{1b}[1H\u{1b}[2Kfirst");
}
