//! What the map shows of a state of the catalogue: made once, for the first who asks, and kept compressed.

use std::sync::{Arc, Weak};

use axum::Extension;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use signpost_locator::Point;
use signpost_platform::pages::compressed::Compressed;
use signpost_platform::web::problem::Problem;
use tokio::sync::Mutex;

use super::STATE_LINES;
use crate::catalogue::Snapshot;
use crate::map::{MOST_POINTS, MapView, draw_overview, encode_points, fit_view};
use crate::pages::visit::{LocatorVisit, MapDataVisit};

/// How long a browser may show what it has.
const FRESH: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// The drawing brings the colours of both themes along; it runs nothing and loads nothing.
const DRAWING_POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");

/// The files of the newest state of the catalogue that somebody asked for.
#[derive(Debug, Default)]
pub(super) struct MapFiles {
    /// Whoever comes while they are made waits for them.
    kept: Mutex<(Weak<Snapshot>, Option<Arc<DrawnMap>>)>,
}

/// The files of one state of the catalogue.
#[derive(Debug)]
pub(super) struct DrawnMap {
    /// Where the map begins.
    pub(super) view: MapView,
    /// How many machines are on it, and how many dots they are.
    pub(super) machines: usize,
    pub(super) dots: usize,
    points: MapFile,
    overview: MapFile,
}

/// A file that browsers ask for again.
#[derive(Debug)]
struct MapFile {
    media_type: &'static str,
    tag: String,
    body: Compressed,
}

/// All machines as dots.
pub(super) async fn show_points(
    MapDataVisit(visit): MapDataVisit,
    Extension(files): Extension<Arc<MapFiles>>,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    Ok(files.of(&visit.service.catalogue.snapshot()).await?.points.reply(&visit, &asked))
}

/// All machines in one drawing.
pub(super) async fn show_overview(
    MapDataVisit(visit): MapDataVisit,
    Extension(files): Extension<Arc<MapFiles>>,
    asked: HeaderMap,
) -> Result<Response, Problem> {
    Ok(files.of(&visit.service.catalogue.snapshot()).await?.overview.reply(&visit, &asked))
}

impl MapFiles {
    /// The files of a state of the catalogue.
    pub(super) async fn of(&self, snapshot: &Arc<Snapshot>) -> Result<Arc<DrawnMap>, Problem> {
        let mut kept = self.kept.lock().await;
        if let (known, Some(drawn)) = &*kept
            && known.as_ptr() == Arc::as_ptr(snapshot)
        {
            return Ok(Arc::clone(drawn));
        }
        let (of, snapshot) = (Arc::downgrade(snapshot), Arc::clone(snapshot));
        let draw = tokio::task::spawn_blocking(move || DrawnMap::of(&snapshot));
        let drawn = Arc::new(draw.await.map_err(|error| Problem::Internal(error.into()))?);
        *kept = (of, Some(Arc::clone(&drawn)));
        Ok(drawn)
    }
}

impl DrawnMap {
    fn of(snapshot: &Snapshot) -> Self {
        let present = snapshot.entries().iter().filter(|entry| !snapshot.is_gone(entry));
        let points: Vec<Point> = present.map(|entry| entry.machine.record.point).collect();
        let dots = points.len().div_ceil(points.len().div_ceil(MOST_POINTS).max(1));
        Self {
            view: fit_view(&points),
            machines: points.len(),
            dots,
            overview: MapFile::new("image/svg+xml", draw_overview(&points, STATE_LINES).into_bytes()),
            points: MapFile::new("application/octet-stream", encode_points(points)),
        }
    }
}

impl MapFile {
    fn new(media_type: &'static str, bytes: Vec<u8>) -> Self {
        let tag = format!("\"{}\"", HEXLOWER.encode(&Sha256::digest(&bytes)[..8]));
        Self { media_type, tag, body: Compressed::new(bytes) }
    }

    /// The file, or that the browser has it already. The tag is weak: it names the content, compressed or not.
    fn reply(&self, visit: &LocatorVisit, asked: &HeaderMap) -> Response {
        let tag = HeaderValue::try_from(format!("W/{}", self.tag)).expect("hex is fit for a header");
        let caching = [
            (header::ETAG, tag),
            (header::CACHE_CONTROL, FRESH),
            (header::VARY, HeaderValue::from_static("accept-encoding")),
            (header::CONTENT_SECURITY_POLICY, DRAWING_POLICY),
            (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
        ];
        if visit.knows(&self.tag) {
            return (StatusCode::NOT_MODIFIED, caching).into_response();
        }
        let (body, is_compressed) = self.body.choose(asked);
        let mut response = (caching, [(header::CONTENT_TYPE, self.media_type)], body).into_response();
        if is_compressed {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}
