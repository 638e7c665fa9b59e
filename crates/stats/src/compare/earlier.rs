//! How much runs of a machine differ, estimated from its earlier runs if the sides have few.
//!
//! Runs of one boot are more alike than runs of several. So the spread is that of a random-effects
//! model: runs within boots within groups measured alike (analysis of variance of unbalanced
//! groups: Searle, Casella and McCulloch 1992), with the degrees of freedom of Satterthwaite
//! (1946). Each group has its own level; only differences within a group count.

use super::MeasuredRun;
use super::figures::figure;
use super::judgement::logs;
use super::remarks::{differences, recorded};
use crate::comparison::Metric;
use crate::special::{fisher_beyond, student_above, student_beyond};
use latlab_model::Nanos;
use latlab_model::run::Run;
use std::collections::{BTreeMap, BTreeSet};

/// With fewer runs per side, earlier ones are used too.
pub const ENOUGH_RUNS: usize = 5;
/// With fewer runs per side, even earlier runs do not help.
const FEWEST_RUNS: usize = 2;
/// Fewest earlier runs, or boots, from which to estimate a spread.
const FEWEST_EARLIER: f64 = 4.0;
/// If a spread as large as the sides' has a smaller probability than this, earlier runs do not
/// describe them.
const UNLIKE: f64 = 0.05;
/// Each tail of a two-sided 95 % interval.
const TAIL: f64 = 0.025;
/// Runs whose lengths differ by more than this share are not alike.
const OTHER_LENGTH: f64 = 0.1;

/// The unit that runs are nested in: their boot. A run of an unknown boot stands by itself.
type Boot = Option<String>;

/// The value of a run, and its boot.
type Placed = (Boot, f64);

/// A mean square of an analysis of variance.
#[derive(Clone, Copy, Debug)]
struct MeanSquare {
    value: f64,
    freedom: f64,
}

#[derive(Clone, Copy, Debug)]
struct Spread {
    /// `None` if each group has only one boot.
    between: Option<MeanSquare>,
    within: MeanSquare,
    /// Effective number of runs per boot in the variance between boots.
    size: f64,
}

/// The difference of two sides, with the spread of earlier runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ByEarlier {
    /// The mean of the candidate minus that of the base.
    pub estimate: f64,
    /// 95 % confidence interval.
    pub interval: (f64, f64),
    /// Probability of a difference this large if nothing changed.
    pub p: f64,
}

/// Earlier runs measured like the sides, in groups of the same name, kernel and settings.
pub struct EarlierRuns<'a> {
    groups: Vec<Vec<&'a MeasuredRun<'a>>>,
}

impl<'a> EarlierRuns<'a> {
    /// The comparable ones; `None` if the sides have enough runs or too few, or too few earlier
    /// runs are comparable.
    pub fn of(
        base: &[MeasuredRun],
        candidate: &[MeasuredRun],
        earlier: &'a [MeasuredRun<'a>],
    ) -> Option<EarlierRuns<'a>> {
        let runs = base.len().min(candidate.len());
        if !(FEWEST_RUNS..ENOUGH_RUNS).contains(&runs) {
            return None;
        }
        let is_alike = |one: &&MeasuredRun| {
            let is_like =
                |side: &[MeasuredRun]| side.iter().all(|other| are_alike(one.run, other.run));
            // The machine of an imported file is unknown, and in virtual time all runs are the
            // same.
            let asked = &one.run.asked;
            let is_measured = !asked.method.is_import() && !asked.on.target.has_virtual_time();
            is_measured && one.run.incomplete().is_none() && (is_like(base) || is_like(candidate))
        };
        let mut groups: BTreeMap<_, Vec<&MeasuredRun>> = BTreeMap::new();
        for one in earlier.iter().filter(is_alike) {
            let group = groups.entry(group(one.run)).or_default();
            if !group.iter().any(|other| other.bins == one.bins) {
                group.push(one);
            }
        }
        let groups: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
        let freedom: usize = groups.iter().map(|group| group.len() - 1).sum();
        (freedom as f64 >= FEWEST_EARLIER).then_some(EarlierRuns { groups })
    }

    pub fn count(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// Whether they show how much boots differ.
    pub fn know_boots(&self) -> bool {
        let of = |group: &Vec<&MeasuredRun>| {
            let boots: Option<BTreeSet<&String>> =
                group.iter().map(|one| one.run.machine.boot_id.as_ref()).collect();
            boots.map_or(0, |boots| boots.len().saturating_sub(1))
        };
        self.groups.iter().map(of).sum::<usize>() as f64 >= FEWEST_EARLIER
    }

    /// The difference of the sides in a metric; `None` if an earlier run lacks it, or the sides
    /// vary more than earlier runs do.
    pub fn difference(
        &self,
        metric: Metric,
        stretch: Nanos,
        base: &[Placed],
        candidate: &[Placed],
    ) -> Option<ByEarlier> {
        let placed = |one: &&MeasuredRun| {
            let value = figure(metric, one, stretch).ok()?;
            Some((one.run.machine.boot_id.clone(), value.ln()))
        };
        let earlier: Vec<Vec<Placed>> = self
            .groups
            .iter()
            .map(|group| group.iter().map(placed).collect())
            .collect::<Option<_>>()?;
        difference(base, candidate, &earlier)
    }
}

/// The logarithms of a side's values, with their boots.
pub fn placed(side: &[MeasuredRun], values: &[f64]) -> Vec<Placed> {
    let boots = side.iter().map(|one| one.run.machine.boot_id.clone());
    boots.zip(logs(values)).collect()
}

/// Whether two runs measured the same thing in the same way on the same machine; kernels may
/// differ.
fn are_alike(one: &Run, other: &Run) -> bool {
    let facts = ["load", "period", "instrument", "board"];
    let (shorter, longer) =
        (one.measured_ns.min(other.measured_ns), one.measured_ns.max(other.measured_ns));
    let is_as_long = (longer - shorter).0 as f64 <= longer.0 as f64 * OTHER_LENGTH;
    let machine = |run: &Run| {
        let machine = &run.machine;
        (machine.hostname.clone(), machine.cpu_model.clone(), machine.memory_bytes)
    };
    is_as_long
        && differences([one, other].into_iter(), &facts).is_none()
        && recorded(one) == recorded(other)
        && machine(one) == machine(other)
        && (&one.asked.who.policy, &one.asked.who.cpus)
            == (&other.asked.who.policy, &other.asked.who.cpus)
        && one.asked.on.idle_states == other.asked.on.idle_states
        && one.asked.on.tunings == other.asked.on.tunings
        && one.threads.len() == other.threads.len()
}

/// What runs of one group share in addition.
fn group(run: &Run) -> (String, String, Option<String>, Option<String>) {
    let machine = &run.machine;
    let (kernel, governor) = (machine.kernel.clone(), machine.governor.clone());
    (run.asked.name.clone(), kernel, machine.command_line.clone(), governor)
}

fn difference(base: &[Placed], candidate: &[Placed], earlier: &[Vec<Placed>]) -> Option<ByEarlier> {
    let sides = [base.to_vec(), candidate.to_vec()];
    let (own, of_earlier) = (pooled(&sides), pooled(earlier));
    if own.value > 0.0 {
        let ratio = own.value / of_earlier.value;
        if fisher_beyond(own.freedom, of_earlier.freedom, ratio) < UNLIKE {
            return None;
        }
    }
    let spread = Spread::of(&[&sides, earlier].concat());
    let (variance, freedom) = spread.of_difference(base, candidate)?;
    let mean = |side: &[Placed]| side.iter().map(|one| one.1).sum::<f64>() / side.len() as f64;
    let estimate = mean(candidate) - mean(base);
    let reach = student_above(freedom, TAIL) * variance.sqrt();
    let p = match variance > 0.0 {
        true => student_beyond(freedom, estimate / variance.sqrt()),
        false => 1.0,
    };
    Some(ByEarlier { estimate, interval: (estimate - reach, estimate + reach), p })
}

/// How much values of the same group differ, regardless of boots.
fn pooled(groups: &[Vec<Placed>]) -> MeanSquare {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for group in groups {
        let mean = group.iter().map(|one| one.1).sum::<f64>() / group.len() as f64;
        squares += group.iter().map(|one| (one.1 - mean).powi(2)).sum::<f64>();
        freedom += group.len() as f64 - 1.0;
    }
    MeanSquare { value: squares / f64::max(freedom, 1.0), freedom }
}

fn by_boot(group: &[Placed]) -> Vec<Vec<f64>> {
    let mut boots: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    let mut alone = Vec::new();
    for (boot, value) in group {
        match boot {
            Some(boot) => boots.entry(boot).or_default().push(*value),
            None => alone.push(vec![*value]),
        }
    }
    boots.into_values().chain(alone).collect()
}

impl Spread {
    fn of(groups: &[Vec<Placed>]) -> Spread {
        let (mut between, mut within, mut uneven) = (0.0, 0.0, 0.0);
        let (mut runs, mut boots) = (0.0, 0.0);
        for group in groups {
            let count = group.len() as f64;
            let mean = group.iter().map(|one| one.1).sum::<f64>() / count;
            for values in by_boot(group) {
                let of_boot = values.len() as f64;
                let middle = values.iter().sum::<f64>() / of_boot;
                between += of_boot * (middle - mean).powi(2);
                within += values.iter().map(|value| (value - middle).powi(2)).sum::<f64>();
                uneven += of_boot * of_boot / count;
                boots += 1.0;
            }
            runs += count;
        }
        let (of_boots, of_runs) = (boots - groups.len() as f64, runs - boots);
        let of_square = |value: f64, freedom: f64| MeanSquare { value: value / freedom, freedom };
        Spread {
            between: (of_boots >= 1.0).then(|| of_square(between, of_boots)),
            within: of_square(within, f64::max(of_runs, 1.0)),
            size: (runs - uneven) / f64::max(of_boots, 1.0),
        }
    }

    /// Variance of the difference of two means, with its degrees of freedom; `None` if it needs
    /// more boots than are known.
    fn of_difference(&self, base: &[Placed], candidate: &[Placed]) -> Option<(f64, f64)> {
        let runs = 1.0 / base.len() as f64 + 1.0 / candidate.len() as f64;
        let boots_of =
            |side: &[Placed]| -> BTreeSet<Boot> { side.iter().map(|one| one.0.clone()).collect() };
        let is_within =
            boots_of(base) == boots_of(candidate) && base.iter().all(|one| one.0.is_some());
        let Spread { between, within, size } = *self;
        // What both sides share by running in the same boots cancels out.
        if is_within && within.freedom >= FEWEST_EARLIER {
            return Some((runs * within.value, within.freedom));
        }
        let between = between?;
        let share = |side: &[Placed]| {
            let squares: f64 = by_boot(side).iter().map(|boot| (boot.len() as f64).powi(2)).sum();
            squares / (side.len() as f64).powi(2)
        };
        let boots = (share(base) + share(candidate)) / size;
        let rest = (runs - boots).max(0.0);
        // Boots that differ less than their runs do so by chance.
        let of_boots = boots * between.value.max(within.value);
        let of_runs = rest * within.value;
        let doubt = |part: f64, freedom: f64| if part > 0.0 { part * part / freedom } else { 0.0 };
        let doubts = doubt(of_boots, between.freedom) + doubt(of_runs, within.freedom);
        let variance = of_boots + of_runs;
        let freedom = if doubts > 0.0 { variance * variance / doubts } else { between.freedom };
        Some((variance, freedom))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0
    }

    /// Simulated values: boots × runs, with a standard deviation for each level.
    fn boots(
        random: &mut Random,
        first: usize,
        shape: (usize, usize),
        spread: (f64, f64),
    ) -> Vec<Placed> {
        let mut all = Vec::new();
        for boot in 0..shape.0 {
            let level = spread.0 * normal(random);
            let name = Some(format!("boot {}", first + boot));
            all.extend((0..shape.1).map(|_| (name.clone(), level + spread.1 * normal(random))));
        }
        all
    }

    /// How often the interval covers zero for two sides without a difference.
    fn coverage(spread: (f64, f64), side: (usize, usize), earlier: (usize, usize)) -> f64 {
        let (mut said, mut right) = (0, 0);
        for seed in 0..1_000 {
            let random = &mut Random::new(seed);
            let (base, candidate) =
                (boots(random, 0, side, spread), boots(random, 10, side, spread));
            let earlier = [boots(random, 20, earlier, spread)];
            let Some(found) = difference(&base, &candidate, &earlier) else { continue };
            said += 1;
            right += usize::from(found.interval.0 <= 0.0 && found.interval.1 >= 0.0);
        }
        assert!(said > 700, "{said}");
        right as f64 / said as f64
    }

    #[test]
    fn intervals_hold_with_and_without_a_spread_between_boots() {
        for spread in [(0.0, 0.03), (0.03, 0.03), (0.05, 0.01)] {
            for (side, earlier) in
                [((2, 1), (14, 1)), ((1, 2), (8, 3)), ((3, 1), (5, 3)), ((2, 2), (6, 2))]
            {
                let right = coverage(spread, side, earlier);
                assert!(right >= 0.93, "{spread:?}, {side:?}, {earlier:?}: {right}");
            }
        }
    }

    #[test]
    fn sides_that_differ_more_than_earlier_runs_are_not_judged_by_them() {
        let random = &mut Random::new(1);
        let earlier = [boots(random, 20, (14, 1), (0.0, 0.01))];
        let wild = boots(random, 0, (3, 1), (0.0, 0.2));
        assert_eq!(difference(&wild, &boots(random, 10, (3, 1), (0.0, 0.01)), &earlier), None);
        // With one boot per side, the difference between boots cannot be seen.
        let calm = |random: &mut Random, boot| boots(random, boot, (1, 3), (0.0, 0.01));
        let (base, candidate, again) = (calm(random, 1), calm(random, 2), calm(random, 1));
        let one_boot = [boots(random, 1, (1, 9), (0.0, 0.01))];
        assert_eq!(difference(&base, &candidate, &one_boot), None);
        assert!(difference(&base, &again, &one_boot).is_some());
    }
}
