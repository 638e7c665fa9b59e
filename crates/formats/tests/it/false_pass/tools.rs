//! Tables of other tools: a format is recognised by what only it has; unknown ones are refused, and
//! never read as a format that they resemble.

use super::texts::*;
use crate::cases::*;

#[test]
fn tables_that_look_like_xenomais() {
    check(vec![
        case(
            "latency of RTAI in the kernel",
            "",
            "pass or refused: 21.9",
            "RTAI Testsuite - KERNEL latency (all data in nanoseconds)\n\
             RTH|    lat min|    ovl min|    lat avg|    lat max|    ovl max|   overruns\n\
             RTD|      -1571|      -1571|       1622|      21900|      21900|          0\n",
        ),
        case(
            "a maximum of all that is above all lines",
            "",
            "fail or inconclusive",
            "RTAI Testsuite - USER latency (all data in nanoseconds)\n\
             RTH|    lat min|    ovl min|    lat avg|    lat max|    ovl max|   overruns\n\
             RTD|     -20762|     -20762|      12879|      61300|     941300|          0\n",
        ),
        case(
            "preempt of RTAI",
            "",
            "pass or refused: 8.446",
            "RTAI Testsuite - UP preempt (all data in nanoseconds)\n\
             RTH|     lat min|     lat avg|     lat max|    jit fast|    jit slow\n\
             RTD|        1571|        1622|        8446|       12000|      940000\n",
        ),
        case(
            "switches of RTAI",
            "",
            "refused",
            "RTAI Testsuite - KERNEL switch (all data in nanoseconds)\n\nFOR 10 TASKS: TIME 26 (ms), SUSP/RES SWITCH \
             TIME 1325 (ns)\nFOR 10 TASKS: TIME 28 (ms), SEM SIG/WAIT SWITCH TIME 1437 (ns)\n",
        ),
        case(
            "switchtest",
            "",
            "refused; says=switchtest",
            "== Testing FPU check routines...\n== Threads: sleeper_ufps0-0 rtk0-1 rtup0-2\n\
             RTT|  00:00:01\nRTH|---------cpu|ctx switches|-------total\n\
             RTD|           0|        1000|        1000\nRTD|           1|        1000|        1000\n",
        ),
        case(
            "unknown columns",
            "",
            "refused or not pass",
            "RTT|  00:00:01  (periodic user-mode task, 100 us period, priority 99)\n\
             RTH|-----jitter|------drift|------load\nRTD|      0.585|      1.012|      3.200\n",
        ),
        case(
            "columns in another order",
            "",
            "fail or refused: 941.5",
            "RTT|  00:00:01  (periodic user-mode task, 100 us period, priority 99)\n\
             RTH|----lat max|----lat avg|----lat min|-overrun|---msw|---lat best|--lat worst\n\
             RTD|    941.500|      1.012|      0.585|       0|     0|      0.585|    941.500\n",
        ),
        case(
            "cut columns",
            "",
            "not pass",
            "RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n\
             RTD|      0.585|      1.012\n",
        ),
        case(
            "clocktest",
            "",
            "refused",
            "== Testing built-in CLOCK_HOST_REALTIME (32)\nCPU      ToD offset [us] ToD drift [us/s]      warps max \
             delta [us]\n--- -------------------- ---------------- ---------- --------------\n\
             \x20 0                 -0.1            0.001          0            0.0\n",
        ),
    ]);
}

#[test]
fn what_is_no_recording_of_latencies() {
    check(vec![
        case(
            "vmstat",
            "",
            "refused",
            "procs -----------memory----------\n r  b   swpd   free\n 1  0      0 123456\n 0  0      0 123400\n",
        ),
        case(
            "interrupts",
            "",
            "refused",
            "           CPU0       CPU1\n  0:         33          0   IO-APIC    2-edge      timer\n  8:          0          1   IO-APIC    8-edge      rtc0\nLOC:     123456     123400   Local timer interrupts\n",
        ),
        case(
            "runqlat",
            "",
            "refused",
            "     usecs               : count     distribution\n         0 -> 1          : 233      |***********                             |\n         2 -> 3          : 742      |****************************************|\n",
        ),
        case(
            "bpftrace",
            "",
            "refused",
            "@usecs:\n[0, 1)               233 |@@@@@@@@@@@@                                  |\n[1, 2)               742 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n",
        ),
        case(
            "ping",
            "",
            "refused",
            "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.412 ms\n64 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=0.399 ms\nrtt min/avg/max/mdev = 0.399/0.405/0.412/0.006 ms\n",
        ),
        case(
            "fio",
            "",
            "refused",
            "     lat (usec): min=12, max=941, avg=15.31, stdev= 3.22\n    clat percentiles (usec):\n     |  1.00th=[   13],  5.00th=[   13]\n",
        ),
        case(
            "hackbench",
            "",
            "refused",
            "Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)\nTime: 0.412\n",
        ),
        case(
            "cycles of perf",
            "",
            "refused",
            "     1.234567      12,345,678      cycles\n     2.234567      12,345,999      cycles\n",
        ),
        case(
            "a log with times",
            "",
            "refused",
            "12:00:05 started\n12:00:06 12 done\n12:00:07 941 done\n",
        ),
        case("times of day alone", "", "refused", "12:00:05\n12:00:06\n12:00:07\n"),
        case("ratios", "", "refused", "1:2:3 scale\n 0:10:20 ratio\n"),
        case("addresses", "", "refused", "00:1a:2b:3c:4d:5e\n00:1a:2b:3c:4d:5f\n"),
        case("positions", "", "refused", "time,lat,lon\n1,52.5,13.4\n2,52.6,13.5\n"),
        case("a version", "", "refused", "1.2.3\n1.2.4\n"),
        case(
            "rows of six figures of something else",
            "",
            "refused",
            "000123 file one\n000456 file two\n",
        ),
        case("a dump", "", "refused", "0000000 1f8b 0808 0000 0000\n0000010 0003 0000\n"),
        case(
            "a help text",
            "",
            "refused",
            "cyclictest V 2.40\nUsage:\ncyclictest <options>\n\n-b USEC  --breaktrace=USEC send break trace command when latency > USEC\n",
        ),
        case(
            "an error of the tool",
            "",
            "refused",
            "# /dev/cpu_dma_latency set to 0us\nFATAL: Unable to change scheduling policy!\n",
        ),
        case(
            "a screen before the first cycle",
            "",
            "refused or inconclusive",
            format!(
                "{BANNER}{POLICY}T: 0 (    0) P:90 I:1000 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0\n"
            ),
        ),
        case(
            "a histogram without a latency",
            "",
            "refused",
            "# Histogram\n000000 000000\n000001 000000\n# Total: 000000000\n# Min Latencies: 1000000\n# Avg Latencies: 00000\n# Max Latencies: 00000\n# Histogram Overflows: 00000\n",
        ),
    ]);
}

/// A table of another tool that has a column of latencies is read by its names, or refused.
#[test]
fn tables_with_columns_of_latencies() {
    check(vec![
        case(
            "perf sched latency",
            "",
            "refused",
            " -----------------------------------------------------------------------------------------\n  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    | Max delay at\n -----------------------------------------------------------------------------------------\n  cyclictest:1234       |      1.234 ms |     1000 | avg:   0.012 ms | max:   0.941 ms | max at:     12.3 s\n",
        ),
        case(
            "averages and maxima",
            "",
            "refused or fail",
            "t,avg_latency_us,max_latency_us\n1,12,941\n2,12,15\n",
        ),
        case("averages alone are no latencies", "", "not pass", "t,avg_latency_us\n1,12\n2,13\n"),
        case(
            "a percentile a row",
            "",
            "pass or refused or inconclusive",
            "latency_us,percentile\n12,50\n13,99\n14,99.9\n",
        ),
        case(
            "a limit next to the latency",
            "",
            "refused or fail: 941",
            "limit_us;latency_us\n100;941\n100;12\n",
        ),
        case("two tools' columns", "", "refused", "cyclictest_lat_us,rtla_lat_us\n12,941\n13,15\n"),
        case(
            "a unit a row",
            "",
            "fail or inconclusive or refused",
            "latency,unit\n12,us\n941,ms\n",
        ),
        case(
            "names in quotes with delimiters",
            "",
            "fail: 941",
            "\"a, b\",\"latency, us\"\n1,12\n2,941\n",
        ),
    ]);
}
