//! `list_atms_by_city`

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value, json};
use signpost_locator::gazetteer::ATTRIBUTION;
use signpost_locator::{AtmId, Region, fold};
use signpost_mcp::{Annotations, CallError, Handler, Output, Structured, Tool};

use super::advice::{Advice, SearchContext};
use super::beyond::nearest_beyond;
use super::declare::{self, Argument, CallArguments, Declared, Required};
use super::elsewhere::other_country;
use super::item::{Item, RowFormat};
use super::kinds::{ParsedText, PlainText};
use super::links::PageLinks;
use super::place::shorten;
use super::schema;
use super::units::UNITS;
use super::view::{AtmPage, PageDates, attribution, fit_into_reply, notice, omit_ban_reasons, render};
use crate::advisories::Location;
use crate::catalogue::{AtmFilter, CatalogueEntry};
use crate::locator::Locator;
use crate::mcp::card;

const EXAMPLE: &str = r#"{"state":"TX","city":"Austin"}"#;

/// Maximum ATMs on a page.
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

const CITY: Required<PlainText> = Argument::new("city", "The city's name", PlainText { max: 200 }).required();

/// A page starts after the last ID of the previous page, so that added and removed ATMs shift nothing.
const CURSOR: Argument<ParsedText<AtmId>> = Argument::new(
    "cursor",
    "nextCursor of the page before",
    ParsedText { allowed: "nextCursor of an earlier reply", length: None, parse: parse_cursor },
);

const ARGUMENTS: [&dyn Declared; 4] = [&STATE, &CITY, &UNITS, &CURSOR];

pub(crate) fn tool() -> Tool<Locator> {
    Tool {
        name: "list_atms_by_city",
        title: "List the Bitcoin ATMs of a city",
        description: "Lists the Bitcoin ATMs whose address is in a city, in pages of 50, by id. Use it when \
                      somebody wants all machines of a city of the United States or Canada. Do not use it for 'near' \
                      (find_nearest_bitcoin_atm), which also finds machines beyond the city's limits.",
        input_schema: declare::schema(&ARGUMENTS, EXAMPLE),
        output_schema: Some(schema::page(json!({ "nextCursor": { "type": "string" } }), &[])),
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: card::shows_results(),
        call: Handler::Sync(|locator, given, _| call(locator, given).map(Output::Structured)),
    }
}

/// Returns the ATMs of a city, in the tool's form.
///
/// # Errors
/// [`CallError::InvalidArgument`] if an argument is invalid, [`CallError::Failed`] if the city is unknown.
pub fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let arguments = CallArguments::declared(given, &ARGUMENTS, EXAMPLE)?;
    let region = arguments.get(&STATE)?;
    let city = arguments.get(&CITY)?;
    let units = arguments.get(&UNITS)?;
    let after = arguments.get(&CURSOR)?;

    let places = locator.catalogue.places.now();
    let snapshot = locator.catalogue.snapshot();
    let moment = snapshot.at(locator.clock.now());
    let place = places.city(region, &city);
    let mut all: Vec<&CatalogueEntry> = snapshot.in_city(region, &city).collect();
    // Addresses may spell the city differently from the place names.
    let name = place.as_ref().map_or(city.as_str(), |place| &place.name);
    if fold(name) != fold(&city) {
        all.extend(snapshot.in_city(region, name));
        all.sort_by_key(|entry| entry.atm.id);
    }
    let first = all.first().map(|entry| entry.atm.record.point);
    let Some(center) = place.as_ref().map(|place| place.point).or(first) else {
        return Err(no_such_city(&city, region));
    };
    let rest: Vec<&CatalogueEntry> =
        all.iter().copied().filter(|entry| after.is_none_or(|after| entry.atm.id > after)).collect();
    let format = RowFormat { units, pages: PageLinks::of(locator) };
    let items = rest
        .iter()
        .take(PAGE_SIZE)
        .map(|entry| Item::new(&moment, entry, center.distance(entry.atm.record.point), format));
    let mut atms = fit_into_reply(items);
    let listed = &rest[..atms.len()];
    let advice = if listed.is_empty() {
        Advice::of_place(&moment, &Location::of_city(region, name), center, &places)
    } else {
        omit_ban_reasons(&mut atms, listed, &moment);
        let filter = AtmFilter::default();
        let search = SearchContext { from: center, filter: &filter, units, recommends: true };
        Advice::of_atms(&moment, listed, &search)
    };
    let (abroad, nothing) = if all.is_empty() {
        let next_call = "call find_nearest_bitcoin_atm with maxDistance";
        let next = nearest_beyond(&moment, center, units, next_call, &AtmFilter::default());
        let nothing = format!("No Bitcoin ATM is known with an address in {name}, {}. {next}", region.code());
        (other_country(&snapshot, Some(region), None), Some(nothing))
    } else {
        (None, None)
    };
    let next_cursor = match listed.last() {
        Some(last) if listed.len() < rest.len() => Some(write_cursor(last.atm.id)),
        _ => None,
    };
    render(AtmPage {
        total: all.len(),
        truncated: next_cursor.is_some(),
        dates: PageDates::of(&snapshot, listed),
        notice: notice(&snapshot, advice.bans, [abroad, nothing]),
        how_to_report: format.pages.how_to_report_one().filter(|_| !atms.is_empty()),
        advisories: advice.advisories,
        attribution: attribution(&snapshot, Some(ATTRIBUTION)),
        resolved_location: None,
        next_cursor,
        atms,
    })
}

fn parse_cursor(text: &str) -> Option<AtmId> {
    let number = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok()?;
    AtmId::new(u64::from_be_bytes(number))
}

fn write_cursor(id: AtmId) -> String {
    BASE64URL_NOPAD.encode(&id.get().to_be_bytes())
}

fn no_such_city(city: &str, region: Region) -> CallError {
    let city = shorten(city);
    let region = region.name();
    CallError::Failed(format!(
        "no city '{city}' is known in {region}. Check the spelling and the state, or call find_nearest_bitcoin_atm \
         with {{\"location\":\"{city}, {region}\"}}."
    ))
}
