use latlab_model::Nanos;
use latlab_model::plan::*;
use latlab_model::target::Target;
use serde_json::Value;
use serde_json::json;

/// A plan as schema 4 has it, with these fields changed.
fn flat(changes: Value) -> Plan {
    let mut plan = json!({
        "name": "old", "note": null, "instrument": "cyclic", "mechanism": "nanosleep",
        "clock": "tai", "policy": { "name": "fifo", "priority": 90 }, "cpus": null,
        "threads": null, "helpers_on": null, "period_ns": 200_000, "period_step_ns": 5,
        "phase": "spread", "missed": "skip", "duration_ns": null, "cycles": null,
        "warm_up_ns": 1_000_000_000, "deadline_ns": null, "stop_above_ns": null,
        "spike_above_ns": null, "on_spike": null, "idle_states": { "exit-within": 0 },
        "interval_ns": 1_000_000_000, "seed": u64::MAX,
    });
    let fields = plan.as_object_mut().unwrap();
    fields.extend(changes.as_object().unwrap().clone());
    serde_json::from_value(plan).unwrap()
}

fn releases() -> Releases {
    Releases {
        clock: ClockName::Tai,
        period_ns: Nanos(200_000),
        period_step_ns: Nanos(5),
        phase: Phase::Spread,
    }
}

#[test]
fn each_instrument_has_its_own_parameters() {
    let method = |changes| flat(changes).method;
    let cyclic = Cyclic { releases: releases(), ..Cyclic::default() };
    assert_eq!(method(json!({})), Method::Cyclic(cyclic.clone()));
    let cyclictest = Cyclictest { priority_step: 1, floating: true, ..Cyclictest::default() };
    assert_eq!(
        method(json!({ "priority_step": 1, "floating": true, "legs": true })),
        Method::Cyclic(Cyclic { legs: true, cyclictest: Some(cyclictest), ..cyclic })
    );
    assert_eq!(
        method(json!({ "instrument": "handoff", "wake": "pipe", "wakers_on": "3" })),
        Method::Handoff(Handoff {
            wake: WakeBy::Pipe,
            wakers_on: Some("3".parse().unwrap()),
            releases: releases(),
        })
    );
    let spin = |workload| {
        let spin = json!({ "gap_above_ns": 7, "workload": workload, "workload_bytes": 4096 });
        method(json!({ "instrument": "spin", "spin": spin }))
    };
    let spun = |workload| Method::Spin(Spin { gap_above_ns: Nanos(7), workload });
    assert_eq!(spin("none"), spun(Workload::None));
    assert_eq!(spin("memmove"), spun(Workload::Memmove { bytes: 4096 }));
    let timerlat = Timerlat { period_ns: Nanos(200_000) };
    assert_eq!(method(json!({ "instrument": "timerlat" })), Method::Timerlat(timerlat));
}

#[test]
fn what_meant_nothing_of_a_capture_is_absent() {
    let respond = |stimulus: Option<&str>, edge| {
        let respond = json!({
            "files": ["a.sr"], "simulated": null, "stimulus": stimulus, "response": stimulus,
            "marker": null, "threshold": edge, "hysteresis": edge, "edge": edge,
            "response_edge": edge, "window_ns": 9,
        });
        flat(json!({ "instrument": "respond", "respond": respond, "seed": 0 }))
    };
    let plan = respond(Some("D0"), "rising");
    let absent = (plan.policy, plan.warm_up_ns, plan.idle_states, plan.seed);
    assert_eq!(absent, (None, None, None, None));
    assert_eq!((plan.method.period(), plan.method.clock()), (None, None));
    let wires = plan.method.respond().unwrap().wires.clone().unwrap();
    assert_eq!((wires.stimulus.as_str(), wires.edge.as_str()), ("D0", "rising"));
    let list = respond(None, "");
    assert_eq!(list.method.respond().unwrap().wires, None);
    assert_eq!(list.method.respond().unwrap().window_ns, Some(Nanos(9)));
}

#[test]
fn a_guest_says_what_was_measured() {
    let guest = json!({
        "target": "lab:x86-64/rt-6.1", "seed": u64::MAX, "emulator": "QEMU",
        "accelerator": null, "kernel": "linux-image", "kernel_sha256": "", "files_sha256": "",
    });
    let plan = flat(json!({ "guest": guest }));
    assert_eq!(plan.target, "lab:x86-64/rt-6.1".parse().unwrap());
    assert_eq!((plan.seed, plan.guest.unwrap().seed), (Some(u64::MAX), u64::MAX));
    assert_eq!(flat(json!({ "guest": null })).target, Target::Local);
}

#[test]
fn plans_of_today_are_read_back_as_they_were() {
    for method in [
        Method::Cyclic(Cyclic { cyclictest: Some(Cyclictest::default()), ..Cyclic::default() }),
        Method::Spin(Spin { workload: Workload::Memmove { bytes: 8 }, ..Spin::default() }),
        Method::Respond(Box::default()),
    ] {
        let target = "lab:x86-64/rt-6.1".parse().unwrap();
        let plan = Plan { method, target, seed: Some(u64::MAX), ..Plan::default() };
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan, "{text}");
    }
}
