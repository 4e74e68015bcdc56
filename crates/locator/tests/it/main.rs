//! What people ask for, and whether they get it, with the gazetteer that is part of the program; and what is read of
//! extracts of OpenStreetMap, whole and damaged.

mod answers;
mod examples;
mod extracts;
mod fuzz;
#[path = "../../../../tests/mutations.rs"]
mod mutations;
#[path = "../pbf/mod.rs"]
mod pbf;
mod question;
mod questions;

use std::sync::LazyLock;

use signpost_locator::Point;
use signpost_locator::gazetteer::Gazetteer;

/// Read once for all tests.
static GAZETTEER: LazyLock<Gazetteer> = LazyLock::new(Gazetteer::embedded);

fn point(lat: f64, lon: f64) -> Point {
    Point::new(lat, lon).unwrap_or_else(|| panic!("{lat}, {lon} is not on the earth"))
}
