//! Converts the edges of a guest's pin pair into counts of a thread, and into responses.

use latlab_model::deadline::is_miss;
use latlab_model::edges::{CpuUse, Edge, Edges};
use latlab_model::frame::{Interval, KEPT_SPIKES, Message, Spike, Spikes};
use latlab_model::respond::{ResponseCpu, ResponseFigures, Responses};
use latlab_model::samples::{Sample, Samples};
use latlab_model::{Histogram, Nanos, Plan};

/// Samples per frame.
const OF_A_FRAME: usize = 8192;
/// With fewer responses the resolution of a clock is unknown.
const STEPS: usize = 10;

/// Picoseconds in a nanosecond.
const PER_NANO: f64 = 1_000.0;

pub struct AnsweredEdges {
    /// Intervals, samples and the largest, as an agent would have sent them.
    pub messages: Vec<Message>,
    /// What became of stimuli and responses.
    pub responses: Responses,
    /// Stimuli answered within the window.
    pub answered: u64,
}

/// Counts the edges of a run whose first interval begins here.
pub fn answered_edges(edges: &Edges, plan: &Plan, first_release: Nanos) -> AnsweredEdges {
    let linux = plan.method.respond().and_then(|asked| asked.linux.as_ref());
    let board_pins = linux.is_some_and(|linux| linux.board_pins);
    let window = plan.method.respond().and_then(|asked| asked.window_ns).unwrap_or(Nanos::MAX);
    let delay = |edge: &Edge| edge.answered_ns.map(|at| at - edge.at_ns);
    let in_time: Vec<Sample> = edges
        .edges
        .iter()
        .filter_map(|edge| Some(Sample::new(edge.at_ns, delay(edge)?)))
        .filter(|sample| sample.latency_ns <= window)
        .collect();
    let (stimuli, answered) = (edges.edges.len() as u64, in_time.len() as u64);
    let missing = edges.edges.iter().filter(|edge| edge.answered_ns.is_none()).count() as u64;
    let late = stimuli - missing - answered;
    let (double, spurious) = (edges.double, edges.spurious);
    let responses = Responses {
        format: if board_pins { "GPIO line" } else { "pin pair" }.to_string(),
        stimuli,
        missing,
        late,
        double,
        spurious,
        resolution_ns: resolution(&edges.edges),
        is_timed: true,
        figures: figures(in_time.iter().map(|sample| sample.latency_ps()).collect()),
        cpu: cpu(edges.interrupts, edges.threads),
        ..Responses::default()
    };
    let mut messages = intervals(edges, plan, first_release, window);
    let frames = in_time.chunks(OF_A_FRAME);
    messages
        .extend(frames.map(|frame| Message::Samples(Samples::without_period(edges.thread, frame))));
    messages.push(Message::Spikes(Spikes { thread: edges.thread, spikes: largest(&in_time) }));
    AnsweredEdges { messages, responses, answered }
}

/// The intervals of the plan from the first to the one with the last edge, without a gap.
fn intervals(edges: &Edges, plan: &Plan, first_release: Nanos, window: Nanos) -> Vec<Message> {
    let length = Nanos(plan.keep.interval_ns.0.max(1));
    let deadline = plan.until.deadline_ns.unwrap_or(Nanos::MAX);
    let mut rest = edges.edges.iter().peekable();
    let mut start_ns = first_release;
    let mut messages = Vec::new();
    while rest.peek().is_some() {
        let next = start_ns + length;
        let mut last = start_ns;
        let (mut latencies, mut misses) = (Vec::new(), 0);
        while let Some(edge) = rest.next_if(|edge| edge.at_ns < next) {
            last = edge.at_ns;
            let delay = edge.answered_ns.map(|at| at - edge.at_ns);
            latencies.extend(delay.filter(|delay| *delay <= window));
            let delay = delay.unwrap_or(Nanos::MAX);
            misses += u64::from(plan.until.deadline_ns.is_some() && is_miss(delay.0, deadline.0));
        }
        let counts = Histogram { misses, ..latencies.into_iter().collect() };
        let end_ns = if rest.peek().is_some() { next } else { last + Nanos(1) };
        let thread = edges.thread;
        messages.push(Message::Interval(Interval { thread, start_ns, end_ns, counts }));
        start_ns = next;
    }
    messages
}

fn largest(samples: &[Sample]) -> Vec<Spike> {
    let spike =
        |sample: &Sample| Spike { latency_ns: sample.latency_ns, release_ns: sample.release_ns };
    let mut spikes: Vec<Spike> = samples.iter().map(spike).collect();
    spikes.sort_unstable_by(|a, b| b.cmp(a));
    spikes.truncate(KEPT_SPIKES);
    spikes.sort();
    spikes
}

/// Greatest common divisor of the times that the guest read; those of its timers are finer.
fn resolution(edges: &[Edge]) -> Option<f64> {
    let times: Vec<i64> = edges.iter().filter_map(|edge| Some(edge.answered_ns?.0)).collect();
    let step = times.windows(2).map(|pair| (pair[1] - pair[0]).unsigned_abs()).fold(0, gcd);
    (times.len() >= STEPS && step > 0).then_some(step as f64)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Figures of latencies in picoseconds.
pub fn figures(mut rising: Vec<i64>) -> ResponseFigures {
    rising.sort_unstable();
    let nanos = |picoseconds: f64| picoseconds / PER_NANO;
    let count = rising.len();
    let mean =
        (count > 0).then(|| rising.iter().map(|&one| one as f64).sum::<f64>() / count as f64);
    let deviation = mean.filter(|_| count > 1).map(|mean| {
        let squares: f64 = rising.iter().map(|&one| (one as f64 - mean).powi(2)).sum();
        (squares / (count - 1) as f64).sqrt()
    });
    let of = ResponseFigures {
        min_ns: rising.first().map(|&one| nanos(one as f64)),
        mean_ns: mean.map(nanos),
        deviation_ns: deviation.map(nanos),
        max_ns: rising.last().map(|&one| nanos(one as f64)),
        ..ResponseFigures::default()
    };
    of.with_quantiles(&rising, PER_NANO)
}

fn cpu(interrupts: CpuUse, threads: CpuUse) -> Option<ResponseCpu> {
    let interrupt_ns = interrupts.each_ns();
    interrupt_ns.is_some().then(|| ResponseCpu { interrupt_ns, threads_ns: threads.each_ns() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::plan::Method;
    use latlab_model::plan::{Keep, Until};
    use latlab_model::respond::Respond;

    fn edge(at: i64, delay: Option<i64>) -> Edge {
        Edge { at_ns: Nanos(at), answered_ns: delay.map(|delay| Nanos(at + delay)) }
    }

    /// Invariant (captures): Edges without an answer are counted, and miss every deadline.
    #[test]
    fn edges_without_an_answer_are_counted_and_miss() {
        let respond = Respond { window_ns: Some(Nanos(500)), ..Respond::default() };
        let plan = Plan {
            method: Method::Respond(Box::new(respond)),
            until: Until { deadline_ns: Some(Nanos(250)), ..Until::default() },
            keep: Keep { interval_ns: Nanos(10_000), ..Keep::default() },
            ..Plan::default()
        };
        let edges = [
            edge(12_000, Some(200)),
            edge(21_000, None),
            edge(45_000, Some(300)),
            edge(46_000, Some(900)),
        ];
        let edges = Edges { edges: edges.to_vec(), double: 1, ..Edges::default() };
        let told = answered_edges(&edges, &plan, Nanos(10_000));
        let Responses { stimuli, missing, late, double, figures, .. } = told.responses;
        assert_eq!((stimuli, missing, late, double, told.answered), (4, 1, 1, 1, 2));
        assert_eq!((figures.min_ns, figures.median_ns), (Some(200.0), Some(250.0)));
        assert_eq!(figures.max_ns, Some(300.0));
        let intervals: Vec<(i64, i64, u64, u64)> = told
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Interval(one) => {
                    Some((one.start_ns.0, one.end_ns.0, one.counts.count, one.counts.misses))
                }
                _ => None,
            })
            .collect();
        let expected = [
            (10_000, 20_000, 1, 0),
            (20_000, 30_000, 0, 1),
            (30_000, 40_000, 0, 0),
            (40_000, 46_001, 1, 2),
        ];
        assert_eq!(intervals, expected);
    }

    #[test]
    fn no_answer_at_all_has_no_figures() {
        let edges = Edges { edges: vec![edge(5, None)], ..Edges::default() };
        let told = answered_edges(&edges, &Plan::default(), Nanos(0));
        assert_eq!(told.responses.figures, ResponseFigures::default());
        assert_eq!((told.responses.missing, told.responses.resolution_ns), (1, None));
    }

    #[test]
    fn the_resolution_is_the_step_of_the_clock() {
        let edges: Vec<Edge> = (1..20).map(|n| edge(n * 1000 + 7, Some(n * 16 % 48 + 9))).collect();
        assert_eq!(resolution(&edges), Some(8.0));
    }
}
