//! Compresses what pages embed: the scripts and styles from `scripts/web.sh`, and the fonts as
//! TrueType files, which only a PNG needs in full. That takes two fifths of the space. Without the
//! scripts, pages have only static charts and the live page is a table; the build prints a warning.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A link to web/dist; a published package contains the files themselves.
    let made = Path::new("dist");
    let web = Path::new("../../web");
    // Watch the parent, to notice a folder that is created later.
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
        // A missing file becomes empty, which the program can detect.
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
