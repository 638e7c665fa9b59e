//! A scripted agent: a thread that sends frames, waits, and obeys or does not.

use latlab_conduct::Failure;
use latlab_conduct::link::{Link, Start, StreamOutcome};
use latlab_digest::testing::{SyntheticRun, thread_end};
use latlab_model::Plan;
use latlab_model::frame::{FrameReader, Message, ReadResult, Refusal};
use latlab_model::run::{AgentEnd, EndReason};
use std::io::{Read, Write, pipe};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

#[derive(Clone)]
pub enum Step {
    Send(Box<Message>),
    /// Sends bytes that need not be a frame.
    SendBytes(Vec<u8>),
    /// Continues only after a request to stop.
    AwaitStop,
    /// Does nothing until it is killed.
    Hang,
    /// Closes its stream, and does nothing until it is killed.
    CloseAndHang,
}

/// Requests to the agent, in order.
#[derive(Clone, PartialEq, Debug)]
pub enum Call {
    /// Started with this message after the greeting.
    Start(Box<Message>),
    Stop,
    Kill,
    Wait,
    /// Its changes were undone.
    Restore,
}

/// The requests that an agent got, for the test.
#[derive(Clone, Default)]
pub struct Calls(Arc<Mutex<Vec<Call>>>);

impl Calls {
    fn add(&self, call: Call) {
        self.0.lock().unwrap().push(call);
    }

    /// The calls after the first, without repetitions.
    pub fn after_start(&self) -> Vec<Call> {
        let mut calls = self.0.lock().unwrap().clone();
        calls.dedup();
        calls.into_iter().skip(1).collect()
    }

    /// The message that the agent was started with.
    pub fn order(&self) -> Message {
        match self.0.lock().unwrap().first() {
            Some(Call::Start(order)) => *order.clone(),
            other => panic!("not started: {other:?}"),
        }
    }
}

pub struct ScriptedAgent {
    script: Vec<Step>,
    calls: Calls,
    control: Option<Sender<Call>>,
    thread: Option<JoinHandle<()>>,
    /// Messages to append to its stream.
    pub last_messages: Vec<Message>,
}

impl ScriptedAgent {
    /// An agent with this script, and the calls that it will get.
    pub fn new(script: Vec<Step>) -> (ScriptedAgent, Calls) {
        let calls = Calls::default();
        let (last_messages, recorded) = (Vec::new(), calls.clone());
        (ScriptedAgent { script, calls, control: None, thread: None, last_messages }, recorded)
    }
}

impl Link for ScriptedAgent {
    fn start(&mut self, start: &Start<'_>) -> Result<Box<dyn Read + Send>, Failure> {
        let mut frames = FrameReader::new(start.greeting);
        let mut next = || match frames.next_frame().unwrap() {
            ReadResult::Frame(frame) => frame.message,
            other => panic!("no frame: {other:?}"),
        };
        let Message::Hello(hello) = next() else { panic!("no greeting") };
        assert_eq!(hello.id, start.id);
        self.calls.add(Call::Start(Box::new(next())));
        let (stream, mut output) = pipe()?;
        let (control, orders) = channel();
        self.control = Some(control);
        let script = std::mem::take(&mut self.script);
        self.thread = Some(std::thread::spawn(move || {
            if follow(script, &mut output, &orders) {
                drop(output);
                hang(&orders);
            }
        }));
        Ok(Box::new(stream))
    }

    fn stop(&mut self) {
        self.calls.add(Call::Stop);
        self.send(Call::Stop);
    }

    fn kill(&mut self) {
        self.calls.add(Call::Kill);
        self.send(Call::Kill);
    }

    fn has_ended(&mut self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn wait(&mut self, _: &StreamOutcome) -> Result<Vec<Message>, Failure> {
        self.calls.add(Call::Wait);
        self.thread.take().unwrap().join().unwrap();
        Ok(std::mem::take(&mut self.last_messages))
    }

    fn restore(&mut self) -> Vec<String> {
        self.calls.add(Call::Restore);
        vec!["restored".to_string()]
    }
}

impl ScriptedAgent {
    fn send(&self, call: Call) {
        // An agent that has ended receives nothing.
        let _ = self.control.as_ref().unwrap().send(call);
    }
}

fn hang(orders: &Receiver<Call>) {
    while orders.recv().is_ok_and(|call| call != Call::Kill) {}
}

/// Follows the script; returns whether to close the stream then, and hang.
fn follow(script: Vec<Step>, output: &mut impl Write, orders: &Receiver<Call>) -> bool {
    let mut stopped = false;
    for step in script {
        // The stream of a killed agent has no reader.
        let _ = match step {
            Step::Send(message) => output.write_all(&message.encode()),
            Step::SendBytes(bytes) => output.write_all(&bytes),
            Step::AwaitStop => {
                while !stopped {
                    match orders.recv() {
                        Ok(Call::Stop) => stopped = true,
                        _ => return false,
                    }
                }
                Ok(())
            }
            Step::Hang => {
                hang(orders);
                return false;
            }
            Step::CloseAndHang => return true,
        };
    }
    false
}

/// One thread and three seconds.
pub fn three_seconds() -> SyntheticRun {
    SyntheticRun { threads: 1, seconds: 3, ..SyntheticRun::default() }
}

/// All messages of an agent that measures by this plan.
pub fn messages(plan: &Plan) -> Vec<Message> {
    let messages = three_seconds().messages().into_iter();
    let echo = |message| match message {
        Message::Plan(_) => Message::Plan(plan.clone()),
        other => other,
    };
    messages.map(echo).collect()
}

/// The messages up to the interval with this number, from 1.
pub fn messages_with_intervals(plan: &Plan, intervals: usize) -> Vec<Message> {
    let mut counted = 0;
    let mut head = messages(plan);
    head.retain(|message| {
        counted += usize::from(matches!(message, Message::Interval(_)));
        counted <= intervals && !matches!(message, Message::ThreadEnd(_) | Message::End(_))
    });
    head
}

/// The cycles counted by the intervals of these messages.
pub fn cycles(messages: &[Message]) -> u64 {
    let counted = messages.iter().map(|message| match message {
        Message::Interval(interval) => interval.counts.count,
        _ => 0,
    });
    counted.sum()
}

/// Last messages of an agent that was asked to stop after `cycles` cycles.
pub fn stopped_end(cycles: u64) -> Vec<Message> {
    let reason = EndReason::Interrupted;
    let end = messages(&Plan::default()).into_iter().find_map(|message| match message {
        Message::End(end) => Some(AgentEnd { reason, ..end }),
        _ => None,
    });
    let thread_end = latlab_model::run::ThreadEnd { reason, ..thread_end(0, cycles, 0) };
    vec![Message::ThreadEnd(thread_end), Message::End(end.unwrap())]
}

/// A refusal of this run only.
pub fn refusal(text: &str) -> Message {
    let text = text.to_string();
    Message::Refusal(Refusal { plan_is_wrong: false, of_every_run: false, text })
}

/// Steps that send these messages.
pub fn send(messages: impl IntoIterator<Item = Message>) -> Vec<Step> {
    messages.into_iter().map(|message| Step::Send(Box::new(message))).collect()
}
