//! Reads the columns of a table that hold more than plain integers, one row group at a time.

use crate::error::Result;
use crate::table::{ColumnData, ColumnSpec, Row, TableReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;

/// Output of a column reader: values, and for each place whether there is one and whether it
/// continues a list.
struct Levels<T> {
    values: Vec<T>,
    present: Vec<i16>,
    follows: Vec<i16>,
}

impl TableReader {
    /// Optional integers.
    pub fn maybe_longs(&self, group: usize, column: &str) -> Result<Vec<Option<i64>>> {
        self.read(group, column, |source, rows| match source {
            ColumnReader::Int64ColumnReader(source) => spread(levels(source, rows)?),
            ColumnReader::Int32ColumnReader(source) => {
                let all = spread(levels(source, rows)?)?;
                Ok(all.into_iter().map(|value| value.map(i64::from)).collect())
            }
            _ => Err(other_type("integers")),
        })
    }

    /// Integers that may be missing; nothing where all of them are.
    pub fn longs_if_any(&self, group: usize, column: &str) -> Result<Vec<Option<i64>>> {
        match self.range(group, column) {
            Ok(_) => self.maybe_longs(group, column),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Optional real numbers.
    pub fn maybe_reals(&self, group: usize, column: &str) -> Result<Vec<Option<f64>>> {
        self.read(group, column, |source, rows| match source {
            ColumnReader::DoubleColumnReader(source) => spread(levels(source, rows)?),
            _ => Err(other_type("real numbers")),
        })
    }

    /// Strings; equal ones of a group share their bytes, as far as the dictionary holds them.
    pub fn words(&self, group: usize, column: &str) -> Result<Vec<ByteArray>> {
        self.read(group, column, |source, rows| match source {
            ColumnReader::ByteArrayColumnReader(source) => Ok(levels(source, rows)?.values),
            _ => Err(other_type("words")),
        })
    }

    /// Lists of integers.
    pub fn int_lists(&self, group: usize, column: &str) -> Result<Vec<Vec<i32>>> {
        self.read(group, &list_path(column), |source, rows| match source {
            ColumnReader::Int32ColumnReader(source) => lists(levels(source, rows)?),
            _ => Err(other_type("lists of integers")),
        })
    }

    /// Reads every value of every column, which is an error where one cannot be read.
    pub fn read_all<R: Row>(&self) -> Result<()> {
        for column in R::COLUMNS {
            for group in 0..self.groups() {
                self.read_column(group, column)?;
            }
        }
        Ok(())
    }

    fn read_column<R: Row>(&self, group: usize, column: &ColumnSpec<R>) -> Result<()> {
        let read = match column.cell {
            ColumnData::Int(_) | ColumnData::Long(_) => self.longs(group, column.name)?.len(),
            ColumnData::MaybeInt(_) | ColumnData::MaybeLong(_) => {
                self.maybe_longs(group, column.name)?.len()
            }
            ColumnData::MaybeReal(_) => self.maybe_reals(group, column.name)?.len(),
            ColumnData::Ints(_) => self.int_lists(group, column.name)?.len(),
            ColumnData::Word(_) | ColumnData::Bytes(_) => self.words(group, column.name)?.len(),
        };
        let rows = self.reader.metadata().row_group(group).num_rows();
        match i64::try_from(read) == Ok(rows) {
            true => Ok(()),
            false => Err(self.damaged(format!("column '{}': has {read} rows", column.name))),
        }
    }

    fn read<T>(
        &self,
        group: usize,
        column: &str,
        take: impl FnOnce(ColumnReader, usize) -> parquet::errors::Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let index = self.index(column)?;
        let read = self.reader.get_row_group(group).and_then(|group| {
            let rows = group.metadata().num_rows().max(0) as usize;
            let values = take(group.get_column_reader(index)?, rows)?;
            match values.len() == rows {
                true => Ok(values),
                false => Err(ParquetError::General("has the wrong number of rows".to_string())),
            }
        });
        read.map_err(|error| self.damaged(format!("column '{column}': {error}")))
    }
}

/// Path of a list column's values.
pub fn list_path(column: &str) -> String {
    format!("{column}.list.element")
}

pub fn other_type(wanted: &str) -> ParquetError {
    ParquetError::General(format!("is not a column of {wanted}"))
}

fn levels<T: DataType>(
    mut source: ColumnReaderImpl<T>,
    rows: usize,
) -> parquet::errors::Result<Levels<T::T>> {
    let mut all = Levels { values: Vec::new(), present: Vec::new(), follows: Vec::new() };
    let Levels { values, present, follows } = &mut all;
    source.read_records(rows, Some(present), Some(follows), values)?;
    Ok(all)
}

/// Puts each value in its place.
fn spread<T>(levels: Levels<T>) -> parquet::errors::Result<Vec<Option<T>>> {
    let mut values = levels.values.into_iter();
    let all = levels.present.iter().map(|present| match present {
        0 => Ok(None),
        _ => values.next().map(Some).ok_or_else(cut),
    });
    all.collect()
}

fn lists(levels: Levels<i32>) -> parquet::errors::Result<Vec<Vec<i32>>> {
    if let Some(length) = common_length(&levels) {
        return Ok(levels.values.chunks_exact(length).map(<[i32]>::to_vec).collect());
    }
    let mut values = levels.values.into_iter();
    let mut lists: Vec<Vec<i32>> = Vec::new();
    for (present, follows) in levels.present.iter().zip(&levels.follows) {
        if *follows == 0 {
            // All lists of a table have the length of the first.
            lists.push(Vec::with_capacity(lists.last().map_or(0, Vec::len)));
        }
        if *present > 0 {
            lists.last_mut().ok_or_else(cut)?.push(values.next().ok_or_else(cut)?);
        }
    }
    Ok(lists)
}

/// The common length of all lists, if they are equally long: a day has a billion numbers, too many
/// to check one by one.
fn common_length(levels: &Levels<i32>) -> Option<usize> {
    let Levels { values, present, follows } = levels;
    let length = 1 + follows.iter().skip(1).take_while(|follows| **follows > 0).count();
    let one: Vec<i16> = (0..length).map(|place| i16::from(place > 0)).collect();
    let is_regular = follows.len() == values.len()
        && follows.len().is_multiple_of(length)
        && present.iter().all(|present| *present > 0)
        && follows.chunks_exact(length).all(|list| list == one);
    (is_regular && !values.is_empty()).then_some(length)
}

pub fn cut() -> ParquetError {
    ParquetError::General("holds fewer values than declared".to_string())
}
