//! An example finding for each text; the tests of `latlab-report` use them too.

use latlab_model::Nanos;
use latlab_model::attach::{FaultKind, ThreadFault};
use latlab_model::call_site::{CallFrame, CallSite};
use latlab_model::finding::*;
use latlab_model::load::{Evidence, ExitStatus};
use latlab_model::nanos::{MICROSECOND, MILLISECOND, SECOND};
use latlab_model::run::{EndReason, KernelReserve};
use latlab_model::self_interference::OwnThread;

pub fn all() -> Vec<FindingKind> {
    let machine = machine().into_iter().map(FindingKind::from);
    let capture = capture().into_iter().map(FindingKind::from);
    let imports = imports().into_iter().map(FindingKind::from);
    let conditions = conditions().into_iter().map(FindingKind::from);
    let setup = setup().into_iter().map(FindingKind::from);
    let loads = loads().into_iter().map(FindingKind::from);
    let attach = attach().into_iter().map(FindingKind::from);
    let own_threads = own_threads().into_iter().map(FindingKind::from);
    let ends = ends().into_iter().map(FindingKind::from);
    let losses = losses().into_iter().map(FindingKind::from);
    let journal = journal().into_iter().map(FindingKind::from);
    let first = machine.chain(capture).chain(imports).chain(conditions).chain(setup);
    first
        .chain(loads)
        .chain(attach)
        .chain(own_threads)
        .chain(ends)
        .chain(losses)
        .chain(journal)
        .collect()
}

fn imports() -> Vec<ImportFinding> {
    use ImportFinding::*;
    let end_ns = MICROSECOND * 400;
    let over = |count, largest: Option<i64>, mean: Option<i64>| ImportOverflow {
        count,
        end_ns,
        largest_ns: largest.map(|us| MICROSECOND * us),
        stated_mean_ns: mean.map(|us| MICROSECOND * us),
    };
    vec![
        over(1, Some(1282), None),
        over(752, Some(1453), Some(651)),
        over(7, None, None),
        over(1, None, None),
        ImportOverflowUnknown { end_ns, largest_ns: Some(MICROSECOND * 426) },
        ImportOverflowUnknown { end_ns, largest_ns: None },
        ImportContradiction {
            about: "Number of latencies".into(),
            stated: "1988".into(),
            counted: "1987 in the bins".into(),
        },
        ImportIncomplete { missing: "its footer is not there".into() },
        ImportLeftOut {
            count: 2,
            items: "lines".into(),
            first_line: Some(2016),
            first: "-->".into(),
        },
        ImportLeftOut { count: 1, items: "values".into(), first_line: None, first: "NaN".into() },
        ImportOtherText { count: 2, first_line: 4, first: "root@board:~# cyclictest -q".into() },
        ImportSummaryOnly {},
        DeadlineUndecided { count: Some(1) },
        DeadlineUndecided { count: None },
        ImportNote { note: "The last of 24 lines of threads count for each thread.".into() },
    ]
}

fn machine() -> Vec<MachineFinding> {
    use MachineFinding::*;
    let refused = |setting: &str, asked: &str, applied: &str, matters| SettingRefused {
        setting: setting.into(),
        asked: asked.into(),
        applied: applied.into(),
        matters,
    };
    let by = "the fair server".to_string();
    let reserve = KernelReserve { by, taken_ns: MILLISECOND * 50, period_ns: SECOND };
    let taken = |gaps, in_pieces| ReserveTaken {
        gaps,
        taken_ns: MILLISECOND * 500,
        spun_ns: SECOND * 10,
        longest_ns: MILLISECOND * 50,
        in_pieces,
        reserve: reserve.clone(),
    };
    let period_aliases_tick = |tick_is_known| PeriodAliasesTick {
        period_ns: MILLISECOND,
        tick_hz: 250,
        tick_is_known,
        points: 4,
        better_period_ns: MICROSECOND * 997,
    };
    vec![
        refused("memory lock", "all pages", "nothing is locked", true),
        refused("idle states", "exit latency up to 0 us", "system default", false),
        refused("tuning governor", "performance", "powersave (cpu0)", true),
        refused("irqs-away that cannot be moved", "none", "1: irq 9", false),
        refused("/proc/sys/kernel/sched_rt_runtime_us", "-1", "950000", true),
        refused("scheduling", "fifo 90", "other", true),
        Suspended { length_ns: SECOND * 3600 },
        ClockStepped { by_ns: MILLISECOND * -2, measured_with: false },
        ClockStepped { by_ns: MILLISECOND * 2, measured_with: true },
        TaiOffsetChanged { by_ns: SECOND * 37, measured_with: false },
        TaiOffsetChanged { by_ns: SECOND, measured_with: true },
        ClocksUnknown {},
        NegativeLatency { count: 3, min_ns: Nanos(-40) },
        CpuOffline { cpu: 2, noticed_within_ns: MILLISECOND * 50 },
        period_aliases_tick(true),
        period_aliases_tick(false),
        taken(10, false),
        taken(1_000, true),
        SpinRested { rested_ns: MILLISECOND * 500, spun_ns: SECOND * 10 },
        FrequentOverruns { overruns: 5_000, due: 10_000, period_ns: MICROSECOND * 10 },
        EarlyMaximum {
            max_ns: MICROSECOND * 310,
            within_ns: SECOND,
            later_max_ns: MICROSECOND * 95,
            later_ns: SECOND * 59,
        },
        PageFaults { count: 1, lock_refused: false },
        PageFaults { count: 1, lock_refused: true },
        PageFaults { count: 12, lock_refused: true },
    ]
}

fn capture() -> Vec<CaptureFinding> {
    use CaptureFinding::*;
    let readings = vec![
        ImpossibleReading { number: 17, value_ns: Nanos(-998_971_927) },
        ImpossibleReading { number: 9_000, value_ns: Nanos(-5) },
    ];
    let impossible = |count, readings: &[ImpossibleReading], first_meant_ns| ResponseImpossible {
        count,
        readings: readings.to_vec(),
        first_meant_ns,
    };
    vec![
        ResponseNotMeasured { count: 4, stimuli: 10_000 },
        ResponseTimedOut { count: 1, stimuli: 500, timeout_ns: MILLISECOND * 2_000 },
        InstrumentEnded {
            readings: 12,
            asked: 500,
            why: "the connection to TCPIP::10.0.0.7::5025::SOCKET has ended: broken pipe"
                .to_string(),
        },
        MachineLost { has_loads: true },
        MachineLost { has_loads: false },
        impossible(3, &readings, Some(Nanos(28_073))),
        impossible(1, &readings[..1], None),
        ResponseMissing { count: 1, stimuli: 10_000 },
        ResponseLate { count: 2, stimuli: 10_000, window_ns: Some(MILLISECOND) },
        ResponseLate { count: 2, stimuli: 10_000, window_ns: None },
        ResponseDouble { count: 7 },
        ResponseSpurious { count: 1 },
        ProbesSwapped { stimulus: "D0".into(), response: "D1".into(), median_ns: MICROSECOND * 3 },
        SlowInStep {
            marker: "D2".into(),
            marked: 120,
            responses: 10_000,
            longest_ns: MICROSECOND * 9,
            longest_other_ns: MICROSECOND * 4,
            slower: 80,
        },
        FirstRowNoSample {},
        StimuliUntimed {},
        LevelsInDoubt {
            channel: "CH1".into(),
            levels: vec![0.0, 1.65, 3.3],
            used: 1.65,
            thresholds: vec![0.825, 2.475],
            rare: None,
            wanders: false,
        },
        LevelsInDoubt {
            channel: "CH2".into(),
            levels: vec![-0.003_21, 3.3],
            used: 1.65,
            thresholds: vec![1.65],
            rare: Some(1),
            wanders: false,
        },
        LevelsInDoubt {
            channel: "CH2".into(),
            levels: vec![0.0, 3.3],
            used: 1.65,
            thresholds: vec![1.65],
            rare: Some(3),
            wanders: false,
        },
        LevelsInDoubt {
            channel: "CH1".into(),
            levels: vec![0.4, 6.1],
            used: 3.25,
            thresholds: vec![3.25],
            rare: None,
            wanders: true,
        },
        ChannelNoise {
            channel: "CH2".into(),
            low: 9.2,
            high: 9.6,
            why: "its swing of 0.4 is 1 step of its converter (0.4)".into(),
        },
        ValuesOutside { channel: "CH1".into(), count: 4, low: 0.0, high: 3.3 },
        ValuesOutside { channel: "CH1".into(), count: 1, low: 0.0, high: 3.3 },
        ChunkMissing { parts: vec!["logic-1-3".into()] },
        CaptureLeftOut {
            count: 1,
            items: "rows".into(),
            first: "line 12: expected a number in column 2, found '3.x'".into(),
        },
        CaptureLeftOut {
            count: 1_200,
            items: "values".into(),
            first: "line 12: expected a number in column 2, found '>10'".into(),
        },
        CaptureIncomplete {
            places: 1,
            missing: "the file states 100000 samples and has 2001".into(),
        },
        CaptureIncomplete {
            places: 4,
            missing: "line 9: 2 samples before this row are missing".into(),
        },
        DeadlineWithinResolution { count: 1, resolution_ns: MICROSECOND * 10 },
        DeadlineWithinResolution { count: 3, resolution_ns: MICROSECOND * 10 },
        CaptureNote { note: "The last row is cut off.".into() },
    ]
}

fn conditions() -> Vec<ConditionFinding> {
    use ConditionFinding::*;
    let cpus = || [0, 1].into_iter().collect::<latlab_model::CpuSet>();
    let when = When { from_ns: SECOND * 40, to_ns: SECOND * 42 };
    let figures =
        |p99, max| Some(Latencies { p99_ns: MICROSECOND * p99, max_ns: MICROSECOND * max });
    let recorded = || "latency".to_string();
    let latencies = || LatencyComparison {
        recorded: recorded(),
        then: figures(80, 800),
        otherwise: figures(10, 100),
    };
    let throttled = |by| Throttled { by, when, latencies: latencies() };
    let drift = |last_c| TemperatureDrift {
        sensor: "cpu-thermal".into(),
        first_c: 50.3,
        last_c,
        latencies: LatencyComparison {
            recorded: "gap".into(),
            then: figures(80, 800),
            otherwise: None,
        },
    };
    let memory = |scarce, when| MemoryTaken {
        taken_bytes: 2 << 30,
        total_bytes: 8 << 30,
        least_bytes: 300 << 20,
        scarce,
        when,
        latencies: latencies(),
    };
    let competing = latlab_model::finding::CompetingThread {
        name: "pulse".into(),
        id: 9,
        policy: "fifo 95".into(),
        mean_share: 0.006,
        peak_share: 0.2,
        peak_at_ns: SECOND * 30,
    };
    let yes = ThreadShare { name: "yes".into(), id: 77, share: 0.97 };
    let changed = |threads: &[ThreadShare], shorter_changes| LoadChanged {
        cpu: 1,
        share: 0.98,
        usual_share: 0.05,
        when,
        threads: threads.to_vec(),
        shorter_changes,
        latencies: latencies(),
    };
    let other_work = |threads: &[ThreadShare]| OtherWork {
        cpus: "0-1".parse().unwrap(),
        share: 0.97,
        threads: threads.to_vec(),
    };
    vec![
        other_work(&[]),
        other_work(&[ThreadShare { name: "stress".into(), id: 12, share: 0.9 }]),
        throttled(Throttling::UnderVoltage),
        throttled(Throttling::FrequencyCapped),
        throttled(Throttling::CpuThrottled),
        throttled(Throttling::SoftTemperatureLimit),
        throttled(Throttling::Counter { subject: "cpu0 core".into(), count: 3 }),
        throttled(Throttling::LowerLimit { cpus: cpus(), low_mhz: 600.0, high_mhz: 1500.0 }),
        FrequencyChanged {
            cpus: cpus(),
            low_mhz: 600.0,
            high_mhz: 1500.0,
            when,
            latencies: latencies(),
        },
        drift(55.7),
        drift(71.0),
        Steal {
            cpu: 0,
            mean_share: 0.003,
            worst_share: 0.3,
            when: Some(when),
            latencies: LatencyComparison { recorded: recorded(), then: None, otherwise: None },
        },
        Steal { cpu: 0, mean_share: 0.003, worst_share: 0.004, when: None, latencies: latencies() },
        Swapped { pages: 40, when, latencies: latencies() },
        CompetingThread {
            cpus: cpus(),
            threads: vec![competing],
            others: 4,
            latencies: latencies(),
        },
        changed(&[yes], 0),
        changed(&[], 2),
        memory(false, Some(when)),
        memory(true, None),
        ClocksourceChanged {
            before: "tsc".into(),
            after: "hpet".into(),
            since_start_ns: SECOND * 33,
            latencies: latencies(),
        },
        Smi { count: 3, when, latencies: latencies() },
        KernelEvent { event: "rt-throttling".into(), count: 1, when, latencies: latencies() },
        KernelEvent { event: "rcu-stall".into(), count: 2, when, latencies: latencies() },
        TelemetryLost { readings: 3 },
        TelemetryGap { gaps: 2, when, usual_ns: SECOND, latencies: latencies() },
        TelemetryCost { cpu_share: 0.013, limit_share: 0.005 },
    ]
}

fn setup() -> Vec<SetupFinding> {
    use SetupFinding::*;
    let setting = |now: Option<&str>, error: Option<&str>| SettingNotRestored {
        setting: "/proc/sys/kernel/timer_migration".into(),
        before: "1".into(),
        now: now.map(str::to_string),
        error: error.map(str::to_string),
    };
    let changed = |setting: &str, held: &str, now: &str, matters| SettingChanged {
        setting: setting.into(),
        held: held.into(),
        now: now.into(),
        matters,
    };
    vec![
        CpusShared {
            cpus: [0, 1].into_iter().collect(),
            holder: "'latlab run' (process 4711)".into(),
        },
        CpusNotHeld { error: "Read-only file system (os error 30)".into() },
        changed("scheduling", "fifo 90", "other", true),
        changed("tuning irqs (24 (eth0))", "not on CPU 1", "on CPU 0-1", true),
        changed("timer slack", "1 ns", "50000 ns", false),
        SettingUnreadable {
            setting: "/proc/sys/kernel/timer_migration".into(),
            held: "0".into(),
            reason: "No such file or directory (os error 2)".into(),
        },
        SettingWritten { setting: "/proc/sys/kernel/timer_migration".into(), value: "0".into() },
        setting(None, None),
        setting(Some("7"), None),
        setting(None, Some("Permission denied (os error 13)")),
    ]
}

fn loads() -> Vec<LoadFinding> {
    use LoadFinding::*;
    let load = || "hackbench".to_string();
    let status = |code| ExitStatus { code: Some(code), signal: None };
    let died = |death| LoadDied { load: load(), death };
    let failed = |code, last_line: Option<&str>| LoadDeath::Failed {
        early_ns: SECOND * 6,
        status: status(code),
        last_line: last_line.map(str::to_string),
    };
    let weak = |shortfall| LoadTooWeak { load: load(), shortfall };
    let late = |start| LoadStartedLate { load: load(), start };
    vec![
        late(LoadStart::Late { late_ns: MILLISECOND * 1_200 }),
        late(LoadStart::Never { least_share: 0.5 }),
        late(LoadStart::Never { least_share: 0.0 }),
        LoadEndedEarly { load: load(), early_ns: SECOND, status: status(0), last_line: None },
        died(LoadDeath::NotStarted),
        died(LoadDeath::Unwatched),
        died(failed(1, Some("fork() failed"))),
        died(failed(127, None)),
        weak(LoadShortfall::Cpu {
            mean_share: 0.2,
            least_share: 0.5,
            weak_ns: SECOND * 4,
            measured_ns: SECOND * 10,
        }),
        weak(LoadShortfall::Counter {
            counter: Evidence::ContextSwitches,
            unit: "1/s".into(),
            mean_per_second: 12.0,
            least_per_second: 5_000.0,
        }),
        LoadElsewhere {
            load: load(),
            asked: [1].into_iter().collect(),
            seen: [0, 1, 2, 3].into_iter().collect(),
        },
        LoadLostCpus {
            load: load(),
            lost: [0].into_iter().collect(),
            left: [1, 2, 3].into_iter().collect(),
        },
        LoadLostPriority { load: load(), held: "other 0".into(), now: "idle 0".into() },
        LoadPaused {
            load: load(),
            idle_ns: SECOND * 3,
            watched_ns: SECOND * 10,
            share_before: 0.9,
        },
        LoadNotEnded { load: load(), processes: 2 },
    ]
}

fn attach() -> Vec<AttachFinding> {
    use AttachFinding::*;
    let name = || "control".to_string();
    let fault = |kind, call: Option<&str>, object: Option<&str>| ThreadFault {
        kind,
        call: call.map(str::to_string),
        object: object.map(str::to_string),
        count: 12,
        cycles: 11,
        longest_ns: MICROSECOND * 340,
        sites: Vec::new(),
    };
    let frame = |function: &str, line| CallFrame {
        module: "/opt/control".into(),
        offset: 0x12a4,
        function: Some(function.into()),
        file: Some("/src/control.c".into()),
        line: Some(line),
    };
    let site = |line| CallSite { site: 0, count: 4, frames: vec![frame("step", line)] };
    let placed = |kind, call: Option<&str>, lines: std::ops::Range<u32>| {
        let sites = lines.map(site).collect();
        AttachFinding::of_fault("control", &ThreadFault { sites, ..fault(kind, call, None) }, None)
    };
    let of_fault = |kind, call, object| {
        AttachFinding::of_fault("control", &fault(kind, call, object), Some(MILLISECOND))
    };
    let other = "read of file descriptor 7 (pipe)".to_string();
    vec![
        AttachFailed { error: "cannot start control: permission denied".into() },
        NoCycles { waited: Vec::new() },
        NoCycles { waited: vec![("control".into(), 7)] },
        CyclesUnseen { name: name(), count: 40, followed: 9_960 },
        ActivationAmbiguous { name: name(), call: "epoll_wait".into(), other: other.clone() },
        ActivationAmbiguous { name: name(), call: other.clone(), other: other.clone() },
        ActivationLost { name: name(), call: other },
        CyclesWaiting { name: name(), count: 6, of: 2_000 },
        RhythmChanged {
            name: name(),
            before_ns: Nanos(1_000_000),
            after_ns: Nanos(2_000_000),
            was_deadline: true,
        },
        RhythmChanged {
            name: name(),
            before_ns: Nanos(1_000_000),
            after_ns: Nanos(2_000_000),
            was_deadline: false,
        },
        PolicyChanged { name: name(), before: "fifo 80".into(), after: "other".into() },
        of_fault(FaultKind::RelativeSleep, Some("clock_nanosleep"), None),
        of_fault(FaultKind::SettableClock, Some("clock_nanosleep"), None),
        of_fault(FaultKind::Sleep, Some("clock_nanosleep"), None),
        placed(FaultKind::Sleep, Some("clock_nanosleep"), 23..24),
        placed(FaultKind::Heap, Some("munmap"), 20..25),
        placed(FaultKind::PageFault, None, 40..42),
        of_fault(FaultKind::PageFault, None, None),
        of_fault(FaultKind::Heap, Some("munmap"), None),
        of_fault(FaultKind::Write, Some("write"), Some("/dev/pts/3")),
        of_fault(FaultKind::Sync, Some("fsync"), Some("/var/log/control")),
        of_fault(FaultKind::Open, Some("openat"), None),
        of_fault(FaultKind::Yield, Some("sched_yield"), None),
        of_fault(FaultKind::Lock, Some("futex"), Some("sensor")),
        of_fault(FaultKind::Lock, Some("futex"), None),
        of_fault(FaultKind::Inversion, Some("futex"), Some("logger")),
        of_fault(FaultKind::TickTimeout, Some("recvfrom"), Some("socket")),
        of_fault(FaultKind::Throttled, None, None),
        of_fault(FaultKind::SharedCpu, None, Some("logger")),
        of_fault(FaultKind::LowWaker, Some("read"), Some("irq/40-can0")),
        of_fault(FaultKind::Unlocked, None, Some("0 of 2024 KiB are locked")),
        of_fault(FaultKind::Ordinary, None, Some("other")),
    ]
}

fn own_threads() -> Vec<OwnThreadFinding> {
    use OwnThreadFinding::*;
    let threads = || vec![OwnThread::Telemetry, OwnThread::Drainer];
    let in_largest = |affected, max_without_ns| InLargest {
        affected,
        compared: 20,
        threads: threads(),
        max_ns: MICROSECOND * 55,
        max_without_ns,
    };
    vec![
        in_largest(3, Some(Nanos(17_900))),
        in_largest(1, Some(MICROSECOND * 55)),
        in_largest(20, None),
        OnMeasuredCpus { ran_ns: MILLISECOND * 12, threads: threads() },
        WorkLost { stretches: 1 },
        WorkLost { stretches: 1_200 },
    ]
}

fn ends() -> Vec<EndFinding> {
    use EndFinding::*;
    let target = || "lab:virt/rt".parse::<latlab_model::Target>().unwrap();
    let early = |reason| ThreadEndedEarly { reason };
    vec![
        ThreadStarved { cpu: Some(1), moved_to: [0].into_iter().collect() },
        AgentStopped { times: 1, length_ns: SECOND * 2 },
        ThreadStarved { cpu: Some(0), moved_to: Default::default() },
        early(EndReason::CpuOffline),
        early(EndReason::RanAway),
        early(EndReason::RecorderFull),
        early(EndReason::Interrupted),
        early(EndReason::Failed),
        early(EndReason::Lost),
        ThreadLost {},
        StreamLost { measured_to: Some("2026-11-21T17:09:16.000Z".into()) },
        StreamLost { measured_to: None },
        VirtualTime { target: target() },
        WireByHost { wires: vec!["from line 3 to line 5".into()], has_breakdown: true },
        WireByHost {
            wires: vec!["from line 20 to line 21".into(), "from line 22 to line 23".into()],
            has_breakdown: false,
        },
        GuestNoisy { target: target(), accelerator: "kvm".into() },
        PlantedFault { fault: "fault,kind=irqs-off,for=500us".into() },
        GuestEnded {},
        GuestTimeLimit { limit_ns: SECOND * 480 },
        EmulatorFailed { status: "exit status: 1".into(), last_line: Some("no such CPU".into()) },
        EmulatorFailed { status: "signal: 9 (SIGKILL)".into(), last_line: None },
        BoardLost { target: "ssh://pi".into(), reason: "Connection reset by peer".into() },
        BoardTraffic { bytes: 123_456, length_ns: SECOND * 10 },
        BoardInterrupts { cpus: vec![CpuRate { cpu: 3, per_second: 12.25 }] },
        DetachedBound { most_bytes: 9_000_000 },
        BoardClockOff { off_ns: SECOND * -86_400 * 20_000 },
        BoardClockOff { off_ns: SECOND * 86_400 },
        HostCrowded { waited_share: 0.31 },
        SpikeCommandFailed { failed: 1, started: 12 },
    ]
}

fn losses() -> Vec<LossFinding> {
    use LossFinding::*;
    let unsound = |flaw| IntervalUnsound { flaw };
    let samples = |count, within_ns, damage: Option<&str>, asked_for| SamplesLost {
        count,
        within_ns,
        damage: damage.map(str::to_string),
        asked_for,
    };
    let trace = |events, with_latencies, damage: Option<&str>| TraceLost {
        events,
        with_latencies,
        damage: damage.map(str::to_string),
    };
    vec![
        IntervalsGrown { count: 4 },
        IntervalsMerged { count: 2 },
        StoredFileChanged { name: "samples.parquet".into(), bytes: Some(7), stored_bytes: 9_000 },
        StoredFileChanged { name: "samples.parquet".into(), bytes: None, stored_bytes: 9_000 },
        SpikesLost { count: 17 },
        SpikesUncounted { count: 2, largest_ns: SECOND * 2 },
        trace(Some(1_234), false, None),
        trace(Some(1), true, None),
        trace(None, false, Some("its lengths differ")),
        BreakdownUnsound { count: Some(3), traced: Some(60_000) },
        BreakdownUnsound { count: None, traced: None },
        BreakdownMissing { traced: 60_000, irq: 20_000, thread_part: 59_000 },
        SpikesNotRecorded { seen: 900, rate_limited: 70, stream_full: 3 },
        EventsOverwritten { spikes: 2, ring_kib: 4_096 },
        RecordingUnreadable { reason: "the layout of the pages is unknown".into() },
        samples(Some(9), Some(MILLISECOND * 9), None, true),
        samples(Some(9), Some(MILLISECOND * 9), None, false),
        samples(None, None, Some("its length is impossible"), true),
        SamplesMissing { count: 1, cut_off: true },
        SamplesMissing { count: 9, cut_off: false },
        IntervalLost { length_ns: SECOND },
        unsound(IntervalFlaw::EndsBeforeItBegins),
        unsound(IntervalFlaw::Overlaps),
        unsound(IntervalFlaw::ImpossibleCount),
        unsound(IntervalFlaw::DisorderedBins),
        unsound(IntervalFlaw::WrongBinSum),
        unsound(IntervalFlaw::ImpossibleSum),
        unsound(IntervalFlaw::OtherEdges),
        CountsDiffer { what: "overruns".into(), by_thread: 12, by_intervals: 11 },
        UnknownThread { what: "samples".into(), number: 7 },
    ]
}

fn journal() -> Vec<JournalFinding> {
    use JournalFinding::*;
    let damaged = |part, damage: Option<&str>| JournalDamaged {
        bytes: 4_096,
        part,
        damage: damage.map(str::to_string),
    };
    let full = || "No space left on device (os error 28)".to_string();
    vec![
        JournalNotSynced { error: "Input/output error (os error 5)".into() },
        FolderDeleted { bytes: 123_456, folder: "runs".into() },
        JournalNotWritten { frames: 2, error: full() },
        JournalCut { bytes: 117 },
        damaged(JournalPart::Middle, None),
        damaged(JournalPart::End, Some("wrong checksum")),
        damaged(JournalPart::End, None),
    ]
}
