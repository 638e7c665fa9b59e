//! Writes an SVG as PNG and alone: `cargo run -p latlab-png --example png FILE.svg NAME`.

use std::fs;

fn main() {
    let mut words = std::env::args().skip(1);
    let (file, name) = (words.next().expect("a file"), words.next().expect("a name"));
    let svg = fs::read_to_string(file).expect("a picture");
    fs::write(format!("{name}.svg"), latlab_png::alone(&svg)).expect("a folder");
    fs::write(format!("{name}.png"), latlab_png::png(&svg, 2.0).expect("a PNG")).expect("a folder");
}
