//! A run whose agent is threads of this very process, for those who must start at once.

use crate::keep::{Disk, SYNC_EVERY, go_to};
use crate::{Failure, greet};
use latlab_model::Plan;
use latlab_model::frame::{Frame, FrameReader, Message, Next};
use latlab_store::{Finished, OpenRun, Store};
use std::io::{self, BufReader, PipeReader, PipeWriter, pipe};
use std::time::Instant;

/// What is to be conducted.
pub struct Order<'a, A> {
    /// The plan.
    pub plan: &'a Plan,
    /// What speaks the agent's side of the stream, in a thread of its own.
    pub agent: A,
    /// Where the run is kept and under which id; none to keep nothing.
    pub store: Option<(&'a Store, &'a str)>,
}

/// What became of a run.
pub struct Done {
    /// Its folder; none where none was asked for or could be made.
    pub finished: Option<Finished>,
    /// What went wrong on the way to the disk, each once; the measuring went on.
    pub said: Vec<String>,
}

/// Runs a plan in this process, stores what is said, and shows each frame to `take` once it is in
/// the journal; `take` runs in the thread that reads the stream, and holds it up.
///
/// A disk that does not take the run is no reason not to measure.
pub fn run<A>(order: Order<'_, A>, mut take: impl FnMut(&Message)) -> Result<Done, Failure>
where
    A: FnOnce(PipeReader, PipeWriter) -> Result<(), String> + Send + 'static,
{
    let Order { plan, agent, store, .. } = order;
    let (input, mut to_agent) = pipe()?;
    let (stream, output) = pipe()?;
    let id = store.map_or("not-stored", |(_, id)| id);
    // Started before anything is written to the disk: whoever measures here is in a hurry.
    let thread = std::thread::Builder::new().spawn(move || agent(input, output))?;
    greet(&mut to_agent, id, &Message::Plan(plan.clone()))?;
    let mut said = Vec::new();
    let mut open = store.and_then(|(store, id)| {
        let opened = store.begin(id);
        opened.inspect_err(|error| said.push(format!("the run is not stored: {error}"))).ok()
    });
    let (refusal, counted) = keep(stream, &mut open, &mut said, &mut take);
    let ended = thread.join().map_err(|_| io::Error::other("the agent has died"))?;
    ended.map_err(io::Error::other)?;
    let finished = match Failure::of(refusal, counted) {
        Some(failure) => {
            // What cannot be removed now is no worse than a kill: the next opening removes it.
            open.map(OpenRun::discard).transpose().ok();
            return Err(failure);
        }
        None => open.and_then(|open| {
            let finished = open.finish();
            finished.inspect_err(|error| said.push(format!("the run is not stored: {error}"))).ok()
        }),
    };
    Ok(Done { finished, said })
}

/// Reads the stream to its end; gives back why nothing could be measured, and whether anything was.
fn keep(
    stream: PipeReader,
    open: &mut Option<OpenRun>,
    said: &mut Vec<String>,
    take: &mut impl FnMut(&Message),
) -> (Option<latlab_model::frame::Refusal>, bool) {
    let mut say = |text: String| {
        if !said.contains(&text) {
            said.push(text);
        }
    };
    let mut reader = FrameReader::new(BufReader::with_capacity(1 << 16, stream));
    let mut disk: Option<Disk> = None;
    let mut looked = Instant::now();
    let (mut refusal, mut counted) = (None, false);
    while let Ok(Next::Frame(frame)) = reader.next_frame() {
        let Frame { message, bytes } = *frame;
        if let Some(open) = open.as_mut() {
            if let Err(error) = open.append(&bytes) {
                say(error.to_string());
            }
            if looked.elapsed() >= SYNC_EVERY {
                looked = Instant::now();
                disk.get_or_insert_with(Disk::start).look_after(open, &mut say);
            }
        }
        match &message {
            Message::Prepared(prepared) => go_to(&prepared.helpers_on),
            Message::Interval(interval) => counted |= interval.counts.count > 0,
            Message::Refusal(why) => refusal = Some(why.clone()),
            _ => {}
        }
        take(&message);
    }
    if let (Some(disk), Some(open)) = (disk, open) {
        disk.end(open, &mut say);
    }
    (refusal, counted)
}
