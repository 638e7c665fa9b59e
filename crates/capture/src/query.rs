//! The query: how edges of a capture become stimuli and responses, and on which channels.

use crate::capture::Head;
use crate::edges::{EdgeKind, Hysteresis, Threshold};
use crate::error::ParseError;
use crate::list::ListUnit;

/// How edges are paired.
#[derive(Clone, PartialEq, Debug)]
pub struct CaptureQuery {
    /// The stimulus channel.
    pub stimulus: Option<String>,
    /// The response channel.
    pub response: Option<String>,
    /// A channel that is high during a possible disturbance.
    pub marker: Option<String>,
    /// Where an edge is.
    pub threshold: Threshold,
    /// Where an edge of the response is, if different.
    pub response_threshold: Option<Threshold>,
    /// How far a level must go beyond it.
    pub hysteresis: Hysteresis,
    /// Which edges are stimuli.
    pub edge: EdgeKind,
    /// Which edges are responses.
    pub response_edge: EdgeKind,
    /// A stimulus needs this long without an edge before it, so that a burst counts as one; `None`
    /// counts each edge.
    pub quiet_ps: Option<i64>,
    /// How long a response may take; `None` for up to the next stimulus.
    pub window_ps: Option<i64>,
    /// The unit of a list of readings, if the list does not name it.
    pub unit: Option<ListUnit>,
}

impl CaptureQuery {
    /// Rising edges of two channels at half of their height.
    pub fn between(stimulus: &str, response: &str) -> CaptureQuery {
        CaptureQuery {
            stimulus: Some(stimulus.to_string()),
            response: Some(response.to_string()),
            marker: None,
            threshold: Threshold::Share(0.5),
            response_threshold: None,
            hysteresis: Hysteresis::Auto,
            edge: EdgeKind::Rising,
            response_edge: EdgeKind::Rising,
            quiet_ps: None,
            window_ps: None,
            unit: None,
        }
    }
}

impl EdgeKind {
    /// The edge that ends what this one begins; `None` for both.
    pub fn opposite(self) -> Option<EdgeKind> {
        match self {
            EdgeKind::Rising => Some(EdgeKind::Falling),
            EdgeKind::Falling => Some(EdgeKind::Rising),
            EdgeKind::Both => None,
        }
    }
}

/// The numbers of the named channels.
pub struct ChannelSelection {
    pub stimulus: usize,
    pub response: usize,
    pub marker: Option<usize>,
}

impl ChannelSelection {
    pub fn resolve(head: &Head, asked: &CaptureQuery) -> Result<ChannelSelection, ParseError> {
        let find = |flag: &str, name: &Option<String>| match name {
            Some(name) => find_channel(head, flag, name),
            None => Err(ParseError::whole(format!(
                "choose the channels with --stimulus and --response; the capture has {}",
                names(head)
            ))),
        };
        let stimulus = find("--stimulus", &asked.stimulus)?;
        let response = find("--response", &asked.response)?;
        let marker =
            asked.marker.as_ref().map(|name| find_channel(head, "--marker", name)).transpose()?;
        // From one edge of a channel to the other is the width of its pulses.
        let is_width = matches!(
            (asked.edge, asked.response_edge),
            (EdgeKind::Rising, EdgeKind::Falling) | (EdgeKind::Falling, EdgeKind::Rising)
        );
        match stimulus == response && !is_width {
            true => Err(ParseError::whole(
                "--stimulus and --response name the same channel: --width gives the width of its \
                 pulses",
            )),
            false => Ok(ChannelSelection { stimulus, response, marker }),
        }
    }
}

impl ChannelSelection {
    /// The selected channels.
    pub fn all(&self) -> [Option<usize>; 3] {
        [Some(self.stimulus), Some(self.response), self.marker]
    }
}

/// Finds a channel by name, or by the last part of a name if that is unique.
fn find_channel(head: &Head, flag: &str, name: &str) -> Result<usize, ParseError> {
    let all = || head.channels.iter().enumerate();
    if let Some((index, _)) = all().find(|(_, channel)| channel.name == name) {
        return Ok(index);
    }
    let end = format!(".{name}");
    let ending: Vec<usize> = all()
        .filter(|(_, channel)| {
            channel.name.ends_with(&end) || channel.name.eq_ignore_ascii_case(name)
        })
        .map(|(index, _)| index)
        .collect();
    match ending[..] {
        [one] => Ok(one),
        [] => Err(ParseError::whole(format!(
            "{flag} {name}: no such channel; the capture has {}",
            names(head)
        ))),
        _ => Err(ParseError::whole(format!(
            "{flag} {name} is ambiguous: {}",
            join_names(ending.iter().map(|index| head.channels[*index].name.as_str()))
        ))),
    }
}

fn names(head: &Head) -> String {
    join_names(head.channels.iter().map(|channel| channel.name.as_str()))
}

fn join_names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.collect();
    let more = all.len().saturating_sub(24);
    let shown = all[..all.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
