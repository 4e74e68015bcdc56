//! The data files of the map, generated at the first request for each snapshot of the catalogue and cached in
//! compressed form.

use std::sync::{Arc, Weak};

use axum::Extension;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use signpost_locator::Point;
use signpost_platform::pages::compressed::Compressed;
use signpost_platform::web::problem::Problem;
use tokio::sync::Mutex;

use crate::catalogue::Snapshot;
use crate::map::{MAX_POINTS, MapView, draw_overview, encode_points, fit_view};
use crate::pages::context::PageContext;

/// The `Cache-Control` header of the data files: browsers may use them for 300 seconds without revalidation.
const DATA_CACHE_CONTROL: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// The `Content-Security-Policy` of the overview drawing. It allows inline styles, but no scripts or external
/// resources.
const DRAWING_POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");

/// A cache with the data files of the most recently requested snapshot.
#[derive(Debug, Default)]
pub(super) struct MapFiles {
    /// The mutex is locked while the files are generated, so that concurrent requests wait instead of generating them
    /// again.
    cached: Mutex<(Weak<Snapshot>, Option<Arc<DrawnMap>>)>,
}

/// The data files of one snapshot.
#[derive(Debug)]
pub(super) struct DrawnMap {
    /// The initial view of the map.
    pub(super) view: MapView,
    /// The number of ATMs in the snapshot.
    pub(super) machines: usize,
    /// The number of dots on the map. It is lower if there are too many ATMs.
    pub(super) dots: usize,
    points: MapFile,
    overview: MapFile,
}

/// A compressed data file with its entity tag.
#[derive(Debug)]
struct MapFile {
    media_type: &'static str,
    tag: String,
    body: Compressed,
}

/// Serves the locations of all ATMs for the map script.
pub(super) async fn show_points(
    context: PageContext,
    Extension(files): Extension<Arc<MapFiles>>,
) -> Result<Response, Problem> {
    Ok(files.of(&context.snapshot).await?.points.reply(&context))
}

/// Serves the overview drawing of all ATMs for browsers without scripts.
pub(super) async fn show_overview(
    context: PageContext,
    Extension(files): Extension<Arc<MapFiles>>,
) -> Result<Response, Problem> {
    Ok(files.of(&context.snapshot).await?.overview.reply(&context))
}

impl MapFiles {
    /// Returns the data files of a snapshot, and generates them if they are not cached.
    pub(super) async fn of(&self, snapshot: &Arc<Snapshot>) -> Result<Arc<DrawnMap>, Problem> {
        let mut cached = self.cached.lock().await;
        if let (known, Some(drawn)) = &*cached
            && known.as_ptr() == Arc::as_ptr(snapshot)
        {
            return Ok(Arc::clone(drawn));
        }
        let shared = Arc::clone(snapshot);
        let draw = tokio::task::spawn_blocking(move || DrawnMap::of(&shared));
        let drawn = Arc::new(draw.await.map_err(|error| Problem::Internal(error.into()))?);
        *cached = (Arc::downgrade(snapshot), Some(Arc::clone(&drawn)));
        Ok(drawn)
    }
}

impl DrawnMap {
    fn of(snapshot: &Snapshot) -> Self {
        let present = snapshot.entries().iter().filter(|entry| !snapshot.is_gone(entry));
        let points: Vec<Point> = present.map(|entry| entry.atm.record.point).collect();
        let dots = points.len().div_ceil(points.len().div_ceil(MAX_POINTS).max(1));
        Self {
            view: fit_view(&points),
            machines: points.len(),
            dots,
            overview: MapFile::new("image/svg+xml", draw_overview(&points).into_bytes()),
            points: MapFile::new("application/octet-stream", encode_points(points)),
        }
    }
}

impl MapFile {
    fn new(media_type: &'static str, bytes: Vec<u8>) -> Self {
        let tag = format!("\"{}\"", HEXLOWER.encode(&Sha256::digest(&bytes)[..8]));
        Self { media_type, tag, body: Compressed::new(bytes) }
    }

    /// Returns the file, or 304 if the browser has its current version. The entity tag is weak, because it is identical
    /// for the compressed and the uncompressed content.
    fn reply(&self, context: &PageContext) -> Response {
        let tag = HeaderValue::try_from(format!("W/{}", self.tag)).expect("hex is valid in a header");
        let caching = [
            (header::ETAG, tag),
            (header::CACHE_CONTROL, DATA_CACHE_CONTROL),
            (header::VARY, HeaderValue::from_static("accept-encoding")),
            (header::CONTENT_SECURITY_POLICY, DRAWING_POLICY),
            (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
        ];
        if context.has_current(&self.tag) {
            return (StatusCode::NOT_MODIFIED, caching).into_response();
        }
        let (body, is_compressed) = self.body.choose_encoding(context.accepts_gzip);
        let mut response = (caching, [(header::CONTENT_TYPE, self.media_type)], body).into_response();
        if is_compressed {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}
