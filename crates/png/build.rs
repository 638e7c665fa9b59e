//! Cuts the font of the pictures out of its crate: the characters that pictures are made of, and
//! no hints, which nobody uses at these sizes. So the program carries a tenth of it.

#[path = "src/subset.rs"]
#[allow(dead_code, missing_docs)]
mod subset;

use std::path::Path;
use std::{env, fs};

/// Latin with its accents, Greek, Cyrillic, and the signs that stand between numbers.
const CHARACTERS: &[(u32, u32)] = &[
    (0x20, 0x7e),
    (0xa0, 0x17f),
    (0x386, 0x3ce),
    (0x400, 0x45f),
    (0x2010, 0x2027),
    (0x2030, 0x203a),
    (0x2070, 0x209c),
    (0x20ac, 0x20ac),
    (0x2190, 0x2195),
    (0x2200, 0x2265),
    (0x25a0, 0x25cf),
    (0xfffd, 0xfffd),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/subset.rs");
    let folder = env::var("OUT_DIR").expect("cargo names a folder");
    let all = || CHARACTERS.iter().flat_map(|&(first, last)| first..=last);
    for (name, font) in [
        ("regular.ttf", dejavu::sans_condensed::regular()),
        ("bold.ttf", dejavu::sans_condensed::bold()),
    ] {
        let font = subset::Font::parse(font).expect("the crate holds a font");
        let cut = font.subset(all().filter_map(char::from_u32));
        fs::write(Path::new(&folder).join(name), cut).expect("the folder can be written");
    }
}
