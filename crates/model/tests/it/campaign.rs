use latlab_model::campaign::*;

#[test]
fn a_row_of_version_1_says_what_its_plan_measures() {
    let older = |target: &str| {
        serde_json::json!({
            "label": "a", "scenario": "a", "about": null, "settings": {}, "target": target,
            "kernel": "6.1", "left_out": null,
            "plan": {
                "name": "a", "instrument": "cyclic", "mechanism": "nanosleep",
                "clock": "monotonic", "policy": { "name": "fifo", "priority": 90 },
                "period_ns": 1_000_000, "period_step_ns": 0, "phase": "spread",
                "missed": "skip", "warm_up_ns": 0, "idle_states": "system",
                "interval_ns": 1_000_000_000, "seed": 1,
            },
        })
    };
    for (text, fits) in [("local", false), ("lab:x86-64/rt-6.1", true)] {
        let read: Row = serde_json::from_value(older(text)).unwrap();
        assert_eq!(read.plan.on.target.to_string(), text);
        assert_eq!(read.fits_kernel("6.12.1-rt1"), fits, "a guest has a kernel of its own");
        let again: Row = serde_json::from_value(serde_json::to_value(&read).unwrap()).unwrap();
        assert_eq!(again, read);
    }
}
