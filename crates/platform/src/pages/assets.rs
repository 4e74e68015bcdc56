//! Static files that pages load. They are embedded in the program. Each path contains a hash of the
//! content, so that browsers can cache the file forever.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::compressed::Compressed;
use crate::origin::PublicOrigin;
use crate::web::ANY_ORIGIN;
use crate::web::problem::Problem;

/// The stylesheet of all pages.
pub const STYLESHEET: Asset =
    Asset::new("signpost", "css", "text/css; charset=utf-8", include_bytes!("../../assets/signpost.css"));
/// The icon for browser tabs and bookmarks.
pub const ICON: Asset = Asset::new("icon", "svg", "image/svg+xml", include_bytes!("../../assets/icon.svg"));

/// The content of `/favicon.ico`, which some browsers request by this path.
pub const FAVICON: &[u8] = include_bytes!("../../assets/favicon.ico");

/// The files that every page loads.
pub const COMMON_ASSETS: [Asset; 2] = [STYLESHEET, ICON];

const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const SHORT_LIVED: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// A static file that pages load.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    stem: &'static str,
    extension: &'static str,
    media_type: &'static str,
    bytes: &'static [u8],
    /// Hash of the content, or `None` if the path does not contain a hash.
    hash: Option<u64>,
}

impl Asset {
    /// Creates a file for pages of this server. Its path changes with its content.
    #[must_use]
    pub const fn new(
        stem: &'static str,
        extension: &'static str,
        media_type: &'static str,
        bytes: &'static [u8],
    ) -> Self {
        Self { stem, extension, media_type, bytes, hash: Some(hash(bytes)) }
    }

    /// Creates a file for pages of other sites. Its path is constant, so browsers revalidate it
    /// after a few minutes.
    #[must_use]
    pub const fn stable(
        stem: &'static str,
        extension: &'static str,
        media_type: &'static str,
        bytes: &'static [u8],
    ) -> Self {
        Self { stem, extension, media_type, bytes, hash: None }
    }

    /// Returns the path of the file for links.
    #[must_use]
    pub fn link(&self, origin: &PublicOrigin) -> String {
        origin.link(&format!("/assets/{}", self.name()))
    }

    fn name(&self) -> String {
        let Self { stem, extension, .. } = self;
        match self.hash {
            Some(hash) => format!("{stem}.{hash:016x}.{extension}"),
            None => self.plain_name(),
        }
    }

    fn plain_name(&self) -> String {
        format!("{}.{}", self.stem, self.extension)
    }
}

/// Files that load each other by relative path, such as JavaScript modules. The path of their
/// folder contains a hash of all files.
#[derive(Clone, Debug)]
pub struct AssetFolder {
    path: &'static str,
    version: String,
    files: Vec<Asset>,
}

impl AssetFolder {
    /// Creates a folder of files below a path. The hash also covers `loader`, the text that loads
    /// the files.
    #[must_use]
    pub fn new(path: &'static str, files: Vec<Asset>, loader: &str) -> Self {
        let mut hash = hash(loader.as_bytes());
        for asset in &files {
            hash = extend_hash(hash, asset.plain_name().as_bytes());
            hash = extend_hash(hash, asset.bytes);
        }
        Self { path, version: format!("{hash:016x}"), files }
    }

    /// Returns the hash of the files as text.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the path of a file for links.
    #[must_use]
    pub fn link(&self, origin: &PublicOrigin, name: &str) -> String {
        origin.link(&format!("{}/{}/{name}", self.path, self.version))
    }

    /// Returns the paths of all files for links.
    #[must_use]
    pub fn links(&self, origin: &PublicOrigin) -> Vec<String> {
        self.files.iter().map(|asset| self.link(origin, &asset.plain_name())).collect()
    }

    /// Returns a router that serves the files.
    pub fn router<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        let files = self.files.iter().map(|asset| (asset.plain_name(), Served::new(*asset))).collect();
        serve_by_name(&format!("{}/{}/{{*name}}", self.path, self.version), files)
    }
}

/// Returns the FNV-1a hash of a file. It identifies the version of the file, and can be computed at
/// compile time.
const fn hash(bytes: &[u8]) -> u64 {
    extend_hash(0xcbf2_9ce4_8422_2325, bytes)
}

/// Continues a hash with more bytes.
const fn extend_hash(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

/// A file with its compressed form, created by the first request.
struct Served {
    asset: Asset,
    body: OnceLock<Compressed>,
}

impl Served {
    fn new(asset: Asset) -> Self {
        Self { asset, body: OnceLock::new() }
    }
}

/// Returns a router that serves these files.
///
/// # Panics
/// Panics if two files have the same path.
pub fn router<S: Clone + Send + Sync + 'static>(assets: impl IntoIterator<Item = Asset>) -> Router<S> {
    let mut files = HashMap::new();
    for asset in assets {
        let before = files.insert(asset.name(), Served::new(asset));
        assert!(before.is_none(), "two assets are named {}", asset.name());
    }
    serve_by_name("/assets/{name}", files)
}

fn serve_by_name<S: Clone + Send + Sync + 'static>(path: &str, files: HashMap<String, Served>) -> Router<S> {
    let files = Arc::new(files);
    let handler = get(async move |Path(name): Path<String>, headers: HeaderMap| {
        files.get(&name).map(|file| file.reply(&headers)).ok_or(Problem::NotFound)
    });
    Router::new().route(path, handler)
}

impl Served {
    fn reply(&self, accepted: &HeaderMap) -> Response {
        let Asset { media_type, hash, .. } = self.asset;
        let (body, is_compressed) = self.body.get_or_init(|| Compressed::new(self.asset.bytes)).choose(accepted);
        let mut response = body.into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        headers.insert(header::CACHE_CONTROL, if hash.is_some() { IMMUTABLE } else { SHORT_LIVED });
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if is_compressed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        // Browsers load module scripts with CORS.
        if hash.is_none() {
            headers.extend(ANY_ORIGIN.map(|(name, value)| (name, HeaderValue::from_static(value))));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use axum::body::Body;
    use axum::http::{Request, StatusCode};
    use flate2::read::GzDecoder;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    const TEXT: Asset = Asset::new("a", "css", "text/css", &[b'a'; 500]);
    const OPEN: Asset = Asset::stable("b", "js", "text/javascript", b"b");

    fn link(asset: Asset) -> String {
        asset.link(&PublicOrigin::new("https://login.test"))
    }

    async fn get(path: &str, accepted: &str) -> (StatusCode, HeaderMap, Vec<u8>) {
        let request = Request::get(path).header(header::ACCEPT_ENCODING, accepted).body(Body::empty()).unwrap();
        let response = router([TEXT, OPEN]).oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts.status, parts.headers, body.collect().await.unwrap().to_bytes().to_vec())
    }

    #[test]
    fn a_path_contains_the_hash_of_the_content() {
        let named = |bytes| link(Asset::new("a", "css", "text/css", bytes));
        assert_ne!(named(b"a { }"), named(b"a {}"));
        assert_eq!(named(b"a { }"), named(b"a { }"));
        assert_eq!(named(b""), "/assets/a.cbf29ce484222325.css");
        assert_eq!(named(b"a"), "/assets/a.af63dc4c8601ec8c.css", "FNV-1a as its authors publish it");
        assert_eq!(link(OPEN), "/assets/b.js");
    }

    #[tokio::test]
    async fn file_of_own_pages_is_immutable() {
        let (status, headers, body) = get(&link(TEXT), "").await;
        assert_eq!((status, body), (StatusCode::OK, TEXT.bytes.to_vec()));
        assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
        assert_eq!(headers["content-type"], "text/css");
        assert!(!headers.contains_key("access-control-allow-origin"));
        for path in ["/assets/a.css", "/assets/a.0000000000000000.css", "/assets/..%2Fa.css", "/assets/b.css"] {
            assert_eq!(get(path, "").await.0, StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[tokio::test]
    async fn file_for_other_sites_allows_cors() {
        let (status, headers, _) = get("/assets/b.js", "gzip").await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(headers["cache-control"], "public, max-age=300");
        assert_eq!(headers["access-control-allow-origin"], "*");
        assert!(!headers.contains_key("content-encoding"), "a byte gets no shorter");
    }

    #[tokio::test]
    async fn file_is_compressed_if_accepted() {
        for (accepted, is_compressed) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip;q=0.0", false),
            ("identity", false),
            ("", false),
        ] {
            let (_, headers, body) = get(&link(TEXT), accepted).await;
            assert_eq!(headers.contains_key("content-encoding"), is_compressed, "{accepted}");
            assert_eq!(headers["vary"], "accept-encoding");
            let mut plain = Vec::new();
            if is_compressed {
                GzDecoder::new(body.as_slice()).read_to_end(&mut plain).unwrap();
            } else {
                plain = body;
            }
            assert_eq!(plain, TEXT.bytes, "{accepted}");
        }
    }

    #[tokio::test]
    async fn folder_path_changes_with_its_files() {
        const MODULE: Asset = Asset::new("qr/decode", "js", "text/javascript", b"x");
        let folder = |files, loader| AssetFolder::new("/app", files, loader);
        let whole = folder(vec![TEXT, MODULE], "page");
        let others =
            [folder(vec![TEXT], "page"), folder(vec![TEXT, MODULE], "Page"), folder(vec![OPEN, MODULE], "page")];
        assert!(others.iter().all(|other| other.version() != whole.version()));
        let links = whole.links(&PublicOrigin::new("https://login.test"));
        assert_eq!(links[1], format!("/app/{}/qr/decode.js", whole.version()));
        let status = async |path: &str| {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let response = whole.router().oneshot(request).await.unwrap();
            (response.status(), response.headers().get(header::CACHE_CONTROL).cloned())
        };
        assert_eq!(status(&links[1]).await, (StatusCode::OK, Some(IMMUTABLE)));
        for path in
            ["/app/0/qr/decode.js", "/app/qr/decode.js", &links[1].replace("qr/", ""), &format!("{}/x", links[0])]
        {
            assert_eq!(status(path).await.0, StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[test]
    #[should_panic(expected = "two assets are named b.js")]
    fn two_files_with_one_path_panic() {
        drop(router::<()>([OPEN, OPEN]));
    }
}
