//! Packs the fonts as TrueType files, which only a PNG needs whole.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var("OUT_DIR").expect("cargo names a folder");
    for name in ["regular.ttf", "bold.ttf"] {
        let path = Path::new("fonts").join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        let font = fs::read(&path).expect("the fonts can be read");
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&font).expect("memory can be written");
        let packed = packed.finish().expect("memory can be written");
        fs::write(Path::new(&folder).join(name), packed).expect("the folder can be written");
    }
}
