//! `find_nearest_bitcoin_atm`

use serde_json::{Map, Value, json};
use signpost_locator::Distance;
use signpost_mcp::{Annotations, Call, CallError, Handler, Output, Structured, Tool};

use super::arguments::{Arguments, Units};
use super::beyond::beyond;
use super::place::{Center, after_geocoder};
use super::schema;
use super::view::{Item, Page, attribution, fitting, notice};
use crate::atm::catalogue::{Moment, Wanted};
use crate::atm::mcp::Locator;

const EXAMPLE: &str = r#"{"location":"Austin, TX","limit":10,"maxDistance":25}"#;

pub(crate) fn tool(geocodes: bool) -> Tool<Locator> {
    Tool {
        name: "find_nearest_bitcoin_atm",
        title: "Find the nearest Bitcoin ATMs",
        description: "Finds Bitcoin ATMs near a place, nearest first. Use it whenever somebody asks where to buy or \
                      sell bitcoin for cash, or for machines 'near' something. Give location (a city with its state \
                      or country, a US ZIP code, or coordinates as text), or lat and lon. Do not use it for all \
                      machines of a city (list_atms_by_city) or for one known machine (get_atm_details).",
        input_schema: schema::input(
            &json!({
                "location": schema::location(),
                "lat": schema::lat(),
                "lon": schema::lon(),
                "limit": { "type": "integer", "minimum": 1, "maximum": 50, "default": 10,
                           "description": "How many machines at most" },
                "maxDistance": { "type": "number", "minimum": 1, "maximum": 100, "default": 25,
                                 "description": "How far away at most, in miles" },
                "openNow": { "type": "boolean", "default": false,
                             "description": "Only machines that are known to be open now" },
                "service": { "type": "string", "enum": ["buy", "sell"],
                             "description": "Only machines known to sell you bitcoin (buy) or pay you cash (sell)" },
                "coin": { "type": "string", "description": "Only machines known to deal in this coin, such as BTC" },
                "units": schema::units(),
            }),
            &[],
            EXAMPLE,
        ),
        output_schema: Some(schema::page(json!({}))),
        annotations: Annotations::LOOKUP,
        icons: crate::atm::mcp::icons(),
        call: if geocodes {
            Handler::Later(|l, given, call| after_geocoder(l, given, call, answer))
        } else {
            Handler::Now(answer)
        },
    }
}

fn answer(locator: &Locator, given: &Map<String, Value>, _: &Call<'_>) -> Result<Output, CallError> {
    call(locator, given).map(Output::Structured)
}

pub(crate) fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let mut arguments = Arguments::new(given, EXAMPLE);
    let center = Center::take(locator, &mut arguments)?;
    let (limit, miles) = (arguments.limit()?, arguments.miles("maxDistance", 25.0)?);
    let (open_now, service, coin) = (arguments.boolean("openNow")?, arguments.service()?, arguments.coin()?);
    let wanted = Wanted { open_now, service, coin };
    let units = arguments.units()?;
    arguments.done()?;

    let snapshot = locator.catalogue.snapshot();
    let moment = snapshot.at(locator.clock.now());
    let (found, total) = moment.nearest_and_count(center.point, Distance::miles(miles), limit, &wanted);
    let items = found.iter().map(|near| (snapshot.found(*near), near.distance));
    let atms = fitting(items.map(|(entry, away)| Item::new(&moment, entry, away, units).with_change(&moment, entry)));
    let beyond = if atms.is_empty() { Some(nothing_near(&moment, &center, &wanted, miles, units)) } else { None };
    Structured::render(&Page {
        total,
        truncated: atms.len() < total,
        notice: notice(&snapshot, [center.note.clone(), beyond]),
        attribution: attribution(&snapshot, &center),
        resolved_location: center.resolved,
        next_cursor: None,
        atms,
    })
}

/// What was searched, the nearest machine beyond it, and the next call to make.
fn nothing_near(moment: &Moment<'_>, center: &Center, wanted: &Wanted, miles: f64, units: Units) -> String {
    let kind = if wanted.is_any() { "Bitcoin ATM" } else { "Bitcoin ATM with the wanted properties" };
    let radius = units.text(Distance::miles(miles));
    let next = beyond(moment, center.point, units, "call again with maxDistance", wanted);
    format!("No {kind} is known within {radius} of {}. {next}", center.name)
}
