//! The same spike as written by kernels of many years, each with its own formats for reading the
//! pages. The layouts are those of these kernels' format files.

use super::*;
use latlab_model::flight::{EventDescription, PageRange, TraceFormats};

const OWN: u64 = 100;
const BUSY: u64 = 7;
const TIMER: u64 = 0xffff_8880_1234_5678;
const RELEASE: u64 = 5_000_000_000;

type FieldOf = (&'static str, usize);

/// A kernel, by the features that make its pages different.
struct PastKernel {
    name: &'static str,
    /// Size of a pointer and of `long` in bytes.
    word: usize,
    /// Fields after the thread in every event, on kernels with the real-time patch.
    common: &'static [FieldOf],
    /// Whether timer events have a mode.
    has_mode: bool,
    /// How `sched_switch` marks a preempted thread.
    preempted: u64,
    /// Whether the timer's interrupt is a dedicated vector; else it is a device.
    has_vectors: bool,
    /// Number of the first event.
    first_id: u16,
}

const KERNELS: [PastKernel; 6] = [
    PastKernel {
        name: "4.9",
        word: 8,
        common: &[],
        has_mode: false,
        preempted: 0x800,
        has_vectors: true,
        first_id: 40,
    },
    PastKernel {
        name: "4.14",
        word: 8,
        common: &[],
        has_mode: false,
        preempted: 0x100,
        has_vectors: true,
        first_id: 90,
    },
    PastKernel {
        name: "4.19",
        word: 8,
        common: &[],
        has_mode: true,
        preempted: 0x100,
        has_vectors: true,
        first_id: 120,
    },
    PastKernel {
        name: "4.19 with PREEMPT_RT",
        word: 8,
        common: &[
            ("unsigned short common_migrate_disable", 2),
            ("unsigned short common_padding", 2),
        ],
        has_mode: true,
        preempted: 0x100,
        has_vectors: true,
        first_id: 130,
    },
    PastKernel {
        name: "5.10",
        word: 8,
        common: &[],
        has_mode: true,
        preempted: 0x100,
        has_vectors: true,
        first_id: 300,
    },
    PastKernel {
        name: "4.14 of 32 bits",
        word: 4,
        common: &[],
        has_mode: false,
        preempted: 0x100,
        has_vectors: false,
        first_id: 33,
    },
];

impl PastKernel {
    fn fields(&self, event: &str) -> Vec<FieldOf> {
        let pointer = |declared| (declared, self.word);
        let mut fields: Vec<FieldOf> = vec![
            ("unsigned short common_type", 2),
            ("unsigned char common_flags", 1),
            ("unsigned char common_preempt_count", 1),
            ("int common_pid", 4),
        ];
        fields.extend(self.common);
        let own: &[FieldOf] = match event {
            "sched/sched_switch" => &[
                ("char prev_comm[16]", 16),
                ("pid_t prev_pid", 4),
                ("int prev_prio", 4),
                ("long prev_state", 0),
                ("char next_comm[16]", 16),
                ("pid_t next_pid", 4),
                ("int next_prio", 4),
            ],
            "sched/sched_waking" => &[
                ("char comm[16]", 16),
                ("pid_t pid", 4),
                ("int prio", 4),
                ("int success", 4),
                ("int target_cpu", 4),
            ],
            "timer/hrtimer_start" => &[
                ("void * hrtimer", 0),
                ("void * function", 0),
                ("s64 expires", 8),
                ("s64 softexpires", 8),
                ("enum hrtimer_mode mode", 4),
            ],
            "timer/hrtimer_expire_entry" => {
                &[("void * hrtimer", 0), ("s64 now", 8), ("void * function", 0)]
            }
            "timer/hrtimer_expire_exit" => &[("void * hrtimer", 0)],
            "irq/irq_handler_entry" => &[("int irq", 4), ("__data_loc char[] name", 4)],
            "irq/irq_handler_exit" => &[("int irq", 4), ("int ret", 4)],
            "irq/softirq_entry" | "irq/softirq_exit" => &[("unsigned int vec", 4)],
            _ => &[("int vector", 4)],
        };
        let is_there = |(declared, _): &&FieldOf| self.has_mode || !declared.ends_with(" mode");
        let sized = |&(declared, size): &FieldOf| {
            if size == 0 { pointer(declared) } else { (declared, size) }
        };
        fields.extend(own.iter().filter(is_there).map(sized));
        fields
    }

    fn events(&self) -> Vec<&'static str> {
        let all = [
            "sched/sched_switch",
            "sched/sched_waking",
            "timer/hrtimer_start",
            "timer/hrtimer_expire_entry",
            "timer/hrtimer_expire_exit",
            "irq/irq_handler_entry",
            "irq/irq_handler_exit",
            "irq/softirq_entry",
            "irq/softirq_exit",
            "irq_vectors/local_timer_entry",
            "irq_vectors/local_timer_exit",
        ];
        all.into_iter()
            .filter(|event| self.has_vectors || !event.starts_with("irq_vectors"))
            .collect()
    }

    /// Each field at the offset that the compiler gives it.
    fn laid_out(&self, event: &str) -> Vec<(&'static str, usize, usize)> {
        let mut at = 0_usize;
        let place = |(declared, size): FieldOf| {
            let step = if declared.contains("[16]") { 1 } else { size };
            at = at.next_multiple_of(step);
            at += size;
            (declared, at - size, size)
        };
        self.fields(event).into_iter().map(place).collect()
    }

    fn formats(&self) -> TraceFormats {
        let describe = |(id, event): (u16, &str)| {
            let line = |(declared, offset, size): (&str, usize, usize)| {
                let signed = u8::from(declared.starts_with("int") || declared.starts_with("s64"));
                format!("\tfield:{declared};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n")
            };
            let fields: String = self.laid_out(event).into_iter().map(line).collect();
            let name = event.split('/').next_back().unwrap();
            let format = format!("name: {name}\nID: {id}\nformat:\n{fields}\nprint fmt: \"\"\n");
            EventDescription { event: event.to_string(), format }
        };
        let (length, data) = (self.word, 8 + self.word);
        let header_page = format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:{length};\tsigned:1;\n\
             \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
             \tfield: char data;\toffset:{data};\tsize:{};\tsigned:1;\n",
            4096 - data
        );
        let events = (self.first_id..).zip(self.events()).map(describe).collect();
        TraceFormats { header_page, events, ring_kib: 64, ..TraceFormats::default() }
    }

    /// An event with these values; texts are placed by their field.
    fn event(&self, event: &str, thread: u64, values: &[(&str, Value)]) -> Vec<u8> {
        let id = self.first_id + self.events().iter().position(|one| *one == event).unwrap() as u16;
        let fields = self.laid_out(event);
        let end = fields.last().map_or(0, |(_, offset, size)| offset + size);
        let mut bytes = vec![0; end];
        for (declared, offset, size) in fields {
            let name = declared.split('[').next().unwrap().rsplit([' ', '*']).next().unwrap();
            let value = match name {
                "common_type" => Value::Number(id.into()),
                "common_pid" => Value::Number(thread),
                _ if declared.starts_with("__data_loc") => {
                    let text = b"arch_timer\0";
                    bytes.extend_from_slice(text);
                    Value::Number(end as u64 | (text.len() as u64) << 16)
                }
                _ => values
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map_or(Value::Number(0), |(_, value)| *value),
            };
            match value {
                Value::Number(number) => {
                    bytes[offset..offset + size].copy_from_slice(&number.to_le_bytes()[..size])
                }
                Value::Text(text) => {
                    bytes[offset..offset + text.len()].copy_from_slice(text.as_bytes())
                }
            }
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    /// A page that begins at this time, with events each at an offset from it.
    fn page(&self, begin: u64, events: Vec<(u64, Vec<u8>)>) -> Vec<u8> {
        let (mut data, mut at) = (Vec::new(), 0);
        for (time, event) in events {
            let first = (event.len() as u32 / 4) | ((time - at) as u32) << 5;
            data.extend_from_slice(&first.to_le_bytes());
            data.extend_from_slice(&event);
            at = time;
        }
        let length = (data.len() as u64).to_le_bytes();
        [&begin.to_le_bytes()[..], &length[..self.word], &data].concat()
    }
}

#[derive(Clone, Copy)]
enum Value {
    Number(u64),
    Text(&'static str),
}

#[test]
fn the_pages_of_kernels_of_many_years_tell_the_same() {
    use Value::{Number, Text};
    for kernel in KERNELS {
        let timer = if kernel.word == 4 { TIMER & 0xffff_ffff } else { TIMER };
        let switch = |from: (&'static str, u64, u64), state, to: (&'static str, u64, u64)| {
            let values = [
                ("prev_comm", Text(from.0)),
                ("prev_pid", Number(from.1)),
                ("prev_prio", Number(from.2)),
                ("prev_state", Number(state)),
                ("next_comm", Text(to.0)),
                ("next_pid", Number(to.1)),
                ("next_prio", Number(to.2)),
            ];
            kernel.event("sched/sched_switch", from.1, &values)
        };
        let (own, busy) = (("latlab/0", OWN, 9), ("compiler", BUSY, 120));
        let by_busy = |event: &str, values: &[(&str, Value)]| kernel.event(event, BUSY, values);
        let timer_only = [("hrtimer", Number(timer))];
        let (entry, exit) = match kernel.has_vectors {
            true => ("irq_vectors/local_timer_entry", "irq_vectors/local_timer_exit"),
            false => ("irq/irq_handler_entry", "irq/irq_handler_exit"),
        };
        let woken = [("comm", Text("latlab/0")), ("pid", Number(OWN)), ("prio", Number(9))];
        let started = [
            ("hrtimer", Number(timer)),
            ("expires", Number(RELEASE)),
            ("softexpires", Number(RELEASE)),
        ];
        let softirq = [("vec", Number(3))];
        let events = vec![
            (0, kernel.event("timer/hrtimer_start", OWN, &started)),
            (1_000, switch(own, 1, busy)),
            (1_004_000, by_busy(entry, &[("vector", Number(236)), ("irq", Number(11))])),
            (1_005_000, by_busy("timer/hrtimer_expire_entry", &timer_only)),
            (1_006_000, by_busy("sched/sched_waking", &woken)),
            (1_007_000, by_busy("timer/hrtimer_expire_exit", &timer_only)),
            (1_008_000, by_busy(exit, &[])),
            (1_009_000, by_busy("irq/softirq_entry", &softirq)),
            (1_409_000, by_busy("irq/softirq_exit", &softirq)),
            (1_410_000, switch(busy, kernel.preempted, own)),
        ];
        let page = kernel.page(RELEASE - 1_000_000, events);
        let traces =
            [CpuTrace { range: PageRange { cpu: 2, first: 4, end: 5 }, pages: vec![(4, &page)] }];
        let reader = EventReader::new(&kernel.formats()).unwrap();
        let spike = RecordedSpike {
            spike: 1,
            thread: 0,
            release_ns: Nanos(RELEASE as i64),
            latency_ns: Nanos(415_000),
            pages: Vec::new(),
            stolen: None,
            cycle: None,
        };
        let subject = Subject { thread_id: Some(OWN as i32), in_guest: false };
        let told = blame(&spike, subject, &traces, &reader, &|_| true).spike;
        let name = kernel.name;
        let cause =
            told.cause.as_ref().map(|cause| (cause.kind, cause.name.as_str(), told.cause_ns));
        assert_eq!(cause, Some((CauseKind::Softirq, "NET_RX", Nanos(400_000))), "{name}: {told:?}");
        assert_eq!((told.reason, told.cpu), (None, Some(2)), "{name}");
        let parts: Vec<(WakePhase, i64)> = told
            .parts
            .chunk_by(|one, next| one.phase == next.phase)
            .map(|parts| (parts[0].phase, parts.iter().map(|part| part.length().0).sum()))
            .collect();
        let expected = [
            (WakePhase::TimerLate, 4_000),
            (WakePhase::Handler, 2_000),
            (WakePhase::Waiting, 404_000),
            (WakePhase::Return, 5_000),
        ];
        assert_eq!(parts, expected, "{name}");
    }
}
