//! Takes in the scripts and styles of the pages that `scripts/web.sh` made; where there are none,
//! pages have static pictures only and the live one is a table, and the build says so.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let made = Path::new("../../web/dist");
    // A folder that is made later is noticed by its parent.
    println!("cargo::rerun-if-changed=../../web");
    let folder = env::var("OUT_DIR").expect("cargo names a folder");
    for name in ["page.js", "page.css", "live.js", "live.css"] {
        let text = fs::read_to_string(made.join(name)).unwrap_or_else(|_| {
            println!(
                "cargo::warning=no web/dist/{name}: pages will have static pictures only, and the live \
                 page no charts (scripts/web.sh makes it with npm)"
            );
            String::new()
        });
        fs::write(Path::new(&folder).join(name), text).expect("the folder can be written");
    }
}
