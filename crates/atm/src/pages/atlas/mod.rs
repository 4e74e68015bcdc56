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

#[cfg(test)]
mod tests {
    use signpost_locator::gazetteer::Gazetteer;
    use signpost_locator::{Distance, Point};
    use signpost_platform::pages::compressed::Compressed;

    use super::STATE_LINES;
    use crate::map::encode_points;

    fn compressed(bytes: &[u8]) -> usize {
        Compressed::new(bytes.to_vec()).choose_form(true).0.len()
    }

    /// As many machines as the largest public file has, and as that has them: in towns of all sizes by how many people live
    /// there, within some kilometres of the middle.
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
    fn all_machines_and_the_lines_of_the_states_are_small() {
        let dots = compressed(&encode_points(machines()));
        // The file itself has 33 kB of them: what is made up here is no easier.
        assert!((30_000..40_000).contains(&dots), "{dots} B");
        let lines = compressed(STATE_LINES.as_bytes());
        assert!(dots + lines <= 50_000, "{dots} B and {lines} B");
    }

    /// The viewer is the script that draws and moves the map. What reads the dots, asks for what is in sight and puts names
    /// above the canvas are scripts of their own, and bounded together with it.
    #[test]
    fn the_viewer_is_two_kilobytes_and_all_scripts_are_six() {
        let viewer = compressed(include_bytes!("../../../assets/map/map.js"));
        assert!(viewer <= 2_000, "{viewer} B");
        let above = compressed(include_bytes!("../../../assets/map/above.js"));
        let others = compressed(include_bytes!("../../../assets/map/points.js"))
            + compressed(include_bytes!("../../../assets/map/sight.js"));
        assert!(viewer + above + others <= 6_000, "{viewer} B, {above} B and {others} B");
    }
}
