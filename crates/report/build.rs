//! Takes in the scripts and styles of the pages that `scripts/web.sh` made; where there are none,
//! pages have static pictures only and the live one is a table, and the build says so. Packed they take
//! two fifths of the room.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A link to web/dist; a package carries the files themselves.
    let made = Path::new("dist");
    let web = Path::new("../../web");
    // A folder that is made later is noticed by its parent.
    println!("cargo::rerun-if-changed={}", if web.exists() { web } else { made }.display());
    let folder = env::var("OUT_DIR").expect("cargo names a folder");
    for name in ["page.js", "page.css", "live.js", "live.css"] {
        let text = fs::read(made.join(name)).unwrap_or_else(|_| {
            println!(
                "cargo::warning=no web/dist/{name}: pages will have static pictures only, and the live \
                 page no charts (scripts/web.sh makes it with npm)"
            );
            Vec::new()
        });
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&text).expect("memory can be written");
        let packed = packed.finish().expect("memory can be written");
        // One that is not there stays empty, so that the program sees it.
        let packed = if text.is_empty() { text } else { packed };
        fs::write(Path::new(&folder).join(name), packed).expect("the folder can be written");
    }
}
