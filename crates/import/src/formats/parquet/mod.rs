//! Parquet tables with a column of latencies.

mod pages;
mod values;

use super::Format;
use super::left_out::LeftOut;
use super::table::unit_of;
use crate::input::{Input, InputError, Query};
use crate::numbers::nanos;
use crate::recording::Recording;
use crate::samples::Samples;
use bytes::Bytes;
use pages::pages;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use std::sync::Arc;
use values::Values;

pub const FORMAT: Format = Format { id: "parquet", title: "Parquet table of samples", fits, read };

fn fits(head: &[u8]) -> bool {
    head.starts_with(b"PAR1")
}

fn malformed(error: &ParquetError) -> InputError {
    let text = error.to_string();
    let text = text.strip_prefix("Parquet error: ").unwrap_or(&text);
    InputError::Malformed(format!("not a Parquet table that latlab reads ({text})"))
}

/// Reads a file where it lies, and one that is packed or comes from a pipe in memory.
fn read(input: &mut Input, query: &Query) -> Result<Vec<Recording>, InputError> {
    match input.take_file() {
        Some(file) => read_table(&Arc::new(file), query),
        None => read_table(&Arc::new(Bytes::from(input.document()?)), query),
    }
}

fn read_table<R: ChunkReader + 'static>(
    source: &Arc<R>,
    query: &Query,
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
        None if names.len() == 1 => Some(0),
        None => names.iter().position(|name| name.starts_with("latency")),
    };
    let index = index.ok_or_else(|| {
        InputError::Malformed(format!(
            "name the column with --column; there are: {}",
            names.join(", ")
        ))
    })?;
    let name = &names[index];
    let unit = query.unit.or(unit_of(name)).ok_or_else(|| {
        InputError::Malformed(format!(
            "name the unit of column '{name}' with --unit: s, ms, us, ns"
        ))
    })?;
    let mut column = Column { unit: unit.nanos(), ..Column::default() };
    for group in metadata.row_groups() {
        column.take(source, group, index).map_err(|error| malformed(&error))?;
    }
    let mut recording = Recording::new("Parquet table of samples");
    recording.quantity = "latency";
    recording.fact("Column", format!("{name}, in {}", unit.as_str()));
    recording.series.push(column.samples.series());
    column.left.report("values", &mut recording);
    Ok(vec![recording])
}

#[derive(Default)]
struct Column {
    unit: i64,
    samples: Samples,
    left: LeftOut,
}

impl Column {
    /// Takes the values of a row group.
    fn take<R: ChunkReader + 'static>(
        &mut self,
        source: &Arc<R>,
        group: &RowGroupMetaData,
        index: usize,
    ) -> Result<(), ParquetError> {
        let Column { unit, samples, left } = self;
        let column = group.column(index).column_descr();
        let mut values = Values::new(column).map_err(ParquetError::General)?;
        for page in pages(source, group, index)? {
            let mut each = |value: f64| match nanos(value, *unit).filter(|latency| *latency >= 0) {
                Some(latency) => samples.push(latency),
                None => left.lose_item(&value.to_string()),
            };
            let page = page?;
            let missing = values.take(&page, &mut each).ok_or_else(|| {
                ParquetError::General(format!("a page of encoding {} is damaged", page.encoding()))
            })?;
            (0..missing).for_each(|_| left.lose_item("a missing value"));
        }
        Ok(())
    }
}
