//! Packs the shell completions: they are long and rarely used, and packing shrinks them to a sixth.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let made = Path::new("completions");
    let folder = env::var("OUT_DIR").expect("cargo names a folder");
    for name in ["latlab.bash", "_latlab", "latlab.fish"] {
        let file = made.join(name);
        // List each file: cargo does not notice changes in a folder behind a symlink.
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read(file).expect("the completions can be read");
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&text).expect("memory can be written");
        let packed = packed.finish().expect("memory can be written");
        fs::write(Path::new(&folder).join(name), packed).expect("the folder can be written");
    }
}
