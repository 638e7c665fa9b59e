//! Parquet tables with a column of latencies.

use super::Format;
use super::left_out::LeftOut;
use super::table::unit_of;
use crate::input::{Fault, Input, Query};
use crate::numbers::nanos;
use crate::recording::Recording;
use crate::samples::Samples;
use bytes::Bytes;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

pub const FORMAT: Format = Format { id: "parquet", title: "Parquet table of samples", fits, read };

/// Rows that are read at once.
const ROWS: usize = 1 << 16;

fn fits(head: &[u8]) -> bool {
    head.starts_with(b"PAR1")
}

fn malformed(error: &ParquetError) -> Fault {
    Fault::Malformed(format!(
        "not a Parquet table that latlab reads ({error}); it may be uncompressed, or compressed with \
         snappy or gzip"
    ))
}

fn read(input: &mut Input, query: &Query) -> Result<Vec<Recording>, Fault> {
    let bytes = Bytes::from(input.document()?);
    let file = SerializedFileReader::new(bytes).map_err(|error| malformed(&error))?;
    let columns = file.metadata().file_metadata().schema_descr().columns();
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
        Fault::Malformed(format!("name the column with --column; there are: {}", names.join(", ")))
    })?;
    let name = &names[index];
    let unit = query.unit.or(unit_of(name)).ok_or_else(|| {
        Fault::Malformed(format!("name the unit of column '{name}' with --unit: s, ms, us, ns"))
    })?;
    let mut column = Column { unit: unit.nanos(), ..Column::default() };
    for group in 0..file.num_row_groups() {
        let reader = file.get_row_group(group).and_then(|group| group.get_column_reader(index));
        let read = reader.and_then(|reader| match reader {
            ColumnReader::Int32ColumnReader(source) => {
                column.take(source, |value| f64::from(*value))
            }
            ColumnReader::Int64ColumnReader(source) => column.take(source, |value| *value as f64),
            ColumnReader::FloatColumnReader(source) => {
                column.take(source, |value| f64::from(*value))
            }
            ColumnReader::DoubleColumnReader(source) => column.take(source, |value| *value),
            _ => Err(ParquetError::General(format!("column '{name}' holds no numbers"))),
        });
        read.map_err(|error| malformed(&error))?;
    }
    let mut recording = Recording::new("Parquet table of samples");
    recording.quantity = "latency";
    recording.fact("Column", format!("{name}, in {}", unit.as_str()));
    recording.series.push(column.samples.fine_series());
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
    fn take<T: DataType>(
        &mut self,
        mut source: ColumnReaderImpl<T>,
        number: fn(&T::T) -> f64,
    ) -> Result<(), ParquetError> {
        let (mut values, mut present) = (Vec::new(), Vec::new());
        loop {
            values.clear();
            present.clear();
            let (rows, ..) = source.read_records(ROWS, Some(&mut present), None, &mut values)?;
            for value in values.iter().map(number) {
                match nanos(value, self.unit).filter(|latency| *latency >= 0) {
                    Some(latency) => self.samples.push_fine(latency),
                    None => self.left.push_item(&value.to_string()),
                }
            }
            (values.len()..rows).for_each(|_| self.left.push_item("a missing value"));
            if rows == 0 {
                return Ok(());
            }
        }
    }
}
