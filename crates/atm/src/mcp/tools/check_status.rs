//! `check_atm_status`

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use signpost_locator::{AtmStatus, Distance};
use signpost_mcp::{Annotations, Call, CallError, Handler, Output, Tool};

use super::around::Around;
use super::declare::{self, Argument, CallArguments, WithDefault};
use super::kinds::Number;
use super::place::{Center, LAT, LOCATION, LON, after_geocoder};
use super::schema;
use super::units::UNITS;
use super::view::{AtmPage, Item, fit_into_reply};
use crate::catalogue::AtmFilter;
use crate::locator::{Locator, icons};

const EXAMPLE: &str = r#"{"location":"Austin, TX","radius":10}"#;

/// How many machines are listed; all of them are counted.
const MAX_LISTED: usize = 50;

const RADIUS: WithDefault<Number> =
    Argument::new("radius", "How far around the place, in miles", Number { unit: "miles", least: 1.0, most: 100.0 })
        .or(10.0);

pub(crate) fn tool(geocodes: bool) -> Tool<Locator> {
    Tool {
        name: "check_atm_status",
        title: "Check the status of Bitcoin ATMs in an area",
        description: "Counts the Bitcoin ATMs of an area by status and lists the nearest 50. Use it when somebody \
                      asks whether machines around a place work or are open. Give location, or lat and lon. Do not \
                      use it to pick one machine (find_nearest_bitcoin_atm).",
        input_schema: declare::schema(&[&LOCATION, &LAT, &LON, &RADIUS, &UNITS], EXAMPLE),
        output_schema: Some(schema::page(json!({
            "counts": { "type": "object", "additionalProperties": { "type": "integer", "minimum": 0 },
                        "description": "How many machines have each status" },
            "asOf": { "type": "string", "description": "When this was so, RFC 3339" },
        }))),
        annotations: Annotations::LOOKUP,
        icons: icons(),
        call: if geocodes {
            Handler::Later(|l, given, call| after_geocoder(l, given, call, handle))
        } else {
            Handler::Now(handle)
        },
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AreaStatus<'a> {
    counts: BTreeMap<AtmStatus, usize>,
    as_of: Timestamp,
    #[serde(flatten)]
    page: AtmPage<'a>,
}

fn handle(locator: &Locator, given: &Map<String, Value>, _: &Call<'_>) -> Result<Output, CallError> {
    let mut arguments = CallArguments::new(given, EXAMPLE);
    let center = Center::from_arguments(locator, &mut arguments)?;
    let (miles, units) = (arguments.take(&RADIUS)?, arguments.take(&UNITS)?);
    arguments.done()?;

    let snapshot = locator.catalogue.snapshot();
    let moment = snapshot.at(locator.clock.now());
    let (radius, filter) = (Distance::miles(miles), AtmFilter::default());
    let mut counts = BTreeMap::new();
    for entry in moment.within(center.point, radius, &filter) {
        *counts.entry(moment.status(entry).status).or_default() += 1;
    }
    let total = counts.values().sum();
    let nearest = moment.nearest(center.point, radius, MAX_LISTED, &filter);
    let atms =
        fit_into_reply(nearest.iter().map(|near| Item::new(&moment, snapshot.found(*near), near.distance, units)));
    let around = Around { center, radius, radius_argument: "radius", filter, units };
    let page = around.page(&snapshot, &moment, atms, total);
    Output::structured(&AreaStatus { counts, as_of: moment.now(), page })
}
