//! What a run reports about itself when something went wrong on the way.

use jiff::Timestamp;
use latlab_digest::testing::{FIRST_RELEASE, SyntheticRun};
use latlab_digest::{RunBuilder, RunDigest, StreamEnd, StreamError};
use latlab_model::frame::{Interval, KEPT_SPIKES, Message, Spike, Spikes};
use latlab_model::nanos::{MILLISECOND, SECOND};
use latlab_model::plan::{ClockName, Cyclic, Mechanism, Method, Plan, Policy, Releases};
use latlab_model::run::{EndReason, Finding, Severity, VerdictWord};
use latlab_model::samples::{Samples, pack};
use latlab_model::{Nanos, Run};

fn assembled(messages: Vec<Message>) -> RunDigest {
    let mut assembly = RunBuilder::default();
    for message in messages {
        assembly.push(message);
    }
    assembly.finish("test", "2026-11-21T16:05:01Z".parse().unwrap(), StreamEnd::default()).unwrap()
}

/// The run of a stream of two threads, after `change` was applied to every message.
fn changed(mut change: impl FnMut(&mut Message)) -> Run {
    let mut messages = SyntheticRun { seconds: 3, ..SyntheticRun::default() }.messages();
    messages.iter_mut().for_each(&mut change);
    assembled(messages).run
}

/// The same with a change of the plan.
fn planned(change: impl Fn(&mut Plan)) -> Run {
    changed(|message| {
        if let Message::Plan(plan) = message {
            change(plan);
        }
    })
}

fn only(run: &Run) -> &Finding {
    assert_eq!(run.findings.len(), 1, "{:?}", run.findings);
    &run.findings[0]
}

fn word(run: &Run) -> VerdictWord {
    run.verdict.as_ref().unwrap().word
}

#[test]
fn a_good_run_has_no_findings() {
    let run = changed(|_| {});
    assert_eq!(run.findings, []);
    assert_eq!(word(&run), VerdictWord::Pass);
}

#[test]
fn a_refused_setting_invalidates_when_it_matters() {
    for (matters, expected) in [(true, VerdictWord::Invalid), (false, VerdictWord::Pass)] {
        let run = changed(|message| {
            if let Message::Prepared(prepared) = message {
                prepared.settings[1].applied = "other".to_string();
                prepared.settings[1].matters = matters;
            }
        });
        let finding = only(&run);
        assert_eq!((finding.code(), finding.thread), ("setting-refused", Some(0)));
        let told = serde_json::to_value(finding).unwrap();
        assert_eq!(
            (told["asked"].as_str(), told["applied"].as_str()),
            (Some("fifo 90"), Some("other"))
        );
        assert_eq!(word(&run), expected);
    }
}

#[test]
fn page_faults_weigh_with_the_memory_lock() {
    let run_with = |locked: bool, policy: Policy| {
        changed(|message| match message {
            Message::ThreadEnd(end) if end.thread == 1 => end.page_faults = 3,
            Message::Plan(plan) => plan.who.policy = Some(policy),
            Message::Prepared(prepared) if !locked => {
                prepared.settings[0].applied = "none".to_string();
                prepared.settings[0].matters = false;
            }
            _ => {}
        })
    };
    let fifo = Policy::Fifo { priority: 90 };
    let harmless = run_with(true, fifo);
    assert_eq!((only(&harmless).code(), word(&harmless)), ("page-faults", VerdictWord::Pass));
    assert_eq!(only(&harmless).severity(), Severity::Warning);
    assert_eq!(word(&run_with(false, fifo)), VerdictWord::Invalid);
    assert_eq!(word(&run_with(false, Policy::Other)), VerdictWord::Pass);
}

#[test]
fn a_lost_interval_is_counted_and_invalidates() {
    let mut messages = SyntheticRun { seconds: 3, ..SyntheticRun::default() }.messages();
    let interval = messages.iter().position(|one| matches!(one, Message::Interval(_))).unwrap();
    messages.remove(interval);
    let run = assembled(messages).run;
    let codes: Vec<&str> = run.findings.iter().map(|finding| finding.code()).collect();
    assert_eq!(codes, ["counts-differ", "interval-lost"]);
    assert_eq!(run.findings[1].at_ns, Some(FIRST_RELEASE + SECOND), "and when it was");
    assert_eq!((run.losses.cycles, word(&run)), (1_003, VerdictWord::Invalid));
}

#[test]
fn an_interval_that_comes_twice_is_counted_once() {
    let messages = SyntheticRun { seconds: 3, ..SyntheticRun::default() }.messages();
    let once = assembled(messages.clone()).run;
    let is_interval = |one: &&Message| matches!(one, Message::Interval(_));
    let again = messages.iter().find(is_interval).cloned();
    let run = assembled(messages.into_iter().chain(again).collect()).run;
    assert_eq!((run.total, word(&once)), (once.total.clone(), VerdictWord::Pass));
    assert_eq!(run.findings[0].code(), "interval-unsound");
    assert_eq!(run.verdict.unwrap().word, VerdictWord::Invalid);
}

#[test]
fn missed_releases_must_agree_too() {
    let run = changed(|message| {
        if let Message::ThreadEnd(end) = message {
            end.overruns += u64::from(end.thread);
        }
    });
    assert_eq!((only(&run).thread, word(&run)), (Some(1), VerdictWord::Invalid));
}

#[test]
fn negative_latencies_invalidate() {
    let run = changed(|message| match message {
        Message::Interval(Interval { counts, .. }) => {
            counts.add(&[Nanos(-40)].into_iter().collect()).unwrap()
        }
        Message::ThreadEnd(end) => end.cycles += 3,
        _ => {}
    });
    assert_eq!(run.findings.len(), 2);
    assert!(run.findings.iter().all(|one| one.code() == "negative-latency" && one.invalidates()));
    let told = serde_json::to_value(&run.findings[0]).unwrap();
    assert_eq!((told["count"].as_u64(), told["min_ns"].as_i64()), (Some(3), Some(-40)));
    assert_eq!((run.total.underflow, run.total.min_ns), (6, Some(Nanos(-40))));
}

#[test]
fn what_costs_no_count_does_not_invalidate() {
    let run = changed(|message| match message {
        Message::ThreadEnd(end) if end.thread == 0 => {
            end.spikes_lost = 7;
            end.intervals_grown = 2;
        }
        Message::End(end) => end.intervals_merged = 4,
        _ => {}
    });
    let codes: Vec<&str> = run.findings.iter().map(|one| one.code()).collect();
    assert_eq!(codes.len(), 3);
    assert_eq!(codes[0], "spikes-lost", "the only warning");
    assert_eq!((run.losses.spikes, run.losses.intervals_merged), (7, 4));
    assert_eq!(word(&run), VerdictWord::Pass);
}

#[test]
fn a_thread_that_ended_early_decides_nothing() {
    for (reason, expected) in [
        (EndReason::CpuOffline, VerdictWord::Inconclusive),
        (EndReason::RanAway, VerdictWord::Inconclusive),
        (EndReason::Failed, VerdictWord::Invalid),
        (EndReason::RecorderFull, VerdictWord::Invalid),
    ] {
        let run = changed(|message| {
            if let Message::ThreadEnd(end) = message
                && end.thread == 1
            {
                end.reason = reason;
            }
        });
        assert_eq!(only(&run).code(), "thread-ended-early");
        assert_eq!(word(&run), expected, "{reason}");
    }
}

#[test]
fn an_interrupted_run_fails_only_when_it_had_failed() {
    let interrupted = |slower: Nanos| {
        let synthetic = SyntheticRun { slower, ..SyntheticRun::default() };
        let mut messages = synthetic.messages();
        if let Some(Message::End(end)) = messages.last_mut() {
            end.reason = EndReason::Interrupted;
        }
        assembled(messages).run
    };
    let run = interrupted(Nanos::ZERO);
    assert_eq!((word(&run), run.ended), (VerdictWord::Inconclusive, EndReason::Interrupted));
    let run = interrupted(Nanos(199_000));
    assert_eq!(word(&run), VerdictWord::Fail);
    assert_eq!(run.verdict.unwrap().misses, run.total.misses.unwrap());
}

#[test]
fn a_suspend_shows() {
    let run = changed(|message| {
        if let Message::Clocks(clocks) = message
            && clocks.monotonic_ns > latlab_digest::testing::FIRST_RELEASE + SECOND
        {
            clocks.boottime_ns += SECOND * 30;
            clocks.realtime_ns += SECOND * 30;
            clocks.tai_ns += SECOND * 30;
        }
    });
    assert_eq!(only(&run).code(), "suspended");
    assert_eq!(word(&run), VerdictWord::Invalid);
}

#[test]
fn a_clock_that_was_set_counts_for_those_who_use_it() {
    let stepped = |clock: ClockName| {
        let releases = Releases { clock, ..Releases::default() };
        changed(|message| match message {
            Message::Plan(plan) => {
                let releases = releases.clone();
                plan.method = Method::Cyclic(Cyclic { releases, ..Cyclic::default() });
            }
            Message::Clocks(clocks)
                if clocks.monotonic_ns > latlab_digest::testing::FIRST_RELEASE + SECOND =>
            {
                clocks.realtime_ns += MILLISECOND * 40;
                clocks.tai_ns += MILLISECOND * 40;
            }
            _ => {}
        })
    };
    let run = stepped(ClockName::Monotonic);
    assert_eq!((only(&run).code(), word(&run)), ("clock-stepped", VerdictWord::Pass));
    assert_eq!(serde_json::to_value(only(&run)).unwrap()["by_ns"], 40_000_000);
    assert_eq!(run.started, "2026-11-21T16:05:01Z", "from the first reading");
    assert_eq!(word(&stepped(ClockName::Realtime)), VerdictWord::Invalid);
    assert_eq!(word(&stepped(ClockName::Tai)), VerdictWord::Invalid);
}

#[test]
fn without_readings_the_id_says_when_it_began() {
    let messages = SyntheticRun::default().messages().into_iter();
    let run = assembled(messages.filter(|one| !matches!(one, Message::Clocks(_))).collect()).run;
    assert_eq!((run.started.as_str(), run.clocks), ("2026-11-21T16:05:01Z", None));
    assert_eq!(only(&run).code(), "clocks-unknown");
}

fn sleeping_by(mechanism: Mechanism) -> Method {
    Method::Cyclic(Cyclic { mechanism, ..Cyclic::default() })
}

#[test]
fn a_period_that_fits_the_tick_is_named() {
    let fits = |mechanism: Mechanism| {
        changed(|message| match message {
            Message::Plan(plan) => plan.method = sleeping_by(mechanism),
            Message::Prepared(prepared) => {
                prepared.threads.iter_mut().for_each(|one| one.period_ns = Some(MILLISECOND));
            }
            _ => {}
        })
    };
    let run = fits(Mechanism::Nanosleep);
    assert_eq!((only(&run).code(), word(&run)), ("period-aliases-tick", VerdictWord::Pass));
    assert_eq!(fits(Mechanism::Relative).findings, []);
}

#[test]
fn a_relative_sleep_misses_nothing() {
    let run = planned(|plan| plan.method = sleeping_by(Mechanism::Relative));
    assert_eq!((run.total.overruns, run.total.releases), (None, run.total.cycles));
}

#[test]
fn the_largest_spikes_are_kept() {
    let mut messages = SyntheticRun::default().messages();
    let spike = |number: i64| Spike { latency_ns: Nanos(number), release_ns: Nanos(-number) };
    for part in 0..5 {
        let spikes = (0..2_000).map(|number| spike(number * 5 + part)).collect();
        messages.push(Message::Spikes(Spikes { thread: 1, spikes }));
    }
    let assembled = assembled(messages);
    let mut kept: Vec<i64> = assembled
        .spikes
        .iter()
        .filter(|row| row.thread == 1)
        .map(|row| row.spike.latency_ns.0)
        .collect();
    assert_eq!(kept.len(), KEPT_SPIKES);
    kept.sort_unstable();
    let own = kept.iter().filter(|&&latency| latency >= 10_000).count() as i64;
    assert_eq!(kept[0], 10_000 - (KEPT_SPIKES as i64 - own));
}

#[test]
fn impossible_intervals_are_left_out_and_invalidate() {
    let spoil: [fn(&mut Interval); 6] = [
        |interval| interval.counts.bins[0].0 = u32::MAX,
        |interval| interval.counts.bins.swap(0, 1),
        |interval| interval.counts.bins[0].1 = u64::MAX,
        |interval| interval.counts.overruns = u64::MAX,
        |interval| interval.counts.sum_ns = i128::MIN,
        |interval| interval.end_ns = interval.start_ns - SECOND,
    ];
    for spoil in spoil {
        let mut first = true;
        let run = changed(|message| {
            if let Message::Interval(interval) = message
                && std::mem::take(&mut first)
            {
                spoil(interval);
            }
        });
        assert_eq!(run.findings[0].code(), "counts-differ");
        assert_eq!(run.findings[1].code(), "interval-unsound");
        assert_eq!((run.losses.cycles, word(&run)), (1_003, VerdictWord::Invalid));
    }
}

#[test]
fn threads_that_nobody_set_up_invalidate() {
    let run = changed(|message| {
        if let Message::Spikes(spikes) = message {
            spikes.thread = 77;
        }
    });
    assert!(run.findings.iter().all(|one| one.code() == "unknown-thread"));
    assert_eq!(word(&run), VerdictWord::Invalid);
}

#[test]
fn a_thread_without_last_word_invalidates() {
    let messages = SyntheticRun::default().messages().into_iter();
    let run = assembled(
        messages.filter(|one| !matches!(one, Message::ThreadEnd(end) if end.thread == 0)).collect(),
    )
    .run;
    assert_eq!((only(&run).code(), word(&run)), ("thread-lost", VerdictWord::Invalid));
}

#[test]
fn a_stream_without_its_beginning_is_no_run() {
    let messages = SyntheticRun::default().messages();
    for (left_out, name) in [(1, "Plan"), (2, "Machine"), (3, "Prepared")] {
        let mut assembly = RunBuilder::default();
        for (at, message) in messages.iter().enumerate() {
            // The start of a stream appears there twice.
            if at != left_out && at != left_out + 4 {
                assembly.push(message.clone());
            }
        }
        let error = assembly.finish("x", Timestamp::UNIX_EPOCH, StreamEnd::default()).unwrap_err();
        assert_eq!(error, StreamError::Missing(name));
    }
}

/// Invariant (losses): Missing samples make a run invalid.
#[test]
fn samples_that_are_missing_are_counted_with_thread_and_time_and_invalidate() {
    let mut messages = SyntheticRun { seconds: 3, ..SyntheticRun::default() }.messages();
    let period_ns = SyntheticRun::default().period;
    let samples = |lost_before, first: i64, count: i64| {
        Message::Samples(Samples {
            thread: 1,
            lost_before,
            first_release_ns: FIRST_RELEASE + Nanos(1_000) + period_ns * first,
            period_ns,
            count: count as u32,
            jumps: Vec::new(),
            packed: pack(&vec![5_000; count as usize]),
        })
    };
    let first_interval = messages.iter().position(|one| matches!(one, Message::Interval(_)));
    messages.insert(first_interval.unwrap(), samples(0, 0, 1_000));
    messages.insert(first_interval.unwrap() + 1, samples(9, 1_009, 2_000));
    messages.iter_mut().for_each(|message| {
        if let Message::Plan(plan) = message {
            plan.keep.samples = true;
        }
    });
    let run = assembled(messages).run;
    let thread_1: Vec<&Finding> =
        run.findings.iter().filter(|finding| finding.thread == Some(1)).collect();
    assert_eq!(thread_1.len(), 2, "{thread_1:?}");
    let told = serde_json::to_value(&thread_1).unwrap();
    assert_eq!(
        (told[0]["code"].as_str(), told[0]["count"].as_u64()),
        (Some("samples-missing"), Some(9))
    );
    assert_eq!(
        (told[1]["code"].as_str(), told[1]["count"].as_u64()),
        (Some("samples-lost"), Some(9))
    );
    assert_eq!(told[1]["within_ns"], 8_973_000);
    assert_eq!(thread_1[1].at_ns, Some(FIRST_RELEASE + Nanos(1_000) + period_ns * 1_009));
    assert_eq!((run.losses.samples, word(&run)), (3_009 + 9, VerdictWord::Invalid));
}

#[test]
fn a_miss_that_was_seen_after_the_last_interval_is_judged() {
    let mut messages = SyntheticRun { seconds: 3, ..SyntheticRun::default() }.messages();
    messages.retain(|message| !matches!(message, Message::ThreadEnd(_) | Message::End(_)));
    let end = messages.iter().filter_map(|message| match message {
        Message::Interval(interval) if interval.thread == 0 => Some(interval.end_ns),
        _ => None,
    });
    let after = end.max().unwrap() + MILLISECOND;
    let spike = |latency_ns| Spike { latency_ns, release_ns: after };
    let cut = assembled(messages.clone()).run;
    assert_eq!(word(&cut), VerdictWord::Inconclusive);

    let spikes = vec![spike(SECOND * 2), spike(Nanos(7))];
    messages.push(Message::Spikes(Spikes { thread: 0, spikes }));
    let run = assembled(messages).run;
    assert_eq!(word(&run), VerdictWord::Fail);
    assert_eq!(run.verdict.as_ref().unwrap().misses, 1);
    assert!(run.findings.iter().any(|finding| finding.code() == "spikes-uncounted"));
    assert_eq!(run.total, cut.total, "the histogram's figures are its own");
}

#[test]
fn without_a_planned_end_an_interrupt_is_the_end() {
    for (duration_ns, expected) in
        [(Some(SECOND * 60), VerdictWord::Inconclusive), (None, VerdictWord::Pass)]
    {
        let run = changed(|message| match message {
            Message::Plan(plan) => {
                (plan.until.duration_ns, plan.until.cycles) = (duration_ns, None)
            }
            Message::End(end) => end.reason = EndReason::Interrupted,
            Message::ThreadEnd(end) => end.reason = EndReason::Interrupted,
            _ => {}
        });
        assert_eq!(word(&run), expected);
    }
}
