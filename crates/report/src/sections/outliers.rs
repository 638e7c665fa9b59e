//! The largest latencies of a run, one by one, with what happened at the time.

use crate::cause_share::MUCH;
use crate::document::Section;
use crate::document::table::{Column, Table};
use crate::figures::figure_head;
use crate::terms;
use crate::units::{Scale, percent};
use latlab_model::Run;
use latlab_model::outlier::{Outlier, Surroundings};

/// A smaller share of a CPU is not mentioned.
const LITTLE: f64 = 0.005;

/// `None` if no latency has a known release.
pub fn section(run: &Run) -> Option<Section> {
    let caption = "The time is that of the release, since the first one. What is said of the CPU holds \
                   for the time between two readings of the telemetry, mostly a second.";
    (!run.largest.is_empty()).then(|| {
        let table = Table::new(caption, columns(run));
        Section::new("largest", title(run)).table(table).texts(sum(run))
    })
}

fn title(run: &Run) -> String {
    format!("The {} largest {}", run.largest.len(), terms::of_run(run).many)
}

fn columns(run: &Run) -> Vec<Column> {
    let all = &run.largest;
    let each = |cell: &dyn Fn(&Outlier) -> String| all.iter().map(cell).collect::<Vec<_>>();
    let scale = Scale::for_times(all.iter().map(|one| one.latency_ns));
    let cpu = |one: &Outlier| one.cpu.map_or_else(|| "-".to_string(), |cpu| cpu.to_string());
    let at = |one: &Outlier| format!("{:.3}", one.since_start_ns.as_secs_f64());
    vec![
        Column::new("at", 0, each(&at)).unit("s"),
        Column::new(figure_head("cpu"), 0, each(&cpu)),
        Column::new(terms::of_run(run).size, 0, each(&|one| scale.number(one.latency_ns)))
            .unit(scale.unit()),
        Column::new("meanwhile", 0, each(&meanwhile)).left(),
    ]
}

/// What the largest latencies have in common, with counts.
pub fn sum(run: &Run) -> Option<String> {
    let all = &run.largest;
    let count = |is: &dyn Fn(&Outlier) -> bool| all.iter().filter(|one| is(one)).count();
    let share = |one: &Outlier, of: fn(&Surroundings) -> Option<f64>| {
        one.surroundings.as_ref().and_then(of).is_some_and(|share| share > MUCH)
    };
    let kinds = [
        ("stolen time", count(&|one| share(one, |around| around.stolen_share))),
        (
            "interrupts that took much of the CPU",
            count(&|one| share(one, |around| around.interrupts_share)),
        ),
        ("work of latlab's own threads", count(&|one| !one.own_threads.is_empty())),
    ];
    let kinds = kinds.into_iter().filter(|(_, count)| *count > 0);
    let kinds: Vec<String> = kinds.map(|(what, count)| format!("{count} with {what}")).collect();
    (!kinds.is_empty()).then(|| format!("Of the {} largest: {}.", all.len(), kinds.join(", ")))
}

/// What happened at the time of a latency.
fn meanwhile(one: &Outlier) -> String {
    let own = one.own_threads.iter().map(|thread| format!("latlab's own thread {thread}"));
    let around = one.surroundings.iter().flat_map(around);
    let breakdown = one.breakdown.map(|breakdown| {
        format!("interrupt after {}, thread after {}", breakdown.irq_ns, breakdown.thread_ns)
    });
    let loads = one.loads.iter().map(|words| format!("load {words}"));
    let parts: Vec<String> = own.chain(breakdown).chain(around).chain(loads).collect();
    if parts.is_empty() { "-".to_string() } else { parts.join("; ") }
}

fn around(around: &Surroundings) -> Vec<String> {
    let share = |name: &str, share: Option<f64>| {
        share.filter(|share| *share >= LITTLE).map(|share| format!("{name} {}", percent(share)))
    };
    let shares = [
        share("stolen", around.stolen_share),
        share("busy", around.busy_share),
        share("interrupts", around.interrupts_share),
    ];
    let frequency = around.frequency_khz.map(|khz| format!("{} MHz", khz / 1_000));
    let sources =
        around.interrupts.iter().map(|one| format!("{} {:.0}/s", one.source, one.per_second));
    let threads = around.threads.iter().map(|one| format!("{} {}", one.name, percent(one.share)));
    shares.into_iter().flatten().chain(frequency).chain(sources).chain(threads).collect()
}
