//! Reads a column of a row group some rows at a time, reusing memory: a day of many CPUs is a
//! billion numbers, and fresh memory from the kernel for each of them takes longer than reading
//! them.

use crate::columns::{cut, list_path, other_type};
use crate::error::{Error, Result};
use crate::table::TableReader;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::reader::FileReader;

/// A column that is being read.
pub struct ColumnPieces<'a> {
    table: &'a TableReader,
    name: &'a str,
    reader: ColumnReader,
    longs: Vec<i64>,
    ints: Vec<i32>,
    reals: Vec<f64>,
    present: Vec<i16>,
    follows: Vec<i16>,
    maybe_longs: Vec<Option<i64>>,
    maybe_reals: Vec<Option<f64>>,
    ends: Vec<usize>,
}

pub struct Lists<'a> {
    values: &'a [i32],
    /// End of each list.
    ends: &'a [usize],
}

impl Lists<'_> {
    pub fn list(&self, row: usize) -> &[i32] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..self.ends[row]]
    }
}

impl TableReader {
    pub fn rows_of(&self, group: usize) -> usize {
        usize::try_from(self.reader.metadata().row_group(group).num_rows()).unwrap_or(0)
    }

    /// A column of one row group, from its first row on.
    pub fn pieces<'a>(&'a self, group: usize, name: &'a str) -> Result<ColumnPieces<'a>> {
        self.column_pieces(group, name, name)
    }

    /// A column of lists.
    pub fn list_pieces<'a>(&'a self, group: usize, name: &'a str) -> Result<ColumnPieces<'a>> {
        self.column_pieces(group, name, &list_path(name))
    }

    fn column_pieces<'a>(
        &'a self,
        group: usize,
        name: &'a str,
        path: &str,
    ) -> Result<ColumnPieces<'a>> {
        let index = self.index(path)?;
        let group = self.reader.get_row_group(group);
        let reader = group.and_then(|group| group.get_column_reader(index));
        Ok(ColumnPieces {
            table: self,
            name,
            reader: reader.map_err(|error| self.damaged(format!("column '{name}': {error}")))?,
            longs: Vec::new(),
            ints: Vec::new(),
            reals: Vec::new(),
            present: Vec::new(),
            follows: Vec::new(),
            maybe_longs: Vec::new(),
            maybe_reals: Vec::new(),
            ends: Vec::new(),
        })
    }
}

impl ColumnPieces<'_> {
    /// The next rows of an integer column without gaps.
    pub fn longs(&mut self, rows: usize) -> Result<&[i64]> {
        self.read_longs(rows)?;
        match self.longs.len() == rows {
            true => Ok(&self.longs),
            false => Err(self.damaged("lacks an integer")),
        }
    }

    /// The next rows of an optional integer column.
    pub fn maybe_longs(&mut self, rows: usize) -> Result<&[Option<i64>]> {
        self.read_longs(rows)?;
        match spread(&self.longs, &self.present, rows, &mut self.maybe_longs) {
            true => Ok(&self.maybe_longs),
            false => Err(self.damaged(cut())),
        }
    }

    /// The next rows of an optional real column.
    pub fn maybe_reals(&mut self, rows: usize) -> Result<&[Option<f64>]> {
        let ColumnPieces { reader, reals, present, follows, .. } = self;
        let read = match reader {
            ColumnReader::DoubleColumnReader(source) => fill(source, rows, reals, present, follows),
            _ => Err(other_type("real numbers")),
        };
        read.map_err(|error| self.damaged(error))?;
        match spread(&self.reals, &self.present, rows, &mut self.maybe_reals) {
            true => Ok(&self.maybe_reals),
            false => Err(self.damaged(cut())),
        }
    }

    /// The next rows of a list column.
    pub fn int_lists(&mut self, rows: usize) -> Result<Lists<'_>> {
        let ColumnPieces { reader, ints, present, follows, ends, .. } = self;
        let read = match reader {
            ColumnReader::Int32ColumnReader(source) => fill(source, rows, ints, present, follows),
            _ => Err(other_type("lists of integers")),
        };
        find_ends(present, follows, ends);
        read.map_err(|error| self.damaged(error))?;
        match self.ends.len() == rows && self.ends.last() == Some(&self.ints.len()) {
            true => Ok(Lists { values: &self.ints, ends: &self.ends }),
            false => Err(self.damaged(cut())),
        }
    }

    fn read_longs(&mut self, rows: usize) -> Result<()> {
        let ColumnPieces { reader, longs, ints, present, follows, .. } = self;
        let read = match reader {
            ColumnReader::Int64ColumnReader(source) => fill(source, rows, longs, present, follows),
            ColumnReader::Int32ColumnReader(source) => {
                let read = fill(source, rows, ints, present, follows);
                longs.clear();
                longs.extend(ints.iter().map(|&value| i64::from(value)));
                read
            }
            _ => Err(other_type("integers")),
        };
        read.map_err(|error| self.damaged(error))
    }

    fn damaged(&self, error: impl std::fmt::Display) -> Error {
        self.table.damaged(format!("column '{}': {error}", self.name))
    }
}

/// Reads `rows` rows, replacing the previous ones.
fn fill<T: DataType>(
    source: &mut ColumnReaderImpl<T>,
    rows: usize,
    values: &mut Vec<T::T>,
    present: &mut Vec<i16>,
    follows: &mut Vec<i16>,
) -> parquet::errors::Result<()> {
    values.clear();
    present.clear();
    follows.clear();
    let (read, _, _) = source.read_records(rows, Some(present), Some(follows), values)?;
    if read == rows { Ok(()) } else { Err(cut()) }
}

/// Puts each value in its place, and returns whether their number is right; a column without gaps
/// has no levels.
fn spread<T: Copy>(values: &[T], present: &[i16], rows: usize, all: &mut Vec<Option<T>>) -> bool {
    all.clear();
    let mut values = values.iter().copied();
    match present.is_empty() {
        true => all.extend(values.by_ref().map(Some)),
        false => all.extend(present.iter().map(|present| match present {
            0 => None,
            _ => values.next(),
        })),
    }
    let missing = present.iter().filter(|present| **present == 0).count();
    all.len() == rows && all.iter().filter(|one| one.is_none()).count() == missing
}

/// End of each list. All lists of a table have the length of the first, except for runs with
/// different bins.
fn find_ends(present: &[i16], follows: &[i16], ends: &mut Vec<usize>) {
    ends.clear();
    let mut at = 0;
    for (present, follows) in present.iter().zip(follows) {
        at += usize::from(*present > 0);
        match ends.last_mut() {
            Some(last) if *follows > 0 => *last = at,
            _ => ends.push(at),
        }
    }
}
