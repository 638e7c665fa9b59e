//! Which channels were named, and what there is to be named.

use crate::asked::Asked;
use crate::fault::Fault;
use crate::point::Head;

/// The numbers of the channels that were named.
pub struct Chosen {
    pub stimulus: usize,
    pub response: usize,
    pub marker: Option<usize>,
}

impl Chosen {
    pub fn of(head: &Head, asked: &Asked) -> Result<Chosen, Fault> {
        let find = |flag: &str, name: &Option<String>| match name {
            Some(name) => found(head, flag, name),
            None => Err(Fault::whole(format!(
                "name the channels with --stimulus and --response: the capture has {}",
                names(head)
            ))),
        };
        let stimulus = find("--stimulus", &asked.stimulus)?;
        let response = find("--response", &asked.response)?;
        let marker = asked.marker.as_ref().map(|name| found(head, "--marker", name)).transpose()?;
        match stimulus == response {
            true => Err(Fault::whole("--stimulus and --response name the same channel")),
            false => Ok(Chosen { stimulus, response, marker }),
        }
    }
}

/// A channel by its name, or by its last part where only one has that.
fn found(head: &Head, flag: &str, name: &str) -> Result<usize, Fault> {
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
        [] => Err(Fault::whole(format!(
            "{flag} {name}: no such channel, the capture has {}",
            names(head)
        ))),
        _ => Err(Fault::whole(format!(
            "{flag} {name}: several channels end so, give the whole name: {}",
            named(ending.iter().map(|index| head.channels[*index].name.as_str()))
        ))),
    }
}

fn names(head: &Head) -> String {
    named(head.channels.iter().map(|channel| channel.name.as_str()))
}

fn named<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.collect();
    let more = all.len().saturating_sub(24);
    let shown = all[..all.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
