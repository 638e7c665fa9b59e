//! Replayed wake-ups of a guest: a sentence, the parts, and what ran as a tree.

use latlab_lab::replay::{
    GuestThread, ReplayCause, ReplayPartFigures, ReplayTable, ReplayedLatency, TimedPart,
};
use latlab_model::Nanos;
use latlab_report::units::{Scale, grouped, percent};
use latlab_report::{
    Colour, Column, Section, Style, Table, figure_head, table, to_terminal, wrapped,
};

/// Printed rows of the tree.
const TREE_ROWS: usize = 60;
/// Printed causes.
const TOP: usize = 20;

/// One wake-up; `rank` is 1 for the largest.
pub fn replayed(told: &ReplayedLatency, rank: usize, width: usize, style: Style) -> String {
    let head = format!(
        "Latency {rank}: {}, release {:.9} s of the guest's clock",
        told.latency_ns,
        told.release_ns.as_secs_f64()
    );
    let own = told.own_thread.as_ref().map(|thread| {
        let text = format!(
            "latlab's own thread {} had the CPU for {} of it.",
            thread_words(Some(thread)),
            told.own_ns
        );
        format!("{}\n", style.paint(Colour::Warn, &wrapped(&text, width, 0)))
    });
    let off = told.interrupts_off.as_ref().map(|off| {
        let text = format!(
            "Interrupts were off for {}, from {} to {} of the release's time, since `{}` ({}).",
            off.length(),
            off.from_ns,
            off.to_ns,
            off.by,
            thread_words(off.thread.as_ref())
        );
        format!("{}\n", wrapped(&text, width, 0))
    });
    let gap = told.gap.as_ref().map(|gap| format!("Not everything is known: {gap}.\n"));
    format!(
        "{}\n{}\n{}{}{}{}\n{}",
        style.paint(Colour::Bold, &wrapped(&head, width, 0)),
        wrapped(&told.sentence, width, 0),
        own.unwrap_or_default(),
        off.unwrap_or_default(),
        table(part_columns(&told.parts), width, style),
        gap.unwrap_or_default(),
        tree(told, style),
    )
}

fn part_columns(parts: &[TimedPart]) -> Vec<Column> {
    let each = |of: &dyn Fn(&TimedPart) -> String| parts.iter().map(of).collect::<Vec<_>>();
    let off = |time: Nanos| if time == Nanos::ZERO { String::new() } else { time.0.to_string() };
    vec![
        Column::new("from", 0, each(&|part| part.from_ns.0.to_string())).unit("ns"),
        Column::new("for", 0, each(&|part| part.length().0.to_string())).unit("ns"),
        Column::new("part", 0, each(&|part| part.part.to_string())).left(),
        Column::new("who had the CPU", 0, each(&|part| thread_words(part.thread.as_ref()))).left(),
        Column::new("with", 0, each(&|part| part.activity.to_string())).left(),
        Column::new("mostly in", 1, each(&|part| part.function.clone().unwrap_or_default())).left(),
        Column::new("for", 2, each(&|part| off(part.function_ns))).unit("ns"),
        Column::new("interrupts off", 3, each(&|part| off(part.interrupts_off_ns))).unit("ns"),
        Column::new("preemption off", 4, each(&|part| off(part.preemption_off_ns))).unit("ns"),
    ]
}

fn thread_words(thread: Option<&GuestThread>) -> String {
    thread.map_or("-".to_string(), |thread| format!("{} ({})", thread.name, thread.pid))
}

fn tree(told: &ReplayedLatency, style: Style) -> String {
    let mut text = style.paint(Colour::Bold, "  from ns    for ns  what ran") + "\n";
    for row in told.tree.iter().take(TREE_ROWS) {
        let indent = "  ".repeat(row.depth as usize);
        text += &format!("{:>9} {:>9}  {indent}{}\n", row.from_ns.0, row.length_ns.0, row.name);
    }
    let more = told.tree.len().saturating_sub(TREE_ROWS);
    if more > 0 {
        text += &format!("{more} more rows: --format json has them all\n");
    }
    text
}

/// All wake-ups of a run.
pub fn replay_table(all: &ReplayTable, width: usize, style: Style) -> String {
    let scale = Scale::for_times(all.parts.iter().map(|part| part.largest_ns));
    let each =
        |of: &dyn Fn(&ReplayPartFigures) -> String| all.parts.iter().map(of).collect::<Vec<_>>();
    let parts = vec![
        Column::new("part", 0, each(&|one| one.part.to_string())).left(),
        Column::new("wake-ups", 0, each(&|one| grouped(one.count))),
        Column::new(figure_head("mean_ns"), 0, each(&|one| scale.number(one.mean())))
            .unit(scale.unit()),
        Column::new("largest", 0, each(&|one| scale.number(one.largest_ns))).unit(scale.unit()),
    ];
    let scale = Scale::for_times(all.causes.iter().map(|one| one.largest_ns));
    let held: Vec<&ReplayCause> = all.causes.iter().take(TOP).collect();
    let each =
        |of: &dyn Fn(&ReplayCause) -> String| held.iter().map(|one| of(one)).collect::<Vec<_>>();
    let share = |one: &ReplayCause| percent(one.count as f64 / all.wake_ups.max(1) as f64);
    let causes = vec![
        Column::new("who held it off", 0, each(&|one| one.who.clone())).left(),
        Column::new("wake-ups", 0, each(&|one| grouped(one.count))),
        Column::new("share", 1, each(&share)),
        Column::new("largest", 0, each(&|one| scale.number(one.largest_ns))).unit(scale.unit()),
        Column::new("total", 1, each(&|one| scale.number(one.total_ns))).unit(scale.unit()),
    ];
    let said = format!(
        "{} wake-ups, {} of them completely reconstructed; the parts of each add up to its latency.",
        grouped(all.wake_ups),
        grouped(all.whole)
    );
    let section = Section::new("replay", "Wake-ups").without_title().text(said);
    let section = section.table(Table::new("The parts of all wake-ups.", parts));
    let section = section.table(Table::new("What held the thread off.", causes));
    to_terminal(&[section], width, style)
}
