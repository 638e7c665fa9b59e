//! The outcome of stimuli and responses, counted by a capture, an oscilloscope, the pin pair of a
//! guest, or the thread that answers a wire.

use latlab_model::finding::{CaptureFinding, Finding};
use latlab_model::respond::{MarkerFigures, Respond, Responses};
use latlab_model::{Nanos, Plan};

/// The findings that follow from the counts; `answered` stimuli were answered in time.
pub fn findings(responses: &Responses, answered: u64, plan: &Plan) -> Vec<Finding> {
    let Responses { stimuli, censored, timed_out, missing, late, double, spurious, .. } =
        *responses;
    let asked = plan.method.respond().cloned().unwrap_or_default();
    let Respond { window_ns, scope, .. } = asked;
    let timeout_ns = scope.map_or(Nanos::ZERO, |scope| scope.timeout_ns);
    let some = |count: u64, finding: CaptureFinding| (count > 0).then_some(finding);
    let all = [
        some(censored, CaptureFinding::ResponseNotMeasured { count: censored, stimuli }),
        some(timed_out, CaptureFinding::ResponseTimedOut { count: timed_out, stimuli, timeout_ns }),
        some(missing, CaptureFinding::ResponseMissing { count: missing, stimuli }),
        some(late, CaptureFinding::ResponseLate { count: late, stimuli, window_ns }),
        some(double, CaptureFinding::ResponseDouble { count: double }),
        some(spurious, CaptureFinding::ResponseSpurious { count: spurious }),
        (!responses.is_timed).then_some(CaptureFinding::StimuliUntimed {}),
        responses.marked.as_ref().and_then(|marked| in_step(marked, answered)),
    ];
    all.into_iter().flatten().map(Finding::new).collect()
}

fn in_step(marked: &MarkerFigures, responses: u64) -> Option<CaptureFinding> {
    let nanos = |ns: f64| Nanos(ns.round() as i64);
    Some(CaptureFinding::SlowInStep {
        marker: marked.by.clone(),
        marked: marked.count,
        responses,
        longest_ns: nanos(marked.max_ns?),
        longest_other_ns: nanos(marked.others_max_ns?),
        slower: marked.slower,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::plan::Method;
    use latlab_model::respond::Scope;

    #[test]
    fn each_count_is_told_once_whoever_counted_it() {
        let scope = Scope { timeout_ns: Nanos(2_000_000_000), ..Scope::default() };
        let respond = Respond { scope: Some(scope), ..Respond::default() };
        let plan = Plan { method: Method::Respond(Box::new(respond)), ..Plan::default() };
        let responses = Responses {
            stimuli: 20,
            missing: 1,
            late: 2,
            censored: 3,
            timed_out: 4,
            double: 5,
            is_timed: true,
            ..Responses::default()
        };
        let found = findings(&responses, 10, &plan);
        let codes: Vec<&str> = found.iter().map(Finding::code).collect();
        let expected = [
            "response-not-measured",
            "response-timed-out",
            "response-missing",
            "response-late",
            "response-double",
        ];
        assert_eq!(codes, expected);
        let timeout_ns = Nanos(2_000_000_000);
        let timed_out = CaptureFinding::ResponseTimedOut { count: 4, stimuli: 20, timeout_ns };
        assert_eq!(found[1], Finding::new(timed_out));
        let whole = Responses { stimuli: 20, is_timed: true, ..Responses::default() };
        assert_eq!(findings(&whole, 20, &plan), []);
    }
}
