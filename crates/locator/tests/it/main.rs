//! Questions of users and the results with the embedded gazetteer, and imports of complete, damaged and crafted files.

mod addresses;
mod answers;
mod archives;
mod examples;
mod extracts;
mod foreign_tables;
mod fuzz;
mod json_files;
#[path = "../../../../tests/mutations.rs"]
mod mutations;
#[path = "../pbf/mod.rs"]
mod pbf;
mod programs;
mod question;
mod questions;
mod tables;
mod values;

use std::sync::LazyLock;

use signpost_locator::Point;
use signpost_locator::gazetteer::Gazetteer;

/// The gazetteer, read once for all tests.
static GAZETTEER: LazyLock<Gazetteer> = LazyLock::new(Gazetteer::embedded);

fn point(lat: f64, lon: f64) -> Point {
    Point::new(lat, lon).unwrap_or_else(|| panic!("{lat}, {lon} is not on the earth"))
}
