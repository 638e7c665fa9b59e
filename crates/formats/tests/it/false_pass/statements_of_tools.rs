//! Contradictory statements in other outputs: each affects the verdict, and the larger maximum
//! counts.

use super::texts::*;
use crate::cases::*;
use crate::common::fixture;

#[test]
fn figures_of_other_tools() {
    let (xenomai, rtai) = (output("Xenomai"), output("RTAI"));
    let (hwlat, top) = (output("hwlatdetect"), output("rtla timerlat top"));
    let (timerlat, osnoise) = (output("rtla timerlat hist"), output("rtla osnoise hist"));
    let (stress, oslat) = (output("stress-ng"), output("oslat"));
    let (latmus, pair) = (output("latmus"), output("pmqtest"));
    let late = "--deadline 1ms";
    check(vec![
        case(
            "Xenomai's worst above its maxima",
            "",
            "fail",
            replaced(xenomai, "     94.250\n---", "    941.250\n---"),
        ),
        case(
            "Xenomai's summary above its lines",
            "",
            "fail",
            replaced(
                xenomai,
                "RTS|      1.300|      2.900|      94.250",
                "RTS|      1.300|      2.900|     941.250",
            ),
        ),
        case(
            "Xenomai's summary of a longer time",
            "",
            "not pass",
            replaced(xenomai, "00:00:03/00:00:03", "01:00:00/01:00:00"),
        ),
        case(
            "Xenomai's overruns with a maximum below the period",
            "",
            "not pass",
            format!("{XENOMAI}{}", super::texts::xenomai("12.500", 3, "12.500")),
        ),
        case(
            "Xenomai's samples without their rows",
            "",
            "not pass",
            format!(
                "{XENOMAI}{}HSD|    avg|   0 -  1 |     5000\nHSH|--param|--samples-|--average--|---stddev--\nHSS|    avg|     10000|      0.500|      0.100\n",
                super::texts::xenomai("12.500", 0, "12.500")
            ),
        ),
        case(
            "RTAI's maximum of all above its lines",
            "",
            "fail",
            replaced(rtai, "      54900|      94900", "      54900|     941900"),
        ),
        case(
            "hwlatdetect's maximum above its gaps",
            "",
            "fail",
            replaced(hwlat, "Max Latency: 118us", "Max Latency: 941us"),
        ),
        case(
            "hwlatdetect's gaps are not listed",
            late,
            "not pass",
            replaced(hwlat, "Samples exceeding threshold: 3", "Samples exceeding threshold: 30"),
        ),
        case(
            "hwlatdetect's number without any gap",
            late,
            "not pass",
            hwlat.split("ts:").next().unwrap(),
        ),
        case(
            "rtla's maximum above its rows",
            "",
            "fail",
            replaced(
                timerlat,
                "max:          7        21         9        34",
                "max:          7        21         9       941",
            ),
        ),
        case(
            "rtla's count above its rows",
            "",
            "not pass",
            replaced(
                timerlat,
                "count:     1000      1000      1000      1000",
                "count:     1000      1000      1000      5000",
            ),
        ),
        case(
            "rtla's count below its rows",
            "",
            "not pass",
            replaced(
                timerlat,
                "count:     1000      1000      1000      1000",
                "count:     1000      1000      1000       500",
            ),
        ),
        case(
            "rtla's overflow with a maximum within",
            late,
            "not pass",
            replaced(
                timerlat,
                "over:         0         0         0         0",
                "over:         0         0         0         3",
            ),
        ),
        case(
            "rtla's maximum below its overflow",
            late,
            "not pass",
            replaced(osnoise, "max:        930         3", "max:          3         3"),
        ),
        case(
            "rtla's current above its maximum",
            "",
            "fail",
            replaced(
                top,
                "       11         2        10        23",
                "      941         2        10        23",
            ),
        ),
        case(
            "rtla's mean above its maximum",
            late,
            "not pass",
            replaced(
                top,
                "       11         2        10        23",
                "       11         2       100        23",
            ),
        ),
        case(
            "rtla's CPUs of which one ran shortly",
            late,
            "not pass",
            replaced(top, "2 #58633 ", "2 #633   "),
        ),
        case(
            "osnoise's single noise above its maximum",
            "",
            "fail",
            replaced(
                output("rtla osnoise top"),
                "         412           98",
                "         412         9800",
            )
            .replace("941", " 41"),
        ),
        case(
            "a percentile of stress-ng above its maximum",
            late,
            "fail",
            replaced(stress, "99.99%:     830333 ns", "99.99%:    8303330 ns"),
        ),
        case(
            "a mean of stress-ng above its maximum",
            late,
            "not pass",
            replaced(stress, "mean: 27204.33 ns", "mean: 2720400.33 ns"),
        ),
        case(
            "oslat's difference above its maximum",
            late,
            "not pass",
            replaced(oslat, "Max-Min:\t 940 2", "Max-Min:\t 940 2000"),
        ),
        case(
            "oslat's overflow with a maximum within",
            late,
            "not pass",
            replaced(oslat, "Maximum:\t 941 3", "Maximum:\t 3 3")
                .replace("Max-Min:\t 940", "Max-Min:\t 2"),
        ),
        case(
            "latmus' maximum above its rows",
            "",
            "fail",
            replaced(latmus, "max latency: 25.510", "max latency: 941.510"),
        ),
        case(
            "pmqtest's current above its maximum",
            late,
            "fail",
            replaced(pair, "Cur    3, Avg    3, Max  391", "Cur 5000, Avg    3, Max  391"),
        ),
        case(
            "pmqtest's pair without its figures",
            late,
            "not pass",
            replaced(pair, "#3 -> #2, Min    3, Cur    4, Avg    4, Max   18\n", ""),
        ),
        case(
            "jitterdebugger's mean above its maximum",
            "--deadline 10ms",
            "not pass",
            replaced(output("jitterdebugger"), "Avg:   15.41", "Avg:  941.41"),
        ),
    ]);
}

#[test]
fn documents() {
    let text = |name: &str| String::from_utf8(fixture(name)).unwrap();
    let (late, plain, jd) =
        ("--deadline 20ms", text("ct24_json_nohist.json"), text("jd_results.json"));
    let histogram = text("ct24_json_h100.json");
    let rteval = output("rteval");
    check(vec![
        case(
            "a return code of failure",
            late,
            "not pass",
            replaced(&plain, "\"return_code\": 0", "\"return_code\": 1"),
        ),
        case(
            "a return code below zero",
            late,
            "not pass",
            replaced(&plain, "\"return_code\": 0", "\"return_code\": -1"),
        ),
        case(
            "a thread that is missing",
            late,
            "not pass",
            replaced(&plain, "\"num_threads\": 2", "\"num_threads\": 3"),
        ),
        case(
            "a thread of a part of the cycles",
            late,
            "not pass",
            replaced(&plain, "\"cycles\": 665", "\"cycles\": 6"),
        ),
        case(
            "a minimum above the maximum",
            late,
            "not pass",
            replaced(&plain, "\"min\": 12", "\"min\": 5000"),
        ),
        case(
            "a mean above the maximum",
            late,
            "not pass",
            replaced(&plain, "\"avg\": 14.25", "\"avg\": 5000.25"),
        ),
        case(
            "bins above the cycles",
            late,
            "not pass",
            replaced(&histogram, "\"12\": 59", "\"12\": 5900"),
        ),
        case(
            "a bin above the maximum",
            late,
            "not pass",
            replaced(&histogram, "\"max\": 200", "\"max\": 50"),
        ),
        case(
            "a minimum below the bins",
            late,
            "inconclusive or pass",
            replaced(&histogram, "\"min\": 7", "\"min\": 2"),
        ),
        case("two threads of one name", late, "not pass", replaced(&plain, "\"1\": {", "\"0\": {")),
        case(
            "a figure twice",
            late,
            "not pass",
            replaced(&plain, "\"max\": 111", "\"max\": 50000,\n      \"max\": 111"),
        ),
        case(
            "jitterdebugger's count above its bins",
            late,
            "inconclusive or pass",
            replaced(&jd, "\"count\": 1964", "\"count\": 3964"),
        ),
        case(
            "jitterdebugger's bins above its maximum",
            late,
            "not pass",
            replaced(&jd, "\"max\": 8386", "\"max\": 38"),
        ),
        case(
            "rteval's samples above its buckets",
            "",
            "not pass",
            replaced(rteval, "<samples>30</samples>", "<samples>5000</samples>"),
        ),
        case(
            "rteval's maximum above its buckets",
            "",
            "fail",
            replaced(
                rteval,
                "<maximum unit=\"us\">41</maximum>",
                "<maximum unit=\"us\">941</maximum>",
            ),
        ),
        case(
            "rteval's buckets that are not all there",
            "",
            "pass or inconclusive: 41, 3",
            replaced(rteval, "<bucket index=\"41\" value=\"1\"/>\n", ""),
        ),
    ]);
}
