//! Reports on the spikes of a run.

use latlab_model::Run;
use latlab_model::explanation::{Unexplained, UnexplainedReason};
use latlab_report::{Style, cause_remedy, causes_text, rendered, spike_sentence, timeline};
use std::path::Path;

/// Wide enough that no sentence wraps.
const WIDE: usize = 400;
const PLAIN: Style = Style { colour: false };

/// The stored run with explained spikes.
fn explained() -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/schema-1/explained");
    latlab_store::read_run(&folder).unwrap()
}

/// Invariant (old data): The sentences of spikes are made of the codes that a run has stored.
#[test]
fn a_stored_run_is_told_from_its_codes() {
    let mut run = explained();
    let reason = Some(UnexplainedReason::SilentThread);
    run.explanation.as_mut().unwrap().unexplained =
        vec![Unexplained { reason, count: 1, why: None }];
    let stored = run.explanation.clone().unwrap();
    assert!(stored.causes.len() > 1 && stored.largest.len() > 5, "{stored:?}");
    let text = causes_text(&run, WIDE, PLAIN);
    for cause in &stored.causes {
        assert_eq!((&cause.remedy, &cause.realtime), (&None, &None));
        assert!(
            text.contains(cause_remedy(cause, run.asked.who.policy).as_str()),
            "{cause:?}\n{text}"
        );
    }
    let why =
        "Not explained: 1 spike, since nothing was recorded while the thread itself had the CPU.";
    assert!(text.contains(why), "{text}");
    for spike in &stored.largest {
        assert_eq!((&spike.sentence, &spike.gap), (&None, &None));
        assert!(timeline(spike, &run, WIDE, PLAIN).contains(&spike_sentence(spike)), "{spike:?}");
        assert_eq!(spike.cause.is_some(), spike.longest.is_some(), "{spike:?}");
        assert!(spike.cause.is_some() || spike.reason.is_some(), "{spike:?}");
    }
    let printed = rendered(&run).explanation.unwrap();
    assert!(printed.largest.iter().all(|spike| spike.sentence.is_some()));
    assert!(printed.causes.iter().all(|cause| cause.remedy.is_some()));
}
