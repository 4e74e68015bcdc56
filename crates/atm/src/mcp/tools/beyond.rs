//! What to say where nothing was found: the nearest machine beyond, and the next call to make.

use signpost_locator::{Distance, Point};

use super::units::Units;
use crate::catalogue::{AtmFilter, Moment};

/// Half the way around the earth: everywhere.
const EVERYWHERE_MILES: f64 = 12_500.0;
/// The largest distance that a call may ask for, in miles.
const MAX_MILES: f64 = 100.0;

/// `call` is the beginning of the next call, such as `call again with radius`, to which the distance is added.
pub(crate) fn nearest_beyond(moment: &Moment<'_>, from: Point, units: Units, call: &str, filter: &AtmFilter) -> String {
    let nearest = moment.nearest(from, Distance::miles(EVERYWHERE_MILES), 1, filter);
    let Some(nearest) = nearest.first() else {
        if filter.is_any() {
            return "None is known anywhere.".to_owned();
        }
        return "Nowhere is one known to be so.".to_owned();
    };
    let (away, id) = (units.text(nearest.distance), moment.snapshot().found(*nearest).machine.id.get());
    let miles = nearest.distance.in_miles().ceil().max(1.0);
    let next =
        if miles <= MAX_MILES { format!("{call} {miles}") } else { format!("call get_atm_details with atmId {id}") };
    let which = if filter.is_any() { "The nearest" } else { "The nearest that is known to be so" };
    format!("{which} is {away} away (id {id}): {next}.")
}
