//! Minima and roots of functions.

/// Stands for infinity, with which the methods cannot calculate.
const HUGE: f64 = 1e12;
/// The golden section, as a share of an interval.
const GOLDEN: f64 = 0.381_966_011_250_105_1;
/// Tolerance of a minimum, relative and absolute.
const NEAR: f64 = 1e-7;

/// A function value and its position.
type Found<At> = (f64, At);

fn finite(value: f64) -> f64 {
    if value.is_finite() { value.clamp(-HUGE, HUGE) } else { HUGE }
}

/// The smallest value near these points of a plane and its position (Nelder and Mead 1965, with the
/// rules of Lagarias, Reeds, Wright and Wright 1998); `None` if the function has no finite value
/// there.
pub fn minimum_in_plane(
    start: (f64, f64),
    steps: (f64, f64),
    tolerance: f64,
    of: impl Fn(f64, f64) -> f64,
) -> Option<Found<(f64, f64)>> {
    let cost = |(x, y)| (finite(of(x, y)), (x, y));
    let (x, y) = start;
    let mut corners = [start, (x + steps.0, y), (x, y + steps.1)].map(cost);
    for _ in 0..600 {
        corners.sort_by(|one, other| one.0.total_cmp(&other.0));
        let [best, good, worst] = corners;
        if worst.0 - best.0 < tolerance {
            break;
        }
        let middle = beyond(best.1, good.1, 0.5);
        let moved = |share| cost(beyond(middle, worst.1, share));
        let reflected = moved(-1.0);
        let better = if reflected.0 < best.0 {
            let expanded = moved(-2.0);
            Some(if expanded.0 < reflected.0 { expanded } else { reflected })
        } else if reflected.0 < good.0 {
            Some(reflected)
        } else if reflected.0 < worst.0 {
            Some(moved(-0.5)).filter(|contracted| contracted.0 <= reflected.0)
        } else {
            Some(moved(0.5)).filter(|contracted| contracted.0 < worst.0)
        };
        match better {
            Some(better) => corners[2] = better,
            None => {
                corners[1] = cost(beyond(best.1, good.1, 0.5));
                corners[2] = cost(beyond(best.1, worst.1, 0.5));
            }
        }
    }
    let least = corners.into_iter().min_by(|one, other| one.0.total_cmp(&other.0))?;
    (least.0 < HUGE).then_some(least)
}

/// The point at this share of the way from one to another.
fn beyond(from: (f64, f64), to: (f64, f64), share: f64) -> (f64, f64) {
    (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1))
}

/// The smallest value between two points: of equal steps first, then between the neighbours of the
/// best.
pub fn minimum(from: f64, to: f64, steps: usize, of: impl Fn(f64) -> f64) -> f64 {
    let width = (to - from) / steps.max(1) as f64;
    let at = |step: usize| from + width * step as f64;
    let of = |at: f64| finite(of(at));
    let values = (0..=steps).map(|step| (of(at(step)), step));
    let Some((best, step)) = values.min_by(|one, other| one.0.total_cmp(&other.0)) else {
        return HUGE;
    };
    let (low, high) = (at(step.saturating_sub(1)), at((step + 1).min(steps)));
    best.min(minimum_between(low, high, of))
}

/// Minimum of a unimodal function between two points: by parabolas where they help, else by golden
/// sections (Brent 1973, chapter 5).
fn minimum_between(mut low: f64, mut high: f64, of: impl Fn(f64) -> f64) -> f64 {
    let first = low + GOLDEN * (high - low);
    let mut best: Found<f64> = (of(first), first);
    let (mut second, mut third) = (best, best);
    let (mut step, mut step_before) = (0.0_f64, 0.0_f64);
    for _ in 0..100 {
        let (x, middle) = (best.1, (low + high) / 2.0);
        let near = NEAR * x.abs() + NEAR;
        if (x - middle).abs() <= 2.0 * near - (high - low) / 2.0 {
            break;
        }
        let parabola = parabola_step([best, second, third]).filter(|parabola| {
            // Steps must shrink and stay inside.
            parabola.abs() < step_before.abs() / 2.0 && low < x + parabola && x + parabola < high
        });
        let inwards = if x < middle { near } else { -near };
        (step_before, step) = match parabola.filter(|_| step_before.abs() > near) {
            Some(parabola) => {
                let next = x + parabola;
                let at_edge = next - low < 2.0 * near || high - next < 2.0 * near;
                (step, if at_edge { inwards } else { parabola })
            }
            None => {
                let larger_part = if x < middle { high - x } else { low - x };
                (larger_part, GOLDEN * larger_part)
            }
        };
        let next = x + if step.abs() < near { near.copysign(step) } else { step };
        let found = (of(next), next);
        let is_better = found.0 <= best.0;
        let edge = if is_better { x } else { next };
        if (next < x) == is_better {
            high = edge;
        } else {
            low = edge;
        }
        if is_better {
            (best, second, third) = (found, best, second);
        } else if found.0 <= second.0 || second.1 == x {
            (second, third) = (found, second);
        } else if found.0 <= third.0 || third.1 == x || third.1 == second.1 {
            third = found;
        }
    }
    best.0
}

/// Step from the first of three points to the vertex of the parabola through them.
fn parabola_step([first, second, third]: [Found<f64>; 3]) -> Option<f64> {
    let to_second = (first.1 - second.1) * (first.0 - third.0);
    let to_third = (first.1 - third.1) * (first.0 - second.0);
    let above = (first.1 - third.1) * to_third - (first.1 - second.1) * to_second;
    let below = 2.0 * (to_second - to_third);
    Some(above / below).filter(|step| step.is_finite())
}

/// Zero of a function with opposite signs at two points, to within `tolerance`: by the inverse
/// parabola through three points where it is safe, else by halving (Chandrupatla 1997).
pub fn root(low: f64, high: f64, tolerance: f64, of: impl Fn(f64) -> f64) -> Option<f64> {
    let value = |at: f64| (finite(of(at)), at);
    let (mut near, mut far) = (value(low), value(high));
    if let Some(end) = [near, far].into_iter().find(|end| end.0 == 0.0) {
        return Some(end.1);
    }
    if near.0.signum() == far.0.signum() {
        return None;
    }
    let mut share = 0.5;
    for _ in 0..200 {
        let next = value(near.1 + share * (far.1 - near.1));
        let before = if next.0.signum() == near.0.signum() {
            std::mem::replace(&mut near, next)
        } else {
            std::mem::replace(&mut far, std::mem::replace(&mut near, next))
        };
        let best = if near.0.abs() < far.0.abs() { near } else { far };
        let least = (f64::EPSILON * best.1.abs() + tolerance / 2.0) / (far.1 - near.1).abs();
        if least > 0.5 || best.0 == 0.0 {
            return Some(best.1);
        }
        let place = (near.1 - far.1) / (before.1 - far.1);
        let height = (near.0 - far.0) / (before.0 - far.0);
        let is_safe = height * height < place && (1.0 - height).powi(2) < 1.0 - place;
        share = if is_safe { inverse_parabola(near, far, before) } else { 0.5 };
        share = share.clamp(least, 1.0 - least);
    }
    None
}

/// Zero of the inverse parabola through three points, as a share of the way from the first to the
/// second.
fn inverse_parabola(first: Found<f64>, second: Found<f64>, third: Found<f64>) -> f64 {
    let of_second = first.0 / (second.0 - first.0) * third.0 / (second.0 - third.0);
    let of_third = first.0 / (third.0 - first.0) * second.0 / (third.0 - second.0);
    of_second + of_third * (third.1 - first.1) / (second.1 - first.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::f64::consts::PI;

    #[test]
    fn the_bottom_of_a_bent_valley_is_found() {
        // Rosenbrock's function from its usual starting point.
        let of = |x: f64, y: f64| (1.0 - x).powi(2) + 100.0 * (y - x * x).powi(2);
        let (least, (x, y)) = minimum_in_plane((-1.2, 1.0), (0.1, 0.1), 1e-14, of).unwrap();
        assert!(least < 1e-12 && (x - 1.0).abs() < 1e-5 && (y - 1.0).abs() < 1e-5, "{x} {y}");
    }

    #[test]
    fn a_plane_without_a_value_has_no_minimum() {
        assert_eq!(minimum_in_plane((0.0, 0.0), (1.0, 1.0), 1e-9, |_, _| f64::INFINITY), None);
        let half = |x: f64, y: f64| if x < 0.5 { f64::NAN } else { (x - 2.0).powi(2) + y * y };
        let (least, _) = minimum_in_plane((0.0, 0.0), (1.0, 1.0), 1e-12, half).unwrap();
        assert!(least < 1e-6, "{least}");
    }

    #[test]
    fn the_smallest_value_on_a_line_is_found_in_few_steps() {
        let asked = Cell::new(0);
        let of = |x: f64| {
            asked.set(asked.get() + 1);
            (x - PI / 7.0).powi(2) + (x - PI / 7.0).powi(4) - 3.0
        };
        assert!((minimum(-1.0, 2.0, 10, of) + 3.0).abs() < 1e-12);
        assert!(asked.get() < 30, "{}", asked.get());
        // At an edge, at a corner, and next to values that are undefined.
        assert!((minimum(0.0, 1.0, 7, |x| x) - 0.0).abs() < 1e-6);
        assert!(minimum(-1.0, 2.0, 10, |x| (x - 0.123).abs()) < 1e-6);
        let low = minimum(0.0, 1.0, 9, |x| if x > 0.6 { (x - 0.7).powi(2) } else { f64::NAN });
        assert!(low < 1e-9, "{low}");
    }

    #[test]
    fn a_root_is_found_as_exactly_as_told() {
        let asked = Cell::new(0);
        let of = |x: f64| {
            asked.set(asked.get() + 1);
            x.cos() - x
        };
        let found = root(0.0, 1.0, 1e-10, of).unwrap();
        assert!((found - 0.739_085_133_215_160_6).abs() < 1e-10, "{found}");
        assert!(asked.get() < 15, "{}", asked.get());
        for (low, high, at) in
            [(-3.0, 10.0, 1e-3), (0.0, 1.0, 1.0), (0.0, 1.0, 0.0), (5.0, 6.0, 5.5)]
        {
            let found = root(low, high, 1e-6, |x: f64| (x - at).powi(3)).unwrap();
            assert!((found - at).abs() <= 1e-6, "{found} {at}");
        }
        assert_eq!(root(0.0, 1.0, 1e-6, |x| x + 1.0), None);
    }
}
