//! The experiment of 2016 whose five responders are in `responders/`: its published figures beside
//! those of runs of the same responders, each with its conditions.

use crate::document::style::Style;
use crate::document::table::{Column, table, wrapped};
use latlab_model::Run;
use latlab_model::respond::{LinuxResponderName, ResponseFigures};
use std::collections::BTreeSet;

/// Fewer of the five are another experiment.
const ENOUGH: usize = 4;

/// Where the published figures come from.
pub const SOURCE: &str = "Published: T. Šolc, \"Measuring interrupt response times\", April 2016, \
                          with the readings in the repository avian2/interrupt-response-times at \
                          GitHub. Median and p99 are computed from these readings. One reading of \
                          C under load has no value; the published mean and maximum of that series \
                          counted it, those here do not.";

/// What may be compared.
pub const MEANING: &str = "Published figures were measured on hardware. A simulated \
                           microcontroller counts the cycles of the same kind of program, built by \
                           another compiler. A guest counts instructions in virtual time, without \
                           caches, buses, idle states and frequencies: its responders can be \
                           compared with each other, its figures not with the published ones.";

/// One of the five.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Implementation {
    UnoPolling,
    UnoInterrupt,
    Module,
    Program,
    Python,
}

use Implementation::{Module, Program, Python, UnoInterrupt, UnoPolling};

impl Implementation {
    const ALL: [Implementation; 5] = [UnoPolling, UnoInterrupt, Module, Program, Python];

    fn of(run: &Run) -> Option<Implementation> {
        use LinuxResponderName as Name;
        let asked = run.asked.method.respond()?;
        if let Some(linux) = &asked.linux {
            return match linux.name {
                Name::Kmod | Name::KmodPlain => Some(Module),
                Name::Sysfs => Some(Program),
                Name::Python | Name::PythonGpiod1 => Some(Python),
                _ => None,
            };
        }
        match asked.simulated.as_deref()?.split([' ', ',']).next()? {
            "uno:polling" => Some(UnoPolling),
            "uno:irq" => Some(UnoInterrupt),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            UnoPolling => "Arduino, polling",
            UnoInterrupt => "Arduino, interrupt",
            Module => "kernel module",
            Program => "C over sysfs",
            Python => "Python",
        }
    }

    /// The published series without load.
    fn idle(self) -> Published {
        let of = |figures| Published { n: 500, unmeasured: 0, figures };
        match self {
            UnoPolling => of([6_667.5, 8_558.2, 8_658.1, 10_775.8, 14_893.7]),
            UnoInterrupt => of([8_947.6, 9_049.5, 9_067.3, 9_194.7, 14_016.3]),
            Module => of([6_036.7, 12_951.2, 12_676.1, 20_870.7, 43_778.8]),
            Program => of([179_988.2, 273_802.5, 280_504.5, 429_197.7, 511_202.3]),
            Python => of([143_198.8, 208_305.3, 212_912.9, 355_200.1, 377_405.6]),
        }
    }

    /// That under load; none of a microcontroller, which does nothing else.
    fn busy(self) -> Option<Published> {
        let of = |n, figures| Some(Published { n, unmeasured: 500 - n, figures });
        match self {
            UnoPolling | UnoInterrupt => None,
            Module => of(500, [4_761.3, 7_824.3, 7_697.6, 11_845.0, 16_119.3]),
            Program => of(499, [189_211.6, 208_809.4, 209_943.9, 307_988.3, 460_404.8]),
            Python => of(500, [152_406.9, 162_411.8, 164_046.4, 236_802.4, 357_611.7]),
        }
    }

    fn published_conditions(self) -> Conditions {
        let board = match self {
            UnoPolling | UnoInterrupt => "Arduino Uno, ATmega328P at 16 MHz, IDE 1.0.5",
            _ => {
                "Raspberry Pi Zero, BCM2835 at 1 GHz, Raspbian of March 2016, Linux 4.1.19, governor ondemand"
            }
        };
        let (program, stimuli) = match self {
            UnoPolling => ("loop with digitalRead", "square, 10 kHz"),
            UnoInterrupt => ("attachInterrupt", "square, 10 kHz"),
            Module => ("request_irq, answers in the interrupt", "square, 100 Hz"),
            Program => (
                "poll on sysfs files that it opens for each edge, ordinary priority",
                "square, 100 Hz",
            ),
            Python => ("Python 2.7.9, RPi.GPIO 0.6.2, ordinary priority", "square, 100 Hz"),
        };
        let measured = "oscilloscope TDS 2002B, width of the difference of both channels";
        Conditions {
            answers: board.to_string(),
            program: program.to_string(),
            load: if self.busy().is_some() {
                "none; or an endless loop of the shell"
            } else {
                "none"
            }
            .to_string(),
            stimuli: stimuli.to_string(),
            measured: measured.to_string(),
        }
    }
}

/// A series of the publication; times are nanoseconds.
struct Published {
    n: u64,
    unmeasured: u64,
    /// Minimum, median, mean, p99, maximum.
    figures: [f64; 5],
}

/// What a series was taken under.
struct Conditions {
    answers: String,
    program: String,
    load: String,
    stimuli: String,
    measured: String,
}

/// A line of the table: the publication's, or that of a run.
struct Series {
    of: Implementation,
    what: String,
    is_loaded: bool,
    n: u64,
    /// Stimuli without a figure: not measured, late, or not answered.
    without: u64,
    figures: [Option<f64>; 5],
    conditions: Conditions,
}

/// Published series, and below each of them the runs of its responder; none where the runs are no
/// repetition of the experiment.
pub struct Repetition(Vec<Series>);

impl Repetition {
    /// Of these runs.
    pub fn of(runs: &[&Run]) -> Option<Repetition> {
        let known: Vec<(Implementation, &Run)> =
            runs.iter().filter_map(|run| Some((Implementation::of(run)?, *run))).collect();
        let different: BTreeSet<Implementation> = known.iter().map(|(one, _)| *one).collect();
        if different.len() < ENOUGH {
            return None;
        }
        let mut all = Vec::new();
        for one in Implementation::ALL {
            for is_loaded in [false, true] {
                let published = if is_loaded { one.busy() } else { Some(one.idle()) };
                all.extend(published.map(|published| published.series(one, is_loaded)));
                let same = known
                    .iter()
                    .filter(|(of, run)| *of == one && run.asked.on.loads.is_empty() != is_loaded);
                all.extend(same.filter_map(|(_, run)| of_run(one, run)));
            }
        }
        Some(Repetition(all))
    }

    /// The figures, a row for each series.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let all = &self.0;
        let cells = |of: &dyn Fn(&Series) -> String| all.iter().map(of).collect::<Vec<_>>();
        let mut columns = vec![
            Column::new("responder", 0, cells(&|one| one.of.name().to_string())).left(),
            Column::new("series", 0, cells(&|one| one.what.clone())).left(),
            Column::new(
                "load",
                0,
                cells(&|one| if one.is_loaded { "busy" } else { "idle" }.to_string()),
            )
            .left(),
            Column::new("n", 0, cells(&|one| one.n.to_string())),
            Column::new("without a figure", 2, cells(&|one| one.without.to_string())),
        ];
        let figures = ["min", "median", "mean", "p99", "max"];
        columns.extend(figures.iter().enumerate().map(|(at, name)| {
            let cell = |one: &Series| {
                one.figures[at].map_or("-".to_string(), |ns| format!("{:.2}", ns / 1e3))
            };
            Column::new(name, if *name == "mean" { 1 } else { 0 }, cells(&cell)).unit("us")
        }));
        columns
    }

    /// What each was taken under; the publication has one row for both of its series.
    pub(crate) fn condition_columns(&self) -> Vec<Column> {
        let rows: Vec<&Series> =
            self.0.iter().filter(|one| !(one.what == PUBLISHED && one.is_loaded)).collect();
        let cells =
            |of: &dyn Fn(&Series) -> String| rows.iter().map(|one| of(one)).collect::<Vec<_>>();
        vec![
            Column::new("responder", 0, cells(&|one| one.of.name().to_string())).left(),
            Column::new("series", 0, cells(&|one| one.what.clone())).left(),
            Column::new("answers on", 0, cells(&|one| one.conditions.answers.clone())).left(),
            Column::new("program", 0, cells(&|one| one.conditions.program.clone())).left(),
            Column::new("load", 0, cells(&|one| one.conditions.load.clone())).left(),
            Column::new("stimuli", 0, cells(&|one| one.conditions.stimuli.clone())).left(),
            Column::new("measured by", 0, cells(&|one| one.conditions.measured.clone())).left(),
        ]
    }

    /// The order of the medians without load, published and here; where several runs are of one
    /// responder there is no single order.
    pub fn order(&self) -> Option<String> {
        let order = |is_published: bool| {
            let mut all: Vec<&Series> = self
                .0
                .iter()
                .filter(|one| !one.is_loaded && (one.what == PUBLISHED) == is_published)
                .collect();
            let names: BTreeSet<Implementation> = all.iter().map(|one| one.of).collect();
            all.sort_by(|a, b| {
                a.figures[1].partial_cmp(&b.figures[1]).unwrap_or(std::cmp::Ordering::Equal)
            });
            let is_single = names.len() == all.len() && all.len() == Implementation::ALL.len();
            is_single.then(|| all.iter().map(|one| one.of.name()).collect::<Vec<_>>().join(" < "))
        };
        Some(format!(
            "Order of the medians without load, published: {}; here: {}.",
            order(true)?,
            order(false)?
        ))
    }
}

/// Both tables for the terminal, with what they say; nothing where the runs are no repetition.
pub fn text(runs: &[&Run], width: usize, style: Style) -> String {
    let Some(repetition) = Repetition::of(runs) else { return String::new() };
    let order = repetition.order().map(|order| format!("{}\n", wrapped(&order, width, 0)));
    format!(
        "\n{}\n{}\n{}{}\n\n{}",
        table(repetition.columns(), width, style),
        wrapped(MEANING, width, 0),
        order.unwrap_or_default(),
        wrapped(SOURCE, width, 0),
        table(repetition.condition_columns(), width, style)
    )
}

/// What a published series is called.
const PUBLISHED: &str = "published";

impl Published {
    fn series(self, of: Implementation, is_loaded: bool) -> Series {
        Series {
            of,
            what: PUBLISHED.to_string(),
            is_loaded,
            n: self.n,
            without: self.unmeasured,
            figures: self.figures.map(Some),
            conditions: of.published_conditions(),
        }
    }
}

fn of_run(of: Implementation, run: &Run) -> Option<Series> {
    let responses = run.responses()?;
    let ResponseFigures { min_ns, median_ns, mean_ns, p99_ns, max_ns, .. } = responses.figures;
    let is_guest = run.asked.method.respond()?.linux.is_some();
    Some(Series {
        of,
        what: match is_guest {
            true => format!("virtual, {}", run.asked.on.target.short_name()),
            false => "simulated".to_string(),
        },
        is_loaded: !run.asked.on.loads.is_empty(),
        n: run.total.cycles,
        without: responses.missing + responses.late + responses.unmeasured(),
        figures: [min_ns, median_ns, mean_ns, p99_ns, max_ns],
        conditions: conditions(run),
    })
}

fn conditions(run: &Run) -> Conditions {
    let asked = run.asked.method.respond().cloned().unwrap_or_default();
    let machine = &run.machine;
    let known = |parts: &[Option<&String>]| {
        parts
            .iter()
            .flatten()
            .map(|one| one.as_str())
            .filter(|one| !one.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let setting = |name: &str| {
        run.applied.settings.iter().find(|one| one.what == name).map(|one| &one.applied)
    };
    let loads: Vec<&str> = run.asked.on.loads.iter().map(|load| load.words.as_str()).collect();
    // Behind what is simulated: how many edges, and when they come.
    let simulated = asked.simulated.unwrap_or_default();
    let stimuli = simulated.split_once(", ").map(|(_, rest)| rest.to_string()).unwrap_or_default();
    let (answers, program, measured) = match &asked.linux {
        Some(linux) => (
            known(&[
                machine.cpu_model.as_ref(),
                Some(&format!("Linux {}", machine.kernel)),
                machine.preemption.as_ref(),
            ]),
            match run.asked.who.policy {
                Some(policy) => format!("{}, policy {policy}", linux.name),
                None => format!("{}, in the kernel", linux.name),
            },
            "time stamps of the pin pair in virtual time".to_string(),
        ),
        None => (
            known(&[machine.board.as_ref(), machine.cpu_model.as_ref()]),
            known(&[setting("core"), setting("compiler")]),
            format!("cycles of {}", known(&[setting("simulator")])),
        ),
    };
    let load = if loads.is_empty() { run.load_or("none") } else { loads.join(" + ") };
    Conditions { answers, program, load, stimuli, measured }
}
