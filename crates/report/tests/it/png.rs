//! The pictures of runs as PNG.

use crate::common;
use latlab_report::{Options, latency_picture, png, standalone};

/// Width and height, as the head of a PNG has them.
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
        assert_eq!(png(&standalone(&svg), 1.0).unwrap(), made, "{name}: alone it looks the same");
        assert!(made.len() < 300_000 && standalone(&svg).len() < svg.len() + 60_000, "{name}");
    }
}
