//! Parquet: a row for each latency, or for each bin, with the name of the run, so that the tables
//! of several runs can be concatenated.

use super::Format;
use super::csv::{cpu_of, notes, samples_of};
use crate::write::{Error, Notes, Result, Source};
use latlab_model::Nanos;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::Write;
use std::sync::Arc;

pub const FORMAT: Format =
    Format { id: "parquet", title: "Parquet of samples or histogram", is_binary: true, write };

type FileWriter<'a> = SerializedFileWriter<&'a mut (dyn Write + Send)>;
type GroupWriter<'a, 'b> = SerializedRowGroupWriter<'a, &'b mut (dyn Write + Send)>;

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    let Some(blocks) = samples_of(source)? else {
        source.require_histogram()?;
        let fields = ["low_ns", "high_ns", "count"].map(long);
        let mut file = open(source, out, fields.into_iter().collect::<Result<_>>()?)?;
        for thread in &source.run.threads {
            let bins = source.rows_of(thread);
            let mut group = file.next_row_group().map_err(failed)?;
            let of_thread = ThreadColumns::new(source, thread.setup.thread, bins.len());
            of_thread.write(&mut group)?;
            let column =
                |of: fn(&latlab_model::Bin) -> i64| bins.iter().map(of).collect::<Vec<_>>();
            push::<Int64Type>(&mut group, &column(|bin| bin.low_ns.0), None)?;
            let ends: Vec<i64> = bins
                .iter()
                .map(|bin| bin.high_ns)
                .filter(|end| *end != Nanos::MAX)
                .map(|end| end.0)
                .collect();
            let known: Vec<i16> =
                bins.iter().map(|bin| i16::from(bin.high_ns != Nanos::MAX)).collect();
            push::<Int64Type>(&mut group, &ends, Some(&known))?;
            push::<Int64Type>(&mut group, &column(|bin| bin.count as i64), None)?;
            group.close().map_err(failed)?;
        }
        file.close().map_err(failed)?;
        return Ok(notes(source));
    };
    let fields = vec![time()?, long("release_ns")?, long("latency_ns")?];
    let mut file = open(source, out, fields)?;
    for block in blocks {
        let block = block?;
        let mut group = file.next_row_group().map_err(failed)?;
        ThreadColumns::new(source, block.thread, block.samples.len()).write(&mut group)?;
        let releases: Vec<i64> = block.samples.iter().map(|one| one.release_ns.0).collect();
        let times: Vec<i64> =
            releases.iter().map(|release| source.wall.realtime(Nanos(*release)).0).collect();
        let latencies: Vec<i64> = block.samples.iter().map(|one| one.latency_ns.0).collect();
        push::<Int64Type>(&mut group, &times, None)?;
        push::<Int64Type>(&mut group, &releases, None)?;
        push::<Int64Type>(&mut group, &latencies, None)?;
        group.close().map_err(failed)?;
    }
    file.close().map_err(failed)?;
    Ok(notes(source))
}

/// The columns that identify run and thread.
struct ThreadColumns {
    run: ByteArray,
    thread: u32,
    cpu: Option<u32>,
    rows: usize,
}

impl ThreadColumns {
    fn new(source: &Source<'_>, thread: u32, rows: usize) -> ThreadColumns {
        let cpu = cpu_of(&source.run.threads, thread);
        ThreadColumns { run: source.run.id.as_str().into(), thread, cpu, rows }
    }

    fn write(&self, group: &mut GroupWriter<'_, '_>) -> Result<()> {
        push::<ByteArrayType>(group, &vec![self.run.clone(); self.rows], None)?;
        push::<Int32Type>(group, &vec![self.thread as i32; self.rows], None)?;
        let known = vec![i16::from(self.cpu.is_some()); self.rows];
        let cpus = self.cpu.map(|cpu| vec![cpu as i32; self.rows]).unwrap_or_default();
        push::<Int32Type>(group, &cpus, Some(&known))
    }
}

fn open<'a>(
    source: &Source<'_>,
    out: &'a mut (dyn Write + Send),
    fields: Vec<TypePtr>,
) -> Result<FileWriter<'a>> {
    let mut all = vec![
        text("run")?,
        plain("thread", Physical::INT32, Repetition::REQUIRED)?,
        plain("cpu", Physical::INT32, Repetition::OPTIONAL)?,
    ];
    all.extend(fields);
    let schema = Type::group_type_builder("row").with_fields(all).build().map_err(failed)?;
    let note = KeyValue::new("latlab_run".to_string(), source.run.id.clone());
    let properties = WriterProperties::builder()
        .set_created_by(format!("latlab version {}", latlab_model::VERSION))
        .set_compression(Compression::SNAPPY)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![note]))
        .build();
    SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(failed)
}

fn long(name: &str) -> Result<TypePtr> {
    let repetition = if name == "high_ns" { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    plain(name, Physical::INT64, repetition)
}

fn plain(name: &str, physical: Physical, repetition: Repetition) -> Result<TypePtr> {
    let column = Type::primitive_type_builder(name, physical).with_repetition(repetition).build();
    column.map(Arc::new).map_err(failed)
}

fn text(name: &str) -> Result<TypePtr> {
    let column = Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::String))
        .build();
    column.map(Arc::new).map_err(failed)
}

/// The wall time of a release.
fn time() -> Result<TypePtr> {
    let kind = LogicalType::timestamp(true, TimeUnit::NANOS);
    let column = Type::primitive_type_builder("time", Physical::INT64)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(kind))
        .build();
    column.map(Arc::new).map_err(failed)
}

fn push<T: DataType>(
    group: &mut GroupWriter<'_, '_>,
    values: &[T::T],
    known: Option<&[i16]>,
) -> Result<()> {
    let column = group.next_column().map_err(failed)?;
    let Some(mut column) = column else {
        return Err(failed(ParquetError::General("a column too many".to_string())));
    };
    column.typed::<T>().write_batch(values, known, None).map_err(failed)?;
    column.close().map_err(failed)
}

/// Unwraps an error of the output, if it was one.
fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => Error::Write(*error),
            Err(other) => Error::Read(other),
        },
        other => Error::Read(other.into()),
    }
}
