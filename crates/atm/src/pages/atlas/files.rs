//! The data of the map: drawn once for each snapshot of the catalogue, at the first request, and stored compressed.

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

/// Lifetime of the data in browsers without revalidation.
const FRESH: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// The drawing contains the colors of both themes; it runs no script and loads nothing.
const DRAWING_POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");

/// The files of the snapshot that was requested last.
#[derive(Debug, Default)]
pub(super) struct MapFiles {
    /// Locked while files are drawn: other requests wait for them.
    kept: Mutex<(Weak<Snapshot>, Option<Arc<DrawnMap>>)>,
}

/// The files of one snapshot.
#[derive(Debug)]
pub(super) struct DrawnMap {
    /// The initial view.
    pub(super) view: MapView,
    /// Number of ATMs on the map.
    pub(super) machines: usize,
    /// Number of dots on the map.
    pub(super) dots: usize,
    points: MapFile,
    overview: MapFile,
}

/// A file with its tag.
#[derive(Debug)]
struct MapFile {
    media_type: &'static str,
    tag: String,
    body: Compressed,
}

/// Returns all ATMs as dots.
pub(super) async fn show_points(
    context: PageContext,
    Extension(files): Extension<Arc<MapFiles>>,
) -> Result<Response, Problem> {
    Ok(files.of(&context.snapshot).await?.points.reply(&context))
}

/// Returns all ATMs in one drawing.
pub(super) async fn show_overview(
    context: PageContext,
    Extension(files): Extension<Arc<MapFiles>>,
) -> Result<Response, Problem> {
    Ok(files.of(&context.snapshot).await?.overview.reply(&context))
}

impl MapFiles {
    /// Returns the files of a snapshot.
    pub(super) async fn of(&self, snapshot: &Arc<Snapshot>) -> Result<Arc<DrawnMap>, Problem> {
        let mut kept = self.kept.lock().await;
        if let (known, Some(drawn)) = &*kept
            && known.as_ptr() == Arc::as_ptr(snapshot)
        {
            return Ok(Arc::clone(drawn));
        }
        let shared = Arc::clone(snapshot);
        let draw = tokio::task::spawn_blocking(move || DrawnMap::of(&shared));
        let drawn = Arc::new(draw.await.map_err(|error| Problem::Internal(error.into()))?);
        *kept = (Arc::downgrade(snapshot), Some(Arc::clone(&drawn)));
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

    /// Returns the file, or 304 if the browser has it. The tag is weak: it identifies the content, compressed or not.
    fn reply(&self, context: &PageContext) -> Response {
        let tag = HeaderValue::try_from(format!("W/{}", self.tag)).expect("hex is valid in a header");
        let caching = [
            (header::ETAG, tag),
            (header::CACHE_CONTROL, FRESH),
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
