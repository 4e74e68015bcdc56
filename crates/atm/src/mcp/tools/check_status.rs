//! `check_atm_status`

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use signpost_locator::{AtmStatus, Distance};
use signpost_mcp::{Annotations, Call, CallError, Handler, Output, Tool};

use super::around::Around;
use super::declare::{self, Argument, CallArguments, WithDefault};
use super::find_nearest::LIMIT;
use super::kinds::Number;
use super::place::{Center, LAT, LOCATION, LON, after_geocoder};
use super::schema;
use super::units::UNITS;
use super::view::{Item, fit_into_reply, render_behind, tell_bans_once};
use crate::catalogue::AtmFilter;
use crate::locator::Locator;
use crate::mcp::card;

const EXAMPLE: &str = r#"{"location":"Austin, TX","radius":10}"#;

const RADIUS: WithDefault<Number> =
    Argument::new("radius", "How far around the place, in miles", Number { unit: "miles", least: 1.0, most: 100.0 })
        .or(10.0);

pub(crate) fn tool(geocodes: bool) -> Tool<Locator> {
    Tool {
        name: "check_atm_status",
        title: "Check the status of Bitcoin ATMs in an area",
        description: "Counts all Bitcoin ATMs of an area by status and lists the nearest. Use it when somebody asks \
                      whether machines around a place work or are open. Give location, or lat and lon. Do not use it \
                      to pick one machine (find_nearest_bitcoin_atm).",
        input_schema: declare::schema(&[&LOCATION, &LAT, &LON, &RADIUS, &LIMIT, &UNITS], EXAMPLE),
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
            Handler::Later(|l, given, call| after_geocoder(l, given, call, handle))
        } else {
            Handler::Now(handle)
        },
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AreaStatus {
    counts: BTreeMap<AtmStatus, usize>,
    as_of: Timestamp,
}

fn handle(locator: &Locator, given: &Map<String, Value>, _: &Call<'_>) -> Result<Output, CallError> {
    let mut arguments = CallArguments::new(given, EXAMPLE);
    let center = Center::from_arguments(locator, &mut arguments)?;
    let (miles, limit, units) = (arguments.take(&RADIUS)?, arguments.take(&LIMIT)?, arguments.take(&UNITS)?);
    arguments.done()?;

    let snapshot = locator.catalogue.snapshot();
    let moment = snapshot.at(locator.clock.now());
    let (radius, filter) = (Distance::miles(miles), AtmFilter::default());
    let mut counts = BTreeMap::new();
    for entry in moment.within(center.point, radius, &filter) {
        *counts.entry(moment.status(entry).status).or_default() += 1;
    }
    let total = counts.values().sum();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let nearest = moment.nearest(center.point, radius, limit, &filter);
    let mut atms =
        fit_into_reply(nearest.iter().map(|near| Item::new(&moment, snapshot.found(*near), near.distance, units)));
    let places = locator.catalogue.places.now();
    let around = Around { center, radius, radius_argument: "radius", filter, units, places: &places };
    let listed: Vec<_> = nearest.iter().take(atms.len()).map(|near| snapshot.found(*near)).collect();
    tell_bans_once(&mut atms, &listed, &moment);
    let advice = around.advice(&moment, &listed, false);
    let page = around.page(&snapshot, &moment, atms, total, advice);
    render_behind(&AreaStatus { counts, as_of: moment.now() }, page).map(Output::Structured)
}
