//! The doctor's commands are run as printed, often as root: no data of the examined machine may
//! become part of one.

use latlab_doctor::examine;
use latlab_model::Snapshot;
use latlab_model::snapshot::Content;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Content of an untrusted machine.
const TRAP: &str = "x; trap; $(trap)'; trap; '{value}{file}";

/// Machines with many findings.
const MACHINES: [&str; 2] = ["pc-server-numa", "raspberry-pi-3"];

/// What a shell would execute of a line: all that is not within single quotes.
fn outside_of_quotes(line: &str) -> String {
    line.replace(r"'\''", "").split('\'').step_by(2).collect()
}

fn machine(name: &str) -> Snapshot {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/roots");
    Snapshot::from_json(&fs::read(folder.join(format!("{name}.json"))).unwrap()).unwrap()
}

#[test]
fn no_value_of_a_machine_becomes_a_command() {
    let commands: usize = std::thread::scope(|scope| {
        let looks = MACHINES.map(|name| scope.spawn(move || look(&machine(name))));
        looks.into_iter().map(|look| look.join().unwrap()).sum()
    });
    assert!(commands > 1000);
}

/// The files of a machine; of files whose names differ only in digits, such as those of each CPU,
/// the first and the last.
fn different_files(machine: &Snapshot) -> BTreeSet<&String> {
    let mut ends: BTreeMap<String, (&String, &String)> = BTreeMap::new();
    for file in machine.files.keys() {
        let shape = file.replace(|one: char| one.is_ascii_digit(), "#");
        ends.entry(shape).or_insert((file, file)).1 = file;
    }
    ends.into_values().flat_map(|(first, last)| [first, last]).collect()
}

/// Puts the trap into the files of a machine, one at a time; returns the number of commands
/// checked.
fn look(machine: &Snapshot) -> usize {
    let mut commands = 0;
    for file in different_files(machine) {
        let mut trapped = machine.clone();
        for beside in [true, false] {
            let Some(Content::Text(text)) = trapped.files.get_mut(file) else { continue };
            // Appended to the original text, checks find their condition all the same.
            *text = if beside { format!("{text}{TRAP}") } else { TRAP.to_string() };
            commands += check(&trapped);
        }
    }
    let names =
        (0..12).flat_map(|at| [true, false].map(|beside| with_trapped_names(machine, at, beside)));
    commands + names.map(|trapped| check(&trapped)).sum::<usize>()
}

/// The machine with the trap in this part of all paths, in addition to the original files or in
/// their place.
fn with_trapped_names(machine: &Snapshot, at: usize, beside: bool) -> Snapshot {
    let mut trapped = if beside { machine.clone() } else { Snapshot::default() };
    for (file, content) in &machine.files {
        let mut parts: Vec<String> = file.split('/').map(str::to_string).collect();
        if let Some(part) = parts.get_mut(at) {
            *part += TRAP;
        }
        trapped.files.insert(parts.join("/"), content.clone());
    }
    trapped
}

fn check(machine: &Snapshot) -> usize {
    let found = examine(machine);
    let commands = found.iter().flat_map(|one| [&one.remedy, &one.undo]).flatten();
    let lines = commands.inspect(|line| {
        let run = outside_of_quotes(line.as_str());
        assert!(!run.contains("trap") && !run.contains("$("), "{line}");
    });
    lines.count()
}
