//! Files that are compressed: gzip (RFC 1952) and zip, recognized by their first bytes and decompressed within limits.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::{DeflateDecoder, GzDecoder};

use super::bounds::{Bounds, CancelFlag};
use super::compressed_error::CompressedError;
use super::error::ImportError;
use super::zip_archive::{self, ZipEntry};

/// The first bytes of a gzip file.
const GZIP: &[u8] = b"\x1f\x8b";
/// Maximum ratio of the decompressed to the compressed size. Tables and JSON have up to about 50.
const MAX_RATIO: usize = 200;
/// Decompressed size that every file may have, in bytes. A short file may have a high ratio.
const MIN_LIMIT_BYTES: usize = 16 << 20;
/// Maximum members of a gzip file. A file of 1 GiB that was compressed in blocks of 64 KiB has 16,384.
const MAX_MEMBERS: usize = 20_000;
/// Bytes that are decompressed between two checks of the limits.
const STEP_BYTES: usize = 64 << 10;

/// The content of a file that may have been compressed.
pub(super) struct Unpacked<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// The name of the file in a zip archive.
    pub(super) name: Option<String>,
}

/// Limits of the decompression of a file.
struct UnpackLimits<'a> {
    kind: &'static str,
    /// The compressed size in bytes.
    packed: usize,
    /// Maximum decompressed size in bytes.
    max: usize,
    cancel: &'a CancelFlag,
}

/// Decompresses a gzip file, or the data file of a zip archive. Other files are returned as they are.
///
/// # Errors
/// [`CompressedError`], if the file is damaged, exceeds a limit, or has not exactly one data file;
/// [`ImportError::UnsupportedFormat`], if a zip archive is a workbook or a map; and [`ImportError::Cancelled`].
pub(super) fn unpack<'a>(bytes: &'a [u8], bounds: Bounds, cancel: &CancelFlag) -> Result<Unpacked<'a>, ImportError> {
    let by_ratio = bytes.len().saturating_mul(MAX_RATIO).max(MIN_LIMIT_BYTES);
    let max = bounds.unpacked_bytes.min(by_ratio);
    if bytes.starts_with(GZIP) {
        let unpacked = gunzip(bytes, &UnpackLimits { kind: "gzip", packed: bytes.len(), max, cancel })?;
        reject_nested("gzip", &unpacked)?;
        return Ok(Unpacked { bytes: unpacked.into(), name: None });
    }
    if zip_archive::begins_like_zip(bytes) {
        let entry = zip_archive::data_entry(bytes)?;
        let unpacked = unzip(&entry, &UnpackLimits { kind: "zip", packed: bytes.len(), max, cancel })?;
        reject_nested("zip", &unpacked)?;
        return Ok(Unpacked { bytes: unpacked.into(), name: Some(entry.name) });
    }
    Ok(Unpacked { bytes: bytes.into(), name: None })
}

/// Returns the name of a file without its extension, and without that of a compressed data file.
///
/// ```
/// use signpost_locator::import::file_stem;
///
/// assert_eq!(["atms.csv", "atms.csv.gz", "atms.zip", "v1.2.zip"].map(file_stem), ["atms", "atms", "atms", "v1.2"]);
/// ```
#[must_use]
pub fn file_stem(name: &str) -> &str {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, extension),
        _ => return name,
    };
    let is_compressed = ["gz", "gzip", "zip"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    match stem.rsplit_once('.') {
        Some((inner, _)) if is_compressed && zip_archive::is_data(stem) && !inner.is_empty() => inner,
        _ => stem,
    }
}

/// Decompresses all members of a gzip file. Zero bytes may follow, as on tapes and in archives of fixed block size.
fn gunzip(bytes: &[u8], limits: &UnpackLimits<'_>) -> Result<Vec<u8>, ImportError> {
    let mut unpacked = Vec::new();
    let mut rest = bytes;
    for _ in 0..MAX_MEMBERS {
        let mut member = GzDecoder::new(rest);
        limits.read(&mut member, &mut unpacked)?;
        rest = member.into_inner();
        if rest.iter().all(|byte| *byte == 0) {
            return Ok(unpacked);
        }
        if !rest.starts_with(GZIP) {
            return Err(limits.damaged("other data follows its end"));
        }
    }
    Err(limits.damaged("it has more than 20,000 members"))
}

/// Decompresses an entry of a zip archive, and checks its declared size and checksum.
fn unzip(entry: &ZipEntry<'_>, limits: &UnpackLimits<'_>) -> Result<Vec<u8>, ImportError> {
    if entry.size > limits.max {
        return Err(limits.too_long());
    }
    let mut unpacked = Vec::new();
    match entry.method {
        zip_archive::STORED => limits.read(&mut &*entry.packed, &mut unpacked)?,
        zip_archive::DEFLATED => limits.read(&mut DeflateDecoder::new(entry.packed), &mut unpacked)?,
        method => {
            let feature = format!("compressed with the method {method}");
            return Err(CompressedError::UnsupportedZip { feature }.into());
        }
    }
    if unpacked.len() != entry.size {
        let (actual, declared) = (unpacked.len(), entry.size);
        return Err(limits.damaged(&format!("its data has {actual} bytes, but {declared} are declared")));
    }
    let mut checksum = flate2::Crc::new();
    checksum.update(&unpacked);
    if checksum.sum() != entry.checksum {
        return Err(limits.damaged("the checksum of its data is wrong"));
    }
    Ok(unpacked)
}

/// Rejects content that is compressed again.
fn reject_nested(kind: &'static str, content: &[u8]) -> Result<(), CompressedError> {
    let inner = if content.starts_with(GZIP) {
        "another gzip file"
    } else if zip_archive::begins_like_zip(content) {
        "a zip archive"
    } else {
        return Ok(());
    };
    Err(CompressedError::Nested { kind, inner })
}

impl UnpackLimits<'_> {
    /// Reads to the end, at most the maximum.
    fn read(&self, packed: &mut impl Read, unpacked: &mut Vec<u8>) -> Result<(), ImportError> {
        let mut step = vec![0; STEP_BYTES];
        loop {
            self.cancel.check()?;
            let count = packed.read(&mut step).map_err(|error| self.damaged(&error.to_string()))?;
            if count == 0 {
                return Ok(());
            }
            if unpacked.len() + count > self.max {
                return Err(self.too_long());
            }
            unpacked.extend_from_slice(&step[..count]);
        }
    }

    fn too_long(&self) -> ImportError {
        CompressedError::TooLong { kind: self.kind, bytes: self.packed, max: self.max }.into()
    }

    fn damaged(&self, reason: &str) -> ImportError {
        CompressedError::Damaged { kind: self.kind, reason: reason.to_owned() }.into()
    }
}
