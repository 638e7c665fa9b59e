//! For any file that passes: cutting it, or damaging or interleaving any of its lines with a value,
//! never leaves a pass with a smaller maximum.
//!
//! Invariant (imports): No damage of a line makes a worse recording pass.

use crate::common::*;
use crate::verdict::*;
use latlab_import::Query;
use latlab_model::Nanos;

/// Files of our own, whose maximum stands in different places.
const TEXTS: &[(&str, &str)] = &[
    ("list", "latency_us\n12\n7\n941\n33\n9\n"),
    ("table", "at,cpu,latency_us\n1,0,12\n2,0,941\n3,1,33\n4,1,47\n"),
    ("decimals", "at;lat_ms\n1;0,912\n2;1,5\n3;0,3\n"),
    (
        "summary",
        "# /dev/cpu_dma_latency set to 0us\npolicy: fifo: loadavg: 0.10 0.10 0.10 1/99 100\n\n\
         T: 0 (  100) P:90 I:1000 C:  60000 Min:      2 Act:    4 Avg:    3 Max:      41\n\
         T: 1 (  101) P:90 I:1000 C:  60000 Min:      2 Act:    4 Avg:    3 Max:     941\n\
         T: 2 (  102) P:90 I:1000 C:  60000 Min:      2 Act:    4 Avg:    3 Max:      77\n",
    ),
    (
        "histogram",
        "# Histogram\n000001 000010\t000000\n000002 000005\t000011\n000041 000000\t000004\n\
         # Total: 000000015 000000015\n# Min Latencies: 00001 00002\n# Avg Latencies: 00001 00012\n\
         # Max Latencies: 00002 00041\n# Histogram Overflows: 00000 00000\n",
    ),
    (
        "xenomai",
        "RTT|  00:00:01  (periodic user-mode task, 100 us period, priority 99)\n\
         RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n\
         RTD|      1.400|      2.900|      21.500|       0|     0|      1.400|      21.500\n\
         RTD|      1.300|      2.900|      94.250|       0|     0|      1.300|      94.250\n\
         RTD|      1.300|      2.900|      11.500|       0|     0|      1.300|      94.250\n",
    ),
];

/// Fixtures whose lines are damaged.
const FIXTURES: &[&str] = &[
    "ct24_h40.txt",
    "ct210_H40.txt",
    "ct24_q_summary.txt",
    "ct24_q_N.txt",
    "ct24_v.txt",
    "ct10_v.txt",
    "ct24_spike40.txt",
    "signaltest.txt",
    "jd_samples.csv",
    "jd_stdout.txt",
    "cyclicdeadline210_hist.txt",
    "oslat.txt",
    "pmqtest.txt",
    "sigwaittest.txt",
    "rtla_osnoise_hist.txt",
    "rtla_timerlat_top.txt",
    "sng_cyclic_clock_ns.txt",
];

/// A generator that gives the same numbers each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

const MESSAGE: &[u8] = b"[   12.345678] usb 1-1: new device\n";
const LETTERS: &[u8] = b"xZ#?:;,| ";

/// Whether all that is left of a line may be whole lines with other numbers: nobody can tell that
/// digits are missing where numbers have no width.
fn may_be_other_numbers(lines: &[&[u8]], changed: &[u8]) -> bool {
    let shape = |line: &[u8]| -> Vec<u8> {
        let digit = |byte: &u8| if byte.is_ascii_digit() { b'0' } else { *byte };
        let mut shape: Vec<u8> = line.iter().map(digit).collect();
        shape.dedup();
        shape.trim_ascii().to_vec()
    };
    let has_width =
        |line: &&[u8]| line.windows(2).any(|pair| pair == b"  ") || line.starts_with(b"0000");
    let known: Vec<Vec<u8>> = lines.iter().map(|line| shape(line)).collect();
    let mut left = changed.split(|byte| *byte == b'\n').map(shape).filter(|line| !line.is_empty());
    !lines.iter().any(has_width) && left.all(|line| known.contains(&line))
}

/// A damage of one line: what it is called, and the text with it.
fn damage(text: &[u8], numbers: &mut Numbers) -> (String, Vec<u8>) {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let at = numbers.below(lines.len());
    let line = lines[at];
    let place = numbers.below(line.len().saturating_sub(1));
    let letter = LETTERS[numbers.below(LETTERS.len())];
    let (before, after) = line.split_at(place);
    let is_list = !text.contains(&b',') && !text.contains(&b':');
    let (kind, changed): (&str, Vec<u8>) = match numbers.below(if is_list { 5 } else { 6 }) {
        0 => ("replaced by a letter", [before, &[letter], &after[1..]].concat()),
        1 => ("deleted", [before, &after[1..]].concat()),
        2 => ("a letter before", [before, &[letter], after].concat()),
        3 => ("a message before", [before, MESSAGE, after].concat()),
        4 => ("without its end", line.strip_suffix(b"\n").unwrap_or(line).to_vec()),
        _ => {
            let next = lines.get(at + 1).copied().unwrap_or_default();
            let middle = numbers.below(next.len().saturating_sub(1));
            let mixed = [before, &next[..middle], after, &next[middle..]].concat();
            if may_be_other_numbers(&lines, &mixed) {
                return ("nothing".to_string(), text.to_vec());
            }
            let rest = lines.iter().enumerate().filter(|other| other.0 != at + 1);
            let all = rest.map(|(n, line)| if n == at { &mixed[..] } else { line });
            return (
                format!("line {}: mixed with the next", at + 1),
                all.collect::<Vec<_>>().concat(),
            );
        }
    };
    if may_be_other_numbers(&lines, &changed) {
        return ("nothing".to_string(), text.to_vec());
    }
    let all = lines.iter().enumerate().map(|(n, line)| if n == at { &changed[..] } else { line });
    let shown = String::from_utf8_lossy(&changed).into_owned();
    (format!("line {}, byte {place}: {kind}: {shown:?}", at + 1), all.collect::<Vec<_>>().concat())
}

fn check(name: &str, text: &[u8], tries: usize) -> Vec<String> {
    let query = Query::default();
    let whole = read_text(text, &query);
    let (_, largest) = judge(&whole, Nanos(i64::MAX / 4));
    let deadline = Nanos(largest.0 * 2 + 10_000);
    let (word, _) = judge(&whole, deadline);
    assert_eq!(
        word,
        Word::Pass,
        "{name}: {:?}",
        whole.map(|all| all.iter().map(texts).collect::<Vec<_>>())
    );
    let mut numbers = Numbers(name.len() as u64);
    let mut found = Vec::new();
    let mut look = |what: String, damaged: &[u8]| {
        let (word, now) = judge(&read_text(damaged, &query), deadline);
        if word == Word::Pass && now < largest {
            found.push(format!("{name}: {what}: passes with {now} instead of {largest}"));
        }
    };
    for _ in 0..tries {
        let (what, damaged) = damage(text, &mut numbers);
        look(what, &damaged);
        let cut = numbers.below(text.len());
        // A cut between two lines leaves a shorter recording of a format without an end.
        if !text[..cut].ends_with(b"\n") && !text[cut..].starts_with(b"\n") {
            look(format!("cut at byte {cut}"), &text[..cut]);
        }
    }
    found
}

#[test]
fn no_damage_makes_a_worse_recording_pass() {
    let mut found = Vec::new();
    for (name, text) in TEXTS {
        found.extend(check(name, text.as_bytes(), 3_000));
    }
    for name in FIXTURES {
        found.extend(check(name, &fixture(name), 300));
    }
    assert!(
        found.is_empty(),
        "{} of them:\n{}",
        found.len(),
        found[..found.len().min(40)].join("\n")
    );
}
