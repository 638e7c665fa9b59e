//! Notable differences in conditions between two runs.

use latlab_doctor::comparison::FactChange;
use latlab_model::telemetry::{Conditions, Figure};

/// Smallest notable difference of the means; `true` if relative to the larger one.
const NOTABLE: &[(&str, f64, bool)] = &[
    ("temperature", 5.0, false),
    ("cpu_frequency", 0.05, true),
    ("cpu_busy", 25.0, false),
    ("cpu_steal", 1.0, false),
    ("pressure", 5.0, false),
    ("context_switches", 0.5, true),
    ("memory_available", 0.25, true),
];

/// The figures whose means differ notably; those that only one run has are left out.
pub fn compare(before: &Conditions, after: &Conditions) -> Vec<FactChange> {
    let change = |now: &Figure| {
        let then = before.figures.iter().find(|then| then.is_same_as(now))?;
        let &(_, limit, relative) = NOTABLE.iter().find(|(name, ..)| *name == now.metric)?;
        let scale = if relative { then.mean.abs().max(now.mean.abs()) } else { 1.0 };
        let apart = (now.mean - then.mean).abs();
        (apart > 0.0 && apart >= limit * scale).then(|| FactChange {
            what: format!("{} {}", now.metric.replace('_', " "), now.subject).trim().to_string(),
            before: Some(text(then)),
            after: Some(text(now)),
        })
    };
    after.figures.iter().filter_map(change).collect()
}

fn text(figure: &Figure) -> String {
    format!("{:.1} {}", figure.mean, figure.unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(figures: &[(&str, &str, f64)]) -> Conditions {
        let figure = |&(metric, subject, mean): &(&str, &str, f64)| Figure {
            metric: metric.to_string(),
            subject: subject.to_string(),
            unit: "C".to_string(),
            min: mean,
            mean,
            max: mean,
            first_tenth: None,
            last_tenth: None,
        };
        let figures = figures.iter().map(figure).collect();
        Conditions { figures, ..Conditions::default() }
    }

    #[test]
    fn a_warmer_run_is_told_and_noise_is_not() {
        let before = conditions(&[
            ("temperature", "zone cpu", 48.0),
            ("cpu_frequency", "cpu0", 1500.0),
            ("cpu_steal", "cpu0", 0.1),
            ("temperature", "gone", 1.0),
        ]);
        let after = conditions(&[
            ("temperature", "zone cpu", 61.25),
            ("cpu_frequency", "cpu0", 1480.0),
            ("cpu_steal", "cpu0", 0.9),
            ("temperature", "new", 99.0),
        ]);
        let found = compare(&before, &after);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].what, "temperature zone cpu");
        assert_eq!(found[0].before.as_deref(), Some("48.0 C"));
        assert_eq!(found[0].after.as_deref(), Some("61.2 C"));
        assert_eq!(compare(&before, &before), []);
    }
}
