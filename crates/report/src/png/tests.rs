//! Rendered pictures: size, text, and rejected input.

use super::{PngError, Weight, png, standalone, text_width};
use proptest::prelude::*;
use tiny_skia::Pixmap;

/// A picture of 300 by 80 with these elements.
fn picture(inside: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 300 80\" width=\"300\" \
         height=\"80\" font-family=\"system-ui,sans-serif\">{inside}</svg>"
    )
}

fn pixels(svg: &str, scale: f32) -> Pixmap {
    Pixmap::decode_png(&png(svg, scale).unwrap()).unwrap()
}

/// First and last column that is not white, if any.
fn inked(pixels: &Pixmap) -> Option<(usize, usize)> {
    let width = pixels.width() as usize;
    let dark = |column: &usize| {
        let column = pixels.pixels()[*column..].iter().step_by(width);
        column.into_iter().any(|pixel| pixel.red() < 200)
    };
    let mut columns = (0..width).filter(dark);
    let first = columns.next()?;
    Some((first, columns.next_back().unwrap_or(first)))
}

#[test]
fn a_picture_has_its_size_and_is_white_where_nothing_is_drawn() {
    for (scale, width, height) in [(1.0, 300, 80), (2.0, 600, 160), (0.251, 76, 21)] {
        let pixels = pixels(&picture(""), scale);
        assert_eq!((pixels.width(), pixels.height()), (width, height));
        assert_eq!(inked(&pixels), None);
        assert!(pixels.pixels().iter().all(|pixel| pixel.alpha() == 255));
    }
}

/// Invariant (pictures): Text is as wide as the layout assumes, and no text crashes the renderer.
#[test]
fn text_is_as_wide_as_it_is_said_to_be() {
    let bold = "<g font-weight=\"600\">";
    for (before, weight) in [("<g>", Weight::Regular), (bold, Weight::Bold)] {
        // The strokes at both ends touch the edges of their characters.
        for text in ["|observed maximum 3.319 ms|", "|AVATAR fi ffl 10⁻⁴|", "|µ≥→Ωж…|"]
        {
            let element = format!("{before}<text x='10' y='40' font-size='13'>{text}</text></g>");
            let (first, last) = inked(&pixels(&picture(&element), 4.0)).unwrap();
            let bars = text_width("|", 13.0, weight);
            let drawn = (last - first) as f64 / 4.0;
            let said = text_width(text, 13.0, weight);
            assert!((said - drawn - bars).abs() < bars / 2.0, "{text}: {said} {drawn}");
            assert!((first as f64 / 4.0) < 10.0 + bars);
        }
    }
    let width = |text| text_width(text, 16.0, Weight::Regular);
    assert!(width("W") > width("i") && width("") == 0.0);
    assert_eq!(width("1111"), width("8888"), "digits stand below each other");
    assert!(width("漢") > 0.0);
}

/// Invariant (pictures): A PNG has the same bytes each time, and takes nothing from the machine.
#[test]
fn colours_and_fonts_come_from_the_picture_and_the_program_only() {
    let text = "<text x='10' y='40' style=\"fill:var(--ll-ink,#1b1f24)\">abc</text>";
    assert!(inked(&pixels(&picture(text), 1.0)).is_some());
    let image = "<image href='/etc/hostname' width='9' height='9'/><use href='x.svg#a'/>";
    let error = png(&picture(image), 1.0).unwrap_err().to_string();
    assert_eq!(error, "cannot read the SVG: unknown attribute href=/etc/hostname");
}

#[test]
fn what_is_not_understood_is_an_error_and_not_left_out() {
    let cases = [
        ("<ellipse/>", "unknown element <ellipse>"),
        ("<rect width='9' height='9' rx='2'/>", "unknown attribute rx=2"),
        ("<g clip-path='url(#a)'/>", "unknown attribute clip-path=url(#a)"),
        ("<path d='M0 0C1 1 2 2 3 3'/>", "unknown path command C"),
        ("<path d='M0 0L1'/>", "unknown path command L"),
        ("<g transform='skewX(3)'/>", "unknown transform skewX(3)"),
        ("<circle r='4' style='filter:none'/>", "unknown style filter:none"),
        ("<circle r='4' fill='red'/>", "unknown colour red"),
        ("<rect width='4' height='4' fill='url(#dots)'/>", "no pattern dots"),
        (
            "<pattern id='a' width='4' height='4'><circle r='4' fill='url(#a)'/></pattern>\
             <circle r='9' fill='url(#a)'/>",
            "pattern a inside a pattern",
        ),
        ("<circle r='4%'/>", "expected a number: 4%"),
    ];
    for (element, expected) in cases {
        let error = png(&picture(element), 1.0).unwrap_err().to_string();
        assert_eq!(error, format!("cannot read the SVG: {expected}"));
    }
}

/// Whether a point of a picture at scale 1 has this colour.
fn is_at(pixels: &Pixmap, (x, y): (u32, u32), colour: (u8, u8, u8)) -> bool {
    let pixel = pixels.pixel(x, y).unwrap();
    (pixel.red(), pixel.green(), pixel.blue()) == colour
}

#[test]
fn shapes_lie_where_they_are_drawn() {
    let (red, white) = ((255, 0, 0), (255, 255, 255));
    let cases = [
        "<rect x='10' y='10' width='20' height='20' fill='#f00'/>",
        "<path d='M10 10H30v20h-20z' fill='#ff0000'/>",
        "<polygon points='10,10 30,10 30,30 10,30' style='fill:#f00'/>",
        "<circle cx='20' cy='20' r='10' fill='#f00'/>",
        "<line x1='10' y1='20' x2='30' y2='20' style='stroke:#f00;stroke-width:20'/>",
        "<g fill='#f00' transform='translate(-20,0)'><path d='M30 10L50 10 50 30 30 30Z'/></g>",
        "<circle r='10' fill='#f00' transform='translate(20 20)'/>",
        "<g transform='rotate(90 20 20)'><rect x='10' y='10' width='20' height='20' fill='#f00'/></g>",
        "<defs><pattern id='p' width='4' height='4' patternUnits='userSpaceOnUse'>\
         <rect width='4' height='4' fill='#f00'/></pattern></defs>\
         <rect x='10' y='10' width='20' height='20' style='fill:url(#p)'/>",
    ];
    for element in cases {
        let pixels = pixels(&picture(element), 1.0);
        for place in [(20, 20), (12, 20), (20, 12), (28, 20), (20, 28)] {
            assert!(is_at(&pixels, place, red), "{element} at {place:?}");
        }
        for place in [(8, 20), (20, 8), (32, 20), (20, 32), (299, 79)] {
            assert!(is_at(&pixels, place, white), "{element} at {place:?}");
        }
    }
    let pixels = pixels(&picture("<rect width='100%' height='100%' fill='#f00'/>"), 1.0);
    assert!(is_at(&pixels, (299, 79), red));
}

#[test]
fn a_picture_alone_looks_the_same_and_carries_its_font() {
    let svg = picture("<g font-weight='600'><text x='9' y='30'>Latency of vm</text></g>");
    let alone = standalone(&svg);
    assert_eq!(png(&svg, 2.0), png(&alone, 2.0));
    assert_eq!(alone.matches("@font-face").count(), 2);
    assert!(alone.contains("font-family=\"'DejaVu Sans Condensed',system-ui"));
    assert!(alone.len() < 60_000, "{}", alone.len());
    assert!(!alone.contains("http") || alone.matches("http").count() == 1);
}

/// Invariant (pictures): A PNG has the same bytes each time, and takes nothing from the machine.
#[test]
fn the_same_picture_gives_the_same_bytes() {
    let svg = picture("<text x='1' y='30'>q</text><circle cx='99' cy='40' r='9' fill='#c84e00'/>");
    assert_eq!(png(&svg, 1.7), png(&svg, 1.7));
    assert_eq!(standalone(&svg), standalone(&svg));
}

#[test]
fn what_is_no_picture_is_an_error_of_one_line() {
    let cut = &picture("<text>a</text>")[..120];
    for svg in ["", "<svg", "no", cut, "<html/>", "<svg xmlns='x'/>", "a\n<b"] {
        let error = png(svg, 1.0).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the SVG: "), "{svg}: {error}");
        assert!(!error.contains('\n'));
    }
}

#[test]
fn more_pixels_than_anybody_can_look_at_are_refused() {
    for scale in [100.0, 83.0, 1e9] {
        let error = png(&picture(""), scale).unwrap_err();
        assert!(matches!(error, PngError::TooLarge { .. }), "{error}");
        assert!(!error.to_string().contains('\n'));
    }
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(png(&picture(""), scale), Err(PngError::Scale(_))));
    }
    assert!(png(&picture(""), 1e-6).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Invariant (pictures): Text is as wide as the layout assumes, and no text crashes the renderer.
    #[test]
    fn no_text_can_crash_it(text in "\\PC{0,60}", at in 0usize..300) {
        let svg = picture(&format!("<text x='1' y='30'>{text}</text>"));
        let cut: String = svg.chars().take(at).collect();
        let _ = (png(&svg, 1.0), png(&cut, 1.0), png(&text, 1.0));
        let _ = (standalone(&svg), standalone(&cut), standalone(&text));
    }
}
