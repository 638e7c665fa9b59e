//! What a run says of its spikes.

use latlab_model::Run;
use latlab_report::{Style, causes_text, rendered, timeline};
use std::path::Path;

/// Wide enough that no sentence is broken.
const WIDE: usize = 400;
const PLAIN: Style = Style { colour: false };

/// The run with explained spikes of this schema.
fn explained(schema: u32) -> Run {
    let folder = format!("../../fixtures/schema-{schema}/explained");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let run = latlab_store::read_run(&folder).unwrap();
    assert_eq!(run.schema, schema);
    run
}

/// Invariant (old data): A run that was stored with the sentences of its spikes shows these.
#[test]
fn a_run_of_schema_5_shows_its_own_sentences() {
    let run = explained(5);
    let stored = run.explanation.clone().unwrap();
    assert!(stored.causes.len() > 1 && stored.largest.len() > 5, "{stored:?}");
    let text = causes_text(&run, WIDE, PLAIN);
    for cause in &stored.causes {
        assert_eq!(cause.remedy, None, "what to do is not read from a file");
        assert!(text.contains(cause.remedy(run.asked.who.policy).as_str()), "{cause:?}\n{text}");
        assert!(text.contains(cause.realtime.as_deref().unwrap_or_default()), "{cause:?}\n{text}");
    }
    assert!(text.contains(stored.largest[0].sentence.as_deref().unwrap()), "{text}");
    for spike in &stored.largest {
        let sentence = spike.sentence.as_deref().unwrap();
        let text = timeline(spike, &run, WIDE, PLAIN);
        assert!(text.contains(sentence), "{sentence}:\n{text}");
        // What only the sentence knows: no code was stored beside it.
        assert_eq!((&spike.longest, &spike.reason, &spike.started[..]), (&None, &None, &[][..]));
        for detail in spike.condensed(24).iter().filter_map(|leg| leg.detail.as_deref()) {
            assert!(text.contains(detail), "{detail}:\n{text}");
        }
    }
}

/// Invariant (old data): The sentences of spikes are made of the codes that a run has stored.
#[test]
fn a_run_of_schema_6_is_told_from_its_codes() {
    let run = explained(6);
    let stored = run.explanation.clone().unwrap();
    assert!(stored.causes.len() > 1 && stored.largest.len() > 5, "{stored:?}");
    let text = causes_text(&run, WIDE, PLAIN);
    for cause in &stored.causes {
        assert_eq!((&cause.remedy, &cause.realtime), (&None, &None));
        assert!(text.contains(cause.remedy(run.asked.who.policy).as_str()), "{cause:?}\n{text}");
    }
    let why =
        "Not explained: 1 spike, since nothing was recorded while the thread itself had the CPU.";
    assert!(text.contains(why), "{text}");
    for spike in &stored.largest {
        assert_eq!((&spike.sentence, &spike.gap), (&None, &None));
        assert!(timeline(spike, &run, WIDE, PLAIN).contains(&spike.sentence()), "{spike:?}");
        assert_eq!(spike.cause.is_some(), spike.longest.is_some(), "{spike:?}");
        assert!(spike.cause.is_some() || spike.reason.is_some(), "{spike:?}");
    }
    let printed = rendered(&run).explanation.unwrap();
    assert!(printed.largest.iter().all(|spike| spike.sentence.is_some()));
    assert!(printed.causes.iter().all(|cause| cause.remedy.is_some()));
}
