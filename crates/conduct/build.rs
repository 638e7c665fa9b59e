//! Embeds the agents for other machines if `LATLAB_AGENTS` names their folder.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Architectures with an agent, as in `uname -m`.
const MACHINES: [&str; 3] = ["aarch64", "armv7l", "x86_64"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LATLAB_AGENTS");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder"));
    let folder = env::var_os("LATLAB_AGENTS").filter(|folder| !folder.is_empty());
    let entries = folder.map_or(String::new(), |folder| {
        println!("cargo::rerun-if-changed={}", Path::new(&folder).display());
        let is_there = |machine: &&&str| Path::new(&folder).join(name(machine)).exists();
        let machines = MACHINES.iter().filter(is_there);
        machines.map(|machine| entry(Path::new(&folder), &out, machine)).collect()
    });
    fs::write(out.join("agents.rs"), format!("&[{entries}]")).expect("the folder can be written");
}

fn name(machine: &str) -> String {
    format!("latlab-agent-{machine}.xz")
}

/// Copies an agent into OUT_DIR, where the compiler finds it by the same path on every machine.
fn entry(folder: &Path, out: &Path, machine: &str) -> String {
    let name = name(machine);
    let from = folder.join(&name);
    println!("cargo::rerun-if-changed={}", from.display());
    if let Err(error) = fs::copy(&from, out.join(&name)) {
        println!("cargo::error=LATLAB_AGENTS: {}: {error}", from.display());
    }
    format!("(\"{machine}\", include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\"))),")
}
