//! The map that moves: its page, and what its scripts ask for. Without a script the page has the states as a list, and all
//! machines in one drawing.

mod document;
mod files;
mod sight;
mod words;

use std::sync::{Arc, LazyLock};

use axum::routing::get;
use axum::{Extension, Router};
use signpost_platform::pages::Asset;
use signpost_platform::pages::assets::AssetFolder;

use crate::service::AtmService;
use files::MapFiles;

/// The lines of the states, as `data/states.sh` makes them.
const STATE_LINES: &str = include_str!("../../../assets/map/states.txt");

/// What the page loads, below an address of their own.
static SCRIPTS: LazyLock<AssetFolder> = LazyLock::new(|| {
    let script = |stem, bytes| Asset::new(stem, "js", "text/javascript; charset=utf-8", bytes);
    let files = vec![
        script("map", include_bytes!("../../../assets/map/map.js").as_slice()),
        script("above", include_bytes!("../../../assets/map/above.js")),
        script("points", include_bytes!("../../../assets/map/points.js")),
        script("sight", include_bytes!("../../../assets/map/sight.js")),
        Asset::new("map", "css", "text/css; charset=utf-8", include_bytes!("../../../assets/map/map.css")),
        Asset::new("states", "txt", "text/plain; charset=utf-8", STATE_LINES.as_bytes()),
    ];
    AssetFolder::new("/map", files, "")
});

/// The addresses of the map.
pub(super) fn router() -> Router<AtmService> {
    Router::new()
        .route("/map", get(document::show))
        .route("/map/points", get(files::show_points))
        .route("/map/overview.svg", get(files::show_overview))
        .route("/map/sight", get(sight::show))
        .layer(Extension(Arc::new(MapFiles::default())))
        .merge(SCRIPTS.router())
}
