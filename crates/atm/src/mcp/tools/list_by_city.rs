//! `list_atms_by_city`

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value, json};
use signpost_locator::{AtmId, Region};
use signpost_mcp::{Annotations, Call, CallError, Handler, Output, Structured, Tool};

use super::advice::{Advice, Outlook};
use super::beyond::nearest_beyond;
use super::declare::{self, Argument, CallArguments, Required};
use super::elsewhere::other_country;
use super::kinds::{ParsedText, PlainText};
use super::place::shorten;
use super::schema;
use super::units::UNITS;
use super::view::{AtmPage, Item, attribution_of_city, fit_into_reply, notice, render, tell_bans_once};
use crate::advisories::Spot;
use crate::catalogue::{AtmFilter, CatalogueEntry};
use crate::locator::Locator;
use crate::mcp::card;

const EXAMPLE: &str = r#"{"state":"TX","city":"Austin"}"#;

/// How many machines a page holds.
const PAGE_SIZE: usize = 50;

const STATE: Required<ParsedText<Region>> = Argument::new(
    "state",
    "The state's, territory's or Canadian province's two-letter code",
    ParsedText {
        allowed: "the two-letter code of a US state or territory or a Canadian province, such as TX",
        length: Some(2),
        parse: Region::parse,
    },
)
.required();

const CITY: Required<PlainText> = Argument::new("city", "The city's name", PlainText { most: 200 }).required();

/// A page begins behind the last id of the one before: machines that come or go shift nothing.
const CURSOR: Argument<ParsedText<AtmId>> = Argument::new(
    "cursor",
    "nextCursor of the page before",
    ParsedText { allowed: "nextCursor of an earlier reply", length: None, parse: parse_cursor },
);

pub(crate) fn tool() -> Tool<Locator> {
    Tool {
        name: "list_atms_by_city",
        title: "List the Bitcoin ATMs of a city",
        description: "Lists the Bitcoin ATMs whose address is in a city, in pages of 50, by id. Use it when \
                      somebody wants all machines of a city of the United States or Canada. Do not use it for 'near' \
                      (find_nearest_bitcoin_atm), which also finds machines beyond the city's limits.",
        input_schema: declare::schema(&[&STATE, &CITY, &UNITS, &CURSOR], EXAMPLE),
        output_schema: Some(schema::page(json!({ "nextCursor": { "type": "string" } }), &[])),
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: card::shows_results(),
        call: Handler::Now(handle),
    }
}

fn handle(locator: &Locator, given: &Map<String, Value>, _: &Call<'_>) -> Result<Output, CallError> {
    call(locator, given).map(Output::Structured)
}

/// The ATMs of a city, as the tool returns them.
///
/// # Errors
/// [`CallError::BadArgument`] where an argument is not allowed, [`CallError::Failed`] where the city is not known.
pub fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let mut arguments = CallArguments::new(given, EXAMPLE);
    let (region, city) = (arguments.take(&STATE)?, arguments.take(&CITY)?);
    let (units, after) = (arguments.take(&UNITS)?, arguments.take(&CURSOR)?);
    arguments.done()?;
    let city = city.as_str();

    let snapshot = locator.catalogue.snapshot();
    let moment = snapshot.at(locator.clock.now());
    let places = locator.catalogue.places.now();
    let place = places.city(region, city);
    // An address may spell the city in another way than the map; both name the same place.
    let main = place.as_ref().map(|place| place.name.as_str());
    let mut all: Vec<&CatalogueEntry> = snapshot.in_city(region, city).collect();
    if let Some(main) = main.filter(|main| signpost_locator::fold(main) != signpost_locator::fold(city)) {
        all.extend(snapshot.in_city(region, main));
        all.sort_by_key(|entry| entry.machine.id);
    }
    let first = all.first().map(|entry| entry.machine.record.point);
    let Some(center) = place.as_ref().map(|place| place.point).or(first) else {
        return Err(no_such_city(city, region));
    };
    let rest: Vec<_> = all.iter().filter(|entry| after.is_none_or(|after| entry.machine.id > after)).collect();
    let away = |entry: &CatalogueEntry| center.distance(entry.machine.record.point);
    let mut atms =
        fit_into_reply(rest.iter().take(PAGE_SIZE).map(|entry| Item::new(&moment, entry, away(entry), units)));
    let nothing = all.is_empty().then(|| {
        let next_call = "call find_nearest_bitcoin_atm with maxDistance";
        let next = nearest_beyond(&moment, center, units, next_call, &AtmFilter::default());
        let place = format!("{}, {}", main.unwrap_or(city), region.code());
        format!("No Bitcoin ATM is known with an address in {place}. {next}")
    });
    let filter = AtmFilter::default();
    let advice = if atms.is_empty() {
        let spot = Spot::of_city(region, main.unwrap_or(city));
        Advice::of_place(&moment, &spot, center, &places)
    } else {
        let listed: Vec<&CatalogueEntry> = rest.iter().take(atms.len()).map(|entry| **entry).collect();
        tell_bans_once(&mut atms, &listed, &moment);
        Advice::of_machines(&moment, &listed, &Outlook { from: center, filter: &filter, units, sends: true })
    };
    let abroad = all.is_empty().then(|| other_country(&snapshot, Some(region), None)).flatten();
    let next_cursor =
        rest.get(atms.len()).and_then(|_| rest[..atms.len()].last()).map(|last| write_cursor(last.machine.id));
    let page = AtmPage {
        total: all.len(),
        truncated: next_cursor.is_some(),
        data_as_of: snapshot.data_as_of(),
        notice: notice(&snapshot, advice.bans, [abroad, nothing]),
        advisories: advice.advisories,
        attribution: attribution_of_city(&snapshot),
        resolved_location: None,
        next_cursor,
        atms,
    };
    render(page)
}

fn parse_cursor(text: &str) -> Option<AtmId> {
    let number = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok()?;
    AtmId::new(u64::from_be_bytes(number))
}

fn write_cursor(id: AtmId) -> String {
    BASE64URL_NOPAD.encode(&id.get().to_be_bytes())
}

fn no_such_city(city: &str, region: Region) -> CallError {
    let (city, region) = (shorten(city), region.name());
    CallError::Failed(format!(
        "no city '{city}' is known in {region}. Check the spelling and the state, or call find_nearest_bitcoin_atm \
         with {{\"location\":\"{city}, {region}\"}}."
    ))
}
