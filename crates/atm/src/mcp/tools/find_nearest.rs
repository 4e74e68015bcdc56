//! `find_nearest_bitcoin_atm`

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use signpost_locator::{Coin, Distance};
use signpost_mcp::{Annotations, CallError, Handler, Output, Structured, Tool};

use super::declare::{self, Argument, CallArguments, Declared, WithDefault};
use super::item::{Item, RowFormat};
use super::kinds::{Choice, Flag, Integer, Number, PlainText};
use super::links::PageLinks;
use super::nearby_search::NearbySearch;
use super::place::{COUNTRY, Center, LAT, LOCATION, LON, after_geocoder};
use super::schema;
use super::units::UNITS;
use super::view::{fit_into_reply, render};
use crate::catalogue::{AtmFilter, Snapshot, TradeSide};
use crate::locator::Locator;
use crate::mcp::card;

const EXAMPLE: &str = r#"{"location":"Austin, TX","limit":10,"maxDistance":25}"#;

/// Maximum number of ATMs in the list.
pub const LIMIT: WithDefault<Integer> = Argument::new("limit", "Machines at most", Integer { min: 1, max: 50 }).or(10);

/// Maximum coins of the catalogue in an error text.
const MAX_COINS: usize = 40;

/// Maximum distance of an ATM.
pub const MAX_DISTANCE: WithDefault<Number> =
    Argument::new("maxDistance", "In miles", Number { unit: "miles", min: 1.0, max: 100.0 }).or(25.0);

const OPEN_NOW: WithDefault<Flag> = Argument::new("openNow", "Only machines known to be open now", Flag).or(false);

const SERVICE: Argument<Choice<TradeSide>> = Argument::new(
    "service",
    "Only machines known to sell you bitcoin (buy) or pay you cash (sell)",
    Choice(&[("buy", TradeSide::Buy), ("sell", TradeSide::Sell)]),
);

const COIN: Argument<PlainText> =
    Argument::new("coin", "Only machines known to deal in this coin: BTC, litecoin", PlainText { max: 40 });

const ARGUMENTS: [&dyn Declared; 10] =
    [&LOCATION, &LAT, &LON, &COUNTRY, &LIMIT, &MAX_DISTANCE, &OPEN_NOW, &SERVICE, &COIN, &UNITS];

pub(crate) fn tool(geocodes: bool) -> Tool<Locator> {
    Tool {
        name: "find_nearest_bitcoin_atm",
        title: "Find the nearest Bitcoin ATMs",
        description: "Finds Bitcoin ATMs near a place, nearest first. Use it when asked where to buy or sell \
                      bitcoin for cash. Give location, or lat and lon; if the user gave no place, ask for one. Do not \
                      use it for all machines of a city (list_atms_by_city) or for one known machine \
                      (get_atm_details).",
        input_schema: declare::schema(&ARGUMENTS, EXAMPLE),
        output_schema: Some(schema::page(json!({ "resolvedLocation": schema::resolved_location() }), &[])),
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: card::shows_results(),
        call: if geocodes {
            Handler::Async(|locator, given, call| after_geocoder(locator, given, call.notices, search))
        } else {
            Handler::Sync(|locator, given, call| search(locator, given, call.notices).map(Output::Structured))
        },
    }
}

/// Returns the ATMs nearest to a place, in the tool's form.
///
/// # Errors
/// [`CallError::InvalidArgument`] if an argument is invalid, [`CallError::Failed`] if the place is unknown.
pub fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    search(locator, given, &[])
}

/// Returns the ATMs nearest to a place. The reply mentions `notices` about the conversion of the arguments.
fn search(locator: &Locator, given: &Map<String, Value>, notices: &[String]) -> Result<Structured, CallError> {
    let snapshot = locator.catalogue.snapshot();
    let places = locator.catalogue.places.now();
    let arguments = CallArguments::declared(given, &ARGUMENTS, EXAMPLE)?;
    let center = Center::from_arguments(&locator.catalogue, &snapshot, &places, &arguments)?.with_notices(notices);
    let limit = usize::try_from(arguments.get(&LIMIT)?).unwrap_or(usize::MAX);
    let radius = Distance::miles(arguments.get(&MAX_DISTANCE)?);
    let open_now = arguments.get(&OPEN_NOW)?;
    let service = arguments.get(&SERVICE)?;
    let coin = arguments.get(&COIN)?;
    let units = arguments.get(&UNITS)?;
    let coin = match coin {
        Some(name) => Some(known_coin(&snapshot, &name, &arguments)?),
        None => None,
    };

    let moment = snapshot.at(locator.clock.now());
    let filter = AtmFilter { open_now, service, coin };
    let (found, total) = moment.nearest_and_count(center.point, radius, limit, &filter);
    let entries: Vec<_> = found.iter().map(|near| snapshot.found(*near)).collect();
    let format = RowFormat { units, pages: PageLinks::of(locator) };
    let items = entries
        .iter()
        .zip(&found)
        .map(|(entry, near)| Item::new(&moment, entry, near.distance, format).with_change(&moment, entry));
    let atms = fit_into_reply(items);
    let radius_argument = "maxDistance";
    let search = NearbySearch { center, radius, radius_argument, filter, format, places: &places, recommends: true };
    render(search.page(&moment, &entries, atms, total))
}

/// Returns the coin with this name or code. A coin that is neither well-known nor traded by any ATM is an error,
/// because a search for it would find nothing.
fn known_coin(snapshot: &Snapshot, name: &str, arguments: &CallArguments<'_>) -> Result<Coin, CallError> {
    if let Some(coin) = Coin::named(name)
        && (snapshot.has_coin(&coin) || Coin::common().any(|common| common == coin))
    {
        return Ok(coin);
    }
    let all: BTreeSet<Coin> = snapshot.coins().take(MAX_COINS).chain(Coin::common()).collect();
    let codes: Vec<_> = all.iter().map(Coin::code).collect();
    Err(arguments.refuse(&COIN, &format!("the code or name of a coin ({})", codes.join(", "))))
}
