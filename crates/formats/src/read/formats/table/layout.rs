//! Finds the latencies of a table: its heading, its delimiter, and its number format.

use super::cell::{Cell, Comma, Hint, Thousands, hint, thousands};
use super::names::{
    COUNTS, LATENCIES, NUMBERS, THREADS, TIMESTAMPS, UNITS, is_named, is_of_largest, named, only,
    unit_of,
};
use crate::read::input::{ImportQuery, InputError, InputUnit};
use latlab_model::statements::states_loss;

/// The columns of rttest, which counts in nanoseconds.
const RTTEST: [&str; 3] = ["iteration", "timestamp", "latency"];
/// Column delimiters; without any of them a line is one cell, or blanks separate its cells.
const DELIMITERS: [char; 5] = ['\t', ';', '|', ',', ' '];
/// Lines searched for a heading.
const LOOKED_AT: usize = 200;

/// The latencies of a table, and related columns.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Line number of the heading; `None` for a table without one.
    pub heading_line: Option<u64>,
    /// Separates the cells; `None` if a line is one cell.
    delimiter: Option<char>,
    names: Vec<String>,
    /// The column that is read.
    pub latency: usize,
    /// The column that identifies threads.
    pub thread: Option<usize>,
    /// The column with the number of latencies that a line stands for.
    pub count: Option<usize>,
    /// The column with cycle numbers, which increase by one.
    pub cycle: Option<usize>,
    /// Columns with the largest latency of something, and their units.
    pub largest: Vec<(usize, InputUnit)>,
    /// The column with the row number, which need not increase by one.
    pub number: Option<usize>,
    /// The column with the unit of the row.
    pub unit_of_row: Option<usize>,
    /// Columns that count losses.
    pub losses: Vec<usize>,
    /// Whether the heading or the user states the unit.
    pub has_unit: bool,
    /// The unit of the values.
    pub unit: InputUnit,
    /// Meaning of a comma.
    pub comma: Comma,
    /// Name of the latency column.
    pub name: String,
}

/// A non-empty line of the head.
#[derive(Clone, Copy)]
struct HeadLine<'a> {
    number: u64,
    text: &'a str,
}

fn head_lines(head: &str) -> Vec<HeadLine<'_>> {
    (1..)
        .zip(head.lines())
        .map(|(number, text)| HeadLine { number, text: text.trim_matches(['\u{feff}', '\r']) })
        .filter(|line| !line.text.trim().is_empty())
        .collect()
}

impl Layout {
    /// The layout of a table that starts with these bytes.
    pub fn of(head: &str, query: &ImportQuery) -> Result<Layout, InputError> {
        let lines = head_lines(head);
        if let Some(found) = Layout::with_heading(&lines, query) {
            return found;
        }
        let first =
            lines.iter().find(|line| !line.text.starts_with('#')).ok_or(InputError::Unknown)?;
        Layout::without_heading(first.text, query)?.with_notation(&lines)
    }

    /// Why a file whose head has a heading of latencies or times is not read.
    pub fn refusal(head: &str, query: &ImportQuery) -> Option<InputError> {
        let lines = head_lines(head);
        if let Some(found) = Layout::with_heading(&lines, query) {
            return found.err();
        }
        let rows = lines.iter().zip(lines.iter().skip(1)).take(LOOKED_AT);
        let mut headings = rows.filter_map(|(line, row)| {
            let (delimiter, names) = columns(line.text.trim_start_matches('#').trim(), row.text);
            let first_row: Vec<&str> = cells(row.text, delimiter).collect();
            let is_number = |at: &usize| {
                let cell = first_row.get(*at).copied().unwrap_or_default();
                Cell::read(cell, Comma::Thousands).is_some()
            };
            let of = |known: &[&str]| -> Vec<String> {
                let found = named(&names, known);
                found.iter().filter(|at| is_number(at)).map(|at| names[*at].clone()).collect()
            };
            let (latencies, times) = (of(&LATENCIES), of(&TIMESTAMPS));
            let text = match (latencies.len(), times.len()) {
                (2.., _) => format!(
                    "line {}: the columns '{}' may all hold the latencies: name one with --column",
                    line.number,
                    latencies.join("', '")
                ),
                (0, 1) => format!(
                    "line {}: column '{}' has times of a clock: give the period of the loop with \
                     --period, or name another column with --column",
                    line.number, times[0]
                ),
                _ => return None,
            };
            has_as_many(&names, &first_row).then_some(InputError::Malformed(text))
        });
        headings.next()
    }

    /// The layout below the first valid heading, or else why the first heading is not valid.
    fn with_heading(
        lines: &[HeadLine<'_>],
        query: &ImportQuery,
    ) -> Option<Result<Layout, InputError>> {
        let mut found = lines.iter().take(LOOKED_AT).enumerate().filter_map(|(at, line)| {
            let is_row = |row: &&HeadLine| !row.text.starts_with('#') && !is_rule(row.text);
            let row = *lines[at + 1..].iter().find(is_row)?;
            let layout = Layout::below(*line, row.text, query).transpose()?;
            Some(layout.and_then(|layout| layout.with_notation(lines)))
        });
        let first = found.next()?;
        Some(first.or_else(|error| found.find_map(Result::ok).ok_or(error)))
    }

    /// The layout that this heading gives to the row below it; `None` if it is not a heading of
    /// latencies.
    pub fn below_heading(
        number: u64,
        text: &str,
        query: &ImportQuery,
    ) -> Option<Result<Layout, InputError>> {
        Layout::below(HeadLine { number, text }, text, query).transpose()
    }

    fn below(
        line: HeadLine<'_>,
        row: &str,
        query: &ImportQuery,
    ) -> Result<Option<Layout>, InputError> {
        let text = line.text.trim_start().trim_start_matches('#').trim();
        let (delimiter, mut names) = columns(text, row);
        // pandas and R print an index column without a name.
        let first_row: Vec<&str> = cells(row, delimiter).collect();
        if delimiter == Some(' ') && has_index(text, row) {
            names.insert(0, "index".to_string());
        }
        // Text that begins with a digit is the remains of a number, not a name.
        let is_heading = names.iter().any(|name| name.starts_with(char::is_alphabetic));
        let is_above_row = has_as_many(&names, &first_row);
        if !is_heading || !is_above_row {
            return Ok(None);
        }
        let by_name = |asked: &String| names.iter().position(|name| name == asked);
        let by_number = |asked: &String| {
            let number = asked.parse::<usize>().ok()?.checked_sub(1)?;
            (number < names.len() && !line.text.starts_with('#')).then_some(number)
        };
        let latency = match (&query.column, query.period) {
            (Some(asked), _) => by_name(asked).or_else(|| by_number(asked)),
            (None, Some(_)) => only(&names, &TIMESTAMPS),
            (None, None) => only(&names, &LATENCIES),
        };
        let Some(latency) = latency else { return Ok(None) };
        let name = names[latency].clone();
        if Cell::read(&name, Comma::Thousands).is_some() {
            return Ok(None);
        }
        if names.iter().filter(|other| **other == name).count() > 1
            && query.column.as_ref() == Some(&name)
        {
            let text = format!(
                "line {}: two columns are named '{name}'; give the number of one",
                line.number
            );
            return Err(InputError::Malformed(text));
        }
        let is_rttest = names.len() >= RTTEST.len()
            && names.iter().zip(RTTEST).all(|(name, known)| name.to_ascii_lowercase() == known);
        let default = is_rttest.then_some(InputUnit::Nanoseconds);
        let first = cells(row, delimiter).nth(latency).unwrap_or_default();
        // A comment is a heading only if there is a number below its name.
        let is_number = |comma| Cell::read(first, comma).is_some();
        if line.text.starts_with('#') && !is_number(Comma::Thousands) && !is_number(Comma::Decimal)
        {
            return Ok(None);
        }
        let in_cell = Cell::read(first, Comma::Thousands).and_then(|cell| cell.unit);
        let unit = unit(&name, in_cell.or(default), query)?;
        let other = |known: &[&str]| {
            let found = names.iter().position(|name| is_named(name, known));
            found.filter(|at| *at != latency)
        };
        Ok(Some(Layout {
            heading_line: Some(line.number),
            delimiter,
            latency,
            thread: other(&THREADS),
            // To the left of the latencies it is more likely the line number.
            count: other(&COUNTS).filter(|at| *at > latency),
            cycle: is_rttest.then_some(0),
            largest: (0..names.len())
                .filter(|at| *at != latency && is_of_largest(&names[*at]))
                .map(|at| (at, unit_of(&names[at]).unwrap_or(unit)))
                .collect(),
            number: other(&NUMBERS),
            losses: (0..names.len())
                .filter(|at| *at != latency && states_loss(&names[*at].replace('_', " ")))
                .collect(),
            unit_of_row: other(&UNITS),
            has_unit: unit_of(&name).or(default).or(query.unit).is_some(),
            unit,
            comma: Comma::Thousands,
            name,
            names,
        }))
    }

    fn without_heading(first: &str, query: &ImportQuery) -> Result<Layout, InputError> {
        let (delimiter, names) = columns(first, first);
        let known = names.join(", ");
        let latency = match &query.column {
            Some(asked) => {
                let number = asked.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                number.filter(|at| *at < names.len()).ok_or_else(|| {
                    let text = format!("no column '{asked}'; the first line has: {known}");
                    InputError::Malformed(text)
                })?
            }
            None if names.len() == 1 => 0,
            None => {
                let text = format!("name the column with --column; the first line has: {known}");
                return Err(InputError::Malformed(text));
            }
        };
        let name = (latency + 1).to_string();
        let in_cell = Cell::read(&names[latency], Comma::Thousands).and_then(|cell| cell.unit);
        let unit = unit(&name, in_cell, query)?;
        Ok(Layout {
            heading_line: None,
            delimiter,
            latency,
            thread: None,
            count: None,
            cycle: None,
            largest: Vec::new(),
            number: None,
            losses: Vec::new(),
            unit_of_row: None,
            has_unit: query.unit.is_some(),
            unit,
            comma: Comma::Thousands,
            name,
            names,
        })
    }

    /// The layout with the meaning of commas in the column.
    fn with_notation(self, lines: &[HeadLine<'_>]) -> Result<Layout, InputError> {
        let is_row = |line: &&HeadLine| {
            self.heading_line.is_none_or(|heading| line.number > heading)
                && !line.text.starts_with('#')
        };
        let hints: Vec<(&HeadLine, Hint)> = lines
            .iter()
            .filter(is_row)
            .filter_map(|line| Some((line, hint(self.cells(line.text).nth(self.latency)?)?)))
            .collect();
        let count = |wanted: Hint| hints.iter().filter(|(_, hint)| *hint == wanted).count();
        let decimal = count(Hint::Only(Comma::Decimal));
        let other = count(Hint::Point) + count(Hint::Whole);
        // Where the comma is the decimal point elsewhere in the row, a point in this column may
        // separate thousands.
        let others = lines.iter().filter(is_row).flat_map(|line| self.cells(line.text).enumerate());
        let has_decimal_commas = self.delimiter != Some(',')
            && others
                .filter(|(at, _)| *at != self.latency)
                .any(|(_, cell)| hint(cell) == Some(Hint::Only(Comma::Decimal)));
        let parted = lines.iter().filter(is_row).find(|line| {
            let cell = self.cells(line.text).nth(self.latency);
            cell.is_some_and(|cell| thousands(cell, Comma::Thousands) == Thousands::PartedByPoint)
        });
        if let Some(line) = parted.filter(|_| has_decimal_commas && decimal == 0) {
            return Err(InputError::Malformed(format!(
                "line {}: '{}' may have decimals or thousands behind its point, since other columns \
                 have decimal commas; write it without",
                line.number,
                line.text.trim()
            )));
        }
        let comma = match () {
            () if count(Hint::Only(Comma::Thousands)) > 0 || self.delimiter == Some(',') => {
                Comma::Thousands
            }
            // A single number with a comma among many without is a damaged one.
            () if decimal > 0 && decimal * 2 >= other => Comma::Decimal,
            () if other > 0 => Comma::Thousands,
            () => match hints.iter().find(|(_, hint)| *hint == Hint::Either) {
                Some((line, _)) => {
                    let text = format!(
                        "line {}: '{}' may have decimals or thousands behind its comma; write it with a \
                         point, or without",
                        line.number,
                        line.text.trim()
                    );
                    return Err(InputError::Malformed(text));
                }
                None => Comma::Thousands,
            },
        };
        Ok(Layout { comma, ..self })
    }

    /// The same with this meaning of a comma.
    pub fn with_comma(self, comma: Comma) -> Layout {
        Layout { comma, ..self }
    }

    pub fn cells<'a>(&self, line: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
        cells(line, self.delimiter)
    }

    /// Whether a row has as many cells as the heading; trailing empty ones do not count.
    pub fn fits(&self, row: &[&str]) -> bool {
        has_as_many(&self.names, row)
    }

    /// Whether each cell with a delimiter in it is quoted as in CSV.
    pub fn has_even_quotes(&self, row: &[&str]) -> bool {
        let Some(delimiter) = self.delimiter else { return true };
        row.iter().all(|cell| !cell.contains(delimiter) || has_even_quotes(cell))
    }

    pub fn name_of(&self, at: usize) -> &str {
        self.names.get(at).map_or("", |name| name)
    }

    /// The name of the column with the counts.
    pub fn name_of_count(&self) -> Option<&str> {
        self.count.map(|at| &self.names[at][..])
    }
}

/// Whether a line only separates a heading from its rows: `|---|--:|`.
pub fn is_rule(line: &str) -> bool {
    let text = line.trim();
    text.len() > 3 && text.bytes().all(|byte| b"|+-=: ".contains(&byte))
}

/// Whether a row has as many cells as there are names; trailing empty ones do not count.
fn has_as_many(names: &[String], row: &[&str]) -> bool {
    let named = names.iter().rposition(|name| !name.is_empty());
    let filled = row.iter().rposition(|cell| !cell.is_empty());
    row.len() == names.len() || filled == named
}

/// The unit of a column, from its name or from the user, which must not contradict each other.
pub fn unit(
    name: &str,
    otherwise: Option<InputUnit>,
    query: &ImportQuery,
) -> Result<InputUnit, InputError> {
    let named = unit_of(name);
    if let (Some(named), Some(asked)) = (named, query.unit)
        && named != asked
    {
        let text = format!(
            "column '{name}' is in {} by its name, and --unit says {}",
            named.as_str(),
            asked.as_str()
        );
        return Err(InputError::Malformed(text));
    }
    query.unit.or(named).or(otherwise).ok_or_else(|| {
        let text = format!("name the unit of column '{name}' with --unit: s, ms, us, ns");
        InputError::Malformed(text)
    })
}

/// The delimiter that gives a heading as many cells as the row below it, and its cells.
fn columns(heading: &str, row: &str) -> (Option<char>, Vec<String>) {
    let of = |text: &str, delimiter| cells(text, delimiter).count();
    let delimiter = DELIMITERS
        .into_iter()
        .find(|one| heading.contains(*one) && of(heading, Some(*one)) == of(row, Some(*one)));
    let is_one_cell = !DELIMITERS[..4].iter().any(|one| heading.contains(*one));
    let delimiter = delimiter.or_else(|| has_index(heading, row).then_some(' ')).or_else(|| {
        let first = DELIMITERS[..4].iter().copied().find(|one| heading.contains(*one));
        first.filter(|_| !is_one_cell)
    });
    (delimiter, cells(heading, delimiter).map(str::to_string).collect())
}

/// Whether a row separated by blanks has one cell more than its heading: the row number.
fn has_index(heading: &str, row: &str) -> bool {
    let [names, row] = [heading, row].map(|text| cells(text, Some(' ')));
    let row: Vec<&str> = row.collect();
    row.len() == names.count() + 1 && ["0", "1"].contains(&row[0])
}

/// The unquoted cells of a line. A delimiter within quotes belongs to the cell.
fn cells(line: &str, delimiter: Option<char>) -> impl Iterator<Item = &str> + use<'_> {
    let mut is_quoted = false;
    line.trim_matches(['\r', '\u{feff}'])
        .split(move |letter| {
            is_quoted ^= letter == '"';
            Some(letter) == delimiter && !is_quoted
        })
        .filter(move |cell| delimiter != Some(' ') || !cell.is_empty())
        .map(|cell| without_quotes(cell.trim()).trim())
}

/// Whether quotes in a cell are as in CSV: none, or around it, with pairs of them inside.
fn has_even_quotes(cell: &str) -> bool {
    let inner = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell);
    !inner.replace("\"\"", "").contains('"')
}

fn without_quotes(cell: &str) -> &str {
    let inner = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
    inner.filter(|inner| !inner.contains('"')).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(head: &str) -> Result<Layout, InputError> {
        Layout::of(head, &ImportQuery::default())
    }

    #[test]
    fn a_delimiter_between_quotes_is_a_letter() {
        let row: Vec<&str> = cells("\"a, b\",\"12,5\", 7 ,\"\"", Some(',')).collect();
        assert_eq!(row, ["a, b", "12,5", "7", ""]);
        let row: Vec<&str> = cells("x  \"y z\" 3", Some(' ')).collect();
        assert_eq!(row, ["x", "y z", "3"]);
    }

    #[test]
    fn quotes_that_are_no_pair_are_damage() {
        for (cell, is_even) in
            [("12", true), ("\"a \"\"b\"\"\"", true), ("\"\"2\"", false), ("9\"4", false)]
        {
            assert_eq!(has_even_quotes(cell), is_even, "{cell}");
        }
    }

    #[test]
    fn the_heading_is_found_wherever_it_stands() {
        for (head, column) in [
            ("time,cpu,latency_ns\n1,0,5\n", 2),
            ("Latency [ns]\n5\n", 0),
            ("Device,scope 7\nRate,1000\n\nt;lat (us)\n1;2\n", 1),
            ("#idx perf wu_lat_us\n0 82 55\n", 2),
            ("# a latency test of 5 us\n#at lat_us\n1 2\n", 1),
            ("latency\n12 us\n", 0),
            ("   cycle  lat_us\n0     0      17\n1     1      18\n", 2),
            ("at,lat_us,lat_us_max\n1,2,3\n", 1),
        ] {
            let found = layout(head).unwrap_or_else(|error| panic!("{head}: {error}"));
            assert_eq!(found.latency, column, "{head}");
        }
        assert!(layout("time,cpu,latency\n1,0,5\n").is_err(), "without a unit");
        assert!(layout("lat_us,delay_us\n1,0\n").is_err(), "which of the two?");
        assert!(layout("1,2,3\n").is_err());
    }

    #[test]
    fn commas_are_read_by_their_column() {
        let comma = |head: &str| layout(head).map(|one| one.comma);
        assert_eq!(comma("lat_us\n0,5\n1,500\n"), Ok(Comma::Decimal));
        assert_eq!(comma("lat_us\n10\n\"1,500\"\n"), Ok(Comma::Thousands));
        assert!(comma("lat_us\n1,500\n2,300\n").is_err());
    }
}
