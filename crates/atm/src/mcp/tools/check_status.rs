//! `check_atm_status`

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use signpost_locator::{AtmStatus, Distance};
use signpost_mcp::{Annotations, CallError, Handler, Output, Structured, Tool};

use super::declare::{self, Argument, CallArguments, Declared, WithDefault};
use super::find_nearest::LIMIT;
use super::item::{Item, RowFormat};
use super::kinds::Number;
use super::links::PageLinks;
use super::nearby_search::NearbySearch;
use super::place::{COUNTRY, Center, LAT, LOCATION, LON, after_geocoder};
use super::schema;
use super::units::UNITS;
use super::view::{fit_into_reply, render_with_head};
use crate::catalogue::AtmFilter;
use crate::locator::Locator;
use crate::mcp::card;

const EXAMPLE: &str = r#"{"location":"Austin, TX","radius":10}"#;

const RADIUS: WithDefault<Number> =
    Argument::new("radius", "In miles", Number { unit: "miles", min: 1.0, max: 100.0 }).or(10.0);

const ARGUMENTS: [&dyn Declared; 7] = [&LOCATION, &LAT, &LON, &COUNTRY, &RADIUS, &LIMIT, &UNITS];

pub(crate) fn tool(geocodes: bool) -> Tool<Locator> {
    Tool {
        name: "check_atm_status",
        title: "Check the status of Bitcoin ATMs in an area",
        description: "Counts all Bitcoin ATMs of an area by status and lists the nearest. Use it when somebody asks \
                      whether machines around a place work or are open. Give location, or lat and lon. Do not use it \
                      to pick one machine (find_nearest_bitcoin_atm).",
        input_schema: declare::schema(&ARGUMENTS, EXAMPLE),
        output_schema: Some(schema::page(
            json!({
                "counts": { "type": "object", "additionalProperties": { "type": "integer" } },
                "asOf": { "type": "string" },
                "resolvedLocation": schema::resolved_location(),
            }),
            &["counts", "asOf"],
        )),
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: card::shows_results(),
        call: if geocodes {
            Handler::Async(|locator, given, call| after_geocoder(locator, given, call.notices, count))
        } else {
            Handler::Sync(|locator, given, call| count(locator, given, call.notices).map(Output::Structured))
        },
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AreaStatus {
    counts: BTreeMap<AtmStatus, usize>,
    as_of: Timestamp,
}

/// Counts the ATMs of an area by status. The reply mentions `notices` about the conversion of the arguments.
fn count(locator: &Locator, given: &Map<String, Value>, notices: &[String]) -> Result<Structured, CallError> {
    let snapshot = locator.catalogue.snapshot();
    let places = locator.catalogue.places.now();
    let arguments = CallArguments::declared(given, &ARGUMENTS, EXAMPLE)?;
    let center = Center::from_arguments(&locator.catalogue, &snapshot, &places, &arguments)?.with_notices(notices);
    let radius = Distance::miles(arguments.get(&RADIUS)?);
    let limit = usize::try_from(arguments.get(&LIMIT)?).unwrap_or(usize::MAX);
    let units = arguments.get(&UNITS)?;

    let moment = snapshot.at(locator.clock.now());
    let filter = AtmFilter::default();
    let mut counts = BTreeMap::new();
    for entry in moment.within(center.point, radius, &filter) {
        *counts.entry(moment.status(entry).status).or_default() += 1;
    }
    let nearest = moment.nearest(center.point, radius, limit, &filter);
    let entries: Vec<_> = nearest.iter().map(|near| snapshot.found(*near)).collect();
    let format = RowFormat { units, pages: PageLinks::of(locator) };
    let items = entries.iter().zip(&nearest).map(|(entry, near)| Item::new(&moment, entry, near.distance, format));
    let atms = fit_into_reply(items);
    let total = counts.values().sum();
    let search =
        NearbySearch { center, radius, radius_argument: "radius", filter, format, places: &places, recommends: false };
    let page = search.page(&moment, &entries, atms, total);
    render_with_head(&AreaStatus { counts, as_of: moment.now() }, page)
}
