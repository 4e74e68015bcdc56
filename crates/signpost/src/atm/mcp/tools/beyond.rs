//! What to say where nothing was found: the nearest machine beyond, and the next call to make.

use signpost_locator::{Distance, Point};

use super::arguments::Units;
use crate::atm::catalogue::{Moment, Wanted};

/// Half the way around the earth: everywhere.
const EVERYWHERE: f64 = 12_500.0;
/// The largest distance that a call may ask for, in miles.
const MOST_MILES: f64 = 100.0;

/// `call` is the beginning of the next call, such as `call again with radius`, to which the distance is added.
pub(crate) fn beyond(moment: &Moment<'_>, from: Point, units: Units, call: &str, wanted: &Wanted) -> String {
    let nearest = moment.nearest(from, Distance::miles(EVERYWHERE), 1, wanted);
    let Some(nearest) = nearest.first() else { return "None is known anywhere.".to_owned() };
    let (away, id) = (units.text(nearest.distance), moment.snapshot().found(*nearest).machine.id.get());
    let miles = nearest.distance.in_miles().ceil().max(1.0);
    let next =
        if miles <= MOST_MILES { format!("{call} {miles}") } else { format!("call get_atm_details with atmId {id}") };
    format!("The nearest is {away} away (id {id}): {next}.")
}
