//! `check_atm_status`

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use signpost_locator::{AtmStatus, Distance};
use signpost_mcp::{Annotations, Call, CallError, Handler, Output, Tool};

use super::arguments::Arguments;
use super::beyond::beyond;
use super::place::{Center, after_geocoder};
use super::schema;
use super::view::{Item, Page, attribution, fitting, notice};
use crate::atm::catalogue::Wanted;
use crate::atm::mcp::Locator;

const EXAMPLE: &str = r#"{"location":"Austin, TX","radius":10}"#;

/// How many machines are listed; all of them are counted.
const LISTED: usize = 50;

pub(crate) fn tool(geocodes: bool) -> Tool<Locator> {
    Tool {
        name: "check_atm_status",
        title: "Check the status of Bitcoin ATMs in an area",
        description: "Counts the Bitcoin ATMs of an area by status and lists the nearest 50. Use it when somebody \
                      asks whether machines around a place work or are open. Give location, or lat and lon. Do not \
                      use it to pick one machine (find_nearest_bitcoin_atm).",
        input_schema: schema::input(
            &json!({
                "location": schema::location(),
                "lat": schema::lat(),
                "lon": schema::lon(),
                "radius": { "type": "number", "minimum": 1, "maximum": 100, "default": 10,
                            "description": "How far around the place, in miles" },
                "units": schema::units(),
            }),
            &[],
            EXAMPLE,
        ),
        output_schema: Some(schema::page(json!({
            "counts": { "type": "object", "additionalProperties": { "type": "integer", "minimum": 0 },
                        "description": "How many machines have each status" },
            "asOf": { "type": "string", "description": "When this was so, RFC 3339" },
        }))),
        annotations: Annotations::LOOKUP,
        icons: crate::atm::mcp::icons(),
        call: if geocodes {
            Handler::Later(|l, given, call| after_geocoder(l, given, call, answer))
        } else {
            Handler::Now(answer)
        },
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Area<'a> {
    counts: BTreeMap<AtmStatus, usize>,
    as_of: Timestamp,
    #[serde(flatten)]
    page: Page<'a>,
}

fn answer(locator: &Locator, given: &Map<String, Value>, _: &Call<'_>) -> Result<Output, CallError> {
    let mut arguments = Arguments::new(given, EXAMPLE);
    let center = Center::take(locator, &mut arguments)?;
    let (miles, units) = (arguments.miles("radius", 10.0)?, arguments.units()?);
    arguments.done()?;

    let snapshot = locator.catalogue.snapshot();
    let moment = snapshot.at(locator.clock.now());
    let (radius, wanted) = (Distance::miles(miles), Wanted::default());
    let mut counts = BTreeMap::new();
    for entry in moment.within(center.point, radius, &wanted) {
        *counts.entry(moment.status(entry).status).or_default() += 1;
    }
    let total = counts.values().sum();
    let nearest = moment.nearest(center.point, radius, LISTED, &wanted);
    let items = nearest.iter().map(|near| Item::new(&moment, snapshot.found(*near), near.distance, units));
    let atms = fitting(items);
    let nothing = atms.is_empty().then(|| {
        let within = units.text(radius);
        let next = beyond(&moment, center.point, units, "call again with radius", &wanted);
        format!("No Bitcoin ATM is known within {within} of {}. {next}", center.name)
    });
    let page = Page {
        total,
        truncated: atms.len() < total,
        notice: notice(&snapshot, [center.note.clone(), nothing]),
        attribution: attribution(&snapshot, &center),
        resolved_location: center.resolved,
        next_cursor: None,
        atms,
    };
    Output::structured(&Area { counts, as_of: moment.now(), page })
}
