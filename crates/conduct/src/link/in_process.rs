//! An agent made of threads of this process, for measurements that must start at once.

use super::{Link, Start, StreamOutcome};
use crate::Failure;
use latlab_model::frame::Message;
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::thread::JoinHandle;

/// `A` implements the agent's side of the stream.
pub struct InProcess<A> {
    agent: Option<A>,
    restore: fn() -> Vec<String>,
    thread: Option<JoinHandle<Result<(), String>>>,
    to_agent: Option<PipeWriter>,
}

impl<A> InProcess<A> {
    /// An agent that is not yet started; `restore` undoes what it left changed.
    pub fn new(agent: A, restore: fn() -> Vec<String>) -> InProcess<A> {
        InProcess { agent: Some(agent), restore, thread: None, to_agent: None }
    }
}

impl<A> Link for InProcess<A>
where
    A: FnOnce(PipeReader, PipeWriter) -> Result<(), String> + Send + 'static,
{
    fn start(&mut self, start: &Start<'_>) -> Result<Box<dyn Read + Send>, Failure> {
        let (input, mut to_agent) = pipe()?;
        let (stream, output) = pipe()?;
        if let Some(agent) = self.agent.take() {
            self.thread = Some(std::thread::Builder::new().spawn(move || agent(input, output))?);
        }
        // If the agent has ended already, its thread tells why.
        let _ = to_agent.write_all(start.greeting);
        self.to_agent = Some(to_agent);
        Ok(Box::new(stream))
    }

    fn stop(&mut self) {
        if let Some(mut to_agent) = self.to_agent.take() {
            let _ = to_agent.write_all(&Message::Stop.encode());
        }
    }

    /// A thread cannot be killed; it stops by itself when its input closes.
    fn kill(&mut self) {
        self.to_agent = None;
    }

    fn wait(&mut self, _: &StreamOutcome) -> Result<Vec<Message>, Failure> {
        let ended = self.thread.take().map(JoinHandle::join);
        let died = |_| io::Error::other("the agent ended because of a bug: please report it");
        ended.transpose().map_err(died)?.transpose().map_err(io::Error::other)?;
        Ok(Vec::new())
    }

    fn restore(&mut self) -> Vec<String> {
        (self.restore)()
    }
}
