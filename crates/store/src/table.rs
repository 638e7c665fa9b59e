//! Parquet tables, column by column: one declaration per table both writes and reads it.
//!
//! Integers are delta-packed and nothing is compressed, which every reader understands; only the
//! tables of samples and of the trace are compressed further.

use crate::disk::Disk;
use crate::document::RUN_JSON;
use crate::error::{Error, Result};
use crate::files::NewFile;
use crate::run_file::RunFile;
use latlab_model::Run;
use latlab_model::run::StoredFile;
use parquet::basic::Type as Physical;
use parquet::basic::{Compression, ConvertedType, Encoding, GzipLevel, LogicalType, Repetition};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows held in memory before they are written.
const GROUP_ROWS: usize = 32_768;

/// How a column gets its value from a row.
pub enum ColumnData<R> {
    Int(fn(&R) -> i32),
    MaybeInt(fn(&R) -> Option<i32>),
    Long(fn(&R) -> i64),
    MaybeLong(fn(&R) -> Option<i64>),
    MaybeReal(fn(&R) -> Option<f64>),
    Ints(fn(&R) -> &[i32]),
    /// A string from a small, recurring set.
    Word(fn(&R) -> &str),
    /// Opaque bytes for another program.
    Bytes(fn(&R) -> &[u8]),
}

pub struct ColumnSpec<R> {
    pub name: &'static str,
    pub cell: ColumnData<R>,
}

pub trait Row: Sized + 'static {
    /// Name of the file.
    const FILE: &'static str;
    /// The columns, in order.
    const COLUMNS: &'static [ColumnSpec<Self>];

    /// For a table that must be small: the column whose upper bytes, being mostly equal, are stored
    /// separately from the lower ones, so that gzip finds them.
    const SQUEEZED: Option<&'static str> = None;

    /// Whether its pages are compressed by gzip.
    const GZIP: bool = Self::SQUEEZED.is_some();

    /// Metadata of the file in addition to the schema version.
    fn notes() -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// A table that is being written.
pub struct Table<R: Row> {
    writer: SerializedFileWriter<NewFile>,
    rows: Vec<R>,
    path: PathBuf,
}

impl<R: Row> Table<R> {
    /// Creates the file in this folder, replacing what an interrupted attempt left.
    pub fn create(disk: &Disk, folder: &Path) -> Result<Table<R>> {
        let path = folder.join(R::FILE);
        let file = NewFile::create(disk, &path)?;
        let writer = schema::<R>()
            .and_then(|schema| SerializedFileWriter::new(file, schema, properties::<R>().into()))
            .map_err(|error| write_error(&path, error))?;
        Ok(Table { writer, rows: Vec::new(), path })
    }

    pub fn push(&mut self, row: R) -> Result<()> {
        self.rows.push(row);
        if self.rows.len() == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Writes these rows as a separate group, after those that were pushed.
    pub fn push_group(&mut self, rows: &[R]) -> Result<()> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        write_group(&mut self.writer, rows).map_err(|error| write_error(&self.path, error))
    }

    /// Writes the rest and the footer, and syncs the file; returns its size and checksum.
    pub fn close(mut self) -> Result<StoredFile> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        self.writer.finish().map_err(|error| write_error(&self.path, error))?;
        self.writer.inner().sync()
    }

    fn write_group(&mut self) -> Result<()> {
        write_group(&mut self.writer, &self.rows)
            .map_err(|error| write_error(&self.path, error))?;
        self.rows.clear();
        Ok(())
    }
}

fn write_error(path: &Path, error: ParquetError) -> Error {
    match error {
        // A full disk must be reported as such.
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => Error::io("write", path)(*error),
            Err(other) => Error::Table { path: path.into(), reason: other.to_string() },
        },
        other => Error::Table { path: path.into(), reason: other.to_string() },
    }
}

fn schema<R: Row>() -> parquet::errors::Result<TypePtr> {
    let fields = R::COLUMNS.iter().map(field).collect::<parquet::errors::Result<_>>()?;
    Ok(Arc::new(Type::group_type_builder("row").with_fields(fields).build()?))
}

fn field<R>(column: &ColumnSpec<R>) -> parquet::errors::Result<TypePtr> {
    let plain = |name, physical, repetition| {
        let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        builder.build().map(Arc::new)
    };
    match column.cell {
        ColumnData::Int(_) => plain(column.name, Physical::INT32, Repetition::REQUIRED),
        ColumnData::MaybeInt(_) => plain(column.name, Physical::INT32, Repetition::OPTIONAL),
        ColumnData::Long(_) => plain(column.name, Physical::INT64, Repetition::REQUIRED),
        ColumnData::MaybeLong(_) => plain(column.name, Physical::INT64, Repetition::OPTIONAL),
        ColumnData::MaybeReal(_) => plain(column.name, Physical::DOUBLE, Repetition::OPTIONAL),
        ColumnData::Word(_) => Type::primitive_type_builder(column.name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(ConvertedType::UTF8)
            .with_logical_type(Some(LogicalType::String))
            .build()
            .map(Arc::new),
        ColumnData::Bytes(_) => plain(column.name, Physical::BYTE_ARRAY, Repetition::REQUIRED),
        ColumnData::Ints(_) => {
            let element = plain("element", Physical::INT32, Repetition::REQUIRED)?;
            let list = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![element])
                .build()?;
            let outer = Type::group_type_builder(column.name)
                .with_repetition(Repetition::REQUIRED)
                .with_converted_type(ConvertedType::LIST)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(list)])
                .build()?;
            Ok(Arc::new(outer))
        }
    }
}

fn properties<R: Row>() -> WriterProperties {
    let notes = R::notes()
        .into_iter()
        .chain([("latlab_schema", latlab_model::run::SCHEMA_VERSION.to_string())]);
    let notes = notes.map(|(key, value)| KeyValue::new(key.to_string(), value)).collect();
    let plain = WriterProperties::builder()
        .set_created_by(concat!("latlab version ", env!("CARGO_PKG_VERSION")).to_string())
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_encoding(Encoding::DELTA_BINARY_PACKED)
        .set_key_value_metadata(Some(notes));
    let plain = match R::GZIP {
        true => plain.set_compression(Compression::GZIP(GzipLevel::default())),
        false => plain,
    };
    let plain = match R::SQUEEZED {
        Some(column) => {
            plain.set_column_encoding(ColumnPath::from(column), Encoding::BYTE_STREAM_SPLIT)
        }
        None => plain,
    };
    R::COLUMNS
        .iter()
        .fold(plain, |properties, column| {
            let path = ColumnPath::from(column.name);
            match column.cell {
                ColumnData::MaybeReal(_) | ColumnData::Bytes(_) => {
                    properties.set_column_encoding(path, Encoding::PLAIN)
                }
                // Threads, CPUs and words have few values, in long runs of equal ones.
                ColumnData::Int(_) | ColumnData::MaybeInt(_) => {
                    properties.set_column_dictionary_enabled(path, true)
                }
                ColumnData::Word(_) => properties
                    .set_column_encoding(path.clone(), Encoding::PLAIN)
                    .set_column_dictionary_enabled(path, true),
                _ => properties,
            }
        })
        .build()
}

fn write_group<R: Row>(
    writer: &mut SerializedFileWriter<NewFile>,
    rows: &[R],
) -> parquet::errors::Result<()> {
    let mut group = writer.next_row_group()?;
    for column in R::COLUMNS {
        let Some(mut target) = group.next_column()? else { break };
        write_column(target.untyped(), &column.cell, rows)?;
        target.close()?;
    }
    group.close()?;
    Ok(())
}

fn write_column<R>(
    target: &mut ColumnWriter<'_>,
    cell: &ColumnData<R>,
    rows: &[R],
) -> parquet::errors::Result<()> {
    match (cell, target) {
        (ColumnData::Int(get), ColumnWriter::Int32ColumnWriter(target)) => {
            target.write_batch(&rows.iter().map(get).collect::<Vec<_>>(), None, None)?;
        }
        (ColumnData::Long(get), ColumnWriter::Int64ColumnWriter(target)) => {
            target.write_batch(&rows.iter().map(get).collect::<Vec<_>>(), None, None)?;
        }
        (ColumnData::MaybeInt(get), ColumnWriter::Int32ColumnWriter(target)) => {
            let (values, present) = split(rows, get);
            target.write_batch(&values, Some(&present), None)?;
        }
        (ColumnData::MaybeLong(get), ColumnWriter::Int64ColumnWriter(target)) => {
            let (values, present) = split(rows, get);
            target.write_batch(&values, Some(&present), None)?;
        }
        (ColumnData::MaybeReal(get), ColumnWriter::DoubleColumnWriter(target)) => {
            let (values, present) = split(rows, get);
            target.write_batch(&values, Some(&present), None)?;
        }
        (ColumnData::Word(get), ColumnWriter::ByteArrayColumnWriter(target)) => {
            let words: Vec<ByteArray> = rows.iter().map(|row| get(row).into()).collect();
            target.write_batch(&words, None, None)?;
        }
        (ColumnData::Bytes(get), ColumnWriter::ByteArrayColumnWriter(target)) => {
            let bytes: Vec<ByteArray> = rows.iter().map(|row| get(row).to_vec().into()).collect();
            target.write_batch(&bytes, None, None)?;
        }
        (ColumnData::Ints(get), ColumnWriter::Int32ColumnWriter(target)) => {
            let (values, present, follows) = flatten(rows, get);
            target.write_batch(&values, Some(&present), Some(&follows))?;
        }
        _ => return Err(ParquetError::General("a column has another type".to_string())),
    }
    Ok(())
}

/// The present values, and for each row whether there is one.
fn split<R, T>(rows: &[R], get: &fn(&R) -> Option<T>) -> (Vec<T>, Vec<i16>) {
    let values: Vec<Option<T>> = rows.iter().map(get).collect();
    let present = values.iter().map(|value| i16::from(value.is_some())).collect();
    (values.into_iter().flatten().collect(), present)
}

/// The values of all lists, whether each exists (an empty list has a missing value), and whether it
/// continues a list.
fn flatten<R>(rows: &[R], get: &fn(&R) -> &[i32]) -> (Vec<i32>, Vec<i16>, Vec<i16>) {
    let (mut values, mut present, mut follows) = (Vec::new(), Vec::new(), Vec::new());
    for list in rows.iter().map(get) {
        values.extend_from_slice(list);
        let places = list.len().max(1);
        present.extend(std::iter::repeat_n(i16::from(!list.is_empty()), places));
        follows.extend((0..places).map(|place| i16::from(place > 0)));
    }
    (values, present, follows)
}

/// A table that is being read.
pub struct TableReader {
    pub(crate) reader: SerializedFileReader<RunFile>,
    path: PathBuf,
}

impl TableReader {
    /// Opens a table without a stored checksum.
    #[cfg(test)]
    pub fn open<R: Row>(folder: &Path) -> Result<TableReader> {
        let path = folder.join(R::FILE);
        TableReader::new(RunFile::open(&path)?, path)
    }

    /// Opens the table of this folder, which must have the stored size.
    pub fn open_sized<R: Row>(folder: &Path, stored: &StoredFile) -> Result<TableReader> {
        let path = folder.join(R::FILE);
        TableReader::new(RunFile::open_sized(&path, stored)?, path)
    }

    /// Opens the table of this folder, which must have the checksum stored by the run.
    pub fn open_checked<R: Row>(folder: &Path, run: &Run) -> Result<TableReader> {
        let path = folder.join(R::FILE);
        match run.files.get(R::FILE) {
            Some(stored) => TableReader::new(RunFile::open_checked(&path, stored)?, path),
            None => {
                let reason = format!("{RUN_JSON} has no checksum for it");
                Err(Error::Changed { path, reason })
            }
        }
    }

    /// The table in a file.
    pub fn new(file: RunFile, path: PathBuf) -> Result<TableReader> {
        match SerializedFileReader::new(file) {
            Ok(reader) => Ok(TableReader { reader, path }),
            Err(error) => Err(Error::Table { path, reason: error.to_string() }),
        }
    }

    /// Number of row groups, which are read one after the other.
    pub fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    pub fn rows(&self) -> u64 {
        self.reader.metadata().file_metadata().num_rows().max(0) as u64
    }

    /// An error about the content of the table.
    pub fn damaged(&self, reason: impl Into<String>) -> Error {
        Error::Table { path: self.path.clone(), reason: reason.into() }
    }

    /// The smallest and the largest integer of a column in one row group, without reading it.
    pub fn range(&self, group: usize, column: &str) -> Result<(i64, i64)> {
        let index = self.index(column)?;
        let range = match self.reader.metadata().row_group(group).column(index).statistics() {
            Some(Statistics::Int64(all)) => all.min_opt().copied().zip(all.max_opt().copied()),
            Some(Statistics::Int32(all)) => {
                all.min_opt().map(|&low| low.into()).zip(all.max_opt().map(|&high| high.into()))
            }
            _ => None,
        };
        range.ok_or_else(|| self.damaged(format!("column '{column}': has no statistics")))
    }

    /// Index of a column in the file.
    pub(crate) fn index(&self, column: &str) -> Result<usize> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let mut columns = schema.columns().iter();
        columns
            .position(|descriptor| descriptor.path().string() == column)
            .ok_or_else(|| self.damaged(format!("column '{column}': is missing")))
    }

    /// A column of integers without gaps, in one row group.
    pub fn longs(&self, group: usize, column: &str) -> Result<Vec<i64>> {
        let index = self.index(column)?;
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let required = schema.column(index).max_def_level() == 0;
        let read = self.reader.get_row_group(group).and_then(|group| {
            let rows = group.metadata().num_rows().max(0) as usize;
            match (required, group.get_column_reader(index)?) {
                (true, ColumnReader::Int64ColumnReader(mut source)) => {
                    let mut values = Vec::new();
                    source.read_records(rows, None, None, &mut values)?;
                    Ok(values)
                }
                (true, ColumnReader::Int32ColumnReader(mut source)) => {
                    let mut values = Vec::new();
                    source.read_records(rows, None, None, &mut values)?;
                    Ok(values.into_iter().map(i64::from).collect())
                }
                _ => Err(ParquetError::General("is not a column of integers".to_string())),
            }
        });
        read.map_err(|error| self.damaged(format!("column '{column}': {error}")))
    }
}
