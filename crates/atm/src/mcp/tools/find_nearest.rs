//! `find_nearest_bitcoin_atm`

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use signpost_locator::{Coin, Distance};
use signpost_mcp::{Annotations, Call, CallError, Handler, Output, Structured, Tool};

use super::around::Around;
use super::declare::{self, Argument, CallArguments, WithDefault};
use super::kinds::{Choice, Flag, Integer, Number, PlainText};
use super::place::{Center, LAT, LOCATION, LON, after_geocoder};
use super::schema;
use super::units::UNITS;
use super::view::{Item, fit_into_reply, render, tell_bans_once};
use crate::catalogue::{AtmFilter, Snapshot, TradeSide};
use crate::locator::Locator;
use crate::mcp::card;

const EXAMPLE: &str = r#"{"location":"Austin, TX","limit":10,"maxDistance":25}"#;

/// How many machines are listed at most.
pub const LIMIT: WithDefault<Integer> =
    Argument::new("limit", "How many machines at most", Integer { least: 1, most: 50 }).or(10);

/// How many coins of machines a refusal names at most.
const MAX_COINS: usize = 40;

/// How far away a machine may be.
pub const MAX_DISTANCE: WithDefault<Number> =
    Argument::new("maxDistance", "How far away at most, in miles", Number { unit: "miles", least: 1.0, most: 100.0 })
        .or(25.0);

const OPEN_NOW: WithDefault<Flag> =
    Argument::new("openNow", "Only machines known to be open now; not those of unknown hours", Flag).or(false);

const SERVICE: Argument<Choice<TradeSide>> = Argument::new(
    "service",
    "Only machines known to sell you bitcoin (buy) or pay you cash (sell)",
    Choice(&[("buy", TradeSide::Buy), ("sell", TradeSide::Sell)]),
);

const COIN: Argument<PlainText> =
    Argument::new("coin", "Only machines known to deal in this coin: BTC, litecoin", PlainText { most: 40 });

pub(crate) fn tool(geocodes: bool) -> Tool<Locator> {
    Tool {
        name: "find_nearest_bitcoin_atm",
        title: "Find the nearest Bitcoin ATMs",
        description: "Finds Bitcoin ATMs near a place, nearest first. Use it whenever somebody asks where to buy or \
                      sell bitcoin for cash, or for machines 'near' something. Give location, or lat and lon; if the \
                      user gave no place, ask for one. Do not use it for all machines of a city (list_atms_by_city) or \
                      for one known machine (get_atm_details).",
        input_schema: declare::schema(
            &[&LOCATION, &LAT, &LON, &LIMIT, &MAX_DISTANCE, &OPEN_NOW, &SERVICE, &COIN, &UNITS],
            EXAMPLE,
        ),
        output_schema: Some(schema::page(json!({ "resolvedLocation": schema::resolved_location() }), &[])),
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

fn handle(locator: &Locator, given: &Map<String, Value>, _: &Call<'_>) -> Result<Output, CallError> {
    call(locator, given).map(Output::Structured)
}

/// The ATMs nearest to a place, as the tool returns them.
///
/// # Errors
/// [`CallError::BadArgument`] where an argument is not allowed, [`CallError::Failed`] where the place is not known.
pub fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let mut arguments = CallArguments::new(given, EXAMPLE);
    let center = Center::from_arguments(locator, &mut arguments)?;
    let (limit, miles) = (arguments.take(&LIMIT)?, arguments.take(&MAX_DISTANCE)?);
    let (open_now, service, coin) = (arguments.take(&OPEN_NOW)?, arguments.take(&SERVICE)?, arguments.take(&COIN)?);
    let units = arguments.take(&UNITS)?;
    let snapshot = locator.catalogue.snapshot();
    let coin = coin.map(|named| known_coin(&snapshot, &named, &arguments)).transpose()?;
    arguments.done()?;

    let moment = snapshot.at(locator.clock.now());
    let (radius, filter) = (Distance::miles(miles), AtmFilter { open_now, service, coin });
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (found, total) = moment.nearest_and_count(center.point, radius, limit, &filter);
    let items = found.iter().map(|near| (snapshot.found(*near), near.distance));
    let mut atms =
        fit_into_reply(items.map(|(entry, away)| Item::new(&moment, entry, away, units).with_change(&moment, entry)));
    let places = locator.catalogue.places.now();
    let around = Around { center, radius, radius_argument: "maxDistance", filter, units, places: &places };
    let listed: Vec<_> = found.iter().take(atms.len()).map(|near| snapshot.found(*near)).collect();
    tell_bans_once(&mut atms, &listed, &moment);
    let advice = around.advice(&moment, &listed, true);
    render(around.page(&snapshot, &moment, atms, total, advice))
}

/// The coin of a name or code. One that neither has a name nor is known of any machine is a mistake: searched for, it
/// would be found nowhere.
fn known_coin(snapshot: &Snapshot, named: &str, arguments: &CallArguments<'_>) -> Result<Coin, CallError> {
    let is_known = |coin: &Coin| snapshot.has_coin(coin) || Coin::common().any(|common| common == *coin);
    Coin::named(named).filter(is_known).ok_or_else(|| {
        let all: BTreeSet<Coin> = snapshot.coins().take(MAX_COINS).chain(Coin::common()).collect();
        let codes: Vec<_> = all.iter().map(Coin::code).collect();
        arguments.refuse(&COIN, &format!("the code or name of a coin ({})", codes.join(", ")))
    })
}
