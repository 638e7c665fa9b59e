//! Searches through planted settings.

use super::*;

/// Three that help, two that hurt, two that help only together, thirteen that do nothing.
const SETTINGS: usize = 20;
const HELP: [(usize, f64); 3] = [(2, -0.5), (7, -0.35), (11, -0.25)];
const HURT: [(usize, f64); 2] = [(4, 0.4), (15, 0.25)];
const TOGETHER: (usize, usize, f64) = (9, 17, -0.7);

/// What makes slots differ besides the settings.
struct Machine {
    random: Random,
    /// Standard deviation of a slot.
    scatter: f64,
    /// Growth of each slot, and of a level that wanders.
    drift: f64,
    wander: f64,
    /// How often a neighbour doubles the figure of some slots in a row.
    neighbour: f64,
    level: f64,
    visited: usize,
}

impl Machine {
    fn new(seed: u64, scatter: f64, drift: f64, wander: f64, neighbour: f64) -> Machine {
        let random = Random::new(seed);
        Machine { random, scatter, drift, wander, neighbour, level: 0.0, visited: 0 }
    }

    /// A normal number, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.random.uniform(), self.random.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    fn measure(&mut self, on: &Assignment, effective: bool) -> f64 {
        self.level += self.drift + self.wander * self.normal();
        if self.visited == 0 && self.random.uniform() < self.neighbour {
            self.visited = 1 + self.random.below(6);
        }
        let mut figure = self.level + self.scatter * self.normal();
        if self.visited > 0 {
            self.visited -= 1;
            figure += 0.7;
        }
        if effective {
            for (setting, effect) in HELP.iter().chain(&HURT) {
                figure += if on[*setting] { *effect } else { 0.0 };
            }
            let (first, second, effect) = TOGETHER;
            figure += if on[first] && on[second] { effect } else { 0.0 };
        }
        figure
    }
}

fn search(machine: &mut Machine, seed: u64, pairs: usize, effective: bool) -> Screening {
    let mut screening = Screening::new(SETTINGS, 1, 1.1_f64.ln());
    for first in coins(SETTINGS, pairs, seed) {
        let second: Assignment = first.iter().map(|on| !on).collect();
        let figures = [&first, &second].map(|on| machine.measure(on, effective));
        screening.take(&first, figures);
        if screening.is_decided() {
            break;
        }
    }
    screening
}

/// Machines of many kinds, by seed.
fn machine(seed: u64) -> Machine {
    match seed % 4 {
        0 => Machine::new(seed, 0.15, 0.0, 0.0, 0.0),
        1 => Machine::new(seed, 0.15, 0.005, 0.0, 0.0),
        2 => Machine::new(seed, 0.15, 0.0, 0.05, 0.0),
        _ => Machine::new(seed, 0.15, 0.0, 0.02, 0.05),
    }
}

/// Invariant (tune): Settings that do nothing are hardly ever said to do something, on machines that drift, wander and have
/// neighbours.
#[test]
fn settings_that_do_nothing_are_not_said_to_do_something() {
    let mut wrong = 0;
    for seed in 0..40 {
        let found = search(&mut machine(seed), 1000 + seed, 120, false);
        let claims =
            |effect: &Effect| matches!(effect.influence, Influence::Lowers | Influence::Raises);
        wrong +=
            usize::from(found.effects().iter().any(claims) || !found.joint_effects().is_empty());
    }
    assert!(wrong <= 3, "{wrong} of 40");
}

/// Invariant (tune): Settings that help, hurt or help only together are found with their signs.
#[test]
fn planted_effects_are_found_with_their_signs() {
    let (mut found_all, mut wrong) = (0, 0);
    for seed in 0..12 {
        let found = search(&mut machine(seed), 2000 + seed, 200, true);
        let effects = found.effects();
        let of = |setting: usize| effects[setting].influence;
        let together = [TOGETHER.0, TOGETHER.1];
        let expected = |setting: usize| match () {
            () if HELP.iter().any(|(help, _)| *help == setting) => Influence::Lowers,
            () if HURT.iter().any(|(hurt, _)| *hurt == setting) => Influence::Raises,
            () if together.contains(&setting) => Influence::Lowers,
            () => Influence::NoDifference,
        };
        wrong += (0..SETTINGS)
            .filter(|setting| {
                of(*setting) != Influence::Undecided && of(*setting) != expected(*setting)
            })
            .count();
        let strong =
            HELP.iter().chain(&HURT).all(|(setting, _)| of(*setting) == expected(*setting));
        let pair =
            found.joint_effects().iter().any(|joint| joint.settings == (TOGETHER.0, TOGETHER.1));
        found_all += usize::from(strong && pair);
    }
    assert_eq!(wrong, 0);
    assert!(found_all >= 9, "{found_all} of 12");
}

#[test]
fn bounds_hold_the_effect() {
    let (mut held, mut all) = (0, 0);
    for seed in 0..8 {
        let found = search(&mut machine(seed), 3000 + seed, 80, true);
        for (setting, effect) in HELP.iter().chain(&HURT) {
            let (from, to) = found.effects()[*setting].bounds;
            held += usize::from(from <= *effect && *effect <= to);
            all += 1;
        }
    }
    assert!(held + 1 >= all, "{held} of {all}");
}

/// Isolated CPUs, idle and loaded, in nanoseconds: relacs/rtaitests published one run of each.
const PUBLISHED: [[f64; 2]; 2] = [[673.0, 3428.0], [218.0, 4019.0]];

fn published(on: &[bool]) -> f64 {
    PUBLISHED[usize::from(on[0])][usize::from(on[1])].ln()
}

/// Pairs of isolation and load, with this scatter of a run.
fn published_search(pairs: usize, scatter: f64) -> Screening {
    let mut machine = Machine::new(5, scatter, 0.0, 0.0, 0.0);
    let mut screening = Screening::new(2, 1, 1.1_f64.ln());
    for first in coins(2, pairs, 9) {
        let second: Assignment = first.iter().map(|on| !on).collect();
        let figures = [&first, &second].map(|on| published(on) + machine.measure(on, false));
        screening.take(&first, figures);
    }
    screening
}

/// Invariant (tune): One run a cell decides nothing, however large the differences.
#[test]
fn one_run_a_cell_cannot_tell() {
    let found = published_search(2, 0.0);
    assert!(found.influences().iter().all(|one| *one == Influence::Undecided));
    assert_eq!(found.joint_effects(), []);
}

#[test]
fn isolation_that_helps_idle_and_hurts_under_load_is_told_as_acting_together() {
    let found = published_search(60, 0.1);
    let joint = found.joint_effects();
    assert_eq!(joint.iter().map(|one| one.settings).collect::<Vec<_>>(), [(0, 1)]);
    let more = (PUBLISHED[1][1] / PUBLISHED[1][0] / (PUBLISHED[0][1] / PUBLISHED[0][0])).ln();
    assert!((joint[0].estimate - more).abs() < 0.4, "{} instead of {more}", joint[0].estimate);
}
