//! Parquet tables with a column of latencies.

mod pages;
mod values;

use super::left_out::LeftOut;
use super::table::unit;
use super::{Format, has_none};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::numbers::nanos;
use crate::read::recording::Recording;
use crate::read::samples::Samples;
use bytes::Bytes;
use pages::pages;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use std::sync::Arc;
use values::Values;

/// Words in the names of columns that hold figures about latencies, not latencies.
const FIGURES: [&str; 8] = ["avg", "average", "mean", "median", "min", "minimum", "p", "std"];

pub const FORMAT: Format =
    Format { id: "parquet", title: "Parquet table of samples", fits, has_value: has_none, read };

fn fits(head: &[u8]) -> bool {
    head.starts_with(b"PAR1")
}

fn malformed(error: &ParquetError) -> InputError {
    let text = error.to_string();
    let text = text.strip_prefix("Parquet error: ").unwrap_or(&text);
    InputError::Malformed(format!("not a Parquet table that latlab reads ({text})"))
}

/// Reads a file in place; one that is compressed or comes from a pipe is read into memory.
fn read(input: &mut Input, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    match input.take_file() {
        Some(file) => read_table(&Arc::new(file), query),
        None => read_table(&Arc::new(Bytes::from(input.document()?)), query),
    }
}

fn read_table<R: ChunkReader + 'static>(
    source: &Arc<R>,
    query: &ImportQuery,
) -> Result<Vec<Recording>, InputError> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&**source);
    let metadata = metadata.map_err(|error| malformed(&error))?;
    let columns = metadata.file_metadata().schema_descr().columns();
    let names: Vec<String> = columns.iter().map(|column| column.path().string()).collect();
    let index = match &query.column {
        Some(asked) => names
            .iter()
            .position(|name| name == asked)
            .or_else(|| asked.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < names.len())),
        None => only_of_latencies(&names),
    };
    let index = index.ok_or_else(|| {
        InputError::Malformed(format!(
            "name the column with --column; there are: {}",
            names.join(", ")
        ))
    })?;
    let name = &names[index];
    let unit = unit(name, None, query)?;
    let mut column = Column { unit: unit.nanos(), ..Column::default() };
    for group in metadata.row_groups() {
        column.take(source, group, index).map_err(|error| malformed(&error))?;
    }
    let (stated, read) = (metadata.file_metadata().num_rows(), column.rows);
    let mut recording = Recording::new("Parquet table of samples");
    recording.quantity = "latency";
    recording.fact("Column", format!("{name}, in {}", unit.as_str()));
    recording.series.push(column.samples.series());
    if stated != read as i64 {
        recording.lacks(format!("column '{name}' has {read} values in a table of {stated} rows"));
    }
    column.left.report("values", &mut recording);
    Ok(vec![recording])
}

/// The only column with a name like that of latencies, or the only column at all; columns of means
/// or other figures do not count.
fn only_of_latencies(names: &[String]) -> Option<usize> {
    let is_figure = |name: &String| {
        let name = name.to_ascii_lowercase();
        name.split(|c: char| !c.is_ascii_alphabetic()).any(|word| FIGURES.contains(&word))
    };
    let has_name = |name: &String| names.len() == 1 || name.starts_with("latency");
    let mut found = (0..names.len()).filter(|at| has_name(&names[*at]) && !is_figure(&names[*at]));
    found.next().filter(|_| found.next().is_none())
}

#[derive(Default)]
struct Column {
    unit: i64,
    samples: Samples,
    /// Number of rows read, with or without a value.
    rows: u64,
    left: LeftOut,
}

impl Column {
    /// Reads the values of a row group.
    fn take<R: ChunkReader + 'static>(
        &mut self,
        source: &Arc<R>,
        group: &RowGroupMetaData,
        index: usize,
    ) -> Result<(), ParquetError> {
        let Column { unit, samples, rows, left } = self;
        let column = group.column(index).column_descr();
        let mut values = Values::new(column).map_err(ParquetError::General)?;
        for page in pages(source, group, index)? {
            let mut each = |value: f64| {
                *rows += 1;
                match nanos(value, *unit).filter(|latency| *latency >= 0) {
                    Some(latency) => samples.push(latency),
                    None => left.lose_item(&value.to_string()),
                }
            };
            let page = page?;
            let missing = values.take(&page, &mut each).ok_or_else(|| {
                ParquetError::General(format!("a page of encoding {} is damaged", page.encoding()))
            })?;
            *rows += missing;
            (0..missing).for_each(|_| left.lose_item("a missing value"));
        }
        Ok(())
    }
}
