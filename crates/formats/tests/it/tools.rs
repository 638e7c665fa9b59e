//! What the output of each tool can lack, or state twice in different words.

use crate::cases::*;

/// A text with one change.
fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from:?} is not in {text}");
    text.replacen(from, to, 1)
}

const TIMERLAT: &str = "# RTLA timerlat histogram
# Time unit is microseconds (us)
# Duration:   0 00:00:02
Index   IRQ-001   Thr-001
0          1000       999 
21            0         1 
over:         0         0 
count:     1000      1000 
min:          0         0 
avg:          0         0 
max:          0        21 
";
const ALL: &str = "ALL:        IRQ       Thr
count:     1000      1000 
min:          0         0 
avg:          0         0 
max:          0        21 
";

#[test]
fn histograms_of_rtla() {
    let all = [TIMERLAT, ALL].concat();
    let of_all = |from: &str, to: &str| [TIMERLAT, &with(ALL, from, to)].concat();
    let stop = "rtla timerlat hit stop tracing\n## CPU 1 hit stop tracing, analyzing it ##\n  \
        IRQ handler delay:          27.49 us (65.52 %)\n  IRQ latency:     28.13 us\n  \
        Blocking thread:      3.79 us (9.03 %)\n         objtool:49256     3.79 us\n    \
        Blocking thread stacktrace\n           -> timerlat_irq\n------------\n    \
        Thread latency:      41.96 us (100%)\n\nSaving trace to timerlat_trace.txt\n";
    check(vec![
        case("whole", "", "pass: 0 / 21; n=2000; silent=incomplete", TIMERLAT),
        case("with a section of all CPUs", "", "pass: 0 / 21; n=2000", &*all),
        case(
            "a larger maximum of all CPUs",
            "",
            "fail: 0 / 941; says=941 us as maximum of all CPUs",
            of_all("        21", "       941"),
        ),
        case(
            "another count of all CPUs",
            "",
            "inconclusive: 0 / 21; says=2000 as number of all latencies",
            of_all("1000      1000", "1000      2000"),
        ),
        case(
            "a cut section of all CPUs",
            "",
            "inconclusive",
            with(&all, "max:          0        21 \nALL", "max:          0        21 \nALL")
                .rsplit_once("max:")
                .unwrap()
                .0,
        ),
        case(
            "a row with a further cell",
            "",
            "inconclusive; says=line 6",
            with(TIMERLAT, "  1 \n", "  1         7 \n"),
        ),
        case(
            "a cell that is no number",
            "",
            "inconclusive; says=line 5",
            with(TIMERLAT, "999", "99x"),
        ),
        case(
            "a footer with a bad cell",
            "",
            "inconclusive; says=line 11",
            with(TIMERLAT, "        21 ", "        2x "),
        ),
        case(
            "a footer that comes twice",
            "",
            "inconclusive",
            [TIMERLAT, "max:          0         5 \n"].concat(),
        ),
        case(
            "a maximum above all rows",
            "",
            "fail: 0 / 941",
            with(TIMERLAT, "        21 \n", "       941 \n"),
        ),
        case(
            "without its last line",
            "",
            "inconclusive: 0 / 21; says=not there: max:",
            with(TIMERLAT, "max:          0        21 \n", ""),
        ),
        case(
            "a dash in place of a maximum",
            "",
            "inconclusive; says=it states none",
            with(TIMERLAT, "        21 ", "         - "),
        ),
        case("without the end of its last line", "", "pass: 0 / 21", TIMERLAT.trim_end()),
        case(
            "a unit that is none",
            "",
            "inconclusive; says=line 2",
            with(TIMERLAT, "micro", "micrx"),
        ),
        case(
            "in nanoseconds",
            "",
            "pass: 0 / 0.021",
            with(TIMERLAT, "microseconds (us)", "nanoseconds (ns)"),
        ),
        case(
            "events that it missed",
            "",
            "inconclusive: 0 / 21; says=12 (0.01%) events missed",
            [TIMERLAT, "12 (0.01%) events missed, results might not be accurate\n"].concat(),
        ),
        case(
            "the latency that stopped it",
            "--deadline 30us",
            "fail: 28 / 41",
            [TIMERLAT, stop].concat(),
        ),
        case(
            "two after each other, with prompts",
            "",
            "pass: 0 / 21 / 0 / 21",
            format!("$ rtla timerlat hist -d 2\n{TIMERLAT}$ rtla timerlat hist -d 4\n{all}"),
        ),
        case(
            "bins of unknown width",
            "",
            "pass: 0 / 31",
            with(TIMERLAT, "21            0", "20            0")
                .replace("        21 ", "        31 "),
        ),
    ]);
}

const TOP: &str = "                                     Timer Latency
  0 00:00:01   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)
CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max
  0 #1013      |        1         0         1        54 |        5         2         4        57
  1 #1012      |        1         0         1        14 |        5         2         4        17
";

#[test]
fn tables_of_rtla_top() {
    let later = TOP.replace("0 00:00:01", "0 00:00:02").replace("#101", "#201");
    let all = "---------------|----------------------------------------|---------------------------------------\n\
        ALL #2025   e0 |                  0         1        54 |                  2         4        57\n";
    check(vec![
        case("whole", "", "pass: 54, 14 / 57, 17; n=4050", TOP),
        case("drawn again", "", "pass: 54, 14 / 57, 17; n=8050", [TOP, &later].concat()),
        case(
            "drawn again with a smaller maximum",
            "",
            "fail: 54, 14 / 941, 17; says=largest on any screen",
            [&with(TOP, "        57", "       941"), &*later].concat(),
        ),
        case(
            "its counts fall",
            "",
            "fail: 54, 14 / 941, 17 / 54, 14 / 57, 17",
            [&with(&later, "        57", "       941"), TOP].concat(),
        ),
        case(
            "a lost row that is drawn again",
            "",
            "pass: 54, 14 / 57, 17",
            [&with(TOP, "        57", "        5x"), &*later].concat(),
        ),
        case(
            "a lost row of the last screen",
            "",
            "inconclusive; says=line 9",
            [TOP, &with(&later, "        57", "        5x")].concat(),
        ),
        case(
            "a bad cell",
            "",
            "inconclusive; says=line 4",
            with(TOP, "        54 |", "      >100 |"),
        ),
        case("a further cell", "", "inconclusive; says=line 4", with(TOP, "57\n", "57        7\n")),
        case(
            "the last latency above the maximum",
            "",
            "fail: 54, 14 / 941, 17",
            with(TOP, "|        5  ", "|      941  "),
        ),
        case("with the row of all CPUs", "", "pass: 54, 14 / 57, 17", [TOP, all].concat()),
        case(
            "a CPU that is not there",
            "",
            "inconclusive; says=number of all latencies",
            with(&[TOP, all].concat(), TOP.lines().last().unwrap(), ""),
        ),
        case(
            "a larger maximum of all CPUs",
            "",
            "fail: 54, 14 / 941, 17",
            [TOP, &with(all, "57\n", "941\n").replace("         941", "        941")].concat(),
        ),
        case(
            "a CPU that ran for half the time",
            "",
            "inconclusive; says=thread 1 has 500 of 1 013 cycles",
            with(TOP, "#1012 ", "#500  "),
        ),
    ]);
}

const OSLAT: &str = "oslat V 2.60
Total runtime: 		2 seconds
Thread priority: 	default

Test starts...
Test completed.

        Core:	 1 2
Counter Freq:	 2597 2597 (Mhz)
    001 (us):	 70000 70000
    002 (us):	 3 0
    003 (us):	 2 1 (including overflows)
     Minimum:	 1 1 (us)
     Average:	 1.000 1.000 (us)
     Maximum:	 41 3 (us)
     Max-Min:	 40 2 (us)
    Duration:	 1.998 1.998 (sec)

";

#[test]
fn tables_of_oslat() {
    let stopped = "oslat V 2.60\nTest starts...\n\
        oslat: Trace threshold (20 us) triggered on cpu 1 with 941 us!\nStopping the test.\n";
    check(vec![
        case("whole", "", "pass: 41, 3; silent=incomplete", OSLAT),
        case(
            "a row with a cell too few",
            "",
            "inconclusive; says=line 11",
            with(OSLAT, "3 0\n", "3\n"),
        ),
        case(
            "a row that is not there",
            "",
            "inconclusive; says=rows of the histogram are not there",
            with(OSLAT, "    002 (us):\t 3 0\n", ""),
        ),
        case(
            "empty rows that were left out",
            "",
            "pass: 41, 3",
            with(OSLAT, "    002 (us):\t 3 0\n", "    ...\n"),
        ),
        case(
            "a maximum that is no number",
            "",
            "inconclusive; says=line 15",
            with(OSLAT, "41 3", "4x 3"),
        ),
        case(
            "a maximum that is not there",
            "",
            "inconclusive; says=not there: Maximum",
            with(OSLAT, "     Maximum:\t 41 3 (us)\n", ""),
        ),
        case(
            "a range that differs",
            "",
            "inconclusive; says=max-Min",
            with(OSLAT, "40 2", "940 2"),
        ),
        case(
            "shorter than was asked for",
            "",
            "inconclusive; says=2 s were asked for",
            with(OSLAT, "1.998 1.998", "1.098 1.998"),
        ),
        case("a test that stopped itself", "", "fail: 941", stopped),
        case(
            "one that stopped itself behind a whole one",
            "",
            "fail: 41, 3 / 941",
            [OSLAT, stopped].concat(),
        ),
        case(
            "a last row without its end",
            "",
            "inconclusive",
            with(OSLAT, " (including overflows)\n     Min", "\u{0}").split('\u{0}').next().unwrap(),
        ),
    ]);
}

const HWLAT: &str = "hwlatdetect:  test duration 60 seconds
   detector: tracer
   parameters:
        Latency threshold: 10us
        Sample window:     1000000us
        Sample width:      500000us
     Non-sampling period:  500000us
        Output File:       None

Starting test
test finished
";

#[test]
fn gaps_of_hwlatdetect() {
    let gaps = format!(
        "{HWLAT}Max Latency: 18us\nSamples recorded: 2\nSamples exceeding threshold: 2\n\
         ts: 1519674281.220664736, inner:17, outer:15\nts: 1519674282.721666674, inner:18, outer:17\n"
    );
    let none = format!(
        "{HWLAT}Max Latency: Below threshold\nSamples recorded: 0\nSamples exceeding threshold: 0\n"
    );
    let newer = "ts: 12:30:01, 5 May, delta:nan, inner:17, outer:15, cpu:3, count:2\n";
    let newer = gaps
        .split("ts:")
        .next()
        .unwrap()
        .replace("recorded: 2", "recorded: 1")
        .replace("18us", "17us")
        + newer;
    let mut cases = vec![
        case("two gaps", "", "pass: 18; n=2; silent=incomplete", &*gaps),
        case("no gap", "", "pass: -; n=0", &*none),
        case(
            "no gap, with a deadline below the threshold",
            "--deadline 8us",
            "inconclusive: -; n=0",
            &*none,
        ),
        case(
            "no gap, but gaps of 10.9 us are cut off to 10 us",
            "--deadline 10us",
            "inconclusive",
            &*none,
        ),
        case("no gap, with a deadline just above the threshold", "--deadline 11us", "pass", &*none),
        case("rt-tests 2.11", "", "pass: 17; n=1; says=there were 2 gaps", newer),
        case(
            "a gap that is not listed",
            "",
            "inconclusive; says=2 as samples recorded",
            with(&gaps, "ts: 1519674281.220664736, inner:17, outer:15\n", ""),
        ),
        case(
            "a gap that is no number",
            "",
            "inconclusive; says=line 15",
            with(&gaps, "inner:17,", "inner:1x,"),
        ),
        case(
            "a maximum above the list",
            "",
            "fail: 941",
            with(&gaps, "Max Latency: 18us", "Max Latency: 941us"),
        ),
        case("gaps without a list", "", "inconclusive: 18; n=2", gaps.split("ts:").next().unwrap()),
        case(
            "samples, but none above the threshold",
            "",
            "inconclusive",
            with(&none, "exceeding threshold: 0", "exceeding threshold: 4"),
        ),
        case(
            "interrupted",
            "",
            "refused",
            with(&none, "test finished", "interrupted\ntest finished"),
        ),
        case("a test and one that was cut off", "", "inconclusive", [&none, HWLAT].concat()),
    ];
    let lines: Vec<&str> = none.split_inclusive('\n').collect();
    for end in 1..lines.len() {
        cases.push(case(format!("cut behind line {end}"), "", "not pass", lines[..end].concat()));
    }
    check(cases);
}

const OSNOISE: &str = "# RTLA osnoise histogram
# Time unit is microseconds (us)
# Duration:   0 00:00:05
Index
over: 0
count: 0
min: 0
avg: 0
max: 0
";

#[test]
fn gaps_of_osnoise() {
    let asked = |options: &str| format!("$ rtla osnoise hist {options}\n{OSNOISE}");
    check(vec![
        case("no gap", "", "pass: -; says=taken as 1 us", OSNOISE),
        case("no gap above a threshold", "", "inconclusive: -", asked("-T 500")),
        case(
            "no gap above a threshold below the deadline",
            "--deadline 600us",
            "pass: -",
            asked("-T500"),
        ),
        case("without its end", "", "inconclusive", with(OSNOISE, "max: 0\n", "")),
        case("a figure of a gap", "", "not pass", with(OSNOISE, "max: 0\n", "max: 941\n")),
    ]);
    let length = |text: &str| {
        let query = latlab_formats::read::ImportQuery::default();
        crate::common::try_read(text, &query).unwrap()[0].length_ns.0
    };
    assert_eq!(length(&asked("-r 500000 -p 1000000")), 2_500_000_000, "half of each period");
}

const PAIRS: &str = "\
#0: ID100, P90, CPU0, I500; #1: ID101, P90, CPU0, TO 0, Cycles 500
#2: ID102, P90, CPU1, I1000; #3: ID103, P90, CPU1, TO 0, Cycles 246
#1 -> #0, Min    3, Cur    3, Avg    3, Max   39
#3 -> #2, Min    3, Cur    4, Avg    4, Max   18
";

#[test]
fn pairs_of_threads() {
    check(vec![
        case("whole", "", "pass: 39, 18; n=746; silent=incomplete", PAIRS),
        case(
            "the last latency above the maximum",
            "",
            "fail: 941, 18",
            with(PAIRS, "Cur    3", "Cur  941"),
        ),
        case("a figure that is none", "", "inconclusive", with(PAIRS, "Max   39", "Max  >39")),
        case(
            "a figure that has lost a digit",
            "",
            "inconclusive",
            with(PAIRS, "Max   39", "Max   3"),
        ),
        case(
            "a pair without figures",
            "",
            "inconclusive; says=1 of 2 pairs",
            with(PAIRS, "#1 -> #0, Min    3, Cur    3, Avg    3, Max   39\n", ""),
        ),
        case(
            "a pair without its cycles",
            "",
            "inconclusive; says=no number of cycles",
            with(
                PAIRS,
                "#2: ID102, P90, CPU1, I1000; #3: ID103, P90, CPU1, TO 0, Cycles 246\n",
                "",
            ),
        ),
        case("a last line without its end", "", "pass: 39, 18", PAIRS.trim_end()),
        case(
            "a last line that may be cut off",
            "--deadline 2ms",
            "inconclusive",
            with(PAIRS, "Max   18", "Max 1039").trim_end(),
        ),
        case(
            "threads of other processes",
            "",
            "pass: 39, 18 / 39, 18",
            [PAIRS, &PAIRS.replace("ID10", "ID20")].concat(),
        ),
    ]);
}

const STRESS: &str = "\
stress-ng: info:  [100] dispatching hogs: 1 cyclic
stress-ng: info:  [101] cyclic: sched SCHED_FIFO: 1000000 ns delay, 2000 samples
stress-ng: info:  [101] cyclic:   mean: 9204.33 ns, mode: 9262 ns
stress-ng: info:  [101] cyclic:   min: 8055 ns, max: 12000 ns, std.dev. 199.31
stress-ng: info:  [101] cyclic: latency percentiles:
stress-ng: info:  [101] cyclic:   99.99%:      12000 ns
stress-ng: info:  [101] cyclic: latency distribution (5000 ns intervals):
stress-ng: info:  [101] cyclic: (for the first 3 buckets of 3)
stress-ng: info:  [101] cyclic: latency (ns)  frequency
stress-ng: info:  [101] cyclic:            0          0
stress-ng: info:  [101] cyclic:         5000       1990
stress-ng: info:  [101] cyclic:        10000         10
stress-ng: info:  [100] successful run completed in 3.00s
";

#[test]
fn cyclic_of_stress_ng() {
    let start = "stress-ng: info:  [101] cyclic: ";
    check(vec![
        case("whole", "", "pass: 12; n=2000; silent=incomplete", STRESS),
        case(
            "a row that is no number",
            "",
            "inconclusive; says=line 12",
            with(STRESS, "         10\n", "         1x\n"),
        ),
        case(
            "a row that is not there",
            "",
            "inconclusive",
            with(STRESS, &format!("{start}        5000       1990\n"), ""),
        ),
        case(
            "a maximum that is no number",
            "",
            "inconclusive; says=line 4",
            with(STRESS, "max: 12000", "max: 1200x"),
        ),
        case(
            "a percentile above the maximum",
            "",
            "fail: 941",
            with(STRESS, "      12000 ns\n", "     941000 ns\n"),
        ),
        case(
            "more buckets than its maximum has",
            "",
            "inconclusive; says=4 buckets",
            with(STRESS, "buckets of 3)", "buckets of 4)"),
        ),
        case(
            "a name that is damaged",
            "",
            "inconclusive",
            with(STRESS, "cyclic:   min:", "cyclc:   min:"),
        ),
        case(
            "latencies that were dropped",
            "",
            "inconclusive: 12; says=2000 of 2868 latencies were kept",
            [
                STRESS,
                start,
                "Note: --cyclic-samples needed to be 2868 to capture all the data for this run\n",
            ]
            .concat(),
        ),
        case(
            "as many as older versions keep",
            "",
            "inconclusive; says=may have dropped",
            with(STRESS, "2000 samples", "10000 samples"),
        ),
        case(
            "the same process again",
            "",
            "pass: 12 / 12",
            [STRESS, STRESS.split_once('\n').unwrap().1].concat(),
        ),
    ]);
}

#[test]
fn samples_of_jitterdebugger() {
    let lines =
        "0;6263.632049000;49\n0;6263.633039000;39\n0;6263.634032000;32\n0;6263.635020000;20\n";
    check(vec![
        case("whole", "", "pass: 49; n=4; silent=incomplete", lines),
        case(
            "a late cycle, and the next ones at once",
            "--deadline 2ms",
            "fail: 2100; silent=incomplete",
            [lines, "0;6263.638100000;2100\n0;6263.638110000;1110\n0;6263.638120000;120\n"]
                .concat(),
        ),
        case(
            "a time without samples",
            "",
            "inconclusive; says=no sample for 1.983 ms",
            with(lines, "0;6263.633039000;39\n", ""),
        ),
        case("a last line without its end", "", "inconclusive", lines.trim_end()),
        case("a latency that is none", "", "inconclusive; says=line 2", with(lines, ";39", ";3x")),
        case("its clock begins again", "", "pass: 49 / 12", [lines, "0;5.000000000;12\n"].concat()),
    ]);
}

#[test]
fn documents_of_json() {
    let document = |threads: &str, more: &str| {
        format!(
            "{{\"cmdline:\": \"cyclictest -t2 -i 1000 -h 60 -D 10\", \"return_code\": 0, \"num_threads\": 2,\n\
             {more}\"thread\": {{{threads}}}}}\n"
        )
    };
    let thread = |number: u32, cycles: u64, max: u32| {
        let rest = cycles - 1;
        format!(
            "\"{number}\": {{\"histogram\": {{\"12\": {rest}, \"{max}\": 1}}, \"cycles\": {cycles}, \
             \"min\": 12, \"max\": {max}, \"avg\": 12.0}}"
        )
    };
    let both = [thread(0, 10_000, 41), thread(1, 10_000, 39)].join(", ");
    let whole = document(&both, "");
    check(vec![
        case("whole", "", "pass: 41, 39; n=20000; silent=incomplete", &*whole),
        case(
            "a bin that comes twice",
            "",
            "inconclusive; says=\"12\" comes again",
            with(&whole, "\"41\": 1", "\"41\": 1, \"12\": 3"),
        ),
        case(
            "a maximum that comes twice",
            "",
            "not pass",
            with(&whole, "\"max\": 41", "\"max\": 941, \"max\": 41"),
        ),
        case(
            "a maximum that is none",
            "",
            "inconclusive",
            with(&whole, "\"max\": 41", "\"max\": \"x\""),
        ),
        case(
            "a maximum above all bins",
            "",
            "fail: 941, 39",
            with(&whole, "\"max\": 41", "\"max\": 941"),
        ),
        case(
            "a bin that is none",
            "",
            "inconclusive; says=could not be used",
            with(&whole, "\"12\": 9999", "\"12x\": 9999"),
        ),
        case(
            "a count that is below zero",
            "",
            "inconclusive",
            with(&whole, "\"41\": 1", "\"41\": -1"),
        ),
        case(
            "a return code of failure",
            "",
            "inconclusive; says=return code 1",
            with(&whole, "code\": 0", "code\": 1"),
        ),
        case(
            "a thread that is not there",
            "",
            "inconclusive; says=1 of 2 threads",
            document(&thread(0, 10_000, 41), ""),
        ),
        case(
            "a thread with a part of the cycles",
            "",
            "inconclusive; says=thread 1 has 100 of 10 000 cycles",
            document(&[thread(0, 10_000, 41), thread(1, 100, 39)].join(", "), ""),
        ),
        case(
            "shorter than was asked for",
            "",
            "inconclusive; says=10 s were asked for",
            with(&whole, "-D 10", "-D 20")
                .replace("-D 20", "-D 10")
                .replace("10000", "5000")
                .replace("9999", "4999"),
        ),
        case(
            "a unit that is none",
            "",
            "inconclusive",
            document(&both, "\"resolution_in_ns\": 7, "),
        ),
        case("two documents", "", "pass: 41, 39 / 41, 39", [&*whole, &whole].concat()),
        case(
            "two documents, the second cut off",
            "",
            "inconclusive",
            [&*whole, &whole[..whole.len() - 20]].concat(),
        ),
        case(
            "a document of something else before it",
            "",
            "inconclusive: 41, 39; says=line 1",
            format!("{{\"thread\": 3}}\n{whole}"),
        ),
    ]);
    let query = latlab_formats::read::ImportQuery::default();
    let two = crate::common::try_read([&*whole, "\n", &whole].concat(), &query).unwrap();
    let lines: Vec<&str> = two.iter().map(|one| &*one.facts.last().unwrap().text).collect();
    assert_eq!(lines, ["1", "4"], "each says where it begins");
}

#[test]
fn logs_of_hdrhistogram() {
    let log = String::from_utf8(crate::common::fixture("hdr.hlog")).unwrap();
    let payload = log.len() - 30;
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let later = lines[3].replace("1.000000,1.000000", "9.000000,1.000000");
    check(vec![
        case("whole", "--deadline 1ms", "pass: 317.439; n=600", &*log),
        case(
            "a letter that is not there",
            "--deadline 1ms",
            "inconclusive; says=line 4",
            [&log[..payload], &log[payload + 1..]].concat(),
        ),
        case("without the end of its last line", "--deadline 1ms", "pass: 317.439", log.trim_end()),
        case("two after each other", "--deadline 1ms", "pass: 317.439 / 317.439", log.repeat(2)),
        case(
            "a time in no interval",
            "--deadline 1ms",
            "inconclusive; says=between its intervals",
            [&lines[..3].concat(), &later].map(|it| it.as_str()).concat(),
        ),
    ]);
}

#[test]
fn summaries_of_rteval() {
    let core = |id: u32, max: u32| {
        format!(
            "<core id=\"{id}\" priority=\"95\"><statistics><samples>30</samples><minimum unit=\"us\">2</minimum>\
             <maximum unit=\"us\">{max}</maximum><mean unit=\"us\">2.9</mean></statistics><histogram nbuckets=\"3\">\n\
             <bucket index=\"2\" value=\"29\"/>\n<bucket index=\"{max}\" value=\"1\"/>\n</histogram></core>\n"
        )
    };
    let document = |tool: &str, cores: &str| {
        format!(
            "<?xml version=\"1.0\"?>\n<rteval version=\"3.7\"><Measurements>\n<{tool} command_line=\"{tool} -i100\">\
             <system description=\"(2 cores) a CPU\"><statistics><samples>60</samples><maximum unit=\"us\">31</maximum>\
             </statistics></system>\n{cores}</{tool}>\n</Measurements></rteval>\n"
        )
    };
    let both = core(0, 31) + &core(1, 29);
    let whole = document("cyclictest", &both);
    check(vec![
        case("whole", "", "pass: 31, 29; n=60; silent=incomplete", &*whole),
        case(
            "a bucket with a bad count",
            "",
            "inconclusive; says=line 5",
            with(&whole, "value=\"29\"", "value=\"2x\""),
        ),
        case(
            "a bucket that comes twice",
            "",
            "inconclusive",
            with(
                &whole,
                "<bucket index=\"2\" value=\"29\"/>",
                "<bucket index=\"2\" value=\"28\"/><bucket index=\"2\" value=\"1\"/>",
            ),
        ),
        case(
            "an element that is none",
            "",
            "inconclusive",
            with(&whole, "<bucket index=\"31\"", "<buckt index=\"31\""),
        ),
        case(
            "a unit that is none",
            "",
            "inconclusive",
            with(
                &whole,
                "<maximum unit=\"us\">31</maximum><mean",
                "<maximum unit=\"ms\">31</maximum><mean",
            ),
        ),
        case(
            "a maximum of all cores above theirs",
            "",
            "fail",
            with(
                &whole,
                "\"us\">31</maximum></statistics></system>",
                "\"us\">941</maximum></statistics></system>",
            ),
        ),
        case(
            "a core that is not there",
            "",
            "inconclusive; says=1 of 2 cores",
            document("cyclictest", &core(0, 31)),
        ),
        case("without its end", "", "inconclusive; says=breaks off", with(&whole, "</rteval>", "")),
        case("two after each other", "", "pass: 31, 29 / 31, 29", whole.repeat(2)),
        case(
            "timerlat, of which it drops the overflows",
            "",
            "inconclusive: 31, 29; says=drops those beyond",
            document("timerlat", &both),
        ),
        case(
            "the latency that stopped it",
            "",
            "fail",
            with(
                &whole,
                "<system ",
                "<abort_report reason=\"breaktrace\"><breaktrace latency_threshold=\"500\" measured_latency=\"941\"/></abort_report><system ",
            ),
        ),
    ]);
}
