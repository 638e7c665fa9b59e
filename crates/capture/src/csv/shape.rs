//! What nearly all rows of a table have in common: a row without it is damaged, or one is missing.

/// Percentage of rows that may differ if all others are alike.
const UNLIKE_PERCENT: usize = 10;
/// Fewer steps do not show that times are evenly spaced.
const FEWEST_STEPS: usize = 10;
/// Fewer cells do not show that all are written alike.
const FEWEST_CELLS: usize = 60;
/// `E-012` is the longest exponent that programs write.
const LONGEST_EXPONENT: usize = 5;
/// Words for the number of rows.
const LENGTHS: [&str; 24] = [
    "rows",
    "readings",
    "record length",
    "recordlength",
    "record size",
    "memory length",
    "data length",
    "data points",
    "points",
    "number of points",
    "no. of points",
    "total points",
    "waveform points",
    "samples",
    "number of samples",
    "no. of samples",
    "samples number",
    "total samples",
    "sample count",
    "block size",
    "blocksize",
    "segmentsize",
    "nr pt",
    "size",
];

/// What nearly all rows have in common.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct RowShape {
    /// Number of cells.
    pub cells: Option<usize>,
    /// Time step, if each row is a sample.
    pub step_ps: Option<f64>,
    /// Whether each has another level than the one before.
    pub has_changes_only: bool,
    /// Number of rows that the file states.
    pub stated: Option<u64>,
}

/// Whether these are few enough to be damaged ones.
pub fn are_few(unlike: usize, of: usize) -> bool {
    unlike * 100 <= of * UNLIKE_PERCENT
}

/// The most common number, if nearly all have it.
pub fn usual(numbers: impl Iterator<Item = usize> + Clone) -> Option<usize> {
    let mut rising: Vec<usize> = numbers.collect();
    rising.sort_unstable();
    let middle = *rising.get(rising.len() / 2)?;
    let unlike = rising.iter().filter(|number| **number != middle).count();
    are_few(unlike, rising.len()).then_some(middle)
}

/// The common step of times that were rounded to this digit.
pub fn usual_step(times: &[f64], digit: f64) -> Option<f64> {
    let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut rising = steps.clone();
    rising.sort_by(f64::total_cmp);
    let middle = *rising.get(rising.len() / 2)?;
    let off = if 4.0 * digit <= middle { (0.02 * middle).max(1.01 * digit) } else { 0.02 * middle };
    let alike: Vec<f64> = steps.iter().copied().filter(|it| (it - middle).abs() <= off).collect();
    let is_even = middle > 0.0
        && steps.len() >= FEWEST_STEPS
        && are_few(steps.len() - alike.len(), steps.len());
    is_even.then(|| alike.iter().sum::<f64>() / alike.len() as f64)
}

/// How all cells of a column are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellShape {
    /// In several ways.
    Any,
    /// With this many decimals after this decimal point.
    Decimals(usize, u8),
    /// With an exponent.
    Exponent,
}

impl CellShape {
    /// The notation of a column, if enough cells show it; one of them may be damaged.
    pub fn of<'a>(cells: impl Iterator<Item = &'a str>, decimal_comma: bool) -> CellShape {
        let cells: Vec<&str> = cells.collect();
        let point = if decimal_comma { b',' } else { b'.' };
        let decimals = |cell: &&str| {
            cell.bytes().position(|byte| byte == point).map_or(0, |at| cell.len() - at - 1)
        };
        let middle = cells.get(cells.len() / 2).map_or(0, decimals);
        let shapes = [CellShape::Exponent, CellShape::Decimals(middle, point)];
        let fits_all = |shape: &CellShape| {
            let unlike = cells.iter().filter(|cell| !shape.fits(cell)).count();
            unlike <= 1.max(cells.len() / 100)
        };
        let found = shapes.into_iter().find(fits_all);
        found.filter(|_| cells.len() >= FEWEST_CELLS && middle > 0).unwrap_or(CellShape::Any)
    }

    /// Whether a cell has this notation.
    pub fn fits(self, cell: &str) -> bool {
        let bytes = cell.as_bytes();
        match self {
            CellShape::Any => true,
            CellShape::Decimals(count, point) => {
                let at = bytes.len().checked_sub(count + 1);
                at.is_some_and(|at| bytes[at] == point)
            }
            CellShape::Exponent => {
                let end = &bytes[bytes.len().saturating_sub(LONGEST_EXPONENT)..];
                end.iter().any(|byte| byte.eq_ignore_ascii_case(&b'e'))
            }
        }
    }
}

/// Whether a number with commas may be a whole one, in groups of three digits.
pub fn may_be_thousands(cell: &str) -> bool {
    let mut groups = cell.trim_start_matches(['+', '-']).split(',');
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && is_digits(first)
        && groups.all(|group| group.len() == 3 && is_digits(group))
}

/// The number of rows that the head of a file states: `Record Length,Analog:7000`, `#SIZE=4000`.
pub fn stated_rows(head: &[String]) -> Option<u64> {
    head.iter().find_map(|line| {
        let words: Vec<&str> =
            line.split([',', ';', '\t', ':', '=', '#', '"']).map(str::trim).collect();
        let key = |word: &&str| {
            let word = word.to_ascii_lowercase().replace('_', " ");
            LENGTHS.contains(&word.as_str())
        };
        let at = words.iter().position(key)?;
        // With several kinds of channels, the first one's number follows its name.
        words[at + 1..].iter().filter(|word| !word.is_empty()).take(2).find_map(|word| length(word))
    })
}

/// `7000`, `2.5e+03`, `14M`, `10 kpts`.
fn length(word: &str) -> Option<u64> {
    let word = word.to_ascii_lowercase();
    let units = ["points", "samples", "pts", "pt", "sa"];
    let number = units.iter().find_map(|unit| word.strip_suffix(unit)).unwrap_or(&word).trim();
    let (number, factor) = match (number.strip_suffix('k'), number.strip_suffix('m')) {
        (Some(number), _) => (number, 1e3),
        (_, Some(number)) => (number, 1e6),
        _ => (number, 1.0),
    };
    let rows = number.trim().parse::<f64>().ok()? * factor;
    (rows.fract() == 0.0 && (2.0..1e15).contains(&rows)).then_some(rows as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_states_its_rows() {
        let stated = |line: &str| stated_rows(&[line.to_string()]);
        assert_eq!(stated("Record Length,100000"), Some(100_000));
        assert_eq!(stated("Record Length,Analog:7000"), Some(7_000));
        assert_eq!(stated("\"Record Length\",2.5e+03,,-0.1,0.2"), Some(2_500));
        assert_eq!(stated("Segments,1,SegmentSize,502"), Some(502));
        assert_eq!(stated("#SIZE=4000"), Some(4_000));
        assert_eq!(stated("Points: 1.4 Mpts"), Some(1_400_000));
        assert_eq!(stated("Samplerate,1000000"), None);
        assert_eq!(stated("Sample Interval,1e-5"), None);
        assert_eq!(stated("Points per screen,12"), None);
    }

    #[test]
    fn commas_of_thousands_may_be_decimal_ones() {
        for cell in ["1,500", "12,000", "1,234,567", "-1,000"] {
            assert!(may_be_thousands(cell), "{cell}");
        }
        for cell in ["0,100", "1,5", "1,50", "1234,500", "1,5000", "1,5e3"] {
            assert!(!may_be_thousands(cell), "{cell}");
        }
    }

    #[test]
    fn a_missing_sample_leaves_the_step() {
        let times: Vec<f64> = (0..100).filter(|at| *at != 50).map(f64::from).collect();
        assert_eq!(usual_step(&times, 1e-3), Some(1.0));
        let changes: Vec<f64> = (0..100).map(|at| f64::from(at * at % 37 + at * 40)).collect();
        assert_eq!(usual_step(&changes, 1e-3), None);
    }
}
