//! Puts the agents for other machines into the program, where `LATLAB_AGENTS` names their folder.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The machines of `make dist`, by the word that `uname -m` says there.
const MACHINES: [&str; 3] = ["aarch64", "armv7l", "x86_64"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LATLAB_AGENTS");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder"));
    let folder = env::var_os("LATLAB_AGENTS").filter(|folder| !folder.is_empty());
    let entries = folder.map_or(String::new(), |folder| {
        MACHINES.iter().map(|machine| entry(Path::new(&folder), &out, machine)).collect()
    });
    fs::write(out.join("agents.rs"), format!("&[{entries}]")).expect("the folder can be written");
}

/// Copies one agent to where the compiler finds it by a path that is the same everywhere.
fn entry(folder: &Path, out: &Path, machine: &str) -> String {
    let name = format!("latlab-agent-{machine}.xz");
    let from = folder.join(&name);
    println!("cargo::rerun-if-changed={}", from.display());
    if let Err(error) = fs::copy(&from, out.join(&name)) {
        println!("cargo::error=LATLAB_AGENTS: {}: {error}", from.display());
    }
    format!("(\"{machine}\", include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\"))),")
}
