//! A small output of every text format: several threads, with the largest latency in different
//! places. All pass a deadline just above it.

pub struct Output {
    pub name: &'static str,
    /// The options that it needs.
    pub command: &'static str,
    pub text: &'static str,
    /// Whether the loss of a digit shows: by the width of its column, leading zeros, or another
    /// figure of the output.
    pub tells_lost_digits: bool,
}

const fn output(
    name: &'static str,
    command: &'static str,
    tells_lost_digits: bool,
    text: &'static str,
) -> Output {
    Output { name, command, text, tells_lost_digits }
}

pub const OUTPUTS: &[Output] = &[
    output(
        "cyclictest -q",
        "",
        true,
        "# /dev/cpu_dma_latency set to 0us\n\
         T: 0 (23279) P:95 I:1000 C:   6000 Min:     11 Act:   16 Avg:   30 Max:      92\n\
         T: 1 (23280) P:95 I:1500 C:   4000 Min:      9 Act:   14 Avg:   29 Max:    8592\n\
         T: 2 (23281) P:95 I:2000 C:   3000 Min:      9 Act:   14 Avg:   29 Max:     813\n",
    ),
    output(
        "cyclictest, its screen",
        "",
        true,
        "# /dev/cpu_dma_latency set to 0us\npolicy: fifo: loadavg: 1.46 1.22 0.79 3/104 23272          \n\n\
         T: 0 (23271) P:95 I:1000 C:      3 Min:     37 Act:   37 Avg:   63 Max:      96\n\
         T: 1 (    0) P:95 I:1500 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0\n\
         \x1b[4Apolicy: fifo: loadavg: 1.46 1.22 0.79 2/104 23272          \n\n\
         T: 0 (23271) P:95 I:1000 C:     14 Min:     25 Act:   27 Avg:   40 Max:     996\n\
         T: 1 (23272) P:95 I:1500 C:      9 Min:     20 Act:   25 Avg:   26 Max:      30\n\
         \x1b[4Apolicy: fifo: loadavg: 1.46 1.22 0.79 2/104 23272          \n\n\
         T: 0 (23271) P:95 I:1000 C:     24 Min:     25 Act:   30 Avg:   39 Max:     996\n\
         T: 1 (23272) P:95 I:1500 C:     16 Min:     16 Act:   29 Avg:   26 Max:      33\n",
    ),
    output(
        "cyclictest -h",
        "",
        true,
        "# /dev/cpu_dma_latency set to 0us\n# Histogram\n000001 000010\t000000\t000020\n\
         000002 000005\t000011\t000000\n000003 000000\t000000\t000000\n000041 000000\t000004\t000000\n\
         000052 000000\t000000\t000002\n\
         # Total: 000000015 000000015 000000022\n# Min Latencies: 00001 00002 00001\n\
         # Avg Latencies: 00001 00012 00005\n# Max Latencies: 00002 00041 00052\n\
         # Histogram Overflows: 00000 00000 00000\n# Histogram Overflow at cycle number:\n# Thread 0:\n\
         # Thread 1:\n# Thread 2:\n",
    ),
    output(
        "cyclictest -h, with overflows",
        "",
        true,
        "# /dev/cpu_dma_latency set to 0us\n# Histogram\n000000 000000\t000000\n000001 000010\t000000\n\
         000002 000004\t000011\n# Total: 000000014 000000011\n# Min Latencies: 00001 00002\n\
         # Avg Latencies: 00001 00012\n# Max Latencies: 00400 00041\n# Histogram Overflows: 00001 00004\n\
         # Histogram Overflow at cycle number:\n# Thread 0: 00007\n# Thread 1: 00001 00002 00003 00014\n",
    ),
    output(
        "cyclictest -H, without empty rows and a total",
        "",
        true,
        "# Histogram\n000001 000010\t000000\t000010\n000007 000005\t000011\t000016\n\
         000041 000000\t000004\t000004\n# Min Latencies: 00001 00007\n# Avg Latencies: 00003 00016\n\
         # Max Latencies: 00007 00041 00041\n# Histogram Overflows: 00000 00000 00000\n\
         # Histogram Overflow at cycle number:\n# Thread 0:\n# Thread 1:\n",
    ),
    output(
        "cyclictest -v",
        "",
        true,
        "Max CPUs = 2\nOnline CPUs = 2\n# /dev/cpu_dma_latency set to 0us\nThread 0 Interval: 1000\n\
         Thread 1 Interval: 1000\n\
         \x20      0:       0:      39\n       0:       1:      34\n       1:       0:      22\n\
         \x20      1:       1:     841\n       1:       2:      17\n       0:       2:      29\n",
    ),
    output(
        "cyclicdeadline",
        "",
        true,
        "interval: 3000:5000\n  Tested at 8us of 3000us\ndeadline thread 31796\nmain thread 31795\n\
         thread[31796] runtime=3000us deadline=5000us\n\
         T: 0 (31796) I:5000 C:    399 Min:      4 Act:  107 Avg:   75 Max:     139\n\
         T: 1 (31797) I:5000 C:    399 Min:      4 Act:  607 Avg:   75 Max:    6139\n",
    ),
    output(
        "signaltest",
        "",
        true,
        "T: 0 (30501) P:90 C:    500 Min:     22 Act:   24 Avg:   28 Max:     128\n\
         T: 1 (30502) P:90 C:    500 Min:     22 Act:   25 Avg:  670 Max:   10115\n",
    ),
    output(
        "jitterdebugger",
        "",
        true,
        "T: 0 (26825) A: 0 C:      1964 Min:         8 Avg:   62.17 Max:      8386 \n\
         T: 1 (26826) A: 1 C:      1932 Min:         7 Avg:   15.41 Max:       111 \n",
    ),
    output(
        "jitterdebugger samples",
        "",
        false,
        "0;6263.632961970;49\n1;6263.632991970;39\n0;6263.633951384;39\n1;6263.633981970;412\n\
         0;6263.634944743;32\n1;6263.634991970;31\n",
    ),
    output(
        "oslat",
        "",
        true,
        "oslat V 2.60\nTotal runtime: \t\t2 seconds\nThread priority: \tSCHED_FIFO:1\nCPU list: \t\t1-2\n\
         Global bias set to 0 (us)\n\
         \x20       Core:\t 1 2\nCounter Freq:\t 2597 2597 (Mhz)\n    001 (us):\t 66144653 66144655\n\
         \x20   002 (us):\t 56 3\n    003 (us):\t 0 1\n    004 (us):\t 2 0 (including overflows)\n\
         \x20    Minimum:\t 1 1 (us)\n     Average:\t 1.000 1.000 (us)\n     Maximum:\t 941 3 (us)\n\
         \x20    Max-Min:\t 940 2 (us)\n    Duration:\t 1.998 1.998 (sec)\n",
    ),
    output(
        "hwlatdetect",
        "",
        true,
        "hwlatdetect:  test duration 60 seconds\n   detector: tracer\n   parameters:\n        Latency \
         threshold: 10us\n        Sample window:     1000000us\n        Sample width:      500000us\n     \
         Non-sampling period:  500000us\n        Output File:       None\n\nStarting test\ntest finished\n\
         Max Latency: 118us\nSamples recorded: 3\nSamples exceeding threshold: 3\n\
         ts: 1408928107.286324, inner:18, outer:17\nts: 1408928109.286324, inner:11, outer:118\n\
         ts: 1408928117.286324, inner:0, outer:13\n",
    ),
    output(
        "pmqtest",
        "",
        true,
        "#0: ID30510, P90, CPU0, I500; #1: ID30511, P90, CPU0, TO 0, Cycles 500\n\
         #2: ID30515, P90, CPU1, I1000; #3: ID30522, P90, CPU1, TO 0, Cycles 250\n\
         #1 -> #0, Min    3, Cur    3, Avg    3, Max  391\n\
         #3 -> #2, Min    3, Cur    4, Avg    4, Max   18\n",
    ),
    output(
        "rtla timerlat hist",
        "",
        true,
        "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:02\n\
         Index   IRQ-000   Thr-000   IRQ-001   Thr-001\n\
         0          1000       944      1000         0\n10            0        55         0       998\n\
         20            0         1         0         1\n30            0         0         0         1\n\
         over:         0         0         0         0\ncount:     1000      1000      1000      1000\n\
         min:          0         3         0        10\navg:          1         7         1        10\n\
         max:          7        21         9        34\n",
    ),
    output(
        "rtla osnoise hist",
        "",
        true,
        "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:01:00\n\
         Index   CPU-000   CPU-001\n0         42982     46287\n1         12224      8356\n2             8\
         \x20        5\n3             1         1\nover:         1         0\ncount:    55216     54649\n\
         min:          0         0\navg:          0         0\nmax:        930         3\n",
    ),
    output(
        "rtla timerlat top",
        "",
        true,
        "                                     Timer Latency\n  0 00:00:59   |          IRQ Timer Latency (us) \
         \x20      |         Thread Timer Latency (us)\nCPU COUNT      |      cur       min       avg       \
         max |      cur       min       avg       max\n\
         \x20 0 #58634     |        1         0         1        10 |       11         2        10        23\n\
         \x20 1 #58634     |        1         0         1         9 |       12         2         9       230\n\
         \x20 2 #58633     |       12         0         1        12 |       30         2        10        30\n",
    ),
    output(
        "rtla osnoise top",
        "",
        true,
        "                                          Operating System Noise\n\
         duration:   0 00:01:00 | time is in us\n\
         CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          \
         NMI          IRQ      Softirq       Thread\n\
         \x20 0 #59         59000000        12345    99.97907         941          120           3            \
         0        59001         2040           77\n\
         \x20 1 #59         59000000        11002    99.98135         412           98           0            \
         0        59000         1999           64\n",
    ),
    output(
        "stress-ng",
        "",
        true,
        "stress-ng: info:  [29268] dispatching hogs: 2 cyclic\n\
         stress-ng: info:  [29270] cyclic: sched SCHED_FIFO: 1000000 ns delay, 2000 samples\n\
         stress-ng: info:  [29270] cyclic:   mean: 27204.33 ns, mode: 15262 ns\n\
         stress-ng: info:  [29270] cyclic:   min: 11055 ns, max: 830333 ns, std.dev. 19786.31\n\
         stress-ng: info:  [29270] cyclic: latency percentiles:\n\
         stress-ng: info:  [29270] cyclic:   25.00%:      15833 ns\n\
         stress-ng: info:  [29270] cyclic:   99.99%:     830333 ns\n\
         stress-ng: info:  [29271] cyclic: sched SCHED_FIFO: 1000000 ns delay, 2000 samples\n\
         stress-ng: info:  [29271] cyclic:   mean: 27204.33 ns, mode: 15262 ns\n\
         stress-ng: info:  [29271] cyclic:   min: 11055 ns, max: 83033 ns, std.dev. 1986.31\n\
         stress-ng: info:  [29271] cyclic: latency percentiles:\n\
         stress-ng: info:  [29271] cyclic:   25.00%:      15833 ns\n\
         stress-ng: info:  [29271] cyclic:   99.99%:      83033 ns\n",
    ),
    output(
        "stress-ng --cyclic-dist",
        "",
        true,
        "stress-ng: info:  [29270] cyclic: sched SCHED_FIFO: 1000000 ns delay, 2000 samples\n\
         stress-ng: info:  [29270] cyclic:   mean: 19204.33 ns, mode: 15262 ns\n\
         stress-ng: info:  [29270] cyclic:   min: 11055 ns, max: 83033 ns, std.dev. 1986.31\n\
         stress-ng: info:  [29270] cyclic: latency distribution (5000 ns intervals):\n\
         stress-ng: info:  [29270] cyclic: (for the first 3 buckets of 17)\n\
         stress-ng: info:  [29270] cyclic: latency (ns)  frequency\n\
         stress-ng: info:  [29270] cyclic:            0          0\n\
         stress-ng: info:  [29270] cyclic:         5000          0\n\
         stress-ng: info:  [29270] cyclic:        10000       1999\n",
    ),
    output(
        "Xenomai",
        "",
        true,
        "== Sampling period: 100 us\n== Test mode: periodic user-mode task\n== All results in microseconds\n\
         warming up...\nRTT|  00:00:01  (periodic user-mode task, 100 us period, priority 99)\n\
         RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n\
         RTD|      1.400|      2.900|      21.500|       0|     0|      1.400|      21.500\n\
         RTD|      1.300|      2.900|      94.250|       0|     0|      1.300|      94.250\n\
         RTD|      1.300|      2.900|      11.500|       0|     0|      1.300|      94.250\n\
         ---|-----------|-----------|-----------|--------|------|-------------------------\n\
         RTS|      1.300|      2.900|      94.250|       0|     0|    00:00:03/00:00:03\n",
    ),
    output(
        "RTAI",
        "",
        true,
        "RTAI Testsuite - USER latency (all data in nanoseconds)\n\
         RTH|    lat min|    ovl min|    lat avg|    lat max|    ovl max|   overruns\n\
         RTD|     -20762|     -20762|      12879|      61300|      61300|          0\n\
         RTD|     -21162|     -21162|      20240|      94900|      94900|          0\n\
         RTD|     -20162|     -21162|      20240|      54900|      94900|          0\n",
    ),
    output(
        "latmus",
        "",
        true,
        "# test started on: Mon Mar  2 10:00:00 2020\n# sampling period: 1000 microseconds\n# context: user\n\
         # thread priority: 90\n# duration (hhmmss): 00:01:12\n# peak (hhmmss): 00:00:05\n\
         # min latency: 0.205\n# avg latency: 1.429\n# max latency: 25.510\n# sample count: 996\n\
         0 95\n1 900\n25 1\n",
    ),
    output(
        "rt-app",
        "",
        false,
        "# Policy : SCHED_FIFO priority : 20\n#idx perf run period start end rel_st slack c_duration c_period wu_lat\n\
         0 2000 41 2051 36259892355 36259894406 418 1945 100 2000 63\n\
         0 2000 31 1960 36259894418 36259896378 2480 1893 100 2000 34\n\
         0 2000 33 2015 36259896390 36259898405 4452 1051 100 2000 941\n",
    ),
    output("list", "", false, "latency_us\n12\n7\n941\n33\n9\n"),
    output("table", "", false, "at,cpu,latency_us\n1,0,12\n2,0,941\n3,1,33\n4,1,47\n"),
    output("table, its latencies first", "", false, "latency_us,cpu\n12,0\n33,1\n941,1\n47,0\n"),
    output("decimal commas", "", false, "at;lat_ms\n1;0,912\n2;1,5\n3;0,3\n"),
    output(
        "tabs and quotes",
        "",
        false,
        "\"at\"\t\"latency [ns]\"\n\"1\"\t\"5000\"\n\"2\"\t\"94100\"\n",
    ),
    output("weights", "", false, "latency_us|count\n5|100\n6|20\n41|3\n7|0\n"),
    output(
        "rttest",
        "",
        false,
        "iteration timestamp latency minor_faults major_faults\n0 1414000 9120 0 0\n1 2414000 94100 0 0\n\
         2 3414000 8000 0 0\n",
    ),
    output(
        "JSON of rt-tests",
        "",
        false,
        "{\n  \"file_version\": 1,\n  \"cmdline:\": \"cyclictest -q -h 100\",\n  \"rt_test_version:\": \
         \"2.40\",\n  \"return_code\": 0,\n  \"num_threads\": 2,\n  \"resolution_in_ns\": 0,\n  \"thread\": \
         {\n    \"0\": {\n      \"histogram\": {\n        \"7\": 10,\n        \"12\": 4,\n        \"41\": 1\n      \
         },\n      \"cycles\": 15,\n      \"min\": 7,\n      \"max\": 41,\n      \"avg\": 10.60,\n      \
         \"cpu\": 0\n    },\n    \"1\": {\n      \"histogram\": {\n        \"8\": 10,\n        \"30\": 5\n      \
         },\n      \"cycles\": 15,\n      \"min\": 8,\n      \"max\": 30,\n      \"avg\": 15.33,\n      \
         \"cpu\": 1\n    }\n  }\n}\n",
    ),
    output(
        "JSON of jitterdebugger",
        "",
        false,
        "{\n  \"version\": 3,\n  \"sysinfo\": {\n    \"sysname\": \"Linux\",\n    \"resolution_in_ns\": 1000\n  \
         },\n  \"cpu\": {\n    \"0\": {\n      \"histogram\": {\n        \"8\": 4,\n        \"9\": 21\n      \
         },\n      \"count\": 25,\n      \"min\": 8,\n      \"max\": 9,\n      \"avg\": 8.84\n    },\n    \
         \"1\": {\n      \"histogram\": {\n        \"7\": 24,\n        \"41\": 1\n      },\n      \
         \"count\": 25,\n      \"min\": 7,\n      \"max\": 41,\n      \"avg\": 8.36\n    }\n  }\n}\n",
    ),
    output(
        "rteval",
        "",
        false,
        "<?xml version=\"1.0\"?>\n<rteval version=\"3.7\">\n<uname><node>box</node><kernel is_RT=\"1\">6.6.0\
         </kernel></uname>\n<Measurements>\n<cyclictest command_line=\"cyclictest -qm\">\n\
         <core id=\"0\" priority=\"95\">\n<statistics>\n<samples>30</samples>\n<minimum unit=\"us\">2</minimum>\n\
         <maximum unit=\"us\">41</maximum>\n<mean unit=\"us\">3.9</mean>\n</statistics>\n\
         <histogram nbuckets=\"3\">\n<bucket index=\"2\" value=\"10\"/>\n<bucket index=\"3\" value=\"19\"/>\n\
         <bucket index=\"41\" value=\"1\"/>\n</histogram>\n</core>\n<core id=\"1\" priority=\"95\">\n\
         <statistics>\n<samples>30</samples>\n<minimum unit=\"us\">2</minimum>\n<maximum unit=\"us\">3</maximum>\n\
         <mean unit=\"us\">2.6</mean>\n</statistics>\n<histogram nbuckets=\"2\">\n\
         <bucket index=\"2\" value=\"10\"/>\n<bucket index=\"3\" value=\"20\"/>\n</histogram>\n</core>\n\
         </cyclictest>\n</Measurements>\n</rteval>\n",
    ),
];
