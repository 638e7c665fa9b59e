//! Packs what the pages carry: the scripts and styles that `scripts/web.sh` made, and the fonts as TrueType files,
//! which only a PNG needs whole. Where there are no scripts, pages have static pictures only and the live one is a
//! table, and the build says so. Packed they take two fifths of the room.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A link to web/dist; a package carries the files themselves.
    let made = Path::new("dist");
    let web = Path::new("../../web");
    // A folder that is made later is noticed by its parent.
    println!("cargo::rerun-if-changed={}", if web.exists() { web } else { made }.display());
    let folder = PathBuf::from(env::var("OUT_DIR").expect("cargo names a folder"));
    for name in ["page.js", "page.css", "live.js", "live.css"] {
        let text = fs::read(made.join(name)).unwrap_or_else(|_| {
            println!(
                "cargo::warning=no web/dist/{name}: pages will have static pictures only, and the live \
                 page no charts (scripts/web.sh makes it with npm)"
            );
            Vec::new()
        });
        // One that is not there stays empty, so that the program sees it.
        let packed = if text.is_empty() { text } else { packed(&text) };
        fs::write(folder.join(name), packed).expect("the folder can be written");
    }
    for name in ["regular.ttf", "bold.ttf"] {
        let path = Path::new("fonts").join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        let font = fs::read(&path).expect("the fonts can be read");
        fs::write(folder.join(name), packed(&font)).expect("the folder can be written");
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).expect("memory can be written");
    packed.finish().expect("memory can be written")
}
