//! Explained spikes as a trace for Perfetto: each from its release to its wake-up, containing the
//! parts of the wake-up, and within these what had the CPU.

use crate::write::Result;
use crate::write::perfetto::{Slice, ThreadTracks, Trace, number_note, text_note, time_note};
use crate::write::protobuf::ProtoMessage;
use latlab_model::Run;
use latlab_model::explanation::{BlamePart, SpikeBlame};
use latlab_report::cause_words;
use latlab_report::{part_detail, spike_sentence, thread_priority};
use std::io::Write;

pub fn write_explained(
    run: &Run,
    spikes: &[SpikeBlame],
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let mut spikes: Vec<&SpikeBlame> = spikes.iter().collect();
    spikes.sort_by_key(|spike| (spike.thread, spike.release_ns));
    let mut trace = Trace::begin(run, out)?;
    let mut tracks = ThreadTracks::default();
    for spike in spikes {
        let (release, woken) = (spike.release_ns, spike.release_ns + spike.latency_ns);
        let track = tracks.take(&mut trace, run, spike.thread, (release, woken), "spikes")?;
        let notes = [
            number_note("spike", spike.spike.into()),
            time_note("latency_ns", spike.latency_ns),
            text_note("sentence", &spike_sentence(spike)),
        ];
        let name = spike.cause.as_ref().map_or("not explained".to_string(), cause_words);
        let name = format!("{}: {name}", spike.latency_ns);
        trace.begin_slice(
            track,
            release,
            &Slice { category: "spike", name: &name, notes: &notes },
        )?;
        for parts in spike.parts.chunk_by(|one, next| one.phase == next.phase) {
            let (Some(first), Some(last)) = (parts.first(), parts.last()) else { continue };
            let part = Slice { category: "part", name: first.phase.as_str(), notes: &[] };
            trace.begin_slice(track, release + first.from_ns, &part)?;
            for part in parts {
                let notes = notes_of(part);
                let name = cause_words(&part.cause);
                let slice =
                    Slice { category: part.cause.kind.as_str(), name: &name, notes: &notes };
                trace.begin_slice(track, release + part.from_ns, &slice)?;
                trace.end_slice(track, release + part.to_ns)?;
            }
            trace.end_slice(track, release + last.to_ns)?;
        }
        trace.end_slice(track, woken)?;
    }
    Ok(())
}

fn notes_of(part: &BlamePart) -> Vec<ProtoMessage> {
    let mut notes = vec![time_note("length_ns", part.length())];
    if let Some(thread) = &part.thread {
        notes.push(number_note("thread", thread.id.into()));
        notes.extend(thread_priority(thread).map(|words| text_note("priority", &words)));
        let known = thread.known.as_ref();
        notes.extend(known.map(|known| text_note("process", &known.name)));
        let cgroup = known.and_then(|known| known.cgroup.as_ref());
        notes.extend(cgroup.map(|path| text_note("cgroup", path)));
    }
    notes.extend(part_detail(part).map(|detail| text_note("detail", &detail)));
    notes
}
