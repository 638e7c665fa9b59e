use latlab_model::Nanos;
use latlab_model::explanation::*;

#[test]
fn short_legs_become_one_and_all_add_up_as_before() {
    let part = |from: i64, to: i64, name: &str| BlamePart {
        from_ns: Nanos(from),
        to_ns: Nanos(to),
        phase: WakePhase::Waiting,
        cause: Cause { kind: CauseKind::Thread, name: name.to_string() },
        thread: None,
        evidence: None,
        detail: None,
    };
    let mut parts = vec![part(0, 5_000, "long")];
    parts.extend((0..500).map(|at| match at % 2 {
        0 => part(5_000 + 10 * at, 5_008 + 10 * at, "hog"),
        _ => part(4_998 + 10 * at, 5_010 + 10 * at, "tick"),
    }));
    let blame = SpikeBlame { latency_ns: Nanos(10_000), parts, ..spike() };
    let few = blame.condensed(10);
    assert!(few.len() <= 21 && few[0].cause.name == "long");
    assert_eq!((few[0].from_ns, few[few.len() - 1].to_ns), (Nanos(0), Nanos(10_000)));
    assert!(few.windows(2).all(|two| two[0].to_ns == two[1].from_ns));
    assert_eq!(few[1].evidence, Some(CauseEvidence::ShorterCauses { causes: 1 }));
    assert_eq!(blame.condensed(1_000), blame.parts);
}

fn spike() -> SpikeBlame {
    SpikeBlame {
        spike: 7,
        thread: 0,
        cpu: Some(1),
        release_ns: Nanos(5_000_000),
        latency_ns: Nanos(2_000_000),
        parts: Vec::new(),
        cause: None,
        cause_ns: Nanos(1_500_000),
        longest: None,
        started: Vec::new(),
        reason: None,
        sentence: None,
        stolen: None,
        before: CpuBefore::default(),
        gap: None,
    }
}
