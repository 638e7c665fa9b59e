//! The pages of a column: read from the file as they are, and decompressed here.
//!
//! The parquet crate needs a C library for zstd, and allocates whatever a damaged header asks for.

use crate::read::unpack::ZstdReader;
use flate2::read::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use std::io::Read;
use std::sync::Arc;

/// Longest accepted page; usual ones have a megabyte.
const LONGEST_PAGE: u64 = 64 << 20;

/// The decompressed pages of a column in a row group.
pub fn pages<R: ChunkReader + 'static>(
    source: &Arc<R>,
    group: &RowGroupMetaData,
    index: usize,
) -> Result<impl Iterator<Item = Result<Page>> + use<R>> {
    let column = group.column(index);
    // The library panics if these are negative.
    let offsets = [Some(column.data_page_offset()), column.dictionary_page_offset()];
    let size = column.compressed_size();
    if offsets.into_iter().flatten().chain([size]).any(|number| number < 0) {
        return Err(ParquetError::General("damaged: a column begins before the file".to_string()));
    }
    let unpack = unpacker(column.compression())?;
    // To the library the pages look uncompressed.
    let plain = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
    let rows = usize::try_from(group.num_rows()).unwrap_or(0);
    let mut packed = SerializedPageReader::new(source.clone(), &plain, rows, None)?;
    Ok(std::iter::from_fn(move || packed.get_next_page().transpose()).map(
        move |page| match unpack {
            Some(unpack) => unpacked(page?, unpack),
            None => page,
        },
    ))
}

/// Decompresses bytes.
type Unpack = fn(&[u8]) -> Result<Vec<u8>>;

fn unpacker(compression: Compression) -> Result<Option<Unpack>> {
    Ok(Some(match compression {
        Compression::UNCOMPRESSED => return Ok(None),
        Compression::SNAPPY => snappy,
        Compression::GZIP(_) => |packed| read_all(MultiGzDecoder::new(packed)),
        Compression::ZSTD(_) => |packed| read_all(ZstdReader::new(packed)),
        other => {
            let name = format!("{other:?}");
            let name = name.split('(').next().unwrap_or_default().to_ascii_lowercase();
            return Err(ParquetError::General(format!(
                "it is compressed with {name}: write it again with zstd, snappy, gzip or none, as \
                 pandas does with to_parquet(compression='zstd')"
            )));
        }
    }))
}

fn snappy(packed: &[u8]) -> Result<Vec<u8>> {
    let length = snap::raw::decompress_len(packed).map_err(|error| damaged(&error))?;
    // Snappy expands three bytes to at most 64.
    if length as u64 > LONGEST_PAGE || length > packed.len().saturating_mul(32) {
        return Err(too_long());
    }
    snap::raw::Decoder::new().decompress_vec(packed).map_err(|error| damaged(&error))
}

fn read_all(source: impl Read) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    source.take(LONGEST_PAGE + 1).read_to_end(&mut plain).map_err(|error| damaged(&error))?;
    if plain.len() as u64 > LONGEST_PAGE { Err(too_long()) } else { Ok(plain) }
}

fn too_long() -> ParquetError {
    ParquetError::General("a page of it is longer than 64 MiB".to_string())
}

fn too_short() -> ParquetError {
    ParquetError::General("a page of it is shorter than it says".to_string())
}

fn damaged(error: &dyn std::error::Error) -> ParquetError {
    ParquetError::General(format!("damaged: {error}"))
}

/// A page with its content decompressed; the levels of a version 2 page are never compressed.
fn unpacked(mut page: Page, unpack: Unpack) -> Result<Page> {
    match &mut page {
        Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => *buf = unpack(buf)?.into(),
        Page::DataPageV2 {
            buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, ..
        } => {
            let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
            let (levels, values) = buf.split_at_checked(levels).ok_or_else(too_short)?;
            // A page of missing values has none.
            if *is_compressed && !values.is_empty() {
                *buf = [levels, &unpack(values)?].concat().into();
            }
        }
    }
    Ok(page)
}
