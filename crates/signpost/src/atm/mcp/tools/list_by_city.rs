//! `list_atms_by_city`

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value, json};
use signpost_locator::{AtmId, Region};
use signpost_mcp::{Annotations, Call, CallError, Handler, Output, Structured, Tool};

use super::arguments::Arguments;
use super::beyond::beyond;
use super::place::shown;
use super::schema;
use super::view::{Item, Page, attribution_of_city, fitting, notice};
use crate::atm::catalogue::{Entry, Wanted};
use crate::atm::mcp::Locator;

const EXAMPLE: &str = r#"{"state":"TX","city":"Austin"}"#;

/// How many machines a page holds.
const PAGE: usize = 50;

pub(crate) fn tool() -> Tool<Locator> {
    Tool {
        name: "list_atms_by_city",
        title: "List the Bitcoin ATMs of a city",
        description: "Lists the Bitcoin ATMs whose address is in a city, in pages of 50, ordered by id. Use it when \
                      somebody wants all machines of a city of the United States or Canada. Do not use it for 'near' \
                      (find_nearest_bitcoin_atm), which also finds machines beyond the city's limits.",
        input_schema: schema::input(
            &json!({
                "state": { "type": "string", "minLength": 2, "maxLength": 2,
                           "description": "The state's, territory's or Canadian province's two-letter code" },
                "city": { "type": "string", "minLength": 1, "maxLength": 200, "description": "The city's name" },
                "units": schema::units(),
                "cursor": { "type": "string", "description": "nextCursor of the page before" },
            }),
            &["state", "city"],
            EXAMPLE,
        ),
        output_schema: Some(schema::page(json!({}))),
        annotations: Annotations::LOOKUP,
        icons: crate::atm::mcp::icons(),
        call: Handler::Now(answer),
    }
}

fn answer(locator: &Locator, given: &Map<String, Value>, _: &Call<'_>) -> Result<Output, CallError> {
    call(locator, given).map(Output::Structured)
}

pub(crate) fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let mut arguments = Arguments::new(given, EXAMPLE);
    let region = region(&mut arguments)?;
    let city = arguments.text("city", 200)?.ok_or_else(|| arguments.bad("city is required"))?;
    let (units, after) = (arguments.units()?, cursor(&mut arguments)?);
    arguments.done()?;

    let snapshot = locator.catalogue.snapshot();
    let moment = snapshot.at(locator.clock.now());
    let place = locator.catalogue.places.now().city(region, city);
    // An address may spell the city in another way than the map; both name the same place.
    let main = place.as_ref().map(|place| place.name.as_str());
    let mut all: Vec<&Entry> = snapshot.in_city(region, city).collect();
    if let Some(main) = main.filter(|main| signpost_locator::fold(main) != signpost_locator::fold(city)) {
        all.extend(snapshot.in_city(region, main));
        all.sort_by_key(|entry| entry.machine.id);
    }
    let first = all.first().map(|entry| entry.machine.record.point);
    let Some(center) = place.as_ref().map(|place| place.point).or(first) else {
        return Err(no_such_city(city, region));
    };
    let rest: Vec<_> = all.iter().filter(|entry| after.is_none_or(|after| entry.machine.id > after)).collect();
    let away = |entry: &Entry| center.distance(entry.machine.record.point);
    let atms = fitting(rest.iter().take(PAGE).map(|entry| Item::new(&moment, entry, away(entry), units)));
    let nothing = all.is_empty().then(|| {
        let (city, code) = (main.unwrap_or(city), region.code());
        let next = beyond(&moment, center, units, "call find_nearest_bitcoin_atm with maxDistance", &Wanted::default());
        format!("No Bitcoin ATM is known with an address in {city}, {code}. {next}")
    });
    let next_cursor = rest.get(atms.len()).and_then(|_| rest[..atms.len()].last()).map(|last| spell(last.machine.id));
    Structured::render(&Page {
        total: all.len(),
        truncated: next_cursor.is_some(),
        notice: notice(&snapshot, [nothing]),
        attribution: attribution_of_city(&snapshot),
        resolved_location: None,
        next_cursor,
        atms,
    })
}

fn region(arguments: &mut Arguments<'_>) -> Result<Region, CallError> {
    let allowed = "the two-letter code of a US state or territory or a Canadian province, such as TX";
    let state = arguments.text("state", 200)?.ok_or_else(|| arguments.bad("state is required"))?;
    let code = Region::parse(state).filter(|_| state.len() == 2);
    code.ok_or_else(|| arguments.refuse("state", allowed, &Value::from(state)))
}

/// A page begins behind the last id of the one before: machines that come or go shift nothing.
fn cursor(arguments: &mut Arguments<'_>) -> Result<Option<AtmId>, CallError> {
    let Some(text) = arguments.text("cursor", 64)? else { return Ok(None) };
    let number = BASE64URL_NOPAD.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    let id = number.and_then(|bytes| AtmId::new(u64::from_be_bytes(bytes)));
    id.map(Some).ok_or_else(|| arguments.refuse("cursor", "nextCursor of an earlier reply", &Value::from(text)))
}

fn spell(id: AtmId) -> String {
    BASE64URL_NOPAD.encode(&id.get().to_be_bytes())
}

fn no_such_city(city: &str, region: Region) -> CallError {
    let (city, region) = (shown(city), region.name());
    CallError::Failed(format!(
        "no city '{city}' is known in {region}. Check the spelling and the state, or call find_nearest_bitcoin_atm \
         with {{\"location\":\"{city}, {region}\"}}."
    ))
}
