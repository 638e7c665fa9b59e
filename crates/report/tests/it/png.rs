//! The charts of runs as PNG.

use crate::common;
use latlab_report::{Kind, Options, RunWithBins, latency_picture, plot, png, standalone};
use std::{fs, path::Path};

/// Width and height from the PNG header.
fn size(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

fn number(svg: &str, name: &str) -> f32 {
    let rest = svg.split(&format!(" {name}=\"")).nth(1).unwrap();
    rest.split('"').next().unwrap().parse().unwrap()
}

#[test]
fn every_picture_becomes_a_png_of_its_size_and_always_the_same() {
    for (name, fixture) in common::all().into_iter().chain(common::odd()) {
        let svg = latency_picture(&fixture.run, &fixture.bins(), &Options::default());
        let expected = (number(&svg, "width").ceil(), number(&svg, "height").ceil());
        let made = png(&svg, 1.0).unwrap();
        let (width, height) = size(&made);
        assert_eq!((width as f32, height as f32), expected, "{name}");
        let small = [svg.clone(), standalone(&svg)].map(|svg| png(&svg, SMALL).unwrap());
        assert_eq!(small[0], small[1], "{name}: alone it looks the same");
        assert!(made.len() < 300_000 && standalone(&svg).len() < svg.len() + 60_000, "{name}");
    }
}

/// What is rejected does not depend on the size, and small pictures render faster.
const SMALL: f32 = 0.1;

/// A PNG rejects unknown elements, so that nothing of a picture is left out.
#[test]
fn all_elements_of_every_kind_of_picture_are_known() {
    for (name, fixture) in common::all().into_iter().chain(common::odd()) {
        let bins = fixture.bins();
        let run = RunWithBins { run: &fixture.run, bins: &bins };
        for kind in Kind::ALL {
            let svg = plot(&[run, run], *kind, &Options::default());
            png(&svg, SMALL).unwrap_or_else(|error| panic!("{name} {}: {error}", kind.as_str()));
        }
    }
    // Includes charts over time.
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images");
    let pictures = fs::read_dir(guide).unwrap().map(|entry| entry.unwrap().path());
    let pictures = pictures.filter(|path| path.extension().is_some_and(|end| end == "svg"));
    let drawn = pictures.map(|path| png(&fs::read_to_string(&path).unwrap(), SMALL).unwrap());
    assert!(drawn.count() >= 8);
}
