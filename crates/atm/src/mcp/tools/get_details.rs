//! `get_atm_details`

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use signpost_locator::{AtmId, Hours, MoreFields, SourceClaim, Trade};
use signpost_mcp::{Annotations, CallError, Handler, Output, Structured, Tool};

use super::advice::{Advice, SearchContext};
use super::declare::{self, Argument, CallArguments, Required};
use super::kinds::Integer;
use super::schema::{self, members};
use super::units::Units;
use super::view::notice;
use crate::catalogue::{AtmFilter, AtmReports, CatalogueEntry, Moment, NextOpening, Snapshot};
use crate::locator::Locator;
use crate::reports::evidence::{ReportEffect, ReportVerdict};
use crate::view::AtmView;

const EXAMPLE: &str = r#"{"atmId":17}"#;

const ATM_ID: Required<Integer> =
    Argument::new("atmId", "The machine's id, as other tools return it", Integer { min: 1, max: AtmId::MAX.get() })
        .required();

pub(crate) fn tool() -> Tool<Locator> {
    Tool {
        name: "get_atm_details",
        title: "Get the details of a Bitcoin ATM",
        description: "Gives everything known about one Bitcoin ATM: address, hours and when it opens or closes next, \
                      what it buys and sells, fees, limits, contact, status with its reason and age, and the sources. Use it with an id \
                      from find_nearest_bitcoin_atm or list_atms_by_city. What is left out is not known. Do not guess \
                      ids.",
        input_schema: declare::schema(&[&ATM_ID], EXAMPLE),
        output_schema: Some(schema::details()),
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: Map::new(),
        call: Handler::Sync(|locator, given, _| call(locator, given).map(Output::Structured)),
    }
}

/// Returns all details of an ATM, in the tool's form.
///
/// # Errors
/// [`CallError::InvalidArgument`] if an argument is invalid, [`CallError::Failed`] if no ATM has the ID.
pub fn call(locator: &Locator, given: &Map<String, Value>) -> Result<Structured, CallError> {
    let mut arguments = CallArguments::new(given, EXAMPLE);
    let id = arguments.take(&ATM_ID)?;
    arguments.done()?;
    let snapshot = locator.catalogue.snapshot();
    let Some(entry) = AtmId::new(id).and_then(|id| snapshot.get(id)) else {
        return Err(CallError::Failed(format!(
            "no Bitcoin ATM has the id {id}. Ids come from find_nearest_bitcoin_atm and list_atms_by_city; call one \
             of them, for example find_nearest_bitcoin_atm with {{\"location\":\"Austin, TX\"}}."
        )));
    };
    Structured::render(&details(&snapshot.at(locator.clock.now()), entry))
}

fn details(moment: &Moment<'_>, entry: &CatalogueEntry) -> Value {
    let snapshot = moment.snapshot();
    let view = AtmView::of(moment, entry);
    let record = view.record;
    let report = &view.status;
    let advice = advice(moment, entry);
    let (opens_at, closes_at) = change(moment.next_opening(entry, report.status));
    let coins = record.coins.iter().map(|(coin, deals)| (coin.code().to_owned(), json!(deals.known())));
    let sources = entry.atm.claims.iter().map(|claim| source(snapshot, claim));
    let attribution: BTreeSet<&str> = entry
        .atm
        .claims
        .iter()
        .filter_map(|claim| snapshot.source(&claim.source))
        .map(|source| source.attribution.as_str())
        .collect();
    let [lat, lon] = view.degrees();
    let mut details = json!({
        "id": entry.atm.id,
        "name": record.title(),
        "operator": record.operator,
        "brand": record.brand,
        "status": report.status,
        "statusReason": report.reason.text(),
        "statusAsOf": report.as_of,
        "verifiedAt": view.verified_at(),
        "verifiedBy": view.confirmed_at().map(|_| "report"),
        "freshness": view.freshness(moment.now()),
        "address": view.address(),
        "addressParts": {
            "street": record.address.street,
            "city": record.address.city,
            "region": record.address.region,
            "postcode": record.address.postcode,
            "country": record.address.country,
        },
        "lat": lat,
        "lon": lon,
        "hours": record.hours.as_ref().map(Hours::text),
        "timeZone": record.time_zone,
        "opensAt": opens_at,
        "closesAt": closes_at,
        "buy": record.buy.known(),
        "sell": record.sell.known(),
        "coins": coins.collect::<Map<_, _>>(),
        "phone": record.phone,
        "website": record.website,
        "sources": sources.collect::<Vec<_>>(),
        "reports": view.reports.map(show_reports),
        "notice": notice(snapshot, advice.bans, [view.reports.and_then(unchecked_reports)]),
        "advisories": advice.advisories,
    });
    if let Some(members) = details.as_object_mut() {
        members.extend(record.more.as_deref().map(more).into_iter().flatten());
    }
    remove_unknown(&mut details);
    details["attribution"] = json!(attribution);
    details
}

/// Returns the time of the next opening, and of the next closing.
fn change(next: Option<NextOpening<'_>>) -> (Option<&str>, Option<&str>) {
    match next {
        Some(NextOpening::OpensAt(at)) => (Some(at), None),
        Some(NextOpening::ClosesAt(at)) => (None, Some(at)),
        None => (None, None),
    }
}

/// Returns the summary of the reports: counts, never the reporters' own words.
fn show_reports(reports: &AtmReports) -> Value {
    let ReportVerdict { people, is_disputed, newest_at, verified_at, .. } = &reports.verdict;
    let people: Map<_, _> = people.iter().map(|(seen, count)| (seen.as_str().to_owned(), json!(count))).collect();
    json!({
        "summary": reports.summary, "people": people, "disputed": is_disputed, "newest": newest_at,
        "foundThere": verified_at,
    })
}

/// Returns the reports as a sentence of the notice, unless they are the reason of the status.
fn unchecked_reports(reports: &AtmReports) -> Option<String> {
    let verdict = &reports.verdict;
    if verdict.effect != ReportEffect::Undoubted || verdict.decision.is_some() {
        return None;
    }
    Some(format!("Reported, and not checked: {}.", reports.summary))
}

/// Returns the advice about the law and fraud for one ATM.
fn advice<'a>(moment: &Moment<'a>, entry: &CatalogueEntry) -> Advice<'a> {
    let filter = AtmFilter::default();
    let from = entry.atm.record.point;
    let search = SearchContext { from, filter: &filter, units: Units::Miles, recommends: true };
    Advice::of_atms(moment, &[entry], &search)
}

/// Removes the members of objects that are null or empty.
fn remove_unknown(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_unknown),
        Value::Object(members) => {
            members.values_mut().for_each(remove_unknown);
            members.retain(|_, member| is_known(member));
        }
        _ => {}
    }
}

fn is_known(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    }
}

/// Returns the members that few sources have; null if unknown.
fn more(more: &MoreFields) -> Map<String, Value> {
    let mut trades = Map::new();
    for (coin, Trade { buy, sell, lightning }) in &more.trades {
        let trade = json!({ "buy": buy.known(), "sell": sell.known(), "lightning": lightning.known() });
        trades.insert(coin.code().to_owned(), trade);
    }
    let fees = &more.fees;
    let limits = &more.limits;
    members(json!({
        "trades": trades,
        "fiat": more.fiat,
        "fees": {
            "buyPercent": fees.buy_percent, "buyFixed": fees.buy_fixed,
            "sellPercent": fees.sell_percent, "sellFixed": fees.sell_fixed, "currency": fees.currency,
        },
        "limits": {
            "min": limits.min, "max": limits.max, "maxDay": limits.max_day, "kycAbove": limits.kyc_above,
            "currency": limits.currency,
        },
        "kyc": more.kyc.known(),
        "endDate": more.end_date,
        "brandWikidata": more.brand_wikidata,
        "network": more.network,
        "locatedIn": more.located_in,
        "placement": { "indoor": more.indoor.known(), "level": more.level, "note": more.note },
        "wheelchair": more.wheelchair.known(),
        "machine": { "manufacturer": more.manufacturer, "model": more.model, "ref": more.machine_ref },
        "email": more.email,
        "supportHours": more.support_hours,
        "operatorNotice": more.notice,
        "images": more.images,
    }))
}

/// Returns a row of the ATM, and the parts of the data that come from it.
fn source(snapshot: &Snapshot, claim: &SourceClaim) -> Value {
    let source = snapshot.source(&claim.source);
    json!({
        "name": &*claim.source,
        "ref": claim.source_ref,
        "atmId": claim.id,
        "url": claim.url,
        "parts": claim.parts.names().collect::<Vec<_>>(),
        "dataAsOf": claim.known_at,
        "importedAt": source.map(|source| source.imported_at),
        "attribution": source.map(|source| &source.attribution),
    })
}
