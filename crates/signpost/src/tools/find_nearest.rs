//! `find_nearest_bitcoin_atm`

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use signpost_locator::{Atm, Coin, Distance, Status, Tri, status};
use signpost_mcp::{Annotations, Call, CallError, Handler, Output, Structured, Tool};

use super::arguments::{Arguments, Service, Units};
use super::beyond::beyond;
use super::place::Center;
use super::schema;
use super::view::{Item, Page, attribution, fitting, notice};
use crate::atms::Snapshot;
use crate::mcp::Locator;

const EXAMPLE: &str = r#"{"location":"Austin, TX","limit":10,"maxDistance":25}"#;

pub(super) fn tool() -> Tool<Locator> {
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
        icons: crate::mcp::icons(),
        call: Handler::Now(answer),
    }
}

/// What the machines must be like.
struct Wanted {
    open_now: bool,
    service: Option<Service>,
    coin: Option<Coin>,
    now: Timestamp,
}

fn answer(locator: &Locator, given: &Map<String, Value>, _: &Call<'_>) -> Result<Output, CallError> {
    call(locator, given).map(Output::Structured)
}

pub(crate) fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let mut arguments = Arguments::new(given, EXAMPLE);
    let center = Center::take(locator, &mut arguments)?;
    let (limit, miles) = (arguments.limit()?, arguments.miles("maxDistance", 25.0)?);
    let now = locator.clock.now();
    let (open_now, service, coin) = (arguments.boolean("openNow")?, arguments.service()?, arguments.coin()?);
    let wanted = Wanted { open_now, service, coin, now };
    let units = arguments.units()?;
    arguments.done()?;

    let snapshot = locator.catalogue.snapshot();
    let radius = Distance::miles(miles);
    let any = wanted.is_any();
    let (found, total) = snapshot.nearest_and_count(center.point, radius, limit, |atm| any || wanted.keeps(atm));
    let items = found.iter().map(|near| Item::new(snapshot.at(*near), near.distance, units, now));
    let atms = fitting(items);
    let beyond = if atms.is_empty() { Some(nothing_near(&snapshot, &center, &wanted, miles, units)) } else { None };
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
fn nothing_near(snapshot: &Snapshot, center: &Center, wanted: &Wanted, miles: f64, units: Units) -> String {
    let kind = if wanted.is_any() { "Bitcoin ATM" } else { "Bitcoin ATM with the wanted properties" };
    let radius = units.text(Distance::miles(miles));
    let next = beyond(snapshot, center.point, units, "call again with maxDistance", |atm| wanted.keeps(atm));
    format!("No {kind} is known within {radius} of {}. {next}", center.name)
}

impl Wanted {
    fn is_any(&self) -> bool {
        !self.open_now && self.service.is_none() && self.coin.is_none()
    }

    /// Only what is known counts: a machine that may sell is not one that sells.
    fn keeps(&self, atm: &Atm) -> bool {
        let record = &atm.record;
        let serves = match self.service {
            None => true,
            Some(Service::Buy) => record.buy == Tri::Yes,
            Some(Service::Sell) => record.sell == Tri::Yes,
        };
        let deals = self.coin.as_ref().is_none_or(|coin| record.coins.get(coin) == Some(&Tri::Yes));
        serves && deals && (!self.open_now || status(record, self.now).status == Status::Open)
    }
}
