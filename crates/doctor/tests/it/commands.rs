//! A command that the doctor names is run as it stands, often as root: nothing of the machine that
//! was examined may become a part of it.

use latlab_doctor::examine;
use latlab_model::Snapshot;
use latlab_model::snapshot::Content;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What a machine that nobody trusts may hold.
const TRAP: &str = "x; trap; $(trap)'; trap; '";

/// Machines with much that is not as it should be.
const MACHINES: [&str; 2] = ["pc-server-numa", "raspberry-pi-3"];

/// What a shell would run of a line: all that is not within single quotes.
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

/// Files of a machine, of those whose names differ in their numbers alone (each CPU has some) the first and the last.
fn different_files(machine: &Snapshot) -> impl Iterator<Item = &String> {
    let shape = |file: &str| {
        file.split(|one: char| one.is_ascii_digit())
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("#")
    };
    let mut alike: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    machine.files.keys().for_each(|file| alike.entry(shape(file)).or_default().push(file));
    alike.into_values().flat_map(|mut files| {
        files.drain(1..files.len().max(2) - 1);
        files
    })
}

/// Sets the trap in the files of a machine, in one at a time; gives back how many commands were looked at.
fn look(machine: &Snapshot) -> usize {
    let mut commands = 0;
    for file in different_files(machine) {
        let mut trapped = machine.clone();
        for beside in [true, false] {
            let Some(Content::Text(text)) = trapped.files.get_mut(file) else { continue };
            // Beside what the checks look for they find it all the same.
            *text = if beside { format!("{text}{TRAP}") } else { TRAP.to_string() };
            commands += check(&trapped);
        }
    }
    commands
}

fn check(machine: &Snapshot) -> usize {
    let found = examine(machine);
    let commands = found.iter().flat_map(|one| [&one.remedy, &one.undo]).flatten();
    let lines = commands.inspect(|line| {
        let run = outside_of_quotes(line);
        assert!(!run.contains("trap") && !run.contains("$("), "{line}");
    });
    lines.count()
}
