//! What must be told of a capture beside its figures.

use latlab_capture::{Asked, Measured, NANO_PS};
use latlab_model::Nanos;
use latlab_model::run::{Finding, Severity};

/// What a program is off by that takes a second for 1 000 000 of its nanoseconds.
const SECOND_TAKEN_FOR_A_MILLISECOND: i64 = 999_000_000 * NANO_PS;

/// Everything that must be told.
pub fn findings(measured: &Measured, asked: &Asked) -> Vec<Finding> {
    let counts = &measured.counts;
    let stimuli = counts.stimuli;
    let found = |code: &str, severity: Severity, count: u64, text: String| {
        (count > 0).then(|| Finding::new(code, severity, text))
    };
    let window =
        asked.window_ps.map(time).map(|window| format!(" of {window}")).unwrap_or_default();
    let all = [
        swapped(measured),
        found(
            "response-not-measured",
            Severity::Warning,
            counts.censored,
            format!(
                "{} of {stimuli} not measured: the instrument gave no value there. What has none is \
                 in no figure, and may have been of any length.",
                counts.censored
            ),
        ),
        impossible(measured),
        found(
            "response-missing",
            Severity::Warning,
            counts.missing,
            format!("{} of {stimuli} stimuli got no response.", counts.missing),
        ),
        found(
            "response-late",
            Severity::Warning,
            counts.late,
            format!(
                "{} of {stimuli} stimuli were answered after the window{window}: they are counted, \
                 and in no figure.",
                counts.late
            ),
        ),
        found(
            "response-double",
            Severity::Warning,
            counts.double,
            format!("{} further responses came to stimuli that had one.", counts.double),
        ),
        found(
            "response-spurious",
            Severity::Warning,
            counts.spurious,
            format!("{} responses belong to no stimulus.", counts.spurious),
        ),
        first_row(measured),
        untimed(measured),
        marked(measured, asked),
    ];
    let notes =
        measured.notes.iter().map(|note| Finding::new("capture-note", Severity::Info, note));
    all.into_iter().flatten().chain(notes).collect()
}

fn time(picoseconds: i64) -> Nanos {
    Nanos((picoseconds + NANO_PS / 2).div_euclid(NANO_PS))
}

fn swapped(measured: &Measured) -> Option<Finding> {
    let other = time(measured.swapped_ps? as i64);
    let (stimulus, response) = (measured.stimulus.as_ref()?, measured.response.as_ref()?);
    let text = format!(
        "The probes may be swapped: from {response} to the next {stimulus} it is only {other} at \
         the median."
    );
    let remedy = format!("If so, give --stimulus '{response}' --response '{stimulus}'.");
    Some(Finding::new("probes-swapped", Severity::Warning, text).remedy(remedy))
}

fn impossible(measured: &Measured) -> Option<Finding> {
    let (number, value) = *measured.impossible.first()?;
    let (count, many) = (measured.counts.impossible, measured.impossible.len() > 1);
    let named = measured
        .impossible
        .iter()
        .map(|(number, value)| format!("number {number} is {} ns", value.div_euclid(NANO_PS)));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if count > measured.impossible.len() as u64 { ", and more" } else { "" };
    let text = format!(
        "{count} reading{} cannot be, since no response comes before its stimulus: {named}{more}. \
         {} in no figure.{}",
        if many { "s" } else { "" },
        if many { "They are" } else { "It is" },
        mistake(measured, number, value).unwrap_or_default(),
    );
    Some(Finding::new("response-impossible", Severity::Error, text))
}

/// The mistake of a program that is known from its results.
fn mistake(measured: &Measured, number: u64, value: i64) -> Option<String> {
    let meant = value.checked_add(SECOND_TAKEN_FOR_A_MILLISECOND)?;
    let (min, max) = (measured.figures.min_ps()?, measured.figures.max_ps()?);
    let fits = meant >= min / 2 && meant <= max.saturating_mul(2);
    fits.then(|| {
        format!(
            " The program that wrote them seems to take a second for 1 000 000 of its \
             nanoseconds: number {number} would else be {} ns.",
            meant.div_euclid(NANO_PS)
        )
    })
}

fn first_row(measured: &Measured) -> Option<Finding> {
    measured.first_row_left_out.then(|| {
        let text = "The first row is 0, which is no sample: whoever wrote the list began to count \
                    there. It is left out.";
        Finding::new("first-row-no-sample", Severity::Info, text)
    })
}

fn untimed(measured: &Measured) -> Option<Finding> {
    (!measured.is_timed).then(|| {
        let text = "The list does not say when its stimuli were: each reading stands for a second \
                    in what is over time.";
        Finding::new("stimuli-untimed", Severity::Info, text)
    })
}

fn marked(measured: &Measured, asked: &Asked) -> Option<Finding> {
    let (mark, by) = (measured.mark.as_ref()?, asked.marker.as_ref()?);
    let (count, slower, all) = (mark.marked.count(), mark.slower, measured.counts.answered);
    let (marked, others) = (mark.marked.max_ps()?, mark.others.max_ps()?);
    let text = format!(
        "{count} of {all} responses met {by}, and took up to {}; no other took longer than {}. \
         All {slower} that took longer met it.",
        time(marked),
        time(others),
    );
    Some(Finding::new("slow-in-step", Severity::Info, text))
}
