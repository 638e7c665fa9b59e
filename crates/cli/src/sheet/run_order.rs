//! The order of runs.

use super::rows::SheetRow;
use latlab_model::campaign::{Order, PlannedRun};

/// Repeats every row, in the given order.
pub fn order_runs(rows: &[SheetRow], order: Order, repeats: u32, seed: u64) -> Vec<PlannedRun> {
    let mut chance = RandomNumbers(seed);
    let mut runs = Vec::new();
    for repeat in 1..=repeats {
        let mut round: Vec<usize> =
            (0..rows.len()).filter(|&row| rows[row].row.left_out.is_none()).collect();
        match order {
            Order::Sequential => {}
            Order::Abba if repeat % 2 == 0 => round.reverse(),
            Order::Abba => {}
            Order::Random => chance.shuffle(&mut round),
        }
        for row in round {
            let seed = rows[row].seed.unwrap_or(seed.wrapping_add(runs.len() as u64));
            runs.push(PlannedRun { row, repeat, seed });
        }
    }
    runs
}

/// Pseudo-random numbers from a seed (SplitMix64).
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// All orders are equally likely, within 2^-50.
    fn shuffle(&mut self, list: &mut [usize]) {
        for last in (1..list.len()).rev() {
            list.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
    }
}
