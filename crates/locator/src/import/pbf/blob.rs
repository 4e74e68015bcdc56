//! Reader of the blobs in an OpenStreetMap extract (PBF): their length, kind and compression.
//! <https://wiki.openstreetmap.org/wiki/PBF_Format#File_format>

use flate2::{Decompress, FlushDecompress, Status};

use super::wire::{WireDamage, WireReader};

/// Size limit of a blob header (exclusive), in bytes.
const MAX_HEADER_BYTES: usize = 64 << 10;
/// Size limit of a decompressed blob (exclusive), in bytes.
const MAX_CONTENT_BYTES: usize = 32 << 20;
/// Minimum free space of the buffer before each decompression step, in bytes.
const UNPACKED_STEP: usize = 64 << 10;

/// A blob of a file in its stored, possibly compressed form.
pub(super) struct Blob<'a> {
    /// The position of the blob in the file.
    pub(super) at: usize,
    pub(super) kind: BlobKind,
    data: WireReader<'a>,
}

/// The kind of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlobKind {
    /// The header of the file.
    Header,
    /// Nodes, ways and relations.
    Data,
    /// A kind that this importer does not know.
    Other,
}

/// Reads the next blob, or returns `None` at the end of the file.
///
/// # Errors
/// [`WireDamage`], with its position in the file.
pub(super) fn next_blob<'a>(file: &mut WireReader<'a>) -> Result<Option<Blob<'a>>, WireDamage> {
    if file.bytes().is_empty() {
        return Ok(None);
    }
    let at = file.position();
    let length = file.take(4)?.bytes().iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
    if length >= MAX_HEADER_BYTES as u64 {
        return Err(WireDamage { at, reason: "the header of a block has 64 KiB or more" });
    }
    let mut header = file.take(length)?;
    let mut kind = None;
    let mut length = None;
    while let Some(field) = header.field()? {
        match field.number {
            1 => field.content_into(&mut kind)?,
            3 => length = Some(field.unsigned()?),
            _ => {}
        }
    }
    let (Some(kind), Some(length)) = (kind, length) else {
        return Err(WireDamage { at, reason: "the header of a block does not say what it is, or how long" });
    };
    let kind = match kind.bytes() {
        b"OSMHeader" => BlobKind::Header,
        b"OSMData" => BlobKind::Data,
        _ => BlobKind::Other,
    };
    Ok(Some(Blob { at, kind, data: file.take(length)? }))
}

impl<'a> Blob<'a> {
    /// Returns the decompressed content. `room` is the output buffer for decompression.
    ///
    /// # Errors
    /// [`WireDamage`], with its position in the file.
    pub(super) fn content<'b>(&self, room: &'b mut Vec<u8>) -> Result<&'b [u8], WireDamage>
    where
        'a: 'b,
    {
        let mut raw = None;
        let mut zlib = None;
        let mut fields = self.data;
        while let Some(field) = fields.field()? {
            match field.number {
                1 => field.content_into(&mut raw)?,
                3 => field.content_into(&mut zlib)?,
                _ => {}
            }
        }
        let content = match (raw, zlib) {
            (Some(raw), None) => raw.bytes(),
            (None, Some(packed)) => {
                unpack(packed, room)?;
                room
            }
            (Some(_), Some(_)) => return Err(self.damage("a block is there twice")),
            (None, None) => return Err(self.damage("a block is empty, or not compressed by zlib")),
        };
        if content.len() < MAX_CONTENT_BYTES { Ok(content) } else { Err(self.damage("a block has 32 MiB or more")) }
    }

    const fn damage(&self, reason: &'static str) -> WireDamage {
        WireDamage { at: self.at, reason }
    }
}

/// Decompresses a stream to its end, or until slightly above the size limit of a blob. The readers of `flate2` are not
/// used, because they accept a truncated stream.
fn unpack(packed: WireReader<'_>, room: &mut Vec<u8>) -> Result<(), WireDamage> {
    let damage = packed.damage("the compressed data is damaged");
    let mut stream = Decompress::new(true);
    let mut rest = packed.bytes();
    room.clear();
    while room.len() < MAX_CONTENT_BYTES {
        room.reserve(UNPACKED_STEP);
        let before = stream.total_in();
        let status = stream.decompress_vec(rest, room, FlushDecompress::None).map_err(|_| damage)?;
        let read = usize::try_from(stream.total_in() - before).map_err(|_| damage)?;
        rest = rest.get(read..).unwrap_or_default();
        match status {
            Status::StreamEnd => return Ok(()),
            _ if room.len() < room.capacity() => return Err(damage),
            _ => {}
        }
    }
    Ok(())
}
