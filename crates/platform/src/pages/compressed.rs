//! What is compressed once and sent often.

use std::io::Write;

use axum::http::{HeaderMap, header};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::accept;

/// A body with its compressed form.
#[derive(Clone, Debug)]
pub struct Compressed {
    plain: Bytes,
    gzip: Option<Bytes>,
}

impl Compressed {
    /// Compresses a body as well as gzip can, where that saves anything.
    #[must_use]
    pub fn new(plain: impl Into<Bytes>) -> Self {
        let plain = plain.into();
        let gzip = gzip(&plain);
        Self { plain, gzip }
    }

    /// The body for a client that says what it accepts, and whether that is gzip.
    #[must_use]
    pub fn choose(&self, headers: &HeaderMap) -> (Bytes, bool) {
        self.choose_form(accepts_gzip(headers))
    }

    /// The same for a client that is known to accept gzip, or not to.
    #[must_use]
    pub fn choose_form(&self, accepts_gzip: bool) -> (Bytes, bool) {
        match &self.gzip {
            Some(gzip) if accepts_gzip => (gzip.clone(), true),
            _ => (self.plain.clone(), false),
        }
    }

    /// How many bytes both forms have.
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

/// Whether a client says that it accepts gzip.
#[must_use]
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let mut codings = accept::ranges(headers, header::ACCEPT_ENCODING).into_iter();
    codings.any(|(name, weight)| name.eq_ignore_ascii_case("gzip") && weight > 0)
}
