//! The interactive map: its page and the data for its scripts. Without scripts, the page shows a list of states and a
//! drawing of all ATMs.

mod document;
mod files;
mod sight;
mod words;

use std::sync::{Arc, LazyLock};

use axum::routing::get;
use axum::{Extension, Router};
use signpost_platform::limits::Limit;
use signpost_platform::pages::Asset;
use signpost_platform::pages::assets::AssetFolder;

use crate::map::{STATE_LINES, WORLD_LINES, square_lines};
use crate::service::AtmService;
use files::MapFiles;

/// The scripts, the stylesheet and the line data of the map page. The high-detail outlines of each map square are a
/// separate file that is named after the square.
static SCRIPTS: LazyLock<AssetFolder> = LazyLock::new(|| {
    let mut files = vec![
        script("map", include_bytes!("../../../assets/map/map.js")),
        script("above", include_bytes!("../../../assets/map/above.js")),
        script("lines", include_bytes!("../../../assets/map/lines.js")),
        script("points", include_bytes!("../../../assets/map/points.js")),
        script("sight", include_bytes!("../../../assets/map/sight.js")),
        Asset::new("map", "css", "text/css; charset=utf-8", include_bytes!("../../../assets/map/map.css")),
        lines("states", STATE_LINES),
        lines("world", WORLD_LINES),
    ];
    files.extend(square_lines().map(|(name, path)| lines(name, path)));
    AssetFolder::new("/map", files, "")
});

fn script(stem: &'static str, bytes: &'static [u8]) -> Asset {
    Asset::new(stem, "js", "text/javascript; charset=utf-8", bytes)
}

fn lines(stem: &'static str, path: &'static str) -> Asset {
    Asset::new(stem, "txt", "text/plain; charset=utf-8", path.as_bytes())
}

/// Returns the routes of the map. Data requests have a separate rate limit, because moving the map causes many of them.
pub(super) fn router() -> Router<AtmService> {
    Router::new()
        .route("/map/points", get(files::show_points))
        .route("/map/overview.svg", get(files::show_overview))
        .route("/map/sight", get(sight::show))
        .layer(Extension(Limit::Map))
        .route("/map", get(document::show))
        .layer(Extension(Arc::new(MapFiles::default())))
        .merge(SCRIPTS.router())
}

#[cfg(test)]
mod tests {
    use signpost_locator::gazetteer::Gazetteer;
    use signpost_locator::{Distance, Point};
    use signpost_platform::pages::compressed::Compressed;

    use crate::map::{STATE_LINES, WORLD_LINES, encode_points, square_lines};

    fn compressed(bytes: &[u8]) -> usize {
        Compressed::new(bytes.to_vec()).choose_encoding(true).0.len()
    }

    /// Returns as many ATMs as the largest public data set has, with a similar distribution: within a few kilometres of
    /// the centre of towns of all sizes, in proportion to their population.
    fn machines() -> Vec<Point> {
        let middle = Point::new(39.0, -98.0).expect("on the earth");
        let towns = Gazetteer::embedded().largest_within(middle, Distance::miles(1_500.0), 1_000);
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(state >> 32).expect("32 bits")) / f64::from(u32::MAX)
        };
        let mut people = 0.0;
        let so_far: Vec<f64> = towns
            .iter()
            .map(|town| {
                people += f64::from(town.population);
                people
            })
            .collect();
        let machine = |_| {
            let chosen = random() * people;
            let town = &towns[so_far.partition_point(|sum| *sum < chosen).min(towns.len() - 1)];
            let [north, east] = [(random() - 0.5) * 0.2, (random() - 0.5) * 0.2];
            Point::new(town.point.lat() + north, town.point.lon() + east).expect("on the earth")
        };
        (0..9_865).map(machine).collect()
    }

    #[test]
    fn point_and_border_files_are_small() {
        let dots = compressed(&encode_points(machines()));
        // The points of the real data set are 33 kB, so this distribution does not compress better.
        assert!((30_000..40_000).contains(&dots), "{dots} B");
        let lines = compressed(STATE_LINES.as_bytes());
        assert!(dots + lines <= 50_000, "{dots} B and {lines} B");
        let world = compressed(WORLD_LINES.as_bytes());
        assert!(world <= 25_000, "{world} B");
        let squares: Vec<_> = square_lines().map(|(name, path)| (compressed(path.as_bytes()), name)).collect();
        assert!(squares.iter().all(|(bytes, _)| *bytes <= 15_000), "{squares:?}");
    }

    /// The viewer draws and moves the map. The scripts that decode the dots and lines and that request the visible ATMs
    /// and place names are separate; the second limit applies to all scripts together.
    #[test]
    fn viewer_has_2_kb_and_all_scripts_6_kb() {
        let viewer = compressed(include_bytes!("../../../assets/map/map.js"));
        assert!(viewer <= 2_000, "{viewer} B");
        let above = compressed(include_bytes!("../../../assets/map/above.js"));
        let others = compressed(include_bytes!("../../../assets/map/points.js"))
            + compressed(include_bytes!("../../../assets/map/lines.js"))
            + compressed(include_bytes!("../../../assets/map/sight.js"));
        assert!(viewer + above + others <= 6_000, "{viewer} B, {above} B and {others} B");
    }
}
