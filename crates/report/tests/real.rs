//! Draws the pictures over time of a run that was really measured, to be looked at:
//! `RUN=runs/x OUT=/tmp cargo test -p latlab-report --test real -- --ignored --nocapture`.

use latlab_model::{Nanos, Run};
use latlab_report::time::{TimeData, TimeOptions, flow, heatmap, telemetry};
use latlab_store::tables::coarse_edges;
use latlab_store::testing::Synthetic;
use latlab_store::{Finished, SampleReader, Store, intervals, load, spikes};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Everything that the tables of a run tell over time.
fn read(folder: &Path, run: &Run) -> TimeData {
    let mut data = TimeData::new(run, coarse_edges(), None);
    for rows in intervals(folder, run).unwrap() {
        for row in rows.unwrap() {
            data.interval(row.thread, &row.span(), &row.coarse);
        }
    }
    spikes(folder, run).unwrap().iter().for_each(|row| data.spike(row.spike));
    for rows in latlab_store::telemetry(folder, run).unwrap().into_iter().flatten() {
        for row in rows.unwrap() {
            data.telemetry(&row.series, row.time_ns, row.value);
        }
    }
    data
}

/// The second around the largest latency, cycle by cycle.
fn window(folder: &Path, run: &Run) -> Option<TimeData> {
    let middle = run.total.max_at_ns?;
    let window = middle - Nanos(500_000_000)..middle + Nanos(500_000_000);
    let samples = SampleReader::open(folder).ok()?;
    let mut data = TimeData::new(run, coarse_edges(), Some(window.clone()));
    for rows in intervals(folder, run).unwrap() {
        for row in rows.unwrap() {
            data.interval(row.thread, &row.span(), &row.coarse);
        }
    }
    for piece in samples.stretch(window) {
        let piece = piece.unwrap();
        piece.samples.iter().for_each(|sample| data.sample(piece.thread, *sample));
    }
    for rows in latlab_store::telemetry(folder, run).unwrap().into_iter().flatten() {
        for row in rows.unwrap() {
            data.telemetry(&row.series, row.time_ns, row.value);
        }
    }
    Some(data)
}

#[test]
#[ignore = "needs a run that was measured"]
fn pictures_of_a_run_that_was_measured() {
    let folder = PathBuf::from(std::env::var("RUN").unwrap());
    let out = PathBuf::from(std::env::var("OUT").unwrap());
    let begun = Instant::now();
    let run = load(&folder).unwrap();
    let data = read(&folder, &run);
    println!("read in {:?}", begun.elapsed());
    for width in [960, 400] {
        let options = TimeOptions { width, ..TimeOptions::default() };
        for (kind, draw) in [
            ("flow", flow as fn(&Run, &TimeData, &TimeOptions) -> String),
            ("heatmap", heatmap),
            ("telemetry", telemetry),
        ] {
            let begun = Instant::now();
            let picture = draw(&run, &data, &options);
            println!("{kind} at {width}: {} bytes in {:?}", picture.len(), begun.elapsed());
            fs::write(out.join(format!("{kind}-{width}.svg")), picture).unwrap();
        }
        if let Some(data) = window(&folder, &run) {
            fs::write(out.join(format!("window-{width}.svg")), flow(&run, &data, &options))
                .unwrap();
        }
    }
}

/// Prints how long six hours of four threads take; a day takes four times as long.
#[test]
#[ignore = "takes a minute"]
fn how_long_a_long_run_takes() {
    let folder = std::env::temp_dir().join(format!("latlab-long-{}", std::process::id()));
    let long =
        Synthetic { threads: 4, seconds: 21_600, warmer: Some(9_000), ..Synthetic::default() };
    let mut open = Store::new(&folder).begin("long").unwrap();
    long.messages().iter().for_each(|message| open.append(&message.encode()).unwrap());
    let Finished { run, path } = open.finish().unwrap();
    let begun = Instant::now();
    let data = read(&path, &run);
    println!("86 400 intervals read in {:?}", begun.elapsed());
    let begun = Instant::now();
    let options = TimeOptions::default();
    let bytes = [flow, heatmap, telemetry].map(|draw| draw(&run, &data, &options).len());
    println!("three pictures of {bytes:?} bytes in {:?}", begun.elapsed());
    fs::remove_dir_all(folder).unwrap();
}
