//! Names of functions and threads in a spike.

use latlab_model::explanation::{BlamePart, CauseEvidence, SpikeBlame};
use latlab_model::flight::{KernelFunction, KnownThread, TraceFormats};

/// Placeholder for a function until its name is known.
pub(crate) fn unnamed_function(address: u64) -> String {
    format!("@{address:x}@")
}

/// Replaces addresses by function names, and adds the processes of the threads.
pub fn complete_names(blame: &mut SpikeBlame, names: &TraceFormats) {
    blame.parts.iter_mut().chain(&mut blame.longest).for_each(|part| complete_part(part, names));
    let of_cause = blame.cause.iter_mut().map(|cause| &mut cause.name);
    let of_started = blame.started.iter_mut().map(|one| &mut one.name);
    of_cause.chain(of_started).for_each(|name| name_function(name, &names.functions));
}

fn complete_part(part: &mut BlamePart, names: &TraceFormats) {
    let known = |id: i32| -> Option<&KnownThread> { names.threads.iter().find(|one| one.id == id) };
    part.thread.iter_mut().for_each(|thread| thread.known = known(thread.id).cloned());
    name_function(&mut part.cause.name, &names.functions);
    match &mut part.evidence {
        Some(CauseEvidence::Called { function: Some(name), .. })
        | Some(CauseEvidence::RanInstead { thread: name }) => name_function(name, &names.functions),
        _ => {}
    }
}

fn name_function(text: &mut String, functions: &[KernelFunction]) {
    let mut parts = text.splitn(3, '@');
    let (Some(before), Some(address), Some(after)) = (parts.next(), parts.next(), parts.next())
    else {
        return;
    };
    let Ok(address) = u64::from_str_radix(address, 16) else { return };
    let known = functions.iter().find(|function| function.address == address);
    let name = known.map_or("an unknown function", |function| function.name.as_str());
    *text = format!("{before}{name}{after}");
}
