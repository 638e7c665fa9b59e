//! Stores a synthetic run of any length and width: `cargo run --release -p latlab-store --example
//! made_up RUNS ID THREADS SECONDS PERIOD [samples]`.
//!
//! The benchmark of the pages uses such runs.

use latlab_digest::testing::SyntheticRun;
use latlab_model::Nanos;
use latlab_store::{Finished, Store};

const USAGE: &str = "made_up RUNS ID THREADS SECONDS PERIOD [samples]";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [runs, id, threads, seconds, period, rest @ ..] = &words[..] else { panic!("{USAGE}") };
    let number = |word: &String| word.parse().expect(USAGE);
    let made_up = SyntheticRun {
        name: id.clone(),
        threads: number(threads),
        seconds: number(seconds),
        period: period.parse().expect(USAGE),
        stall: Nanos(150_000),
        samples: rest.iter().any(|word| word == "samples"),
        warmer: Some(9_000),
        ..SyntheticRun::default()
    };
    let mut open = Store::new(runs).begin(id).expect("a folder for the run");
    let mut bytes = Vec::new();
    made_up.each_message(|message| {
        bytes.extend(message.encode());
        if bytes.len() > 1 << 20 {
            open.append(&bytes).expect("room for the journal");
            bytes.clear();
        }
    });
    open.append(&bytes).expect("room for the journal");
    let Finished { run, path } = open.finish().expect("room for the run");
    println!("{} {} cycles", path.display(), run.total.cycles);
}
