//! Keeps interrupts and the kernel's own work off the measured CPUs.

use super::{Away, Recipe, Step, StepObject, TuningContext, present};
use latlab_model::CpuSet;

const IRQS: &str = "/proc/irq";
const DEFAULT_AFFINITY: &str = "/proc/irq/default_smp_affinity";
const WORKQUEUES: &str = "/sys/devices/virtual/workqueue/cpumask";

/// Every interrupt with a handler, and those that get one later.
pub fn irqs(ground: &TuningContext) -> Result<Recipe, String> {
    let free = free_cpus(ground)?;
    let missing = "it cannot move interrupts";
    let (now, set) = mask(ground, DEFAULT_AFFINITY, missing)?;
    // If no CPU is left for an interrupt: the machine's default for new ones.
    let usual = Some(set.and(free)).filter(|usual| !usual.is_empty()).unwrap_or(free.clone());
    let interrupts = interrupts(ground);
    let moved = interrupts.iter().filter_map(|(number, names)| {
        let path = format!("{IRQS}/{number}/smp_affinity_list");
        let at: CpuSet = ground.root.read_as(&path[1..])?;
        let kept = at.and(free);
        let of = format!("{number} ({names})");
        let rest = if kept.is_empty() { &usual } else { &kept };
        let reached = !at.and(&ground.measured).is_empty();
        reached.then(|| Step { target: StepObject::File(path), of, value: rest.to_string() })
    });
    let mut steps: Vec<Step> = moved.collect();
    let before = (!steps.is_empty())
        .then(|| format!("{} of {} interrupts may occur there", steps.len(), interrupts.len()));
    if !set.and(&ground.measured).is_empty() {
        let (target, of) = (StepObject::File(DEFAULT_AFFINITY.into()), "new interrupts".into());
        steps.push(Step { target, of, value: padded_mask(&usual, &now) });
    }
    let asked = format!("not on CPU {}", ground.measured);
    let path = |number: &u32| format!("{IRQS}/{number}/smp_affinity_list");
    let files =
        interrupts.iter().map(|(number, names)| (format!("{number} ({names})"), path(number)));
    let files = files.chain([("new interrupts".to_string(), DEFAULT_AFFINITY.to_string())]);
    let away = Away { files: files.collect(), cpus: ground.measured.clone() };
    Ok(Recipe { asked, before, steps, some_may_stay: true, away })
}

/// Numbers and handlers of the interrupts that have one.
fn interrupts(ground: &TuningContext) -> Vec<(u32, String)> {
    let names = |folder: &str| ground.root.names(&folder[1..]).unwrap_or_default();
    let mut numbers: Vec<u32> = names(IRQS).iter().filter_map(|name| name.parse().ok()).collect();
    numbers.sort_unstable();
    let handled = numbers.into_iter().filter_map(|number| {
        let folder = format!("{IRQS}/{number}");
        let is_handler =
            |name: &String| ground.root.path(format!("{}/{name}", &folder[1..])).is_dir();
        let handlers: Vec<String> = names(&folder).into_iter().filter(is_handler).collect();
        (!handlers.is_empty()).then(|| (number, handlers.join(", ")))
    });
    handled.collect()
}

/// The common mask of the kernel's unbound workqueues.
pub fn workqueues(ground: &TuningContext) -> Result<Recipe, String> {
    let free = free_cpus(ground)?;
    let (now, set) = mask(ground, WORKQUEUES, "its work cannot be bound to CPUs")?;
    let kept = Some(set.and(free)).filter(|kept| !kept.is_empty()).unwrap_or(free.clone());
    let is_away = set.and(&ground.measured).is_empty();
    let asked = if is_away { set.clone() } else { kept };
    let step = Step {
        target: StepObject::File(WORKQUEUES.into()),
        of: WORKQUEUES.into(),
        value: padded_mask(&asked, &now),
    };
    Ok(Recipe {
        asked: format!("on CPU {asked}"),
        before: (!is_away).then(|| format!("on CPU {set}")),
        steps: if is_away { Vec::new() } else { vec![step] },
        some_may_stay: false,
        away: Away {
            files: vec![(WORKQUEUES.to_string(), WORKQUEUES.to_string())],
            cpus: ground.measured.clone(),
        },
    })
}

fn free_cpus<'a>(ground: &'a TuningContext) -> Result<&'a CpuSet, String> {
    match ground.free.is_empty() {
        true => Err(format!(
            "CPU {} is measured, and no other CPU is left: measure fewer with --cpus",
            ground.measured
        )),
        false => Ok(&ground.free),
    }
}

fn mask(ground: &TuningContext, path: &str, missing: &str) -> Result<(String, CpuSet), String> {
    let text = present(ground.root, path, missing)?;
    let set =
        CpuSet::from_mask(&text).ok_or_else(|| format!("{path} is not a CPU mask: '{text}'"))?;
    Ok((text, set))
}

/// The mask with as many digits as the kernel writes, so that reading it back compares equal.
fn padded_mask(cpus: &CpuSet, like: &str) -> String {
    let mask = cpus.to_mask();
    let more = like.get(..like.len().saturating_sub(mask.len())).unwrap_or_default();
    let zeros = more.chars().map(|c| if c == ',' { ',' } else { '0' });
    zeros.chain(mask.chars()).collect()
}
