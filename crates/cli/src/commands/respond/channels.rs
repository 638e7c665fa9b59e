//! `latlab respond --look`: lists the channels of a capture.

use super::args::RespondArgs;
use super::documents::{CaptureListing, ListedChannel};
use crate::exit::ExitError;
use crate::flags::Format;
use crate::output::{escape_controls, glyphs, print_json, print_text, warn};
use latlab_capture::{
    Capture, CaptureSurvey, ChannelSurvey, Error, Kind, Loss, LossKind, SECOND_PS, Value, open,
    survey,
};
use latlab_model::Nanos;
use latlab_model::units::counted;
use latlab_report::Glyphs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Width of a channel's picture, in characters.
const PARTS: usize = 64;

pub fn list_channels(args: &RespondArgs) -> anyhow::Result<ExitCode> {
    let (mut all, mut failed) = (Vec::new(), None);
    for paths in args.captures() {
        match read_listing(args, &paths) {
            Ok(one) => all.push(one),
            Err(error) if failed.is_none() => failed = Some(error),
            Err(error) => warn(error),
        }
    }
    match args.runs.common.format {
        Format::Json => print_json(&all)?,
        Format::Text => print_text(&all.iter().map(text).collect::<Vec<_>>().join("\n"))?,
    }
    if let Some(error) = failed {
        return Err(ExitError::usage(error.to_string()).into());
    }
    Ok(ExitCode::SUCCESS)
}

fn read_listing(args: &RespondArgs, paths: &[PathBuf]) -> Result<CaptureListing, Error> {
    match survey(paths)? {
        Some(survey) => {
            let survey = survey.read_edges(paths, (args.threshold, args.hysteresis), PARTS)?;
            Ok(listing_of_capture(paths, survey))
        }
        None => listing_of_list(args, &paths[0]),
    }
}

fn listing_of_capture(paths: &[PathBuf], survey: CaptureSurvey) -> CaptureListing {
    let channels = survey.head.channels.iter().zip(&survey.channels);
    let channel = |(channel, seen): (&latlab_capture::Channel, &ChannelSurvey)| {
        let levels = seen.levels.pair().filter(|_| channel.kind != Kind::Logic);
        let is_noise = channel.kind == Kind::Sampled
            && levels.as_ref().is_some_and(|levels| levels.is_noise.is_some());
        ListedChannel {
            name: channel.name.clone(),
            kind: match channel.kind {
                Kind::Logic => "logic",
                Kind::Sampled if is_noise => "noise",
                Kind::Sampled => "analog",
                Kind::Held => "number",
            },
            low: levels.as_ref().map(|levels| levels.low),
            high: levels.as_ref().map(|levels| levels.high),
            rising: seen.rising,
            falling: seen.falling,
            picture: picture(&seen.picture, glyphs()),
        }
    };
    let missing = &survey.head.missing_chunks;
    let missing = (!missing.is_empty())
        .then(|| format!("Parts of the session are missing: {}.", missing.join(", ")));
    let lost = survey.losses.iter().map(lost_note).collect::<Vec<_>>();
    let noise = survey.head.channels.iter().zip(&survey.channels).filter_map(noise_note);
    let noise: Vec<String> = noise.collect();
    CaptureListing {
        file: names(paths),
        format: survey.head.format,
        channels: channels.map(channel).collect(),
        resolution_ns: survey.head.resolution_ps.map(|it| it as f64 / 1e3),
        duration_ns: survey.span_ps.map(|(first, last)| (last - first) as f64 / 1e3),
        readings: None,
        not_measured: None,
        notes: survey.head.notes.into_iter().chain(missing).chain(lost).chain(noise).collect(),
    }
}

/// Describes what is missing or could not be read.
fn lost_note(loss: &Loss) -> String {
    let (count, first) = (loss.count, loss.first.in_words());
    match (loss.kind, count) {
        (LossKind::Missing, 1) => format!("Incomplete: {first}."),
        (LossKind::Missing, _) => format!("Incomplete in {count} places; the first is {first}."),
        (kind, 1) => format!("1 of the {} was not read: {first}.", kind.items()),
        (kind, _) => format!("{count} {} were not read; the first is {first}.", kind.items()),
    }
}

/// Explains why a channel is noise and has no edges.
fn noise_note((channel, seen): (&latlab_capture::Channel, &ChannelSurvey)) -> Option<String> {
    let levels = seen.levels.pair().filter(|_| channel.kind == Kind::Sampled)?;
    let why = levels.noise_in_words(levels.is_noise?);
    let name = &channel.name;
    Some(format!(
        "{name} shows noise: {why}. If it has a signal, give its --threshold, or as a response its \
         --response-threshold, as a voltage."
    ))
}

fn listing_of_list(args: &RespondArgs, path: &PathBuf) -> Result<CaptureListing, Error> {
    let Capture::List(mut list) = open(path, args.unit)? else {
        return Err(
            latlab_capture::ParseError::whole("the file changed while it was read").in_file(path)
        );
    };
    let (mut readings, mut not_measured) = (0, 0);
    while let Some(reading) = list.next_reading().map_err(|fault| fault.in_file(path))? {
        readings += 1;
        not_measured += u64::from(!matches!(reading.value, Value::Delay(_)));
    }
    Ok(CaptureListing {
        file: names(std::slice::from_ref(path)),
        format: list.format(),
        channels: Vec::new(),
        resolution_ns: list.resolution_ps().map(|it| it as f64 / 1e3),
        duration_ns: None,
        readings: Some(readings),
        not_measured: Some(not_measured),
        notes: list.losses().iter().map(lost_note).collect(),
    })
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" + ")
}

/// One character per part: low, high, or both.
fn picture(parts: &[(bool, bool)], glyphs: Glyphs) -> String {
    let [low, high, both] = match glyphs {
        Glyphs::Unicode => ['▁', '▔', '█'],
        Glyphs::Ascii => ['_', '^', '#'],
    };
    let part = |(is_low, is_high): &(bool, bool)| match (is_low, is_high) {
        (true, true) => both,
        (true, false) => low,
        (false, true) => high,
        (false, false) => ' ',
    };
    parts.iter().map(part).collect()
}

fn text(looked: &CaptureListing) -> String {
    let mut facts = vec![looked.format.to_string()];
    if let Some(readings) = looked.readings {
        facts.push(counted(readings, "reading", "readings"));
        facts.push(format!("{} of them not measured", looked.not_measured.unwrap_or(0)));
    } else {
        facts.push(counted(looked.channels.len() as u64, "channel", "channels"));
    }
    facts.extend(looked.duration_ns.map(|it| format!("over {}", Nanos(it.round() as i64))));
    facts.extend(looked.resolution_ns.map(rate));
    let wide =
        |of: &dyn Fn(&ListedChannel) -> usize| looked.channels.iter().map(of).max().unwrap_or(0);
    let name = wide(&|one| one.name.chars().count()).min(40);
    let edges = wide(&|one| one.rising.max(one.falling).to_string().len());
    let mut text = format!("{}: {}\n", escape_controls(&looked.file), facts.join(", "));
    for one in &looked.channels {
        let levels = one.low.zip(one.high);
        let levels = levels.map(|(low, high)| format!("  {low:.4} to {high:.4}"));
        text += &format!(
            "  {:<name$}  {:<6}  {:>edges$} rising  {:>edges$} falling  {}{}\n",
            escape_controls(&one.name),
            one.kind,
            one.rising,
            one.falling,
            one.picture,
            levels.unwrap_or_default(),
        );
    }
    looked.notes.iter().for_each(|note| text += &format!("  {note}\n"));
    text
}

/// The resolution, and the sample rate if there is one.
fn rate(resolution_ns: f64) -> String {
    let hertz = SECOND_PS as f64 / (resolution_ns * 1e3);
    let rate = match hertz {
        hertz if hertz >= 1e9 => format!("{} GHz", rounded(hertz / 1e9)),
        hertz if hertz >= 1e6 => format!("{} MHz", rounded(hertz / 1e6)),
        hertz if hertz >= 1e3 => format!("{} kHz", rounded(hertz / 1e3)),
        hertz => format!("{} Hz", rounded(hertz)),
    };
    let time = match resolution_ns < 1_000.0 {
        true => format!("{} ns", (resolution_ns * 1e3).round() / 1e3),
        false => Nanos(resolution_ns.round() as i64).to_string(),
    };
    format!("times known to {time} ({rate})")
}

fn rounded(number: f64) -> f64 {
    // Four digits: the sample interval is rounded.
    let digits = 10f64.powi(3 - number.abs().max(1e-9).log10().floor() as i32);
    (number * digits).round() / digits
}
