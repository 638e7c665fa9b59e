//! A wake-up as the plugin would write it, of a kernel with a few functions.

use super::result::{ReplayPart, ReplayTable};
use super::*;
use latlab_model::Nanos;

const SYMBOLS: &str = "\
ffffffff81000000 T asm_sysvec_apic_timer_interrupt
ffffffff81001000 T hrtimer_wakeup
ffffffff81002000 T __schedule
ffffffff81003000 T __switch_to_asm
ffffffff81004000 t do_nanosleep
";
const KERNEL: u64 = 0xffff_ffff_8100_0000;
const NOP: &[u8] = &[0x90];
const CALL: &[u8] = &[0xe8, 0, 0, 0, 0];
const RETURN: &[u8] = &[0xc3];
const TO_PROGRAM: &[u8] = &[0x48, 0x0f, 0x07];
const READ_CLOCK: &[u8] = &[0x0f, 0x31];
const SWITCHED: u32 = 1 << 28;
const CLOCK_READ: u32 = 2 << 28;
const FOLLOWS: u32 = 3 << 28;
const HACKBENCH: u32 = 1;
const MEASURED: u32 = 2;

#[derive(Default)]
struct Plugin {
    out: Vec<u8>,
    blocks: u32,
    count: u64,
    // The next block, if nothing else comes before it.
    follows: u32,
    records: Vec<u8>,
}

impl Plugin {
    fn item(&mut self, kind: u32, bytes: &[u8]) {
        self.out.extend([kind.to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat());
        self.out.extend(bytes);
    }

    fn words(&mut self, kind: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.item(kind, &bytes);
    }

    fn task(&mut self, number: u32, pid: u32, name: &str) {
        let mut bytes = [number, pid, pid, 0, 0, 0].map(u32::to_le_bytes).concat();
        bytes.extend(name.as_bytes());
        bytes.resize(40, 0);
        self.item(3, &bytes);
    }

    fn record(&mut self, kind: u32) {
        // Of blocks that begin where the previous one ended, write every second one as such.
        if kind == self.follows && kind.is_multiple_of(2) {
            self.records.extend((kind | FOLLOWS).to_le_bytes());
        } else {
            self.records.extend([kind, 0].map(u32::to_le_bytes).concat());
            self.records.extend(self.count.to_le_bytes());
        }
        self.follows = kind + 1;
    }

    /// A block of this many instructions without effect and this last one, which runs once.
    fn runs(&mut self, address: u64, idle: usize, last: &[u8]) {
        self.blocks += 1;
        let sizes = [vec![1; idle], vec![last.len() as u8]].concat();
        let mut bytes = [self.blocks, sizes.len() as u32].map(u32::to_le_bytes).concat();
        bytes.extend(address.to_le_bytes());
        bytes.extend(&sizes);
        bytes.extend([NOP.repeat(idle), last.to_vec()].concat());
        self.item(2, &bytes);
        self.record(self.blocks);
        self.count += sizes.len() as u64;
    }

    /// Another thread has had the CPU since the previous block.
    fn switched(&mut self, task: u32) {
        self.record(SWITCHED | task);
    }

    fn wakes(&mut self, release: i64, clock: i64) {
        let mut bytes = [release, clock, self.count as i64].map(i64::to_le_bytes).concat();
        bytes.extend([HACKBENCH, MEASURED].map(u32::to_le_bytes).concat());
        bytes.append(&mut self.records);
        self.item(4, &bytes);
    }
}

/// A program that is interrupted by the timer of the measured thread, which returns from its sleep.
fn one_wake_up() -> Vec<u8> {
    let mut plugin = Plugin::default();
    plugin.words(1, &[2, 1]);
    plugin.task(HACKBENCH, 77, "hackbench");
    plugin.task(MEASURED, 100, "latlab/0");
    plugin.count = 1_000;
    plugin.runs(0x40_0000, 19, NOP);
    plugin.runs(KERNEL, 5, CALL);
    plugin.runs(KERNEL + 0x1000, 20, RETURN);
    plugin.runs(KERNEL + 10, 3, CALL);
    plugin.runs(KERNEL + 0x2000, 9, CALL);
    plugin.runs(KERNEL + 0x3000, 5, RETURN);
    plugin.switched(MEASURED);
    plugin.runs(KERNEL + 0x2040, 4, RETURN);
    plugin.runs(KERNEL + 0x4040, 5, TO_PROGRAM);
    plugin.runs(0x50_0000, 4, READ_CLOCK);
    plugin.record(CLOCK_READ | MEASURED);
    // 12 instructions of the program ran before the release.
    plugin.wakes(5_000, 5_000 + (plugin.count - 1_012) as i64);
    let end = [plugin.count, 1, 1, 0].map(u64::to_le_bytes).concat();
    plugin.item(5, &end);
    plugin.out
}

fn kernel() -> GuestKernel<'static> {
    GuestKernel { architecture: "x86_64", symbols: SYMBOLS, preempt_count: None, preempts: false }
}

fn read_records(mut records: &[u8]) -> io::Result<(Vec<ReplayedLatency>, ReplayTable)> {
    let (mut all, mut tally) = (Vec::new(), ReplayTally::default());
    tell_replay(kernel(), &mut records, &mut |told| {
        tally.push(&told);
        all.push(told);
    })?;
    Ok((all, tally.finish()))
}

/// Invariant (laboratory): The parts of a wake-up that is run again are its latency, instruction by instruction.
#[test]
fn a_wake_up_is_cut_into_its_parts_to_the_instruction() {
    let (all, table) = read_records(&one_wake_up()).unwrap();
    let [one] = &all[..] else { panic!("{all:?}") };
    assert_eq!((one.latency_ns, one.gap.as_deref()), (Nanos(71), None));
    let parts: Vec<_> = one
        .parts
        .iter()
        .map(|part| {
            let thread = part.thread.as_ref().map_or("", |thread| &thread.name);
            (part.part, part.length().0, thread, part.interrupts_off_ns.0)
        })
        .collect();
    let expected = [
        (ReplayPart::Due, 8, "hackbench", 0),
        (ReplayPart::Interrupt, 6, "hackbench", 6),
        (ReplayPart::Waking, 21, "hackbench", 21),
        (ReplayPart::InterruptEnd, 4, "hackbench", 4),
        (ReplayPart::Switching, 16, "hackbench", 16),
        // Its context before recording began is unknown, except for the function that it returns
        // to.
        (ReplayPart::Returning, 5, "latlab/0", 5),
        (ReplayPart::Returning, 6, "latlab/0", 6),
        (ReplayPart::Reading, 5, "latlab/0", 0),
    ];
    assert_eq!(parts, expected);
    assert_eq!((table.wake_ups, table.whole), (1, 1));
    assert_eq!(table.parts.iter().map(|part| part.total_ns.0).sum::<i64>(), 71);
    assert_eq!(table.causes[0].who, "hackbench");
}

#[test]
fn output_that_breaks_off_or_is_damaged_is_refused() {
    let whole = one_wake_up();
    for cut in [0, 7, 20, 300, whole.len() - 41, whole.len() - 1] {
        assert!(read_records(&whole[..cut]).is_err(), "cut at {cut}");
    }
    let mut longer = whole.clone();
    longer[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(read_records(&longer).unwrap_err().to_string().contains("impossibly long"));
}
