//! `check_atm_status`

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use signpost_locator::{AtmStatus, Distance};
use signpost_mcp::{Annotations, CallError, Handler, Output, Structured, Tool};

use super::declare::{self, Argument, CallArguments, WithDefault};
use super::find_nearest::LIMIT;
use super::kinds::Number;
use super::nearby_search::NearbySearch;
use super::place::{COUNTRY, Center, LAT, LOCATION, LON, after_geocoder};
use super::schema;
use super::units::UNITS;
use super::view::{Item, fit_into_reply, render_with_head};
use crate::catalogue::AtmFilter;
use crate::locator::Locator;
use crate::mcp::card;

const EXAMPLE: &str = r#"{"location":"Austin, TX","radius":10}"#;

const RADIUS: WithDefault<Number> =
    Argument::new("radius", "In miles", Number { unit: "miles", min: 1.0, max: 100.0 }).or(10.0);

pub(crate) fn tool(geocodes: bool) -> Tool<Locator> {
    Tool {
        name: "check_atm_status",
        title: "Check the status of Bitcoin ATMs in an area",
        description: "Counts all Bitcoin ATMs of an area by status and lists the nearest. Use it when somebody asks \
                      whether machines around a place work or are open. Give location, or lat and lon. Do not use it \
                      to pick one machine (find_nearest_bitcoin_atm).",
        input_schema: declare::schema(&[&LOCATION, &LAT, &LON, &COUNTRY, &RADIUS, &LIMIT, &UNITS], EXAMPLE),
        output_schema: Some(schema::page(
            json!({
                "counts": { "type": "object", "additionalProperties": { "type": "integer" },
                            "description": "Machines by status" },
                "asOf": { "type": "string" },
                "resolvedLocation": schema::resolved_location(),
            }),
            &["counts", "asOf"],
        )),
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: card::shows_results(),
        call: if geocodes {
            Handler::Async(|locator, given, _| after_geocoder(locator, given, call))
        } else {
            Handler::Sync(|locator, given, _| call(locator, given).map(Output::Structured))
        },
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AreaStatus {
    counts: BTreeMap<AtmStatus, usize>,
    as_of: Timestamp,
}

fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let snapshot = locator.catalogue.snapshot();
    let places = locator.catalogue.places.now();
    let mut arguments = CallArguments::new(given, EXAMPLE);
    let center = Center::from_arguments(&locator.catalogue, &snapshot, &places, &mut arguments)?;
    let radius = Distance::miles(arguments.take(&RADIUS)?);
    let limit = usize::try_from(arguments.take(&LIMIT)?).unwrap_or(usize::MAX);
    let units = arguments.take(&UNITS)?;
    arguments.done()?;

    let moment = snapshot.at(locator.clock.now());
    let filter = AtmFilter::default();
    let mut counts = BTreeMap::new();
    for entry in moment.within(center.point, radius, &filter) {
        *counts.entry(moment.status(entry).status).or_default() += 1;
    }
    let nearest = moment.nearest(center.point, radius, limit, &filter);
    let entries: Vec<_> = nearest.iter().map(|near| snapshot.found(*near)).collect();
    let items = entries.iter().zip(&nearest).map(|(entry, near)| Item::new(&moment, entry, near.distance, units));
    let atms = fit_into_reply(items);
    let total = counts.values().sum();
    let search =
        NearbySearch { center, radius, radius_argument: "radius", filter, units, places: &places, recommends: false };
    let page = search.page(&moment, &entries, atms, total);
    render_with_head(&AreaStatus { counts, as_of: moment.now() }, page)
}
