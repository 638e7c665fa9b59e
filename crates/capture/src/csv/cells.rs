//! A line as cells, and a cell as a number.

/// How the cells of a table are parted and its numbers written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dialect {
    pub delimiter: char,
    pub decimal_comma: bool,
}

/// What is tried, in this order: a comma may be part of a number, a tab never.
pub const DIALECTS: [Dialect; 6] = [
    Dialect { delimiter: '\t', decimal_comma: false },
    Dialect { delimiter: ';', decimal_comma: false },
    Dialect { delimiter: ',', decimal_comma: false },
    Dialect { delimiter: ';', decimal_comma: true },
    Dialect { delimiter: '\t', decimal_comma: true },
    Dialect { delimiter: ' ', decimal_comma: false },
];

impl Dialect {
    /// The cells of a line, without blanks and quotes around them.
    pub fn cells<'a>(&self, line: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
        let delimiter = self.delimiter;
        let several = delimiter == ' ';
        let cells = line.trim_matches(|c| several && c == ' ').split(delimiter);
        let cells = cells.map(|cell| cell.trim().trim_matches('"').trim());
        cells.filter(move |cell| !several || !cell.is_empty())
    }

    /// A cell as a number.
    pub fn number(&self, cell: &str) -> Option<f64> {
        let number = cell.strip_prefix('+').unwrap_or(cell);
        let is_like_one = number.starts_with(|c: char| c.is_ascii_digit() || "-.,".contains(c));
        match () {
            () if !is_like_one => None,
            () if self.decimal_comma && number.contains('.') => None,
            () if self.decimal_comma => number.replace(',', ".").parse().ok(),
            () => number.parse().ok(),
        }
    }

    /// Whether a line is a row of numbers: some cells may be empty, but not all.
    pub fn is_row(&self, line: &str) -> bool {
        let mut numbers = 0;
        for cell in self.cells(line).filter(|cell| !cell.is_empty()) {
            if self.number(cell).is_none() {
                return false;
            }
            numbers += 1;
        }
        numbers > 0
    }
}

/// Whether a line is a remark to the reader.
pub fn is_comment(line: &str) -> bool {
    line.trim_start_matches('"').starts_with(['#', ';', '%', '!'])
}

/// What the last digit of a number stands for: `9.1033E-6` is known to 1E-10.
pub fn last_digit(cell: &str) -> Option<f64> {
    let (mantissa, exponent) = match cell.find(['e', 'E']) {
        Some(at) => (&cell[..at], cell[at + 1..].parse::<i32>().ok()?),
        None => (cell, 0),
    };
    let decimals = mantissa.find(['.', ',']).map_or(0, |at| mantissa.len() - at - 1);
    Some(10f64.powi(exponent.clamp(-300, 300) - decimals.min(300) as i32))
}
