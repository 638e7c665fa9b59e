//! Excesses over a threshold, counted in cells: latencies are rounded, and a fit must account for
//! it.

/// Most cells of equal width; further ones grow.
const EQUAL_CELLS: usize = 4_000;
/// Growth factor per cell.
const GROWTH: f64 = 1.05;

/// Counts of adjacent cells from 0 on.
#[derive(Clone, PartialEq, Debug)]
pub struct TailCells {
    /// One more than there are cells.
    pub edges: Vec<f64>,
    pub counts: Vec<f64>,
    /// How many lie beyond the last edge.
    pub above: f64,
    /// Lower edge, upper edge and count of each cell that is not empty.
    occupied: Vec<(f64, f64, f64)>,
}

impl TailCells {
    #[cfg(test)]
    pub fn of_counts(counts: &[f64], width: f64) -> TailCells {
        let edges = (0..=counts.len()).map(|at| at as f64 * width).collect();
        TailCells::new(edges, counts.to_vec(), 0.0)
    }

    fn new(edges: Vec<f64>, counts: Vec<f64>, above: f64) -> TailCells {
        let cells = edges.windows(2).zip(&counts).filter(|(_, count)| **count > 0.0);
        let occupied = cells.map(|(pair, count)| (pair[0], pair[1], *count)).collect();
        TailCells { edges, counts, above, occupied }
    }

    /// Counts excesses, which are not negative, in cells of this width.
    pub fn of_excesses(excesses: &[f64], width: f64) -> TailCells {
        let most = excesses.iter().copied().fold(0.0, f64::max);
        let equal = ((most / width) as usize + 1).min(EQUAL_CELLS);
        let mut edges: Vec<f64> = (0..=equal).map(|at| at as f64 * width).collect();
        let mut growing = width;
        while edges[edges.len() - 1] <= most {
            growing *= GROWTH;
            edges.push(edges[edges.len() - 1] + growing);
        }
        let mut counts = vec![0.0; edges.len() - 1];
        for excess in excesses {
            let at = match (excess / width) as usize {
                at if at < equal => at,
                _ => edges.partition_point(|edge| edge <= excess).saturating_sub(1),
            };
            let last = counts.len() - 1;
            counts[at.min(last)] += 1.0;
        }
        TailCells::new(edges, counts, 0.0)
    }

    /// The same without the sizes of the `largest` largest.
    pub fn censored(&self, largest: f64) -> TailCells {
        let (mut left, mut cells, mut above) = (largest, self.counts.len(), self.above);
        while cells > 1 && left > 0.0 {
            cells -= 1;
            left -= self.counts[cells];
            above += self.counts[cells];
        }
        let (edges, counts) = (self.edges[..=cells].to_vec(), self.counts[..cells].to_vec());
        TailCells::new(edges, counts, above)
    }

    /// The excesses over a higher threshold, which is an edge.
    pub fn over(&self, edge: usize) -> TailCells {
        let from = self.edges[edge];
        let edges = self.edges[edge..].iter().map(|one| one - from).collect();
        TailCells::new(edges, self.counts[edge..].to_vec(), self.above)
    }

    pub fn total(&self) -> f64 {
        self.counts.iter().sum::<f64>() + self.above
    }

    /// Cells that are not empty: lower edge, upper edge, count.
    pub fn occupied(&self) -> &[(f64, f64, f64)] {
        &self.occupied
    }

    /// The last edge, beyond which sizes are unknown.
    pub fn end(&self) -> f64 {
        self.edges[self.edges.len() - 1]
    }
}
