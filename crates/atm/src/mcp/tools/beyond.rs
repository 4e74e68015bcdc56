//! The notice of an empty search result: the nearest ATM beyond the radius, and the suggested next call.

use signpost_locator::{Distance, Point};

use super::units::Units;
use crate::catalogue::{AtmFilter, Moment};

/// Maximum distance on the earth, in miles: half of its circumference.
const MAX_DISTANCE_MILES: f64 = 12_500.0;
/// Maximum radius of a search, in miles.
const MAX_MILES: f64 = 100.0;

/// Returns a sentence about the nearest ATM, with the suggested next call. `call` is the start of the suggestion
/// without the distance, such as `call again with radius`.
pub(crate) fn nearest_beyond(moment: &Moment<'_>, from: Point, units: Units, call: &str, filter: &AtmFilter) -> String {
    let found = moment.nearest(from, Distance::miles(MAX_DISTANCE_MILES), 1, filter);
    let Some(nearest) = found.first() else {
        if filter.is_any() {
            return "None is known anywhere.".to_owned();
        }
        return "Nowhere is one known to be so.".to_owned();
    };
    let away = units.text(nearest.distance);
    let id = moment.snapshot().found(*nearest).atm.id;
    let miles = nearest.distance.in_miles().ceil().max(1.0);
    let next =
        if miles <= MAX_MILES { format!("{call} {miles}") } else { format!("call get_atm_details with atmId {id}") };
    let which = if filter.is_any() { "The nearest" } else { "The nearest that is known to be so" };
    format!("{which} is {away} away (id {id}): {next}.")
}
