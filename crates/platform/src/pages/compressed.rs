//! Response bodies that are compressed once and sent often.

use std::io::Write;

use axum::http::{HeaderMap, header};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::accept;

/// A response body with its gzip-compressed form.
#[derive(Clone, Debug)]
pub struct Compressed {
    plain: Bytes,
    gzip: Option<Bytes>,
}

impl Compressed {
    /// Compresses a body with the highest gzip level. Discards the result unless it is smaller than
    /// the body.
    #[must_use]
    pub fn new(plain: impl Into<Bytes>) -> Self {
        let plain = plain.into();
        let gzip = gzip(&plain);
        Self { plain, gzip }
    }

    /// Returns the body for a client with these request headers, and whether it is compressed with
    /// gzip.
    #[must_use]
    pub fn choose(&self, headers: &HeaderMap) -> (Bytes, bool) {
        self.choose_encoding(accepts_gzip(headers))
    }

    /// Returns the body for a client that does or does not accept gzip, and whether it is
    /// compressed with gzip.
    #[must_use]
    pub fn choose_encoding(&self, accepts_gzip: bool) -> (Bytes, bool) {
        match &self.gzip {
            Some(gzip) if accepts_gzip => (gzip.clone(), true),
            _ => (self.plain.clone(), false),
        }
    }

    /// Returns the size of both forms together, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.plain.len() + self.gzip.as_ref().map_or(0, Bytes::len)
    }
}

fn gzip(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    let compressed = encoder.finish().ok()?;
    (compressed.len() < bytes.len()).then(|| compressed.into())
}

/// Returns `true` if the client accepts gzip.
#[must_use]
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let mut codings = accept::ranges(headers, header::ACCEPT_ENCODING).into_iter();
    codings.any(|(name, weight)| name.eq_ignore_ascii_case("gzip") && weight > 0)
}
