//! `telemetry`: the conditions of a run over time, and what used the CPUs.

use super::TimeOptions;
use super::canvas::{Canvas, TimeArea};
use super::data::TimeData;
use super::findings::FindingMarks;
use super::strips::{cpu_users, strips};
use crate::sentence;
use latlab_model::Run;

const STRIP_HEIGHT: f64 = 84.0;

/// Temperatures, frequencies, load, stolen time, interrupts and the busiest threads as one SVG
/// element.
pub fn telemetry(run: &Run, data: &TimeData, options: &TimeOptions) -> String {
    let mut canvas = Canvas::new(run, data, options, "Conditions");
    let marks = FindingMarks::new(run, &mut canvas);
    let mut strips = strips(run, data);
    strips.all.extend(cpu_users(run, data));
    let mut areas = Vec::new();
    for strip in &strips.all {
        strip.draw(&mut canvas, data, STRIP_HEIGHT);
        areas.push(TimeArea { left: 0.0, right: 0.0, top: canvas.y, bottom: canvas.y });
    }
    if strips.all.is_empty() {
        let area = canvas.area(STRIP_HEIGHT);
        canvas.empty_note(&area, "No conditions were recorded.");
        canvas.frame(&area);
        areas.push(area);
    }
    marks.draw(&mut canvas, &areas);
    canvas.time_axis();
    let notes: Vec<String> = strips.absent.into_iter().chain(marks.unnamed()).collect();
    canvas.sentences(&notes);
    let said = strips.all.iter().filter_map(|strip| Some(format!("{}.", strip.words()?)));
    let words: Vec<String> = said.chain(marks.words(data.start)).chain(notes).collect();
    let title = format!("Conditions over time of {}", sentence::machine_name(run));
    canvas.finish("telemetry", &title, &words.join(" "))
}
