//! Format of the tracer's events in the pages.

use crate::timerlat::activations::TimerlatEvent;
use crate::trace::page_layout;
use latlab_sys::tracefs::Tracefs;
use latlab_trace::{Event, Field, Format, Layout as PageLayout};

const FORMAT: &str = "events/ftrace/timerlat/format";

pub struct Fields {
    pub layout: PageLayout,
    id: u16,
    sequence: Field,
    context: Field,
    latency: Field,
}

impl Fields {
    /// Reads the format from the kernel.
    pub fn read(tracefs: &Tracefs) -> Result<Fields, String> {
        let unknown = |file: &str| {
            format!(
                "{} has an unknown format: a newer latlab may support it",
                tracefs.path_of(file)
            )
        };
        let format = tracefs.read(FORMAT).ok().and_then(|text| Format::parse(&text).ok());
        let format = format.ok_or_else(|| unknown(FORMAT))?;
        let field = |name| format.field(name).ok_or_else(|| unknown(FORMAT));
        Ok(Fields {
            layout: page_layout(tracefs)?,
            id: format.id,
            sequence: field("seqnum")?,
            context: field("context")?,
            latency: field("timer_latency")?,
        })
    }

    /// Decodes an event if it is the tracer's.
    pub fn decode(&self, event: &Event) -> Option<TimerlatEvent> {
        let read = |field: Field| field.read(event.data);
        let own = event.id == self.id;
        own.then(|| {
            Some(TimerlatEvent {
                at: event.at as i64,
                sequence: read(self.sequence)?,
                context: read(self.context)?,
                latency: read(self.latency)?,
            })
        })?
    }
}
